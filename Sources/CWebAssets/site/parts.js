// Parts that Notes, PDF and Disk share: search fields, addresses of screens, files that are dropped or pasted, tiles,
// what is typed and not saved.

import {call, quietly, withQuery} from './api.js';
import {h} from './dom.js';
import {icon} from './icons.js';

/** Changes the address of a screen without opening it anew. */
export function address(screen, values) {
  const href = withQuery(location.pathname + location.search, values);
  history.replaceState(history.state, '', href);
  screen.address = href;
  screen.query = new URLSearchParams(location.search);
}

/**
 * Makes a search field; `run` gets what was typed, a moment after the last letter.
 * @param {Screen} screen
 * @param {string} label
 * @param {function(string)} run
 */
export function searchField(screen, label, run) {
  let timer = 0;
  const input = h('input', {type: 'search', class: 'field-input', 'aria-label': label, placeholder: label,
    value: screen.query.get('q') ?? '', dataset: {key: 'search'}, enterkeyhint: 'search', autocomplete: 'off'});
  const search = () => {
    clearTimeout(timer);
    const words = input.value.trim();
    if (words === (screen.query.get('q') ?? '')) return;
    address(screen, {q: words});
    run(words);
  };
  input.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(search, 250); });
  screen.signal.addEventListener('abort', () => clearTimeout(timer));
  return h('form', {class: 'search-field', role: 'search', onsubmit: event => { event.preventDefault(); search(); }},
    icon('search'), input);
}

/** Gives the address to go to after a login: that which led there, if it is of the app, or of files to be saved. */
export function afterLogin(screen, usual) {
  const next = screen.query.get('next') ?? '';
  const isOwn = next.startsWith(`/${screen.app}`) || next === '/share';
  return isOwn && !next.includes('/login') ? next : usual;
}

/** Tells whether the server has a sandbox: its accounts are then offered. */
export async function hasSandbox() {
  return Boolean((await quietly(call('/v1/status')))?.data.sandbox);
}

/**
 * Takes files that are dropped on an element, or pasted into the page.
 * @param {Element} element @param {AbortSignal} signal
 * @param {function(Array<File>, Array<FileSystemEntry>)} take
 */
export function takeFiles(element, signal, take) {
  const holds = event => [...event.dataTransfer?.types ?? []].includes('Files');
  const mark = on => element.classList.toggle('dropping', on);
  element.addEventListener('dragover', event => {
    if (!holds(event)) return;
    event.preventDefault();
    mark(true);
  }, {signal});
  element.addEventListener('dragleave', event => element.contains(event.relatedTarget) || mark(false), {signal});
  element.addEventListener('drop', event => {
    if (!holds(event)) return;
    event.preventDefault();
    mark(false);
    // Entries know folders, but not after the event.
    take([...event.dataTransfer.files], [...event.dataTransfer.items].map(item => item.webkitGetAsEntry?.())
      .filter(Boolean));
  }, {signal});
  document.addEventListener('paste', event => {
    const files = [...event.clipboardData?.files ?? []];
    if (files.length === 0) return;
    event.preventDefault();
    take(files);
  }, {signal});
}

/** Opens the browser's picker of files. */
export function pickFiles(take, attributes = {}) {
  const input = h('input', {type: 'file', multiple: true, hidden: true, ...attributes});
  input.addEventListener('change', () => { take([...input.files]); input.remove(); });
  input.addEventListener('cancel', () => input.remove());
  document.body.append(input);
  input.click();
}

let web;

/** Gives what the server says about tiles, or null. */
export async function tileSource() {
  web ??= quietly(call('/v1'));
  const answer = await web;
  if (!answer) web = undefined;
  const {tiles, attribution = '', max_zoom: maxZoom = 19} = answer?.data.web ?? {};
  return tiles ? {template: tiles, attribution, maxZoom} : null;
}

const drafts = 'larder.draft.';
/** Of several tabs with one draft, each forgets its own only. */
const tab = Math.random();
const stored = key => JSON.parse(localStorage.getItem(drafts + key));

/** Gives what was typed and not saved, as `keepDraft` keeps it, or null. */
export const draftOf = key => stored(key)?.value ?? null;

/** Calls `run` when another tab keeps something else as this draft, or forgets it. */
export function whenDraftChanges(key, run, signal) {
  addEventListener('storage', event => [drafts + key, null].includes(event.key) && run(), {signal});
}

/** Tells whether this browser keeps something that was typed, of which the key begins so. */
export const hasDrafts = begin => Object.keys(localStorage).some(key => key.startsWith(drafts + begin));

/**
 * Keeps what is typed in this browser: a reload, another language or a closed tab does not take it. Null
 * forgets it, if this tab has kept it.
 * @returns {boolean} Whether it is kept.
 */
export function keepDraft(key, value) {
  if (value === null) {
    if (stored(key)?.tab === tab) localStorage.removeItem(drafts + key);
    return false;
  }
  // A browser may have no room, or be told to keep nothing.
  try { localStorage.setItem(drafts + key, JSON.stringify({tab, value})); } catch { return false; }
  return true;
}

/** Forgets all that was typed, as when an account leaves this browser. */
export function forgetDrafts(begin) {
  for (const key of Object.keys(localStorage)) if (key.startsWith(drafts + begin)) localStorage.removeItem(key);
}
