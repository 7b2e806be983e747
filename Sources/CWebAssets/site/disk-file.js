// Disk: a file, with the viewer of its kind.

import {call, Problem, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {ask, attempt, menu, toast} from './overlay.js';
import {askToDelete, copyOrMove, rename, said, shareLink} from './disk-acts.js';
import {downloadOf, filesBeside, pageOf, parentOf, sizeOf, waiting, wayOf} from './disk-parts.js';
import {drawViewer} from './disk-viewer.js';
import {define, langOf, time, zone} from './texts.js';
import {button, linkButton} from './ui.js';

const t = define({
  en: {
    file: 'File',
    created: 'Created', kind: 'Kind', where: 'Folder',
    stored: 'Available offline, until space is needed', kept: 'Available offline, always',
    notStored: 'Only online', fetch: 'Download to Larder',
    waiting: 'Waiting…', failed: 'The download failed', until: 'Until',
    shareFile: 'Send the file',
    image: 'Picture', pdf: 'PDF document', word: 'Document', excel: 'Table', pptx: 'Presentation', text: 'Text',
    audio: 'Sound', video: 'Video',
    toPDF: 'Make a PDF of it', openPDF: 'Open PDF', keep: 'Keep offline',
    beside: 'Other files of the list', previous: 'Previous file', next: 'Next file', at: (at, of) => `${at} of ${of}`,
  },
  ru: {
    file: 'Файл',
    created: 'Создан', kind: 'Вид', where: 'Папка',
    stored: 'Доступен без сети, пока хватает места', kept: 'Всегда доступен без сети',
    notStored: 'Только по сети', fetch: 'Скачать в Larder',
    waiting: 'Ждёт…', failed: 'Загрузка не удалась',
    until: 'До',
    shareFile: 'Отправить файл',
    image: 'Картинка', pdf: 'Документ PDF', word: 'Документ', excel: 'Таблица', pptx: 'Презентация', text: 'Текст',
    audio: 'Звук', video: 'Видео',
    toPDF: 'Сделать из него PDF', openPDF: 'Открыть PDF', keep: 'Держать офлайн',
    beside: 'Другие файлы списка', previous: 'Предыдущий файл', next: 'Следующий файл',
    at: (at, of) => `${at} из ${of}`,
  },
});

/** Opens a file. */
export function openFile(screen) {
  const path = screen.query.get('path') ?? '';
  const view = h('div', {class: 'viewer'});
  const facts = h('div', {class: 'stack'});
  const job = h('div', {role: 'status'});
  let [shown, pager] = [''];
  screen.head({title: t('file'), back: withQuery('/disk/files', {path: parentOf(path)})});
  const again = () => resource.reload(true);
  const resource = screen.load(withQuery('/v1/disk/file', {path, tz: zone}), ({data}) => {
    if (data.type === 'dir') { screen.go(pageOf(data), {replace: true}); return; }
    if (!view.isConnected) {
      pager = steps(screen, data);
      screen.show(h('div', {class: 'file-page'}, view, h('aside', {class: 'stack'}, facts, job)));
    }
    drawHead(screen, data, resource, again, pager);
    replace(facts, factsOf(data), downloadPart(screen, data, job, again));
    const version = `${data.modified_at} ${data.size}`;
    if (shown !== version) { shown = version; drawViewer(screen, view, data); }
  }, {skeleton: 'page'});
}

/** Makes the ways to the files before and after it in the list that it was opened from; arrow keys are the same. */
function steps(screen, {path}) {
  const files = filesBeside({path});
  const at = files.findIndex(file => file.path === path);
  if (files.length < 2) return null;
  const go = by => files[at + by] && screen.go(pageOf(files[at + by]), {replace: true});
  const step = (title, sign, by) => button(title, () => { go(by); },
    {bare: true, icon: sign, disabled: !files[at + by]});
  document.addEventListener('keydown', event => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const isOwn = event.target.closest('input, textarea, select, audio, video, dialog, [role=menu], .text-file');
    if (by && !isOwn && !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey) go(by);
  }, {signal: screen.signal});
  return h('nav', {class: 'bar file-steps', 'aria-label': t('beside')}, step(t('previous'), 'back', -1),
    h('span', {class: 'count'}, t('at', at + 1, files.length)), step(t('next'), 'right', 1));
}

function drawHead(screen, data, resource, again, pager) {
  const action = id => data.actions.find(each => each.id === id);
  const [share, link] = [action('share'), action('link')];
  const isHere = data.downloaded || data.kept_offline || !resource.answer.meta.offline;
  const whole = isHere && (data.viewer === 'pdf' ? withQuery(data.content_url, {disposition: 'inline'})
    : data.document?.available && data.document.pdf_url);
  const refresh = screen.refreshButton(() => resource);
  // A phone has room for five, and is pulled to ask again.
  refresh.classList.toggle('wide-only', Boolean(whole));
  screen.head({title: data.name, back: withQuery('/disk/files', {path: parentOf(data.path)}), actions: [pager,
    share && isHere && linkButton(t('download'), downloadOf(data),
      {icon: 'download', kind: 'primary compact', download: data.name}),
    link && button(link.title, () => shareLink(data).then(again),
      {icon: 'link', write: true, bare: true}),
    whole && h('a', {class: 'button compact', target: '_blank', rel: 'noopener', href: whole}, icon('pdf'),
      h('span', null, t('openPDF'))), refresh,
    button(t('moreActs'), event => acts(event.currentTarget, screen, data, again), {icon: 'more', bare: true})]});
}

function acts(opener, screen, data, again) {
  const leave = () => screen.go(withQuery('/disk/files', {path: parentOf(data.path)}), {replace: true});
  const runs = {
    rename: async action => {
      const renamed = await rename(data, action);
      if (renamed) await screen.go(pageOf(renamed), {replace: true});
    },
    delete: () => askToDelete([data], leave),
  };
  const plain = async (action, headers) => {
    if (!headers && action.confirm && !await ask(action.confirm)) return;
    const answer = await call(action.href, {method: action.method, body: action.body, headers});
    if (answer.left) said(answer);
    await again();
  };
  const signs = {rename: 'edit', delete: 'trash', unpublish: 'link'};
  const item = action => ({title: action.title, icon: signs[action.id], kind: action.id === 'delete' ? 'danger' : '',
    run: headers => (runs[action.id] ?? plain)(action, headers)});
  // These are elsewhere on the page, or need more than one answer.
  const own = ['share', 'link', 'download', 'move', 'copy', 'delete', 'keep_offline', 'remove_offline'];
  menu(opener, t('moreActs'), [
    ...data.actions.filter(action => !own.includes(action.id)).map(item),
    {title: t('move'), icon: 'moveto', run: () => copyOrMove('move', [data], leave)},
    {title: t('copy'), icon: 'copy', run: () => copyOrMove('copy', [data], again)},
    ['image', 'pdf'].includes(data.viewer) && data.page_url && {title: t('toPDF'), icon: 'pdf',
      run: () => toPDF(screen, data)},
    canShareFiles() && {title: t('shareFile'), icon: 'share', run: () => shareFile(data)},
    ...data.actions.filter(action => action.id === 'delete').map(item)].filter(Boolean));
}

async function toPDF(screen, {path}) {
  const made = await call('/v1/pdf/documents/from-disk', {method: 'POST', body: {path}});
  await screen.go(`/pdf/${made.data.id}`);
}

const canShareFiles = () => Boolean(navigator.canShare?.({files: [new File([''], 'a.txt', {type: 'text/plain'})]}));

async function shareFile(data) {
  const response = await fetch(data.content_url);
  if (!response.ok) throw new Problem(await response.json(), {status: response.status});
  const file = new File([await response.blob()], data.name, {type: data.mime_type ?? ''});
  try { await navigator.share({files: [file], title: data.name}); } catch (error) {
    if (error.name !== 'AbortError') toast(t('error'));
  }
}

const kinds = ['image', 'pdf', 'word', 'excel', 'pptx', 'text', 'audio', 'video'];

/** Names the kind of a file in words, with its extension unless the words have it. */
function kindOf({icon, viewer, name}) {
  const kind = t([viewer, icon].find(one => kinds.includes(one)) ?? 'file');
  const extension = /\.(\w{1,5})$/.exec(name)?.[1].toUpperCase();
  return extension && !kind.includes(extension) ? `${kind}, ${extension}` : kind;
}

function factsOf(data) {
  const rows = [[t('created'), data.created_at && time(data.created_at)],
    [t('changed'), data.modified_at && time(data.modified_at)], [t('size'), sizeOf(data)], [t('kind'), kindOf(data)],
    [t('where'), h('a', {href: withQuery('/disk/files', {path: parentOf(data.path)})},
      wayOf(parentOf(data.path)))],
    [t('outbox'), data.pending && h('a', {href: '/disk/outbox'}, waiting(data))],
    [t('isPublic'), data.public_url && h('a', {href: data.public_url, rel: 'noreferrer', target: '_blank'},
      data.public_url)],
    [t('until'), data.public_url && data.available_until && time(data.available_until)]];
  return h('dl', {class: 'facts card'}, rows.filter(([, value]) => value).map(([name, value]) =>
    [h('dt', null, name), h('dd', {lang: typeof value === 'string' ? langOf(value) : null}, value)]));
}

/** Shows whether the bytes are in Larder, fetches them with their progress, and keeps them there. */
function downloadPart(screen, data, job, again) {
  const here = data.downloaded || data.kept_offline;
  const keep = data.actions.find(({id}) => id === (data.kept_offline ? 'remove_offline' : 'keep_offline'));
  const change = async headers => {
    if (!headers && keep.confirm && !await ask(keep.confirm)) return false;
    await call(keep.href, {method: keep.method, body: keep.body, headers});
    return again();
  };
  const toggle = keep && h('label', {class: 'check'}, h('input', {type: 'checkbox', role: 'switch',
    checked: data.kept_offline, dataset: {write: ''}, onchange: async ({target}) => {
      if (await attempt(change) === false) target.checked = data.kept_offline;
    }}), t('keep'));
  if (here && job.dataset.running) return toggle;
  return [toggle, h('div', {class: 'bar'}, h('span', {class: `tag ${here ? 'ok' : ''}`},
    t(data.kept_offline ? 'kept' : here ? 'stored' : 'notStored')), !here && !job.dataset.running
    && button(t('fetch'), () => download(screen, data, job, again), {icon: 'jar', write: true}))];
}

async function download(screen, data, job, again) {
  const show = state => {
    if (state.status === 'failed') {
      replace(job, h('p', {class: 'field-error', lang: langOf(state.failure?.detail)}, state.failure?.detail
        ?? t('failed')));
    } else if (state.status === 'done') replace(job);
    else {
      const share = state.progress ?? 0;
      replace(job, h('p', {}, share > 0 ? `${Math.round(share * 100)} %` : t('waiting')),
        h('progress', {max: 1, value: share, 'aria-label': data.name}));
    }
    return ['done', 'failed'].includes(state.status);
  };
  const {data: begun} = await call('/v1/disk/downloads', {method: 'POST', body: {path: data.path}});
  job.dataset.running = 'yes';
  try {
    let state = begun;
    while (!show(state) && !screen.signal.aborted) {
      await happened(screen, begun.id);
      state = (await call(`/v1/disk/downloads/${begun.id}`, {signal: screen.signal, refresh: true})).data;
    }
  } finally { delete job.dataset.running; }
  await again();
}

/** Waits for an event of the job, or a moment. */
function happened(screen, id) {
  return new Promise(resolve => {
    screen.on('job', event => event.id === id && resolve());
    setTimeout(resolve, 700);
  });
}
