// Control room: rules for some requests of the simulated upstreams, shown, added and removed.

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
    needFault: 'Which fault? Such as error(503).', faultHint: forms => `One, or several with commas: ${forms}.`,
    times: 'How many times', timesHint: 'Empty: every time.', whole: 'Write a whole number.',
  },
  ru: {
    rules: 'Правила для части запросов', none: 'Правил нет: у каждого источника свой сбой для всех запросов.',
    remove: 'Удалить', add: 'Добавить правило', upstream: 'Источник', method: 'Метод', any: 'любой', path: 'Путь',
    pathHint: 'Его начало, например /products; * — любая часть. Пусто: любой путь.', fault: 'Сбой',
    needFault: 'Какой сбой? Например, error(503).', faultHint: forms => `Один или несколько через запятую: ${forms}.`,
    times: 'Сколько раз', timesHint: 'Пусто: каждый раз.', whole: 'Нужно целое число.',
  },
});

/**
 * Makes the list of the rules of all upstreams.
 * @param {Object} controls Those of status-sandbox.js. @param {function(): Promise} after Called after a change.
 * @returns {{element: HTMLElement, update: function(): Promise}}
 */
export function rules(controls, after) {
  const list = h('ul', {class: 'log', 'aria-label': t('rules')});
  const add = button(t('add'), () => { ask(controls, changed); }, {icon: 'plus', write: true});
  const element = h('details', {class: 'card'}, h('summary', null, t('rules')), h('div', {class: 'stack'}, list,
    h('div', {class: 'bar'}, add)));
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
  return {element, update};
}

/** Asks for a rule and adds it; what the sandbox refuses is said at its field. */
function ask(controls, changed) {
  const options = values => values.map(value => ({value, title: value}));
  const upstream = field('upstream', t('upstream'), {tag: 'select', options: options(controls.upstreams()
    .map(one => one.name)), value: controls.upstreams()[0].name});
  const method = field('method', t('method'), {tag: 'select', options: [{value: '', title: t('any')},
    ...options(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])]});
  const text = (name, more) => field(name, t(name), {...plain, ...more});
  const fields = [upstream, method, text('path', {hint: t('pathHint')}),
    text('fault', {hint: t('faultHint', controls.faults().join(', ')), check: it => (it.trim() ? null
      : t('needFault'))}),
    text('times', {hint: t('timesHint'), inputmode: 'numeric', check: it => (/^\d*$/.test(it.trim()) ? null
      : t('whole'))})];
  return askFor(t('add'), fields, async values => {
    const given = name => values[name].trim() || undefined;
    const body = {match: {method: given('method'), path: given('path')}, fault: given('fault'),
      times: given('times') && Number(given('times'))};
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
