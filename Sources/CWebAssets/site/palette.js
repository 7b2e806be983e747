// One search over all apps, and every place and act by its name: Ctrl+K, or the glass in the head of the page.

import {call, quietly, withQuery} from './api.js';
import {glyphOf, pageOf} from './disk-parts.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {withSigns} from './notes-text.js';
import {dialog} from './overlay.js';
import {define, langOf, t as common, zone} from './texts.js';

const t = define({
  en: {
    hint: 'Files, products, documents, ships, notes, people…',
    trash: 'Trash of the Disk',
  },
  ru: {
    hint: 'Файлы, товары, документы, корабли, заметки, люди…',
    trash: 'Корзина Диска',
  },
});

/** Where is searched: the list, and how a hit is shown. */
const sources = [
  {app: 'disk', href: withQuery('/v1/disk/search', {tz: zone}), name: item => item.name, page: pageOf,
    about: item => item.folder?.name},
  {app: 'notes', sign: 'notes', href: withQuery('/v1/notes', {tz: zone}),
    name: item => withSigns(item.first_line),
    page: item => `/notes/${item.id}`, about: item => item.modified_text},
  {app: 'pdf', sign: 'pdf', href: '/v1/pdf/documents', name: item => item.name, page: item => `/pdf/${item.id}`,
    about: item => item.page_count_text},
  {app: 'shop', sign: 'shop', href: '/v1/shop/search?peek=1', name: item => item.title,
    page: item => `/shop/${item.id}`, about: item => item.price_text},
  {app: 'ships', sign: 'ships', href: '/v1/ships', name: item => item.name, page: item => `/ships/${item.id}`,
    about: item => item.type_text},
  {app: 'notes', title: 'people', sign: 'user', href: '/v1/notes/people', name: item => item.full_name,
    page: item => `/notes/people/${item.id}`, about: item => item.email},
];
const most = 4;
const places = () => [
  ...['disk', 'shop', 'pdf', 'ships', 'notes'].map(app => ({name: common(app), page: `/${app}`, sign: app})),
  {name: common('status'), page: '/status', sign: 'gauge'}, {name: common('home'), page: '/', sign: 'home'},
  {name: t('newNote'), page: '/notes/new', sign: 'plus'}, {name: t('newDocument'), page: '/pdf/new', sign: 'plus'},
  {name: t('cart'), page: '/shop/list', sign: 'cart'}, {name: t('map'), page: '/notes/map', sign: 'map'},
  {name: t('people'), page: '/notes/people', sign: 'people'}, {name: t('trash'), page: '/disk/trash', sign: 'trash'},
  {name: t('outbox'), page: '/disk/outbox', sign: 'upload'}];

/** Opens it; `go` opens the page that was chosen. */
export async function openPalette(go) {
  if (document.querySelector('.palette')) return;
  const page = await dialog(t('kAll'), close => new Palette(close).nodes, {wide: true});
  if (page) go(page);
}

class Palette {
  constructor(close) {
    Object.assign(this, {close, groups: new Map(), at: 0, turn: 0});
    this.input = h('input', {type: 'search', class: 'field-input', role: 'combobox', autofocus: true,
      'aria-label': t('kAll'), 'aria-expanded': 'true', 'aria-controls': 'palette-hits', 'aria-autocomplete': 'list',
      placeholder: t('hint'), autocomplete: 'off', enterkeyhint: 'go', oninput: () => this.type(),
      onkeydown: event => this.press(event)});
    this.hits = h('div', {id: 'palette-hits', class: 'palette', role: 'listbox', 'aria-label': t('kAll')});
    this.said = h('p', {class: 'muted small', role: 'status'});
    this.nodes = [h('div', {class: 'search-field'}, icon('search'), this.input), this.said, this.hits];
    this.type();
  }

  type() {
    const words = this.input.value.trim();
    const turn = ++this.turn;
    const fits = ({name}) => words.toLowerCase().split(/\s+/).every(word => name.toLowerCase().includes(word));
    this.groups = new Map([[t('kGo'), places().filter(fits).slice(0, words ? 5 : 20)]]);
    this.at = 0;
    this.draw();
    clearTimeout(this.timer);
    if (words) this.timer = setTimeout(() => this.search(words, turn), 200);
  }

  /** Asks every app at once; each is shown as it comes. One without a session, or without a connection, has nothing. */
  async search(words, turn) {
    await Promise.all(sources.map(async source => {
      const {items} = (await quietly(call(withQuery(source.href, {q: words}))))?.data ?? {items: []};
      if (turn !== this.turn) return;
      const found = items.slice(0, most).map(item => ({name: source.name(item) ?? '', page: source.page(item),
        sign: source.sign ?? glyphOf(item), about: source.about(item)}));
      if (found.length) this.groups.set(source.title ? t(source.title) : common(source.app), found);
      this.draw();
    }));
    if (turn === this.turn) this.tell('nothing');
  }

  /** Says in place of hits, while there are none, why. */
  tell(why) { replace(this.said, [...this.groups.values()].some(hits => hits.length) ? null : t(why)); }

  draw() {
    let index = -1;
    replace(this.hits, [...this.groups].filter(([, hits]) => hits.length).map(([title, hits]) => h('div',
      {role: 'group', 'aria-label': title}, h('p', {class: 'palette-title', 'aria-hidden': 'true'}, title),
      hits.map(hit => {
        index += 1;
        return h('div', {role: 'option', id: `palette-${index}`, class: 'palette-hit', 'aria-selected': 'false',
          dataset: {page: hit.page}, onclick: () => this.close(hit.page)}, icon(hit.sign),
        h('span', {class: 'palette-name', dir: 'auto', lang: langOf(hit.name)}, hit.name),
        hit.about && h('span', {class: 'muted small', lang: langOf(hit.about)}, hit.about));
      }))));
    this.mark();
    this.tell('loading');
  }

  mark() {
    const all = [...this.hits.querySelectorAll('[role=option]')];
    this.at = Math.max(0, Math.min(this.at, all.length - 1));
    all.forEach((one, index) => one.setAttribute('aria-selected', String(index === this.at)));
    if (all.length) this.input.setAttribute('aria-activedescendant', `palette-${this.at}`);
    else this.input.removeAttribute('aria-activedescendant');
    all[this.at]?.scrollIntoView({block: 'nearest'});
    return all;
  }

  press(event) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const all = this.hits.querySelectorAll('[role=option]');
    if (step && all.length) {
      event.preventDefault();
      this.at = (this.at + step + all.length) % all.length;
      this.mark();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (all[this.at]) this.close(all[this.at].dataset.page);
    } else if (event.key === 'Escape') {
      // In a search field, the browser would empty it first.
      event.preventDefault();
      this.close(null);
    }
  }
}
