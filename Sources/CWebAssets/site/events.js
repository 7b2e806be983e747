// One event stream a browser: the tab that holds the lock listens and tells the others. Also finds out whether
// Larder answers at all.

import {call, forget, larder, unshare} from './api.js';

const bus = new EventTarget();
const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel('larder') : null;
const names = ['connectivity', 'screen-changed', 'job', 'outbox-changed', 'reset', 'session-ended', 'devices-changed'];
let stream = null;
let lastEvent = '';
let watching = false;
const ending = new Set();

/**
 * Listens to events until the signal is aborted.
 * @param {'connectivity'|'screen-changed'|'job'|'outbox-changed'|'reset'|'session-ended'|'session'|'nudge'|'opened'
 *   |'any'} type Name; `session` is a login or logout in a tab of this browser (`{app}`), `opened` says that from now
 *   on changes are heard (what was read before may be out of date), `any` hears all (`{type, data, id}`).
 * @param {function(Object)} hear Gets the event's data.
 * @param {AbortSignal} [signal]
 */
export function listen(type, hear, signal) {
  bus.addEventListener(type, event => hear(event.detail), {signal});
}

/** Begins to listen; called once by main.js. */
export function start() {
  channel?.addEventListener('message', event => receive(event.data));
  larder.addEventListener('suspect', watch);
  addEventListener('online', () => larder.up || watch());
  // Larder is mostly on the same machine: if that loses its network, or has it again, so has Larder.
  for (const type of ['online', 'offline']) addEventListener(type, () => emit('nudge', {}));
  if (navigator.locks && channel) navigator.locks.request('larder-events', () => new Promise(() => open()));
  else alone();
}

/** Opens the stream anew, since its audience is fixed when it begins; to be called after a login. */
export function reopen(app) {
  const message = {kind: 'reopen', app};
  channel?.postMessage(message);
  receive(message, true);
  bus.dispatchEvent(new CustomEvent('account', {detail: {app}}));
}

/**
 * Ends a session, here and in the other tabs. `newDocument` is to be called afterwards.
 * @param {string} app @param {string} href Of the session, as the server names it.
 * @returns {Promise<Answer>}
 */
export async function endSession(app, href) {
  ending.add(app);
  try {
    const answer = await call(href, {method: 'DELETE'});
    channel?.postMessage({kind: 'reopen', app, out: true});
    forget();
    return answer;
  } catch (problem) {
    ending.delete(app);
    throw problem;
  }
}

/** Tells whether this tab is ending the session of an app itself. */
export function isEnding(app) { return ending.has(app); }

/** Loads the login in a new document: browsers show pictures that a document has shown before without asking. */
export function newDocument(app) { location.replace(`/${app}/login`); }

/** Asks every open screen of this browser to look again at its upstream, as after a fault was set. */
export function nudge() { tell({kind: 'event', type: 'nudge', data: {}, id: null}); }

function receive(message, own = false) {
  if (message.kind === 'event') {
    unshare();
    emit(message.type, message.data, message.id);
  }
  if (message.kind === 'larder') setUp(message.up);
  if (message.kind === 'reopen') {
    forget();
    if (stream) open();
    if (!own) emit('session', {app: message.app, out: message.out ?? false});
  }
}

function emit(type, data, id) {
  bus.dispatchEvent(new CustomEvent(type, {detail: data}));
  bus.dispatchEvent(new CustomEvent('any', {detail: {type, data, id}}));
}

function tell(message) {
  channel?.postMessage(message);
  receive(message);
}

function open() {
  stream?.close();
  const opened = new EventSource('/v1/events');
  stream = opened;
  for (const name of names) opened.addEventListener(name, event => hear(name, event));
  opened.onopen = () => { if (larder.up) tell({kind: 'event', type: 'opened', data: {}, id: null}); else found(); };
  opened.onerror = () => opened === stream && watch();
}

function hear(type, event) {
  if (event.lastEventId && event.lastEventId === lastEvent) return;
  lastEvent = event.lastEventId;
  tell({kind: 'event', type, data: JSON.parse(event.data), id: event.lastEventId});
}

/** Without locks (plain http on a LAN) each tab has a stream of its own while it is visible. */
function alone() {
  const change = () => {
    if (document.hidden) { stream?.close(); stream = null; } else if (!stream) { open(); emit('reset', {}); }
  };
  open();
  document.addEventListener('visibilitychange', change);
}

/** Asks until Larder answers; says that it does not after a second try. */
async function watch() {
  if (watching) return;
  watching = true;
  let tries = 0;
  for (; !await answers(); tries += 1) {
    if (tries >= 1) tell({kind: 'larder', up: false});
    await new Promise(resolve => setTimeout(resolve, tries < 2 ? 400 : 1000));
  }
  watching = false;
  // A page may have been missed by one that was away for less than two tries.
  if (tries || !larder.up) found();
  // It was refused by a server that answers.
  if (stream?.readyState !== EventSource.CLOSED) return;
  setTimeout(() => { if (stream?.readyState === EventSource.CLOSED) open(); }, 1000);
}

/** Tells whether Larder answers now. */
export async function answers() {
  try {
    const response = await fetch('/health/live', {cache: 'no-store', signal: AbortSignal.timeout(2500)});
    return response.status < 500;
  } catch { return false; }
}

function found() {
  tell({kind: 'larder', up: true});
  if (stream && stream.readyState !== EventSource.OPEN) open();
  tell({kind: 'event', type: 'reset', data: {reason: 'larder'}});
}

function setUp(up) {
  if (larder.up === up && !up) return;
  larder.up = up;
  larder.dispatchEvent(new Event(up ? 'found' : 'lost'));
}
