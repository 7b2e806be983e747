// What lies over a screen: dialogs, sheets, menus, popups and toasts. Focus returns to what opened them.

import {problemOf} from './api.js';
import {append, h, refocus, replace} from './dom.js';
import {icon} from './icons.js';
import {langOf, t} from './texts.js';

/**
 * Opens a modal dialog; on phones it is a sheet at the bottom.
 * @param {string} title
 * @param {Array<Node>|function(function): Array<Node>} content Nodes, or a function of `close` that makes them.
 * @param {Object} [options] `canClose` is asked before it closes without an answer; without it the user is, if
 *   something is typed.
 * @returns {Promise<*>} The value that it was closed with, or null.
 */
export function dialog(title, content, options = {}) {
  const opener = document.activeElement;
  return new Promise(resolve => {
    const heading = h('h2', {id: `dialog-${++count}`, tabindex: '-1', lang: langOf(title)}, title);
    const element = h('dialog', {class: `dialog ${options.wide ? 'wide' : ''}`,
      'aria-labelledby': heading.id, role: options.role ?? null});
    const close = (value = null) => { element.result = value; element.close(); };
    const canClose = options.canClose ?? (() => mayLose(element));
    const dismiss = async () => await canClose() && close();
    append(element, [h('header', {class: 'dialog-head'}, heading,
      h('button', {type: 'button', class: 'button bare', 'aria-label': t('close'), onclick: dismiss}, icon('close'))),
    h('div', {class: 'dialog-body'}, typeof content === 'function' ? content(close) : content),
    options.actions && h('footer', {class: 'dialog-actions'}, options.actions.map(action => answerButton(action,
      close)))]);
    element.querySelector('.form-actions:not(.bar) > .primary')?.before(h('button', {type: 'button', class: 'button',
      onclick: dismiss}, t('cancel')));
    element.addEventListener('cancel', event => { event.preventDefault(); dismiss(); });
    pressOutside(element, dismiss);
    element.addEventListener('close', () => {
      element.remove();
      if (opener) refocus(opener);
      resolve(element.result ?? null);
    });
    document.body.append(element);
    element.showModal();
    const first = element.querySelector('[autofocus]') ?? heading;
    first.focus();
    // A name that is given is typed over; a text that can be changed is not.
    if (first.matches('input,[readonly]')) first.select();
  });
}

/** Asks before a dialog is closed in which something is typed. */
async function mayLose(element) {
  return !element.querySelector('[data-typed]')
    || ask({title: t('lose'), message: t('loseText'), buttons: [t('discard'), t('goOn')]});
}

let count = 0;

function answerButton({title, value, kind = '', dataset = {}, wait}, close) {
  const words = h('span', null, title);
  const element = h('button', {type: 'button', class: `button ${kind}`, lang: langOf(title), dataset,
    onclick: () => close(value)}, words);
  if (wait) countDown(element, words, title, wait);
  return element;
}

/** Keeps a button off for some seconds, which its words count down; then calls `done`. */
export function countDown(element, words, title, seconds, done) {
  let left = seconds;
  const step = () => {
    if (!element.isConnected && left < seconds) return;
    words.textContent = left > 0 ? t('retryIn', left) : title;
    element.disabled = left > 0;
    if (left <= 0) done?.(); else setTimeout(step, 1000);
    left -= 1;
  };
  step();
}

function pressOutside(element, run) {
  let began = false;
  element.addEventListener('pointerdown', event => { began = event.target === element; });
  element.addEventListener('click', event => { if (began && event.target === element) run(); });
}

/**
 * Asks before something that cannot be undone, in the server's words.
 * @param {{title: ?string, message: string, buttons: Array<string>}} confirm As in `actions[].confirm`: the first
 *   button goes on, the last one cancels.
 * @param {string} [title] If the server sent none.
 * @returns {Promise<boolean>}
 */
export async function ask(confirm, title) {
  const names = confirm.buttons ?? [t('ok'), t('cancel')];
  const actions = names.map((name, index) => ({title: name, value: index === 0,
    kind: index === 0 ? 'danger' : ''})).reverse();
  const answer = await dialog(confirm.title ?? title ?? confirm.message, confirm.title ?? title
    ? [h('p', {lang: langOf(confirm.message)}, confirm.message)] : [], {actions, role: 'alertdialog'});
  return answer === true;
}

/**
 * Shows the dialog of a problem, as the server sent it.
 * @param {Error} error
 * @param {boolean} [again] Whether what failed can be done again: "Try again" is there if the problem says that it may
 *   help.
 * @returns {Promise<?Object>} If the user wants to try again, `{}`, or the action that sends it later; else null.
 */
export async function showProblem(error, again = false) {
  const problem = problemOf(error);
  if (problem.name === 'AbortError') return null;
  if (problem.status === undefined) { console.error(problem); }
  const sent = problem.dialog ?? {title: t('error'), message: problem.message, buttons: [t('ok')]};
  const ways = again ? [problem.retryable && {title: t('retry'), value: {}, wait: problem.retryAfter},
    problem.leave && {title: problem.leave.title, value: problem.leave}].filter(Boolean) : [];
  const actions = [...(sent.buttons ?? [t('ok')]).map(title => ({title, value: null})), ...ways];
  actions.at(-1).kind = 'primary';
  const link = linkFor(problem);
  const words = problem.words ?? sent.message;
  return dialog(sent.title ?? problem.title ?? t('error'), [h('p', {lang: langOf(words)}, words),
    link && h('p', null, link), codeOf(problem) ?? []],
  {role: 'alertdialog', actions});
}

/** Makes what developers want to know of a problem: folded, so that nobody else has to read it. */
export const codeOf = ({status, code, requestId}) => code && h('details', {class: 'code'},
  h('summary', null, t('details')), [status || null, code, requestId].filter(Boolean).join(' · '));

const ended = ['session-required', 'session-expired', 'upstream-session-expired'];
/** The apps that have a login. */
export const withLogin = ['disk', 'ships', 'notes'];

/**
 * Makes the link, in another tab, to what a problem needs: to the login if the session has ended, to the outbox if what
 * waits there is in the way; else null.
 */
export function linkFor({code, href}) {
  const app = location.pathname.split('/')[1];
  const link = (page, title) => h('a', {href: `/${app}/${page}`, target: '_blank', class: 'button'}, title);
  if (ended.includes(code) && withLogin.includes(app)) return link('login', t('toLogin'));
  return href === '/v1/disk/outbox' && location.pathname !== '/disk/outbox' ? link('outbox', t('outbox')) : null;
}

/**
 * Does something; a problem is shown in its dialog, with "Try again" where it may help, and "Send later" where that is
 * possible: then `run` gets the fields that its request is to have.
 * @returns {Promise<*>} What it gives, or false if it failed.
 */
export async function attempt(run, first = null) {
  for (let promise = first, headers; ; promise = null) {
    try { return await (promise ?? run(headers)); } catch (problem) {
      const way = await showProblem(problem, true);
      if (!way) return false;
      ({headers} = way);
    }
  }
}

/**
 * Opens a menu at a button. What its items run is done as `attempt` does it.
 * @param {HTMLElement} opener
 * @param {string} title Its accessible name.
 * @param {Array<Object>} items `title`, `icon`, and `run` or `href`.
 */
export function menu(opener, title, items) {
  const list = h('div', {role: 'menu', 'aria-label': title, class: 'menu', onkeydown: event => moveIn(list, event)},
    items.map(item => item && h(item.href ? 'a' : 'button', {role: item.checked === undefined ? 'menuitem'
      : 'menuitemradio', 'aria-checked': item.checked === undefined ? null : String(item.checked), href: item.href,
    type: item.href ? null : 'button', tabindex: '-1', class: `menu-item ${item.kind ?? ''}`, download: item.download,
    onclick: () => { surface.hidePopover(); if (item.run) attempt(item.run); }},
    icon(item.checked ? 'check' : item.icon ?? 'right'), h('span', null, item.title))));
  const surface = openAt(opener, list);
  list.querySelector('[role^=menuitem]')?.focus();
}

function moveIn(list, event) {
  const items = [...list.querySelectorAll('[role^=menuitem]')];
  const steps = {ArrowDown: 1, ArrowUp: -1, Home: -items.length, End: items.length};
  if (event.key === 'Tab') { list.parentElement.hidePopover(); return; }
  if (!(event.key in steps)) return;
  event.preventDefault();
  const next = items.indexOf(document.activeElement) + steps[event.key];
  const wraps = Math.abs(steps[event.key]) === 1;
  items[wraps ? (next + items.length) % items.length : Math.max(0, Math.min(items.length - 1, next))].focus();
}

/** Opens a small window with details at a button. */
export function popup(opener, title, content) {
  const heading = h('h2', {tabindex: '-1', class: 'popup-title'}, title);
  openAt(opener, h('div', {class: 'popup', role: 'dialog', 'aria-label': title}, heading, content));
  heading.focus();
}

function openAt(opener, content) {
  const surface = h('div', {popover: 'auto', class: 'surface'}, content);
  (opener.closest('dialog, main, header') ?? document.body).append(surface);
  surface.addEventListener('toggle', event => {
    if (event.newState !== 'closed') return;
    const inside = surface.contains(document.activeElement) || document.activeElement === document.body;
    surface.remove();
    opener.removeAttribute('aria-expanded');
    if (inside) refocus(opener);
  });
  surface.showPopover();
  opener.setAttribute('aria-expanded', 'true');
  place(surface, opener.getBoundingClientRect());
  return surface;
}

function place(surface, anchor) {
  const {width, height} = surface.getBoundingClientRect();
  const left = Math.max(8, Math.min(anchor.right - width, innerWidth - width - 8));
  const below = anchor.bottom + 6;
  surface.style.left = `${anchor.left + width < innerWidth - 8 ? Math.max(8, anchor.left) : left}px`;
  surface.style.top = `${below + height < innerHeight - 8 ? below : Math.max(8, anchor.top - height - 6)}px`;
}

let undo = null;
let toasts = null;
let endToast = null;

/**
 * Says something for a moment, with an optional way back. It is in the dialog that is open, since all else is below it.
 * @param {string} text
 * @param {{action: {title: string, run: function(): Promise}, seconds: number}} [options]
 * @returns {function()} Ends it.
 */
export function toast(text, {action, seconds = action ? 9 : 4} = {}) {
  endToast?.();
  toasts ??= document.getElementById('toasts');
  const over = [...document.querySelectorAll('dialog[open]')].at(-1);
  over?.addEventListener('close', () => document.body.append(toasts), {once: true});
  (over ?? document.body).append(toasts);
  const element = h('div', {class: 'toast'}, h('span', {lang: langOf(text)}, text));
  const end = () => {
    if (endToast !== end) return;
    [undo, endToast] = [null, null];
    element.remove();
  };
  const run = () => { end(); return attempt(action.run); };
  endToast = end;
  if (action) {
    undo = run;
    element.append(h('button', {type: 'button', class: 'button', lang: langOf(action.title), onclick: run},
      action.title));
  }
  replace(toasts, element);
  let timer = setTimeout(end, seconds * 1000);
  element.addEventListener('pointerenter', () => clearTimeout(timer));
  element.addEventListener('focusin', () => clearTimeout(timer));
  element.addEventListener('pointerleave', () => { timer = setTimeout(end, 4000); });
  return end;
}

/** Does what the button of the last toast does, if it is still there (key `u`). */
export function undoLast() { undo?.(); }

/** Copies a text, or shows it selected where the browser does not allow that. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t('copied'));
  } catch {
    const field = h('textarea', {class: 'field-input', readonly: true, rows: '5', 'aria-label': t('copyThis'),
      autofocus: true}, text);
    await dialog(t('copyThis'), [field], {actions: [{title: t('done'), kind: 'primary'}]});
  }
}

/** Shares a text or an address by the system's sheet where there is one; copies it elsewhere. */
export async function share(what) {
  if (navigator.share) {
    try { await navigator.share(what); return; } catch (error) { if (error.name === 'AbortError') return; }
  }
  await copy(what.text ?? what.url);
}
