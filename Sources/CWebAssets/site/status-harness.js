// Control room, for tests: the clock, one reset of everything, and what clients have asked. Nothing is asked before it
// is unfolded: from the first call on, the server records each request and caches no response in memory.

import {call, Problem} from './api.js';
import {h, replace} from './dom.js';
import {field, form} from './form.js';
import {ask, toast} from './overlay.js';
import {recordings} from './status-recordings.js';
import {frontFaults, snapshots, spaces} from './status-spaces.js';
import {define, plural, time} from './texts.js';
import {button, problemView} from './ui.js';

const t = define({
  en: {
    title: 'Harness', lead: 'For authors of tests: the time, the state, what clients have asked. From now on each '
      + 'request is recorded.',
    clock: 'Time of Larder and the sandbox', frozen: 'stands still', runs: 'runs', freeze: 'Stop the time',
    run: 'Let it run', minute: '1 minute', hour: '1 hour', day: '1 day', seconds: 'Seconds', move: 'Move on',
    number: 'Write a number of seconds.',
    reset: 'Reset everything',
    sure: 'All accounts, notes, documents, lists and kept copies of this server are deleted. '
      + 'The sandbox and the clock are as at the start.', cancel: 'Cancel', done: 'Everything is as at the start.',
    requests: 'Requests of clients', none: 'None yet.', clear: 'Empty', own: 'Also those of this page',
    waits: 'waits for a source', under: 'under way', ms: 'ms', calls: 'All calls',
    count: n => `${n} ${plural(n, {one: 'request', other: 'requests'})}`,
  },
  ru: {
    title: 'Стенд',
    lead: 'Для авторов тестов: время, состояние, запросы клиентов. С этого момента записывается каждый '
      + 'запрос.',
    clock: 'Время Larder и песочницы', frozen: 'стоит', runs: 'идёт', freeze: 'Остановить время',
    run: 'Пусть идёт', minute: '1 минута', hour: '1 час', day: '1 день',
    seconds: 'Секунды', move: 'Вперёд', number: 'Нужно число секунд.',
    reset: 'Сбросить всё', sure: 'Все учётные записи, заметки, документы, списки и копии этого сервера удаляются. '
      + 'Песочница и часы — как в начале.', cancel: 'Отмена', done: 'Всё как в начале.',
    requests: 'Запросы клиентов', none: 'Пока нет.', clear: 'Очистить', own: 'И запросы этой страницы',
    waits: 'ждёт источник', under: 'выполняется', ms: 'мс', calls: 'Все вызовы',
    count: n => `${n} ${plural(n, {one: 'запрос', few: 'запроса', other: 'запросов'})}`,
  },
});

// What the control room asks for by itself.
const own = /^\/(v1\/(status|sandbox|harness|devices|events)|metrics|health|web)\b/;

/**
 * Adds the part of the harness, folded.
 * @param {Screen} screen @param {HTMLElement} place @param {string} base Path of its calls.
 */
export function openHarness(screen, place, base) {
  const body = h('div', {class: 'stack'});
  const element = h('details', {class: 'card harness'}, h('summary', null, t('title')), body);
  let parts = null;
  const update = async () => {
    if (!element.open || document.hidden) return;
    try {
      const {data} = await call(base, {signal: screen.signal});
      if (!parts) replace(body, (parts = draw(base, data, update)).elements);
      parts.clock.show(data.clock);
      for (const part of parts.lists) await part.update();
    } catch (problem) {
      if (problem.name === 'AbortError') return;
      if (!(problem instanceof Problem)) throw problem;
      if (!parts) replace(body, problemView(problem, update));
    }
  };
  element.addEventListener('toggle', update);
  const timer = setInterval(update, 2000);
  screen.signal.addEventListener('abort', () => clearInterval(timer));
  place.append(element);
}

/** Draws the parts that this server has: those whose calls its index lists. */
function draw(base, {calls}, update) {
  const has = path => calls.some(one => one.path === `/_harness${path}`);
  const time = clock(base, has('/clock/advance'));
  const lists = [has('/journal') && journal(base), has('/front/fault') && frontFaults(base),
    has('/snapshots') && snapshots(base), has('/spaces') && spaces(base),
    has('/upstreams') && recordings(base)].filter(Boolean);
  const reset = has('/reset') && button(t('reset'), async () => {
    if (!await ask({title: t('reset'), message: t('sure'), buttons: [t('reset'), t('cancel')]})) return;
    await call(`${base}/reset`, {method: 'POST'});
    toast(t('done'));
    await update();
  }, {kind: 'danger', write: true});
  return {clock: time, lists, elements: [h('p', {class: 'small'}, t('lead')), time.element,
    reset && h('div', {class: 'bar'}, reset), lists.map(one => one.element), callList(calls)]};
}

function callList(calls) {
  return h('details', null, h('summary', null, t('calls')), h('ul', {class: 'log', tabindex: '0',
    'aria-label': t('calls')}, calls.map(({method, path, purpose}) => h('li', null,
    h('span', {class: 'code'}, `${method} ${path}`), ' ', h('span', {lang: 'en'}, purpose)))));
}

/** Shows the clock, stops it and moves it on. */
function clock(base, canAdvance) {
  const now = h('output', {class: 'clock'});
  const tag = h('span', {class: 'tag'});
  const set = frozen => call(`${base}/clock`, {method: 'PUT', body: {frozen}}).then(({data}) => show(data));
  const advance = s => call(`${base}/clock/advance`, {method: 'POST', body: {s}}).then(({data}) => show(data));
  const freeze = button(t('freeze'), () => set(true), {write: true});
  const run = button(t('run'), () => set(false), {write: true});
  const step = (name, s) => button(`+ ${t(name)}`, () => advance(s), {write: true});
  const seconds = field('s', t('seconds'), {inputmode: 'decimal', autocomplete: 'off',
    check: text => (text.trim() !== '' && Number(text) >= 0 ? null : t('number'))});
  const show = data => {
    const held = [freeze, run].includes(document.activeElement);
    replace(now, time(data.now, {dateStyle: 'medium', timeStyle: 'medium'}));
    now.title = data.now;
    replace(tag, t(data.frozen ? 'frozen' : 'runs'));
    tag.className = `tag ${data.frozen ? 'warn' : 'ok'}`;
    freeze.hidden = data.frozen;
    run.hidden = !data.frozen;
    if (held) (data.frozen ? run : freeze).focus();
  };
  const element = h('section', {class: 'stack'}, h('h3', null, t('clock')), h('div', {class: 'bar'}, now, tag),
    h('div', {class: 'bar'}, freeze, run, canAdvance && [step('minute', 60), step('hour', 3600),
      step('day', 86400)]),
    canAdvance && form([seconds], t('move'), values => advance(Number(values.s))));
  return {element, show};
}

/** Shows the requests of clients, without those of this page. */
function journal(base) {
  const list = h('ol', {class: 'log', tabindex: '0', 'aria-label': t('requests')});
  const count = h('span', {class: 'muted small'});
  const all = h('input', {type: 'checkbox', onchange: () => update()});
  let last = null;
  const update = async () => {
    const {entries} = (await call(`${base}/journal?limit=300`)).data;
    const shown = entries.filter(one => all.checked || !own.test(one.path)).reverse();
    const drawn = JSON.stringify(shown.map(one => [one.sequence, one.at, one.status, one.waiting]));
    if (drawn === last) return;
    last = drawn;
    replace(count, t('count', shown.length));
    replace(list, shown.length ? shown.map(row) : h('li', {class: 'muted'}, t('none')));
  };
  const clear = button(t('clear'), async () => {
    await call(`${base}/journal`, {method: 'DELETE'});
    await update();
  }, {kind: 'quiet', write: true});
  return {update, element: h('section', {class: 'stack'}, h('div', {class: 'bar'}, h('h3', null, t('requests')), count),
    list, h('div', {class: 'bar'}, h('label', {class: 'check'}, all, t('own')), clear))};
}

function row({method, path, status, waiting, duration_ms: ms}) {
  return h('li', null, h('span', {class: `tag ${status === null || status >= 400 ? 'warn' : 'ok'}`},
    status ?? t(waiting ? 'waits' : 'under')), ' ', h('span', {class: 'code'}, `${method} ${path}`),
  ms !== null && h('span', {class: 'muted'}, ` ${ms} ${t('ms')}`));
}
