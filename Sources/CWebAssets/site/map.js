// <larder-map>: a map of the world that needs no network. The canvas is a picture; pins and clusters are buttons.

import {call, Problem, withQuery} from './api.js';
import {h} from './dom.js';
import {icon} from './icons.js';
import {define, language} from './texts.js';
import {hearGestures} from './map-gestures.js';
import {draw, loadWorld, nearest, outlineZoom, place, project, spread, Tiles, unproject} from './map-draw.js';

const t = define({
  en: {
    help: 'Map. Arrow keys move it, plus and minus zoom, Enter chooses its middle.',
    farther: 'Zoom out', cluster: count => `${count} notes, zoom in`,
  },
  ru: {
    help: 'Карта. Стрелки двигают её, плюс и минус меняют масштаб, Enter выбирает середину.',
    farther: 'Дальше', cluster: count => `Заметок: ${count}, приблизить`,
  },
});

const buttonsAtMost = 150;
const closestTiles = 18;
const reduced = matchMedia('(prefers-reduced-motion: reduce)');
const colorNames = {sea: 'sea', land: 'land', coast: 'coast', border: 'line', grid: 'coast', muted: 'muted',
  accent: 'accent'};

let knowsCities = true;

/**
 * The element. Attribute `still` makes a picture of it, `picking` lets its middle be the place that is chosen. Without
 * tiles it names the cities that Larder knows, and zooms as far as the outline of the world is honest.
 * Events: `view` (after each movement, `detail` is `{bbox, zoom, lat, lon}`), `pick` (the user moved a picking map),
 * `open` (a mark was chosen, `detail` is the mark), `press` (a place was, `detail` is `{lat, lon, name, near}`, the
 * names those of the city and of one not far).
 */
class LarderMap extends HTMLElement {
  marks = [];
  cities = [];
  tiles = null;
  attribution = '';
  view = {x: 0.5, y: 0.4, zoom: 1, width: 0, height: 0, scale: 256};
  #world = null;
  #buttons = new Map();
  #frame = 0;
  #timer = 0;
  #target = null;
  #life = null;
  #callout = null;
  /** The area whose cities were asked for last. */
  #area = '';

  connectedCallback() {
    this.#life = new AbortController();
    if (!this.firstChild) this.#build();
    this.#syncButtons();
    this.#observe(this.#life.signal);
    // Without the outline, as when Larder has gone, the map has its degrees and pins.
    loadWorld().then(world => { this.#world = world; this.#redraw(); }, () => {});
  }

  disconnectedCallback() { this.#life.abort(); }

  get #still() { return this.hasAttribute('still'); }
  get #picking() { return this.hasAttribute('picking'); }
  /** The greatest zoom. */
  get highest() { return this.tiles ? closestTiles : outlineZoom; }
  get #lowest() { return Math.log2(Math.max(this.view.width, this.view.height, 256) / 256); }

  /** Shows tiles of a mount (`{template, maxZoom, attribution}`), or none. */
  useTiles(source) {
    this.tiles = source ? new Tiles(source.template, source.maxZoom ?? 19, () => this.#redraw()) : null;
    this.attribution = source?.attribution ?? '';
    this.#redraw();
  }

  /** Shows marks: `{id, lat, lon, label, count?, bbox?}`; those with a count are clusters. */
  setMarks(marks) {
    this.marks = marks.map(mark => ({...mark, ...project(mark.lat, mark.lon)}));
    if (this.#callout?.id && !this.#mark(this.#callout.id)) this.closeCallout();
    this.#syncButtons();
    this.#redraw();
  }

  #mark(id) { return this.marks.find(mark => mark.id === id); }

  /** Moves to a place. */
  show(lat, lon, zoom = this.view.zoom, animated = false) {
    this.#moveTo({...project(lat, lon), zoom}, animated);
  }

  /** Shows an area `[west, south, east, north]` whole, at most so near. */
  fit([west, south, east, north], animated = true, closest = 15) {
    const low = project(south, west);
    const high = project(north, east < west ? east + 360 : east);
    // What is at its edge is not cut by the frame.
    const share = Math.max((high.x - low.x) / Math.max(0, this.view.width - 80), 1e-9,
      (low.y - high.y) / Math.max(0, this.view.height - 80));
    const zoom = Math.min(closest, Math.log2(1 / share / 256));
    this.#moveTo({x: (low.x + high.x) / 2, y: (low.y + high.y) / 2, zoom}, animated);
  }

  /** The place in the middle. */
  get middle() { return unproject(this.view.x, this.view.y); }

  /** The area that is shown, `[west, south, east, north]`; west is larger than east across the date line. */
  get bbox() {
    const halfX = this.view.width / 2 / this.view.scale;
    const halfY = this.view.height / 2 / this.view.scale;
    const south = unproject(0, Math.min(1, this.view.y + halfY)).lat;
    const north = unproject(0, Math.max(0, this.view.y - halfY)).lat;
    if (halfX >= 0.499) return [-180, south, 180, north];
    return [unproject(this.view.x - halfX, 0).lon, south, unproject(this.view.x + halfX, 0).lon, north];
  }

  /** Shows an element beside a mark, which its id names, or at a place, with a pin. */
  openCallout(at, content) {
    this.closeCallout();
    const where = at.lat === undefined ? {id: at} : {place: project(at.lat, at.lon)};
    this.#callout = {...where, element: h('div', {class: 'map-callout'}, content,
      where.place && h('span', {class: 'map-pin'}, icon('pin')))};
    this.over.append(this.#callout.element);
    this.#redraw();
  }

  /** Removes what `openCallout` shows. */
  closeCallout() {
    this.#callout?.element.remove();
    this.#callout = null;
  }

  /** Marks the pin or cluster of an id, as while its row in a list is pointed at. */
  highlight(id, on) { this.#buttons.get(id)?.classList.toggle('lit', on); }

  #build() {
    this.canvas = h('canvas', {'aria-hidden': 'true'});
    this.over = h('div', {class: 'map-over'});
    this.scale = h('span', {class: 'map-scale'});
    this.credit = h('span');
    this.probes = Object.entries(colorNames).map(([name, token]) => {
      const probe = h('i', {hidden: true});
      probe.style.color = `var(--${token})`;
      return [name, probe];
    });
    const zoom = (name, levels, sign) => h('button', {type: 'button', 'aria-label': t(name),
      onclick: () => this.#zoomBy(levels)}, icon(sign));
    const controls = this.#still ? null : h('div', {class: 'map-controls'}, zoom('zoomIn', 1, 'plus'),
      zoom('farther', -1, 'minus'));
    const hair = this.#picking ? h('div', {class: 'map-picker'}, icon('pin')) : null;
    this.surface = h('div', this.#still ? {class: 'map-surface'} : {class: 'map-surface', tabindex: 0, role: 'group',
      'aria-label': t('help')}, this.canvas, this.over, hair);
    this.append(this.surface, controls ?? '', h('div', {class: 'map-foot'}, this.scale, this.credit),
      ...this.probes.map(([, probe]) => probe));
  }

  #observe(signal) {
    const resize = new ResizeObserver(() => this.#resize());
    resize.observe(this);
    const theme = new MutationObserver(() => this.#redraw());
    theme.observe(document.documentElement, {attributes: true, attributeFilter: ['data-theme']});
    signal.addEventListener('abort', () => { resize.disconnect(); theme.disconnect(); });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#redraw(), {signal});
    if (this.#still) return;
    const on = (type, act) => this.surface.addEventListener(type, act, {signal});
    on('keydown', event => this.#key(event));
    on('focusin', event => this.#reveal(event.target));
    hearGestures(this.surface, signal, {zoomBy: (...how) => this.#zoomBy(...how), tap: spot => this.#tap(spot),
      panBy: (left, top) => this.#panBy(left, top), polite: () => this.hasAttribute('polite')});
  }

  #resize() {
    const {clientWidth: width, clientHeight: height} = this;
    if (!width || !height) return;
    const density = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * density);
    this.canvas.height = Math.round(height * density);
    Object.assign(this.view, {width, height});
    this.#set({});
  }

  #set(change) {
    const view = Object.assign(this.view, change);
    view.zoom = Math.max(this.#lowest, Math.min(this.highest, view.zoom));
    view.scale = 256 * 2 ** view.zoom;
    view.x -= Math.floor(view.x);
    const half = Math.min(0.5, view.height / 2 / view.scale);
    view.y = Math.max(half, Math.min(1 - half, view.y));
    this.#redraw();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#rest(), 180);
  }

  /** After a movement: tells of it, and names the cities of what is in view. */
  async #rest() {
    if (!this.isConnected) return;
    this.#tell('view');
    if (this.tiles || !knowsCities) return;
    try {
      const bbox = this.#area = this.bbox.map(degrees => degrees.toFixed(3)).join(',');
      const {data} = await call(withQuery('/v1/notes/cities', {bbox, limit: 40}), {signal: this.#life.signal});
      if (bbox !== this.#area) return;
      this.cities = data.items.map(city => ({...city, ...project(city.lat, city.lon)}));
      this.#redraw();
    } catch (problem) {
      if (problem.name === 'AbortError') return;
      if (!(problem instanceof Problem)) throw problem;
      knowsCities = problem.status !== 404;
    }
  }

  #tell(type, name = null) {
    const {bbox, middle, view} = this;
    this.dispatchEvent(new CustomEvent(type, {detail: {bbox, ...middle, zoom: view.zoom, name}}));
  }

  #moveTo(target, animated) {
    cancelAnimationFrame(this.#frame);
    const from = {x: this.view.x, y: this.view.y, zoom: this.view.zoom};
    const east = target.x - from.x - Math.round(target.x - from.x);
    this.#target = null;
    if (!animated || reduced.matches || !this.view.width) return this.#set(target);
    this.#target = target;
    const began = performance.now();
    const step = now => {
      const share = Math.min(1, (now - began) / 220);
      const eased = 1 - (1 - share) ** 3;
      this.#set({x: from.x + east * eased, y: from.y + (target.y - from.y) * eased,
        zoom: from.zoom + (target.zoom - from.zoom) * eased});
      if (share < 1) this.#frame = requestAnimationFrame(step); else this.#target = null;
    };
    this.#frame = requestAnimationFrame(step);
  }

  /** Zooms; a second press during the movement of the first one goes on from where that one leads. */
  #zoomBy(levels, spot = null, animated = true) {
    const begin = this.#target ?? this.view;
    const zoom = Math.max(this.#lowest, Math.min(this.highest, begin.zoom + levels));
    if (!spot || this.#picking) return this.#moveTo({x: begin.x, y: begin.y, zoom}, animated);
    const grow = 1 - 2 ** (this.view.zoom - zoom);
    const x = this.view.x + (spot.left - this.view.width / 2) / this.view.scale * grow;
    const y = this.view.y + (spot.top - this.view.height / 2) / this.view.scale * grow;
    this.#moveTo({x, y, zoom}, animated);
  }

  #panBy(left, top, animated = false) {
    const {x, y, scale, zoom} = this.view;
    this.#moveTo({x: x + left / scale, y: y + top / scale, zoom}, animated);
    if (this.#picking) this.#tell('pick');
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = {ArrowLeft: [-80, 0], ArrowRight: [80, 0], ArrowUp: [0, -80], ArrowDown: [0, 80]};
    const zooms = {'+': 1, '=': 1, '-': -1, _: -1};
    if (event.key === 'Escape' && this.#callout) {
      const {id} = this.#callout;
      this.closeCallout();
      (this.#buttons.get(id) ?? this.surface).focus();
    } else if (event.key === 'Enter' && event.target === this.surface) {
      this.#press({left: this.view.width / 2, top: this.view.height / 2});
    } else if (moves[event.key]) this.#panBy(...moves[event.key]);
    else if (zooms[event.key]) this.#zoomBy(zooms[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** A press beside what it had opened closes that; any other is at a dot or a place. */
  #tap(spot) {
    const dot = this.marks.length > buttonsAtMost && nearest(this.view, this.marks, spot, 16);
    const wasOpen = this.#callout !== null;
    this.closeCallout();
    if (dot) this.#choose(dot);
    else if (!wasOpen) this.#press(spot);
  }

  /** Chooses a place: that of a city if it is near to one which is named. */
  #press({left, top}) {
    const {x, y, scale, zoom} = this.view;
    const at = {x: x + (left - this.view.width / 2) / scale, y: y + (top - this.view.height / 2) / scale};
    const city = this.tiles ? null : nearest(this.view, this.cities, {left, top}, 20);
    if (this.#picking) {
      this.#moveTo({x: (city ?? at).x, y: (city ?? at).y, zoom}, false);
      this.#tell('pick', city?.name);
    } else {
      const detail = city ? {lat: city.lat, lon: city.lon, name: city.name} : {...unproject(at.x, at.y), name: null,
        near: nearest(this.view, this.cities, {left, top}, Math.min(120, scale / 80))?.name};
      this.dispatchEvent(new CustomEvent('press', {detail}));
    }
  }

  #reveal(target) {
    const mark = this.marks.find(each => this.#buttons.get(each.id) === target);
    if (!mark || !target.matches(':focus-visible')) return;
    const {left, top} = place(this.view, mark.x, mark.y);
    const inside = left > 20 && top > 20 && left < this.view.width - 20 && top < this.view.height - 20;
    if (!inside) this.#moveTo({x: mark.x, y: mark.y, zoom: this.view.zoom}, true);
    this.surface.scrollTo(0, 0);
  }

  #choose(mark) {
    if (mark.bbox) this.#zoomInto(mark);
    else this.dispatchEvent(new CustomEvent('open', {detail: mark}));
  }

  #zoomInto(mark) {
    const before = this.view.zoom;
    this.fit(mark.bbox, false);
    const target = {x: mark.x, y: mark.y, zoom: Math.max(before + 1, this.view.zoom)};
    this.#set({zoom: before});
    this.#moveTo(target, true);
    this.surface.focus({preventScroll: true});
  }

  #syncButtons() {
    if (!this.over) return;
    const kept = new Map();
    const marks = this.marks.length > buttonsAtMost ? [] : this.marks;
    for (const mark of marks) {
      const button = this.#buttons.get(mark.id) ?? this.#button(mark);
      button.setAttribute('aria-label', mark.count ? t('cluster', mark.count) : mark.label);
      kept.set(mark.id, button);
    }
    for (const [id, button] of this.#buttons) if (!kept.has(id)) button.remove();
    for (const button of kept.values()) if (!button.isConnected) this.over.append(button);
    this.#buttons = kept;
  }

  #button(mark) {
    const look = mark.count ? String(mark.count) : icon('pin');
    const kind = mark.count ? 'map-cluster' : 'map-pin';
    if (this.#still) return h('span', {class: kind}, look);
    const current = () => this.#mark(mark.id) ?? mark;
    return h('button', {type: 'button', class: kind, onclick: () => this.#choose(current())}, look);
  }

  #redraw() {
    if (this.#pending || !this.isConnected) return;
    this.#pending = requestAnimationFrame(() => { this.#pending = 0; this.#paint(); });
  }

  #pending = 0;

  #paint() {
    const {view} = this;
    if (!view.width) return;
    const pen = this.canvas.getContext('2d');
    const density = this.canvas.width / view.width;
    pen.setTransform(density, 0, 0, density, 0, 0);
    const colors = Object.fromEntries(this.probes.map(([name, probe]) => [name, getComputedStyle(probe).color]));
    const [marks, dots] = this.marks.length > buttonsAtMost ? [[], this.marks] : [this.marks, []];
    const font = getComputedStyle(this).fontFamily;
    draw(pen, view, {world: this.#world, tiles: this.tiles, cities: this.cities, marks, dots, colors, font});
    const aside = spread(view, marks);
    for (const mark of this.marks) this.#put(this.#buttons.get(mark.id), mark, aside.get(mark));
    const shown = this.#callout && (this.#callout.place ?? this.#mark(this.#callout.id));
    if (shown) this.#putCallout(this.#callout.element, shown);
    this.#legend();
  }

  /** Keeps a callout inside of the map as long as its mark is. */
  #putCallout(element, mark) {
    this.#put(element, mark);
    const {left, top} = place(this.view, mark.x, mark.y);
    const {style, classList, offsetWidth, offsetHeight} = element.firstElementChild;
    const half = offsetWidth / 2;
    const inside = Math.max(half + 8, Math.min(this.view.width - half - 8, left)) - left;
    style.left = `${Math.max(-half, Math.min(half, inside))}px`;
    classList.toggle('below', top < offsetHeight + 50);
  }

  #put(element, mark, aside = {left: 0, top: 0}) {
    if (!element) return;
    const spot = place(this.view, mark.x, mark.y);
    const [left, top] = [spot.left + aside.left, spot.top + aside.top];
    element.style.transform = `translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)`;
    element.hidden = !element.matches(':focus') && (left < -60 || top < -60
      || left > this.view.width + 60 || top > this.view.height + 60);
  }

  #legend() {
    const metres = 40075017 * Math.cos(this.middle.lat * Math.PI / 180) / this.view.scale;
    const round = [1e7, 5e6, 2e6, 1e6, 5e5, 2e5, 1e5, 5e4, 2e4, 1e4, 5e3, 2e3, 1e3, 500, 200, 100, 50, 20, 10]
      .find(length => length / metres <= 140) ?? 10;
    const far = round >= 1000;
    this.scale.style.width = `${round / metres}px`;
    this.scale.textContent = new Intl.NumberFormat(language, {style: 'unit', unit: far ? 'kilometer' : 'meter'})
      .format(far ? round / 1000 : round);
    this.credit.textContent = this.tiles ? this.attribution : 'Natural Earth';
    const ends = [this.view.zoom >= this.highest, this.view.zoom <= this.#lowest];
    this.querySelectorAll('.map-controls button').forEach((button, index) => {
      button.setAttribute('aria-disabled', String(ends[index]));
    });
  }
}

customElements.define('larder-map', LarderMap);
