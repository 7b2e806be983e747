// Disk: the viewers of files: pictures, pages, texts, sound and film.

import {call, Problem, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {downloadOf, filesBeside, pageOf, sign} from './disk-parts.js';
import {lightbox} from './lightbox.js';
import {define, langOf} from './texts.js';
import {linkButton, problemView, skeleton, words} from './ui.js';

const t = define({
  en: {
    noViewer: 'This file cannot be shown',
    page: number => `Page ${number}`, alt: name => `Picture ${name}`,
    whole: name => `Picture ${name}, show it edge to edge`,
    notShownText: 'It is not in Larder, and Yandex Disk did not give it.',
    empty: 'This file is empty.', tooLong: 'This text is long. Download it to read all of it.',
  },
  ru: {
    noViewer: 'Этот файл не показать',
    page: number => `Страница ${number}`, alt: name => `Картинка ${name}`,
    whole: name => `Картинка ${name}, на весь экран`,
    notShownText: 'Его нет в Larder, и Яндекс Диск его не отдал.',
    empty: 'Этот файл пуст.', tooLong: 'Текст длинный. Скачайте его, чтобы прочитать целиком.',
  },
});

const longText = 512 * 1024;
/** Names of files that are text, whatever their type is said to be. */
const isText = /\.(md|csv|tsv|json|geojson|log|ya?ml|toml|ini|xml|gpx|srt|tex|sql|sh|py|js|ts|css|swift|c|h)$/i;

/** Shows a file by the viewer of its kind. */
export function drawViewer(screen, view, data) {
  const office = data.document?.available === false ? drawNothing : drawPages;
  const viewers = {image: drawImage, pdf: drawPages, office, text: drawText, audio: drawMedia, video: drawMedia};
  const draw = viewers[data.viewer] ?? (isText.test(data.name) ? drawText : drawNothing);
  if (data.size === 0) replace(view, h('div', {class: 'state'}, sign(data), h('p', null, t('empty'))));
  else draw(screen, view, data);
}

function drawNothing(screen, view, data) {
  const alert = data.alert ?? {title: t('noViewer'), message: data.document?.reason ?? ''};
  replace(view, h('div', {class: 'state'}, sign(data), words('h2', {}, alert.title),
    words('p', {}, alert.message ?? alert.text)));
}

function drawImage(screen, view, data) {
  const image = h('img', {src: data.content_url, alt: t('alt', data.name), class: 'viewer-image', onerror: () =>
    explain(view, data.content_url, () => drawImage(screen, view, data))});
  replace(view, h('button', {type: 'button', class: 'viewer-open', 'aria-label': t('whole', data.name),
    onclick: () => openWhole(screen, data)}, image));
}

/** Shows it edge to edge, with the pictures of the list that it was opened from, and ends at the one seen last. */
async function openWhole(screen, data) {
  const pictures = filesBeside(data).filter(file => file.viewer === 'image');
  const at = await lightbox(pictures.map(file => ({title: file.name, alt: t('alt', file.name),
    src: withQuery('/v1/disk/file/content', {path: file.path})})),
  pictures.findIndex(({path}) => path === data.path), {actions: index => [linkButton(t('download'),
    downloadOf(pictures[index]), {bare: true, icon: 'download', download: pictures[index].name})]});
  if (pictures[at].path !== data.path) await screen.go(pageOf(pictures[at]), {replace: true});
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
  replace(view, pages);
  add(1);
}

async function drawText(screen, view, data) {
  if (data.size > longText) { drawNothing(screen, view, {...data,
    alert: {title: t('noViewer'), message: t('tooLong')}}); return; }
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
    failed(view, new Problem({title: t('noViewer'), detail: t('notShownText'), retryable: true}), retry);
  } catch (problem) { failed(view, problem, retry); }
}

function failed(view, problem, retry) {
  if (problem instanceof Problem) replace(view, problemView(problem, retry));
  else if (problem.name !== 'AbortError') throw problem;
}
