// The shell: which address is which screen, navigation, focus, titles, and the bar when Larder does not answer.

import {call, forget, larder, Problem, problemOf, quietly, suspect} from './api.js';
import {h, refocus, replace} from './dom.js';
import {answers, isEnding, listen, start} from './events.js';
import {icon} from './icons.js';
import {keys, palette, settings, theme} from './keys.js';
import {toast} from './overlay.js';
import {failure, notFound, reloadOnce, Screen, shownApps, whyLogin} from './screen.js';
import {language, t, time} from './texts.js';
import {sourceState} from './ui.js';

const modules = {
  '': () => import('./home.js'), status: () => import('./status.js'), disk: () => import('./disk.js'),
  shop: () => import('./shop.js'), pdf: () => import('./pdf.js'), ships: () => import('./ships.js'),
  notes: () => import('./notes.js'), docs: () => import('./docs.js'), share: () => import('./share.js'),
};
const apps = ['disk', 'shop', 'pdf', 'ships', 'notes'];
const memories = new Map();
let base = null;
let over = null;
let main;
let renew = false;

/**
 * Opens the screen of an address.
 * @param {string} href Path and query of a page.
 * @param {{replace: boolean, why: string, anew: boolean}} [options] `replace` takes the place of the current entry of
 *   the history; `why` is given to the screen (`screen.why`); `anew` loads a new document.
 */
export async function go(href, options = {}) {
  const top = over ?? base;
  if (top?.mayLeave && !await top.mayLeave()) return;
  if (renew || options.anew) { inNewDocument(href, options); return; }
  remember();
  const state = {key: options.replace && history.state?.key ? history.state.key : String(Math.random())};
  if (options.replace) memories.delete(state.key);
  const fromHere = options.replace ? history.state?.fromHere ?? false : base !== null;
  history[options.replace ? 'replaceState' : 'pushState']({...state, fromHere}, '', href);
  await open(options);
}

/** Gives the open screen another address, as after a change of a filter; "back" opens the former one. */
function move(screen, href, {replace: inPlace = false} = {}) {
  const key = inPlace && history.state?.key ? history.state.key : String(Math.random());
  history[inPlace ? 'replaceState' : 'pushState']({key, fromHere: true}, '', href);
  screen.address = location.pathname + location.search;
  screen.query = new URLSearchParams(location.search);
  screen.memory = memoryOf(key);
}

function inNewDocument(href, {replace: inPlace = false, why}) {
  if (why) sessionStorage.setItem('larder.why', why);
  location[inPlace ? 'replace' : 'assign'](href);
}

function remember() {
  if (base && history.state?.key) memoryOf(history.state.key).scroll = scrollY;
}

function memoryOf(key) {
  if (!memories.has(key)) memories.set(key, {});
  return memories.get(key);
}

async function open(options = {}) {
  const path = decodePath(location.pathname);
  const found = await find(path);
  if (path !== decodePath(location.pathname)) return;
  if (found?.route?.over) await openOver(found, path, options);
  else await openBase(found, path, options);
  drawCurrent();
}

function decodePath(path) {
  try { return decodeURIComponent(path); } catch { return path; }
}

/** Finds the route of a path: its app, and the values of `:name` in its pattern. */
async function find(path) {
  const app = path.split('/')[1];
  try {
    const {routes, ownApps} = await (Object.hasOwn(modules, app) ? modules[app] : () => import('./own.js'))();
    if (ownApps && !(await ownApps()).has(app)) return null;
    for (const route of routes) {
      const params = match(route.path, path);
      if (params) return {app: app || 'home', route, params};
    }
    return null;
  } catch (error) { return {app: app || 'home', error}; }
}

function match(pattern, path) {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  const params = {};
  const fits = wanted.every((part, index) => {
    if (!part.startsWith(':')) return part === given[index];
    params[part.slice(1)] = given[index];
    return given[index] !== '';
  });
  return fits ? params : null;
}

async function openBase(found, path, options) {
  closeOver();
  const address = location.pathname + location.search;
  if (base?.address === address && !options.again) {
    document.title = `${base.title} · Larder`;
    return;
  }
  base?.leave();
  const root = h('div', {class: 'screen'});
  replace(main, root);
  const first = base === null;
  base = makeScreen(found, path, root, options);
  if (!options.pop) scrollTo(0, 0);
  await draw(base, found);
  if (!first && !options.again) focusHeading(base);
  if (options.pop) restoreScroll(base);
}

async function openOver(found, path, options) {
  const under = found.route.over;
  if (!base || base.path !== under) await openUnder(under);
  closeOver();
  const element = h('dialog', {class: 'dialog wide over'});
  const root = h('div', {class: 'screen'});
  const dismiss = async () => {
    if (over?.mayLeave && !await over.mayLeave()) return;
    // At once: the way back takes a moment, in which a dialog that is still open would swallow keys.
    closeOver();
    if (history.state?.fromHere) history.back();
    else go(base.address, {replace: true});
  };
  element.append(root);
  element.addEventListener('cancel', event => { event.preventDefault(); dismiss(); });
  element.addEventListener('click', event => event.target === element && dismiss());
  const opener = document.activeElement;
  document.body.append(element);
  over = Object.assign(makeScreen(found, path, root, options), {element, opener, close: dismiss});
  element.showModal();
  await draw(over, found);
  if (over?.heading) {
    over.heading.id = 'over-title';
    element.setAttribute('aria-labelledby', 'over-title');
    over.heading.focus();
  }
}

async function openUnder(path) {
  const found = await find(path);
  const root = h('div', {class: 'screen'});
  base?.leave();
  replace(main, root);
  base = Object.assign(makeScreen(found, path, root, {}), {address: path});
  base.query = new URLSearchParams();
  await draw(base, found);
}

function closeOver() {
  if (!over) return;
  const {element, opener} = over;
  over.leave();
  over = null;
  element.close();
  element.remove();
  if (opener) refocus(opener === document.body ? base.heading : opener);
}

function makeScreen(found, path, root, options) {
  const screen = new Screen({app: found?.app ?? 'home', path, params: found?.params ?? {}, root, go, close: null,
    query: new URLSearchParams(location.search), memory: memoryOf(history.state?.key ?? ''),
    why: options.why ?? takeWhy(path), address: location.pathname + location.search});
  screen.move = (href, how) => move(screen, href, how);
  return screen;
}

async function draw(screen, found) {
  try {
    if (found?.error) throw found.error;
    await (found ? found.route.open(screen) : notFound(screen));
    if (!screen.signal.aborted) sessionStorage.removeItem('larder.reloaded');
  } catch (error) {
    if (error.name === 'AbortError' || screen.signal.aborted) return;
    let problem = problemOf(error);
    const again = () => open({again: true});
    if (problem.code === 'larder-unreachable') {
      suspect();
      larder.addEventListener('found', again, {once: true, signal: screen.signal});
      if (problem !== error && await answers() && (screen.signal.aborted || reloadOnce())) return;
    }
    if (problem.status === 401 && screen.app !== 'home' && screen.login(whyLogin(problem))) return;
    if (!(problem instanceof Problem)) {
      console.error(error);
      problem = new Problem({title: t('error'), detail: String(error)});
    }
    if (!screen.heading) screen.head({title: t(screen.app)});
    screen.show(failure(screen.app, problem, again));
  }
}

function focusHeading(screen) {
  // A screen that begins with a field to type in has put the focus there.
  if (!screen.body.contains(document.activeElement)) screen.heading?.focus({preventScroll: true});
}

/** Scrolls to where the user was, as soon as there is enough content. */
function restoreScroll(screen) {
  const top = screen.memory.scroll ?? screen.kept.scroll ?? 0;
  const until = performance.now() + 1500;
  const stop = new AbortController();
  for (const type of ['wheel', 'touchstart', 'keydown']) {
    addEventListener(type, () => stop.abort(), {once: true, passive: true, signal: stop.signal});
  }
  const step = () => {
    if (stop.signal.aborted || screen.signal.aborted) return;
    scrollTo(0, top);
    if (Math.abs(scrollY - top) > 2 && performance.now() < until) requestAnimationFrame(step); else stop.abort();
  };
  step();
}

function buildShell() {
  const link = app => h('a', {href: `/${app}`, class: 'nav-link', dataset: {app}}, icon(app), h('span', null, t(app)));
  main = h('main', {id: 'main', tabindex: '-1'});
  replace(document.body,
    h('a', {href: '#main', class: 'skip', onclick: event => { event.preventDefault(); main.focus(); }}, t('skip')),
    h('header', {class: 'top'}, h('div', {class: 'top-inner'},
      h('a', {href: '/', class: 'brand', 'aria-label': `Larder, ${t('home')}`}, icon('jar', 24),
        h('span', null, 'Larder')),
      h('nav', {class: 'nav', 'aria-label': t('apps')}, apps.map(link)),
      h('a', {href: '/status', class: 'pulse', title: t('status'), dataset: {app: 'status'}},
        h('span', {class: 'pulse-dot'}), h('span', {class: 'pulse-words'}, t('status'))),
      h('a', {href: '/status', class: 'shifted', hidden: true}, icon('clock', 16), h('span', {class: 'pulse-words'})),
      h('button', {type: 'button', class: 'button bare', 'aria-label': t('kAll'), title: `${t('kAll')} (Ctrl+K)`,
        'aria-haspopup': 'dialog', onclick: () => palette(go)}, icon('search')),
      h('button', {type: 'button', class: 'button bare', 'aria-label': t('menu'), 'aria-haspopup': 'menu',
        onclick: event => settings(event.currentTarget)}, icon('more')))),
    h('div', {id: 'lost', class: 'lost', role: 'status'}), main, h('div', {id: 'toasts', class: 'toasts',
      role: 'status'}));
}

function drawCurrent() {
  const app = location.pathname.split('/')[1];
  for (const link of document.querySelectorAll('[data-app].nav-link, .pulse')) {
    if (link.dataset.app === app) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

async function drawPulse() {
  const data = (await quietly(call('/v1/status')))?.data;
  if (!data) return;
  const [down, errors, up] = ['Down', 'Errors', 'Up'].map(state =>
    data.upstreams.filter(one => sourceState(one) === state).length);
  const pulse = document.querySelector('.pulse');
  pulse.dataset.count = down || errors;
  pulse.dataset.state = down ? 'down' : errors ? 'errors' : up ? 'up' : '';
  replace(pulse.querySelector('.pulse-words'), down ? t('someDown', down) : errors ? t('someErrors', errors)
    : up === data.upstreams.length ? t('allUp') : up ? t('someUp', up) : t('noneAsked'));
  drawTime(data.test_time);
}

/** Marks the header while Larder's clock is not that of the machine. */
function drawTime(shown) {
  const mark = document.querySelector('.shifted');
  mark.hidden = !shown;
  if (!shown) return;
  mark.title = time(shown);
  replace(mark.lastChild, t('testTime'));
}

/**
 * Keeps what writes off while Larder is away, whenever it is drawn and whatever its own rule does meanwhile. A rule
 * sets the attribute without a value, so on return only what the absence switched off is on again.
 */
function holdWrites() {
  for (const one of document.querySelectorAll(larder.up ? '[disabled=lost]' : '[data-write]:not(:disabled)')) {
    if (larder.up) one.disabled = false; else one.setAttribute('disabled', 'lost');
  }
}

function watchLarder() {
  const said = document.getElementById('lost');
  // What is said of the absence, and no longer, is a change, too.
  new MutationObserver(holdWrites).observe(document, {childList: true, subtree: true, attributeFilter: ['disabled']});
  larder.addEventListener('lost', () => {
    const pulse = document.querySelector('.pulse');
    pulse.dataset.state = '';
    replace(pulse.querySelector('.pulse-words'), t('lost'));
    replace(said, icon('offline'), h('strong', null, t('lost')), h('span', null, t('lostText')));
  });
  larder.addEventListener('found', () => {
    if (said.firstChild) toast(t('back2'));
    replace(said);
    drawPulse();
  });
}

/**
 * Forgets what belongs to an account when it changes. A document that has shown pictures of an account would show them
 * to the next one, so it gives way to a new one: at once where the app is open, else at the next step.
 */
function watchSessions() {
  const forgetAll = app => { forget(); memories.clear(); renew ||= shownApps.has(app); };
  const same = app => base?.app === app && !base.path.endsWith('/login');
  const typed = () => base.unsaved?.() || document.querySelector('[data-typed]') !== null;
  const ended = app => {
    forgetAll(app);
    if (!same(app) || typed()) return;
    sessionStorage.setItem('larder.why', t('sessionEnded'));
    location.replace(`/${app}/login?${new URLSearchParams({next: location.pathname + location.search})}`);
  };
  listen('account', ({app}) => forgetAll(app));
  listen('session-ended', ({app}) => isEnding(app) || ended(app));
  listen('session', ({app, out}) => {
    if (out) { ended(app); return; }
    forgetAll(app);
    if (same(app) && !typed()) location.reload();
  });
}

/** Takes the reason for a login that the former document left. */
function takeWhy(path) {
  if (!path.endsWith('/login')) return null;
  const why = sessionStorage.getItem('larder.why');
  sessionStorage.removeItem('larder.why');
  return why;
}

function watchLinks() {
  document.addEventListener('click', event => {
    const link = event.target.closest?.('a[href]');
    if (!link || event.defaultPrevented || event.button) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    const app = link.pathname.split('/')[1];
    if (!Object.hasOwn(modules, app) && app !== base?.app) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
  addEventListener('popstate', async () => {
    const top = over ?? base;
    if (renew) location.reload();
    else if (top?.mayLeave && !await top.mayLeave()) history.pushState({key: String(Math.random())}, '', top.address);
    else await open({pop: true});
  });
  addEventListener('pageshow', event => event.persisted && open({again: true}));
  addEventListener('beforeunload', event => {
    const top = over ?? base;
    const isLost = top?.unsaved?.() && !top.stored;
    if (isLost || document.querySelector('dialog[open] [data-typed]:not([data-stored])')) event.preventDefault();
  });
  document.addEventListener('scroll', watchScroll(), {passive: true});
}

/** Keeps where the user is: for "back" at once, for a reload once the scrolling has ended. */
function watchScroll() {
  let timer;
  return () => {
    if (history.state?.key) memoryOf(history.state.key).scroll = scrollY;
    clearTimeout(timer);
    timer = setTimeout(() => base?.keep({scroll: scrollY}), 250);
  };
}

document.documentElement.lang = language;
if (language === 'ru') {
  document.querySelector('[rel=manifest]').href = new URL('./manifest.ru.webmanifest', import.meta.url);
}
theme();
history.scrollRestoration = 'manual';
if (!history.state?.key) history.replaceState({key: String(Math.random())}, '');
buildShell();
watchLarder();
watchSessions();
watchLinks();
keys(go);
start();
// What a screen tells of its source may be news to the pill.
larder.addEventListener('answered', ({detail: {source, stale}}) => {
  const {state} = document.querySelector('.pulse').dataset;
  if (source !== 'local' && (!state || (state === 'up') === stale)) drawPulse();
});
larder.addEventListener('clock', ({detail: {shifted, now}}) => drawTime(shifted && now));
document.addEventListener('visibilitychange', () => document.hidden || drawPulse());
listen('connectivity', drawPulse);
listen('reset', drawPulse);
drawPulse();
open({pop: true});
/** Lets fingers swipe rows and pull pages; without the module their buttons do the same. */
const fingers = async () => (await import('./fingers.js')).hearFingers(main, () => base?.resources.size > 0
  && !over && (() => Promise.all([...base.resources].map(resource => resource.refresh()))));
if (navigator.maxTouchPoints > 0) fingers().catch(() => {});
const register = async () => (await modules.share()).register();
addEventListener('appinstalled', register);
// A worker of an older Larder gives way to that of this one.
if (matchMedia('(display-mode: standalone)').matches) register();
else navigator.serviceWorker?.getRegistration('/share').then(one => one && register(), () => {});
