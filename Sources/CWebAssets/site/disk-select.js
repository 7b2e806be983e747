// Disk: the files and folders that are chosen in a list, and the bar with what can be done to them.

import {h, replace} from './dom.js';
import {askToDelete, copyOrMove, download} from './disk-acts.js';
import {define} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {select: 'Select',
    chosen: count => `${count} selected`, choose: name => `Select ${name}`},
  ru: {select: 'Выбрать',
    chosen: count => `Выбрано: ${count}`, choose: name => `Выбрать ${name}`},
});

/** What is selected in a list. */
export class Selection {
  constructor(screen, list) {
    Object.assign(this, {screen, list, on: false, paths: new Set(), last: null});
    this.button = button(t('select'), () => this.toggle(), {icon: 'check', kind: 'compact'});
    this.button.setAttribute('aria-pressed', 'false');
    this.count = h('span', {role: 'status'});
    const act = (title, sign, run, options) => button(title, async () => run(this.items(), () => this.finished()),
      {icon: sign, ...options});
    this.get = act(t('download'), 'download', items => download(items), {});
    this.bar = h('div', {class: 'selection', hidden: true}, this.count,
      button(t('all'), () => this.choose(this.list().items()), {kind: 'quiet'}), this.get,
      act(t('move'), 'right', (items, done) => copyOrMove('move', items, done), {write: true}),
      act(t('copy'), 'copy', (items, done) => copyOrMove('copy', items, done), {write: true}),
      act(t('remove'), 'trash', (items, done) => askToDelete(items, done), {write: true, kind: 'danger'}));
  }

  items() { return this.list().items().filter(item => this.paths.has(item.path)); }

  toggle() {
    this.on = !this.on;
    this.screen.root.classList.toggle('selecting', this.on);
    this.button.setAttribute('aria-pressed', String(this.on));
    replace(this.button.querySelector('span'), this.on ? t('done') : t('select'));
    this.choose([]);
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
    this.bar.hidden = !this.on || items.length === 0;
    this.get.hidden = items.every(item => item.type === 'dir');
    replace(this.count, t('chosen', items.length));
  }

  async finished() {
    if (this.on) this.toggle();
    await this.list().resource.reload(true);
  }
}
