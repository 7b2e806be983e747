// Order by hand: drag by mouse or touch at a handle, or move by buttons and arrow keys.

import {h} from './dom.js';
import {icon} from './icons.js';
import {define} from './texts.js';

const t = define({
  en: {move: name => `Move ${name}: drag, or use the arrow keys`, moved: (name, at, of) => `${name}: ${at} of ${of}`},
  ru: {move: name => `Передвинуть ${name}: тяните или нажимайте стрелки`,
    moved: (name, at, of) => `${name}: ${at} из ${of}`},
});

/**
 * Makes the handle that moves a row of a list; arrow keys move it by one.
 * @param {function(): HTMLElement} rowOf Gives the row.
 * @param {string} name Of the row, for screen readers.
 * @param {function(Array<HTMLElement>): void} changed Gets the rows in their new order, once a move has ended.
 * @returns {HTMLButtonElement}
 */
export function sortHandle(rowOf, name, changed) {
  const handle = h('button', {type: 'button', class: 'button bare sort-handle', 'aria-label': t('move', name),
    title: t('move', name), dataset: {write: ''}}, icon('drag'));
  handle.addEventListener('keydown', event => {
    const step = {ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1}[event.key];
    if (!step) return;
    event.preventDefault();
    if (moveBy(rowOf(), step)) { changed(rowsOf(rowOf())); handle.focus(); say(rowOf(), name); }
  });
  handle.addEventListener('pointerdown', event => event.button === 0 && drag(event, handle, rowOf(), changed));
  return handle;
}

const rowsOf = row => [...row.parentElement.children].filter(other => !other.leaving);

/** Moves a row by a number of places. Gives false at the ends. */
export function moveBy(row, step) {
  const over = rowsOf(row)[rowsOf(row).indexOf(row) + step];
  if (over) moveTo(row, over);
  return Boolean(over);
}

/** Moves a row to the place of another one. The rows between them move: one that moves loses focus and pointer. */
function moveTo(row, over) {
  const rows = rowsOf(row);
  const [from, to] = [rows.indexOf(row), rows.indexOf(over)];
  if (to < from) row.after(...rows.slice(to, from));
  else row.before(...rows.slice(from + 1, to + 1));
}

function say(row, name) {
  const rows = rowsOf(row);
  const place = document.getElementById('toasts');
  const words = h('span', {class: 'hidden'}, t('moved', name, rows.indexOf(row) + 1, rows.length));
  place.append(words);
  setTimeout(() => words.remove(), 2000);
}

function drag(event, handle, row, changed) {
  event.preventDefault();
  handle.setPointerCapture(event.pointerId);
  const before = rowsOf(row);
  let origin = {x: event.clientX, y: event.clientY};
  let offset = {x: 0, y: 0};
  row.classList.add('dragged');
  const follow = moveEvent => {
    const over = target(row, moveEvent);
    if (over) {
      const from = row.getBoundingClientRect();
      moveTo(row, over);
      row.style.transform = '';
      const rest = row.getBoundingClientRect();
      origin = {x: origin.x + rest.left - (from.left - offset.x), y: origin.y + rest.top - (from.top - offset.y)};
    }
    offset = {x: moveEvent.clientX - origin.x, y: moveEvent.clientY - origin.y};
    row.style.transform = `translate(${offset.x}px, ${offset.y}px)`;
  };
  const end = ended => {
    handle.removeEventListener('pointermove', follow);
    row.classList.remove('dragged');
    row.style.transform = '';
    if (ended.type === 'pointercancel') { moveTo(row, rowsOf(row)[before.indexOf(row)]); return; }
    if (rowsOf(row).some((other, index) => other !== before[index])) changed(rowsOf(row));
  };
  handle.addEventListener('pointermove', follow);
  handle.addEventListener('pointerup', end, {once: true});
  handle.addEventListener('pointercancel', end, {once: true});
}

/** Finds the row whose middle the pointer has passed. */
function target(row, {clientX, clientY}) {
  return rowsOf(row).find(other => {
    if (other === row) return false;
    const box = other.getBoundingClientRect();
    return clientY > box.top + box.height * 0.25 && clientY < box.bottom - box.height * 0.25
      && clientX > box.left && clientX < box.right;
  });
}
