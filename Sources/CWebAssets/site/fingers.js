// Fingers on a screen: a swiped row shows its most frequent actions, a page that is pulled down at its top is asked for
// anew. Buttons, menus and keys do the same.

import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {attempt} from './overlay.js';
import {t} from './texts.js';

/** Distance in pixels at which letting go asks for the page. */
const enough = 64;

/**
 * Hears fingers on the lists of an element, and on the page.
 * @param {Element} main
 * @param {function(): ?function(): Promise} refresher Gives what asks anew for all that the open screen shows, or null
 *   if that has nothing.
 */
export function hearFingers(main, refresher) {
  swipes(main);
  pulls(main, refresher);
}

/** What a swipe shows: `row.swipe()`, a list of entries as of a menu; without it the deletion, if there is a button. */
function entriesOf(row) {
  const remove = row.querySelector('[data-key=delete]:not(:disabled)');
  return row.swipe?.().filter(Boolean)
    ?? (remove ? [{title: t('remove'), icon: 'trash', kind: 'danger', run: () => remove.click()}] : []);
}

function swipes(main) {
  let open = null;
  let swiped = false;
  const close = () => {
    const row = open;
    open = null;
    if (!row) return;
    shift(row, 0);
    setTimeout(() => row.matches('.held') || row === open || unmake(row), 200);
  };
  main.addEventListener('pointerdown', event => {
    const row = event.target.closest('.rows:not(.grid, .gallery-view) > .row');
    const isAct = event.target.closest('.swipe-acts') !== null;
    // A press beside an open row closes it.
    swiped = open?.isConnected && !isAct;
    if (swiped) close();
    if (row && !isAct && event.pointerType === 'touch' && event.isPrimary
      && !event.target.closest('input, select, .sort-handle')) follow(event, row);
  });
  const follow = (begin, row) => {
    const stop = new AbortController();
    let at = 0;
    let panel = null;
    row.addEventListener('pointermove', event => {
      if (event.pointerId !== begin.pointerId) return;
      const [x, y] = [event.clientX - begin.clientX, event.clientY - begin.clientY];
      if (!panel) {
        if (Math.hypot(x, y) < 10) return;
        panel = x < 0 && Math.abs(x) > Math.abs(y) && make(row, close);
        if (!panel) { stop.abort(); return; }
        row.setPointerCapture(event.pointerId);
        row.classList.add('held');
        swiped = true;
      }
      at = Math.max(-1.2 * panel.offsetWidth, Math.min(0, x));
      shift(row, at);
    }, stop);
    for (const type of ['pointerup', 'pointercancel']) {
      row.addEventListener(type, event => {
        if (event.pointerId !== begin.pointerId) return;
        stop.abort();
        if (!panel) return;
        row.classList.remove('held');
        open = row;
        if (type === 'pointerup' && at < -panel.offsetWidth / 2) shift(row, -panel.offsetWidth);
        else close();
      }, stop);
    }
  };
  // The press that ends a swipe, or closes an open row, opens nothing; keys have no part in it.
  main.addEventListener('click', event => {
    if (!swiped || event.detail === 0) return;
    swiped = false;
    event.preventDefault();
    event.stopPropagation();
  }, {capture: true});
}

/** Puts the actions beside a row, out of sight; null if there are none. */
function make(row, close) {
  unmake(row);
  const entries = entriesOf(row);
  if (entries.length === 0) return null;
  let over = false;
  const act = run => {
    if (over) return;
    over = true;
    close();
    attempt(run);
  };
  let from;
  const panel = h('div', {class: 'swipe-acts'}, entries.map(({kind, icon: sign, title, run}) => {
    const lift = event => {
      // Right after a swipe a browser makes no click of a tap; a late one would hit a button of the dialog
      // that the action opens.
      if (event.cancelable) event.preventDefault();
      const [{clientX: x, clientY: y}] = event.changedTouches;
      const isThere = element.contains(document.elementFromPoint(x, y));
      if (isThere && Math.hypot(x - from.clientX, y - from.clientY) < 10) act(run);
    };
    const element = h('button', {type: 'button', class: `swipe-act ${kind ?? ''}`, dataset: {write: ''},
      onclick: () => act(run), ontouchstart: event => { [from] = event.changedTouches; }, ontouchend: lift},
    icon(sign), h('span', null, title));
    return element;
  }));
  row.append(panel);
  row.classList.add('swiped');
  return panel;
}

function unmake(row) {
  row.querySelector('.swipe-acts')?.remove();
  row.classList.remove('swiped');
}

const shift = (row, by) => row.style.setProperty('--swipe', `${by}px`);

function pulls(main, refresher) {
  let from = null;
  let sign = null;
  let far = 0;
  const end = () => {
    sign?.remove();
    from = sign = null;
  };
  addEventListener('touchstart', event => {
    const isFree = !sign && scrollY <= 0 && event.touches.length === 1 && main.contains(event.target)
      && !event.target.closest('.map-surface, .sort-handle, .log, input, textarea, select');
    from = isFree && refresher() ? event.touches[0] : null;
  }, {passive: true});
  addEventListener('touchmove', event => {
    if (!from) return;
    const [{clientX: x, clientY: y}] = event.touches;
    const down = y - from.clientY;
    if (!sign) {
      // A row or a page of a document is dragged, or the page is scrolled.
      if (event.defaultPrevented || scrollY > 0 || Math.abs(x - from.clientX) > Math.max(12, down)) from = null;
      if (!from || down < 12) return;
      sign = h('div', {class: 'pull', role: 'status'}, icon('refresh'));
      document.body.append(sign);
    }
    far = Math.max(0, Math.min(1.4 * enough, down / 2));
    sign.style.setProperty('--pull', `${far}px`);
    sign.style.setProperty('--turn', `${4 * far}deg`);
    sign.classList.toggle('ready', far >= enough);
  }, {passive: true});
  addEventListener('touchcancel', end, {passive: true});
  addEventListener('touchend', async () => {
    if (sign?.matches('.busy')) return;
    const refresh = sign?.matches('.ready') && refresher();
    if (!refresh) { end(); return; }
    from = null;
    sign.classList.add('busy');
    replace(sign, icon('refresh'), h('span', {class: 'hidden'}, t('loading')));
    try { await refresh(); } finally { end(); }
  }, {passive: true});
}
