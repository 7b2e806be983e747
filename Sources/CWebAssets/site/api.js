// Larder's API: calls, uploads, problems, and whether the server answers at all.

import {language, t} from './texts.js';

/** Tells `lost` and `found` when Larder stops and begins to answer; see events.js. */
export const larder = Object.assign(new EventTarget(), {up: true});

/** A problem of the server (RFC 9457), or that Larder does not answer (`code` is `larder-unreachable`). */
export class Problem extends Error {
  constructor(body, {status = 0, retryAfter = null, requestId = null, language: lang = null} = {}) {
    super(body.detail ?? body.title);
    Object.assign(this, {errors: [], actions: [], retryable: false, dialog: null, href: null, offline: false}, body);
    Object.assign(this, {status: body.status ?? status, retryAfter, requestId, language: lang});
  }
  /** What to say to the user. */
  get words() { return this.dialog?.message ?? this.detail ?? this.title; }
  /** The action that leaves the same request in the outbox, to be sent later; its `headers` ask for that. */
  get leave() { return this.actions.find(action => action.id === 'leave'); }
  /** What the server says of one member of the body or one parameter. */
  of(name) { return this.errors.find(error => error.pointer === `/${name}` || error.parameter === name)?.detail; }
}

/**
 * @typedef {Object} Answer What a screen of Larder answered.
 * @property {Object} data @property {Object} meta @property {Object} links Members of the envelope.
 * @property {number} status @property {?string} etag @property {?string} cacheStatus @property {?string} requestId
 * @property {number} confirmedAt When the content was last known to be current (`Date.now()` less `Age`).
 * @property {?string} language Value of `Content-Language`.
 * @property {?string} location Value of `Location`.
 * @property {boolean} left Whether it was left in the outbox, and `data` is its operation.
 */

const flights = new Map();
const remembered = new Map();
let generation = 0;
let writes = 0;

/**
 * Asks Larder. Of equal reads only one is under way at a time.
 * @param {string} href Path and query, as the server gives it.
 * @param {Object} [options] `method`; `body` (an object becomes JSON); `headers`; `signal`; `refresh` (asks the
 *   upstream itself); `login` (asks for the session as a cookie).
 * @returns {Promise<Answer>}
 * @throws {Problem} for every other answer than 2xx, `AbortError` if the signal is aborted.
 */
export async function call(href, {method = 'GET', body, headers = {}, signal, refresh = false, login = false} = {}) {
  const init = {method, credentials: 'same-origin', headers: {'Accept-Language': language, ...headers}};
  if (refresh) init.headers['Cache-Control'] = 'no-cache';
  if (login) init.headers['Larder-Session'] = 'cookie';
  if (body !== undefined && !isBytes(body)) {
    init.headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(body);
  } else if (body !== undefined) init.body = body;
  if (method !== 'GET') {
    if (!larder.up) throw unreachable(t('lostWrite'));
    return send(href, {...init, signal});
  }
  signal?.throwIfAborted();
  const key = `${href} ${refresh} ${JSON.stringify(headers)}`;
  if (!flights.has(key)) {
    const flight = send(href, init).finally(() => flights.get(key) === flight && flights.delete(key));
    flights.set(key, flight);
  }
  return unlessAborted(flights.get(key), signal);
}

/** Gives the last answer of a read in this tab, to be shown until the next one is there, or undefined. */
export function recall(href) { return remembered.get(href); }

/** Lets no new read join one that is under way: it may have been answered before something changed. */
export function unshare() { flights.clear(); }

/** Notes the end of a write: reads that began before it are asked again. */
function wrote() {
  writes += 1;
  unshare();
}

/**
 * Changes that are sent one at a time, in the order of the user's actions: each is made for the result of the one
 * before. If one fails, those that wait for it end with an `AbortError`.
 */
export class ChangeQueue {
  constructor() { Object.assign(this, {waiting: [], busy: false}); }

  /**
   * @param {function(): Promise} change Sends the change; called when its turn has come.
   * @returns {Promise} The result of `change`.
   */
  add(change) {
    return new Promise((resolve, reject) => {
      this.waiting.push({change, resolve, reject});
      if (!this.busy) this.run();
    });
  }

  async run() {
    this.busy = true;
    while (this.waiting.length) {
      const {change, resolve, reject} = this.waiting.shift();
      try { resolve(await change()); } catch (problem) {
        reject(problem);
        for (const other of this.waiting.splice(0)) other.reject(new DOMException('not sent', 'AbortError'));
      }
    }
    this.busy = false;
  }
}

/** Forgets all answers; to be called when an account changes. */
export function forget() {
  generation += 1;
  flights.clear();
  remembered.clear();
}

/**
 * Sends bytes with their progress.
 * @param {string} href Path and query.
 * @param {Object} options As of `call`; `progress` gets the share that was sent, 0 to 1, and the bytes; events of `job`
 *   have the `requestId`.
 * @returns {Promise<Answer>}
 */
export function upload(href, {method = 'POST', body, headers = {}, signal, requestId = newId(), progress} = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, href);
    const fields = {'Accept-Language': language, 'X-Request-Id': requestId, ...headers};
    for (const [name, value] of Object.entries(fields)) request.setRequestHeader(name, value);
    request.upload.onprogress = event => event.lengthComputable && progress?.(event.loaded / event.total, event.loaded);
    request.onload = () => {
      wrote();
      try {
        resolve(answer(href, request.status, name => request.getResponseHeader(name), request.responseText));
      } catch (problem) { reject(problem); }
    };
    request.onerror = () => { suspect(); reject(unreachable(t('brokenWrite'))); };
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'));
    signal?.addEventListener('abort', () => request.abort(), {once: true});
    if (larder.up) request.send(body); else reject(unreachable(t('lostWrite')));
  });
}

/** Waits for something that may fail without a word: gives nothing after a Problem, or once nobody wants it. */
export async function quietly(promise) {
  try { return await promise; } catch (problem) {
    if (problem.name !== 'AbortError' && !(problem instanceof Problem)) throw problem;
  }
}

/** Makes an identity for a request (`X-Request-Id`). */
export function newId() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map(byte => byte.toString(16).padStart(2, '0')).join('');
}

/** Tells that a request found no server; the tab that keeps the event stream finds out whether it is gone. */
export function suspect() { larder.dispatchEvent(new Event('suspect')); }

/** Makes the problem that Larder does not answer. */
export function unreachable(message = t('lostMessage')) {
  return new Problem({code: 'larder-unreachable', title: t('lostTitle'), detail: message, retryable: true,
    dialog: {title: t('lostTitle'), message, buttons: [t('ok')]}});
}

/** Gives the problem that an error is: a module that could not be loaded is a Larder that does not answer. */
export function problemOf(error) {
  return /dynamically imported|module script/.test(error.message) ? unreachable() : error;
}

/** Adds parameters to an address; those that are null, undefined or empty are left out. */
export function withQuery(href, values) {
  const url = new URL(href, location.origin);
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.pathname + url.search;
}

/** Sends a request. A read during which a write ended is sent again: its answer may be older than the write. */
async function send(href, init, again = 2) {
  const [began, written] = [generation, writes];
  let response, text;
  try {
    response = await fetch(href, init);
    text = await response.text();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    suspect();
    throw unreachable(init.method === 'GET' ? undefined : t('brokenWrite'));
  }
  if (init.method !== 'GET') wrote();
  else if (written !== writes && again > 0) {
    const {'Cache-Control': _, ...headers} = init.headers;
    return send(href, {...init, headers}, again - 1);
  }
  const result = answer(href, response.status, name => response.headers.get(name), text);
  if (init.method === 'GET' && began === generation) remember(href, result);
  return result;
}

function answer(href, status, field, text) {
  const json = /json/.test(field('Content-Type') ?? '') ? parse(text) : null;
  const wait = Number(field('Retry-After'));
  const about = {status, retryAfter: Number.isFinite(wait) && wait > 0 ? wait : null,
    requestId: field('X-Request-Id'), language: field('Content-Language')};
  // Not paired any more: nothing of these pages is for this browser.
  if (json?.code === 'pairing-required') location.replace('/pair');
  if (status >= 400 || status === 0) {
    throw new Problem(json?.title ? json : {code: 'unreadable', title: t('error'), detail: t('unreadable')}, about);
  }
  const age = Number(field('Age') ?? 0);
  return {...about, data: json?.data ?? json, meta: json?.meta ?? {}, links: json?.links ?? {},
    text: json ? null : text,
    href, etag: field('ETag'), cacheStatus: field('Cache-Status'), location: field('Location'),
    left: field('Preference-Applied') !== null,
    confirmedAt: Date.now() - age * 1000};
}

function parse(text) {
  try { return JSON.parse(text); } catch { return null; }
}

function remember(href, result) {
  remembered.delete(href);
  remembered.set(href, result);
  if (remembered.size > 60) remembered.delete(remembered.keys().next().value);
}

function isBytes(body) {
  return body instanceof FormData || body instanceof Blob || typeof body === 'string';
}

function unlessAborted(promise, signal) {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')), {once: true});
    promise.then(resolve, reject);
  });
}
