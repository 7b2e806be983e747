// Apps that have no pages of their own: any list and any single thing, drawn from the members of their screens.

import {call, withQuery} from './api.js';
import {h} from './dom.js';
import {pagedList} from './list.js';
import {searchField} from './parts.js';
import {drawnApps} from './screen.js';
import {langOf, t} from './texts.js';
import {picture, words} from './ui.js';

export const routes = [{path: '/:app', open}, {path: '/:app/:id', open}];

let asked;

/**
 * Gives the apps of this server that have no pages of their own, by name.
 * @returns {Promise<Map<string, {app: string, title: string, screens: Array<Object>}>>}
 */
export async function ownApps() {
  asked ??= call('/v1');
  try {
    const {data} = await asked;
    return new Map(data.apps.filter(({app}) => !drawnApps.includes(app)).map(one => [one.app, one]));
  } catch (problem) {
    asked = null;
    throw problem;
  }
}

/** Shows the screen at the address of the page below `/v1`: its facts, then its rows. */
async function open(screen) {
  const {app, title, screens} = (await ownApps()).get(screen.params.app);
  const path = `/v1${screen.path}`;
  const {template} = screens.find(one => one.method === 'GET' && fits(one.href, path)) ?? {template: ''};
  const href = query => withQuery(path, {q: query});
  const head = data => screen.head({title: nameOf(data) ?? title, back: screen.params.id && `/${app}`,
    actions: [screen.refreshButton(() => list.resource)]});
  head({});
  if (/[?,]q[,}]/.test(template)) {
    screen.body.before(h('div', {class: 'toolbar'},
      searchField(screen, t('search'), typed => list.resource.go(href(typed)))));
  }
  const list = pagedList(screen, {href: href(screen.query.get('q')), label: title, row,
    key: item => item.id ?? JSON.stringify(item), items: data => data.items ?? [], before: ({data}) => facts(data),
    drawn: ({data}) => head(data)});
  screen.on('connectivity', () => list.resource.soon());
  await list.resource.ready;
}

function fits(pattern, path) {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  return wanted.length === given.length && wanted.every((part, index) => part.startsWith('{') || part === given[index]);
}

const nameOf = item => item.name ?? item.title ?? item.full_name;
const textsOf = item => Object.entries(item).filter(([name, text]) => name.endsWith('_text') && text);
const pictureOf = item => item.image_url ?? item.avatar_url;

function row(item) {
  const name = nameOf(item) ?? item.id;
  const page = item.href?.replace(/^\/v1/, '');
  return h('li', {class: 'row'}, pictureOf(item) && picture(pictureOf(item), '', {class: 'thumb'}),
    h('div', {class: 'row-main'}, page ? h('a', {class: 'row-link', href: page, lang: langOf(name)}, name)
      : words('span', {}, name),
    words('span', {class: 'row-sub'}, textsOf(item).map(([, text]) => text).join(' · '))));
}

/** Makes the facts of a screen: those that it lists, else its texts by the names of their members. */
function facts(data) {
  const rows = data.facts?.map(({title, text}) => [title, text])
    ?? textsOf(data).map(([name, text]) => [name.replace(/_text$/, '').replaceAll('_', ' '), text]);
  return [data.summary_text && data.facts && words('p', {}, data.summary_text),
    pictureOf(data) && picture(pictureOf(data), nameOf(data) ?? '', {class: 'ship-image', eager: true}),
    rows.length > 0 && h('dl', {class: 'facts'}, rows.map(([title, text]) => [words('dt', {}, title),
      words('dd', {}, text)]))];
}
