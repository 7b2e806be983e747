// Control room, for tests: faults by name and rules for some requests of the simulated upstreams; spaces and snapshots
// of the harness, and what clients see of Larder itself.

import {call, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {field, form} from './form.js';
import {ask, dialog} from './overlay.js';
import {forgetDrafts} from './parts.js';
import {define, time} from './texts.js';
import {button} from './ui.js';

/** The strings of faults, rules and the harness. */
export const t = define({
  en: {
    rules: 'Rules for some requests', noRule: 'No rule: each source has its own fault for all requests.',
    drop: 'Remove', add: 'Add a rule', upstream: 'Source', method: 'Method', any: 'any', path: 'Path',
    pathHint: 'Its first segments, such as /products; * is any one. Empty: every path.', fault: 'Fault',
    notation: 'Notation', needFault: 'Which fault? Such as error(503).',
    faultHint: forms => `One, or several with commas: ${forms}.`,
    times: 'How many times', timesHint: 'Empty: every time.', whole: 'Write a whole number.',
    more: 'Another…', online: 'None: it works', 'slow(3000)': 'Slow: 3 seconds',
    'slow(15000)': 'Very slow: 15 seconds',
    'error(503)': '503: service unavailable', 'error(500)': '500: internal error',
    'error(429, 30)': '429: too many requests', 'error(401)': '401: logged out', refused: 'Connection refused',
    offline: 'Offline', truncated: 'Cut in the middle', 'bandwidth(8)': 'A trickle: 8 KB a second',
    'flaky(0.5, 1)': 'Fails now and then', lost: 'Does it, but does not respond',
    'html(200)': 'Login page of a hotel network', garbage: 'Nonsense in place of data',
    hold: 'Waits until you release it',
    spaces: 'Spaces', lead: 'Further servers, each with data, sources and a clock of its own.',
    make: 'New space', end: 'End',
    snapshots: 'Snapshots', snapLead: 'All data, sources and the clock, to come back to.', none: 'None.',
    take: 'Take a snapshot', restore: 'Restore',
    sure: 'All becomes as it was then. What has changed since is lost.',
    nameRule: 'Up to 64 letters, digits, -, _ or .',
    front: 'Faults of Larder itself',
    frontLead: 'Front ends see Larder slow, gone or refusing until you remove the fault.',
    set: 'Set a fault', route: 'Route', routeHint: 'Such as GET /v1/ships. Empty: all others.',
    all: 'All other routes', clear: 'Remove all', release: n => `Release ${n} held`,
  },
  ru: {
    rules: 'Правила для части запросов', noRule: 'Правил нет: у каждого источника свой сбой для всех запросов.',
    drop: 'Удалить', add: 'Добавить правило', upstream: 'Источник', method: 'Метод', any: 'любой', path: 'Путь',
    pathHint: 'Его начало, например /products; * — любая часть. Пусто: любой путь.', fault: 'Сбой',
    notation: 'Запись', needFault: 'Какой сбой? Например, error(503).',
    faultHint: forms => `Один или несколько через запятую: ${forms}.`,
    times: 'Сколько раз', timesHint: 'Пусто: каждый раз.', whole: 'Нужно целое число.',
    more: 'Другой…', online: 'Нет: работает', 'slow(3000)': 'Медленно: 3 секунды',
    'slow(15000)': 'Очень медленно: 15 секунд',
    'error(503)': '503: недоступен', 'error(500)': '500: внутренняя ошибка',
    'error(429, 30)': '429: слишком много запросов', 'error(401)': '401: нужен вход', refused: 'В соединении отказано',
    offline: 'Без связи', truncated: 'Обрыв посередине', 'bandwidth(8)': 'Струйкой: 8 КБ в секунду',
    'flaky(0.5, 1)': 'Сбоит время от времени', lost: 'Выполняет, но не отвечает',
    'html(200)': 'Страница входа в сеть отеля',
    garbage: 'Бессмыслица вместо данных', hold: 'Ждёт, пока вы не отпустите',
    spaces: 'Пространства', lead: 'Другие серверы: у каждого свои данные, источники и часы.',
    make: 'Новое пространство', end: 'Закрыть',
    snapshots: 'Снимки', snapLead: 'Все данные, источники и часы: к ним можно вернуться.', none: 'Нет.',
    take: 'Сделать снимок', restore: 'Вернуть',
    sure: 'Всё станет как тогда. Сделанное с тех пор пропадёт.',
    nameRule: 'До 64 латинских букв, цифр, -, _ или .',
    front: 'Сбои самого Larder',
    frontLead: 'Пока сбой не удалён, Larder для клиентов медлит, пропал или отказывает.',
    set: 'Задать сбой', route: 'Адрес', routeHint: 'Например, GET /v1/ships. Пусто: все остальные.',
    all: 'Все остальные адреса', clear: 'Убрать все', release: n => `Отпустить: ${n}`,
  },
});

const presets = ['online', 'offline', 'slow(3000)', 'slow(15000)', 'error(503)', 'error(500)', 'error(429, 30)',
  'error(401)', 'refused', 'truncated', 'lost', 'bandwidth(8)', 'flaky(0.5, 1)', 'html(200)', 'garbage', 'hold'];
// Those that a rule cannot have.
const ofAll = ['online', 'refused'];

/** Gives the choice that a fault is: one of the presets, or `more`. */
export const presetOf = fault => (presets.includes(fault) ? fault : 'more');

/** Gives the choices of a picker of faults; `some` leaves out what only a whole source can have. */
export function faultChoices(some = false) {
  return [...presets, 'more'].filter(value => !some || !ofAll.includes(value)).map(value => ({value, title: t(value)}));
}

/**
 * Makes the list of the rules of all upstreams.
 * @param {Object} controls Those of status-sandbox.js. @param {function(): Promise} after Called after a change.
 * @returns {{element: HTMLElement, update: function(): Promise, add: function(Object)}} `add` asks for a rule, which
 *   begins with what is known of it: `upstream`, `method`, `path`.
 */
export function rules(controls, after) {
  const list = h('ul', {class: 'log', 'aria-label': t('rules')});
  const add = start => { askRule(controls, changed, start); };
  const element = h('details', {class: 'card'}, h('summary', null, t('rules')), h('div', {class: 'stack'}, list,
    h('div', {class: 'bar'}, button(t('add'), () => add({}), {icon: 'plus', write: true}))));
  let last = null;
  const changed = async () => {
    await after();
    await update();
  };
  const row = rule => faultRow([controls.titleOf(rule.name), rule.match.method, rule.match.path], rule, async () => {
    await call(`/v1/sandbox/upstreams/${rule.name}/rules/${rule.id}`, {method: 'DELETE'});
    await changed();
  });
  const update = async () => {
    const some = controls.upstreams().filter(one => one.rules > 0);
    const found = (await Promise.all(some.map(async ({name}) =>
      (await call(`/v1/sandbox/upstreams/${name}/rules`)).data.rules.map(rule => ({name, ...rule}))))).flat();
    const text = JSON.stringify(found);
    if (text === last) return;
    if (found.length > 0 && (last === null || last === '[]')) element.open = true;
    last = text;
    replace(list, found.length ? found.map(row) : h('li', {class: 'muted'}, t('noRule')));
  };
  return {element, update, add};
}

/** Makes the row of a fault: whose it is, what it is and how often it was applied, and the button that ends it. */
function faultRow(whose, {fault, faults, applied}, end) {
  return h('li', {class: 'bar'}, h('span', {class: 'grow'}, h('span', {class: 'code'}, whose.filter(Boolean).join(' ')),
    ' ', h('span', {class: 'tag warn'}, [fault ?? faults.join(' → '), applied].filter(one => one !== undefined)
      .join(' · '))), button(t('drop'), end, {kind: 'quiet', write: true}));
}

/** Asks for a rule and adds it; what the sandbox refuses is said at its field. */
function askRule(controls, changed, start) {
  const options = values => values.map(value => ({value, title: value}));
  const upstreams = controls.upstreams().map(one => one.name);
  const text = (name, more) => field(name, t(name), {...plain, ...more, value: start[name] ?? ''});
  const fields = [choice('upstream', t('upstream'), upstreams.map(value => ({value, title: controls.titleOf(value)})),
    start.upstream ?? upstreams[0]),
    choice('method', t('method'), [{value: '', title: t('any')}, ...options(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])],
      start.method ?? ''), text('path', {hint: t('pathHint')}),
    ...faultFields(t('faultHint', controls.faults().join(', '))),
    text('times', {hint: t('timesHint'), inputmode: 'numeric', check: it => (/^\d*$/.test(it.trim()) ? null
      : t('whole'))})];
  return askFor(t('add'), fields, async values => {
    const given = name => values[name].trim() || undefined;
    const body = {match: {method: given('method'), path: given('path')},
      times: given('times') && Number(given('times')),
      fault: faultIn(values)};
    await call(`/v1/sandbox/upstreams/${values.upstream}/rules`, {method: 'POST', body});
    await changed();
  });
}

const choice = (name, label, options, value) => field(name, label, {tag: 'select', options, value});

/** Makes the fields of a fault: a choice, and its notation for the last one. */
function faultFields(hint) {
  const preset = choice('preset', t('fault'), faultChoices(true), 'error(503)');
  // The server names it "fault".
  const notation = field('fault', t('notation'), {...plain, hint,
    check: it => (it.trim() || preset.input.value !== 'more' ? null : t('needFault'))});
  const show = () => { notation.hidden = preset.input.value !== 'more'; };
  preset.input.addEventListener('change', show);
  show();
  return [preset, notation];
}

const faultIn = ({preset, fault}) => (preset === 'more' ? fault.trim() : preset);

/** Attributes of a field for what is no language. */
export const plain = {autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false'};

/** Opens a sheet with a form; what the control refuses is said at its field. */
export function askFor(title, fields, send) {
  return dialog(title, close => [form(fields, title, async values => {
    try { await send(values); } catch (problem) {
      const at = problem.field?.split('.').at(-1);
      if (at) problem.errors = [{pointer: `/${at}`, detail: problem.detail}];
      throw problem;
    }
    close();
  })]);
}

/** Draws a titled list that is drawn anew only when it has changed. */
function part(title, lead, row) {
  const list = h('ul', {class: 'log', 'aria-label': t(title)});
  const bar = h('div', {class: 'bar'});
  let last = null;
  const show = rows => {
    const drawn = JSON.stringify(rows);
    if (drawn === last) return;
    last = drawn;
    replace(list, rows.length ? rows.map(row) : h('li', {class: 'muted'}, t('none')));
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
  const {show, bar, element} = part('spaces', 'lead', ({name, url}) => h('li', {class: 'bar'},
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
  const {show, bar, element} = part('snapshots', 'snapLead', ({name, at}) => h('li', {class: 'bar'},
    h('span', {class: 'grow'}, h('strong', null, name), ' ', h('span', {class: 'muted'}, time(at))),
    button(t('restore'), () => restore(name), {write: true}),
    button(t('remove'), () => call(`${path}/${name}`, {method: 'DELETE'}).then(update),
      {kind: 'quiet', write: true})));
  const restore = async name => {
    const sure = {title: `${t('restore')}: ${name}`, message: t('sure'),
      buttons: [t('restore'), t('cancel')]};
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
  const {show, bar, element} = part('front', 'frontLead', one => faultRow([one.route ?? t('all')], one, async () => {
    await (one.route ? call(withQuery(path, {route: one.route}), {method: 'DELETE'})
      : call(path, {method: 'PUT', body: {fault: 'online'}}));
    await update();
  }));
  const remove = button(t('clear'), async () => {
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
    ...faultFields(t('needFault'))];
  return askFor(t('set'), fields, async values => {
    await call(path, {method: 'PUT', body: {route: values.route.trim() || undefined, fault: faultIn(values)}});
    await done();
  });
}
