// Home: the apps and how their sources stand, what is the visitor's own in them, and where to start.

import {call, larder, Problem, withQuery} from './api.js';
import {pageOf, sign} from './disk-parts.js';
import {h, replace} from './dom.js';
import {reopen} from './events.js';
import {icon} from './icons.js';
import {withSigns} from './notes-text.js';
import {drawnApps} from './screen.js';
import {define, langOf, t as common, time, zone} from './texts.js';
import {button, linkButton, picture, sourceState, words} from './ui.js';

const t = define({
  en: {
    title: 'Kept fresh. Kept near.',
    lead: 'Files, a shop, documents, ships and notes. What comes from far away is kept here, so it is there without a '
      + 'connection, too.',
    none: 'No source needed', nothingYet: 'Nothing here yet', disk: 'Recent files', pdf: common('documents'),
    shop: common('cart'), diskNone: 'Log in to see your files here.', notesNone: 'Log in to see your '
      + 'notes here.', draft: 'Not saved yet',
    start: 'Start here', startText: 'The sandbox simulates the remote APIs. Nothing leaves this machine.',
    one: 'Look at the ships as a guest', oneText: 'No account needed.',
    two: 'Open the Disk as Anna', twoText: 'Its token is sandbox-token.',
    three: 'Open the control room',
    threeText: 'Take everything offline there: every app still works.',
    author: 'You write a front end?', authorText: 'These pages use nothing but the API that you would use.',
    api: 'Routes', contract: 'OpenAPI',
    diskIs: 'Yandex Disk', shopIs: 'Products and a list', pdfIs: 'Pages from photos', shipsIs: 'Fleet of SpaceX',
    notesIs: 'With a map', statusIs: 'Sources, faults',
  },
  ru: {
    title: 'Всегда под рукой.',
    lead: 'Файлы, магазин, документы, корабли и заметки. То, что приходит издалека, хранится здесь и есть и без связи.',
    none: 'Источник не нужен', nothingYet: 'Пока пусто', disk: 'Недавние файлы', pdf: common('documents'),
    shop: common('cart'), diskNone: 'Войдите, и здесь будут ваши файлы.',
    notesNone: 'Войдите, и здесь будут ваши заметки.', draft: 'Ещё не сохранён',
    start: 'С чего начать', startText: 'Удалённые сервисы изображает песочница. Ничто не покидает эту машину.',
    one: 'Посмотреть корабли', oneText: 'Гостем, без учётной записи.',
    two: 'Открыть Диск Анны', twoText: 'Её токен — sandbox-token.',
    three: 'Открыть пульт', threeText: 'Отключите там всё: приложения работают.',
    author: 'Пишете свой клиент?', authorText: 'Эти страницы пользуются тем же API, что и вы.',
    api: 'Адреса', contract: 'OpenAPI',
    diskIs: 'Яндекс Диск', shopIs: 'Товары и список', pdfIs: 'Страницы из фото', shipsIs: 'Флот SpaceX',
    notesIs: 'С картой', statusIs: 'Источники, сбои',
  },
});

const sources = {disk: 'yandex_disk', shop: 'catalogue', pdf: null, ships: 'spacex', notes: 'people'};
const most = 4;
/** Whether this browser has had something of its own here: who knows Larder needs no introduction. */
const known = 'larder.known';
/** How high each card was: so much room is kept for it until its answer is there; null for who is new. */
const heights = () => JSON.parse(localStorage.getItem(known));

export const routes = [{path: '/', open}];

async function open(screen) {
  screen.head({title: 'Larder', quiet: true});
  const begin = h('div');
  const cards = h('ul', {class: 'home-cards', role: 'list'});
  const hero = !heights() && h('div', {class: 'hero'}, h('p', {class: 'hero-title'}, t('title')),
    h('p', {class: 'hero-lead'}, t('lead')));
  const {element: things, ready} = mine(screen);
  // Who is new here reads first where to begin; then all comes at once, so that nothing moves.
  things.hidden = Boolean(hero);
  screen.show(hero, cards, hero ? [begin, things] : [things, begin]);
  const drawn = Object.keys(sources).map(app => ({app}));
  let own = [];
  let shown = null;
  const draw = (upstreams = shown) => {
    shown = upstreams;
    replace(cards, [...drawn, ...own, {app: 'status'}].map(one => card(one, upstreams)));
  };
  draw(null);
  const findOwn = async () => {
    try { own = [...(await (await import('./own.js')).ownApps()).values()]; } catch (error) {
      // The next status asks again.
      if (larder.up && !(error instanceof Problem)) throw error;
    }
    draw();
  };
  const resource = screen.load('/v1/status', ({data}) => {
    draw(data.upstreams);
    if (own.length === 0 && data.node.apps.some(app => !drawnApps.includes(app))) findOwn();
    const sandbox = data.sandbox !== null && data.sandbox !== undefined;
    if (begin.dataset.sandbox !== String(sandbox)) replace(begin, sandbox ? newcomer(screen) : null, author());
    begin.dataset.sandbox = String(sandbox);
  }, {place: h('div'), quiet: true});
  screen.on('connectivity', () => resource.soon());
  await Promise.allSettled(hero ? [resource.ready, ...ready] : [resource.ready]);
  things.hidden = false;
}

function card({app, title}, upstreams) {
  const upstream = upstreams?.find(one => one.name === sources[app]);
  const state = upstream ? sourceState(upstream) : null;
  const told = state ? common(`source${state}`) : sources[app] === null ? t('none') : null;
  return h('li', {class: 'home-card', dataset: {app}}, h('span', {class: 'home-sign'},
    icon(app === 'status' ? 'gauge' : app, 24)),
  h('h2', null, h('a', {class: 'row-link', href: `/${app}`}, title ?? common(app))),
  t(`${app}Is`) !== `${app}Is` && h('p', {class: 'small muted'}, t(`${app}Is`)),
  h('p', {class: 'home-state small', dataset: {state: state?.toLowerCase() ?? ''}}, told));
}

/** What is the visitor's own: the last files, documents, notes, and the shopping list. Each card keeps its place. */
function mine(screen) {
  const size = Math.round(60 * (devicePixelRatio || 1));
  const row = (item, page, name, about, look) => h('li', {class: 'row'}, look, h('div', {class: 'row-main'},
    h('a', {class: 'row-link', href: page, dir: 'auto', lang: langOf(name)}, name),
    words('span', {class: 'row-sub'}, about)));
  const leaf = item => picture(withQuery(item.thumbnail_url, {width: size}), '', {class: 'leaf', sign: 'pdf'});
  const drafts = [];
  const cards = {
    disk: own(screen, 'disk', `/v1/disk/recent?limit=${most}&tz=${encodeURIComponent(zone)}`, '/disk/recent', item =>
      row(item, pageOf(item), item.name, item.created_at && time(item.created_at), sign(item))),
    pdf: own(screen, 'pdf', `/v1/pdf/documents?limit=${most}`, '/pdf', item => row(item, `/pdf/${item.id}`, item.name,
      item.draft_until ? t('draft') : item.page_count_text, leaf(item)), {more: () => drafts,
      act: linkButton(t('newDocument'), '/pdf/new', {icon: 'plus', kind: 'quiet'})}),
    shop: own(screen, 'shop', '/v1/shop/list', '/shop/list', item => row(item, `/shop/${item.product_id}`, item.title,
      `${item.quantity} × ${item.price_text}`, picture(item.image_url, '', {class: 'thumb', sign: 'shop',
        sizes: '64px'})), {foot: data => words('p', {class: 'price'}, data.totals.price_text)}),
    notes: own(screen, 'notes', `/v1/notes?limit=${most}&tz=${encodeURIComponent(zone)}`, '/notes', item => row(item,
      `/notes/${item.id}`, withSigns(item.first_line), item.modified_text),
    {act: linkButton(t('newNote'), '/notes/new', {icon: 'plus', kind: 'quiet'})}),
  };
  const shelf = screen.load('/v1/pdf/drafts', ({data}) => {
    drafts.splice(0, drafts.length, ...data.items);
    cards.pdf.draw();
  }, {place: h('div'), quiet: true, problem: () => null});
  shelf.ready.catch(() => {});
  const all = Object.values(cards);
  return {ready: all.map(one => one.ready), element: h('div', {class: 'mine'},
    all.map(one => one.element))};
}

/** Makes a card of one's own things: rows, or a way to them. */
function own(screen, app, href, page, row, {more = () => [], act = null, foot} = {}) {
  const place = h('div');
  const element = h('section', {class: 'card mine-card', 'aria-label': t(app)}, h('div', {class: 'bar'},
    h('h2', null, h('a', {href: page, class: 'mine-link'}, t(app))), act), place);
  element.style.minHeight = `${heights()?.[app] ?? 0}px`;
  let data = null;
  const draw = () => {
    element.style.minHeight = '';
    if (!data) return;
    const items = [...more(), ...data.items].slice(0, most);
    replace(place, items.length ? h('ul', {class: 'rows', role: 'list'}, items.map(row))
      : h('p', {class: 'muted'}, t('nothingYet')), items.length > 0 && foot?.(data));
    if (items.length || heights()) {
      localStorage.setItem(known, JSON.stringify({...heights(), [app]: element.offsetHeight}));
    }
  };
  const resource = screen.load(href, answer => { ({data} = answer); draw(); }, {place, quiet: true,
    problem: problem => draw(data = null) ?? (problem.status === 401 ? h('p', {class: 'muted'}, t(`${app}None`), ' ',
      h('a', {href: `/${app}/login`}, t('toLogin'))) : h('p', {class: 'muted', lang: langOf(problem.words)},
      problem.words))});
  // Nothing of an account stays after it, and that of the next one comes.
  for (const type of ['session', 'session-ended', 'account']) {
    screen.on(type, event => event.app === app && resource.soon());
  }
  return {element, draw, ready: resource.ready};
}

function newcomer(screen) {
  const enter = async (app, body) => {
    try { await call(`/v1/${app}/session`, {method: 'POST', body, login: true}); } catch (problem) {
      if (!(problem instanceof Problem) || problem.status === 401) throw problem;
    }
    // Who takes this way wants the files, not the pages that explain the app.
    if (app === 'disk') await call('/v1/disk/onboarding', {method: 'PUT', body: {seen: true}});
    reopen(app);
    screen.go(`/${app}`);
  };
  const step = (action, text) => h('li', null, action, h('p', {class: 'muted small'}, text));
  return h('section', {class: 'card stack start'}, h('h2', null, t('start')), h('p', {class: 'muted'}, t('startText')),
    h('ol', {class: 'steps', role: 'list'},
      step(button(t('one'), () => enter('ships', {mode: 'guest'}), {icon: 'ships', write: true}), t('oneText')),
      step(button(t('two'), () => enter('disk', {mode: 'oauth_token', access_token: 'sandbox-token'}),
        {icon: 'disk', write: true}), t('twoText')),
      step(linkButton(t('three'), '/status', {icon: 'gauge'}), t('threeText'))));
}

function author() {
  return h('p', {class: 'home-author small muted'}, h('strong', null, t('author')), ' ', t('authorText'), ' ',
    h('a', {href: '/v1'}, t('api')), ' · ', h('a', {href: '/docs'}, t('contract')));
}
