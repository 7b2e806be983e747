// Notes: login and the list.

import {call, quietly, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {reopen} from './events.js';
import {field, form} from './form.js';
import {pagedList} from './list.js';
import {ask, attempt, menu, showProblem, toast} from './overlay.js';
import {afterLogin, draftOf, hasDrafts, pickFiles, searchField} from './parts.js';
import {icon} from './icons.js';
import {define, langOf, zone} from './texts.js';
import {openTrash, sayDeleted, t as bin} from './trash.js';
import {button, empty, linkButton, words} from './ui.js';

/** The strings of Notes. */
export const t = define({
  en: {
    search: 'Search notes', remove: 'Delete note',
    nothingText: 'No note has these words.', signIn: 'Sign In', signUp: 'Sign Up',
    name: 'User name', password: 'Password', newHere: 'Not registered?', known: 'Already registered?', show: 'Show',
    hide: 'Hide', needName: 'Please enter a user name.', needPassword: 'Please enter a password.', gone: 'Note deleted',
    lead: 'Your notes and their places are kept by this Larder.', list: 'Your notes',
    sure: 'Move this note to the trash?',
    keep: 'Keep it', files: 'Import and export', draft: 'A note that you began is not saved yet',
  },
  ru: {
    search: 'Поиск заметок',
    remove: 'Удалить заметку', nothingText: 'Нет заметок с этими словами.',
    signIn: 'Войти', signUp: 'Зарегистрироваться', name: 'Имя пользователя', password: 'Пароль',
    newHere: 'Ещё нет учётной записи?', known: 'Уже есть учётная запись?', show: 'Показать', hide: 'Скрыть',
    needName: 'Введите имя пользователя.', needPassword: 'Введите пароль.', gone: 'Заметка удалена',
    lead: 'Ваши заметки и их места хранит этот Larder.', list: 'Ваши заметки', sure: 'Переместить заметку в корзину?',
    keep: 'Оставить', files: 'Импорт и экспорт', draft: 'Начатая заметка ещё не сохранена',
  },
});

const later = (load, name) => async screen => (await load())[name](screen);
const editing = () => import('./notes-edit.js');
const mapping = () => import('./notes-map.js');
const persons = () => import('./notes-people.js');

/** The screens of Notes. */
export const routes = [
  {path: '/notes', open: openList},
  {path: '/notes/login', open: openLogin},
  {path: '/notes/map', open: later(mapping, 'openMap')},
  {path: '/notes/people', open: later(persons, 'openPeople')},
  {path: '/notes/people/:id', open: later(persons, 'openPerson')},
  {path: '/notes/new', open: later(editing, 'openNew')},
  {path: '/notes/trash', open: screen => openTrash(screen, {href: zoned('/v1/notes/trash'), back: '/notes',
    icon: 'note', name: item => item.first_line})},
  {path: '/notes/:id', open: later(editing, 'openNote')},
];

/** The tabs of Notes. */
export const tabs = [{href: '/notes', title: t('notes')}, {href: '/notes/map', title: t('map')},
  {href: '/notes/people', title: t('people')}];

/** Gives the address of a screen of the API with the browser's time zone. */
export function zoned(href, values = {}) { return withQuery(href, {tz: zone, ...values}); }

/** The account that this document has last seen: while Larder is away, what is typed is kept for it. */
let account = null;

/** Gives the key of what is typed and not saved of a note, or of a new one; another account has another key. */
export async function draftKey(screen, href) {
  try { account = (await call('/v1/notes/session', {signal: screen.signal})).data.name; } catch (problem) {
    if (account === null || problem.code !== 'larder-unreachable') throw problem;
  }
  return `notes.${encodeURIComponent(account)}/${href ?? 'new'}`;
}

/** Gives what was typed and not saved of a note, or null; after a reset another note may have its address. */
export function draftAt(key, made) {
  const kept = draftOf(key);
  return kept?.made === made ? kept : null;
}

/** Gives what was typed and not saved of a note by the time it was made, or of a new one, or null. */
export async function noteDraft(screen, href, made = null) {
  if (!hasDrafts('notes.')) return null;
  const key = await quietly(draftKey(screen, href));
  return key ? draftAt(key, made) : null;
}

function openLogin(screen) {
  let mode = screen.query.get('mode') === 'register' ? 'register' : 'login';
  let typed = {username: '', password: ''};
  const draw = () => {
    screen.head({title: t(mode === 'login' ? 'signIn' : 'signUp'), lead: t('lead')});
    screen.show(h('div', {class: 'card login'}, h('div', {class: 'state-sign'}, icon('notes', 40)),
      screen.why && h('p', {class: 'why'}, screen.why),
      loginForm(mode, typed, () => screen.go(afterLogin(screen, '/notes'), {replace: true})),
        h('p', {class: 'login-other'}, t(mode === 'login' ? 'newHere' : 'known'), ' ',
        button(t(mode === 'login' ? 'signUp' : 'signIn'), other, {kind: 'quiet'}))));
  };
  const other = () => {
    const value = name => screen.body.querySelector(`[name=${name}]`).value;
    typed = {username: value('username'), password: value('password')};
    mode = mode === 'login' ? 'register' : 'login';
    draw();
    screen.body.querySelector('[name=username]').focus();
  };
  draw();
}

/** Makes the form of login or registration; `done` is called when there is a session. */
export function loginForm(mode, typed, done) {
  const name = field('username', t('name'), {autocomplete: 'username', value: typed.username, autocapitalize: 'none',
    spellcheck: 'false', check: text => (text ? null : t('needName'))});
  const password = field('password', t('password'), {type: 'password', value: typed.password,
    autocomplete: mode === 'login' ? 'current-password' : 'new-password',
    check: text => (text ? null : t('needPassword'))});
  const look = button(t('show'), () => {
    const hidden = password.input.type === 'password';
    password.input.type = hidden ? 'text' : 'password';
    look.querySelector('span').textContent = t(hidden ? 'hide' : 'show');
  }, {kind: 'quiet'});
  return form([name, password], t(mode === 'login' ? 'signIn' : 'signUp'),
    async ({username, password: secret}, signal) => {
    const body = {mode, username, password: secret};
    for (let entered = false; !entered;) {
      try {
        await call('/v1/notes/session', {method: 'POST', body, login: true, signal});
        entered = true;
      } catch (problem) {
        if (!problem.dialog || problem.errors.length) throw problem;
        if (!await showProblem(problem, true)) throw new DOMException('shown', 'AbortError');
      }
    }
    reopen('notes');
    await done();
  }, {extra: [look]});
}

function openList(screen) {
  const href = words => zoned('/v1/notes', {q: words});
  const draft = h('div');
  let offered = [];
  const files = button(t('files'), () => openFiles(files, offered, list), {bare: true, icon: 'more'});
  screen.head({title: t('notes'), tabs, actions: [files,
    linkButton(t('newNote'), '/notes/new', {kind: 'primary', icon: 'plus'})]});
  screen.body.before(h('div', {class: 'toolbar'},
    searchField(screen, t('search'), words => list.resource.go(href(words))),
    linkButton(bin('trash'), '/notes/trash', {icon: 'trash', kind: 'quiet compact'})), draft);
  noteDraft(screen, null).then(kept => replace(draft, kept && h('p', {class: 'banner'}, icon('edit'),
    h('a', {href: '/notes/new'}, t('draft')))));
  const list = pagedList(screen, {
    href: href(screen.query.get('q')), key: item => item.id, label: t('list'), row: item => noteRow(item, list),
    drawn: ({data}) => { offered = data.actions; },
    empty: data => (screen.query.get('q') ? empty({title: t('nothing'), text: t('nothingText')}, {icon: 'search'})
      : empty(data.empty, {icon: 'note', href: '/notes/new'})),
  });
}

/** Opens the menu of an import and the exports that the list offers. */
function openFiles(opener, actions, list) {
  const entry = action => (action.id === 'import'
    ? {title: action.title, icon: 'upload', run: () => pickFiles(files => attempt(() => send(action, files, list)),
      {accept: '.json,.geojson,.gpx'})}
    : {title: action.title, icon: 'download', href: action.href, download: ''});
  menu(opener, t('files'), actions.filter(action => action.enabled && /^(im|ex)port/.test(action.id)).map(entry));
}

async function send(action, files, list) {
  const body = new FormData();
  for (const file of files) body.append('files', file, file.name);
  const {data} = await call(action.href, {method: action.method, body});
  await list.resource.reload();
  toast(data.text);
}

/** Makes a row of the list. */
export function noteRow(item, list) {
  const remove = item.actions?.find(action => action.id === 'delete');
  const place = item.location && !(item.location.lat === 0 && item.location.lon === 0) && item.location.name;
  const passage = (item.passage ?? []).map(({text, hit}) => (hit ? h('mark', null, text) : text));
  const isFirst = item.passage?.map(({text}) => text).join('').startsWith(item.first_line);
  return h('li', {class: 'row'},
    h('div', {class: 'row-main'},
      h('a', {class: 'row-link note-line', href: `/notes/${item.id}`, dir: 'auto', lang: langOf(item.first_line)},
        isFirst ? passage : item.first_line),
      passage.length > 0 && !isFirst && h('span', {class: 'row-sub', dir: 'auto', lang: langOf(item.first_line)},
        passage),
      h('span', {class: 'row-sub'}, words('span', {}, item.modified_text),
        place && [' ', icon('pin', 14), ' ', place])),
    remove && h('div', {class: 'row-end'}, button(t('remove'), () => removeNote(item, remove, list),
      {bare: true, icon: 'trash', write: true, key: 'delete'})));
}

/** Asks before a note is deleted. */
export function askToDelete(title) {
  return ask({title: t('sure'), message: title, buttons: [t('remove'), t('keep')]});
}

async function removeNote(item, action, list) {
  if (!await askToDelete(item.first_line)) return;
  const answer = await list.change(items => items.filter(other => other.id !== item.id),
    () => call(action.href, {method: action.method}));
  sayDeleted(t('gone'), answer, () => list.resource.reload());
}
