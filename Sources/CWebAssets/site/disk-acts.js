// Disk: what is done to files and folders, each with its dialog.

import {call, Problem, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {downloadOf, parentOf} from './disk-parts.js';
import {askName} from './form.js';
import {icon} from './icons.js';
import {ask, attempt, copy, dialog, toast} from './overlay.js';
import {define, time} from './texts.js';
import {button, problemView, skeleton} from './ui.js';

/** The strings of what is done with files. */
export const t = define({
  en: {
    newFolder: 'New folder', shareLink: 'Share link',
    create: 'Create', made: 'Folder created',
    slash: 'A name cannot contain a slash.',
    moveTo: 'Move to', copyTo: 'Copy to', moveHere: 'Move here', copyHere: 'Copy here', up: 'Folder above',
    moved: count => `Moved: ${count}`, copied: count => `Copied: ${count}`, exists: 'There is one of this name already',
    skip: 'Skip', toTrash: 'To the trash', forGood: 'Delete for good',
    several: count => `${count} files and folders will be deleted`, trashed: 'In the trash now', deleted: 'Deleted',
    linkText: 'Everyone who has the link can see it.', makeLink: 'Create the link',
    askLink: name => `Make “${name}” public?`, isOpen: name => `“${name}” is public`,
    deleteThis: name => `Delete “${name}”?`, noWayBack: names => `${names}: this cannot be undone.`,
    until: date => `It works until ${date}.`,
    restorable: 'You can restore it from the trash.', unlink: 'Stop sharing',
    renamed: 'Renamed', keeps: ext => `The extension ${ext} stays.`, empty: 'No folders here',
    notBack: count => `Not restored: ${count}`, going: 'Yandex Disk is still working on it.',
    left: 'In the outbox. It is sent once Yandex Disk is back.',
  },
  ru: {
    newFolder: 'Новая папка', shareLink: 'Поделиться ссылкой',
    create: 'Создать', made: 'Папка создана',
    slash: 'В имени не может быть косой черты.',
    moveTo: 'Переместить', copyTo: 'Копировать', moveHere: 'Переместить сюда', copyHere: 'Копировать сюда',
    up: 'Папка выше', moved: count => `Перемещено: ${count}`, copied: count => `Скопировано: ${count}`,
    exists: 'Такое имя уже есть', skip: 'Пропустить', toTrash: 'В корзину',
    forGood: 'Удалить навсегда', several: count => `Будет удалено файлов и папок: ${count}`,
    trashed: 'Теперь в корзине', deleted: 'Удалено',
    linkText: 'Это увидит каждый, у кого есть ссылка.', makeLink: 'Создать ссылку',
    askLink: name => `Открыть доступ к «${name}»?`, isOpen: name => `«${name}» — по ссылке`,
    deleteThis: name => `Удалить «${name}»?`, noWayBack: names => `${names}: это нельзя отменить.`,
    until: date => `Она действует до ${date}.`,
    restorable: 'Вернуть можно из корзины.', unlink: 'Закрыть доступ',
    renamed: 'Переименовано', keeps: ext => `Расширение ${ext} остаётся.`, empty: 'Здесь нет папок',
    notBack: count => `Не возвращено: ${count}`, going: 'Яндекс Диск ещё работает над этим.',
    left: 'В исходящих. Отправим, когда Яндекс Диск вернётся.',
  },
});

const check = text => (text.trim() === '' ? t('needName') : text.includes('/') ? t('slash') : null);
const inside = (folder, name) => `${folder.replace(/\/$/, '')}/${name}`;
const isLeft = answer => Boolean(answer?.left && answer.data.status !== 'done');

/** Says what was done, with a way back if there is one, or that it waits in the outbox. */
export function said(answer, text, undo) {
  toast(isLeft(answer) ? t('left') : text, !isLeft(answer) && undo ? {action: {title: t('undo'), run: undo}} : {});
}

/** Downloads files as links do, with a pause after each: a browser forgets one that another follows at once. */
export async function download(items) {
  for (const item of items.filter(({type}) => type !== 'dir')) {
    h('a', {href: downloadOf(item), download: item.name}).click();
    await new Promise(resolve => setTimeout(resolve, 400));
  }
}

const fileScreen = path => withQuery('/v1/disk/file', {path});

/** Asks for the name of a new folder and makes it. */
export async function newFolder(path, done) {
  const send = async (name, headers) => said(await call('/v1/disk/folders', {method: 'POST',
    body: {path: inside(path, name)}, headers}), t('made'));
  const made = await askName(t('newFolder'), send, {member: 'path', act: t('create'), check});
  if (made) await done();
}

/**
 * Lets the user choose a folder, then moves or copies to it; a name that is taken there is asked about.
 * @param {'move'|'copy'} kind @param {Array<{path: string, name: string}>} items @param {function(): Promise} done
 */
export async function copyOrMove(kind, items, done) {
  const folder = await chooseFolder(t(`${kind}To`), t(`${kind}Here`), items);
  if (!folder) return;
  const {answers} = await each(items, (item, headers) => transfer(kind, item, inside(folder, item.name), headers));
  const moved = items.filter((_, index) => answers[index]);
  const back = () => each(moved, (item, headers) => transfer('move', {path: inside(folder, item.name)}, item.path,
    headers));
  if (moved.length) {
    said(answers.find(isLeft), t(kind === 'move' ? 'moved' : 'copied', moved.length), kind === 'move' && back);
  }
  await done();
}

/** Does something to items in turn, as `attempt` does; once the user sends one later, so are those after it. */
async function each(items, run) {
  const answers = [];
  let later;
  for (const item of items) {
    const answer = await attempt(headers => run(item, later = headers ?? later));
    if (answer === false) break;
    answers.push(answer);
  }
  return {answers, whole: answers.length === items.length};
}

/** Moves or copies one; gives null if it was skipped. */
async function transfer(kind, item, to, headers, overwrite = false) {
  if (to === item.path) return null;
  try {
    const body = {from: item.path, to, overwrite};
    const answer = await call(`/v1/disk/files/${kind}`, {method: 'POST', body, headers});
    if (answer.status === 202 && !answer.left) toast(t('going'));
    return answer;
  } catch (problem) {
    if (problem.code !== 'target-exists' || overwrite) throw problem;
    const go = await ask({title: t('exists'), message: item.name, buttons: [t('replace'), t('skip')]});
    return go ? transfer(kind, item, to, headers, true) : null;
  }
}

/** Shows folders to walk through; gives the path of the one that was chosen, or null. */
export function chooseFolder(title, act, hidden = []) {
  return dialog(title, close => {
    const place = h('div', {class: 'folder-list'});
    const where = h('p', {class: 'muted grow', dir: 'auto', role: 'status'});
    const take = h('button', {type: 'button', class: 'button primary'}, act);
    let path = 'disk:/';
    take.addEventListener('click', () => close(path));
    const open = async next => {
      path = next;
      take.disabled = hidden.length > 0 && hidden.every(item => parentOf(item.path) === path);
      const held = place.contains(document.activeElement);
      replace(where, path.replace(/^disk:\/?/, '') || t('disk'));
      replace(place, skeleton('rows', 3));
      try {
        const answer = await call(withQuery('/v1/disk/files', {path, limit: 100, sort: 'name'}));
        if (path !== next) return;
        const taken = new Set(hidden.map(item => item.path));
        const folders = answer.data.items.filter(item => item.type === 'dir' && !taken.has(item.path));
        replace(place, folderRows(answer.data.folder, folders, open));
        if (held) place.querySelector('button')?.focus();
      } catch (problem) {
        if (!(problem instanceof Problem)) throw problem;
        if (path === next) replace(place, problemView(problem, () => open(next)));
      }
    };
    open(path);
    return [h('div', {class: 'bar'}, where, button(t('newFolder'), () => newFolder(path, () => open(path)),
      {icon: 'plus', bare: true})), place, h('div', {class: 'form-actions'}, take)];
  });
}

function folderRows(folder, folders, open) {
  const entry = (sign, name, path) => h('li', {class: 'row'}, icon(sign), h('div', {class: 'row-main'},
    h('button', {type: 'button', class: 'row-link', dir: 'auto', onclick: () => open(path)}, name)));
  return [h('ul', {class: 'rows', role: 'list'}, folder.parent && entry('up', t('up'), folder.parent),
    folders.map(item => entry('folder', item.name, item.path))), folders.length === 0
      && h('p', {class: 'muted'}, t('empty'))];
}

/** Gives what the server says of an action; rows of lists do not have all of them. */
async function actionOf({path}, id) {
  return (await call(fileScreen(path))).data.actions.find(action => action.id === id);
}

/** Asks in the server's words, and deletes: to the trash, or for good, which is asked once more. */
export async function askToDelete(items, done) {
  const actions = await Promise.all(items.map(item => actionOf(item, 'delete')));
  const {confirm} = actions[0];
  const [yes, no] = items.length > 1 || !confirm ? [t('toTrash'), t('cancel')] : confirm.buttons;
  const names = items.slice(0, 5).map(item => item.name).join(', ');
  const choice = await dialog(items.length > 1 ? t('several', items.length) : t('deleteThis', names),
    [h('p', {class: 'muted', dir: 'auto'}, items.length > 1 ? names : confirm?.message), h('p', null, t('restorable'))],
    {wide: true, role: 'alertdialog', actions: [{title: t('forGood'), value: 'forGood', kind: 'quiet danger apart'},
      {title: no, value: null}, {title: yes, value: 'trash', kind: 'danger'}]});
  const permanently = choice === 'forGood' ? 'true' : null;
  const lost = items.length > 5 ? t('several', items.length) : names;
  if (!choice || permanently && !await ask({title: t('forGood'), message: t('noWayBack', lost),
    buttons: [t('forGood'), t('cancel')]})) return;
  const {answers, whole} = await each(actions, ({href}, headers) => call(withQuery(href, {permanently}),
    {method: 'DELETE', headers}));
  if (whole) said(answers.find(isLeft), t(permanently ? 'deleted' : 'trashed'), !permanently && (() => putBack(items)));
  if (whole || actions.length > 1) await done();
}

/** Takes things out of the trash again; of several from one place, the one that came last. Says how many are not. */
async function putBack(items) {
  const found = new Map(items.map(({path}) => [path, null]));
  const isMissing = () => [...found.values()].includes(null);
  for (let next = '/v1/disk/trash?limit=100'; next && isMissing();) {
    const {data, links} = await call(next, {refresh: true});
    for (const {origin, actions} of data.items) {
      if (found.get(origin) === null) found.set(origin, actions.find(action => action.id === 'restore') ?? null);
    }
    next = links.next;
  }
  const {answers} = await each([...found.values()].filter(Boolean), ({href, method, body}, headers) =>
    call(href, {method, body, headers}));
  if (answers.length < items.length) toast(t('notBack', items.length - answers.length));
}

/** Publishes a file or folder, asked before unless it is public already, and shows its link. */
export async function shareLink({path, name, public_url: isPublic}) {
  if (!isPublic && !await dialog(t('askLink', name), [h('p', null, t('linkText'))], {
    actions: [{title: t('cancel'), value: null}, {title: t('makeLink'), value: true, kind: 'primary'}]})) return;
  const answer = await attempt(headers => call('/v1/disk/links', {method: 'POST', body: {path}, headers}));
  if (!answer || answer.left) { if (answer) said(answer); return; }
  const {data} = answer;
  const shown = h('input', {class: 'field-input', readonly: true, value: data.public_url, 'aria-label': t('shareLink'),
    onfocus: event => event.target.select()});
  await dialog(t('isOpen', name), close => [h('p', null, t('linkText')),
    data.available_until && h('p', null, t('until', time(data.available_until))), shown,
    h('div', {class: 'bar form-actions'}, button(t('unlink'), async () => {
      await call(withQuery('/v1/disk/published', {path}), {method: 'DELETE'});
      close();
    }, {kind: 'quiet apart', write: true}), button(t('done'), () => close()),
    button(t('copy'), () => copy(data.public_url), {icon: 'copy', kind: 'primary'}))]);
}

/** Asks for another name; the extension stays. Gives the renamed file, or null. */
export async function rename(file, action) {
  action ??= await actionOf(file, 'rename');
  const at = file.type === 'dir' ? -1 : file.name.lastIndexOf('.');
  const [stem, extension] = at > 0 ? [file.name.slice(0, at), file.name.slice(at)] : [file.name, ''];
  return askName(action.title, async (name, headers) => {
    const other = name + extension;
    const answer = await call(action.href, {method: action.method, body: {name: other}, headers});
    said(answer, t('renamed'));
    return answer.left ? {...file, path: file.path.slice(0, -file.name.length) + other} : answer.data;
  }, {value: stem, check, maxlength: 255, hint: extension && t('keeps', extension)});
}
