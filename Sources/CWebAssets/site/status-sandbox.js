// The sandbox's part of the control room: faults, held requests, journal, reset, and everything offline at a press.

import {call, Problem} from './api.js';
import {h, replace} from './dom.js';
import {nudge} from './events.js';
import {toast} from './overlay.js';
import {stubs} from './status-recordings.js';
import {rules} from './status-rules.js';
import {define, plural} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    title: 'Sandbox', lead: 'The remote APIs are simulated. Break them here and see what every screen says.',
    offline: 'Take everything offline', online: 'Bring everything back', isOff: 'Everything is offline. Open an app: '
      + 'it shows what Larder kept, and says so.',
    reset: 'Reset the sandbox', wasReset: 'Faults, data and journal are as at the start.',
    fault: 'Fault', release: n => `Release ${n} held`, value: 'Value',
    journal: 'Requests to the simulated APIs', journalNone: 'No request yet.', clear: 'Empty', waiting: 'waiting',
    online1: 'none', offline1: 'offline', slow: 'slow, ms', error: 'error, status', html: 'a web page, status',
    flaky: 'fails now and then, share', truncated: 'cut off', pause: 'stops after bytes', garbage: 'not JSON',
    hold: 'holds requests', requests: n => `${n} ${plural(n, {one: 'request', other: 'requests'})}`,
    bandwidth: 'KB a second', combined: 'other',
  },
  ru: {
    title: 'Песочница', lead: 'Удалённые сервисы здесь понарошку. Сломайте их и посмотрите, что скажет каждый экран.',
    offline: 'Отключить всё', online: 'Вернуть всё', isOff: 'Всё отключено. Откройте приложение: оно покажет то, что '
      + 'хранит Larder, и скажет об этом.',
    reset: 'Сбросить песочницу', wasReset: 'Сбои, данные и журнал — как в начале.',
    fault: 'Сбой', release: n => `Отпустить: ${n}`, value: 'Значение',
    journal: 'Запросы к сервисам песочницы', journalNone: 'Запросов ещё нет.', clear: 'Очистить', waiting: 'ждёт',
    online1: 'нет', offline1: 'нет связи', slow: 'медленно, мс', error: 'ошибка, статус', html: 'веб-страница, статус',
    flaky: 'сбоит иногда, доля', truncated: 'обрыв', pause: 'замирает после байт', garbage: 'не JSON',
    bandwidth: 'КБ в секунду', combined: 'другое',
    hold: 'держит запросы', requests: n => `${n} ${plural(n, {one: 'запрос', few: 'запроса', other: 'запросов'})}`,
  },
});

const kinds = {online: null, offline: null, slow: 3000, error: 503, html: 200, flaky: '0.5, 1', truncated: null,
  pause: 100, bandwidth: 8, garbage: null, hold: null, combined: 'slow(200), slice(512, 100)'};
const read = text => {
  const parts = /^(\w+)(?:\(([^()]*)\))?$/.exec(text) ?? [];
  return parts[1] in kinds ? parts : [null, 'combined', text];
};

/**
 * Opens the sandbox's part if there is a sandbox.
 * @param {Screen} screen @param {Element} place
 * @param {function()} changed Called when the state of the sandbox changed.
 * @param {Array<string>} cards Names of the sources that have a card.
 * @returns {?{upstreams: function(): Array, faults: function(): Array<string>, watch: function, set: function(string,
 *   string): Promise, release: function, faultOf: function(string): HTMLElement}}
 */
export async function openSandbox(screen, place, changed, cards) {
  const state = {upstreams: [], faults: [], watchers: new Set()};
  const update = async () => {
    Object.assign(state, (await call('/v1/sandbox')).data);
    for (const watcher of state.watchers) watcher(state.upstreams);
  };
  const put = (name, fault) => call(`/v1/sandbox/upstreams/${name}/fault`, {method: 'PUT', body: {fault}});
  const after = async () => { await update(); nudge(); changed(); };
  const controls = {
    upstreams: () => state.upstreams, faults: () => state.faults, watch: watcher => state.watchers.add(watcher),
    faultOf: name => faultControl(name, controls),
    set: async (name, fault) => { await put(name, fault); await after(); },
    release: async name => { await call(`/v1/sandbox/upstreams/${name}/release`, {method: 'POST'}); await after(); },
  };
  try { await update(); } catch (problem) {
    if (problem instanceof Problem) return null;
    throw problem;
  }
  const all = async fault => {
    await Promise.all(state.upstreams.map(one => put(one.name, fault)));
    await after();
  };
  draw(place, controls, all, after);
  const log = journal(screen);
  const set = rules(controls, after);
  place.append(set.element, stubs(controls, after, cards), log.element);
  const read = async () => { await set.update(); await log.update(); };
  const timer = setInterval(() => document.hidden || quietly(() => update().then(read)), 2000);
  screen.signal.addEventListener('abort', () => clearInterval(timer));
  await quietly(read);
  return controls;
}

async function quietly(run) {
  try { await run(); } catch (problem) { if (!(problem instanceof Problem)) throw problem; }
}

function draw(place, controls, all, after) {
  const words = h('p', {class: 'small', role: 'status'});
  const offline = button(t('offline'), () => all('offline'), {kind: 'primary', icon: 'offline', write: true});
  const online = button(t('online'), () => all('online'), {kind: 'primary', icon: 'bolt', write: true});
  const reset = button(t('reset'), async () => {
    await call('/v1/sandbox/reset', {method: 'POST'});
    await after();
    toast(t('wasReset'));
  }, {write: true, kind: 'quiet'});
  const show = upstreams => {
    const off = upstreams.every(one => one.fault === 'offline');
    const held = document.activeElement;
    online.hidden = upstreams.every(one => one.fault === 'online');
    offline.hidden = off;
    replace(words, off ? t('isOff') : t('lead'));
    if (held === offline && off) online.focus();
  };
  controls.watch(show);
  replace(place, h('section', {class: 'card stack sandbox'}, h('h2', null, t('title')), words,
    h('div', {class: 'bar'}, offline, online, reset)));
  show(controls.upstreams());
}

/** Makes the control of an upstream's fault. */
function faultControl(name, controls) {
  const id = `fault-${name}`;
  const select = h('select', {id, onchange: () => apply(kinds[select.value])}, Object.keys(kinds).map(kind =>
    h('option', {value: kind}, t(kind === 'online' || kind === 'offline' ? `${kind}1` : kind))));
  const value = h('input', {class: 'field-input', type: 'text', inputmode: 'decimal', 'aria-label': t('value'),
    onchange: () => apply(value.value)});
  const release = h('div');
  const apply = async number => {
    const fault = kinds[select.value] === null ? select.value
      : select.value === 'combined' ? number : `${select.value}(${number})`;
    try { await controls.set(name, fault); say(''); } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      say(problem.words);
    }
  };
  const error = h('p', {class: 'field-error', role: 'alert'});
  const say = text => replace(error, text);
  const show = upstreams => {
    const one = upstreams.find(other => other.name === name);
    element.hidden = !one;
    if (!one) return;
    const [, kind, number] = read(one.fault);
    if (document.activeElement !== select) select.value = kind;
    if (document.activeElement !== value) value.value = number ?? '';
    value.hidden = kinds[kind] === null || kinds[kind] === undefined;
    if (element.dataset.fault !== kind) say('');
    element.dataset.fault = kind;
    if (Number(release.dataset.count ?? -1) === one.waiting) return;
    release.dataset.count = one.waiting;
    replace(release, one.waiting > 0 && button(t('release', one.waiting), () => controls.release(name), {write: true}));
  };
  const element = h('div', {class: 'fault'}, h('label', {for: id, class: 'small'}, t('fault')),
    h('div', {class: 'bar'}, select, value, release), error);
  controls.watch(show);
  show(controls.upstreams());
  return element;
}

function journal(screen) {
  const list = h('ol', {class: 'log', tabindex: '0', 'aria-label': t('journal')});
  const count = h('span', {class: 'muted small'});
  let last = null;
  const update = async () => {
    const {entries, count: all} = (await call('/v1/sandbox/journal?limit=60')).data;
    const key = `${entries.at(-1)?.sequence} ${all} ${entries.filter(one => one.status === null).length}`;
    if (key === last) return;
    last = key;
    replace(count, t('requests', all));
    replace(list, entries.length ? entries.reverse().map(entry => h('li', null,
      h('span', {class: `tag ${entry.status === null || entry.status >= 400 ? 'warn' : 'ok'}`},
        entry.status ?? t('waiting')), ' ',
      h('span', {class: 'code'}, `${entry.method} ${entry.path}`),
      entry.fault !== 'online' && h('span', {class: 'tag warn'}, entry.fault))) : h('li', {class: 'muted'},
        t('journalNone')));
  };
  const clear = button(t('clear'), async () => {
    await call('/v1/sandbox/journal', {method: 'DELETE'});
    await update();
  }, {kind: 'quiet', write: true});
  screen.on('connectivity', () => quietly(update));
  return {update, element: h('details', {class: 'card'}, h('summary', null, t('journal'), ' ', count),
    h('div', {class: 'stack'}, list, h('div', {class: 'bar'}, clear)))};
}
