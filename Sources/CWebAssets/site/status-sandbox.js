// The sandbox's part of the control room: faults, held requests, reset, and everything offline at a press.

import {call, Problem, quietly} from './api.js';
import {h, replace} from './dom.js';
import {nudge} from './events.js';
import {ask, toast} from './overlay.js';
import {stubs} from './status-recordings.js';
import {faultChoices, plain, presetOf, rules, t as ofFaults} from './status-rules.js';
import {define} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    title: 'Sandbox', lead: 'The remote APIs are simulated. Break them and see what each screen says.',
    off: 'Take everything offline', online: 'Bring everything back',
    isOff: 'Everything is offline. Open an app: it shows what Larder kept.',
    reset: 'Reset the sandbox', wasReset: 'All is as at the start.',
    lost: 'All that was changed in the simulated APIs is lost.',
  },
  ru: {
    title: 'Песочница', lead: 'Удалённые сервисы здесь имитируются. Сломайте их и смотрите, что скажут экраны.',
    off: 'Отключить всё', online: 'Вернуть всё',
    isOff: 'Всё отключено. Откройте приложение: оно покажет, что хранит Larder.',
    reset: 'Сбросить песочницу', wasReset: 'Всё как в начале.', lost: 'Все изменения в песочнице пропадут.',
  },
});

/**
 * Opens the sandbox's part if there is a sandbox.
 * @param {Screen} screen @param {Element} place @param {Element} more Where what few need goes.
 * @param {function()} changed Called when the state of the sandbox changed.
 * @param {Array<{name: string}>} cards The sources that have a card.
 * @param {function(string): string} titleOf Gives what users call a source.
 * @returns {?{upstreams: function(): Array, faults: function(): Array<string>, watch: function, set: function(string,
 *   string): Promise, release: function, faultOf: function(string): HTMLElement, titleOf: function(string): string,
 *   makeRule: function(Object)}}
 */
export async function openSandbox(screen, place, more, changed, cards, titleOf) {
  const state = {upstreams: [], faults: [], watchers: new Set()};
  const update = async () => {
    Object.assign(state, (await call('/v1/sandbox')).data);
    for (const watcher of state.watchers) watcher(state.upstreams);
  };
  const put = (name, fault) => call(`/v1/sandbox/upstreams/${name}/fault`, {method: 'PUT', body: {fault}});
  const after = async () => { await update(); nudge(); changed(); };
  const controls = {
    upstreams: () => state.upstreams, faults: () => state.faults, watch: watcher => state.watchers.add(watcher),
    faultOf: name => faultControl(name, controls), titleOf,
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
  const set = rules(controls, after);
  controls.makeRule = set.add;
  more.append(set.element, stubs(controls, after, cards));
  const again = () => document.hidden || quietly(update().then(set.update));
  for (const type of ['connectivity', 'nudge', 'reset', 'opened']) screen.on(type, again);
  document.addEventListener('visibilitychange', again, {signal: screen.signal});
  // No event tells that a request is held, or that a rule was applied.
  const timer = setInterval(() => {
    if (set.element.open || state.upstreams.some(one => one.waiting || one.rules || one.fault !== 'online')) again();
  }, 2000);
  screen.signal.addEventListener('abort', () => clearInterval(timer));
  await quietly(set.update());
  return controls;
}

function draw(place, controls, all, after) {
  const words = h('p', {class: 'small', role: 'status'});
  const offline = button(t('off'), () => all('offline'), {kind: 'primary', icon: 'offline', write: true});
  const online = button(t('online'), () => all('online'), {kind: 'primary', icon: 'bolt', write: true});
  const reset = button(t('reset'), async () => {
    if (!await ask({title: t('reset'), message: t('lost'), buttons: [t('reset'), t('cancel')]})) return;
    await call('/v1/sandbox/reset', {method: 'POST'});
    await after();
    toast(t('wasReset'));
  }, {write: true});
  const show = upstreams => {
    const off = upstreams.every(one => one.fault === 'offline');
    const held = document.activeElement;
    online.hidden = upstreams.every(one => one.fault === 'online');
    offline.hidden = off;
    offline.classList.toggle('primary', online.hidden);
    replace(words, off ? t('isOff') : t('lead'));
    if (held === offline && off) online.focus();
  };
  controls.watch(show);
  replace(place, h('section', {class: 'card stack sandbox'}, h('h2', null, t('title')), words,
    h('div', {class: 'bar'}, offline, online, reset)));
  show(controls.upstreams());
}

/** Makes the picker of an upstream's fault; its notation is behind the last choice. */
function faultControl(name, controls) {
  const id = `fault-${name}`;
  const select = h('select', {id, onchange: () => choose(select.value)}, faultChoices().map(choice =>
    h('option', {value: choice.value}, choice.title)));
  const notation = h('input', {class: 'field-input', type: 'text', 'aria-label': ofFaults('notation'), ...plain,
    'aria-describedby': `${id}-error`, onchange: () => apply(notation.value), onblur: () => leave()});
  const release = h('div');
  const error = h('p', {class: 'field-error', id: `${id}-error`, role: 'alert'});
  let own = false;
  const choose = value => {
    own = value === 'more';
    notation.hidden = !own;
    if (own) notation.focus(); else apply(value);
  };
  /** Without another notation, the picker shows again which fault there is. */
  const leave = () => {
    if (notation.value !== element.dataset.fault) return;
    own = false;
    show(controls.upstreams());
  };
  const apply = async fault => {
    try {
      await controls.set(name, fault);
      own = false;
      replace(error);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      replace(error, problem.words);
    }
  };
  const show = upstreams => {
    const one = upstreams.find(other => other.name === name);
    element.hidden = !one;
    if (!one) return;
    if (document.activeElement !== select && !own) select.value = presetOf(one.fault);
    notation.hidden = select.value !== 'more';
    if (document.activeElement !== notation && !error.textContent) notation.value = one.fault;
    element.dataset.fault = one.fault;
    if (Number(release.dataset.count ?? -1) === one.waiting) return;
    release.dataset.count = one.waiting;
    replace(release, one.waiting > 0 && button(ofFaults('release', one.waiting), () => controls.release(name),
      {write: true}));
  };
  const element = h('div', {class: 'fault'}, h('label', {for: id, class: 'small'}, ofFaults('fault')),
    h('div', {class: 'bar'}, select, release), notation, error);
  controls.watch(show);
  show(controls.upstreams());
  return element;
}
