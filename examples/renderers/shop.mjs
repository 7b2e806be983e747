#!/usr/bin/env node
// The Shop app in a terminal, drawn from responses alone: node shop.mjs http://127.0.0.1:8080 [LANGUAGE]
// Each line of the input is the number of something that is shown; an empty one requests the screen again, `*` shows
// all screens of the app.
import {createInterface} from 'node:readline';
import {stdin, stdout} from 'node:process';

const [app, base, language = 'en'] = ['shop', ...process.argv.slice(2)];
const lines = createInterface({input: stdin})[Symbol.asyncIterator]();
let [current, choices] = ['', []];

const say = (text, end = '\n') => stdout.write(text + end);

async function ask(prompt) {
  say(prompt, '');
  const {value, done} = await lines.next();
  return done ? null : value.trim();
}

async function call(method, href, body, headers = {}) {
  const type = body && {'Content-Type': 'application/json'};
  const response = await fetch(base + href, {
    method, body: body && JSON.stringify(body),
    headers: {Accept: 'application/json', 'Accept-Language': language, ...type, ...headers},
  });
  const isScreen = response.headers.get('Content-Type')?.includes('json');
  return isScreen ? response.json() : (await response.arrayBuffer()).byteLength;
}

const open = async href => show(await call('GET', href), href);

/** Shows a response, or the screen to which it leads. */
async function show(screen, href) {
  const {data = {}, meta, links, dialog} = screen;
  if (data.route?.method === 'GET' && (!href || href.endsWith('/launch'))) return open(data.route.href);
  [current, choices] = [href ?? links?.self ?? current, []];
  if (dialog) {
    say(`\n== ${dialog.title} ==\n${dialog.message}`);
    for (const error of screen.errors) say(error.detail);
    say(dialog.buttons.join(' / '));
    return actions(screen, '');
  }
  if (!meta) return say(`${screen}`);
  say(`\n== ${meta.title} ==`);
  for (const text of new Set([meta.banner?.text, meta.freshness_text])) if (text) say(`! ${text}`);
  for (const tab of links.tabs ?? []) offer(tab.title, () => open(tab.href));
  if (links.search) offerAction(links.search, '');
  thing(data, meta.labels, '');
  if (data.empty) {
    say(`${data.empty.title}\n${data.empty.text}`);
    if (data.empty.action) offerAction(data.empty.action, '');
  }
  if (links.next) offer('…', () => open(links.next));
}

function offer(title, press, indent = '') {
  choices.push(press);
  say(`${indent}[${choices.length}] ${title}`);
}

function offerAction(action, indent) {
  if (action.enabled) offer(action.title, () => press(action), indent);
  else say(`${indent}- ${action.title} (${action.disabled_reason})`);
}

/** Shows the labelled members of the content, a row or an object, its rows and its actions. */
function thing(value, labels, indent) {
  const known = [...new Map(labels.map(label => [label.member, label])).values()];
  const isName = label => Number(label.kind === 'name');
  for (const label of known.sort((one, other) => isName(other) - isName(one))) {
    member(value[label.member], label, value.href, labels, indent);
  }
  for (const row of Array.isArray(value.items) ? value.items : []) thing(row, labels, `${indent}  `);
  actions(value, indent);
}

function member(value, label, href, labels, indent) {
  const title = label.title ? `${label.title}: ` : '';
  if (value === undefined || value === null || value === false || value === '' || value.length === 0) return;
  if (title && typeof value === 'object') say(indent + title);
  if (value === true) say(indent + label.title);
  else if (Array.isArray(value)) {
    for (const one of value) member(one, {...label, title: null}, null, labels, `${indent}  `);
  } else if (typeof value === 'object') thing(value, labels, `${indent}  `);
  else if (label.kind === 'name' && href && indent) offer(value, () => open(href), indent);
  else say(label.kind === 'picture' ? `${indent}<${value}>` : `${indent}${title}${value}`);
}

function actions(value, indent) {
  for (const [name, one] of Object.entries(value)) {
    for (const action of Array.isArray(one) ? one : [one]) {
      if (name !== 'empty' && action?.enabled !== undefined) offerAction(action, indent);
    }
  }
}

/** Asks what is to be asked, and sends the request. */
async function press(action) {
  if (action.confirm) {
    say(action.confirm.message);
    const buttons = action.confirm.buttons.map((text, at) => `[${at + 1}] ${text}`).join(' / ');
    if (await ask(`${buttons} `) !== '1') return;
  }
  const values = {};
  for (const field of action.fields ?? []) {
    const start = field.value ?? field.values?.join(', ') ?? '';
    let text;
    // Asks until the text can be a value of the field.
    do text = await ask(`${field.title}${start && ` (${start})`}: `) || start;
    while (Number.isNaN(typed(text, field.kind)));
    if (text || field.required) values[field.name] = typed(text, field.kind);
  }
  if (action.method === 'GET') {
    const query = new URLSearchParams(values);
    await open(action.href + (query.size ? `${action.href.includes('?') ? '&' : '?'}${query}` : ''));
    return;
  }
  const body = {...action.body, ...values};
  await show(await call(action.method, action.href, Object.keys(body).length ? body : undefined, action.headers));
}

function typed(text, kind) {
  if (kind === 'integer' || kind === 'number') return Number(text);
  if (kind === 'pages' || kind === 'items') return text.split(',').map(word => word.trim());
  return kind === 'boolean' ? text === '1' : text;
}

async function tour() {
  const {data} = await call('GET', '/v1');
  const {screens} = data.apps.find(one => one.app === app);
  for (const {method, title, href} of screens) {
    if (method === 'GET' && title && !href.includes('{')) await open(href);
  }
}

try {
  await open(`/v1/${app}/launch`);
  for (let line = await ask('> '); line !== null; line = await ask('> ')) {
    if (line === '*') await tour();
    else if (choices[Number(line) - 1]) await choices[Number(line) - 1]();
    else await open(current);
  }
} catch (error) {
  // No address, no server, or one of another kind.
  console.error(`node shop.mjs URL [LANGUAGE]: ${error.cause?.message ?? error.message}`);
  process.exit(1);
}
