// Control room, for tests: the clock, one reset of everything, and what else a test controls. Only the clock is asked
// for before it is unfolded: from the first other call on, the server records each request and caches no response in
// memory.

import {call, larder, Problem, quietly} from './api.js';
import {h, replace} from './dom.js';
import {field, form} from './form.js';
import {ask, toast} from './overlay.js';
import {forgetDrafts} from './parts.js';
import {recordings} from './status-recordings.js';
import {requests} from './status-requests.js';
import {askFault, frontFaults, snapshots, spaces} from './status-rules.js';
import {define, time} from './texts.js';
import {button, problemView} from './ui.js';

const t = define({
  en: {
    title: 'Harness', lead: 'For authors of tests. From now on each request is recorded.',
    clock: 'Time of Larder and the sandbox', frozen: 'stands still', runs: 'runs', freeze: 'Stop the time',
    run: 'Let it run', real: 'Back to real time', minute: '1 minute', hour: '1 hour', day: '1 day',
    seconds: 'Seconds', move: 'Move on',
    clockLead: 'See what ages, ends or is due at once.',
    number: 'Write a number of seconds.',
    reset: 'Reset everything',
    sure: 'All accounts, notes, documents, lists and kept copies are deleted. '
      + 'The sandbox and the clock are as at the start.', done: 'Everything is as at the start.',
    calls: 'All calls',
  },
  ru: {
    title: 'Стенд', lead: 'Для авторов тестов. С этого момента записывается каждый запрос.',
    clock: 'Время Larder и песочницы', frozen: 'стоит', runs: 'идёт', freeze: 'Остановить время',
    run: 'Пусть идёт', real: 'Вернуть настоящее время', minute: '1 минута', hour: '1 час', day: '1 день',
    clockLead: 'Что устареет, кончится или наступит, видно сразу.',
    seconds: 'Секунды', move: 'Вперёд', number: 'Нужно число секунд.',
    reset: 'Сбросить всё', sure: 'Все учётные записи, заметки, документы, списки и копии этого сервера удаляются. '
      + 'Песочница и часы — как в начале.', done: 'Всё как в начале.', calls: 'Все вызовы',
  },
});

/**
 * Adds the parts of the harness: the clock, the requests, and all else.
 * @param {Screen} screen @param {{clock: Element, inspector: Element, harness: Element}} places
 * @param {string} base Path of its calls. @param {function(): ?Object} controls Those of the sandbox.
 * @returns {Promise<?boolean>} False if it does not respond.
 */
export async function openHarness(screen, places, base, controls) {
  const body = h('div', {class: 'stack'});
  const element = h('details', {class: 'card harness'}, h('summary', null, t('title')), body);
  const index = (await quietly(call(base, {signal: screen.signal})))?.data;
  if (!index) return false;
  const has = path => index.calls.some(one => one.path === `/_harness${path}`);
  const bar = has('/clock') ? clock(base, index.clock, screen.signal) : null;
  const follow = async () => bar?.show((await call(`${base}/clock`, {signal: screen.signal})).data);
  let lists = null;
  const update = async () => {
    if (!element.open || document.hidden) return;
    try {
      await follow();
      lists ??= draw(base, body, has, index.calls, update);
      for (const part of lists) await part.update();
    } catch (problem) {
      if (problem.name === 'AbortError') return;
      if (!(problem instanceof Problem)) throw problem;
      if (!lists) replace(body, problemView(problem, update));
    }
  };
  element.addEventListener('toggle', update);
  // With each status, also that after a reset; the time may be moved elsewhere.
  larder.addEventListener('answered', () => quietly(follow()), {signal: screen.signal});
  const timer = setInterval(update, 2000);
  screen.signal.addEventListener('abort', () => clearInterval(timer));
  replace(places.clock, bar?.element);
  replace(places.harness, element);
  if (has('/journal')) {
    const failRoute = has('/front/fault') && (route => { askFault(`${base}/front/fault`, update, route); });
    replace(places.inspector, requests(screen, base, controls, failRoute));
  }
  return true;
}

/** Draws the parts that this server has: those whose calls its index lists. */
function draw(base, body, has, calls, update) {
  const lists = [has('/front/fault') && frontFaults(base), has('/snapshots') && snapshots(base),
    has('/spaces') && spaces(base), has('/upstreams') && recordings(base)].filter(Boolean);
  const reset = has('/reset') && button(t('reset'), async () => {
    if (!await ask({title: t('reset'), message: t('sure'), buttons: [t('reset'), t('cancel')]})) return;
    await call(`${base}/reset`, {method: 'POST'});
    forgetDrafts('');
    toast(t('done'));
    await update();
  }, {kind: 'danger', write: true});
  replace(body, h('p', {class: 'small'}, t('lead')), reset && h('div', {class: 'bar'}, reset),
    lists.map(one => one.element), callList(calls));
  return lists;
}

function callList(calls) {
  return h('details', null, h('summary', null, t('calls')), h('ul', {class: 'log', tabindex: '0',
    'aria-label': t('calls')}, calls.map(({method, path, purpose}) => h('li', null,
    h('span', {class: 'code'}, `${method} ${path}`), ' ', h('span', {lang: 'en'}, purpose)))));
}

/** Shows the clock, stops it and moves it on; between two responses its seconds are counted here. */
function clock(base, first, signal) {
  const now = h('time', {class: 'clock'});
  const tag = h('span', {class: 'tag', role: 'status'});
  const send = (method, body, path = '') => call(`${base}/clock${path}`, {method, body}).then(({data}) => show(data));
  const advance = s => send('POST', {s}, '/advance');
  const toggle = button('', () => send('PUT', {frozen: !told.frozen}), {write: true});
  const real = button(t('real'), () => send('DELETE'), {write: true});
  const step = (name, s) => button(`+ ${t(name)}`, () => advance(s), {write: true});
  const seconds = field('s', t('seconds'), {inputmode: 'decimal', autocomplete: 'off',
    check: text => (text.trim() !== '' && Number(text) >= 0 ? null : t('number'))});
  let told;
  let timer;
  const tick = () => replace(now, time(Date.parse(told.now) + (told.frozen ? 0 : Date.now() - told.at),
    {dateStyle: 'medium', timeStyle: 'medium'}));
  const show = data => {
    const held = document.activeElement === real;
    told = {...data, at: Date.now()};
    tick();
    clearInterval(timer);
    if (!data.frozen && !signal.aborted) timer = setInterval(tick, 1000);
    now.title = data.now;
    const words = t(data.frozen ? 'frozen' : 'runs');
    if (tag.textContent !== words) replace(tag, words);
    tag.className = `tag ${data.frozen ? 'warn' : 'ok'}`;
    replace(toggle.firstChild, t(data.frozen ? 'run' : 'freeze'));
    real.hidden = !data.shifted;
    larder.dispatchEvent(new CustomEvent('clock', {detail: data}));
    if (held && real.hidden) toggle.focus();
  };
  show(first);
  signal.addEventListener('abort', () => clearInterval(timer));
  return {show, element: h('section', {class: 'card stack timebar'}, h('h2', null, t('clock')),
    h('p', {class: 'small'}, t('clockLead')), h('div', {class: 'bar'}, now, tag),
    h('div', {class: 'bar'}, toggle, real, step('minute', 60), step('hour', 3600), step('day', 86400)),
    h('details', null, h('summary', {class: 'small'}, t('seconds')),
      form([seconds], t('move'), values => advance(Number(values.s)))))};
}
