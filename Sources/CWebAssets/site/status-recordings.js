// Control room, for tests: recordings of upstreams, and sources that are made from OpenAPI documents.

import {call, Problem} from './api.js';
import {h, replace} from './dom.js';
import {field} from './form.js';
import {showProblem} from './overlay.js';
import {askFor, plain, t as ofFaults} from './status-rules.js';
import {define} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    recordings: 'Recordings', recordingsLead: 'Responses of sources as files.',
    noFolder: 'No source has a folder: --upstreams-spacex-fixtures FOLDER names one.',
    mode: name => `Mode: ${name}`, files: (exchanges, patches) => `files: ${exchanges}, patches: ${patches}`,
    live: 'live', record: 'record', replay: 'replay', spy: 'replay, else record', modify: 'modify', diff: 'compare',
    broken: 'cannot be used', unmatched: 'no file', nearest: name => `nearest: ${name}`,
    stubs: 'Other simulated sources', stubsLead: 'Files of the Disk, and your own.',
    add: 'New from OpenAPI', nameRule: '1 to 50 of a–z, 0–9 and _.', openapi: 'OpenAPI document',
    hint: 'Its text (3.0 or 3.1, YAML or JSON), or the path of a file on this machine.', empty: 'Which document?',
  },
  ru: {
    recordings: 'Записи', recordingsLead: 'Ответы источников в файлах.',
    noFolder: 'Ни у одного источника нет папки; её задаёт --upstreams-spacex-fixtures ПАПКА.',
    mode: name => `Режим: ${name}`, files: (exchanges, patches) => `файлов: ${exchanges}, правок: ${patches}`,
    live: 'напрямую', record: 'запись', replay: 'воспроизведение', spy: 'из файлов, иначе запись',
    modify: 'с правками', diff: 'сверка',
    broken: 'не читается', unmatched: 'нет файла', nearest: name => `ближе всех: ${name}`,
    stubs: 'Другие источники песочницы', stubsLead: 'Файлы Диска и ваши собственные.',
    add: 'Новый из OpenAPI', nameRule: 'От 1 до 50 знаков: a–z, 0–9 и _.', openapi: 'Документ OpenAPI',
    hint: 'Его текст (3.0 или 3.1, YAML или JSON) или путь к файлу на этой машине.', empty: 'Какой документ?',
  },
});

// Sources that the sandbox has from the start.
const simulated = /^(spacex|catalogue|people|geocoder|yandex_(disk|oauth|downloader|uploader))$/;

/**
 * Makes the list of the upstreams that have a folder of recordings.
 * @param {string} base Path of the harness.
 * @returns {{element: HTMLElement, update: function(): Promise}}
 */
export function recordings(base) {
  const list = h('ul', {class: 'log', 'aria-label': t('recordings')});
  let last = null;
  const update = async chosen => {
    const named = (await call(`${base}/upstreams`)).data.upstreams.filter(one => one.folder);
    const found = await Promise.all(named.map(async ({name}) => (await call(`${base}/upstreams/${name}`)).data));
    const drawn = JSON.stringify(found);
    const held = list.contains(document.activeElement) && document.activeElement.id;
    if (drawn === last || (held && !chosen)) return;
    last = drawn;
    replace(list, found.length ? found.map(one => recording(base, one, update)) : h('li', {class: 'muted'},
      t('noFolder')));
    if (held) document.getElementById(held)?.focus();
  };
  return {update, element: h('section', {class: 'stack'}, h('h3', null, t('recordings')),
    h('p', {class: 'small muted'}, t('recordingsLead')), list)};
}

function recording(base, {name, mode, folder, exchanges, patches, broken, unmatched, differences}, update) {
  const set = async () => {
    try {
      await call(`${base}/upstreams/${name}/mode`, {method: 'PUT', body: {mode: select.value}});
      await update(true);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      select.value = mode;
      showProblem(problem);
    }
  };
  const select = h('select', {id: `mode-${name}`, 'aria-label': t('mode', name), dataset: {write: ''}, onchange: set},
    ['live', 'record', 'replay', 'spy', 'modify', 'diff'].map(value => h('option', {value}, t(value))));
  select.value = mode;
  const line = (sign, text, more) => h('p', null, h('span', {class: 'tag warn'}, sign), ' ',
    h('span', {class: 'code'}, text), more && h('span', {class: 'muted'}, ` ${more}`));
  return h('li', null, h('div', {class: 'bar'}, h('span', {class: 'grow'}, h('strong', null, name), ' ',
    h('span', {class: 'muted'}, t('files', exchanges, patches)), h('br'), h('span', {class: 'code'}, folder)), select),
  broken.map(one => line(t('broken'), [one.file, one.line].filter(Boolean).join(':'), one.reason)),
  unmatched.slice(-20).map(one => line(t('unmatched'), one.request, one.near_misses[0]
    && t('nearest', one.near_misses[0].file))),
  differences.slice(-20).map(one => line(one.place, one.request, `${one.recorded} → ${one.received}`)));
}

/**
 * Makes the list of the sources that have no card of their own.
 * @param {Object} controls Those of status-sandbox.js. @param {function(): Promise} after Called after a change.
 * @param {Array<{name: string}>} cards Those that have.
 * @returns {HTMLElement}
 */
export function stubs(controls, after, cards) {
  const list = h('ul', {class: 'stack', 'aria-label': t('stubs')});
  const rows = new Map();
  const show = upstreams => {
    const names = upstreams.map(one => one.name).filter(name => !cards.some(one => one.name === name));
    for (const name of names) if (!rows.has(name)) rows.set(name, stub(name, controls, after));
    for (const name of rows.keys()) if (!names.includes(name)) rows.delete(name);
    if (list.childElementCount !== rows.size || [...rows.values()].some(row => row.parentNode !== list))
      replace(list, [...rows.values()]);
  };
  controls.watch(show);
  show(controls.upstreams());
  const add = button(t('add'), () => { ask(after); }, {icon: 'plus', write: true});
  return h('details', {class: 'card'}, h('summary', null, t('stubs')), h('div', {class: 'stack'},
    h('p', {class: 'small muted'}, t('stubsLead')), list, h('div', {class: 'bar'}, add)));
}

function stub(name, controls, after) {
  return h('li', null, h('div', {class: 'bar'}, h('span', {class: 'grow'},
    h('strong', null, controls.titleOf(name)), ' ', h('span', {class: 'code'}, `/${name}`)),
  !simulated.test(name) && button(ofFaults('drop'), async () => {
    await call(`/v1/sandbox/upstreams/${name}`, {method: 'DELETE'});
    await after();
  }, {kind: 'quiet', write: true})), controls.faultOf(name));
}

/** Asks for a document and makes a source from it. */
function ask(after) {
  const fields = [
    field('name', t('name'), {...plain, autofocus: true, hint: t('nameRule'),
      check: text => (/^[a-z0-9][a-z0-9_]{0,49}$/.test(text.trim()) ? null : t('nameRule'))}),
    field('openapi', t('openapi'), {...plain, tag: 'textarea', rows: '8', hint: t('hint'),
      check: text => (text.trim() ? null : t('empty'))})];
  return askFor(t('add'), fields, async ({name, openapi}) => {
    await call('/v1/sandbox/upstreams', {method: 'POST', body: {name: name.trim(), openapi}});
    await after();
  });
}
