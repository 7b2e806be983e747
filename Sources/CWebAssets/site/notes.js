// Notes: login and the list.

import {call} from './api.js';
import {h, replace} from './dom.js';
import {pagedList} from './list.js';
import {actionsOf, askToDelete, loginForm, noteDraft, sayGone, t, tabs, zoned} from './notes-parts.js';
import {withSigns} from './notes-text.js';
import {attempt, toast} from './overlay.js';
import {afterLogin, pickFiles, searchField} from './parts.js';
import {icon} from './icons.js';
import {langOf} from './texts.js';
import {button, empty, linkButton, words} from './ui.js';

const later = (load, name) => async screen => (await load())[name](screen);
const editing = () => import('./notes-edit.js');
const mapping = () => import('./notes-map.js');
const persons = () => import('./notes-people.js');
const trash = () => import('./trash.js');

/** The screens of Notes. */
export const routes = [
  {path: '/notes', open: openList},
  {path: '/notes/login', open: openLogin},
  {path: '/notes/map', open: later(mapping, 'openMap')},
  {path: '/notes/people', open: later(persons, 'openPeople')},
  {path: '/notes/people/:id', open: later(persons, 'openPerson')},
  {path: '/notes/new', open: later(editing, 'openNew')},
  {path: '/notes/trash', open: async screen => (await trash()).openTrash(screen,
    {href: '/v1/notes/trash', back: '/notes', icon: 'note', name: item => withSigns(item.first_line)})},
  {path: '/notes/:id', open: later(editing, 'openNote')},
];

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

function openList(screen) {
  const href = words => zoned('/v1/notes', {q: words});
  const draft = h('div');
  let offered = [];
  screen.head({title: t('notes'), tabs, actions: actionsOf(screen, persons, () => entriesOf(offered, list))});
  screen.body.before(h('div', {class: 'toolbar'},
    searchField(screen, t('search'), words => list.resource.go(href(words))),
    linkButton(t('trash'), '/notes/trash', {icon: 'trash', kind: 'quiet compact'})), draft);
  noteDraft(screen, null).then(kept => replace(draft, kept && h('p', {class: 'banner'}, icon('edit'),
    h('a', {href: '/notes/new'}, t('draft')))));
  const list = pagedList(screen, {
    href: href(screen.query.get('q')), key: item => item.id, label: t('list'), row: item => noteRow(item, list),
    drawn: ({data}) => { offered = data.actions; },
    empty: data => (screen.query.get('q') ? empty({title: t('nothing'), text: t('nothingText')}, {icon: 'search'})
      : empty(data.empty, {icon: 'note', href: '/notes/new'})),
  });
}

/** The entries of a menu for the import and the exports that the list offers. */
function entriesOf(actions, list) {
  const entry = action => (action.id === 'import'
    ? {title: action.title, icon: 'upload', run: () => pickFiles(files => attempt(() => send(action, files, list)),
      {accept: '.json,.geojson,.gpx'})}
    : {title: action.title, icon: 'download', href: action.href, download: ''});
  return actions.filter(action => action.enabled && /^(im|ex)port/.test(action.id)).map(entry);
}

async function send(action, files, list) {
  const body = new FormData();
  for (const file of files) body.append('files', file, file.name);
  const {data} = await call(action.href, {method: action.method, body});
  await list.resource.reload();
  toast(data.text);
}

/** Makes a row of the list. */
function noteRow(item, list) {
  const remove = item.actions?.find(action => action.id === 'delete');
  const place = item.location && !(item.location.lat === 0 && item.location.lon === 0) && item.location.name;
  const isFirst = item.passage?.map(({text}) => text).join('').startsWith(item.first_line);
  let left = isFirst ? item.first_line.length : 0;
  const [head, passage] = [[], []];
  for (const {text, hit} of item.passage ?? []) {
    const put = (nodes, piece) => piece && nodes.push(hit ? h('mark', null, piece) : piece);
    put(head, text.slice(0, left));
    put(passage, text.slice(left));
    left = Math.max(0, left - text.length);
  }
  const row = h('li', {class: 'row'},
    h('div', {class: 'row-main'},
      h('a', {class: 'row-link note-line', href: `/notes/${item.id}`, dir: 'auto', lang: langOf(item.first_line)},
        isFirst ? head : withSigns(item.first_line)),
      (passage.length > 0 || item.snippet) && h('span', {class: 'row-sub note-more', dir: 'auto',
        lang: langOf(item.snippet || item.first_line)}, passage.length > 0 ? passage : withSigns(item.snippet)),
      h('span', {class: 'row-sub'}, words('span', {}, item.modified_text),
        place && [' ', icon('pin', 14), ' ', place])),
    remove && h('div', {class: 'row-end'}, button(t('remove'), async () =>
      await askToDelete(withSigns(item.first_line)) && removeNote(item, remove, list),
    {bare: true, icon: 'trash', write: true, key: 'delete'})));
  // A swipe and a press are meant: there is no question, but a way back.
  row.swipe = () => [remove && {title: remove.title, icon: 'trash', kind: 'danger',
    run: () => removeNote(item, remove, list)}];
  return row;
}

async function removeNote(item, action, list) {
  const answer = await list.change(items => items.filter(other => other.id !== item.id),
    () => call(action.href, {method: action.method}));
  await sayGone(answer, () => list.resource.reload());
}
