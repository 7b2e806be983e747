// Control room: what Larder knows of its upstreams and of itself, live; with the sandbox, its controls.

import {call, Problem, quietly} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {keyed} from './list.js';
import {ago, bytes, define, language, plural, t as common, time} from './texts.js';
import {button, skeleton, sourceState} from './ui.js';
import {openDevices} from './status-devices.js';

const t = define({
  en: {
    upstreams: 'Sources',
    since: 'Since', lastOk: 'Last answer',
    lastError: 'Last error',
    paused: 'Paused until', never: 'none yet', larder: 'Larder', version: 'Version', started: 'Running since',
    ready: 'Ready', notReady: 'Not ready', checks: 'Checks', able: 'Abilities', install: what => `install ${what}`,
    untested: 'not used yet', ok: 'works', missing: 'missing', cache: 'Kept copies', of: (a, b) => `${a} of ${b}`,
    database: 'Database', free: 'Free on disk', connections: 'Connections',
    hits: 'Served from store',
    events: 'Events', pause: 'Pause', resume: 'Resume', all: 'All events',
    noEvents: 'None since this page was opened.',
    requests: 'Requests by route', route: 'Route', count: 'Count', mean: 'Mean',
    asked: 'Asked',
    times: (n, ms, count) => `${n} ${plural(count, {one: 'time', other: 'times'})}, ${ms} ms each`, memory: 'Memory',
    failed: 'Refused or failed', ms: 'ms', files: 'files', dns: 'name not found',
    refused: 'connection refused', reset: 'connection broke off', tls: 'no secure connection', network: 'no network',
    'connect-timeout': 'no connection in time', 'total-timeout': 'no answer in time',
  },
  ru: {
    upstreams: 'Источники',
    since: 'С какого времени', lastOk: 'Последний ответ',
    lastError: 'Последняя ошибка', paused: 'Пауза до', never: 'ещё нет', larder: 'Larder', version: 'Версия',
    started: 'Работает с', ready: 'Готов', notReady: 'Не готов', checks: 'Проверки', able: 'Возможности',
    install: what => `установите ${what}`, untested: 'ещё не нужно', ok: 'работает', missing: 'нет', cache: 'Копии',
    of: (a, b) => `${a} из ${b}`, database: 'База данных', free: 'Свободно на диске', connections: 'Соединения',
    hits: 'Отдано из хранилища', events: 'События', pause: 'Пауза', resume: 'Дальше',
    all: 'Все события', noEvents: 'С открытия страницы — ничего.', requests: 'Запросы по адресам', route: 'Адрес',
    count: 'Число', mean: 'Среднее', asked: 'Запросов',
    times: (n, ms) => `${n}, по ${ms} мс`, memory: 'Память', failed: 'Отказы и ошибки', ms: 'мс', files: 'файлы',
    dns: 'имя не найдено', refused: 'в соединении отказано', reset: 'соединение оборвалось',
    tls: 'нет защищённого соединения', network: 'нет сети', 'connect-timeout': 'нет соединения вовремя',
    'total-timeout': 'нет ответа вовремя',
  },
});

export const routes = [{path: '/status', open}];

async function open(screen) {
  const upstreams = h('ul', {class: 'columns upstreams', role: 'list'});
  const [sandbox, clock, inspector, rules, harness] = Array.from({length: 5}, () => h('div', {class: 'stack'}));
  const facts = {cache: h('section', {class: 'card stack'}), larder: h('section', {class: 'card stack'})};
  const requests = h('div');
  const devices = h('div');
  const happened = events(screen);
  screen.head({title: t('status'), actions: [screen.refreshButton(() => resource)]});
  let controls = null;
  let metrics = null;
  const openControls = once(() => import('./status-sandbox.js'), async ({openSandbox}, cards) => {
    controls = await openSandbox(screen, sandbox, rules, () => drawUpstreams(), cards, name => named(cards, name));
    return controls !== null;
  });
  const openHarness = once(() => import('./status-harness.js'), (part, base) =>
    part.openHarness(screen, {clock, inspector, harness}, base, () => controls));
  const resource = screen.load('/v1/status', async ({data}, first) => {
    if (first) screen.show(skeleton('rows columns'));
    const [read, health] = await Promise.all([readMetrics(), readHealth(),
      data.sandbox && openControls(data.upstreams),
      data.harness && openHarness(data.harness.base)]);
    if (screen.signal.aborted) return;
    if (read) {
      metrics = read;
      drawSelf(facts, data, metrics, health);
      replace(requests, requestTable(metrics));
    }
    drawUpstreams();
    // All at once: what came one after the other would move what is below it.
    if (upstreams.isConnected) return;
    const tested = data.sandbox || data.harness;
    screen.show(h('div', {class: 'stack wide-gap'}, tested && h('div', {class: 'columns'}, sandbox, clock),
      section(t('upstreams'), upstreams), tested && h('div', {class: 'stack tools'}, inspector, rules, harness),
      h('div', {class: 'columns'}, facts.larder, h('div', {class: 'stack'}, facts.cache, happened)), devices,
      h('details', {class: 'card'}, h('summary', null, t('requests')), requests)));
    openDevices(screen, devices);
  }, {skeleton: 'rows columns'});
  const drawUpstreams = () => {
    for (const row of upstreams.children) row.rowData = null;
    keyed(upstreams, resource.answer.data.upstreams, one => one.name,
      one => upstreamCard(one, () => controls, () => metrics),
      {animate: false, update: (row, one) => { row.redraw(one); return true; }});
  };
  const again = setInterval(() => document.hidden || resource.soon(), 15000);
  screen.signal.addEventListener('abort', () => clearInterval(again));
  screen.on('connectivity', () => resource.soon());
  await resource.ready;
}

/** Makes a function that loads a part and opens it, once; if that fails, since Larder has gone, the next call does. */
function once(load, open) {
  let opened = null;
  const begin = async value => {
    const part = await load().catch(() => null);
    if (!part || await open(part, value) === false) opened = null;
  };
  return value => opened ??= begin(value);
}

function section(title, ...content) {
  return h('section', {class: 'stack'}, h('h2', null, title), content);
}

/** Draws a card of an upstream; its fault stays in place while the rest changes. */
function upstreamCard(upstream, controls, metrics) {
  const tag = h('span', {class: 'tag'});
  const list = h('dl', {class: 'facts small'});
  const card = h('li', {class: 'card upstream', dataset: {name: upstream.name}},
    h('div', {class: 'bar'}, h('h3', null, titleOf(upstream)), tag), list);
  card.redraw = now => {
    if (controls() && !card.querySelector('.fault')) card.append(controls().faultOf(upstream.name));
    const state = sourceState(now);
    card.dataset.state = state?.toLowerCase() ?? '';
    tag.hidden = state === null;
    tag.className = `tag ${{Up: 'ok', Errors: 'warn', Down: 'warn'}[state] ?? ''}`;
    replace(tag, state && common(`source${state}`));
    replace(list, facts([[t('since'), state === 'Down' && when(now.since)],
      [t('lastOk'), state && state !== 'Unknown' && when(now.last_ok_at)], [t('lastError'), errorOf(now.last_error)],
      [t('asked'), metrics() && askedOf(metrics(), now.name)],
      [t('paused'), now.paused_until && time(now.paused_until, {timeStyle: 'medium'})]]));
    list.hidden = list.childElementCount === 0;
  };
  card.redraw(upstream);
  return card;
}

function titleOf({title, name}) {
  const words = title ?? name.replaceAll('_', ' ');
  return words[0].toUpperCase() + words.slice(1);
}

/** Names a source by its card, and one without a card alike. */
const named = (upstreams, name) => titleOf(upstreams.find(one => one.name === name) ?? {name});

/** Names a failure; a reason that is no code is a text already. */
const errorOf = error => error && [t(error.reason), error.of, when(error.at)].filter(Boolean).join(' · ');

function when(text) {
  return text ? ago((Date.now() - Date.parse(text)) / 1000) : t('never');
}

function facts(rows) {
  return rows.filter(([, value]) => value).map(([name, value]) => [h('dt', null, name), h('dd', null, value)]);
}

/** Says how often an upstream was asked, and how long it took on average. */
function askedOf(metrics, name) {
  const count = metrics.one('larder_upstream_request_duration_seconds_count', 'upstream', name);
  const sum = metrics.one('larder_upstream_request_duration_seconds_sum', 'upstream', name);
  return count > 0 && t('times', number.format(count), number.format(1000 * sum / count), count);
}

const number = new Intl.NumberFormat(language, {maximumFractionDigits: 1});

function drawSelf(place, status, metrics, health) {
  const hit = metrics.one('larder_cache_requests_total', 'result', 'hit');
  const asked = hit + metrics.one('larder_cache_requests_total', 'result', 'forwarded');
  replace(place.cache, h('h2', null, t('cache')), status.cache && cacheBar(status.cache, status.upstreams));
  const isOpen = place.larder.querySelector('details')?.open;
  replace(place.larder, h('div', {class: 'bar'}, h('h2', null, t('larder')), health && h('span',
      {class: `tag ${health.status === 'ready' ? 'ok' : 'danger'}`},
        t(health.status === 'ready' ? 'ready' : 'notReady'))),
    h('dl', {class: 'facts small'}, facts([
      [t('version'), status.version], [t('started'), time(status.started_at)],
      [t('hits'), asked && t('of', hit, asked)], [t('database'), bytes(metrics.one('larder_database_bytes'))],
      [t('free'), bytes(metrics.one('larder_data_free_bytes'))],
      [t('memory'), bytes(metrics.one('process_resident_memory_bytes'))],
      [t('connections'), String(metrics.one('larder_http_connections'))]])),
    health && h('details', {class: 'small', open: isOpen}, h('summary', null, t('able')),
      h('ul', {class: 'abilities'}, health.abilities.map(ability))),
    health?.checks?.some(check => !check.ok) && h('p', {class: 'form-problem'}, t('checks'), ': ',
      health.checks.filter(check => !check.ok).map(check => check.name).join(', ')));
}

function ability({name, ok, install}) {
  const [kind, words, sign] = ok === null ? ['', t('untested'), 'minus'] : ok ? ['ok', t('ok'), 'check']
    : ['warn', install ? t('install', install) : t('missing'), 'warning'];
  return h('li', {class: 'bar'}, icon(sign, 16), h('span', null, name), h('span', {class: `tag ${kind}`}, words));
}

function cacheBar({by_upstream: parts, used_bytes: used, budget_bytes: budget}, upstreams) {
  const titled = name => {
    const [source, part] = name.split('.');
    return [named(upstreams, source), part && t(part)].filter(Boolean).join(', ');
  };
  const fill = h('div', {class: 'meter-fill'});
  fill.style.width = `${Math.min(100, 100 * used / (budget || 1))}%`;
  return [h('p', {class: 'small'}, t('of', bytes(used), bytes(budget))), h('div', {class: 'meter',
    'aria-hidden': 'true'}, fill),
    h('dl', {class: 'facts small'}, parts.filter(one => one.used_bytes > 0)
      .sort((a, b) => b.used_bytes - a.used_bytes)
      .map(one => [h('dt', null, titled(one.name)), h('dd', null, bytes(one.used_bytes))]))];
}

function requestTable(metrics) {
  const sums = new Map(metrics.all('larder_http_request_duration_seconds_sum').map(one => [name(one), one.value]));
  const failures = failuresOf(metrics);
  const rows = metrics.all('larder_http_request_duration_seconds_count').filter(one => one.value > 0)
    .sort((a, b) => b.value - a.value).slice(0, 15);
  if (!rows.length) return h('p', {class: 'muted'}, t('never'));
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('requests')},
    h('table', {class: 'table'}, h('thead', null, h('tr', null,
      [t('route'), t('count'), t('mean')].map(text => h('th', {scope: 'col'}, text)))),
    h('tbody', null, rows.map(one => h('tr', null, h('td', null, h('span', {class: 'code'}, name(one)), ' ',
        failures.has(name(one)) && h('span', {class: 'tag warn', title: t('failed')}, failures.get(name(one)))),
      h('td', null, number.format(one.value)),
      h('td', null, `${number.format(1000 * sums.get(name(one)) / one.value)} ${t('ms')}`))))));
}

/** Counts the responses of 400 and more by route: "12 × 401, 1 × 503". */
function failuresOf(metrics) {
  const found = new Map();
  for (const one of metrics.all('larder_http_requests_total')) {
    if (Number(one.labels.status) < 400 || one.value === 0) continue;
    const words = `${number.format(one.value)} × ${one.labels.status}`;
    found.set(name(one), [found.get(name(one)), words].filter(Boolean).join(', '));
  }
  return found;
}

const name = ({labels}) => `${labels.method} ${labels.route}`;

async function readMetrics() {
  const answer = await quietly(call('/metrics'));
  return answer ? parse(answer.text) : null;
}

async function readHealth() {
  try { return (await call('/health/ready')).data; } catch (problem) {
    if (problem instanceof Problem) return problem.abilities ? problem : null;
    throw problem;
  }
}

/** Reads the text format of Prometheus, buckets left out. */
function parse(text) {
  const found = new Map();
  for (const line of text.split('\n')) {
    const parts = /^(\w+?)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!parts || parts[1].endsWith('_bucket')) continue;
    const labels = Object.fromEntries([...(parts[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
      .map(one => [one[1], one[2]]));
    found.set(parts[1], [...found.get(parts[1]) ?? [], {labels, value: Number(parts[3])}]);
  }
  const all = key => found.get(key) ?? [];
  const one = (key, label, value) => all(key).filter(item => !label || item.labels[label] === value)
    .reduce((sum, item) => sum + item.value, 0);
  return {all, one};
}

/** Draws the live log of events, with a pause and a filter. */
function events(screen) {
  const list = h('ol', {class: 'log', tabindex: '0', 'aria-label': t('events'), hidden: true});
  const none = h('p', {class: 'muted small'}, t('noEvents'));
  let paused = false;
  const filter = h('select', {'aria-label': t('all'), onchange: () => show()}, ['', 'connectivity', 'screen-changed',
    'job',
    'reset', 'session-ended', 'devices-changed'].map(value => h('option', {value}, value || t('all'))));
  const pause = button(t('pause'), () => {
    paused = !paused;
    pause.querySelector('span').textContent = t(paused ? 'resume' : 'pause');
    pause.setAttribute('aria-pressed', String(paused));
  });
  const show = () => { for (const row of list.children) row.hidden = filter.value !== ''
    && row.dataset.type !== filter.value; };
  screen.on('any', ({type, data}) => {
    if (paused || ['session', 'nudge', 'opened'].includes(type)) return;
    none.remove();
    list.hidden = false;
    list.prepend(h('li', {dataset: {type}}, h('span', {class: 'muted'}, time(new Date().toISOString(),
      {timeStyle: 'medium'})),
      ' ', h('strong', null, type), ' ', h('span', {class: 'code'}, Object.entries(data).filter(([key]) => key !== 'at')
        .map(([key, value]) => `${key} ${value}`).join(' · '))));
    if (list.childElementCount > 200) list.lastElementChild.remove();
    show();
  });
  return h('section', {class: 'card stack'}, h('div', {class: 'bar'}, h('h2', {class: 'grow'}, t('events')), filter,
    pause),
    none, list);
}
