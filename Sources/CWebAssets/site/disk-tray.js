// Disk: the tray of uploads. It stays while other screens are open; two files are sent at a time.

import {call, newId, upload, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {ask, attempt, linkFor} from './overlay.js';
import {bytes, define, langOf} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    uploads: 'Uploads', waiting: 'Waiting', sending: (sent, all) => `${sent} of ${all}`,
    storing: 'Passing on to Yandex Disk…', done: 'Uploaded', stopped: 'Cancelled',
    accepted: 'Uploaded; Yandex Disk is not ready with it yet',
    exists: 'There is a file of this name', cancel: name => `Cancel ${name}`,
    clear: 'Close the list', left: count => `${count} to go`, all: 'All are uploaded',
    failed: count => `${count} failed`, leave: 'Stop the uploads?',
    leaveText: 'What is not uploaded yet would be left out.', stop: 'Stop', goOn: 'Go on',
    kept: 'In the outbox, sent once Yandex Disk is back', allKept: 'In the outbox', allLater: 'Send all later',
  },
  ru: {
    uploads: 'Загрузки', waiting: 'Ждёт', sending: (sent, all) => `${sent} из ${all}`,
    storing: 'Передаём Яндекс Диску…', accepted: 'Загружено, Яндекс Диск ещё обрабатывает', done: 'Загружено',
    stopped: 'Отменено', exists: 'Файл с таким именем уже есть',
    cancel: name => `Отменить ${name}`, clear: 'Закрыть список',
    left: count => `Осталось: ${count}`, all: 'Всё загружено', failed: count => `Не удалось: ${count}`,
    leave: 'Остановить загрузки?', leaveText: 'То, что ещё не загружено, останется не загруженным.',
    stop: 'Остановить', goOn: 'Продолжить', kept: 'В исходящих, отправим, когда Яндекс Диск вернётся',
    allKept: 'В исходящих', allLater: 'Отправить все позже',
  },
});

const atOnce = 2;
let entries = [];
let tray = null;
let list = null;
let summary = null;
let later = null;
let closing = 0;

/**
 * Sends files to a folder, one entry of the tray each.
 * @param {string} folder @param {Array<File>} files @param {function()} done Is called after each that is there.
 */
export function enqueue(folder, files, done) {
  send([...files].map(file => ({file, path: inside(folder, file.name)})), done);
}

/**
 * Sends files and whole folders, as they are dropped or picked.
 * @param {Array<FileSystemEntry>} [entries] What was dropped; without it, files may name their folders themselves.
 */
export async function enqueueFolders(folder, files, done, entries = []) {
  const found = {files: [], folders: new Set()};
  if (entries.some(entry => entry.isDirectory)) for (const entry of entries) await gather(entry, '', found);
  else {
    for (const file of files) {
      const way = (file.webkitRelativePath || file.name).split('/');
      way.slice(0, -1).forEach((_, index) => found.folders.add(way.slice(0, index + 1).join('/')));
      found.files.push({file, name: way.join('/')});
    }
  }
  // Parents are before what is in them.
  let later;
  for (const name of found.folders) {
    const made = await attempt(headers => makeFolder(inside(folder, name), later = headers ?? later));
    if (made === false) return;
  }
  if (found.folders.size) done();
  send(found.files.map(({file, name}) => ({file, path: inside(folder, name)})), done);
}

const inside = (folder, name) => `${folder.replace(/\/$/, '')}/${name}`;

async function gather(entry, way, found) {
  const name = way + entry.name;
  if (entry.isFile) {
    found.files.push({file: await new Promise((resolve, reject) => entry.file(resolve, reject)), name});
    return;
  }
  found.folders.add(name);
  const reader = entry.createReader();
  // A reader gives some at a time, and none at its end.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const one of some) await gather(one, `${name}/`, found);
  }
}

async function makeFolder(path, headers) {
  try { await call('/v1/disk/folders', {method: 'POST', body: {path}, headers}); } catch (problem) {
    if (problem.status !== 409) throw problem;
  }
}

function send(files, done) {
  if (files.length === 0) return;
  open();
  for (const one of files) {
    const entry = {...one, done, state: 'waiting', row: null};
    entries.push(entry);
    list.append(entry.row = h('li', {class: 'tray-item'}));
    draw(entry);
  }
  next();
}

function open() {
  if (tray?.isConnected) return;
  entries = [];
  summary = h('span', {role: 'status'});
  later = h('div', {class: 'tray-later'});
  list = h('ul', {class: 'tray-list'});
  tray = h('section', {class: 'tray', 'aria-label': t('uploads')}, h('header', {class: 'tray-head'},
    h('h2', {}, summary),
    button(t('clear'), close, {bare: true, icon: 'close'})), later, list);
  document.body.append(tray);
}

/** Closes the tray; what is not sent yet is asked about first. */
async function close() {
  const sure = {title: t('leave'), message: t('leaveText'), buttons: [t('stop'), t('goOn')]};
  if (unfinished().length && !await ask(sure)) return;
  for (const entry of entries) entry.abort?.abort();
  entries = [];
  tray.remove();
}

const unfinished = () => entries.filter(entry => ['waiting', 'sending'].includes(entry.state));

addEventListener('beforeunload', event => { if (unfinished().length) event.preventDefault(); });

function next() {
  const busy = entries.filter(entry => entry.state === 'sending').length;
  for (const entry of entries.filter(each => each.state === 'waiting').slice(0,
    Math.max(0, atOnce - busy))) sendOne(entry);
  const left = unfinished().length;
  const failed = entries.filter(entry => ['failed', 'exists'].includes(entry.state)).length;
  // As in a form: a session that ends does not take away what was chosen.
  if (left || failed) tray.dataset.typed = ''; else delete tray.dataset.typed;
  const kept = entries.some(entry => entry.state === 'kept');
  replace(summary, left ? t('left', left) : failed ? t('failed', failed) : t(kept ? 'allKept' : 'all'));
  // It goes by itself once there is nothing to say of it.
  clearTimeout(closing);
  if (!left && !failed) closing = setTimeout(close, 8000);
  const refused = entries.filter(entry => entry.state === 'failed' && entry.problem.leave);
  replace(later, refused.length > 1 && button(t('allLater'), () => refused.forEach(sendLater)));
}

async function sendOne(entry) {
  Object.assign(entry, {state: 'sending', share: 0, sent: 0, problem: null, abort: new AbortController()});
  draw(entry);
  const progress = (share, sent) => { Object.assign(entry, {share, sent}); draw(entry); };
  try {
    const {left: kept, status, data} = await upload(withQuery('/v1/disk/file/content', {path: entry.path,
      overwrite: entry.overwrite ? '1' : null}), {
      method: 'PUT', body: entry.file, requestId: newId(), progress, signal: entry.abort.signal,
      headers: {'Content-Type': entry.file.type || 'application/octet-stream', ...entry.headers}});
    const isAccepted = status === 202 && ['running', 'processing'].includes(data.status);
    entry.state = isAccepted ? 'accepted' : kept ? 'kept' : 'done';
    entry.done();
  } catch (problem) {
    const taken = problem.code === 'target-exists' || problem.status === 412;
    entry.state = problem.name === 'AbortError' ? 'stopped' : taken ? 'exists' : 'failed';
    entry.problem = problem;
  }
  draw(entry);
  next();
}

function again(entry, values) {
  Object.assign(entry, {state: 'waiting', ...values});
  draw(entry);
  next();
}

function sendLater(entry) { again(entry, {headers: entry.problem.leave.headers}); }

function draw(entry) {
  const {state, share, sent, file, problem} = entry;
  const stop = () => {
    if (state === 'sending') { entry.abort.abort(); return; }
    entry.state = 'stopped';
    draw(entry);
    next();
  };
  const said = {waiting: () => t('waiting'), done: () => t('done'), stopped: () => t('stopped'),
    exists: () => t('exists'), kept: () => t('kept'), accepted: () => t('accepted'),
    sending: () => (share < 1 ? t('sending', bytes(sent), bytes(file.size)) : t('storing')),
    failed: () => problem.words}[state]();
  if (entry.drawn === state && state === 'sending') {
    entry.row.querySelector('progress').value = share;
    replace(entry.row.querySelector('.tray-said'), said);
    return;
  }
  entry.drawn = state;
  if (state === 'failed' || state === 'exists') list.prepend(entry.row);
  entry.row.dataset.state = state;
  const icons = {done: 'check', failed: 'warning', exists: 'warning', kept: 'clock', accepted: 'clock'};
  replace(entry.row, icon(icons[state] ?? 'file'),
    h('div', {class: 'row-main'}, h('span', {dir: 'auto', class: 'tray-name'}, file.name),
      h('span', {class: 'row-sub tray-said', lang: langOf(said)}, said),
      state === 'sending' && h('progress', {max: 1, value: share, 'aria-label': file.name})),
    ['waiting', 'sending'].includes(state) && button(t('cancel', file.name), stop, {bare: true, icon: 'close'}),
    state === 'failed' && linkFor(problem),
    state === 'exists' && button(t('replace'), () => again(entry, {overwrite: true})),
    ['failed', 'stopped'].includes(state) && button(t('retry'), () => again(entry), {icon: problem?.leave && 'refresh',
      bare: problem?.leave}),
    state === 'failed' && problem.leave && button(problem.leave.title, () => sendLater(entry)));
}
