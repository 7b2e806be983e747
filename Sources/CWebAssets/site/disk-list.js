// Disk: lists of files. Recent, folders, search, published, trash, and what is kept offline.

import {call, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {pagedList} from './list.js';
import {ask, copy, menu, toast} from './overlay.js';
import {address, pickFiles, searchField, takeFiles} from './parts.js';
import {tabs} from './disk.js';
import {askToDelete, copyOrMove, newFolder, rename, said, shareLink} from './disk-acts.js';
import {enqueue} from './disk-tray.js';
import {define, langOf, time, zone} from './texts.js';
import {button, empty, linkButton, picture, words} from './ui.js';

const t = define({
  en: {
    recent: 'Recent', root: 'Disk', search: 'Search the disk', found: 'Search',
    published: 'Published',
    trash: 'Trash', offline: 'Kept offline', all: 'Everything', documents: 'Documents', images: 'Images',
    tables: 'Tables',
    kind: 'Kind of files', sort: 'Order', name: 'Name', created: 'Oldest first', '-created': 'Newest first',
    '-size': 'Largest first', modified: 'Changed', folder: 'New folder', upload: 'Upload', select: 'Select',
    done: 'Done',
    rename: 'Rename', move: 'Move', copy: 'Copy', remove: 'Delete', chosen: count => `${count} selected`,
    choose: name => `Select ${name}`,
    more: name => `Actions for ${name}`, link: 'Share link', copyLink: 'Copy the link',
    way: 'Folder', nothing: 'Nothing found',
    nothingText: 'No file has these words in its name.', emptyFolder: 'This folder is empty',
    emptyFolderText: 'Drop files here, or upload them.', emptyTrash: 'The trash is empty',
    gone: 'Deleted for good',
    restored: name => `${name} is back`, was: path => `was in ${path}`, drop: 'Drop files to upload them here',
    isOffline: 'Kept offline', isPublic: 'Published', type: 'Type a name to search.', nothingYet: 'Nothing here yet',
    room: (used, all) => `${used} of ${all} used`,
  },
  ru: {
    recent: 'Недавние', root: 'Диск', search: 'Поиск по диску', found: 'Поиск',
    published: 'Опубликованные', trash: 'Корзина', offline: 'Доступно офлайн', all: 'Всё', documents: 'Документы',
    images: 'Картинки', tables: 'Таблицы', kind: 'Вид файлов', sort: 'Порядок', name: 'По имени',
    created: 'Сначала старые', '-created': 'Сначала новые', '-size': 'Сначала большие', modified: 'По изменению',
    folder: 'Новая папка', upload: 'Загрузить', select: 'Выбрать', done: 'Готово', move: 'Переместить',
    rename: 'Переименовать', copy: 'Копировать',
    remove: 'Удалить', chosen: count => `Выбрано: ${count}`, choose: name => `Выбрать ${name}`,
    more: name => `Действия: ${name}`, link: 'Поделиться ссылкой', copyLink: 'Скопировать ссылку', way: 'Папка',
    nothing: 'Ничего не найдено', nothingText: 'Нет файлов с такими словами в имени.', emptyFolder: 'Папка пуста',
    emptyFolderText: 'Перетащите сюда файлы или загрузите их.', emptyTrash: 'Корзина пуста',
    gone: 'Удалено навсегда',
    restored: name => `${name} снова на месте`, was: path => `было в ${path}`, drop: 'Отпустите файлы, чтобы загрузить',
    isOffline: 'Доступно офлайн', isPublic: 'Опубликовано', type: 'Введите имя для поиска.', nothingYet: 'Пока пусто',
    room: (used, all) => `занято ${used} из ${all}`,
  },
});

/** Gives the page of a file or folder. */
export function pageOf({type, path}) { return withQuery(type === 'dir' ? '/disk/files' : '/disk/file', {path}); }

const zoned = (href, values) => withQuery(href, {tz: zone, ...values});
const finding = screen => searchField(screen, t('search'), words => screen.go(withQuery('/disk/search', {q: words})));

/** Opens the recently uploaded files. */
export function openRecent(screen) {
  const href = () => zoned('/v1/disk/recent', {media_type: screen.query.get('media_type')});
  screen.head({title: t('recent'), tabs, actions: [screen.refreshButton(() => list.resource)]});
  screen.body.before(h('div', {class: 'toolbar'}, finding(screen),
    choice(screen, 'media_type', t('kind'), {'': t('all'),
    document: t('documents'), image: t('images'), spreadsheet: t('tables')}, () => list.resource.go(href()))));
  const list = files(screen, href());
}

/** Opens the search. */
export function openSearch(screen) {
  const href = () => zoned('/v1/disk/search', {q: screen.query.get('q'), sort: screen.query.get('sort'),
    media_type: screen.query.get('media_type')});
  screen.head({title: t('found'), tabs, actions: [screen.refreshButton(() => list?.resource)]});
  let list = null;
  const show = () => {
    if (!screen.query.get('q')) screen.show(h('p', {class: 'muted'}, t('type')));
    else if (list) list.resource.go(href());
    else list = files(screen, href(), {empty: () => empty({title: t('nothing'), text: t('nothingText')},
      {icon: 'search'})});
  };
  const box = searchField(screen, t('search'), show);
  screen.body.before(h('div', {class: 'toolbar'}, box, choice(screen, 'media_type', t('kind'), {'': t('all'),
    document: t('documents'), image: t('images'), spreadsheet: t('tables')}, show),
  choice(screen, 'sort', t('sort'), {'': t('modified'), name: t('name'), '-created': t('-created'),
    '-size': t('-size')}, show)));
  show();
  if (!box.contains(document.activeElement)) setTimeout(() => box.querySelector('input').focus());
}

/** Opens a folder. */
export function openFiles(screen) {
  const path = screen.query.get('path') || 'disk:/';
  const href = () => zoned('/v1/disk/files', {path, sort: screen.query.get('sort')});
  const send = chosen => enqueue(path, chosen, () => list.resource.soon(true));
  const selection = new Selection(screen, () => list);
  screen.head({title: nameOf(path), tabs, actions: [screen.refreshButton(() => list.resource)]});
  screen.body.before(h('div', {class: 'toolbar'}, finding(screen), choice(screen, 'sort', t('sort'), {'': t('created'),
    '-created': t('-created'), name: t('name'), '-modified': t('modified'), '-size': t('-size')},
  () => list.resource.go(href())), selection.button,
  button(t('folder'), () => { newFolder(path, () => list.resource.reload(true)); }, {icon: 'folder', write: true,
    kind: 'compact'}),
  button(t('upload'), () => pickFiles(send), {icon: 'upload', kind: 'primary compact', write: true})), crumbs(path),
    selection.bar);
  screen.root.dataset.drop = t('drop');
  takeFiles(screen.root, screen.signal, send);
  const list = files(screen, href(), {selection,
    empty: data => empty(data.empty ?? {title: t('emptyFolder'), text: t('emptyFolderText')}, {icon: 'folder'})});
}

/** Opens the published files. */
export function openPublished(screen) {
  screen.head({title: t('published'), back: '/disk/profile', actions: [screen.refreshButton(() => list.resource)]});
  const list = files(screen, zoned('/v1/disk/published'));
}

/** Opens what is kept offline. */
export function openOffline(screen) {
  screen.head({title: t('offline'), back: '/disk/profile', actions: [screen.refreshButton(() => list.resource)]});
  const list = pagedList(screen, {href: zoned('/v1/disk/offline'), key: item => item.path, label: t('offline'),
    row: item => row(item, [item.state_text, item.reason_text, item.size_text], [], () => list,
      item.state === 'fetching' && h('progress', {max: 1, value: item.progress, 'aria-label': item.state_text})),
    before: ({data}) => data.items.length > 0 && h('p', {class: 'muted'},
    t('room', data.bytes_text, data.budget_text))});
}

/** Opens the trash. */
export function openTrash(screen) {
  const run = async (action, item) => {
    if (action.confirm && !await ask(action.confirm)) return;
    await call(action.href, {method: action.method, body: action.body});
    await list.resource.reload(true);
    toast(action.id === 'restore' ? t('restored', item.name) : t('gone'));
  };
  const act = (action, item, options) => button(action.title, () => run(action, item), {write: true,
    disabled: !action.enabled, ...options});
  screen.head({title: t('trash'), back: '/disk/profile', actions: [screen.refreshButton(() => list.resource)]});
  const list = pagedList(screen, {href: zoned('/v1/disk/trash'), key: item => item.path, label: t('trash'),
    before: ({data}) => data.items.length > 0
      && h('div', {class: 'toolbar'}, data.actions.map(action => act(action, null, {}))),
    empty: () => empty({title: t('emptyTrash')}, {icon: 'trash'}), row: item => h('li', {class: 'row'}, sign(item),
      h('div', {class: 'row-main'}, h('span', {class: 'row-name', dir: 'auto'}, item.name),
        h('span', {class: 'row-sub'}, [item.deleted_text, item.origin && t('was', parentOf(item.origin).slice(5))]
          .filter(Boolean).join(' · '))),
      h('div', {class: 'row-end'}, item.actions.map(action => (action.id === 'restore'
        ? act(action, item, {icon: 'rotate', kind: 'compact'})
        : act(action, item, {icon: 'trash', bare: true, key: 'delete'})))))});
}

function files(screen, href, options = {}) {
  const list = pagedList(screen, {href, key: item => item.path, label: screen.title,
    row: item => fileRow(item, () => list, options.selection),
    empty: options.empty ?? (data => empty(data.empty ?? {title: t('nothingYet')}, {icon: 'folder',
      run: () => list.resource.refresh()})), drawn: () => options.selection?.drawn()});
  return list;
}

function fileRow(item, list, selection) {
  const size = item.type === 'dir' ? null : item.size_text?.replace(' ', '\u00a0');
  const tags = [item.kept_offline && ['check', t('isOffline')], item.published
    && ['link', t('isPublic')]].filter(Boolean);
  return row(item, [item.folder?.name, item.created_text, size], tags, list, null, selection);
}

function row(item, facts, tags, list, extra = null, selection = null) {
  return h('li', {class: 'row', dataset: {path: item.path}}, selection?.box(item), sign(item),
    h('div', {class: 'row-main'},
    h('a', {class: 'row-link', href: pageOf(item), dir: 'auto'}, item.name),
    h('span', {class: 'row-sub'}, facts.filter(Boolean).join(' · '), tags.map(([image, title]) =>
      h('span', {class: 'row-tag', title, role: 'img', 'aria-label': title}, icon(image, 16)))), waiting(item), extra),
  h('div', {class: 'row-end'}, button(t('more', item.name), event => acts(event.currentTarget, item, list()),
    {bare: true, icon: 'more'})));
}

/** Says that a change of a file waits in the outbox; nothing if none does. */
export function waiting({pending}) {
  return pending && h('span', {class: 'waits', dataset: {state: pending.state}, lang: langOf(pending.state_text),
    title: time(pending.since)}, icon('upload', 16), `${pending.kind_text}: ${pending.state_text}`,
  h('span', {class: 'hidden'}, `, ${time(pending.since)}`));
}

/** Makes the picture or the sign of a file. */
export function sign(item) {
  if (item.preview_url) return picture(item.preview_url, '', {class: 'thumb file-thumb', sign: 'image'});
  const signs = {folder: 'folder', image: 'image'};
  return h('span', {class: `file-sign kind-${item.icon}`}, icon(signs[item.icon] ?? 'file', 24));
}

function acts(opener, item, list) {
  const again = () => list.resource.reload(true);
  const signs = {unpublish: 'link', keep_offline: 'download', remove_offline: 'close'};
  const sent = (item.actions ?? []).filter(action => action.id in signs).map(action => ({title: action.title,
    icon: signs[action.id], run: async headers => {
      if (!headers && action.confirm && !await ask(action.confirm, action.title)) return;
      const answer = await call(action.href, {method: action.method, body: action.body, headers});
      if (answer.left) said(answer);
      await list.resource.reload();
    }}));
  menu(opener, item.name, [...sent,
    // The link of one that has an end is asked for, because it may have ended.
    item.public_url && !item.available_until ? {title: t('copyLink'), icon: 'share', run: () => copy(item.public_url)}
      : {title: t('link'), icon: 'share', run: headers => shareLink(item.path, headers).then(again)},
    {title: t('rename'), icon: 'edit', run: async () => { if (await rename(item)) await again(); }},
    {title: t('move'), icon: 'right', run: () => copyOrMove('move', [item], again)},
    {title: t('copy'), icon: 'copy', run: () => copyOrMove('copy', [item], again)},
    {title: t('remove'), icon: 'trash', kind: 'danger', run: () => askToDelete([item], again)}]);
}

function choice(screen, name, label, options, changed) {
  return h('select', {class: 'field-input narrow', 'aria-label': label, value: screen.query.get(name) ?? '',
    onchange: event => { address(screen, {[name]: event.target.value}); changed(); }},
  Object.entries(options).map(([value, title]) => h('option',
    {value, selected: value === (screen.query.get(name) ?? '')},
    title)));
}

const nameOf = path => path.split('/').filter(Boolean).slice(1).at(-1) ?? t('root');

/** Gives the folder of a path. */
export function parentOf(path) {
  const at = path.replace(/\/$/, '').lastIndexOf('/');
  return path.slice(0, Math.max(at, path.indexOf('/') + 1));
}

function crumbs(path) {
  const names = path.replace(/^disk:/, '').split('/').filter(Boolean);
  const links = [['disk:/', t('root')], ...names.map((name, index) => [`disk:/${names.slice(0, index + 1).join('/')}`,
    name])];
  return h('nav', {'aria-label': t('way')}, h('ol', {class: 'crumbs'}, links.map(([to, name], index) => h('li', null,
    index > 0 && icon('right', 14), index === links.length - 1 ? h('span', {'aria-current': 'page', dir: 'auto'}, name)
      : h('a', {href: withQuery('/disk/files', {path: to}), dir: 'auto'}, name)))));
}

/** What is selected in a folder, and the bar with what can be done to it. */
class Selection {
  constructor(screen, list) {
    Object.assign(this, {screen, list, on: false, paths: new Set()});
    this.button = button(t('select'), () => this.toggle(), {icon: 'check', kind: 'compact'});
    this.button.setAttribute('aria-pressed', 'false');
    this.count = h('span', {role: 'status'});
    const act = (title, sign, run, kind) => button(title, async () => run(this.items(), () => this.finished()),
      {icon: sign, kind, write: true});
    this.bar = h('div', {class: 'selection', hidden: true}, this.count,
      act(t('move'), 'right', (items, done) => copyOrMove('move', items, done)),
      act(t('copy'), 'copy', (items, done) => copyOrMove('copy', items, done)),
      act(t('remove'), 'trash', (items, done) => askToDelete(items, done), 'danger'));
  }

  items() { return this.list().items().filter(item => this.paths.has(item.path)); }

  toggle() {
    this.on = !this.on;
    this.paths.clear();
    this.screen.root.classList.toggle('selecting', this.on);
    this.button.setAttribute('aria-pressed', String(this.on));
    replace(this.button.querySelector('span'), this.on ? t('done') : t('select'));
    for (const box of this.screen.body.querySelectorAll('.row-check')) box.checked = false;
    this.drawn();
  }

  box(item) {
    return h('input', {type: 'checkbox', class: 'row-check', 'aria-label': t('choose', item.name),
      checked: this.paths.has(item.path), onchange: event => {
        this.paths[event.target.checked ? 'add' : 'delete'](item.path);
        this.drawn();
      }});
  }

  drawn() {
    this.bar.hidden = !this.on || this.paths.size === 0;
    replace(this.count, t('chosen', this.paths.size));
  }

  async finished() {
    if (this.on) this.toggle();
    await this.list().resource.reload(true);
  }
}
