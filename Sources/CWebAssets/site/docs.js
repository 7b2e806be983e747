// The contract, to read: each route with its parameters, an example, and a curl command to copy.

import {unreachable} from './api.js';
import {h, replace} from './dom.js';
import {searchField} from './parts.js';
import {copy} from './overlay.js';
import {define, langOf, language} from './texts.js';
import {button, skeleton} from './ui.js';

const t = define({
  en: {
    title: 'API', lead: 'Every route of this server.', sections: 'Sections',
    none: 'No such route.', parameters: 'Parameters', request: 'Request',
    response: 'Response', statuses: 'Statuses', required: 'required',
  },
  ru: {
    title: 'API', lead: 'Все маршруты этого сервера.', sections: 'Разделы',
    none: 'Такого маршрута нет.', parameters: 'Параметры', request: 'Запрос',
    response: 'Ответ', statuses: 'Коды', required: 'обязательный',
  },
});

export const routes = [{path: '/docs', open}];

const methods = ['get', 'post', 'put', 'patch', 'delete'];
let asked;

async function fetched() {
  asked ??= fetch('/openapi.json').then(response => response.ok ? response.json() : Promise.reject(unreachable()));
  try { return await asked; } catch {
    asked = null;
    throw unreachable();
  }
}

async function open(screen) {
  screen.head({title: t('title'), lead: [t('lead'), ' ', ['/openapi.yaml', '/openapi.json'].map(href =>
    [h('a', {href}, href), ' '])]});
  // Not in the body, which the tabs move when they are drawn.
  const wait = skeleton();
  wait.style.marginTop = '16px';
  screen.body.before(wait);
  const contract = await fetched().finally(() => wait.remove());
  if (screen.signal.aborted) return;
  const all = operations(contract);
  const list = h('div', {class: 'stack', lang: 'en'});
  const draw = () => replace(list, sections(contract, all, screen.query.get('app'), screen.query.get('q') ?? ''));
  const names = [null, ...contract.tags.map(tag => tag.name)];
  const tabs = h('nav', {class: 'tabs', 'aria-label': t('sections')}, names.map(app =>
    h('a', {href: app ? `/docs?app=${app}` : '/docs',
      'aria-current': screen.query.get('app') === app ? 'page' : null}, titleOf(app ?? 'all'))));
  screen.body.before(tabs, h('div', {class: 'toolbar'}, searchField(screen, t('search'), draw)));
  screen.show(list);
  draw();
  tabs.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest', inline: 'center'});
}

const titleOf = name => t(name)[0].toUpperCase() + t(name).slice(1);

/** Lists the operations of the contract: `{method, path, value, parameters}`. */
function operations(contract) {
  return Object.entries(contract.paths).flatMap(([path, item]) => methods.filter(method => item[method])
    .map(method => ({method, path, value: item[method],
      parameters: [...item.parameters ?? [], ...item[method].parameters ?? []].map(one => resolve(contract, one))})));
}

function resolve(contract, value) {
  if (!value?.$ref) return value ?? {};
  return value.$ref.slice(2).split('/').reduce((found, name) => found[name.replace('~1', '/').replace('~0', '~')],
    contract);
}

function sections(contract, all, app, words) {
  const wanted = words.toLowerCase().split(/\s+/);
  const fits = ({method, path, value}) => wanted.every(word =>
    `${method} ${path} ${value.operationId} ${value.summary}`.toLowerCase().includes(word));
  const found = contract.tags.filter(tag => !app || tag.name === app).map(tag => [tag,
    all.filter(one => one.value.tags.includes(tag.name) && fits(one))]).filter(([, list]) => list.length > 0);
  if (found.length === 0) return h('p', {class: 'muted', role: 'status', lang: language},
    t('none'));
  return found.map(([tag, list]) => h('section', {class: 'stack'},
    h('h2', {lang: langOf(titleOf(tag.name)) ?? language}, titleOf(tag.name)), prose(tag.description),
    h('div', {class: 'card routes'}, list.map(one => operation(contract, one)))));
}

function operation(contract, one) {
  const {method, path, value} = one;
  const details = h('details', null, h('summary', null, h('span', {class: 'line route'},
    h('span', null, h('span', {class: `tag method-${method} ${{get: 'ok', delete: 'danger'}[method] ?? 'warn'}`},
      method.toUpperCase())), ' ',
    h('span', {class: 'code'}, path), ' ', h('span', null, value.summary))));
  // 160 routes: the body of one is made when it is opened.
  details.addEventListener('toggle', () => details.open && details.childElementCount === 1
    && details.append(body(contract, one)));
  return details;
}

function body(contract, one) {
  const {value, parameters} = one;
  const [status, example] = sample(contract, value);
  const sent = requestExample(contract, value);
  const part = (title, content) => content && [h('h3', null, title), content];
  return h('div', {class: 'stack'}, prose(value.description),
    h('div', {class: 'bar'}, button(t('curl'), () => copy(curl(one, sent)), {icon: 'copy'})),
    part(t('parameters'), parameters.length > 0 && h('dl', {class: 'facts'}, parameters.map(parameter => [
      h('dt', null, h('span', {class: 'code'}, parameter.name), ' ',
        `${parameter.in}${parameter.required ? `, ${t('required')}` : ''}`),
      h('dd', null, prose(parameter.description) ?? '')]))),
    sent && folded(t('request'), sent.value),
    example !== undefined && folded(`${t('response')} ${status}`, example),
    part(t('statuses'), h('dl', {class: 'facts'}, Object.entries(value.responses).map(([code, response]) => [
      h('dt', null, code), h('dd', null, prose(resolve(contract, response).description))]))));
}

/** Shows an example; a long one is folded. */
function folded(title, value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return h('details', {open: text.split('\n').length < 13}, h('summary', null, title),
    h('pre', {class: 'text-file code', tabindex: '0'}, text));
}

/** Shows the Markdown of the contract: paragraphs, lists, and code in both. */
function prose(markdown) {
  const rows = part => part.split(/\n(?=- )/).map(row => row.replace(/\n(?!\|)/g, ' '));
  const list = items => items.length > 0 && h('ul', {class: 'points'}, items.map(item =>
    h('li', null, withCode(item.replace(/^- /, '')))));
  return markdown ? h('div', {class: 'stack'}, markdown.trim().split(/\n\s*\n/).map(part => {
    const words = rows(part).filter(row => !row.startsWith('- '));
    return [words.length > 0 && h('p', {class: 'prose'}, withCode(words.join(' '))),
      list(rows(part).filter(row => row.startsWith('- ')))];
  })) : null;
}

/** Gives the parts of a text of which every second one is code. */
const withCode = text => text.split('\x60').map((part, index) => (index % 2 ? h('code', null, part) : part));

function exampleOf(contract, media) {
  return media?.example ?? resolve(contract, Object.values(media?.examples ?? {})[0]).value;
}

/** Gives the status of the first success and the example of its body. */
function sample(contract, value) {
  const status = Object.keys(value.responses).find(code => code.startsWith('2')) ?? Object.keys(value.responses)[0];
  const {content = {}} = resolve(contract, value.responses[status]);
  return [status, exampleOf(contract, Object.values(content)[0])];
}

function requestExample(contract, value) {
  const [type, media] = Object.entries(resolve(contract, value.requestBody).content ?? {})[0] ?? [];
  const found = exampleOf(contract, media);
  return found === undefined ? null : {type, value: found};
}

/** Makes the command of an operation: required parameters by their examples, the body by its own. */
function curl({method, path, value, parameters}, sent) {
  const quoted = word => `'${String(word).replaceAll("'", String.raw`'\''`)}'`;
  const given = kind => parameters.filter(one => one.in === kind && one.required && one.example !== undefined);
  const filled = given('path').reduce((made, one) => made.replace(`{${one.name}}`, encodeURIComponent(one.example)),
    path);
  const query = new URLSearchParams(given('query').map(one => [one.name, one.example])).toString();
  const fields = given('header').map(one => `${one.name}: ${one.example}`);
  if (value.security?.some(one => one.bearer)) fields.push('Authorization: Bearer TOKEN');
  if (sent) fields.push(`Content-Type: ${sent.type}`);
  return ['curl', method !== 'get' && `-X ${method.toUpperCase()}`, ...fields.map(field => `-H ${quoted(field)}`),
    sent && `-d ${quoted(typeof sent.value === 'string' ? sent.value : JSON.stringify(sent.value))}`,
    quoted(`${location.origin}${filled}${query && `?${query}`}`)].filter(Boolean).join(' ');
}
