// Pictures edge to edge, one after the other: swipe, pinch, keys, a double press; swiped down or closed.

import {h, refocus, replace} from './dom.js';
import {define} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {at: (at, of) => `${at} of ${of}`,
    hint: 'Arrow keys lead on, plus and minus make it larger and smaller.', none: 'This picture cannot be shown.'},
  ru: {at: (at, of) => `${at} из ${of}`,
    hint: 'Стрелки листают, плюс и минус меняют размер.', none: 'Эту картинку не показать.'},
});

const largest = 6;

/**
 * Shows pictures over everything else.
 * @param {Array<{src: string, alt: string, title: string}>} pictures
 * @param {number} at Which one is first.
 * @param {{actions: function(number): Array<Node>}} [options] `actions` makes what can be done to one.
 * @returns {Promise<number>} Which one was the last that was looked at, once it is closed.
 */
export function lightbox(pictures, at, options = {}) {
  const opener = document.activeElement;
  return new Promise(resolve => {
    const box = new Lightbox(pictures, options);
    box.element.addEventListener('close', () => {
      box.element.remove();
      if (opener) refocus(opener);
      resolve(box.at);
    });
    document.body.append(box.element);
    box.element.showModal();
    box.open(at);
  });
}

class Lightbox {
  constructor(pictures, {actions = () => []}) {
    Object.assign(this, {pictures, actions, at: -1, scale: 1, x: 0, y: 0, points: new Map()});
    this.title = h('h2', {id: 'lightbox-title', class: 'lightbox-title', dir: 'auto'});
    this.count = h('span', {class: 'lightbox-count', role: 'status'});
    this.acts = h('div', {class: 'bar'});
    this.slides = pictures.map(() => h('div', {class: 'slide'}));
    this.strip = h('div', {class: 'slides', tabindex: '0', role: 'group', 'aria-labelledby': 'lightbox-title',
      'aria-describedby': 'lightbox-hint'}, this.slides);
    const step = (title, icon, by) => button(title, () => { this.go(this.at + by); }, {icon, bare: true});
    [this.previous, this.next] = [step(t('previous'), 'back', -1), step(t('next'), 'right', 1)];
    this.element = h('dialog', {class: 'lightbox', 'aria-labelledby': 'lightbox-title'}, this.strip,
      h('header', {class: 'lightbox-head'}, this.title, this.count, this.acts,
        button(t('close'), () => { this.element.close(); }, {icon: 'close', bare: true})),
      pictures.length > 1 && h('div', {class: 'lightbox-steps'}, this.previous, this.next),
      h('p', {id: 'lightbox-hint', class: 'hidden'}, t('hint')));
    this.element.addEventListener('keydown', event => this.press(event));
    this.strip.addEventListener('scroll', () => this.show(Math.round(this.strip.scrollLeft / this.strip.clientWidth)),
      {passive: true});
    this.strip.addEventListener('dblclick', event => this.zoom(this.scale > 1 ? 1 : 2.5, event.clientX, event.clientY));
    this.strip.addEventListener('wheel', event => this.wheel(event), {passive: false});
    // Two fingers are a pinch, never a scroll.
    this.strip.addEventListener('touchmove', event => (event.touches.length > 1 || this.scale > 1)
      && event.preventDefault(), {passive: false});
    this.strip.addEventListener('pointerdown', event => this.down(event));
    this.strip.addEventListener('pointermove', event => this.move(event));
    for (const type of ['pointerup', 'pointercancel']) this.strip.addEventListener(type, event => this.up(event));
  }

  open(at) {
    this.strip.focus();
    this.go(at, 'instant');
    this.show(at);
  }

  go(at, behavior = 'smooth') {
    const to = Math.max(0, Math.min(this.pictures.length - 1, at));
    this.zoom(1);
    this.strip.scrollTo({left: to * this.strip.clientWidth, behavior});
  }

  /** Notes which one is in sight; those beside it are fetched with it. */
  show(at) {
    if (at === this.at || !this.pictures[at]) return;
    this.zoom(1);
    this.at = at;
    for (const near of [at, at + 1, at - 1]) this.fetch(near);
    replace(this.title, this.pictures[at].title);
    replace(this.count, this.pictures.length > 1 && t('at', at + 1, this.pictures.length));
    replace(this.acts, this.actions(at));
    this.previous.disabled = at === 0;
    this.next.disabled = at === this.pictures.length - 1;
  }

  fetch(at) {
    const [slide, one] = [this.slides[at], this.pictures[at]];
    if (!slide || slide.childElementCount) return;
    const failed = () => replace(slide, h('p', {class: 'slide-none'}, t('none')));
    slide.append(h('img', {src: one.src, alt: one.alt, draggable: 'false', onerror: failed}));
  }

  press(event) {
    const middle = [innerWidth / 2, innerHeight / 2];
    const acts = {ArrowLeft: () => this.go(this.at - 1), ArrowRight: () => this.go(this.at + 1),
      Home: () => this.go(0), End: () => this.go(this.pictures.length - 1),
      '+': () => this.zoom(this.scale * 1.5, ...middle), '=': () => this.zoom(this.scale * 1.5, ...middle),
      '-': () => this.zoom(this.scale / 1.5, ...middle), 0: () => this.zoom(1)};
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  }

  wheel(event) {
    if (!event.ctrlKey && this.scale === 1) return;
    event.preventDefault();
    if (event.ctrlKey) this.zoom(this.scale * Math.exp(-event.deltaY / 200), event.clientX, event.clientY);
    else this.pan(-event.deltaX, -event.deltaY);
  }

  down(event) {
    this.points.set(event.pointerId, event);
    this.began = {x: event.clientX, y: event.clientY, alone: this.points.size === 1};
    if (this.scale > 1 || this.points.size > 1) this.strip.setPointerCapture(event.pointerId);
  }

  move(event) {
    const last = this.points.get(event.pointerId);
    if (!last) return;
    const before = [...this.points.values()];
    this.points.set(event.pointerId, event);
    const after = [...this.points.values()];
    if (after.length === 2) {
      const apart = ([one, other]) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      const [x, y] = ['clientX', 'clientY'].map(way => (after[0][way] + after[1][way]) / 2);
      this.zoom(this.scale * apart(after) / (apart(before) || 1), x, y);
      this.began.alone = false;
    } else if (this.scale > 1) this.pan(event.clientX - last.clientX, event.clientY - last.clientY);
    else if (event.pointerType === 'touch' && this.began.alone) this.sink(event.clientY - this.began.y);
  }

  up(event) {
    this.points.delete(event.pointerId);
    if (this.points.size) return;
    const sunk = event.clientY - this.began?.y;
    const isClosed = event.type === 'pointerup' && event.pointerType === 'touch' && this.scale === 1
      && this.began?.alone && sunk > 110 && sunk > 2 * Math.abs(event.clientX - this.began.x);
    this.sink(0);
    if (isClosed) this.element.close();
    if (this.scale < 1.05) this.zoom(1);
  }

  /** Lets the picture follow a finger that swipes it down. */
  sink(by) {
    this.strip.style.translate = by > 0 ? `0 ${by}px` : '';
    this.element.style.setProperty('--dim', by > 0 ? Math.max(0.3, 1 - by / 400) : 1);
  }

  /** Makes the picture larger; the point that is named stays where it is. */
  zoom(wanted, x = innerWidth / 2, y = innerHeight / 2) {
    const scale = Math.max(1, Math.min(largest, wanted));
    const [fromX, fromY] = [x - innerWidth / 2, y - innerHeight / 2];
    const grown = scale / this.scale;
    Object.assign(this, {scale, x: fromX - (fromX - this.x) * grown, y: fromY - (fromY - this.y) * grown});
    this.pan(0, 0);
  }

  pan(byX, byY) {
    const room = size => (this.scale - 1) * size / 2;
    const within = (value, size) => Math.max(-room(size), Math.min(room(size), value));
    this.x = within(this.x + byX, innerWidth);
    this.y = within(this.y + byY, innerHeight);
    this.element.classList.toggle('zoomed', this.scale > 1);
    const slide = this.slides[this.at];
    if (slide) slide.style.transform = this.scale > 1 ? `translate(${this.x}px, ${this.y}px) scale(${this.scale})` : '';
  }
}
