// Control room, for tests: each request of a client, with those to the sources that Larder sent for it. Nothing is
// asked before it is unfolded: from the first call on, the server records each request.

import {call, quietly} from './api.js';
import {h, replace} from './dom.js';
import {keyed} from './list.js';
import {copy} from './overlay.js';
import {t as rules} from './status-rules.js';
import {define, plural, time} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    title: 'Requests, and what they caused', requests: 'Requests of clients', clear: 'Empty',
    none: 'Recorded from now on.',
    lead: 'Newest first.',
    own: 'Also those of this page', waits: 'waits for a source', under: 'under way', ms: 'ms', kept: 'no source asked',
    self: 'Larder by itself', fields: 'Header fields', body: 'Body',
    count: n => `${n} ${plural(n, {one: 'request', other: 'requests'})}`, pictures: 'Also pictures',
  },
  ru: {
    title: 'Запросы и что они вызвали', requests: 'Запросы клиентов', clear: 'Очистить',
    none: 'Запись начата.',
    lead: 'Сначала новые.',
    own: 'И запросы этой страницы', waits: 'ждёт источник', under: 'выполняется', ms: 'мс', kept: 'без источника',
    self: 'Larder сам', fields: 'Поля заголовка', body: 'Тело',
    count: n => `${n} ${plural(n, {one: 'запрос', few: 'запроса', other: 'запросов'})}`, pictures: 'И картинки',
  },
});

// What the control room asks for by itself.
const own = /^\/(v1\/(status|sandbox|harness|devices|events)|metrics|health|web|status)\b/;

/**
 * Makes the list of the requests, folded.
 * @param {Screen} screen @param {string} base Path of the harness.
 * @param {function(): ?Object} controls Those of the sandbox.
 * @param {function(string)|false} failRoute Asks for a fault of a route of Larder itself.
 */
export function requests(screen, base, controls, failRoute) {
  const list = h('ol', {class: 'log exchanges', tabindex: '0', 'aria-label': t('requests')});
  const count = h('span', {class: 'muted small'});
  const none = h('p', {class: 'muted small'}, t('none'));
  const [all, pictures] = [0, 1].map(() => h('input', {type: 'checkbox', onchange: () => update()}));
  const clear = button(t('clear'), async () => {
    await Promise.all([`${base}/journal`, controls() && '/v1/sandbox/journal'].filter(Boolean)
      .map(path => call(path, {method: 'DELETE'})));
    await update();
  }, {kind: 'quiet', write: true});
  const element = h('details', {class: 'card inspector'}, h('summary', null, t('title'), ' ', count),
    h('div', {class: 'stack'}, h('p', {class: 'small'}, t('lead')), none, list,
      h('div', {class: 'bar'}, h('label', {class: 'check'}, all, t('own')),
        h('label', {class: 'check'}, pictures, t('pictures')), clear)));
  const acts = one => [button(t('curl'), () => copy(curl(one)), {icon: 'copy'}),
    (one.upstream ? controls() : failRoute) && button(rules(one.upstream ? 'add' : 'set'), () => {
      if (one.upstream) controls().makeRule({...one, path: pathOf(one.path).replace(`/${one.upstream}`, '')});
      else failRoute(`${one.method} ${pathOf(one.path)}`);
    }, {icon: 'bolt', write: true})];
  const [readAsked, readSent] = [base, '/v1/sandbox'].map(path => reader(`${path}/journal`, screen.signal));
  const update = async () => {
    const read = element.open && !document.hidden
      && await quietly(Promise.all([readAsked(), controls() && readSent()]));
    if (!read) return;
    const [asked, sent] = read;
    const shown = paired(asked.filter(one => (all.checked || !own.test(one.path))
      && (pictures.checked || !/^image\//.test(one.headers.accept))), sent);
    replace(count, t('count', shown.length));
    none.hidden = shown.length > 0;
    list.hidden = shown.length === 0;
    keyed(list, shown, ([one]) => `${one.upstream ?? ''} ${one.sequence} ${one.at}`,
      group => exchange(group, acts, controls), {animate: false,
        update: (row, group) => { row.fill(group); return true; }});
  };
  element.addEventListener('toggle', update);
  const timer = setInterval(update, 2000);
  screen.signal.addEventListener('abort', () => clearInterval(timer));
  return element;
}

/** Makes a function that reads a journal on from the first entry which is not finished, or anew if it was emptied. */
function reader(path, signal) {
  let known = [];
  const after = async since =>
    (await call(`${path}?${new URLSearchParams({since, limit: 500})}`, {signal})).data.entries;
  return async () => {
    const first = known.slice(-100).find(one => one.status === null) ?? known.at(-1);
    let news = await after(first ? first.sequence - 1 : 0);
    if (first && news[0]?.at !== first.at) {
      known = [];
      news = await after(0);
    }
    return known = [...known.filter(one => one.sequence < news[0]?.sequence), ...news].slice(-2000);
  };
}

const most = 150;

/**
 * Gives each request with those that it has caused, the newest first; what Larder sent by itself stands alone. Of the
 * journal of the sources the oldest entries may be missing, or all (null).
 */
function paired(asked, sent) {
  const known = sent ?? [];
  const isCovered = ({at}) => sent !== null && (!known.length || known[0].sequence === 1 || at > known[0].at);
  const groups = asked.slice(-most).map(one => [{...one, isCovered: isCovered(one)},
    ...known.filter(other => other.cause === one.sequence && other.at >= one.at)]);
  groups.push(...known.filter(other => typeof other.cause === 'string').map(one => [one]));
  return groups.sort(([one], [other]) => other.at.localeCompare(one.at) || other.sequence - one.sequence)
    .slice(0, most);
}

const pathOf = target => target.split('?')[0];

/** Makes the row of a request: a line, and all of it once it is unfolded. */
function exchange(group, acts, controls) {
  const summary = h('summary');
  const body = h('div', {class: 'stack'});
  const element = h('details', {ontoggle: () => draw()}, summary, body);
  const row = h('li', null, element);
  const draw = () => element.open && replace(body, row.group.map((other, index) =>
    h('div', {class: `stack ${index ? 'caused' : ''}`}, index > 0 && line(other),
      h('div', {class: 'bar'}, acts(other)), details(other))));
  row.fill = ([one, ...caused]) => {
    row.group = [one, ...caused];
    replace(summary, line(one, one.upstream ? t('self')
      : caused.length ? caused.map(other => ['→ ', tagOf(other, `${controls().titleOf(other.upstream)} `), ' '])
        : one.isCovered && one.status !== null && t('kept')));
    draw();
  };
  row.fill(group);
  return row;
}

/** Gives method and path in letters that can be read, without the time zone of all pages. */
function nameOf({method, path}) {
  const short = path.replace(/([?&])tz=[^&]*&?/, '$1').replace(/[?&]$/, '');
  try { return `${method} ${decodeURIComponent(short)}`; } catch { return `${method} ${short}`; }
}

/** Draws a request in columns. */
function line(one, end) {
  const fault = one.fault !== 'online' && one.fault;
  return h('span', {class: 'line'}, h('span', {class: 'muted'}, time(one.at, {timeStyle: 'medium'})), ' ',
    h('span', null, !(fault && one.status === null) && tagOf(one), ' ', fault && h('span', {class: 'tag warn'}, fault)),
    ' ', h('span', {class: 'code'}, nameOf(one)), ' ', h('span', {class: 'muted'}, one.duration_ms !== null
      && `${one.duration_ms} ${t('ms')}`), ' ', h('span', {class: 'muted'}, end));
}

const tagOf = ({status, waiting}, name = '') => h('span',
  {class: `tag ${status === null || status >= 400 ? 'warn' : 'ok'}`}, name, status ?? t(waiting ? 'waits' : 'under'));

function details({headers, body}) {
  return h('details', null, h('summary', null, t('fields')), h('dl', {class: 'facts small'},
    Object.entries(headers).map(([name, value]) => [h('dt', null, name), h('dd', {class: 'code'}, value)]),
    body?.text && [h('dt', null, t('body')), h('dd', {class: 'code'}, body.text)]));
}

// What curl sends by itself, and what only a browser has.
const skipped = new RegExp('^(host|connection|content-length|accept-encoding|user-agent|cookie|origin|referer|priority'
  + '|content-encoding|transfer-encoding|idempotency-key|sec-.*|larder-.*)$');
// The journal shows so many bytes of a body.
const bytesShown = 65536;
const code = sign => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`;

/** Writes a text as one word of a shell. */
function quoted(text) {
  return /[\0-\x1f\x7f]/.test(text) ? `$'${text.replace(/[\0-\x1f\x7f\\']/g, code)}'`
    : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Makes the command that sends a request again; a credential, of which the journal has a digest only, is TOKEN. */
function curl({upstream, method, path, headers, body}) {
  const fields = Object.entries(headers).filter(([name]) => !skipped.test(name))
    .map(([name, value]) => `${name}: ${value}`);
  if (headers.cookie && !headers.authorization) fields.push('authorization: Bearer TOKEN');
  const isWhole = body?.text && Math.max(body.bytes, body.text.length) < bytesShown;
  const how = {GET: false, HEAD: '--head'}[method] ?? `-X ${quoted(method)}`;
  return ['curl', how, /[[\]{}]/.test(path) && '--globoff', ...fields.map(field => `-H ${quoted(field)}`),
    body && (isWhole ? `--data-raw ${quoted(body.text)}` : '--data-binary @FILE'),
    quoted(`${upstream ? `http://${headers.host}` : location.origin}${path}`)].filter(Boolean).join(' ')
    .replace(/sha256:\w+/g, 'TOKEN');
}
