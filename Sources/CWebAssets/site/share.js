// Files that the share sheet of a system sent to the installed pages: they become a document or files of the Disk.

import {call} from './api.js';
import {h} from './dom.js';
import {icon} from './icons.js';
import {bytes, define, plural} from './texts.js';
import {button, linkButton} from './ui.js';

const t = define({
  en: {
    title: 'Shared with Larder', pdf: 'Make a PDF',
    files: 'Shared files', again: 'It did not arrive. Please share it again.',
    count: n => `${n} ${plural(n, {one: 'file', other: 'files'})}. What shall become of them?`,
  },
  ru: {
    title: 'Отправлено в Larder', pdf: 'Сделать PDF',
    files: 'Отправленные файлы', again: 'Не дошло. Отправьте ещё раз.',
    count: n => `${n} ${plural(n, {one: 'файл', few: 'файла', other: 'файлов'})}. Что с ними сделать?`,
  },
});

const kept = 'larder-shared';
const ofPages = /^image\/|^application\/pdf$/;

export const routes = [{path: '/share', open}];

let policy;

/** Lets the browser pass on what is shared to the installed pages; called when they are. */
export async function register() {
  const address = new URL('./worker.js', import.meta.url).href;
  policy ??= globalThis.trustedTypes?.createPolicy('worker', {createScriptURL: () => address});
  try {
    await navigator.serviceWorker?.register(policy?.createScriptURL('') ?? address, {scope: '/share'});
  } catch {
    // A browser may refuse workers; then its share sheet leads nowhere, and all else works.
  }
}

/** Gives the files that were shared and are not used yet. */
export async function sharedFiles() {
  if (!await globalThis.caches?.has(kept)) return [];
  const cache = await caches.open(kept);
  return Promise.all((await cache.keys()).map(async request => {
    const response = await cache.match(request);
    const name = decodeURIComponent(response.headers.get('File-Name'));
    const type = response.headers.get('Content-Type');
    return Object.assign(new File([await response.blob()], name, {type}), {request});
  }));
}

/** Forgets shared files: something was made of them, or they are not wanted. Others may have come meanwhile. */
export async function forgetShared(files) {
  const cache = await caches.open(kept);
  for (const {request} of files) await cache.delete(request);
  if ((await cache.keys()).length === 0) await caches.delete(kept);
}

async function open(screen) {
  screen.head({title: t('title')});
  const files = await sharedFiles();
  if (screen.signal.aborted) return;
  // The worker may be gone, with the files that the browser had stored: a new one takes the next files.
  if (screen.query.has('failed')) register();
  const failed = screen.query.has('failed') && h('p', {class: 'banner'}, icon('warning'), t('again'));
  if (files.length === 0) {
    if (failed) screen.show(failed); else await screen.go('/', {replace: true});
    return;
  }
  const discard = async () => {
    await forgetShared(files);
    await screen.go('/', {replace: true});
  };
  const fits = files.every(file => ofPages.test(file.type));
  screen.show(h('div', {class: 'stack'}, failed, h('p', null, t('count', files.length)),
    h('div', {class: 'bar'}, fits && linkButton(t('pdf'), '/pdf/new?shared=1', {kind: 'primary', icon: 'pdf'}),
      button(t('toDisk'), () => toDisk(screen, files), {kind: fits ? '' : 'primary', icon: 'disk', write: true}),
      button(t('discard'), discard, {kind: 'quiet'})),
    h('ul', {class: 'rows', role: 'list', 'aria-label': t('files')}, files.map(({name, size, type}) =>
      h('li', {class: 'row'}, icon(type.startsWith('image/') ? 'image' : 'file'), h('div', {class: 'row-main'},
        h('span', {class: 'row-name', dir: 'auto'}, name), h('span', {class: 'row-sub'}, bytes(size))))))));
}

/** Uploads the files to a folder that is chosen, after a login if there is no session. */
async function toDisk(screen, files) {
  try { await call('/v1/disk/session', {signal: screen.signal}); } catch (problem) {
    if (problem.status !== 401) throw problem;
    await screen.go('/disk/login?next=/share');
    return;
  }
  const [{chooseFolder}, {enqueue}] = await Promise.all([import('./disk-acts.js'), import('./disk-tray.js')]);
  const folder = await chooseFolder(t('toDisk'), t('saveHere'));
  if (!folder) return;
  // Each is kept until it is there.
  for (const file of files) enqueue(folder, [file], () => forgetShared([file]));
  await screen.go(`/disk/files?${new URLSearchParams({path: folder})}`, {replace: true});
}
