// What every screen is made of: buttons, provenance chip, banner, skeleton, empty and error states, pictures.

import {withQuery} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {ago, langOf, t, time} from './texts.js';
import {attempt, codeOf, countDown, linkFor, popup} from './overlay.js';

/**
 * Makes a button. While the promise of `run` is pending it is busy and not pressed twice; a Problem is shown as a
 *   dialog.
 * @param {string} title Its words; with `bare` they are the accessible name only.
 * @param {function(Event, ?Object): ?Promise} run As in `attempt`, after the event.
 * @param {Object} [options] `write`: off while Larder does not answer; `key`: `refresh`, `search`, `delete`.
 * @returns {HTMLButtonElement}
 */
export function button(title, run, options = {}) {
  const element = h('button', {
    type: options.type ?? 'button', class: `button ${options.kind ?? ''} ${options.bare ? 'bare' : ''}`,
    title: options.bare ? title : null, 'aria-label': options.bare ? title : null, disabled: options.disabled,
    dataset: {...(options.write && {write: ''}), ...(options.key && {key: options.key})},
    onclick: event => run && busy(element, headers => run(event, headers)),
  }, options.icon && icon(options.icon), !options.bare && h('span', null, title));
  return element;
}

/** Makes a link that looks like a button. */
export function linkButton(title, href, options = {}) {
  return h('a', {href, class: `button ${options.kind ?? ''} ${options.bare ? 'bare' : ''}`, download: options.download,
    'aria-label': options.bare ? title : null, title: options.bare ? title : null},
  options.icon && icon(options.icon), !options.bare && h('span', null, title));
}

/** Runs something with an element marked as busy, as `attempt` does. Gives false if it failed. */
export async function busy(element, run) {
  if (element.getAttribute('aria-busy') === 'true') return false;
  const promise = run();
  if (!(promise instanceof Promise)) return promise;
  element.setAttribute('aria-busy', 'true');
  try { return await attempt(run, promise); } finally { element.removeAttribute('aria-busy'); }
}

/** Names where the content of an answer is from: `local`, `bundled`, `offline`, `stale`, `fresh` or `live`. */
function provenance(answer) {
  const {source, offline, stale} = answer.meta;
  if (source === 'local') return 'local';
  if (source === 'bundled') return 'bundled';
  if (offline) return 'offline';
  if (stale) return 'stale';
  return /;\s*hit/.test(answer.cacheStatus ?? '') ? 'fresh' : 'live';
}

const signs = {live: 'info', fresh: 'info', stale: 'clock', offline: 'offline', local: 'info', bundled: 'jar'};

/** Kinds of origin of which a sign is enough: all is well. */
const quiet = ['live', 'fresh', 'local'];

/**
 * Makes the provenance chip of an answer: a sign while all is well, else words and its age; the details on a press.
 * @returns {HTMLButtonElement} With `show(answer)`, which makes it the chip of a later answer.
 */
export function chip(first) {
  let answer = first;
  const age = h('span', {class: 'chip-age'});
  const element = h('button', {type: 'button', 'aria-haspopup': 'dialog',
    onclick: () => popup(element, t('howOld'), origin(answer, provenance(answer)))});
  element.tick = () => {
    const kind = provenance(answer);
    const seconds = Math.max(0, (Date.now() - answer.confirmedAt) / 1000);
    const words = kind === 'local' ? '' : kind === 'bundled' ? time(answer.meta.fetched_at, {dateStyle: 'medium'})
      : ago(seconds);
    if (age.textContent !== words) age.textContent = words;
    const said = [t(kind), words].filter(Boolean).join(', ');
    if (element.matches('.quiet')) Object.assign(element, {title: said, ariaLabel: said});
  };
  element.show = next => {
    answer = next;
    const kind = provenance(answer);
    element.className = `chip chip-${kind} ${quiet.includes(kind) && !answer.meta.partial ? 'quiet' : ''}`;
    element.dataset.kind = kind;
    for (const name of ['title', 'aria-label']) element.removeAttribute(name);
    replace(element, icon(signs[kind], 16), h('span', {class: 'chip-word'}, t(kind)), age,
      answer.meta.partial && h('span', {class: 'chip-partial'}, t('partial')));
    element.tick();
  };
  element.show(answer);
  return element;
}

setInterval(() => document.querySelectorAll('.chip').forEach(element => element.tick?.()), 5000);

function origin(answer, kind) {
  const {meta} = answer;
  const rows = [[t('received'), meta.fetched_at && time(meta.fetched_at)],
    [t('confirmedAt'), kind !== 'local' && kind !== 'bundled' && time(new Date(answer.confirmedAt).toISOString())],
    ['Cache-Status', answer.cacheStatus]].filter(([, value]) => value);
  return [h('p', null, inZone(meta.freshness_text ?? t(`${kind}Why`), answer), meta.partial && ` ${t('partialWhy')}`),
    h('dl', {class: 'facts'}, rows.map(([name, value]) => [h('dt', null, name), h('dd', null, value)]))];
}

/**
 * Makes the banner of an answer (`meta.banner`), or null. Where the chip says in a line that a source is away, it lies
 * at the foot of the screen, so that no row moves; after `after_s` its words are for screen readers alone.
 */
export function banner(answer) {
  const sent = answer.meta.banner;
  if (!sent) return null;
  const text = inZone(sent.text, answer);
  const isLow = ['offline', 'stale'].includes(sent.code) && !quiet.includes(provenance(answer));
  const element = h('p', {class: `banner ${isLow ? 'low' : ''}`, lang: langOf(text)}, icon('warning'),
    sent.code === 'needs-decision' ? h('a', {href: '/disk/outbox'}, text) : h('span', null, text));
  if (isLow && sent.after_s) setTimeout(() => element.classList.add('hidden'), 1000 * sent.after_s);
  return element;
}

/** Gives a text of the server with its time in the browser's zone: it is of UTC unless the address names one. */
const inZone = (text, {meta}) => text.replace(/[\d.]+ [\d:]+ UTC/, () => time(meta.fetched_at));

/** Makes the placeholder of content that is on its way. */
export function skeleton(kind = 'rows', count = 6) {
  return h('div', {class: `skeleton skeleton-${kind}`},
    h('span', {class: 'hidden', role: 'status'}, t('loading')),
    Array.from({length: count}, () => h('div', {class: 'bone', 'aria-hidden': 'true'})));
}

/**
 * Makes the empty state that a screen sent (`data.empty`), or null if it has not sent it yet, as after the last row was
 * removed; its button does `run` or leads to `href`.
 */
export function empty(sent, {icon: sign = 'jar', run, href} = {}) {
  if (!sent) return null;
  const action = sent.button && (href ? linkButton(sent.button, href, {kind: 'primary'})
    : run && button(sent.button, run, {kind: 'primary'}));
  return h('div', {class: 'state', lang: langOf(sent.title)}, h('div', {class: 'state-sign'}, icon(sign, 40)),
    h('h2', null, sent.title), sent.text && h('p', null, sent.text), action);
}

/**
 * Makes the view of a problem: the server's words, "Try again" where it may help, its code for developers.
 * @param {Problem} problem
 * @param {?function(): Promise} retry
 * @param {...Node} actions More buttons.
 */
export function problemView(problem, retry, ...actions) {
  const away = problem.offline || problem.code === 'larder-unreachable';
  const heading = problem.dialog?.title && !/^(error|ошибка)$/i.test(problem.dialog.title)
    ? problem.dialog.title : problem.title;
  return h('div', {class: 'state state-problem', role: 'alert', dataset: {code: problem.code ?? 'error'}},
    h('div', {class: 'state-sign'}, icon(away ? 'offline' : 'warning', 40)),
    h('h2', {lang: langOf(heading)}, heading ?? t('error')),
    problem.words !== `${heading}.` && h('p', {lang: langOf(problem.words)}, problem.words ?? problem.message),
    h('div', {class: 'state-actions'}, problem.retryable && retry && retryButton(problem, retry),
      linkFor(problem), actions), codeOf(problem));
}

/** Makes "Try again"; with `Retry-After` it counts down, and then a read tries by itself. */
export function retryButton(problem, retry, {write = false} = {}) {
  const element = button(t('retry'), retry, {kind: 'primary', icon: 'refresh', write});
  const words = element.querySelector('span');
  if (problem.retryAfter) countDown(element, words, t('retry'), problem.retryAfter, () => write || element.click());
  return element;
}

/**
 * Makes a picture; one that fails is a placeholder, never a broken icon.
 * @param {?string} src @param {string} alt
 * @param {{class: string, sign: string, eager: boolean, sizes: string}} [options] With `sizes` the server is asked for
 *   the width (`width=`) that this and the screen need.
 */
export function picture(src, alt, options = {}) {
  const holder = h('div', {class: `picture ${options.class ?? ''}`});
  const fallback = () => replace(holder, h('div', {class: 'picture-none', role: alt ? 'img' : null,
    'aria-label': alt || null, 'aria-hidden': alt ? null : 'true'}, icon(options.sign ?? 'image', 28)));
  if (!src) fallback();
  else holder.append(h('img', {...(options.sizes && {sizes: options.sizes, srcset: srcset(src)}), src, alt,
    loading: options.eager ? 'eager' : 'lazy', decoding: 'async',
    onerror: fallback, onload: event => event.target.classList.add('seen')}));
  return holder;
}

const srcset = src => [160, 320, 640, 1280, 1920].map(width => `${withQuery(src, {width})} ${width}w`).join(', ');

/** Gives how an upstream of `/v1/status` responds: `Up`, `Errors`, `Down` or `Unknown`; null if that is not told. */
export function sourceState({reachable, failing, last_ok_at: lastOk}) {
  if (reachable === undefined) return null;
  if (!reachable) return 'Down';
  if (!lastOk) return 'Unknown';
  return failing ? 'Errors' : 'Up';
}

/** Makes an element of words, with `lang` where their language is not that of the page. */
export function words(tag, attributes, text) {
  return h(tag, {lang: langOf(text), ...attributes}, text);
}

// What is cut after some lines has its whole text as its title where it is pointed at.
addEventListener('mouseover', ({target}) => {
  if (getComputedStyle(target).webkitLineClamp > 1) {
    target.title = target.scrollHeight > target.clientHeight ? target.textContent : '';
  }
});
