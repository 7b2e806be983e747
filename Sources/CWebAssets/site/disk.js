// Disk: onboarding, login, profile.

import {call, Problem, quietly} from './api.js';
import {h, replace, s} from './dom.js';
import {endSession, newDocument, reopen} from './events.js';
import {field, form} from './form.js';
import {icon} from './icons.js';
import {ask} from './overlay.js';
import {parentOf, sign, tabs, wayOf} from './disk-parts.js';
import {afterLogin, hasSandbox} from './parts.js';
import {define, langOf} from './texts.js';
import {button, words} from './ui.js';

const t = define({
  en: {
    welcome: 'Welcome', login: 'LOG IN',
    lead: 'Larder reads your Yandex Disk and keeps a copy of what you look at.', token: 'Access token of Yandex Disk',
    tokenHint: 'From oauth.yandex.com. It is kept encrypted and is never shown again.',
    needToken: 'Please paste a token.', refused: 'This token is not accepted.',
    yandex: 'Log in with Yandex', or: 'or paste a token', try: 'Try it with the sandbox',
    as: name => `Log in as ${name}`,
    step: (at, of) => `Page ${at} of ${of}`, checking: 'Asking Yandex Disk…', space: 'Space',
    used: share => `${share} used`,
    waiting: '-- GB', denied: 'Yandex did not allow it.', code: 'Code from Yandex', coded: 'Yandex showed a code',
    codeHint: 'It is valid for ten minutes, once.', needCode: 'Please type the code that Yandex shows.',
    whatEnds: 'Local data are the copies that Larder keeps of this Disk. The files on Yandex Disk stay, '
      + 'and so do notes and documents.', skip: 'Skip', inAll: 'in all',
    enter: 'Log in with the code', was: path => `was in ${path}`,
  },
  ru: {
    welcome: 'Добро пожаловать',
    login: 'ВОЙТИ', lead: 'Larder читает ваш Яндекс Диск и хранит копию того, что вы смотрите.',
    token: 'Токен доступа Яндекс Диска',
    tokenHint: 'С oauth.yandex.ru. Он хранится зашифрованным и больше не показывается.',
    needToken: 'Вставьте токен.', refused: 'Токен не принят.',
    yandex: 'Войти через Яндекс', or: 'или вставьте токен',
    try: 'Попробовать с песочницей',
    as: name => `Войти как ${name}`, step: (at, of) => `Страница ${at} из ${of}`, checking: 'Спрашиваем Яндекс Диск…',
    space: 'Место', used: share => `занято ${share}`,
    waiting: '-- ГБ',
    denied: 'Яндекс не разрешил вход.', code: 'Код от Яндекса', coded: 'Яндекс показал код',
    codeHint: 'Он действует десять минут, один раз.', needCode: 'Введите код, который показывает Яндекс.',
    whatEnds: 'Локальные данные — это копии файлов этого Диска в Larder. Файлы на Яндекс Диске, заметки и документы '
      + 'остаются.', skip: 'Пропустить', inAll: 'всего',
    enter: 'Войти с кодом', was: path => `раньше: ${path}`,
  },
});

const list = name => async screen => (await import('./disk-list.js'))[name](screen);

/** The screens of the Disk. */
export const routes = [
  {path: '/disk', open: openStart},
  {path: '/disk/onboarding', open: openOnboarding},
  {path: '/disk/login', open: openLogin},
  {path: '/disk/recent', open: list('openRecent')},
  {path: '/disk/files', open: list('openFiles')},
  {path: '/disk/search', open: list('openSearch')},
  {path: '/disk/published', open: list('openPublished')},
  {path: '/disk/trash', open: openTrash},
  {path: '/disk/offline', open: list('openOffline')},
  {path: '/disk/outbox', open: async screen => (await import('./disk-outbox.js')).openOutbox(screen)},
  {path: '/disk/file', open: async screen => (await import('./disk-file.js')).openFile(screen)},
  {path: '/disk/profile', open: openProfile},
];

const places = {'disk.onboarding': '/disk/onboarding', 'disk.session': '/disk/login', 'disk.recent': '/disk/recent'};

async function openStart(screen) {
  screen.head({title: t('disk')});
  const {data} = await call('/v1/disk/launch', {signal: screen.signal});
  await screen.go(places[data.route.screen] ?? '/disk/recent', {replace: true});
}

async function openOnboarding(screen) {
  screen.head({title: t('welcome'), quiet: true});
  const {data} = await call('/v1/disk/onboarding', {signal: screen.signal});
  let at = 0;
  const next = async () => {
    if (at < data.pages.length - 1) move(at + 1); else await end();
  };
  const end = async () => {
    await call('/v1/disk/onboarding', {method: 'PUT', body: {seen: true}});
    await screen.go('/disk', {replace: true});
  };
  const move = index => { at = Math.max(0, Math.min(data.pages.length - 1, index)); draw(); };
  const view = h('div', {class: 'onboarding', 'aria-live': 'polite'});
  const dots = h('div', {class: 'dots'});
  const draw = () => {
    const page = data.pages[at];
    replace(view, h('img', {src: page.image_url, alt: '', class: 'onboarding-image'}),
      h('h2', {lang: langOf(page.text)}, page.text), h('span', {class: 'hidden'},
        t('step', at + 1, data.pages.length)));
    replace(dots, data.pages.map((_, index) => h('button', {type: 'button', class: 'dot', onclick: () => move(index),
      'aria-label': t('step', index + 1, data.pages.length), 'aria-current': index === at ? 'step' : null})));
    skip.style.visibility = at === data.pages.length - 1 ? 'hidden' : '';
  };
  const [go, skip] = [button(data.button, next, {kind: 'primary', write: true}),
    button(t('skip'), end, {kind: 'quiet', write: true})];
  swipe(view, screen.signal, by => move(at + by));
  draw();
  screen.show(h('div', {class: 'state'}, view, dots, go, skip));
}

function swipe(element, signal, run) {
  let start = null;
  element.addEventListener('touchstart', event => { start = event.touches[0].clientX; }, {signal, passive: true});
  element.addEventListener('touchend', event => {
    const moved = event.changedTouches[0].clientX - start;
    if (Math.abs(moved) > 50) run(moved < 0 ? 1 : -1);
  }, {signal});
  document.addEventListener('keydown', event => {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (by && !document.querySelector('dialog[open]')) run(by);
  }, {signal});
}

async function openLogin(screen) {
  screen.head({title: t('disk'), lead: t('lead')});
  const enter = async (body, signal) => {
    await call('/v1/disk/session', {method: 'POST', body, login: true, signal});
    sessionStorage.removeItem('larder.state');
    reopen('disk');
    await screen.go(afterLogin(screen, '/disk/recent'), {replace: true});
  };
  const token = field('access_token', t('token'), {type: 'password', hint: t('tokenHint'), autocomplete: 'off',
    spellcheck: 'false', check: text => (text.trim() ? null : t('needToken'))});
  const extras = h('div', {class: 'stack'});
  const own = form([token], t('login'), (values, signal) => enter({mode: 'oauth_token',
    access_token: values.access_token.trim()}, signal).catch(problem => {
    if (problem.code === 'invalid-credentials') problem.errors = [{parameter: 'access_token', detail: t('refused')}];
    throw problem;
  }), {busyText: t('checking')});
  screen.show(h('div', {class: 'card login stack'}, h('div', {class: 'state-sign'}, icon('disk', 40)),
    screen.why && h('p', {class: 'why', lang: langOf(screen.why)}, screen.why),
    extras, own));
  const [code, state] = [screen.query.get('code'), screen.query.get('state')];
  let denied = screen.query.get('error') ? t('denied') : null;
  if (code && state) {
    try { await enter({mode: 'oauth_code', code, state}, screen.signal); return; } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      denied = problem.words;
    }
  }
  const [sandbox, oauth] = await Promise.all([hasSandbox(), hasOAuth()]);
  if (screen.signal.aborted) return;
  replace(extras, denied && h('p', {class: 'why', role: 'alert', lang: langOf(denied)}, denied),
    oauth && [button(t('yandex'), toYandex, {kind: 'primary'}), codeForm(enter), h('p', {class: 'muted'}, t('or'))],
    sandbox && accounts(enter, oauth));
  if (oauth || sandbox) own.querySelector('.primary').classList.remove('primary');
}

/** Makes the field for a code that Yandex shows where it has no address to lead back to. */
function codeForm(enter) {
  const code = field('code', t('code'), {autocomplete: 'one-time-code', spellcheck: 'false', hint: t('codeHint'),
    check: text => (text.trim() ? null : t('needCode'))});
  const state = sessionStorage.getItem('larder.state');
  return h('details', {open: state !== null}, h('summary', null, t('coded')), form([code], t('enter'),
    (values, signal) => enter({mode: 'oauth_code', code: values.code.trim(), ...(state && {state})}, signal),
    {busyText: t('checking')}));
}

/** Makes the buttons of the sandbox's accounts, of which the first is the main one unless there is another. */
function accounts(enter, hasMain) {
  const known = [['anna', 'sandbox-token'], ['boris', 'sandbox-token-2']];
  return h('section', {class: 'stack accounts'}, h('h2', {}, t('try')),
    known.map(([name, secret], index) => button(t('as', name), () => enter({mode: 'oauth_token',
      access_token: secret}), {kind: index || hasMain ? '' : 'primary', icon: 'user', write: true})));
}

/** Tells whether Yandex's own login is configured. */
async function hasOAuth() {
  return Boolean((await quietly(call('/v1')))?.data.web?.disk_oauth);
}

/** Leads to Yandex's own login, which comes back with a code. */
async function toYandex() {
  const {data} = await call('/v1/disk/session/authorization', {method: 'POST', body: {}, login: true});
  sessionStorage.setItem('larder.state', data.state);
  location.assign(data.authorize_url);
}

async function openTrash(screen) {
  (await import('./trash.js')).openTrash(screen, {href: '/v1/disk/trash', back: '/disk/profile',
    name: item => item.name, look: item => sign(item),
    about: item => item.origin && t('was', wayOf(parentOf(item.origin)))});
}

function openProfile(screen) {
  screen.head({title: t('profile'), tabs});
  screen.show(h('div', {class: 'card profile'}, ring(null)));
  const whose = h('h2');
  quietly(call('/v1/disk/session', {signal: screen.signal})).then(answer => replace(whose, answer?.data.name));
  const resource = screen.load('/v1/disk/profile', ({data, meta}) => {
    const action = id => data.actions.find(each => each.id === id);
    const [published, logout] = [action('published'), action('logout')];
    screen.head({title: t('profile'), tabs, actions: [screen.refreshButton(() => resource),
      logout && button(logout.title, () => leave(screen, logout), {icon: 'logout', write: true})]});
    screen.show(h('div', {class: 'columns'}, h('section', {class: 'card profile', 'aria-label': t('space')}, whose,
      ring(data),
      h('ul', {class: 'legend'}, words('li', {class: 'legend-used'}, data.used_text),
        words('li', {class: 'legend-free'}, data.available_text))),
    h('ul', {class: 'rows', role: 'list'}, published && rowLink('link', '/disk/published', published.title),
      rowLink('jar', '/disk/offline', t('keptOffline')),
      rowLink('upload', '/disk/outbox', meta.pending ? `${t('outbox')}: ${meta.pending}` : t('outbox')),
      rowLink('trash', '/disk/trash', t('trash')))));
  });
}

function rowLink(sign, href, title) {
  return h('li', {class: 'row'}, h('span', {class: 'file-sign'}, icon(sign)), h('div', {class: 'row-main'},
    h('a', {class: 'row-link', href, lang: langOf(title)}, title)));
}

/** Draws the ring of used and available space; its text says the same. */
function ring(data) {
  const share = data?.chart.find(part => part.id === 'used')?.fraction ?? 0;
  const length = 2 * Math.PI * 52;
  const circle = (kind, dash) => s('circle', {cx: 60, cy: 60, r: 52, class: kind, 'stroke-dasharray': dash,
    transform: 'rotate(-90 60 60)'});
  const percent = new Intl.NumberFormat(document.documentElement.lang, {style: 'percent'}).format(share);
  return h('div', {class: 'ring'}, s('svg', {viewBox: '0 0 120 120', role: 'img', 'aria-label': t('used', percent)},
    circle('ring-all', `${length} 0`), circle('ring-used', `${length * share} ${length}`)),
  h('p', {class: 'ring-total', lang: langOf(data?.total_text)}, data?.total_text ?? t('waiting'),
    h('span', {class: 'small muted'}, t('inAll'))));
}

async function leave(screen, action) {
  if (!await ask({...action.confirm, title: action.confirm.message, message: t('whatEnds')})) return;
  await endSession('disk', action.href);
  newDocument('disk');
}
