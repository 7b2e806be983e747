// Home: what Larder is, how things stand, the five apps, and where to start.

import {call, larder, Problem} from './api.js';
import {h, replace} from './dom.js';
import {reopen} from './events.js';
import {icon} from './icons.js';
import {drawnApps} from './screen.js';
import {define, t as common} from './texts.js';
import {button, linkButton, sourceState} from './ui.js';

const t = define({
  en: {
    title: 'Kept fresh. Kept near.',
    lead: 'Five apps drawn from Larder’s own API. What comes from far away is kept here; every screen says where it is '
      + 'from and how old it is – also when there is no connection.',
    disk: 'Files, previews, uploads, offline copies.', shop: 'Search with filters, product cards, a shopping list.',
    pdf: 'Photos and text to PDF: reorder, merge, extract.', ships: 'A fleet that stays aboard when the API sinks.',
    notes: 'Notes on a map, places, people.', status: 'What answers, what is kept, what happens.',
    diskName: 'Disk', shopName: 'Shop', pdfName: 'PDF', shipsName: 'Ships', notesName: 'Notes',
    statusName: 'Control room',
    none: 'Needs no source',
    start: 'Start here', startText: 'The remote APIs are simulated by the sandbox. Nothing leaves this machine.',
    one: 'Look at the ships as a guest', oneText: 'No account needed.',
    two: 'Open the Disk as Anna', twoText: 'The sandbox’s first account; its token is sandbox-token.',
    three: 'Take everything offline',
    threeText: 'In the control room. Then open any app again: it still works, and says so.',
    author: 'You write a front end?', authorText: 'These pages use nothing but the API that you would use.',
    api: 'Routes', contract: 'OpenAPI',
  },
  ru: {
    title: 'Всегда под рукой.',
    lead: 'Пять приложений на API самого Larder. То, что приходит издалека, хранится здесь; каждый экран говорит, '
      + 'откуда данные и насколько они стары, — и без связи тоже.',
    disk: 'Файлы, просмотр, загрузка, копии без сети.', shop: 'Поиск с фильтрами, карточки, список покупок.',
    pdf: 'Фотографии и текст в PDF: порядок, слияние, страницы.', ships: 'Флот, который держится на плаву и без API.',
    notes: 'Заметки на карте, места, люди.', status: 'Кто отвечает, что хранится, что происходит.',
    diskName: 'Диск', shopName: 'Магазин', pdfName: 'PDF', shipsName: 'Корабли', notesName: 'Заметки',
    statusName: 'Пульт',
    none: 'Источник не нужен',
    start: 'С чего начать', startText: 'Удалённые сервисы изображает песочница. Ничто не покидает эту машину.',
    one: 'Посмотреть корабли гостем', oneText: 'Без учётной записи.',
    two: 'Открыть Диск Анны', twoText: 'Первая запись песочницы; её токен — sandbox-token.',
    three: 'Отключить всё', threeText: 'На пульте. Потом откройте любое приложение: оно работает и говорит об этом.',
    author: 'Пишете свой клиент?', authorText: 'Эти страницы пользуются тем же API, что и вы.',
    api: 'Адреса', contract: 'OpenAPI',
  },
});

const sources = {disk: 'yandex_disk', shop: 'catalogue', pdf: null, ships: 'spacex', notes: 'people'};

export const routes = [{path: '/', open}];

async function open(screen) {
  screen.head({title: 'Larder', quiet: true});
  const begin = h('div');
  const cards = h('ul', {class: 'home-cards', role: 'list'});
  screen.show(h('div', {class: 'hero'}, h('p', {class: 'hero-title'}, t('title')), h('p', {class: 'hero-lead'},
    t('lead'))),
    cards, begin);
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
  await resource.ready;
}

function card({app, title}, upstreams) {
  const upstream = upstreams?.find(one => one.name === sources[app]);
  const state = upstream ? sourceState(upstream) : null;
  const told = state ? common(`source${state}`) : sources[app] === null ? t('none') : null;
  return h('li', {class: 'home-card', dataset: {app}}, h('span', {class: 'home-sign'},
    icon(app === 'status' ? 'gauge' : app, 26)),
    h('div', {class: 'row-main'}, h('h2', null, h('a', {class: 'row-link', href: `/${app}`}, title ?? t(`${app}Name`))),
      !title && h('p', {class: 'muted small'}, t(app)),
      app !== 'status' && h('p', {class: 'home-state small', dataset: {state: state?.toLowerCase() ?? ''}}, told)));
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
      step(linkButton(t('three'), '/status', {icon: 'offline'}), t('threeText'))));
}

function author() {
  return h('p', {class: 'home-author small muted'}, h('strong', null, t('author')), ' ', t('authorText'), ' ',
    h('a', {href: '/v1'}, t('api')), ' · ', h('a', {href: '/docs'}, t('contract')));
}
