// Keys, and the choices of appearance and language.

import {larder, unreachable} from './api.js';
import {menu, showProblem, undoLast} from './overlay.js';
import {chooseLanguage, languageChoice, t} from './texts.js';
import {busy} from './ui.js';

const places = {d: '/disk', s: '/shop', p: '/pdf', h: '/ships', n: '/notes', c: '/status', '/': '/'};
let waiting = null;
let installer = null;
// Not every browser says that it can install the pages.
addEventListener('beforeinstallprompt', event => { installer = event; });
addEventListener('appinstalled', () => { installer = null; });

/** Sets the appearance that the user chose; without a choice it is that of the system. */
export function theme() {
  const choice = localStorage.getItem('larder.theme');
  if (choice) document.documentElement.dataset.theme = choice;
  else delete document.documentElement.dataset.theme;
}

/** Gives the user's choice of appearance: `light`, `dark` or `auto`. */
function themeChoice() { return localStorage.getItem('larder.theme') ?? 'auto'; }

/** Stores and sets the appearance. */
function chooseTheme(choice) {
  if (choice === 'auto') localStorage.removeItem('larder.theme');
  else localStorage.setItem('larder.theme', choice);
  theme();
}

/** Opens the menu of the shell at its button. */
export function settings(opener) {
  menu(opener, t('menu'), [
    {title: t('status'), icon: 'gauge', href: '/status'},
    installer && {title: t('install'), icon: 'download', run: () => installer.prompt()},
    {title: t('keys'), icon: 'keys', run: help},
    ...['auto', 'light', 'dark'].map(choice => ({title: `${t('theme')}: ${t(choice).toLowerCase()}`, icon: 'theme',
      checked: themeChoice() === choice, run: () => chooseTheme(choice)})),
    ...['auto', 'en', 'ru'].map(choice => ({icon: 'language', checked: languageChoice === choice,
      title: {auto: `${t('language')}: ${t('langAuto').toLowerCase()}`, en: 'English', ru: 'Русский'}[choice],
      run: () => chooseLanguage(choice)}))]);
}

/** Opens the search over all apps. */
export const palette = go => opened(() => import('./palette.js'), module => module.openPalette(go));

const help = () => opened(() => import('./help.js'), module => module.openHelp());

/** Opens a part that is loaded when it is asked for; says so if it cannot be, since Larder does not answer. */
async function opened(load, open) {
  let module;
  try { module = await load(); } catch { showProblem(unreachable()); return; }
  open(module);
}

/** Begins to hear keys, except in fields and below dialogs. */
export function keys(go) {
  document.addEventListener('keydown', event => {
    if (event.defaultPrevented || event.altKey || document.querySelector('dialog[open], :popover-open')) return;
    if ((event.ctrlKey || event.metaKey) && event.code === 'KeyK') {
      event.preventDefault();
      palette(go);
    }
    if (event.ctrlKey || event.metaKey || isField(event.target)) return;
    if (press(keyOf(event), go)) event.preventDefault();
  });
}

/** Gives the key by its place where the layout has other letters there, as a Russian one does. */
function keyOf({key, code}) {
  if (/^[!-~]$|^\w{2,}$/.test(key) && !(code === 'Slash' && /[.,]/.test(key))) return key;
  const signs = {Slash: key === ',' ? '?' : '/', Digit3: '#'};
  return signs[code] ?? (/^Key([A-Z])$/.exec(code)?.[1].toLowerCase() || key);
}

function isField(element) {
  return element.isContentEditable || /^(input|textarea|select)$/i.test(element.tagName)
    || element.closest?.('[role=application]') !== null;
}

function press(key, go) {
  if (waiting) {
    clearTimeout(waiting);
    waiting = null;
    if (places[key]) { go(places[key]); return true; }
  }
  const acts = {
    g: () => { waiting = setTimeout(() => { waiting = null; }, 1200); }, '?': help, u: undoLast,
    r: () => document.querySelector('#main [data-key=refresh]')?.click(),
    '/': () => document.querySelector('#main [data-key=search]')?.focus(),
    j: () => step(1), k: () => step(-1),
    '#': remove, Delete: remove,
  };
  acts[key]?.();
  return key in acts;
}

function remove() {
  const row = document.activeElement?.closest('.row');
  const asks = row?.querySelector('[data-key=delete]');
  if (asks) { asks.click(); return; }
  const entry = larder.up && row?.swipe?.().find(one => one && one.kind === 'danger');
  if (entry) busy(row, entry.run);
}

function step(by) {
  const rows = [...document.querySelectorAll('#main .rows > *')].filter(row => !row.inert && !row.hidden);
  const at = rows.findIndex(row => row.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by];
  next?.querySelector('a[href], button')?.focus();
}
