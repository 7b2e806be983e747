// The trash of Notes, PDF and the Disk: what was deleted, to be restored or deleted for good.

import {call, quietly} from './api.js';
import {h, replace} from './dom.js';
import {icon as drawn} from './icons.js';
import {pagedList} from './list.js';
import {ask, toast} from './overlay.js';
import {define, langOf, time} from './texts.js';
import {button, empty, linkButton} from './ui.js';

/** The strings of the trash. */
export const t = define({
  en: {restored: name => `${name} is restored`, gone: 'Deleted for good',
    on: when => `Deleted ${when}`, until: when => `Kept until ${when}`,
    empty: 'The trash is empty', download: 'Download my data', stored: (used, quota) => `Stored: ${used} of ${quota}`},
  ru: {restored: name => `Восстановлено: ${name}`, gone: 'Удалено навсегда',
    on: when => `Удалено ${when}`, until: when => `Хранится до ${when}`,
    empty: 'Корзина пуста', download: 'Скачать мои данные', stored: (used, quota) => `Занято: ${used} из ${quota}`},
});

/** Formats a day. What Larder deletes in a month needs no year. */
const day = (text, year) => time(text, {day: 'numeric', month: 'short', year});

/**
 * Shows what an app has deleted, with the actions that the server sends.
 * @param {Screen} screen
 * @param {{href: string, back: string, icon: string, name: function(Object): string}} options `icon` is the sign of the
 *   rows; for the files of an upstream `look` makes that of each, and `about` says more of one.
 */
export function openTrash(screen, {href, back, icon, name, look, about = item => t('until', day(item.expires_at))}) {
  const run = async (action, item) => {
    if (action.confirm && !await ask(action.confirm)) return;
    await call(action.href, {method: action.method, body: action.body});
    await list.resource.reload(true);
    toast(action.id === 'restore' ? t('restored', name(item)) : t('gone'));
  };
  const act = (action, item, options) => button(action.title, () => run(action, item), {write: true,
    disabled: !action.enabled, ...options});
  const row = item => h('li', {class: 'row'},
    look?.(item) ?? h('span', {class: `file-sign kind-${icon}`}, drawn(icon, 24)),
    h('div', {class: 'row-main'}, h('span', {class: 'row-name', dir: 'auto', lang: langOf(name(item))}, name(item)),
      h('span', {class: 'row-sub'}, [item.deleted_at && t('on', day(item.deleted_at, look && 'numeric')), about(item)]
        .filter(Boolean).join(' · '))),
    h('div', {class: 'row-end'}, item.actions.map(action => (action.id === 'restore'
      ? act(action, item, {icon: 'rotate', kind: 'compact'})
      : act(action, item, {icon: 'trash', bare: true, key: 'delete'})))));
  const stored = h('div', {class: 'card stack small usage', hidden: true});
  const mine = h('div', {class: 'stack mine-data'}, stored, h('div', null,
    linkButton(t('download'), '/v1/export', {icon: 'download', download: 'larder.zip'})));
  screen.head({title: t('trash'), back, actions: [look && screen.refreshButton(() => list.resource)]});
  const list = pagedList(screen, {href, key: item => item.path ?? item.id, label: t('trash'), row,
    before: ({data}) => [h('div', {class: 'toolbar'},
      data.items.length > 0 && data.actions.map(action => act(action, null, {})))],
    drawn: () => {
      if (look) return;
      if (!mine.isConnected) screen.body.append(mine);
      drawUsage(screen, stored, href);
    },
    // The link to the undeleted rows is at the top.
    empty: data => empty({title: t('empty'), ...data.empty, button: null}, {icon: 'trash'})});
}

/** Shows how much of the app is stored, which the trash is part of, and how much may be. */
async function drawUsage(screen, place, href) {
  const answer = await quietly(call('/v1/usage', {signal: screen.signal}));
  if (!answer) return;
  const own = answer.data.apps.find(({parts}) => parts.some(part => part.href === href.split('?')[0]));
  place.hidden = !own;
  if (!own) return;
  const fill = h('div', {class: 'meter-fill'});
  fill.style.width = `${Math.min(100, 100 * own.used_bytes / (own.quota_bytes || 1))}%`;
  replace(place, h('p', null, t('stored', own.used_text, own.quota_text)),
    h('div', {class: 'meter', 'aria-hidden': 'true'}, fill),
    h('dl', {class: 'facts'}, own.parts.map(part => [h('dt', null, part.title), h('dd', null, part.bytes_text)])));
}

/** Asks in the server's words, and deletes something. */
export async function remove(action, said, done) {
  if (!await ask(action.confirm)) return;
  const answer = await call(action.href, {method: action.method});
  await done();
  sayDeleted(said, answer, done);
}

/** Says that something was deleted, with a button that takes it back if the server names a way. */
export function sayDeleted(text, {data}, again) {
  const undo = data.actions?.find(action => action.id === 'undo');
  toast(text, undo && {action: {title: undo.title, run: async () => {
    await call(undo.href, {method: undo.method});
    await again();
  }}});
}
