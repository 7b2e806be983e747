// The help of the keys.

import {h} from './dom.js';
import {dialog} from './overlay.js';
import {define, t as common} from './texts.js';

const t = define({
  en: {text: 'Keys are off while you type.', rows: 'Next, previous row', open: 'Open the row',
    remove: 'Delete the row'},
  ru: {text: 'При вводе текста клавиши отключены.', rows: 'Следующая, предыдущая строка', open: 'Открыть строку',
    remove: 'Удалить строку'},
});

/** Shows the keys. */
export function openHelp() {
  const rows = [[['Ctrl', 'K'], common('kAll')], [['/'], common('search')], [['r'], common('refresh')],
    [['j', 'k'], t('rows')], [['Enter'], t('open')], [['#', 'Delete'], t('remove')], [['u'], common('undo')],
    [['Esc'], common('close')]];
  const go = [['d', 'disk'], ['s', 'shop'], ['p', 'pdf'], ['h', 'ships'], ['n', 'notes'], ['c', 'status']];
  const key = name => h('kbd', null, name);
  dialog(common('keys'), [h('p', {class: 'muted'}, t('text')), h('dl', {class: 'keys'},
    rows.map(([names, words]) => [h('dt', null, names.map(key)), h('dd', null, words)]),
    go.map(([name, app]) => [h('dt', null, key('g'), key(name)),
      h('dd', null, `${common('kGo')}: ${common(app)}`)]))]);
}
