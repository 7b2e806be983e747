// PDF: welcome and the list of documents.

import {call, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {askName} from './form.js';
import {pagedList} from './list.js';
import {ask, attempt, menu, toast} from './overlay.js';
import {forgetDrafts, searchField} from './parts.js';
import {define, langOf, time} from './texts.js';
import {openTrash, remove, t as bin} from './trash.js';
import {button, empty, linkButton, picture, skeleton, words} from './ui.js';

const t = define({
  en: {
    search: 'Search documents',
    nothingText: 'No document has these words in its name.',
    second: 'Choose the second document',
    merged: name => `Made: ${name}`,
    first: name => `Its pages come after those of “${name}”.`,
    list: 'Saved documents', drafts: 'Not saved yet',
    discard: 'Discard',
  },
  ru: {
    search: 'Поиск документов',
    nothingText: 'Нет документов с такими словами в имени.',
    second: 'Выберите второй документ', merged: name => `Готово: ${name}`,
    first: name => `Его страницы встанут после страниц «${name}».`,
    list: 'Сохранённые документы', drafts: 'Ещё не сохранены',
    discard: 'Удалить',
  },
});

/** The screens of PDF. */
export const routes = [
  {path: '/pdf', open: openList},
  {path: '/pdf/welcome', open: openWelcome},
  {path: '/pdf/trash', open: screen => openTrash(screen, {href: '/v1/pdf/trash', back: '/pdf',
    icon: 'pdf', name: item => `${item.name}.${item.extension}`})},
  {path: '/pdf/new', open: async screen => (await import('./pdf-new.js')).openNew(screen)},
  {path: '/pdf/:id', open: async screen => (await import('./pdf-reader.js')).openReader(screen)},
];

async function openWelcome(screen) {
  screen.head({title: 'PDF', quiet: true});
  const {data} = await call('/v1/pdf/welcome', {signal: screen.signal});
  const begin = async () => {
    await call('/v1/pdf/welcome', {method: 'PUT', body: {seen: true}});
    await screen.go('/pdf', {replace: true});
  };
  screen.show(h('div', {class: 'welcome', lang: langOf(data.title)}, h('h2', {class: 'hero-title'}, data.title),
    h('p', {class: 'hero-lead'}, data.text), h('ul', {class: 'features'},
      data.features.map(feature => h('li', {class: 'card'},
      h('h3', null, feature.title), h('p', {class: 'muted'}, feature.text)))),
    h('div', null, button(data.button, begin, {kind: 'primary', write: true}))));
}

async function openList(screen) {
  const merging = new Merge(screen, () => list);
  const href = query => withQuery('/v1/pdf/documents', {q: query});
  screen.head({title: t('documents'), actions: [
    linkButton(t('newDocument'), '/pdf/new', {kind: 'primary compact', icon: 'plus'})]});
  screen.body.before(h('div', {class: 'toolbar'},
    searchField(screen, t('search'), typed => list?.resource.go(href(typed))),
    linkButton(bin('trash'), '/pdf/trash', {icon: 'trash', kind: 'quiet compact'})), merging.bar,
  draftShelf(screen, () => list));
  let list = null;
  if (!screen.memory.welcomed) {
    screen.show(skeleton());
    const {data} = await call('/v1/pdf/launch', {signal: screen.signal});
    if (data.route.screen === 'pdf.welcome') { await screen.go('/pdf/welcome', {replace: true}); return; }
    screen.memory.welcomed = true;
  }
  list = pagedList(screen, {
    href: href(screen.query.get('q')), key: item => item.id, label: t('list'), class: 'documents',
    row: item => documentRow(item, () => list, merging),
    empty: data => (screen.query.get('q') ? empty({title: t('nothing'), text: t('nothingText')}, {icon: 'search'})
      : empty(data.empty, {icon: 'pdf', href: '/pdf/new'})),
  });
}

/** Makes the shelf of the documents that are not saved yet; without any it is not there. */
function draftShelf(screen, list) {
  const shelf = h('section', {class: 'card stack drafts', hidden: true, 'aria-label': t('drafts')});
  const drafts = screen.load('/v1/pdf/drafts', ({data}) => {
    shelf.hidden = data.items.length === 0;
    replace(shelf, h('h2', null, t('drafts')), h('ul', {class: 'rows', role: 'list'}, data.items.map(item =>
      draftRow(item, () => Promise.all([drafts.reload(), list()?.resource.reload()])))));
  }, {place: h('div'), quiet: true, problem: () => null});
  return shelf;
}

function draftRow(item, again) {
  const [save, remove] = ['save', 'delete'].map(id => item.actions.find(action => action.id === id));
  const send = async (action, said) => {
    await call(action.href, {method: action.method, body: action.method === 'POST' ? {} : undefined});
    if (action === remove) forgetDrafts(`pdf.${item.id}`);
    await again();
    toast(said);
  };
  const size = Math.round(112 * (devicePixelRatio || 1));
  const leaf = picture(withQuery(item.thumbnail_url, {width: size}), '', {class: 'leaf', sign: 'pdf'});
  return h('li', {class: 'row'}, leaf,
    h('div', {class: 'row-main'}, h('a', {class: 'row-link', href: `/pdf/${item.id}`, dir: 'auto'}, item.name),
      h('span', {class: 'row-sub', lang: langOf(item.page_count_text)},
        [item.page_count_text, bin('until', time(item.draft_until))].join(' · '))),
    h('div', {class: 'row-end'},
      button(save.title, () => send(save, t('saved')), {write: true}),
      button(t('discard'), async () => await ask(remove.confirm) && send(remove, t('docGone')),
        {bare: true, icon: 'trash', write: true})));
}

function documentRow(item, list, merging) {
  const more = button(t('acts', item.name), () => menu(more, t('acts', item.name),
    entriesOf(item, list(), merging)), {bare: true, icon: 'more'});
  const open = event => merging.take(event, item);
  const size = Math.round(112 * (devicePixelRatio || 1));
  const row = h('li', {class: 'row', oncontextmenu: event => { event.preventDefault(); more.click(); }},
    picture(withQuery(item.thumbnail_url, {width: size}), '', {class: 'leaf', sign: 'pdf'}),
    h('div', {class: 'row-main'}, h('a', {class: 'row-link', href: `/pdf/${item.id}`, dir: 'auto', onclick: open},
      `${item.name}.${item.extension}`), h('span', {class: 'row-sub', lang: langOf(item.page_count_text)},
      [time(item.created_at, {dateStyle: 'medium'}), item.page_count_text, item.size_text].map((fact, index) =>
        h('span', {class: index === 2 && 'wide-only'}, fact)))),
    h('div', {class: 'row-end'}, more));
  row.swipe = () => entriesOf(item, list(), merging, ['rename', 'delete']);
  return row;
}

/** The entries of a document's menu that the server allows, in their order. */
function entriesOf(item, list, merging, ids = ['share', 'rename', 'merge', 'delete']) {
  const again = () => list.resource.reload();
  const entries = {
    share: action => ({title: action.title, icon: 'share', href: withQuery(action.href, {disposition: 'attachment'}),
      download: `${item.name}.${item.extension}`}),
    rename: action => ({title: action.title, icon: 'edit', run: () => askName(action.title, async name => {
      await call(action.href, {method: action.method, body: {name}});
      await again();
    }, {value: item.name, maxlength: 200})}),
    merge: action => ({title: action.title, icon: 'merge', run: () => merging.begin(item, action)}),
    delete: action => ({title: action.title, icon: 'trash', kind: 'danger',
    run: () => remove(action, t('docGone'), () => { forgetDrafts(`pdf.${item.id}`); return again(); })}),
  };
  const sent = Object.fromEntries(item.actions.filter(action => action.enabled).map(action => [action.id, action]));
  return ids.filter(id => sent[id]).map(id => entries[id](sent[id]));
}

/** The choice of the second document of a merge. */
class Merge {
  constructor(screen, list) {
    Object.assign(this, {screen, list, first: null, bar: h('div', {class: 'selection', role: 'status', hidden: true})});
    document.addEventListener('keydown', event => this.first && event.key === 'Escape' && this.end(),
      {signal: screen.signal});
  }

  begin(item, action) {
    Object.assign(this, {first: item, action});
    this.screen.root.classList.add('merging');
    this.bar.hidden = false;
    replace(this.bar, h('p', {class: 'grow'}, h('strong', null, t('second')), h('br'),
      words('span', {class: 'muted note-line'}, t('first', item.name))),
      button(t('cancel'), () => this.end(), {icon: 'close'}));
    this.bar.querySelector('button').focus();
    this.mark(true);
  }

  /** A document is not merged with itself. */
  mark(on) {
    for (const row of this.list().element.children) row.inert = on && row.rowKey === this.first.id;
  }

  end() {
    this.mark(false);
    this.first = null;
    this.bar.hidden = true;
    this.screen.root.classList.remove('merging');
  }

  take(event, item) {
    if (!this.first || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (item.id !== this.first.id) attempt(() => this.send(item));
  }

  async send(item) {
    const {data} = await call(this.action.href, {method: this.action.method,
      body: {first: this.first.id, second: item.id}});
    this.end();
    await this.list().resource.reload();
    toast(t('merged', data.name), {action: {title: t('open'), run: () => this.screen.go(`/pdf/${data.id}`)}});
  }
}
