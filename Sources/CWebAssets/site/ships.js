// Ships: login, the list whose changes are animated, details as a dialog, deletion with a way back.

import {call} from './api.js';
import {h, replace} from './dom.js';
import {endSession, newDocument, reopen} from './events.js';
import {icon} from './icons.js';
import {field, form} from './form.js';
import {pagedList} from './list.js';
import {ask, dialog, toast} from './overlay.js';
import {afterLogin} from './parts.js';
import {define, langOf, plural} from './texts.js';
import {button, empty, picture} from './ui.js';

const t = define({
  en: {
    lead: 'A fleet, kept aboard.', email: 'E-mail', password: 'Password',
    guest: 'Continue as Guest', signingIn: 'Logging in…',
    hint: 'Any e-mail address and any password will do: this login is simulated.',
    badEmail: 'Write an address such as example@domain.com.', noPassword: 'Write a password.',
    remove: name => `Delete ${name}`, removed: name => `${name} deleted`, built: year => `built ${year}`,
    restore: n => `Restore ${n} deleted ${plural(n, {one: 'ship', other: 'ships'})}`, gone: 'No longer listed',
    type: 'Type', year: 'Built', weight: 'Weight',
    port: 'Home port', roles: 'Roles', status: 'In service', yes: 'Yes', no: 'No', restoreOne: 'Restore',
    empty: 'No ships',
    emptyText: 'There is nothing in this harbour.', over: 'You are logged out.',
    find: 'Filter by name', clear: 'Clear the filter',
  },
  ru: {
    lead: 'Флот всегда на борту.', email: 'Эл. почта', password: 'Пароль',
    guest: 'Продолжить как гость', signingIn: 'Выполняется вход…',
    hint: 'Подойдут любая эл. почта и любой пароль: вход здесь условный.',
    badEmail: 'Нужен адрес, например example@domain.com.', noPassword: 'Введите пароль.',
    remove: name => `Удалить ${name}`, removed: name => `${name}: удалено`,
    built: year => `построен в ${year}`,
    restore: n => `Вернуть удалённые: ${n}`, gone: 'Больше нет в списке',
    type: 'Тип', year: 'Год постройки', weight: 'Масса',
    port: 'Порт приписки', roles: 'Назначение', status: 'В строю', yes: 'Да', no: 'Нет', restoreOne: 'Вернуть',
    empty: 'Кораблей нет', emptyText: 'В этой гавани пусто.', over: 'Вы вышли.',
    find: 'Отбор по названию', clear: 'Снять отбор',
  },
});

export const routes = [
  {path: '/ships', open: openList},
  {path: '/ships/login', open: openLogin},
  {path: '/ships/:id', open: openDetails, over: '/ships'},
];

const isEmail = text => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text.trim()) && text.trim().length <= 254;

function openLogin(screen) {
  screen.head({title: t('ships'), lead: screen.why ?? t('lead')});
  const email = field('username', t('email'), {type: 'email', autocomplete: 'username', inputmode: 'email',
    check: text => (isEmail(text) ? null : t('badEmail'))});
  const password = field('password', t('password'), {type: 'password', autocomplete: 'current-password',
    hint: t('hint'),
    check: text => (text ? null : t('noPassword'))});
  email.input.addEventListener('input', () => /@.*\..|\s/.test(email.input.value) && email.valid());
  const enter = async (body, signal) => {
    await call('/v1/ships/session', {method: 'POST', body, login: true, signal});
    reopen('ships');
    if (!screen.signal.aborted) screen.go(afterLogin(screen, '/ships'), {replace: true});
  };
  const guest = button(t('guest'), () => enter({mode: 'guest'}), {write: true});
  const element = form([email, password], t('toLogin'), (values, signal) => enter({mode: 'login', ...values}, signal),
    {busyText: t('signingIn'), extra: [guest]});
  screen.signal.addEventListener('abort', () => element.cancel());
  screen.show(h('div', {class: 'card login'}, h('div', {class: 'state-sign'}, icon('ships', 40)), element));
}

function openList(screen) {
  const filter = h('input', {type: 'search', 'aria-label': t('find'), placeholder: t('find'), dataset: {key: 'search'},
    value: screen.memory.filter ?? '', oninput: () => narrow()});
  const nothing = h('div', {role: 'status'});
  const restore = h('div', {class: 'bar'});
  let nav = null;
  const drawHead = () => screen.head({title: t('ships'), actions: [
    screen.refreshButton(() => list.resource),
    nav && button(nav.title, () => leave(screen, nav), {icon: 'logout', kind: 'compact', write: true})]});
  const narrow = () => {
    screen.memory.filter = filter.value;
    const wanted = filter.value.trim().toLocaleLowerCase();
    for (const row of list.element.children) row.hidden = wanted !== '' && !row.dataset.name.includes(wanted);
    const shown = [...list.element.children].some(row => !row.hidden);
    list.element.hidden = !shown;
    const count = screen.body.querySelector('.list-foot .count');
    if (count) count.hidden = wanted !== '';
    replace(nothing, !shown && list.items().length > 0 && empty({title: t('nothing'), button: t('clear')},
      {icon: 'search', run: () => { filter.value = ''; narrow(); filter.focus(); }}));
  };
  drawHead();
  const list = pagedList(screen, {
    href: '/v1/ships', key: ship => ship.id, label: t('ships'), row: ship => row(ship, remove),
    before: () => [h('div', {class: 'bar list-tools'}, filter, restore), nothing],
    empty: () => h('div', {class: 'state'}, h('div', {class: 'state-sign'}, icon('ships', 40)),
      h('h2', null, t('empty')), h('p', null, t('emptyText'))),
    drawn: ({data}) => {
      if (nav?.title !== data.nav_button.title) { nav = data.nav_button; drawHead(); }
      drawRestore(data.hidden_count);
      narrow();
    },
  });
  const drawRestore = hidden => replace(restore, hidden > 0
    && button(t('restore', hidden), () => bringBack(), {kind: 'quiet', icon: 'refresh', write: true}));
  const bringBack = async ids => {
    await call('/v1/ships/restore', {method: 'POST', body: ids ? {ids} : {}});
    await list.resource.reload();
  };
  const remove = async ship => {
    const {data} = await list.change(rows => rows.filter(other => other.id !== ship.id),
      () => call(`/v1/ships/${ship.id}`, {method: 'DELETE'}));
    drawRestore(data.hidden_count);
    toast(t('removed', ship.name), {action: {title: t('undo'), run: () => bringBack([ship.id])}});
  };
}

function row(ship, remove) {
  return h('li', {class: 'row', dataset: {name: ship.name.toLocaleLowerCase(), id: ship.id}},
    picture(ship.image_url, '', {class: 'thumb', sign: 'ships', sizes: '64px'}),
    h('div', {class: 'row-main'},
      h('a', {class: 'row-link', href: `/ships/${ship.id}`, lang: langOf(ship.name)}, ship.name),
      h('span', {class: 'row-sub'}, [ship.type_text, ship.year_built && t('built', ship.year_built_text)]
        .filter(Boolean).join(' · '))),
    h('div', {class: 'row-end'}, !ship.upstream_present && h('span', {class: 'tag warn'}, t('gone')),
      button(t('remove', ship.name), () => remove(ship), {icon: 'trash', bare: true, write: true, key: 'delete'})));
}

async function leave(screen, nav) {
  if (nav.confirm && !await ask(nav.confirm, nav.title)) return;
  const {data} = await endSession('ships', nav.href);
  if (data.alert) {
    await dialog(data.alert.message, [h('p', null, t('over'))], {role: 'alertdialog',
      actions: [{title: data.alert.button, kind: 'primary', value: true}]});
  }
  newDocument('ships');
}

function openDetails(screen) {
  const close = button(t('close'), () => screen.close?.(), {icon: 'close', bare: true});
  screen.head({title: t('ships'), actions: [close]});
  const href = `/v1/ships/${screen.params.id}`;
  const resource = screen.load(href, ({data}) => {
    screen.head({title: data.name, actions: [close]});
    drawDetails(screen, data);
  }, {skeleton: 'page', help: ({code}) => code === 'ship-deleted' && button(t('restoreOne'), async () => {
      await call('/v1/ships/restore', {method: 'POST', body: {ids: [screen.params.id]}});
      await resource.reload();
    }, {kind: 'primary', write: true})});
  return resource.ready;
}

function drawDetails(screen, ship) {
  const facts = [[t('type'), ship.type_text], [t('year'), ship.year_built_text], [t('weight'), ship.weight_kg_text],
    [t('port'), ship.home_port_text], [t('roles'), ship.roles_text],
    ship.active === null || ship.active === undefined ? null : [t('status'), ship.active ? t('yes') : t('no')]];
  if (screen.drawn !== ship.image_url) {
    screen.image = picture(ship.image_url, ship.name, {class: 'ship-image', sign: 'ships', eager: true,
      sizes: '(max-width: 44rem) 100vw, 720px'});
    screen.drawn = ship.image_url;
  }
  screen.show(screen.image, !ship.upstream_present && h('p', {class: 'tag warn'}, t('gone')),
    h('dl', {class: 'facts ship-facts'}, facts.filter(Boolean).map(([name, value]) =>
      [h('dt', null, name), h('dd', {lang: langOf(value)}, value)])));
}
