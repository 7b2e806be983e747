// Forms: labelled fields, errors at the field that the server names by `pointer`, nothing typed is lost.

import {h, replace} from './dom.js';
import {define, langOf} from './texts.js';
import {dialog, linkFor, showProblem} from './overlay.js';
import {button, retryButton} from './ui.js';

const t = define({en: {show: 'Show what is typed'}, ru: {show: 'Показать введённое'}});

let count = 0;

/**
 * Makes a labelled field. While it has another value than at first, `data-typed` marks it: what is typed is not left
 *   because a session ends.
 * @param {string} name Member of the body; the server's errors name it (`/name`).
 * @param {string} label
 * @param {Object} [options] `tag`, `options` of a select, `hint`, attributes; `check(text)` gives what is wrong.
 * @returns {HTMLElement} With `input`, `say(text)` and `valid()`.
 */
export function field(name, label, options = {}) {
  const id = `field-${name}-${++count}`;
  const {type = 'text', value = '', hint, check, tag = 'input', options: choices, ...rest} = options;
  const error = h('p', {class: 'field-error', id: `${id}-error`, 'aria-live': 'polite'});
  const input = h(tag, {id, name, type: tag === 'input' ? type : null, class: 'field-input', ...rest,
    'aria-describedby': `${id}-error${hint ? ` ${id}-hint` : ''}`},
  choices?.map(choice => h('option', {value: choice.value}, choice.title)));
  input.value = value;
  const element = h('div', {class: 'field'}, h('label', {for: id}, label),
    type === 'password' ? h('div', {class: 'place-line'}, input, eye(input)) : input,
    hint && h('p', {class: 'field-hint', id: `${id}-hint`}, hint), error);
  const say = text => {
    replace(error, text ?? '');
    error.lang = langOf(text) ?? '';
    input.setAttribute('aria-invalid', text ? 'true' : 'false');
  };
  const valid = () => { const wrong = check?.(input.value) ?? null; say(wrong); return !wrong; };
  const first = input.value;
  const typed = () => { if (input.value === first) delete element.dataset.typed; else element.dataset.typed = ''; };
  for (const type of ['input', 'change']) input.addEventListener(type, typed);
  input.addEventListener('blur', () => input.value && valid());
  input.addEventListener('input', () => input.getAttribute('aria-invalid') === 'true' && valid());
  return Object.assign(element, {input, say, valid});
}

/** Makes the button that shows a password. */
function eye(input) {
  const look = button(t('show'), () => {
    const hidden = input.type === 'password';
    input.type = hidden ? 'text' : 'password';
    look.ariaPressed = String(hidden);
  }, {bare: true, icon: 'eye'});
  look.ariaPressed = 'false';
  return look;
}

/**
 * Makes a form.
 * @param {Array<HTMLElement>} fields Made by `field`, or other nodes.
 * @param {string} title Words of its button.
 * @param {function(Object, AbortSignal, ?Object): Promise} send Gets the values by name, and the fields of a request
 *   that is to be sent later; a Problem is shown at its fields.
 * @param {Object} [options] `first` and `extra` are buttons before and after its own, whose words are `busyText`
 *   meanwhile.
 * @returns {HTMLFormElement} With `cancel()`, which ends what is being sent.
 */
export function form(fields, title, send, options = {}) {
  const failure = h('div', {class: 'form-problem', role: 'alert'});
  const words = h('span', null, title);
  const submit = h('button', {type: 'submit', class: 'button primary', dataset: {write: ''}}, words);
  const cancel = h('button', {type: 'button', class: 'button', hidden: true, onclick: () => element.cancel()},
    t('cancel'));
  const element = h('form', {class: 'form', novalidate: true}, fields, failure,
    h('div', {class: 'form-actions'}, options.first, submit, cancel, options.extra));
  const named = [...element.querySelectorAll('.field')].filter(item => item.input);
  let flight = null;
  let headers;
  const again = way => { ({headers} = way); element.requestSubmit(); };
  element.cancel = () => flight?.abort();
  const working = on => {
    submit.disabled = on;
    submit.setAttribute('aria-busy', String(on));
    words.textContent = on ? options.busyText ?? t('working') : title;
    cancel.hidden = !on;
    // That of a dialog.
    submit.previousElementSibling?.toggleAttribute('hidden', on);
  };
  element.addEventListener('submit', async event => {
    event.preventDefault();
    replace(failure);
    const wrong = named.filter(item => !item.valid());
    if (wrong.length) { wrong[0].input.focus(); return; }
    flight = new AbortController();
    working(true);
    try {
      await send(Object.fromEntries(named.map(item => [item.input.name, item.input.value])), flight.signal, headers);
    } catch (problem) { complain(problem, named, failure, again); } finally {
      headers = undefined;
      working(false);
    }
  });
  return element;
}

/**
 * Asks for a name in a dialog.
 * @param {string} title
 * @param {function(string, ?Object): Promise} send Gets the name, and the fields of a request that is sent later.
 * @param {Object} [options] As of `field`; `member` names the field, `act` the button.
 * @returns {Promise<*>} What `send` gives, or true; null if there is no name.
 */
export function askName(title, send, {member = 'name', act = title, ...options} = {}) {
  return dialog(title, close => {
    const name = field(member, t('name'), {autofocus: true, autocomplete: 'off',
      check: text => (text.trim() ? null : t('needName')), ...options});
    return [form([name], act, async (values, signal, headers) =>
      close(await send(values[member].trim(), headers) ?? true))];
  });
}

function complain(problem, fields, failure, again) {
  if (problem.name === 'AbortError') return;
  if (!('errors' in problem)) { showProblem(problem); return; }
  const at = fields.filter(item => problem.of(item.input.name));
  for (const item of at) item.say(problem.of(item.input.name));
  if (at.length) at[0].input.focus();
  else replace(failure, note(problem, again));
}

/** Makes what a form says of a problem that names none of its fields. */
function note(problem, again) {
  const title = problem.dialog?.title;
  return [title && !/^(error|ошибка)$/i.test(title) && h('strong', {lang: langOf(title)}, title),
    h('p', {lang: langOf(problem.words)}, problem.words), linkFor(problem),
    h('div', {class: 'bar'}, problem.retryable && retryButton(problem, () => again({}), {write: true}),
      problem.leave && button(problem.leave.title, () => again(problem.leave), {write: true}))];
}
