// The shopping list as results, card and list share it: quantities that show at once, requests one after another.

import {call, quietly} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {attempt, toast} from './overlay.js';
import {whenReleased} from './screen.js';
import {define, langOf, language} from './texts.js';
import {busy, linkButton, picture} from './ui.js';

/** Strings of the shopping list. */
const cartTexts = define({
  en: {
    less: name => `One less of ${name}`, remove: name => `Take ${name} off the list`,
    removed: name => `${name} is off the list`, type: 'Type the quantity', more: name => `One more of ${name}`,
    add: 'Add to the list',
    addOf: name => `Add ${name} to the list`,
    quantity: 'Quantity', list: n => (n ? `Shopping list, ${n}` : 'Shopping list'),
  },
  ru: {
    less: name => `Меньше: ${name}`, remove: name => `Убрать из списка: ${name}`,
    removed: name => `Убрано: ${name}`, type: 'Ввести количество',
    more: name => `Больше: ${name}`, add: 'В список',
    addOf: name => `В список: ${name}`,
    quantity: 'Количество', list: n => (n ? `Список покупок, ${n}` : 'Список покупок'),
  },
});

/**
 * The changes that are being sent, by product: the quantity that is drawn meanwhile, and how many pieces of it are not
 * sent yet.
 */
const changes = new Map();
/** The ids of lines by product, for all controls of a product. */
const lines = new Map();
const readers = new Set();

/**
 * Changes the quantity of a product by some pieces, or puts it on the list; presses while a request is under way become
 * one request. Fails with a Problem.
 */
async function changeQuantity(product, quantity, by) {
  const change = changes.get(product) ?? {unsent: 0};
  const isSending = changes.has(product);
  changes.set(product, Object.assign(change, {quantity, unsent: change.unsent + by}));
  if (isSending) return;
  try {
    while (change.unsent) {
      const sent = change.unsent;
      change.unsent = 0;
      const known = lines.get(product);
      if (known && change.quantity === 0) {
        await call(`/v1/shop/list/items/${known}`, {method: 'DELETE'});
        lines.delete(product);
        continue;
      }
      const {data} = known ? await call(`/v1/shop/list/items/${known}`, {method: 'PATCH', body: {by: sent}})
        : await call('/v1/shop/list/items', {method: 'POST', body: {product_id: product, quantity: sent}});
      const line = data.item ?? data.items.find(item => item.product_id === product && item.href);
      if (line) lines.set(product, line.item_id);
    }
  } finally {
    changes.delete(product);
    for (const read of readers) read();
  }
}

/** Calls `run` after quantities were sent, stored or not, until the screen is left. */
export function afterQuantities(screen, run) {
  readers.add(run);
  screen.signal.addEventListener('abort', () => readers.delete(run));
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
    if (changes.size) return;
    const data = (await quietly(call('/v1/shop/list', {signal: screen.signal})))?.data;
    await whenReleased();
    if (!data || screen.signal.aborted) return;
    changed(new Map(data.items.map(item => [item.product_id, {quantity: item.quantity, itemId: item.item_id}])),
      data.totals.items);
  };
  screen.on('screen-changed', event => event.app === 'shop' && event.screen === 'shop.list' && read());
  for (const type of ['reset', 'opened']) screen.on(type, read);
  afterQuantities(screen, read);
  read();
  return read;
}

/** Makes the tile of a product, with what is said of it below its title, and what is below that. */
export function productTile(item, about, end) {
  return h('li', {class: `product ${item.layout ?? ''}`}, picture(item.image_url, '', {class: 'product-image',
    sign: 'shop', sizes: '(max-width: 44rem) 45vw, 270px'}), h('div', {class: 'product-text'},
    h('p', {class: 'price'}, item.price_text),
    h('a', {class: 'row-link product-title', href: `/shop/${item.id}`, lang: langOf(item.title)}, item.title), about),
  end);
}

/** Formats an amount as the server does. */
export function dollars(amount) {
  const digits = Number.isInteger(amount) ? 0 : 2;
  const form = {minimumFractionDigits: digits, maximumFractionDigits: digits};
  return `${new Intl.NumberFormat(language, form).format(amount)}$`;
}

/** Makes the link to the shopping list, with the number of pieces. */
export function cartLink(count) {
  const link = linkButton(cartTexts('list', count), '/shop/list', {icon: 'cart', bare: true});
  link.classList.add('cart-link');
  if (count) link.append(h('span', {class: 'badge', 'aria-hidden': 'true'}, count > 99 ? '99+' : count));
  return link;
}

/**
 * Makes the control of a product's quantity: "add", or − n +.
 * @param {{id: number, title: string, cart: {in_list: boolean, quantity: number}}} product
 * @param {{itemId: ?string, bare: boolean, added: function(): void, remove: function(): Promise}} [options] `remove`
 *   takes the last one off the list; without it this control does, with a way back.
 * @returns {HTMLElement} With `setLine(itemId, quantity)`, for what was read of the list.
 */
export function quantityControl(product, options = {}) {
  const element = h('div', {class: 'quantity', role: 'group', 'aria-label': cartTexts('quantity')});
  let quantity = null;
  const count = h('output', {class: 'quantity-count', 'aria-live': 'polite'});
  const number = h('button', {type: 'button', class: 'number', title: cartTexts('type'), onclick: () => type()}, count);
  /** Lets the quantity be typed in its place. */
  const type = () => {
    const first = quantity;
    const input = h('input', {class: 'quantity-count', inputmode: 'numeric', 'aria-label': cartTexts('type'),
      maxlength: '3', value: quantity});
    let over = false;
    const end = stored => {
      if (over) return;
      over = true;
      const wanted = Number(input.value);
      const held = document.activeElement === input;
      input.replaceWith(number);
      if (held) number.focus();
      if (stored && wanted > 0 && wanted !== first && wanted !== quantity) attempt(() => send(wanted - quantity));
    };
    input.addEventListener('blur', () => end(true));
    input.addEventListener('keydown', event => {
      if (!['Enter', 'Escape'].includes(event.key)) return;
      event.preventDefault();
      end(event.key === 'Enter');
    });
    input.addEventListener('input', () => { input.value = input.value.replace(/\D/g, ''); });
    number.replaceWith(input);
    input.select();
    input.focus();
  };
  const send = async by => {
    const before = quantity;
    show(before + by);
    try { await changeQuantity(product.id, quantity, by); } catch (problem) { show(before); throw problem; }
  };
  const removeLast = async () => {
    await send(-1);
    toast(cartTexts('removed', product.title), {action: {title: cartTexts('undo'), run: () => send(1)}});
  };
  // While a change is under way, the last one is taken off after it.
  const takeOff = () => (options.remove && !changes.has(product.id) ? options.remove() : removeLast());
  const less = step('minus', '', () => attempt(() => (quantity > 1 ? send(-1) : takeOff())));
  const more = step('plus', cartTexts('more', product.title), () => attempt(() => send(1)));
  const add = h('button', {type: 'button', class: `button ${options.bare ? 'bare add' : 'primary'}`,
    dataset: {write: ''},
    'aria-label': cartTexts('addOf', product.title), onclick: () => busy(add, async () => {
      const adding = send(1);
      more.focus();
      await adding;
      options.added?.();
    })}, icon('plus'), !options.bare && (product.actions?.find(one => one.id === 'add')?.title ?? cartTexts('add')));
  const show = next => {
    const had = document.activeElement;
    quantity = next;
    count.textContent = next;
    const last = next === 1;
    less.ariaLabel = cartTexts(last ? 'remove' : 'less', product.title);
    if (less.last !== last) replace(less, icon(last && !options.remove ? 'trash' : 'minus'));
    less.last = last;
    more.disabled = next >= 999;
    const shown = next > 0 ? [less, number, more] : [add];
    if (element.firstElementChild !== shown[0]) replace(element, shown);
    if (had === less && !less.isConnected) add.focus();
  };
  element.setLine = (itemId, stored) => {
    if (stored > 0) lines.set(product.id, itemId);
    else if (!changes.has(product.id)) lines.delete(product.id);
    const next = changes.get(product.id)?.quantity ?? stored;
    if (next !== quantity) show(next);
  };
  element.setLine(options.itemId ?? String(product.id), product.cart.quantity);
  return element;
}

function step(sign, label, run) {
  return h('button', {type: 'button', class: 'button bare', 'aria-label': label, dataset: {write: ''}, onclick: run},
    icon(sign));
}
