// What a screen gets: its place in the page, its heading, and the usual way to show an answer of Larder.

import {call, larder, Problem, recall} from './api.js';
import {h, replace} from './dom.js';
import {listen} from './events.js';
import {icon} from './icons.js';
import {toast, withLogin} from './overlay.js';
import {banner, button, chip, linkButton, problemView, skeleton} from './ui.js';
import {langOf, t} from './texts.js';

const upstreams = {disk: ['yandex_disk', 'yandex_oauth'], shop: ['catalogue'], ships: ['spacex'],
  notes: ['people', 'geocoder'], pdf: []};
/** The apps that have pages of their own; the others are drawn by own.js. */
export const drawnApps = Object.keys(upstreams);

/**
 * An open screen. A module of an app exports `routes`, a list of
 * `{path: '/notes/:id', open: async screen => …, over: '/notes'}`; `over` opens it as a dialog over that screen.
 * `open` draws; everything that it began ends with `screen.signal`.
 */
export class Screen {
  /** @param {{app: string, path: string, params: Object, query: URLSearchParams, root: Element, memory: Object,
   *   go: function(string, Object), close: ?function}} values */
  constructor(values) {
    Object.assign(this, values);
    this.controller = new AbortController();
    /** Aborted when the screen is left. */
    this.signal = this.controller.signal;
    /** Where the content goes, below the heading. */
    this.body = h('div', {class: 'page-body'});
    this.notice = h('div', {class: 'page-notice', role: 'status'});
    this.origin = h('div', {class: 'page-origin'});
    /** What it shows of the API (`load`). */
    this.resources = new Set();
    /** Whether what is typed is kept in this browser, so that no reload takes it. */
    this.stored = false;
    /** May be set: asked before the screen is left; false stays. */
    this.mayLeave = null;
  }

  /**
   * Draws the heading; to be called first, and again whenever something of it changes.
   * @param {{title: string, back: string, actions: Array<Node>, tabs: Array<{href: string, title: string}>,
   *   lead: string, quiet: boolean}} values `title` is the h1 and the title of the page, `back` the address of a link
   *   back, `tabs` the tabs of the app; `quiet` keeps the heading for screen readers only.
   */
  head({title, back, actions = [], tabs = [], lead, quiet = false}) {
    if (this.signal.aborted) return;
    if (!this.heading) this.build();
    this.title = title;
    document.title = title === 'Larder' ? title : `${title} · Larder`;
    replace(this.heading, title);
    this.heading.lang = langOf(title) ?? '';
    this.heading.className = quiet ? 'hidden' : '';
    replace(this.backPlace, back && backLink(back));
    replace(this.actionPlace, actions);
    replace(this.leadPlace, lead);
    replace(this.tabPlace, tabs.length > 0 && h('nav', {class: 'tabs', 'aria-label': t(this.app)}, tabs.map(tab =>
      h('a', {href: tab.href, 'aria-current': tab.href.split('?')[0] === this.path ? 'page' : null}, tab.title))));
  }

  build() {
    this.heading = h('h1', {tabindex: '-1'});
    [this.backPlace, this.actionPlace, this.tabPlace] = ['page-back', 'page-actions', 'page-tabs']
      .map(name => h('div', {class: name}));
    this.leadPlace = h('p', {class: 'page-lead'});
    replace(this.root, h('div', {class: 'page', dataset: {app: this.app}},
      h('div', {class: 'page-head'}, this.backPlace, this.heading, this.origin, this.actionPlace), this.leadPlace,
      this.tabPlace, this.notice, this.body));
  }

  /** What was kept with this entry of the history; it survives a reload. */
  get kept() { return history.state?.kept ?? {}; }

  /** Keeps small values with this entry of the history, as long as the screen is the one that is shown. */
  keep(values) {
    if (this.signal.aborted || location.pathname + location.search !== this.address) return;
    history.replaceState({...history.state, kept: {...this.kept, ...values}}, '');
  }

  /** Replaces the content. */
  show(...nodes) { replace(this.body, ...nodes); }

  /** Listens to an event (events.js) until the screen is left. */
  on(type, hear) { listen(type, hear, this.signal); }

  /**
   * Leads to the login of this app, and back here afterwards; `why` is said there.
   * @returns {boolean} False if it stays, since something is typed.
   */
  login(why) {
    if (document.querySelector('[data-typed]')) return false;
    const next = location.pathname + location.search;
    const anew = shownApps.has(this.app);
    this.go(`/${this.app}/login?${new URLSearchParams({next})}`, {replace: true, why, anew});
    return true;
  }

  /**
   * Shows an answer of Larder and keeps it current: skeleton after 150 ms, content, problem with "Try again", chip,
   * banner; drawn again when the server says that it changed, when its upstream goes or comes, after `reset`.
   * @param {string} href What to ask for.
   * @param {function(Answer)} draw Called with each answer; keeps what the user is doing, as `keyed` of list.js.
   * @param {Object} [options] `place` takes skeleton and problem instead of the body; `problem` may draw a problem,
   *   `help` a further button for it;
   *   `quiet` leaves chip and banner to another resource; while `held()` is true, changes are being sent: answers are
   *   not drawn, and the caller reloads afterwards; if `keep(problem)`, what is shown stays.
   * @returns {Resource}
   */
  load(href, draw, options = {}) { return new Resource(this, href, draw, options); }

  /** Makes the button that asks the upstream itself (`?refresh=1`). */
  refreshButton(resource) {
    return button(t('refresh'), () => resource().refresh(), {icon: 'refresh', bare: true, key: 'refresh'});
  }

  /** Says where an answer is from, and how many changes wait in the outbox: chip, link and banner. */
  tell(answer) {
    const shown = this.origin.firstElementChild;
    const {pending = 0} = answer.meta;
    if (shown) shown.show(answer);
    if (!shown || this.told !== pending) {
      replace(this.origin, shown ?? chip(answer), pending > 0 && this.path !== '/disk/outbox'
        && h('a', {class: 'chip', href: '/disk/outbox'}, icon('upload', 16), t('waits', pending)));
      this.told = pending;
    }
    const {search} = answer.meta;
    const said = JSON.stringify([answer.meta.banner, search]);
    if (this.said === said) return;
    this.said = said;
    replace(this.notice, banner(answer), search && h('p', {class: 'muted', lang: langOf(search.text)}, search.text));
  }

  /** Ends everything that the screen began. */
  leave() { this.controller.abort(); }
}

/** Makes the way back: to where one came from, else to the screen above. */
function backLink(href) {
  const link = linkButton(t('back'), href, {bare: true, icon: 'back'});
  link.addEventListener('click', event => {
    if (!history.state?.fromHere || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    history.back();
  });
  return link;
}

/** Gives what to say at a login; who was never logged in needs no reason. */
export function whyLogin(problem) { return problem.code === 'session-required' ? null : problem.words; }

/** The apps of which this document has shown something; their pictures may come back unasked. */
export const shownApps = new Set();

let release = () => {};
let released = Promise.resolve();

/** Hears when a button, or a row that is dragged, is pressed and let go: a drawing in between would take it away. */
function watchPresses() {
  addEventListener('pointerdown', event => {
    if (event.button !== 0 || !event.target.closest?.('a, button, .tiles')) return;
    release();
    released = new Promise(resolve => { release = resolve; });
  }, {capture: true});
  for (const type of ['pointerup', 'pointercancel', 'blur']) {
    addEventListener(type, () => setTimeout(release), {capture: type !== 'blur'});
  }
}

watchPresses();

/** Gives a promise that is settled as soon as no button or link is pressed. */
export function whenReleased() { return released; }

/** An answer that a screen shows, kept current. */
class Resource {
  constructor(screen, href, draw, options) {
    Object.assign(this, {screen, href, draw, options, answer: null, failed: null, pause: 2500, asked: 0,
      taken: 0});
    const {signal} = screen;
    screen.resources.add(this);
    // Home shows those of all apps.
    const app = this.app = href.split(/[/?]/)[2];
    screen.on('screen-changed', data => data.app === app && this.concerns(data.screen) && this.soon());
    screen.on('job', data => data.app === app && data.state === 'done' && this.soon());
    screen.on('outbox-changed', data => data.app === app && this.soon());
    screen.on('connectivity', data => upstreams[app]?.includes(data.upstream) && this.soon());
    for (const type of ['reset', 'opened']) screen.on(type, () => this.soon());
    screen.on('nudge', () => this.answer?.meta.source !== 'local' && upstreams[app]?.length && this.soon(true));
    document.addEventListener('visibilitychange', () => document.hidden || this.soon(), {signal});
    signal.addEventListener('abort', () => { clearTimeout(this.timer); clearTimeout(this.again); });
    /** Settled when the first answer or problem is there. */
    this.ready = this.begin(recall(href));
  }

  /** Shows what this tab knows at once, though not before the caller has its resource; then asks. */
  async begin(known) {
    await null;
    if (known && !this.screen.signal.aborted) this.take(known);
    await this.reload();
  }

  /**
   * Tells whether a change of another screen of the app may be one of this: events name lists, and a thing is in
   * several of them. What the Shop shows beside its list is the list itself (`followCart`).
   */
  concerns(name) { return this.app !== 'shop' || !this.answer || name === this.answer.meta.screen; }

  /** Shows another address in the same place, as after a change of a filter. */
  go(href) {
    this.href = href;
    this.failed = null;
    this.moved = true;
    this.place.setAttribute('aria-busy', 'true');
    return this.reload();
  }

  /** Asks again; with `refresh` the upstream itself is asked. */
  async reload(refresh = false) {
    if (this.screen.signal.aborted) return;
    clearTimeout(this.timer);
    const {href} = this;
    const turn = ++this.asked;
    const waiting = this.answer ? null : setTimeout(() => this.answer || this.failed || this.wait(), 150);
    try {
      const answer = await call(href, {signal: this.screen.signal, refresh});
      await whenReleased();
      if (this.screen.signal.aborted) return;
      if (href !== this.href || turn < this.taken || this.options.held?.()) return;
      this.taken = turn;
      this.take(answer);
    } catch (problem) {
      if (problem.name !== 'AbortError' && href === this.href) this.fail(problem, refresh);
    } finally { clearTimeout(waiting); }
  }

  /** Asks the upstream itself and says so on failure. */
  refresh() { return this.reload(true); }

  /** Asks again in a moment; several reasons at once are one request. */
  soon(refresh = false) {
    clearTimeout(this.timer);
    if (document.hidden) this.reload(refresh);
    else this.timer = setTimeout(() => this.reload(refresh), 60);
  }

  get place() { return this.options.place ?? this.screen.body; }

  wait() { replace(this.place, skeleton(this.options.skeleton)); }

  take(answer) {
    const first = !this.answer;
    shownApps.add(this.app);
    this.answer = answer;
    this.moved = false;
    if (first) replace(this.place);
    if (first && !this.options.quiet) this.screen.root.classList.remove('gone', 'failed');
    this.failed = null;
    this.place.removeAttribute('aria-busy');
    if (!this.options.quiet) this.screen.tell(answer);
    larder.dispatchEvent(new CustomEvent('answered', {detail: answer.meta}));
    this.draw(answer, first);
    this.lookAgain(answer);
  }

  /** While a screen is looked at, asks again: soon if it is stale or offline, seldom if all is well. */
  lookAgain({meta}) {
    clearTimeout(this.again);
    if (meta.source === 'local') return;
    this.pause = meta.offline ? 5000 : meta.stale ? Math.min(this.pause * 1.6, 30000) : 2500;
    this.again = setTimeout(() => document.hidden || !larder.up || this.soon(),
      meta.offline || meta.stale ? this.pause : 15000);
  }

  fail(problem, asked) {
    if (!(problem instanceof Problem)) throw problem;
    const {screen} = this;
    if (problem.status === 401 && withLogin.includes(screen.app) && screen.login(whyLogin(problem))) return;
    const keep = this.options.keep?.(problem)
      || this.answer && !this.moved && (problem.retryable || problem.status >= 500);
    if (keep) {
      if (asked && problem.code !== 'larder-unreachable') toast(problem.words);
      return;
    }
    this.answer = null;
    this.failed = problem;
    this.place.removeAttribute('aria-busy');
    if (!this.options.quiet) replace(screen.origin);
    // Nothing can be done to what is gone, and nothing chosen of what is not there.
    const isGone = problem.status === 404;
    if (isGone && !screen.close) replace(screen.actionPlace);
    if (!this.options.quiet) {
      screen.root.classList.toggle('gone', isGone);
      screen.root.classList.toggle('failed', !isGone);
    }
    replace(this.place, this.options.problem?.(problem) ?? failure(screen.app, problem, () => this.reload(true),
      this.options.help?.(problem)));
  }
}

/** Makes the view of a problem, with the way to the start of its app; for the rest see `problemView`. */
export const failure = (app, problem, retry, help) => problemView(problem, retry, help, /\w\//.test(location.pathname)
  && linkButton(t(app), `/${app}`, {kind: problem.status === 404 ? 'primary' : ''}));

/** Makes the view of an address that leads nowhere. */
export function notFound(screen) {
  screen.head({title: t('notFound')});
  screen.show(h('div', {class: 'state'}, h('div', {class: 'state-sign'}, icon('jar', 40)),
    h('p', null, t('notFoundText')), h('p', null, h('code', null, location.pathname)),
    linkButton(t('startPage'), '/', {kind: 'primary'})));
}

/**
 * Loads the page anew, once, if a module is missing although Larder answers: it is newer than this page, or the browser
 * remembers that the module could not be loaded.
 */
export function reloadOnce() {
  if (sessionStorage.getItem('larder.reloaded') === import.meta.url) return false;
  sessionStorage.setItem('larder.reloaded', import.meta.url);
  location.reload();
  return true;
}
