// Control room: faults by name, and rules for some requests of the simulated upstreams, shown, added and removed.

import {call} from './api.js';
import {h, replace} from './dom.js';
import {field, form} from './form.js';
import {dialog} from './overlay.js';
import {define} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    rules: 'Rules for some requests', none: 'No rule: each source has its own fault for all requests.',
    remove: 'Remove', add: 'Add a rule', upstream: 'Source', method: 'Method', any: 'any', path: 'Path',
    pathHint: 'Its first segments, such as /products; * is any one. Empty: every path.', fault: 'Fault',
    notation: 'Notation', needFault: 'Which fault? Such as error(503).',
    faultHint: forms => `One, or several with commas: ${forms}.`,
    times: 'How many times', timesHint: 'Empty: every time.', whole: 'Write a whole number.',
    more: 'Another…', online: 'None: it works', 'slow(3000)': 'Slow: 3 seconds',
    'slow(15000)': 'Very slow: 15 seconds',
    'error(503)': '503: service unavailable', 'error(500)': '500: internal error',
    'error(429, 30)': '429: too many requests', 'error(401)': '401: logged out', refused: 'Connection refused',
    offline: 'Connection breaks at once', truncated: 'Cut in the middle', 'bandwidth(8)': 'A trickle: 8 KB a second',
    'flaky(0.5, 1)': 'Fails now and then', lost: 'Does it, but does not respond',
    'html(200)': 'Login page of a hotel network', garbage: 'Nonsense in place of data',
    hold: 'Waits until you release it',
  },
  ru: {
    rules: 'Правила для части запросов', none: 'Правил нет: у каждого источника свой сбой для всех запросов.',
    remove: 'Удалить', add: 'Добавить правило', upstream: 'Источник', method: 'Метод', any: 'любой', path: 'Путь',
    pathHint: 'Его начало, например /products; * — любая часть. Пусто: любой путь.', fault: 'Сбой',
    notation: 'Запись', needFault: 'Какой сбой? Например, error(503).',
    faultHint: forms => `Один или несколько через запятую: ${forms}.`,
    times: 'Сколько раз', timesHint: 'Пусто: каждый раз.', whole: 'Нужно целое число.',
    more: 'Другой…', online: 'Нет: работает', 'slow(3000)': 'Медленно: 3 секунды',
    'slow(15000)': 'Очень медленно: 15 секунд',
    'error(503)': '503: недоступен', 'error(500)': '500: внутренняя ошибка',
    'error(429, 30)': '429: слишком много запросов', 'error(401)': '401: нужен вход', refused: 'В соединении отказано',
    offline: 'Соединение сразу рвётся', truncated: 'Обрыв посередине', 'bandwidth(8)': 'Струйкой: 8 КБ в секунду',
    'flaky(0.5, 1)': 'Сбоит время от времени', lost: 'Выполняет, но не отвечает',
    'html(200)': 'Страница входа в сеть отеля',
    garbage: 'Бессмыслица вместо данных', hold: 'Ждёт, пока вы не отпустите',
  },
});

const presets = ['online', 'slow(3000)', 'slow(15000)', 'error(503)', 'error(500)', 'error(429, 30)', 'error(401)',
  'refused', 'offline', 'truncated', 'lost', 'bandwidth(8)', 'flaky(0.5, 1)', 'html(200)', 'garbage', 'hold'];
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
  const add = start => { ask(controls, changed, start); };
  const element = h('details', {class: 'card'}, h('summary', null, t('rules')), h('div', {class: 'stack'}, list,
    h('div', {class: 'bar'}, button(t('add'), () => add({}), {icon: 'plus', write: true}))));
  let last = null;
  const changed = async () => {
    await after();
    await update();
  };
  const row = ({name, id, match, fault, faults, applied}) => h('li', {class: 'bar'},
    h('span', {class: 'grow'}, h('span', {class: 'code'}, [name, match.method, match.path].filter(Boolean).join(' ')),
      ' ', h('span', {class: 'tag warn'}, `${fault ?? faults.join(' → ')} · ${applied}`)),
    button(t('remove'), async () => {
      await call(`/v1/sandbox/upstreams/${name}/rules/${id}`, {method: 'DELETE'});
      await changed();
    }, {kind: 'quiet', write: true}));
  const update = async () => {
    const some = controls.upstreams().filter(one => one.rules > 0);
    const found = (await Promise.all(some.map(async ({name}) =>
      (await call(`/v1/sandbox/upstreams/${name}/rules`)).data.rules.map(rule => ({name, ...rule}))))).flat();
    const text = JSON.stringify(found);
    if (text === last) return;
    if (found.length > 0 && (last === null || last === '[]')) element.open = true;
    last = text;
    replace(list, found.length ? found.map(row) : h('li', {class: 'muted'}, t('none')));
  };
  return {element, update, add};
}

/** Asks for a rule and adds it; what the sandbox refuses is said at its field. */
function ask(controls, changed, start) {
  const options = values => values.map(value => ({value, title: value}));
  const upstreams = controls.upstreams().map(one => one.name);
  const text = (name, more) => field(name, t(name), {...plain, ...more, value: start[name] ?? ''});
  const choice = (name, label, choices, value) => field(name, label, {tag: 'select', options: choices, value});
  const fault = choice('preset', t('fault'), faultChoices(true), 'error(503)');
  // The server names it "fault".
  const notation = field('fault', t('notation'), {...plain, hint: t('faultHint', controls.faults().join(', ')),
    check: it => (it.trim() || fault.input.value !== 'more' ? null : t('needFault'))});
  const show = () => { notation.hidden = fault.input.value !== 'more'; };
  fault.input.addEventListener('change', show);
  show();
  const fields = [choice('upstream', t('upstream'), options(upstreams), start.upstream ?? upstreams[0]),
    choice('method', t('method'), [{value: '', title: t('any')}, ...options(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])],
      start.method ?? ''), text('path', {hint: t('pathHint')}), fault, notation,
    text('times', {hint: t('timesHint'), inputmode: 'numeric', check: it => (/^\d*$/.test(it.trim()) ? null
      : t('whole'))})];
  return askFor(t('add'), fields, async values => {
    const given = name => values[name].trim() || undefined;
    const body = {match: {method: given('method'), path: given('path')},
      times: given('times') && Number(given('times')),
      fault: values.preset === 'more' ? given('fault') : values.preset};
    await call(`/v1/sandbox/upstreams/${values.upstream}/rules`, {method: 'POST', body});
    await changed();
  });
}

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
  })], {sheet: true});
}
