// Disk: the outbox, which has the changes that wait for Yandex Disk.

import {call, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {sizeOf} from './disk-parts.js';
import {icon} from './icons.js';
import {pagedList} from './list.js';
import {ask, linkFor, toast} from './overlay.js';
import {define, langOf, language, time, zone} from './texts.js';
import {button, empty} from './ui.js';

const t = define({
  en: {
    lead: 'Larder sends these changes in this order, as soon as Yandex Disk is there.',
    next: when => `Next attempt ${when}`,
    base: 'When you changed it', theirs: 'On Yandex Disk now', ours: 'With your change', none: 'Nothing',
    dir: 'A folder', file: 'A file', takenBack: 'Taken back', of: (title, name) => `${title}: ${name}`,
  },
  ru: {
    lead: 'Larder отправит эти изменения в этом порядке, как только Яндекс Диск станет доступен.',
    next: when => `Следующая попытка ${when}`,
    base: 'Когда вы меняли', theirs: 'Сейчас на Яндекс Диске', ours: 'С вашим изменением', none: 'Ничего',
    dir: 'Папка', file: 'Файл', takenBack: 'Отменено', of: (title, name) => `${title}: ${name}`,
  },
});

const signs = {folder: 'folder', upload: 'upload', rename: 'edit', move: 'moveto', delete: 'trash', publish: 'link',
  unpublish: 'link'};
const calls = {take_back: 'close', retry: 'refresh'};
const nameOf = path => path.split('/').at(-1);
const shown = path => path.replace(/^disk:/, '');

/** Opens the outbox. */
export function openOutbox(screen) {
  screen.head({title: t('outbox'), back: '/disk/profile', actions: [screen.refreshButton(() => list.resource)]});
  const run = async action => {
    if (action.confirm && !await ask(action.confirm, action.title)) return;
    await call(action.href, {method: action.method, body: action.body});
    if (action.id === 'take_back') toast(t('takenBack'));
    await list.resource.reload();
  };
  const list = pagedList(screen, {href: withQuery('/v1/disk/outbox', {tz: zone}), key: item => item.id,
    label: t('outbox'), class: 'outbox', row: item => row(item, run),
    empty: data => empty(data.empty && {title: data.empty.text}, {icon: 'check'}), drawn: ({data}) => {
      replace(screen.leadPlace, data.items.length > 0 && t('lead'));
      count(screen.body);
    }});
  const timer = setInterval(() => count(screen.body), 1000);
  screen.signal.addEventListener('abort', () => clearInterval(timer));
}

/** Says how long it is until the next attempts. */
function count(place) {
  for (const element of place.querySelectorAll('[data-until]')) {
    const seconds = Math.max(0, Math.round((new Date(element.dataset.until) - Date.now()) / 1000));
    const [number, unit] = seconds < 120 ? [seconds, 'second'] : [Math.round(seconds / 60), 'minute'];
    replace(element, t('next', new Intl.RelativeTimeFormat(language, {numeric: 'auto'}).format(number, unit)));
  }
}

function row(item, run) {
  const name = nameOf(item.path);
  const act = action => {
    const element = button(action.title, () => run(action), {write: true, icon: calls[action.id],
      kind: {keep_both: 'primary', overwrite: 'danger', discard: ''}[action.id] ?? 'compact'});
    element.setAttribute('aria-label', t('of', action.title, name));
    return element;
  };
  const acts = item.actions.filter(action => action.enabled);
  const facts = [item.kind_text, item.to ? shown(item.path) : null, item.size_text, time(item.queued_at)];
  return h('li', {class: 'row', dataset: {state: item.state}}, icon(signs[item.kind], 24), h('div', {class: 'row-main'},
    title(item, name), h('span', {class: 'row-sub'}, facts.filter(Boolean).join(' · ')), state(item),
    item.progress !== null && item.state === 'running' && h('progress', {max: 1, value: item.progress,
      'aria-label': t('of', item.progress_text, name)}),
    item.conflict && sides(item.conflict),
    h('div', {class: 'bar'}, acts.filter(action => !calls[action.id]).map(act), linkFor({code: item.problem}))),
  h('div', {class: 'row-end'}, acts.filter(action => calls[action.id]).map(act)));
}

/** Names the file or folder as it will be, with a link unless it will be gone. */
function title(item, name) {
  const path = item.to ?? item.path;
  const words = item.to ? [name, ' → ', item.kind === 'rename' ? nameOf(path) : shown(path)] : name;
  return item.kind === 'delete' ? h('span', {class: 'row-name', dir: 'auto'}, words) : h('a', {class: 'row-name',
    dir: 'auto', href: withQuery(item.kind === 'folder' ? '/disk/files' : '/disk/file', {path})}, words);
}

function state(item) {
  const kind = {conflict: 'warn', aside: 'warn', failed: 'danger', running: 'ok', processing: 'ok'}[item.state] ?? '';
  return h('p', {class: 'bar small', lang: langOf(item.state_text)}, h('span', {class: `tag ${kind}`}, item.state_text),
    item.problem_text && h('span', null, item.problem_text),
    item.next_attempt_at && h('span', {class: 'muted', dataset: {until: item.next_attempt_at}}));
}

/** Shows a conflict: what there was, what there is, and what there would be. */
function sides(conflict) {
  const about = side => (side ? [t(side.type), sizeOf(side),
    side.modified_at && time(side.modified_at)].filter(Boolean).join(' · ') : t('none'));
  return h('dl', {class: 'sides'}, ['base', 'theirs', 'ours'].map(name => h('div', null, h('dt', null, t(name)),
    h('dd', null, about(conflict[name])))));
}
