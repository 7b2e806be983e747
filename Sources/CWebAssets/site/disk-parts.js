// Disk: what its screens share: tabs, addresses, the look of a file, and the list that was shown last.

import {withQuery} from './api.js';
import {h} from './dom.js';
import {icon} from './icons.js';
import {bytes, define, langOf, time} from './texts.js';
import {picture} from './ui.js';

const t = define({
  en: {recent: 'Recent', files: 'All files'},
  ru: {recent: 'Недавние', files: 'Все файлы'},
});

/** The tabs of the Disk. */
export const tabs = [{href: '/disk/recent', title: t('recent')}, {href: '/disk/files', title: t('files')},
  {href: '/disk/profile', title: t('profile')}];

/** Gives the page of a file or folder. */
export function pageOf({type, path}) { return withQuery(type === 'dir' ? '/disk/files' : '/disk/file', {path}); }

/** Gives the address of a file's bytes, to be downloaded. */
export function downloadOf({path}) { return withQuery('/v1/disk/file/content', {path, disposition: 'attachment'}); }

/** Gives the folder of a path. */
export function parentOf(path) {
  const at = path.replace(/\/$/, '').lastIndexOf('/');
  return path.slice(0, Math.max(at, path.indexOf('/') + 1));
}

/** Gives the name of a folder. */
export function nameOf(path) { return path.split('/').filter(Boolean).slice(1).at(-1) ?? t('disk'); }

/** Says how large a file is: the server counts in kilobytes at least. */
export const sizeOf = ({size, size_text: text}) => (size !== null && size < 1024 && text ? bytes(size) : text);

/** Says that a change of a file waits in the outbox; nothing if none does. */
export function waiting({pending}) {
  return pending && h('span', {class: 'waits', dataset: {state: pending.state}, lang: langOf(pending.state_text),
    title: time(pending.since)}, icon('upload', 16), `${pending.kind_text}: ${pending.state_text}`,
  h('span', {class: 'hidden'}, `, ${time(pending.since)}`));
}

const signs = {svg: 'image', excel: 'table', word: 'pdf'};

/** Names the sign of a file, by what every list of files tells: that of the trash has no `viewer`. */
export const glyphOf = ({name, icon: kind}) => (/\.(txt|md|csv|json|log|xml|ya?ml)$/i.test(name) ? 'lines'
  : signs[kind] ?? kind);

/** Makes the picture or the sign of a file; `size` in pixels of the page. */
export function sign(item, size = 44) {
  const pixels = Math.ceil(size * Math.min(devicePixelRatio || 1, 3) / 60) * 60;
  if (item.preview_url) {
    return picture(withQuery(item.preview_url, {size: `${pixels}x${pixels}`}), '', {class: 'thumb file-thumb',
      sign: 'image'});
  }
  return h('span', {class: `file-sign kind-${item.icon}`}, icon(glyphOf(item), 24));
}

/** Gives the way to a folder in words. */
export function wayOf(path) { return [t('disk'), ...path.split('/').filter(Boolean).slice(1)].join(' › '); }

let shown = () => [];

/** Notes the list that is shown: `files` gives its rows, in their order. */
export function showList(files) { shown = files; }

/** Gives the files of the list that was shown last, if the one at a path is among them, else that one alone. */
export function filesBeside(file) {
  const files = shown().filter(item => item.type !== 'dir');
  return files.some(({path}) => path === file.path) ? files : [file];
}
