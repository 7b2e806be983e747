// Disk: the tray of uploads. It stays while other screens are open; two files are sent at a time.

import {newId, upload, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {ask, linkFor} from './overlay.js';
import {bytes, define, langOf} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    uploads: 'Uploads', waiting: 'Waiting', sending: (sent, all) => `${sent} of ${all}`,
    storing: 'Passing on to Yandex Disk…', done: 'Uploaded', stopped: 'Cancelled',
    accepted: 'Uploaded; Yandex Disk is not ready with it yet',
    exists: 'There is a file of this name', replace: 'Replace', retry: 'Try again', cancel: name => `Cancel ${name}`,
    clear: 'Close the list', left: count => `${count} to go`, all: 'All are uploaded',
    failed: count => `${count} failed`, leave: 'Stop the uploads?',
    leaveText: 'What is not uploaded yet would be left out.', stop: 'Stop', goOn: 'Go on',
    kept: 'In the outbox, sent once Yandex Disk is back', allKept: 'In the outbox', allLater: 'Send all later',
  },
  ru: {
    uploads: 'Загрузки', waiting: 'Ждёт', sending: (sent, all) => `${sent} из ${all}`,
    storing: 'Передаём Яндекс Диску…', accepted: 'Загружено, Яндекс Диск ещё обрабатывает', done: 'Загружено',
    stopped: 'Отменено', exists: 'Файл с таким именем уже есть',
    replace: 'Заменить', retry: 'Повторить', cancel: name => `Отменить ${name}`, clear: 'Закрыть список',
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

/**
 * Sends files to a folder, one entry of the tray each.
 * @param {string} folder @param {Array<File>} files @param {function()} done Is called after each that is there.
 */
export function enqueue(folder, files, done) {
  if (files.length === 0) return;
  open();
  for (const file of files) {
    const entry = {file, path: `${folder.replace(/\/$/, '')}/${file.name}`, done, state: 'waiting', row: null};
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
    Math.max(0, atOnce - busy))) send(entry);
  const left = unfinished().length;
  const failed = entries.filter(entry => ['failed', 'exists'].includes(entry.state)).length;
  // As in a form: a session that ends does not take away what was chosen.
  if (left || failed) tray.dataset.typed = ''; else delete tray.dataset.typed;
  const kept = entries.some(entry => entry.state === 'kept');
  replace(summary, left ? t('left', left) : failed ? t('failed', failed) : t(kept ? 'allKept' : 'all'));
  const refused = entries.filter(entry => entry.state === 'failed' && entry.problem.leave);
  replace(later, refused.length > 1 && button(t('allLater'), () => refused.forEach(sendLater)));
}

async function send(entry) {
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
