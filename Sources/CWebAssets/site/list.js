// Lists: rows by key, pages by `links.next`, changes animated unless the user prefers less motion.

import {call, ChangeQueue, Problem} from './api.js';
import {h, replace} from './dom.js';
import {button, busy, empty} from './ui.js';
import {t} from './texts.js';

const calm = matchMedia('(prefers-reduced-motion: reduce)');

/**
 * Updates the children of a container by key: rows that stay are kept (with focus and scroll), rows that come, go and
 * move are animated. A row is made anew only if its data changed.
 * @param {Element} container
 * @param {Array<Object>} items
 * @param {function(Object): string} key
 * @param {function(Object): Element} make
 * @param {{animate: boolean, update: function(Element, Object): boolean}} [options] `update` changes a row in place and
 *   gives true, or gives false to have it made anew.
 */
export function keyed(container, items, key, make, {animate = true, update} = {}) {
  const old = new Map([...container.children].filter(row => row.rowKey && !row.leaving).map(row => [row.rowKey, row]));
  const moving = animate && old.size > 0 && !calm.matches && !document.hidden;
  const tops = moving ? new Map([...old].map(([name, row]) => [name, row.getBoundingClientRect()])) : null;
  const held = container.contains(document.activeElement) ? document.activeElement : null;
  const place = held ? [...old.values()].findIndex(row => row.contains(held)) : -1;
  const wanted = items.map(item => {
    const name = String(key(item));
    const row = rowFor(old.get(name), item, make, update);
    row.rowKey = name;
    return row;
  });
  const kept = new Set(wanted);
  for (const row of [...container.children]) if (!kept.has(row)) leave(row, moving);
  arrange(container, wanted);
  if (place >= 0) keepFocus(held, place, wanted);
  if (moving) for (const row of wanted) move(row, tops.get(row.rowKey), old.has(row.rowKey));
}

function rowFor(row, item, make, update) {
  const data = JSON.stringify(item);
  if (row?.rowData === data) return row;
  if (row && update?.(row, item)) { row.rowData = data; return row; }
  const made = make(item);
  made.rowData = data;
  if (row) {
    const had = row.contains(document.activeElement) ? position(row, document.activeElement) : -1;
    row.replaceWith(made);
    if (had >= 0) focusable(made)[had]?.focus();
  }
  return made;
}

/** Keeps the focus in a row that was moved; that of a row which is gone goes to the one in its place. */
function keepFocus(held, place, rows) {
  if (rows.some(row => row.contains(document.activeElement))) return;
  const row = rows[Math.min(place, rows.length - 1)];
  if (rows.some(other => other.contains(held))) held.focus({preventScroll: true});
  else (row?.querySelector('a[href]') ?? row?.querySelector('button'))?.focus();
}

const focusable = element => [...element.querySelectorAll('a[href], button, input, select, textarea')];
const position = (row, element) => focusable(row).indexOf(element);

function arrange(container, wanted) {
  let at = container.firstElementChild;
  for (const row of wanted) {
    while (at?.leaving) at = at.nextElementSibling;
    if (at === row) at = at.nextElementSibling;
    else container.insertBefore(row, at);
  }
}

function leave(row, moving) {
  if (row.leaving) return;
  if (!moving || !row.rowKey) { row.remove(); return; }
  row.leaving = true;
  row.inert = true;
  const {height} = row.getBoundingClientRect();
  row.style.overflow = 'hidden';
  row.animate([{opacity: 1, height: `${height}px`}, {opacity: 0, height: `${height}px`, offset: 0.4},
    {opacity: 0, height: '0px', minHeight: 0}], {duration: 280, easing: 'ease', fill: 'forwards'});
  setTimeout(() => row.remove(), 280);
}

function move(row, from, was) {
  if (!was) {
    row.animate([{opacity: 0, transform: 'scale(0.97)'}, {opacity: 1, transform: 'none'}], {duration: 240,
      easing: 'ease'});
    row.classList.add('new');
    setTimeout(() => row.classList.remove('new'), 1600);
    return;
  }
  const to = row.getBoundingClientRect();
  if (!from || (Math.abs(from.top - to.top) < 2 && Math.abs(from.left - to.left) < 2)) return;
  row.animate([{transform: `translate(${from.left - to.left}px, ${from.top - to.top}px)`}, {transform: 'none'}],
    {duration: 240, easing: 'ease'});
}

/**
 * Shows a paged list in a screen: further pages by `links.next`, empty state, and all that `Screen.load` does. What was
 * loaded is there again after "back".
 * @param {Screen} screen
 * @param {Object} options `href`, `key`, `row` and `update` as in `keyed`; `before` makes what is above the rows,
 *   `empty` the empty state; `items` gives the rows of `data`; `drawn` is called after each drawing; `place` takes the
 *   list.
 * @returns {Object} `resource`, `items()`, `element`; `redraw()` makes all rows anew; `change(edit, send)` applies a
 *   change to the rows at once and sends it when those before it are through; one that fails is taken back.
 */
export function pagedList(screen, options) {
  const rowsOf = options.items ?? (data => data.items);
  const list = h(options.tag ?? 'ul', {class: `rows ${options.class ?? ''}`, role: 'list',
    'aria-label': options.label});
  const above = h('div', {class: 'list-above'});
  const foot = h('div', {class: 'list-foot'});
  const state = {pages: [], items: [], generation: 0};
  const draw = (animate = true) => {
    const first = state.pages[0];
    if (!list.isConnected) replace(options.place ?? screen.body, above, list, foot);
    if (options.before) replace(above, options.before(first));
    keyed(list, state.items, options.key, options.row, {animate, update: options.update});
    list.hidden = state.items.length === 0;
    if (state.items.length === 0) {
      foot.dataset.drawn = '';
      replace(foot, options.empty?.(first.data, first) ?? emptyOf(first));
    } else drawFoot();
    options.drawn?.(first);
  };
  const emptyOf = first => first.data.empty && empty(first.data.empty, {run: () => resource.refresh()});
  const drawFoot = () => {
    const last = state.pages.at(-1);
    const counted = state.pages[0].meta.page?.total ?? null;
    // Rows that have just come back are not counted yet.
    const total = counted === null ? null : Math.max(counted, state.items.length);
    const next = last.links.next;
    const drawn = JSON.stringify([next, state.items.length, total]);
    if (foot.dataset.drawn === drawn) return;
    foot.dataset.drawn = drawn;
    const words = total === null && next ? null : h('p', {class: 'count'}, t('rows', state.items.length, total));
    const more = next && button(t('loadMore'), loadMore, {key: 'more'});
    replace(foot, more, words);
    if (more) watch();
  };
  /** Looks anew whether the foot is in view: in a high window it stays there, and nothing scrolls. */
  const watch = () => {
    watcher.unobserve(foot);
    watcher.observe(foot);
  };
  const loadMore = async () => {
    const {generation} = state;
    const answer = await call(state.pages.at(-1).links.next, {signal: screen.signal});
    // The list has been read again meanwhile.
    if (generation !== state.generation) return void watch();
    state.pages.push(answer);
    gather();
    draw(false);
  };
  const gather = () => {
    const seen = new Set();
    state.items = state.pages.flatMap(page => rowsOf(page.data)).filter(item => {
      const name = options.key(item);
      return !seen.has(name) && seen.add(name);
    });
    screen.memory.pages = state.pages;
    screen.keep({pages: state.pages.length});
  };
  const watcher = new IntersectionObserver(entries => {
    const more = foot.querySelector('[data-key=more]');
    if (entries.at(-1).isIntersecting && more) busy(more, loadMore);
  }, {rootMargin: '300px'});
  screen.signal.addEventListener('abort', () => watcher.disconnect());
  const take = async (first, isFirst) => {
    const generation = ++state.generation;
    const known = isFirst && state.pages.length === 0 ? screen.memory.pages : null;
    if (known?.[0] === first) state.pages = known;
    const same = state.pages[0]?.href === first.href;
    const count = same ? state.pages.length : isFirst ? screen.kept.pages ?? 1 : 1;
    const pages = [first];
    if (count > 1 && known !== state.pages) await furtherPages(pages, count, same ? state.pages : [], screen.signal);
    if (generation !== state.generation || screen.signal.aborted) return;
    if (known !== state.pages) state.pages = pages;
    gather();
    draw();
  };
  const {href, problem, skeleton, place} = options;
  const changes = new ChangeQueue();
  const resource = screen.load(href, (answer, isFirst) => take(answer, isFirst), {problem, skeleton, place,
    held: () => changes.busy});
  const show = items => {
    state.items = items;
    draw();
  };
  const change = async (edit, send) => {
    const before = state.items;
    show(edit([...before]));
    try { return await (send && changes.add(send)); } catch (failure) {
      if (failure.name !== 'AbortError') show(before);
      throw failure;
    } finally { if (send && !changes.busy) resource.soon(); }
  };
  const redraw = () => {
    for (const row of list.children) row.rowData = null;
    if (state.pages.length) draw(false);
  };
  return {resource, items: () => state.items, change, redraw, element: list};
}

/** Asks for as many pages as were shown; one that does not come stays as it was, so that the list is not shortened. */
async function furtherPages(pages, count, old, signal) {
  try {
    while (pages.length < count && pages.at(-1).links.next) {
      pages.push(await call(pages.at(-1).links.next, {signal}));
    }
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    pages.push(...old.slice(pages.length));
  }
}
