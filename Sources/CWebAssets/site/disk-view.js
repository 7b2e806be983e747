// Disk: how a folder is shown: rows with columns, or pictures side by side; in what order; and the files and folders
// that are chosen, with the bar of what can be done to them.

import {h, refocus, replace} from './dom.js';
import {askToDelete, copyOrMove, download} from './disk-acts.js';
import {icon} from './icons.js';
import {address} from './parts.js';
import {define} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {select: 'Select', chosen: count => `${count} selected`, choose: name => `Select ${name}`,
    grid: 'Show as pictures', list: 'Show as a list',
    by: (name, down) => `Sort by ${name.toLowerCase()}, ${down ? 'descending' : 'ascending'}`},
  ru: {select: 'Выбрать', chosen: count => `Выбрано: ${count}`, choose: name => `Выбрать ${name}`,
    grid: 'Показать картинками', list: 'Показать списком',
    by: (name, down) => `Упорядочить: ${name.toLowerCase()}, по ${down ? 'убыванию' : 'возрастанию'}`},
});

const titleOf = column => t(column === 'modified' ? 'changed' : column);

/** Tells whether folders are shown as pictures. */
export function isGrid() { return localStorage.getItem('larder.disk.view') === 'grid'; }

/** Gives the order of a folder: that of its address, else the last one that was chosen. */
export function sortOf(screen) {
  return screen.query.get('sort') ?? sessionStorage.getItem('larder.disk.sort') ?? 'name';
}

/** Makes the button that changes between rows and pictures. */
export function viewButton(changed) {
  const draw = () => {
    const words = t(isGrid() ? 'list' : 'grid');
    Object.assign(element, {title: words, ariaLabel: words});
    replace(element, icon(isGrid() ? 'lines' : 'grid'));
  };
  const element = button(t('grid'), () => {
    localStorage.setItem('larder.disk.view', isGrid() ? 'list' : 'grid');
    draw();
    changed();
  }, {icon: 'grid', bare: true});
  draw();
  return element;
}

/**
 * Makes the heads of the columns: a press sorts by one, a further one the other way round.
 * @param {Screen} screen @param {function()} changed @param {function(string)} told Gets the order.
 */
export function columns(screen, changed, told) {
  const element = h('div', {class: 'file-columns', hidden: true});
  const sorted = () => {
    sessionStorage.setItem('larder.disk.sort', sortOf(screen));
    told(sortOf(screen));
    changed();
  };
  const draw = hidden => {
    const now = sortOf(screen);
    element.hidden = hidden;
    replace(element, ['name', 'modified', 'size'].map(name => {
      const [isThis, isDown] = [now.replace('-', '') === name, now.startsWith('-')];
      // What is new and what is large are looked for first.
      const next = isThis ? !isDown : name !== 'name';
      return h('button', {type: 'button', class: `column-${name}`, title: t('by', titleOf(name), next),
        'aria-pressed': String(isThis), onclick: () => {
          address(screen, {sort: `${next ? '-' : ''}${name}`});
          sorted();
        }}, titleOf(name), isThis && icon(isDown ? 'down' : 'up', 16));
    }));
  };
  return {element, draw, sorted};
}

/** What is selected in a list. */
export class Selection {
  constructor(screen, list) {
    Object.assign(this, {screen, list, on: false, paths: new Set(), last: null});
    this.button = button(t('select'), () => this.toggle(), {icon: 'check', kind: 'compact choose'});
    this.end = button(t('done'), () => this.toggle(), {icon: 'check'});
    this.count = h('span', {role: 'status'});
    const act = (title, sign, run, options) => button(title, async () => run(this.items(), () => this.finished()),
      {icon: sign, ...options});
    this.acts = [act(t('download'), 'download', items => download(items)),
      act(t('move'), 'moveto', (items, done) => copyOrMove('move', items, done), {write: true}),
      act(t('copy'), 'copy', (items, done) => copyOrMove('copy', items, done), {write: true}),
      act(t('remove'), 'trash', (items, done) => askToDelete(items, done), {write: true, kind: 'danger'})];
    this.bar = h('div', {class: 'selection', hidden: true}, this.count,
      button(t('all'), () => this.choose(this.list().items()), {kind: 'quiet'}), this.end, this.acts);
  }

  items() { return this.list().items().filter(item => this.paths.has(item.path)); }

  toggle() {
    this.on = !this.on;
    this.screen.root.classList.toggle('selecting', this.on);
    this.button.hidden = this.on;
    this.bar.hidden = !this.on;
    this.choose([]);
    refocus(this.on ? this.end : this.button);
  }

  choose(items) {
    this.paths = new Set(items.map(item => item.path));
    this.drawn();
  }

  /** Makes the box that chooses a row; with Shift all rows since the last one. */
  box(item) {
    return h('input', {type: 'checkbox', class: 'row-check', 'aria-label': t('choose', item.name),
      checked: this.paths.has(item.path),
      onclick: event => this.take(item, event.target.checked, event.shiftKey)});
  }

  /** In this mode a press anywhere on a row chooses it. */
  press(event) {
    const row = event.target.closest('.row');
    if (!this.on || !row || event.target.closest('.row-end, .row-check')) return;
    event.preventDefault();
    event.stopPropagation();
    this.take({path: row.rowKey}, !this.paths.has(row.rowKey), event.shiftKey);
  }

  take({path}, on, isRange) {
    const paths = this.list().items().map(item => item.path);
    const [from, to] = [paths.indexOf(this.last), paths.indexOf(path)].sort((one, other) => one - other);
    for (const one of isRange && from >= 0 ? paths.slice(from, to + 1) : [path]) this.paths[on ? 'add' : 'delete'](one);
    this.last = path;
    this.drawn();
  }

  drawn() {
    for (const row of this.list().element.children) {
      const box = row.querySelector('.row-check');
      if (box) box.checked = this.paths.has(row.rowKey);
    }
    const items = this.items();
    for (const act of this.acts) act.inert = items.length === 0;
    this.acts[0].inert = items.every(item => item.type === 'dir');
    replace(this.count, t('chosen', items.length));
  }

  async finished() {
    if (this.on) this.toggle();
    await this.list().resource.reload(true);
  }
}
