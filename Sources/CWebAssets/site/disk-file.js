// Disk: a file, with the viewer of its kind.

import {call, Problem, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {ask, menu, toast} from './overlay.js';
import {askToDelete, copyOrMove, rename, said, shareLink} from './disk-acts.js';
import {pageOf, parentOf, sign, waiting} from './disk-list.js';
import {define, langOf, time, zone} from './texts.js';
import {button, linkButton, problemView, skeleton, words} from './ui.js';

const t = define({
  en: {
    file: 'File', open: 'Open PDF', more: 'More actions', move: 'Move', copy: 'Copy', size: 'Size',
    created: 'Created', changed: 'Changed', kind: 'Kind', where: 'Folder', state: 'In Larder',
    stored: 'Here, also without the Internet', notStored: 'Not yet', fetch: 'Fetch into Larder',
    page: number => `Page ${number}`,
    waiting: 'Waiting…', failed: 'The download failed', public: 'Published', until: 'Until',
    tooLong: 'This text is long. Download it to read all of it.', shareFile: 'Send the file',
    notShown: 'This file cannot be shown',
    notShownText: 'It is not in Larder, and Yandex Disk did not give it.', alt: name => `Picture ${name}`,
    toPDF: 'Make a PDF of it', outbox: 'Outbox',
  },
  ru: {
    file: 'Файл', open: 'Открыть PDF', more: 'Другие действия', move: 'Переместить',
    copy: 'Копировать',
    size: 'Размер', created: 'Создан', changed: 'Изменён', kind: 'Вид', where: 'Папка', state: 'В Larder',
    stored: 'Есть, и без интернета', notStored: 'Пока нет', fetch: 'Загрузить в Larder',
    page: number => `Страница ${number}`, waiting: 'Ждёт…', failed: 'Загрузка не удалась',
    public: 'Опубликовано', until: 'До', tooLong: 'Текст длинный. Скачайте его, чтобы прочитать целиком.',
    shareFile: 'Отправить файл', notShown: 'Этот файл не показать',
    notShownText: 'Его нет в Larder, и Яндекс Диск его не отдал.', alt: name => `Картинка ${name}`,
    toPDF: 'Сделать из него PDF', outbox: 'Исходящие',
  },
});

const longText = 512 * 1024;

/** Opens a file. */
export function openFile(screen) {
  const path = screen.query.get('path') ?? '';
  const view = h('div', {class: 'viewer'});
  const facts = h('div', {class: 'stack'});
  const job = h('div', {role: 'status'});
  let shown = '';
  screen.head({title: t('file'), back: withQuery('/disk/files', {path: parentOf(path)})});
  const again = () => resource.reload(true);
  const resource = screen.load(withQuery('/v1/disk/file', {path, tz: zone}), ({data}) => {
    if (data.type === 'dir') { screen.go(pageOf(data), {replace: true}); return; }
    drawHead(screen, data, resource, again);
    if (!view.isConnected) screen.show(h('div', {class: 'file-page'}, view, h('aside', {class: 'stack'}, facts, job)));
    replace(facts, factsOf(data), downloadPart(screen, data, job, again));
    const version = `${data.modified_at} ${data.size}`;
    if (shown !== version) { shown = version; drawViewer(screen, view, data); }
  }, {skeleton: 'page'});
}

function drawHead(screen, data, resource, again) {
  const action = id => data.actions.find(each => each.id === id);
  const [share, link] = [action('share'), action('link')];
  const attachment = share && withQuery(share.href, {disposition: 'attachment'});
  screen.head({title: data.name, back: withQuery('/disk/files', {path: parentOf(data.path)}), actions: [
    share && linkButton(share.title, attachment, {icon: 'download', kind: 'primary', download: data.name}),
    link && button(link.title, (event, headers) => shareLink(data.path, headers).then(again),
      {icon: 'link', write: true, kind: 'compact'}),
    screen.refreshButton(() => resource),
    button(t('more'), event => acts(event.currentTarget, screen, data, again), {icon: 'more', bare: true})]});
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
  const signs = {rename: 'edit', delete: 'trash', unpublish: 'link', keep_offline: 'download', remove_offline: 'close'};
  const item = action => ({title: action.title, icon: signs[action.id], kind: action.id === 'delete' ? 'danger' : '',
    run: headers => (runs[action.id] ?? plain)(action, headers)});
  // These are elsewhere on the page, or need more than one answer.
  const own = ['share', 'link', 'download', 'move', 'copy', 'delete'];
  menu(opener, t('more'), [
    ...data.actions.filter(action => !own.includes(action.id)).map(item),
    {title: t('move'), icon: 'right', run: () => copyOrMove('move', [data], leave)},
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
    if (error.name !== 'AbortError') toast(t('notShown'));
  }
}

function factsOf(data) {
  const rows = [[t('created'), data.created_text], [t('changed'), data.modified_text
    ?? (data.modified_at && time(data.modified_at))],
    [t('size'), data.size_text], [t('kind'), data.mime_type],
    [t('where'), h('a', {href: withQuery('/disk/files', {path: parentOf(data.path)})}, parentOf(data.path).slice(5))],
    [t('outbox'), data.pending && h('a', {href: '/disk/outbox'}, waiting(data))],
    [t('public'), data.public_url && h('a', {href: data.public_url, rel: 'noreferrer', target: '_blank'},
      data.public_url)],
    [t('until'), data.public_url && data.available_until && time(data.available_until)]];
  return h('dl', {class: 'facts card'}, rows.filter(([, value]) => value).map(([name, value]) =>
    [h('dt', null, name), h('dd', {lang: typeof value === 'string' ? langOf(value) : null}, value)]));
}

/** Shows whether the bytes are in Larder, and fetches them with their progress. */
function downloadPart(screen, data, job, again) {
  const here = data.downloaded || data.kept_offline;
  if (here && job.dataset.running) return null;
  return h('div', {class: 'bar'}, h('span', {class: `tag ${here ? 'ok' : ''}`}, `${t('state')}: `,
    here ? t('stored') : t('notStored')), !here && !job.dataset.running
    && button(t('fetch'), () => download(screen, data, job, again), {icon: 'download', write: true}));
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

function drawViewer(screen, view, data) {
  const office = data.document?.available === false ? drawNothing : drawPages;
  const viewers = {image: drawImage, pdf: drawPages, office, text: drawText, audio: drawMedia, video: drawMedia};
  const draw = viewers[data.viewer] ?? drawNothing;
  draw(screen, view, data);
}

function drawNothing(screen, view, data) {
  const alert = data.alert ?? {title: t('notShown'), message: data.document?.reason ?? ''};
  replace(view, h('div', {class: 'state'}, sign(data), words('h2', {}, alert.title),
    words('p', {}, alert.message ?? alert.text)));
}

function drawImage(screen, view, data) {
  const image = h('img', {src: data.content_url, alt: t('alt', data.name), class: 'viewer-image', onerror: () =>
    explain(view, data.content_url, () => drawImage(screen, view, data))});
  replace(view, image);
}

function drawMedia(screen, view, data) {
  replace(view, h(data.viewer, {src: data.content_url, controls: true, preload: 'metadata', class: 'viewer-image',
    'aria-label': data.name, onerror: () => explain(view, data.content_url, () => drawMedia(screen, view, data))}));
}

/** Shows pages as pictures, each when the one before is there; a first page that fails says why. */
function drawPages(screen, view, data) {
  const pages = h('div', {class: 'pages'});
  const width = Math.min(2000, Math.round(Math.min(760, innerWidth - 32) * (devicePixelRatio || 1)));
  const address = data.page_url ?? withQuery('/v1/disk/file/page', {path: data.path});
  const add = number => {
    const image = h('img', {class: 'sheet-page', alt: t('page', number),
      src: withQuery(address, {page: number, width})});
    const bone = number === 1 && skeleton('page', 1);
    if (bone) pages.append(bone);
    image.onload = () => {
      bone && bone.remove();
      pages.append(h('figure', {}, image, h('figcaption', {class: 'count'}, t('page', number))));
      more(number + 1);
    };
    image.onerror = () => { if (number === 1) explain(view, image.src, () => drawPages(screen, view, data)); };
  };
  const more = number => {
    if (data.viewer === 'image' || screen.signal.aborted) return;
    const mark = h('div', {class: 'page-mark'});
    pages.append(mark);
    const watcher = new IntersectionObserver(entries => {
      if (!entries.at(-1).isIntersecting) return;
      watcher.disconnect();
      mark.remove();
      add(number);
    }, {rootMargin: '600px'});
    watcher.observe(mark);
    screen.signal.addEventListener('abort', () => watcher.disconnect());
  };
  const whole = data.viewer === 'pdf' ? withQuery(data.content_url, {disposition: 'inline'}) : data.document?.pdf_url;
  replace(view, whole && h('div', {class: 'bar'}, h('a', {class: 'button', target: '_blank', rel: 'noopener',
    href: whole}, icon('file'), h('span', null, t('open')))), pages);
  add(1);
}

async function drawText(screen, view, data) {
  if (data.size > longText) { drawNothing(screen, view, {...data,
    alert: {title: t('notShown'), message: t('tooLong')}}); return; }
  replace(view, skeleton('page', 4));
  try {
    const response = await fetch(data.content_url, {signal: screen.signal});
    if (!response.ok) throw new Problem(await response.json(), {status: response.status});
    const text = decode(await response.arrayBuffer());
    replace(view, h('pre', {class: 'card text-file', tabindex: '0', dir: 'auto', lang: langOf(text),
      'aria-label': data.name}, text));
  } catch (problem) {
    if (problem.name === 'AbortError') return;
    failed(view, problem, () => drawText(screen, view, data));
  }
}

/** Reads text: UTF-8, else the old encoding of Russian Windows. */
function decode(bytes) {
  try { return new TextDecoder('utf-8', {fatal: true}).decode(bytes); } catch {
    return new TextDecoder('windows-1251').decode(bytes);
  }
}

/** Says why a picture did not come: its address is asked for the server's words. */
async function explain(view, href, retry) {
  try {
    await call(href);
    failed(view, new Problem({title: t('notShown'), detail: t('notShownText'), retryable: true}), retry);
  } catch (problem) { failed(view, problem, retry); }
}

function failed(view, problem, retry) {
  if (problem instanceof Problem) replace(view, problemView(problem, retry));
  else if (problem.name !== 'AbortError') throw problem;
}
