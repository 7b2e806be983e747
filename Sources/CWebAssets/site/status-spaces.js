// Control room, for tests: spaces and snapshots of the harness, and what clients see of Larder itself.

import {call} from './api.js';
import {h, replace} from './dom.js';
import {field} from './form.js';
import {ask} from './overlay.js';
import {forgetDrafts} from './parts.js';
import {askFor, plain} from './status-rules.js';
import {define, time} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    spaces: 'Spaces', lead: 'Further servers in this process, each with data, sources and a clock of its own.',
    noSpace: 'None.', make: 'New space', end: 'End',
    snapshots: 'Snapshots', snapLead: 'All of Larder, the sources and the clock, to come back to.', noSnap: 'None.',
    take: 'Take a snapshot', restore: 'Restore', drop: 'Delete',
    sure: 'Everything becomes as it was then. What has changed since is lost.',
    nameRule: 'At most 64 letters, digits, -, _ or .',
    front: 'Faults of Larder itself', frontLead: 'What front ends see when Larder is slow, gone or refuses.',
    noFault: 'None.', set: 'Set a fault', route: 'Route',
    routeHint: 'Such as GET /v1/ships. Empty: all others.', fault: 'Fault',
    faultHint: 'Such as slow(3000), error(503) or offline; online ends it.', needFault: 'Which fault?',
    all: 'All other routes', remove: 'Remove all', release: n => `Release ${n} held`,
  },
  ru: {
    spaces: 'Пространства', lead: 'Другие серверы в этом процессе: у каждого свои данные, источники и часы.',
    noSpace: 'Нет.', make: 'Новое пространство', end: 'Закрыть',
    snapshots: 'Снимки', snapLead: 'Всё состояние Larder, источников и часов: к нему можно вернуться.', noSnap: 'Нет.',
    take: 'Сделать снимок', restore: 'Вернуть', drop: 'Удалить',
    sure: 'Всё станет как тогда. Сделанное с тех пор пропадёт.',
    nameRule: 'До 64 латинских букв, цифр, -, _ или .',
    front: 'Сбои самого Larder', frontLead: 'Что видят клиенты, когда Larder медлит, пропал или отказывает.',
    noFault: 'Нет.', set: 'Задать сбой', route: 'Адрес',
    routeHint: 'Например, GET /v1/ships. Пусто: все остальные.', fault: 'Сбой',
    faultHint: 'Например, slow(3000), error(503) или offline; online его снимает.', needFault: 'Какой сбой?',
    all: 'Все остальные адреса', remove: 'Убрать все', release: n => `Отпустить: ${n}`,
  },
});

/** Draws a titled list that is drawn anew only when it has changed. */
function part(title, lead, none, row) {
  const list = h('ul', {class: 'log', 'aria-label': t(title)});
  const bar = h('div', {class: 'bar'});
  let last = null;
  const show = rows => {
    const drawn = JSON.stringify(rows);
    if (drawn === last) return;
    last = drawn;
    replace(list, rows.length ? rows.map(row) : h('li', {class: 'muted'}, t(none)));
  };
  return {show, bar, element: h('section', {class: 'stack'}, h('h3', null, t(title)),
    h('p', {class: 'small muted'}, t(lead)), list, bar)};
}

/**
 * Makes the list of spaces.
 * @param {string} base Path of the harness.
 * @returns {{element: HTMLElement, update: function(): Promise}}
 */
export function spaces(base) {
  const {show, bar, element} = part('spaces', 'lead', 'noSpace', ({name, url}) => h('li', {class: 'bar'},
    h('span', {class: 'grow'}, h('strong', null, name), ' ', h('a', {href: `${url}/status`, target: '_blank',
      rel: 'noreferrer'}, url)), button(t('end'), async () => {
      await call(`${base}/spaces/${name}`, {method: 'DELETE'});
      await update();
    }, {kind: 'quiet', write: true})));
  const update = async () => show((await call(`${base}/spaces`)).data.spaces);
  bar.append(button(t('make'), async () => {
    await call(`${base}/spaces`, {method: 'POST', body: {}});
    await update();
  }, {icon: 'plus', write: true}));
  return {element, update};
}

/** Makes the list of snapshots, as `spaces` makes that of spaces. */
export function snapshots(base) {
  const path = `${base}/snapshots`;
  const {show, bar, element} = part('snapshots', 'snapLead', 'noSnap', ({name, at}) => h('li', {class: 'bar'},
    h('span', {class: 'grow'}, h('strong', null, name), ' ', h('span', {class: 'muted'}, time(at))),
    button(t('restore'), () => restore(name), {write: true}),
    button(t('drop'), () => call(`${path}/${name}`, {method: 'DELETE'}).then(update), {kind: 'quiet', write: true})));
  const restore = async name => {
    const sure = {title: `${t('restore')}: ${name}`, message: t('sure'), buttons: [t('restore'), t('cancel')]};
    if (!await ask(sure)) return;
    await call(`${path}/${name}/restore`, {method: 'POST'});
    forgetDrafts('');
    await update();
  };
  const update = async () => show((await call(path)).data.snapshots);
  bar.append(button(t('take'), () => { askName(path, update); }, {icon: 'plus', write: true}));
  return {element, update};
}

function askName(path, done) {
  const name = field('name', t('name'), {...plain, autofocus: true, hint: t('nameRule'),
    check: text => (/^[\w.-]{1,64}$/.test(text.trim()) ? null : t('nameRule'))});
  return askFor(t('take'), [name], async values => {
    await call(`${path}/${values.name.trim()}`, {method: 'PUT'});
    await done();
  });
}

/** Makes the list of the faults of Larder itself, as `spaces` makes that of spaces. */
export function frontFaults(base) {
  const path = `${base}/front/fault`;
  const {show, bar, element} = part('front', 'frontLead', 'noFault', ({route, fault, faults, applied}) => h('li', null,
    h('span', {class: 'code'}, route ?? t('all')), ' ',
    h('span', {class: 'tag warn'}, [fault ?? faults.join(' → '), applied].filter(one => one !== undefined)
      .join(' · '))));
  const remove = button(t('remove'), async () => {
    await call(path, {method: 'DELETE'});
    await update();
  }, {kind: 'quiet', write: true});
  const release = h('div');
  const update = async () => {
    const {fault, routes, waiting} = (await call(path)).data;
    const rows = [...routes, ...(fault === 'online' ? [] : [{fault}])];
    remove.hidden = rows.length === 0;
    if (release.dataset.count !== String(waiting)) {
      release.dataset.count = waiting;
      replace(release, waiting > 0 && button(t('release', waiting), () => call(`${base}/front/release`,
        {method: 'POST'}).then(update), {write: true}));
    }
    show(rows);
  };
  bar.append(button(t('set'), () => { askFault(path, update); }, {icon: 'plus', write: true}), release, remove);
  return {element, update};
}

/** Asks for a fault of Larder itself. */
export function askFault(path, done, route = '') {
  const fields = [field('route', t('route'), {...plain, hint: t('routeHint'), value: route}),
    field('fault', t('fault'), {...plain, hint: t('faultHint'), check: text => (text.trim() ? null : t('needFault'))})];
  return askFor(t('set'), fields, async ({route, fault}) => {
    await call(path, {method: 'PUT', body: {route: route.trim() || undefined, fault: fault.trim()}});
    await done();
  });
}
