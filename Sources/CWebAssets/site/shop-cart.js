// The shopping list as results, card and list share it: quantities that show at once, requests one after another.

import {call, Problem} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {attempt} from './overlay.js';
import {define} from './texts.js';
import {busy} from './ui.js';

/** Strings of the shopping list. */
export const cartTexts = define({
  en: {
    less: name => `One less of ${name}`, more: name => `One more of ${name}`, add: 'Add to the list',
    addOf: name => `Add ${name} to the list`,
    quantity: 'Quantity', list: n => (n ? `Shopping list, ${n}` : 'Shopping list'),
  },
  ru: {
    less: name => `Меньше: ${name}`, more: name => `Больше: ${name}`, add: 'В корзину',
    addOf: name => `В корзину: ${name}`,
    quantity: 'Количество', list: n => (n ? `Корзина, ${n}` : 'Корзина'),
  },
});

const wanted = new Map();
const sending = new Set();
const readers = new Set();

/** Sets the quantity of a line; presses in quick succession become one request. Fails with a Problem. */
export async function setQuantity(itemId, quantity) {
  wanted.set(itemId, quantity);
  if (sending.has(itemId)) return;
  sending.add(itemId);
  try {
    while (wanted.has(itemId)) {
      const next = wanted.get(itemId);
      wanted.delete(itemId);
      await call(`/v1/shop/list/items/${itemId}`, {method: 'PATCH', body: {quantity: next}});
    }
  } finally {
    sending.delete(itemId);
    wanted.delete(itemId);
    for (const read of readers) read();
  }
}

/**
 * Keeps a screen's view of the shopping list current.
 * @param {Screen} screen
 * @param {function(Map<number, {quantity: number, itemId: string}>, number)} changed Gets the lines by product, and the
 *   number of pieces.
 * @returns {function(): Promise} Reads the list again.
 */
export function followCart(screen, changed) {
  const read = async () => {
    if (sending.size) return;
    try {
      const {data} = await call('/v1/shop/list', {signal: screen.signal});
      changed(new Map(data.items.map(item => [item.product_id, {quantity: item.quantity, itemId: item.item_id}])),
        data.totals.items);
    } catch (problem) { if (!(problem instanceof Problem) && problem.name !== 'AbortError') throw problem; }
  };
  screen.on('screen-changed', event => event.app === 'shop' && event.screen === 'shop.list' && read());
  screen.on('reset', read);
  readers.add(read);
  screen.signal.addEventListener('abort', () => readers.delete(read));
  read();
  return read;
}

/**
 * Makes the control of a product's quantity: "add", or − n +.
 * @param {{id: number, title: string, cart: {in_list: boolean, quantity: number}}} product
 * @param {{itemId: ?string, bare: boolean, added: function(): void}} [options]
 * @returns {HTMLElement} With `show(quantity)`.
 */
export function quantityControl(product, options = {}) {
  const element = h('div', {class: 'quantity', role: 'group', 'aria-label': cartTexts('quantity')});
  let itemId = options.itemId ?? String(product.id);
  let quantity = product.cart.quantity;
  const count = h('output', {class: 'quantity-count', 'aria-live': 'polite'});
  const set = next => attempt(async () => {
    const before = quantity;
    element.show(next);
    try { await setQuantity(itemId, next); } catch (problem) { element.show(before); throw problem; }
  });
  const less = step('minus', cartTexts('less', product.title), () => set(quantity - 1));
  const more = step('plus', cartTexts('more', product.title), () => set(quantity + 1));
  const add = h('button', {type: 'button', class: `button ${options.bare ? 'bare add' : 'primary'}`,
    dataset: {write: ''},
    'aria-label': cartTexts('addOf', product.title), onclick: () => busy(add, async () => {
      element.show(1);
      more.focus();
      try {
        const {data} = await call('/v1/shop/list/items', {method: 'POST', body: {product_id: product.id, quantity: 1}});
        itemId = data.item?.item_id ?? itemId;
        options.added?.();
      } catch (problem) { element.show(0); throw problem; }
    })}, icon('cart'), !options.bare && (product.actions?.find(one => one.id === 'add')?.title ?? cartTexts('add')));
  element.show = next => {
    const had = document.activeElement;
    quantity = next;
    count.textContent = next;
    less.disabled = next <= 1;
    more.disabled = next >= 999;
    const shown = next > 0 ? [less, count, more] : [add];
    if (element.firstElementChild !== shown[0]) replace(element, shown);
    if (had === less && less.disabled) more.focus();
  };
  element.setLine = (id, next) => { itemId = id; if (next !== quantity) element.show(next); };
  element.show(quantity);
  return element;
}

function step(sign, label, run) {
  return h('button', {type: 'button', class: 'button bare', 'aria-label': label, dataset: {write: ''}, onclick: run},
    icon(sign));
}
