// Disk: lists of files. Recent, folders, search, published, trash, and what is kept offline.

import {call, withQuery} from './api.js';
import {h} from './dom.js';
import {askToDelete, copyOrMove, newFolder, rename, said, shareLink, t as deeds} from './disk-acts.js';
import {downloadOf, nameOf, pageOf, parentOf, showList, sign, sizeOf, tabs, waiting} from './disk-parts.js';
import {enqueue, enqueueFolders} from './disk-tray.js';
import {columns, isGrid, Selection, sortOf, viewButton} from './disk-view.js';
import {icon} from './icons.js';
import {pagedList} from './list.js';
import {ask, copy, menu} from './overlay.js';
import {address, pickFiles, searchField, takeFiles} from './parts.js';
import {define, time, zone} from './texts.js';
import {button, empty} from './ui.js';

const t = define({
  en: {
    find: 'Search the disk', published: 'Published',
    all: 'Everything', images: 'Images',
    tables: 'Tables',
    kind: 'Kind of files', sort: 'Order', name: 'By name', created: 'Oldest first', '-created': 'Newest first',
    '-size': 'Largest first', '-modified': 'Changed last', '-name': 'By name, Z–A', modified: 'Oldest changes',
    size: 'Smallest first', upload: 'Upload',
    wholeFolder: 'Upload a folder', rename: 'Rename',
    copyLink: 'Copy the link',
    way: 'Folder',
    drop: 'Drop files to upload them here',
    type: 'Type a name to search.',
    room: (used, all) => `${used} of ${all} used`,
  },
  ru: {
    find: 'Поиск по диску', published: 'Опубликованные', all: 'Всё',
    images: 'Картинки', tables: 'Таблицы', kind: 'Вид файлов', sort: 'Порядок', name: 'По имени',
    created: 'Старые сверху', '-created': 'Новые сверху', '-size': 'Большие сверху',
    '-modified': 'Новые правки', '-name': 'По имени, Я–А', modified: 'Старые правки', size: 'Малые сверху',
    upload: 'Загрузить',
    wholeFolder: 'Загрузить папку', rename: 'Переименовать',
    copyLink: 'Скопировать ссылку', way: 'Папка',
    drop: 'Отпустите файлы, чтобы загрузить',
    type: 'Введите имя для поиска.',
    room: (used, all) => `занято ${used} из ${all}`,
  },
});

const zoned = (href, values) => withQuery(href, {tz: zone, ...values});
const finding = screen => searchField(screen, t('find'), words => screen.go(withQuery('/disk/search', {q: words})));

/** Opens the recently uploaded files. */
export function openRecent(screen) {
  const href = () => zoned('/v1/disk/recent', {media_type: screen.query.get('media_type')});
  screen.head({title: tabs[0].title, tabs, actions: [screen.refreshButton(() => list.resource)]});
  screen.body.before(h('div', {class: 'toolbar'}, finding(screen),
    choice(screen, 'media_type', t('kind'), {'': t('all'),
    document: t('documents'), image: t('images'), spreadsheet: t('tables')}, () => list.resource.go(href())),
  button(t('upload'), () => pickFiles(chosen => enqueue('disk:/', chosen, () => list.resource.soon(true))),
    {icon: 'upload', kind: 'primary compact', write: true})));
  const list = files(screen, href());
}

/** Opens the search. */
export function openSearch(screen) {
  const href = () => zoned('/v1/disk/search', {q: screen.query.get('q'), sort: screen.query.get('sort'),
    media_type: screen.query.get('media_type')});
  screen.head({title: t('search'), tabs, actions: [screen.refreshButton(() => list?.resource)]});
  let list = null;
  const show = () => {
    if (!screen.query.get('q')) screen.show(h('p', {class: 'muted'}, t('type')));
    else if (list) list.resource.go(href());
    // What is not in a part of the files may be found later.
    else list = files(screen, href(), {empty: (data, {meta}) => empty(data.empty && {title: data.empty.text,
      button: meta.partial && t('retry')}, {icon: 'search', run: () => list.resource.refresh()})});
  };
  const box = searchField(screen, t('find'), show);
  screen.body.before(h('div', {class: 'toolbar'}, box, choice(screen, 'media_type', t('kind'), {'': t('all'),
    document: t('documents'), image: t('images'), spreadsheet: t('tables')}, show),
  choice(screen, 'sort', t('sort'), {'': t('-modified'), name: t('name'), '-created': t('-created'),
    '-size': t('-size')}, show)));
  show();
  if (!box.contains(document.activeElement)) setTimeout(() => box.querySelector('input').focus());
}

/** Opens a folder. */
export function openFiles(screen) {
  const path = screen.query.get('path') || 'disk:/';
  const href = () => zoned('/v1/disk/files', {path, sort: sortOf(screen)});
  const done = () => list.resource.soon(true);
  const send = chosen => enqueue(path, chosen, done);
  const sendFolders = (chosen, entries) => enqueueFolders(path, chosen, done, entries);
  const selection = new Selection(screen, () => list);
  const orders = ['name', '-name', 'created', '-created', 'modified', '-modified', 'size', '-size'];
  const order = choice(screen, 'sort', t('sort'), Object.fromEntries(orders.map(key => [key, t(key)])),
    () => head.sorted(), sortOf(screen));
  const head = columns(screen, () => list.resource.go(href()), sort => { order.value = sort; });
  // Phones know no folders to choose.
  const more = matchMedia('(pointer: fine)').matches && button(t('moreActs'), ({currentTarget}) => {
    menu(currentTarget, t('upload'), [{title: t('wholeFolder'), icon: 'folder',
      run: () => pickFiles(sendFolders, {webkitdirectory: true})}]);
  }, {icon: 'down', bare: true, write: true});
  screen.head({title: nameOf(path), back: path !== 'disk:/' && pageOf({type: 'dir', path: parentOf(path)}), tabs,
    actions: [screen.refreshButton(() => list.resource)]});
  screen.body.before(h('div', {class: 'toolbar'}, finding(screen), order, viewButton(() => list.redraw()),
    selection.button, button(deeds('newFolder'), () => { newFolder(path, () => list.resource.reload(true)); },
      {icon: 'newfolder', write: true, kind: 'compact'}),
    h('div', {class: 'row-end'}, button(t('upload'), () => pickFiles(send),
      {icon: 'upload', kind: 'primary compact', write: true}), more)),
  h('div', {}, path !== 'disk:/' && crumbs(path)), selection.bar, head.element);
  screen.root.dataset.drop = t('drop');
  takeFiles(screen.root, screen.signal, sendFolders);
  const list = files(screen, href(), {selection, head,
    empty: data => empty(data.empty && {title: data.empty.text}, {icon: 'folder'})});
}

/** Opens the published files. */
export function openPublished(screen) {
  screen.head({title: t('published'), back: '/disk/profile', actions: [screen.refreshButton(() => list.resource)]});
  const list = files(screen, zoned('/v1/disk/published'));
}

/** Opens what is kept offline. */
export function openOffline(screen) {
  screen.head({title: t('keptOffline'), back: '/disk/profile', actions: [screen.refreshButton(() => list.resource)]});
  const list = pagedList(screen, {href: zoned('/v1/disk/offline'), key: item => item.path, label: t('keptOffline'),
    row: item => row(item, [item.state_text, item.reason_text, sizeOf(item)], [], () => list,
      item.state === 'fetching' && h('progress', {max: 1, value: item.progress, 'aria-label': item.state_text})),
    before: ({data}) => data.items.length > 0 && h('p', {class: 'muted'},
    t('room', data.bytes_text, data.budget_text))});
}

function files(screen, href, options = {}) {
  const {selection, head} = options;
  const list = pagedList(screen, {href, key: item => item.path, label: screen.title, class: 'files',
    row: item => fileRow(item, () => list, selection),
    empty: options.empty
      ?? (data => empty(data.empty, {icon: 'folder', run: () => list.resource.refresh()})), drawn: () => {
      const grid = Boolean(selection) && isGrid();
      list.element.classList.toggle('gallery-view', grid);
      head?.draw(grid || list.items().length === 0);
      showList(() => list.items());
      selection?.drawn();
    }});
  if (selection) list.element.addEventListener('click', event => selection.press(event), {capture: true});
  return list;
}

function fileRow(item, list, selection) {
  const size = item.type === 'dir' ? null : sizeOf(item)?.replace(' ', '\u00a0');
  const tags = [item.kept_offline && ['jar', t('keptOffline')], item.published
    && location.pathname !== '/disk/published' && ['link', t('isPublic')]].filter(Boolean);
  const at = item.modified_at ?? item.created_at;
  return row(item, [item.folder?.name, at && short(at), size], tags, list, null, selection);
}

/** Makes the time of a row; a phone has no room for that of day. */
function short(at) {
  const day = time(at, {dateStyle: 'medium'});
  return [day, h('span', {class: 'wide-only'}, time(at).slice(day.length))];
}

function row(item, facts, tags, list, extra = null, selection = null) {
  const names = ['fact-folder', 'fact-date', `fact-size ${item.folder ? 'wide-only' : ''}`];
  const element = h('li', {class: 'row', dataset: {path: item.path}}, selection?.box(item),
    sign(item, selection && isGrid() ? 180 : 44),
    h('div', {class: 'row-main'},
    // A name that is too long breaks before its extension.
    h('a', {class: 'row-link', href: pageOf(item), dir: 'auto'},
      item.name.split(/(?=\.\w+$)/).map((part, index) => [index > 0 && h('wbr'), part])),
    h('span', {class: 'row-sub'}, tags.length > 0 && h('span', {class: 'row-tags'}, tags.map(([image, title]) =>
      h('span', {class: 'row-tag', title, role: 'img', 'aria-label': title}, icon(image, 16)))),
    facts.map((fact, index) => fact && h('span', {class: names[index]}, fact))),
    waiting(item), extra),
  h('div', {class: 'row-end'}, item.type !== 'dir' && h('a', {class: 'button bare row-download',
    href: downloadOf(item), download: item.name, title: t('download'), 'aria-label': `${t('download')}: ${item.name}`},
  icon('download')), button(t('acts', item.name), event => acts(event.currentTarget, item, list()),
    {bare: true, icon: 'more'})));
  element.swipe = () => [...sent(item, list()).filter(entry => /offline/.test(entry.id)), removal(item, list())];
  return element;
}

const signs = {unpublish: 'link', keep_offline: 'jar', remove_offline: 'close'};

/** The entries of a menu that the server sends with a row. */
function sent(item, list) {
  return (item.actions ?? []).filter(action => action.id in signs).map(action => ({id: action.id, title: action.title,
    icon: signs[action.id], run: async headers => {
      if (!headers && action.confirm && !await ask(action.confirm, action.title)) return;
      const answer = await call(action.href, {method: action.method, body: action.body, headers});
      if (answer.left) said(answer);
      await list.resource.reload();
    }}));
}

const removal = (item, list) => ({title: t('remove'), icon: 'trash', kind: 'danger',
  run: () => askToDelete([item], () => list.resource.reload(true))});

function acts(opener, item, list) {
  const again = () => list.resource.reload(true);
  menu(opener, item.name, [item.type !== 'dir' && {title: t('download'), icon: 'download', href: downloadOf(item),
    download: item.name}, ...sent(item, list),
    // The link of one that has an end is asked for, because it may have ended.
    item.public_url && !item.available_until ? {title: t('copyLink'), icon: 'share', run: () => copy(item.public_url)}
      : {title: deeds('shareLink'), icon: 'share', run: () => shareLink(item).then(again)},
    {title: t('rename'), icon: 'edit', run: async () => { if (await rename(item)) await again(); }},
    {title: t('move'), icon: 'moveto', run: () => copyOrMove('move', [item], again)},
    {title: t('copy'), icon: 'copy', run: () => copyOrMove('copy', [item], again)},
    removal(item, list)]);
}

function choice(screen, name, label, options, changed, value = screen.query.get(name) ?? '') {
  return h('select', {class: 'field-input narrow', 'aria-label': label, value,
    onchange: event => { address(screen, {[name]: event.target.value}); changed(); }},
  Object.entries(options).map(([key, title]) => h('option', {value: key, selected: key === value}, title)));
}

function crumbs(path) {
  const names = path.replace(/^disk:/, '').split('/').filter(Boolean);
  const links = [['disk:/', nameOf('disk:/')], ...names.map((name, index) =>
    [`disk:/${names.slice(0, index + 1).join('/')}`, name])];
  return h('nav', {'aria-label': t('way')}, h('ol', {class: 'crumbs'}, links.map(([to, name], index) => h('li', null,
    index > 0 && icon('right', 14), index === links.length - 1 ? h('span', {'aria-current': 'page', dir: 'auto'}, name)
      : h('a', {href: withQuery('/disk/files', {path: to}), dir: 'auto'}, name)))));
}
