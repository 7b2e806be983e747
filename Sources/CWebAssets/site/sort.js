// Order by hand: drag by mouse or touch, at a handle or anywhere, or move by arrow keys and the menu of the handle.

import {h} from './dom.js';
import {icon} from './icons.js';
import {menu} from './overlay.js';
import {define} from './texts.js';

const t = define({
  en: {move: name => `Move ${name}: drag, or use the arrow keys`, moved: (name, at, of) => `${name}: ${at} of ${of}`,
    order: 'Order', first: 'Move to the top', earlier: 'Move up', later: 'Move down'},
  ru: {move: name => `Передвинуть ${name}: тяните или нажимайте стрелки`,
    moved: (name, at, of) => `${name}: ${at} из ${of}`,
    order: 'Порядок', first: 'В начало', earlier: 'Выше', later: 'Ниже'},
});

/**
 * Makes the handle that moves a row of a list; arrow keys move it by one, a press opens a menu of steps.
 * @param {function(): HTMLElement} rowOf Gives the row.
 * @param {string} name Of the row, for screen readers.
 * @param {function(Array<HTMLElement>): void} changed Gets the rows in their new order, once a move has ended.
 * @returns {HTMLButtonElement}
 */
export function sortHandle(rowOf, name, changed) {
  const handle = h('button', {type: 'button', class: 'button bare sort-handle', 'aria-label': t('move', name),
    title: t('move', name), dataset: {write: ''}}, icon('drag'));
  const move = step => {
    if (moveBy(rowOf(), step)) { changed(rowsOf(rowOf())); handle.focus(); say(rowOf(), name); }
  };
  const open = () => {
    const rows = rowsOf(rowOf());
    if (rows.length < 2) return;
    const at = rows.indexOf(rowOf());
    const entry = (title, sign, step) => ({title: t(title), icon: sign, run: () => move(step)});
    menu(handle, t('order'), [at > 1 && entry('first', 'up', -at), at > 0 && entry('earlier', 'up', -1),
      at < rows.length - 1 && entry('later', 'down', 1)]);
  };
  handle.addEventListener('keydown', event => {
    const step = {ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1}[event.key];
    if (!step) return;
    event.preventDefault();
    move(step);
  });
  handle.addEventListener('pointerdown', event => event.button === 0
    && drag(event, rowOf(), [rowOf()], rows => rows && changed(rows), 6));
  handle.addEventListener('click', open);
  return handle;
}

const rowsOf = row => [...row.parentElement.children].filter(other => !other.leaving);

/** Moves a row by a number of places. Gives false at the ends. */
function moveBy(row, step) {
  const over = rowsOf(row)[rowsOf(row).indexOf(row) + step];
  if (over) place([row], over);
  return Boolean(over);
}

function say(row, name) {
  const rows = rowsOf(row);
  const place = document.getElementById('toasts');
  const words = h('span', {class: 'hidden'}, t('moved', name, rows.indexOf(row) + 1, rows.length));
  place.append(words);
  setTimeout(() => words.remove(), 2000);
}

/**
 * Lets rows be dragged where they are: by a mouse at once, by a finger that rests for a moment.
 * @param {HTMLElement} list
 * @param {function(): boolean} may Tells whether they can be dragged now.
 * @param {function(HTMLElement): Array<HTMLElement>} together Gives the rows dragged with a row, in order.
 * @param {function(Array<HTMLElement>): void} changed As in `sortHandle`.
 */
export function dragRows(list, may, together, changed) {
  let isDragging = false;
  list.addEventListener('dragstart', event => may() && event.preventDefault());
  // A press that has become a drag chooses nothing, and opens no menu of the picture.
  list.addEventListener('click', event => isDragging && event.preventDefault(), {capture: true});
  list.addEventListener('contextmenu', event => isDragging && event.preventDefault());
  list.addEventListener('touchmove', event => isDragging && event.preventDefault(), {passive: false});
  list.addEventListener('pointerdown', event => {
    const row = [...list.children].find(one => one.contains(event.target));
    if (!row || !may() || event.button !== 0 || event.target.closest('button, a')) return;
    const wait = new AbortController();
    const begin = () => {
      wait.abort();
      isDragging = true;
      const end = rows => { setTimeout(() => { isDragging = false; }); return rows && changed(rows); };
      drag(event, row, together(row), end);
    };
    const rest = event.pointerType === 'touch' && setTimeout(begin, 300);
    wait.signal.addEventListener('abort', () => clearTimeout(rest));
    list.addEventListener('pointermove', moved => {
      if (Math.hypot(moved.clientX - event.clientX, moved.clientY - event.clientY) < 6) return;
      if (rest) wait.abort(); else begin();
    }, wait);
    for (const type of ['pointerup', 'pointercancel']) list.addEventListener(type, () => wait.abort(), wait);
  });
}

/**
 * Drags a row, and those that go with it, until the pointer is let go; `changed` gets null if all is as before. A press
 * that moves by fewer pixels than `slack` moves nothing, and is a click of what was pressed.
 */
function drag(event, row, rows, changed, slack = 0) {
  event.preventDefault();
  const list = row.parentElement;
  const before = rowsOf(row);
  const box = row.getBoundingClientRect();
  const grip = {x: event.clientX - box.left, y: event.clientY - box.top};
  const held = document.activeElement;
  const stop = new AbortController();
  let at = event;
  let moves = false;
  const draw = () => {
    const over = target(list, rows, at);
    if (over) place(rows, over);
    row.style.transform = '';
    const rest = row.getBoundingClientRect();
    row.style.transform = `translate(${at.clientX - grip.x - rest.left}px, ${at.clientY - grip.y - rest.top}px)`;
  };
  const end = ended => {
    stop.abort();
    for (const one of rows) one.classList.remove('dragged');
    row.style.transform = '';
    if (ended.type === 'pointercancel') list.append(...before);
    if (held !== document.activeElement) held.focus({preventScroll: true});
    const after = rowsOf(row);
    changed(after.some((other, index) => other !== before[index]) ? after : null);
  };
  for (const one of rows) one.classList.add('dragged');
  row.before(...rows.slice(0, rows.indexOf(row)));
  row.after(...rows.slice(rows.indexOf(row) + 1));
  list.addEventListener('pointermove', moved => {
    at = moved;
    if (!moves && Math.hypot(at.clientX - event.clientX, at.clientY - event.clientY) < slack) return;
    draw();
    if (moves) return;
    moves = true;
    // From here on the release is no click of the handle.
    list.setPointerCapture(event.pointerId);
    scrollAlong(() => at.clientY, draw, stop.signal);
  }, stop);
  for (const type of ['pointerup', 'pointercancel']) list.addEventListener(type, end, stop);
}

/** Scrolls the page while a pointer is near its edges, the faster the nearer. */
function scrollAlong(y, moved, signal) {
  const [edge, fastest] = [90, 20];
  const step = () => {
    if (signal.aborted) return;
    const bottom = innerHeight - (parseFloat(getComputedStyle(document.documentElement).scrollPaddingBottom) || 0);
    const beyond = Math.max(0, y() - bottom + edge) - Math.max(0, 56 + edge - y());
    const from = scrollY;
    scrollBy({top: Math.max(-fastest, Math.min(fastest, beyond / 4)), behavior: 'instant'});
    if (scrollY !== from) moved();
    requestAnimationFrame(step);
  };
  step();
}

/** Moves rows that follow each other to the place of another one; they stay in the page, since those between move. */
function place(rows, over) {
  const all = rowsOf(over);
  const [from, to] = [all.indexOf(rows[0]), all.indexOf(over)];
  if (to < from) rows.at(-1).after(...all.slice(to, from));
  else rows[0].before(...all.slice(from + rows.length, to + 1));
}

/** Finds the row whose middle the pointer has passed; beside all of them it is the first or the last one. */
function target(list, rows, {clientX: x, clientY: y}) {
  const others = [...list.children].filter(one => !one.leaving && !rows.includes(one));
  if (others.length === 0) return null;
  const boxes = others.map(one => one.getBoundingClientRect());
  const isGrid = boxes.length > 1 && boxes[0].top === boxes[1].top;
  const [inX, inY] = isGrid ? [0.2, 0] : [0, 0.25];
  const at = boxes.findIndex(({left, top, width, height}) => y > top + height * inY && y < top + height * (1 - inY)
    && x > left + width * inX && x < left + width * (1 - inX));
  if (at >= 0) return others[at];
  const isFirst = others[0].compareDocumentPosition(rows[0]) & Node.DOCUMENT_POSITION_PRECEDING;
  const isLast = others.at(-1).compareDocumentPosition(rows[0]) & Node.DOCUMENT_POSITION_FOLLOWING;
  if (y < Math.min(...boxes.map(box => box.top)) && !isFirst) return others[0];
  return y > Math.max(...boxes.map(box => box.bottom)) && !isLast ? others.at(-1) : null;
}
