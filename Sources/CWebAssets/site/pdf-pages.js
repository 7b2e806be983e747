// PDF: the pages of a document side by side. They are chosen by a press, a range or keys, and then moved, turned,
// deleted or taken out together.

import {larder} from './api.js';
import {h, replace} from './dom.js';
import {field, form} from './form.js';
import {attempt, dialog} from './overlay.js';
import {dragRows} from './sort.js';
import {define, plural} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    range: 'Pages', rangeHint: '1–3, 7', left: 'Turn left', right: 'Turn right', earlier: 'Move earlier',
    later: 'Move later', extract: 'Make a document of them',
    none: 'Choose pages, or drag them',
    chosen: count => `${count} ${plural(count, {one: 'page', other: 'pages'})} selected`,
    dropped: count => `${count} ${plural(count, {one: 'page', other: 'pages'})} deleted`,
  },
  ru: {
    range: 'Страницы', rangeHint: '1–3, 7', left: 'Повернуть влево', right: 'Повернуть вправо',
    earlier: 'Передвинуть раньше', later: 'Передвинуть дальше', extract: 'Сделать из них документ',
    none: 'Выберите или передвиньте',
    chosen: count => `Выбрано страниц: ${count}`, dropped: count => `Удалено страниц: ${count}`,
  },
});

/** The pages that are chosen in a reader, and what is done to them. */
export class Pages {
  /** @param {Reader} reader @param {HTMLElement} list Its pages. */
  constructor(reader, list) {
    Object.assign(this, {reader, list, chosen: new Set(), gone: new Set(), turns: new Map(), last: null});
    const act = (title, icon, run) => button(title, () => { run(); }, {bare: true, icon, write: true});
    this.count = h('span', {role: 'status', class: 'grow'});
    this.range = h('input', {class: 'field-input narrow', 'aria-label': t('range'), placeholder: t('rangeHint'),
      inputmode: 'text', autocomplete: 'off', oninput: () => this.choose(numbersIn(this.range.value))});
    this.acts = h('div', {class: 'bar'}, act(t('earlier'), 'back', () => this.step(-1)),
      act(t('later'), 'right', () => this.step(1)), act(t('left'), 'rotate', () => this.turn([...this.chosen], -90)),
      act(t('right'), 'turn', () => this.turn([...this.chosen], 90)),
      button(t('extract'), () => { this.extract(); }, {icon: 'pdf', kind: 'compact', write: true}),
      button(t('remove'), () => this.drop([...this.chosen]), {icon: 'trash', kind: 'danger compact', write: true}));
    this.bar = h('div', {class: 'selection arranging', hidden: true}, this.count,
      h('div', {class: 'bar'}, this.range, button(t('all'), () => this.choose(this.ids.keys()), {kind: 'quiet'})),
      this.acts);
    list.addEventListener('keydown', event => this.on && this.press(event));
    dragRows(list, () => this.on && larder.up, row => this.together(row),
      rows => this.order(rows.map(one => one.rowKey)));
  }

  get on() { return this.list.classList.contains('tiles'); }
  get ids() { return this.shown.map(page => page.id); }
  /** The pages without those that are being deleted. */
  get shown() { return this.reader.document.pages.filter(page => !this.gone.has(page.id)); }

  toggle() {
    this.list.classList.toggle('tiles');
    this.bar.hidden = !this.on;
    this.choose([]);
  }

  /** Makes the box that chooses a page; it covers the page where they are side by side. */
  box(id, title) {
    return h('input', {type: 'checkbox', class: 'row-check', 'aria-label': title, checked: this.chosen.has(id),
      onclick: event => this.take(id, event.target.checked, event.shiftKey), onfocus: () => this.rove(id)});
  }

  take(id, on, isRange) {
    const {ids} = this;
    const [from, to] = [ids.indexOf(this.last), ids.indexOf(id)].sort((one, other) => one - other);
    for (const one of isRange && from >= 0 ? ids.slice(from, to + 1) : [id]) this.chosen[on ? 'add' : 'delete'](one);
    this.last = id;
    this.draw();
  }

  /** Chooses pages by their places, from 0. */
  choose(places) {
    const {ids} = this;
    this.chosen = new Set([...places].map(at => ids[at]).filter(Boolean));
    this.draw();
  }

  draw() {
    const {ids} = this;
    this.chosen = new Set(ids.filter(id => this.chosen.has(id)));
    const {size} = this.chosen;
    for (const row of this.list.children) row.querySelector('.row-check').checked = this.chosen.has(row.rowKey);
    replace(this.count, size ? t('chosen', size) : t('none'));
    for (const one of this.acts.children) one.disabled = size === 0;
    this.acts.lastElementChild.disabled ||= size === ids.length;
    if (document.activeElement !== this.range) {
      this.range.value = rangesOf(ids.flatMap((id, at) => (this.chosen.has(id) ? [at + 1] : [])));
    }
    this.rove(this.last);
  }

  /** One page is in the order of Tab; arrows lead to the others. */
  rove(id) {
    const boxes = [...this.list.querySelectorAll('.row-check')];
    const at = Math.max(0, this.ids.indexOf(id));
    boxes.forEach((box, index) => { box.tabIndex = index === at ? 0 : -1; });
  }

  press(event) {
    const boxes = [...this.list.querySelectorAll('.row-check')];
    const at = boxes.indexOf(document.activeElement);
    if (at < 0) return;
    const columns = getComputedStyle(this.list).gridTemplateColumns.split(' ').length;
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -at,
      End: boxes.length - 1 - at}[event.key];
    const isAll = (event.ctrlKey || event.metaKey) && event.code === 'KeyA';
    if (step !== undefined) boxes[at + step]?.focus();
    else if (isAll) this.choose(this.ids.keys());
    else if (event.key === 'Delete' && !this.acts.lastElementChild.disabled) this.drop([...this.chosen]);
    else if (event.key === 'Escape' && this.chosen.size) this.choose([]);
    else return;
    event.preventDefault();
  }

  /** Gives the rows that are dragged with one: all that are chosen if it is. */
  together(row) {
    if (!this.chosen.has(row.rowKey)) return [row];
    return [...this.list.children].filter(one => this.chosen.has(one.rowKey));
  }

  /** Moves the chosen pages by one place; a block at an end stays. */
  step(by) {
    const {ids} = this;
    const rest = ids.filter(id => !this.chosen.has(id));
    const block = ids.filter(id => this.chosen.has(id));
    const first = ids.indexOf(by < 0 ? block[0] : block.at(-1));
    const before = ids.slice(0, first + (by < 0 ? 0 : 1)).filter(id => !this.chosen.has(id)).length;
    const at = Math.max(0, Math.min(rest.length, before + by));
    return this.order(rest.toSpliced(at, 0, ...block));
  }

  order(ids) {
    const {href} = this.reader.document;
    return attempt(() => this.reader.change(`${href}/pages/order`, 'PUT', {pages: ids}));
  }

  /** Turns pages. Presses while a turn is being sent are added to the next one: each counts. */
  turn(ids, by) {
    for (const id of ids) {
      const isSending = this.turns.has(id);
      this.turns.set(id, (this.turns.get(id) ?? 0) + by);
      this.reader.lean(id, this.turns.get(id));
      if (!isSending) this.sendTurn(id);
    }
  }

  /** Sends all turns of a page up to now; sent again, they are the same ones. */
  async sendTurn(id) {
    let rotate;
    const take = () => {
      const sum = this.turns.get(id);
      this.turns.delete(id);
      return sum;
    };
    const answer = await attempt(() => this.reader.change(() => [`${this.reader.document.href}/pages/${id}`,
      {method: 'PATCH', body: {rotate_by: rotate ??= take()}}]));
    if (answer) return;
    if (rotate === undefined) take();
    this.reader.lean(id, 0);
  }

  /** Takes pages away, with a way back. */
  async drop(ids) {
    const {reader} = this;
    const draw = act => {
      for (const id of ids) this.gone[act](id);
      reader.redraw();
    };
    draw('add');
    const answer = await attempt(() => reader.change(`${reader.document.href}/pages/delete`, 'POST', {pages: ids}));
    draw('delete');
    if (answer) reader.say(t('dropped', ids.length), answer.data);
  }

  /** Makes a document of the chosen pages. */
  extract() {
    const {reader} = this;
    const action = reader.action('extract');
    return dialog(action.title, close => {
      const name = field('name', t('name'), {autofocus: true, maxlength: 200, autocomplete: 'off'});
      return [form([name], action.title, async values => {
        const {data} = await reader.change(action.href, action.method, {pages: [...this.chosen],
          name: values.name.trim() || null});
        close(true);
        await reader.screen.go(`/pdf/${data.id}`);
      })];
    });
  }
}

/** Reads "1-3, 7" as places from 0. */
function* numbersIn(text) {
  for (const [, from, to] of text.matchAll(/(\d{1,5})(?:\s*[-–—]\s*(\d{1,5}))?/g)) {
    for (let number = Number(from); number <= Number(to ?? from); number += 1) yield number - 1;
  }
}

/** Writes numbers as "1–3, 7". */
function rangesOf(numbers) {
  const runs = [];
  for (const number of numbers) {
    if (runs.at(-1)?.[1] === number - 1) runs.at(-1)[1] = number; else runs.push([number, number]);
  }
  return runs.map(([from, to]) => (from === to ? from : `${from}–${to}`)).join(', ');
}
