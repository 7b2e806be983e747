// Shop: the card of a product, its gallery, and the shopping list.

import {call, quietly} from './api.js';
import {h, replace} from './dom.js';
import {lightbox} from './lightbox.js';
import {pagedList} from './list.js';
import {ask, attempt, share, toast} from './overlay.js';
import {afterQuantities, cartLink, dollars, followCart, productTile, quantityControl} from './shop-cart.js';
import {sortHandle} from './sort.js';
import {define, langOf} from './texts.js';
import {button, empty, linkButton, picture} from './ui.js';

const t = define({
  en: {
    product: 'Product', share: 'Share', clear: 'Clear',
    clearAsk: 'Remove everything from the list?',
    remove: name => `Remove ${name}`, removed: name => `${name} removed`,
    gone: 'No longer in the catalogue',
    left: (n, sum) => `Still to buy: ${n} · ${sum}`,
    related: 'Related products',
    full: 'Full screen', each: price => `${price} each`, pictures: 'Pictures', bought: name => `Bought: ${name}`,
    mark: done => (done ? 'Not bought yet' : 'Bought'),
  },
  ru: {
    product: 'Товар', share: 'Поделиться', clear: 'Очистить', clearAsk: 'Убрать из списка всё?',
    remove: name => `Убрать ${name}`, removed: name => `${name}: убрано`,
    gone: 'Больше нет в каталоге',
    left: (n, sum) => `Осталось купить: ${n} · ${sum}`,
    related: 'Похожие товары',
    full: 'На весь экран', each: price => `${price} за штуку`, pictures: 'Изображения',
    bought: name => `Куплено: ${name}`, mark: done => (done ? 'Ещё не куплено' : 'Куплено'),
  },
});

/** Opens the card of a product. */
export function openProduct(screen) {
  let pieces = 0;
  let lines = null;
  let shown = null;
  const shareProduct = () => share({title: shown.title, text: shown.share_text});
  const toggle = async () => {
    await act(shown.favourite);
    resource.soon();
  };
  const drawHead = () => screen.head({title: shown?.title ?? t('product'), back: '/shop', actions: [
    shown && heart(shown.favourite, toggle),
    shown && button(t('share'), shareProduct, {icon: 'share', bare: true}),
    screen.refreshButton(() => resource), cartLink(pieces)]});
  const side = h('div', {class: 'bar'});
  const beside = h('section', {class: 'related', hidden: true});
  const drawSide = () => {
    if (!shown) return;
    const line = lines?.get(shown.id);
    const cart = lines ? {in_list: line !== undefined, quantity: line?.quantity ?? 0} : shown.cart;
    if (side.control && side.product === shown.id) side.control.setLine(line?.itemId ?? String(shown.id),
      cart.quantity);
    else {
      side.product = shown.id;
      side.control = quantityControl({...shown, cart}, {itemId: line?.itemId,
        added: () => resource.soon()});
    }
    const title = cart.in_list ? (shown.button.id === 'open_list' ? shown.button.title : t('cart')) : '';
    if (side.title === title && side.contains(side.control)) return;
    side.title = title;
    replace(side, side.control, title && linkButton(title, '/shop/list', {kind: 'primary', icon: 'cart'}));
  };
  drawHead();
  const resource = screen.load(`/v1/shop/products/${screen.params.id}`, ({data}) => {
    const same = shown && JSON.stringify(shown.image_urls) === JSON.stringify(data.image_urls);
    shown = data;
    drawHead();
    if (!same || !screen.gallery?.isConnected) screen.gallery = gallery(data);
    screen.show(h('div', {class: 'product-page'}, screen.gallery, h('div', {class: 'stack'},
      h('p', {class: 'price big'}, data.price_text), h('p', {class: 'tag'}, data.category?.name),
      h('p', {lang: langOf(data.description_text), class: 'prose'}, data.description_text), side)), beside);
    drawSide();
    if (!same) showRelated(screen, data, beside);
  }, {skeleton: 'page'});
  followCart(screen, (found, count) => { lines = found; pieces = count; drawHead(); drawSide(); });
  return resource.ready;
}

/** Sends what a button of the server does. */
const act = action => call(action.href, {method: action.method, body: action.body});

/** Makes the button that adds to the favourites, or takes away. */
function heart(action, run) {
  const element = button(action.title, run, {icon: 'heart', bare: true, write: true, key: 'favourite'});
  element.classList.toggle('chosen', action.id === 'unfavourite');
  return element;
}

/** Shows products of the same category; without them the card is whole, too. */
async function showRelated(screen, {related_href: href}, place) {
  const items = (await quietly(call(href, {signal: screen.signal})))?.data.items ?? [];
  place.hidden = items.length === 0;
  replace(place, h('h2', null, t('related')), h('ul', {class: 'rows grid', role: 'list'}, items.map(item =>
    productTile(item))));
}

/** Opens the favourites. */
export function openFavourites(screen) {
  let lines = new Map();
  screen.head({title: t('favourites'), back: '/shop'});
  const remove = async item => {
    await list.change(items => items.filter(other => other.id !== item.id), () => act(item.actions[0]));
    toast(t('removed', item.title), {action: {title: t('undo'), run: () => list.change(items => [...items, item],
      () => call('/v1/shop/favourites', {method: 'POST', body: {product_id: item.product_id}}))}});
  };
  const list = pagedList(screen, {
    href: '/v1/shop/favourites', key: item => item.id, label: t('favourites'),
    empty: data => empty(data.empty, {icon: 'heart', href: '/shop'}),
    row: item => {
      const control = item.href && quantityControl({id: item.product_id, title: item.title, cart: {quantity: 0}},
        {bare: true});
      const row = h('li', {class: 'row favourite'}, picture(item.image_url, '', {class: 'thumb', sign: 'shop',
        sizes: '64px'}), h('div', {class: 'row-main'}, nameOf(item),
        h('span', {class: 'row-sub'}, prices(item, item.price_text))),
        h('div', {class: 'row-end'}, control, heart(item.actions[0], () => remove(item))));
      row.draw = () => {
        const line = lines.get(item.product_id);
        if (control) control.setLine(line?.itemId, line?.quantity ?? 0);
      };
      row.draw();
      return row;
    },
  });
  followCart(screen, (found, pieces) => {
    lines = found;
    screen.head({title: t('favourites'), back: '/shop', actions: [cartLink(pieces)]});
    for (const row of list.element.children) row.draw();
  });
  return list.resource.ready;
}

/** The name of a line's product: a link to its card, if that is still its own. */
const nameOf = item => h(item.href ? 'a' : 'span', {class: 'row-link', href: item.href && `/shop/${item.product_id}`,
  lang: langOf(item.title)}, item.title);

const prices = (item, price) => [price, item.previous_price_text && h('s', {class: 'muted'}, item.previous_price_text),
  item.difference_text && h('span', {class: 'tag warn'}, item.difference_text)];

/** Makes the gallery: pictures side by side, a counter, and a press that shows them edge to edge. */
function gallery({image_urls: urls, image_texts: texts, title}) {
  const sources = urls.length ? urls : [null];
  let at = 0;
  const altOf = index => `${title}, ${texts[index] ?? '1/1'}`;
  const open = async () => {
    const shown = sources.map((src, index) => ({src, alt: altOf(index), title}));
    to(await lightbox(shown, at), 'instant');
  };
  const strip = h('div', {class: 'gallery-strip', tabindex: '0', role: 'group', 'aria-label': t('pictures'),
    onclick: () => urls.length && open(),
    onkeydown: event => event.key === 'Enter' && urls.length && open()},
  sources.map((url, index) => picture(url, altOf(index), {sign: 'shop', eager: index === 0,
    sizes: '(max-width: 44rem) 100vw, 640px'})));
  const count = h('span', {class: 'gallery-count', role: 'status'}, texts[0] ?? '1/1');
  const to = (index, behavior = 'smooth') => strip.scrollTo({left: strip.clientWidth * index, behavior});
  const previous = button(t('previous'), () => to(at - 1), {icon: 'back', bare: true, disabled: true});
  const next = button(t('next'), () => to(at + 1), {icon: 'right', bare: true, disabled: sources.length < 2});
  strip.addEventListener('scroll', () => {
    at = Math.round(strip.scrollLeft / (strip.clientWidth || 1));
    count.textContent = texts[at] ?? '1/1';
    previous.disabled = at === 0;
    next.disabled = at >= sources.length - 1;
  }, {passive: true});
  const full = urls.length > 0 && button(t('full'), () => { open(); }, {icon: 'grow', bare: true});
  return h('div', {class: 'gallery'}, strip, h('div', {class: 'gallery-bar'}, previous, count, next, full));
}

/** Opens the shopping list. */
export function openList(screen) {
  const footer = h('div', {class: 'totals card', hidden: true});
  let actions = [];
  const actionOf = id => actions.find(action => action.id === id);
  // In its turn: what was changed just now is shared, too.
  const shareList = async () => {
    const {data} = await list.change(items => items, () => call(actionOf('share').href));
    await share({title: t('cart'), text: data.text});
  };
  const clear = async () => {
    const sent = actionOf('clear');
    if (!await ask(sent.confirm ?? {message: t('clearAsk'), buttons: [sent.title, t('cancel')]})) return;
    await list.change(() => [], () => call(sent.href, {method: sent.method}));
  };
  screen.head({title: t('cart'), back: '/shop'});
  const list = pagedList(screen, {
    href: '/v1/shop/list', key: item => item.item_id, class: 'cart', tag: 'ol', label: t('cart'),
    row: item => line(item, {remove, order, check}),
    empty: data => empty(data.empty, {icon: 'cart', href: '/shop'}),
    drawn: ({data}) => {
      actions = data.actions;
      drawTotals(data.totals);
      drawQuantities();
    },
  });
  const drawTotals = totals => {
    footer.hidden = list.items().length === 0;
    const wanted = list.items().filter(item => !item.bought);
    const isPart = wanted.length > 0 && wanted.length < list.items().length
      && !list.resource.answer.meta.page?.has_more;
    replace(footer, h('div', {class: 'grow'}, h('p', {class: 'muted'}, totals.items_text),
      h('p', {class: 'price big'}, totals.price_text),
      isPart && h('p', null, t('left', sum(wanted, 'quantity'), dollars(sum(wanted, 'line_total'))))),
    h('div', {class: 'bar'},
      actionOf('clear') && button(actionOf('clear').title, clear, {write: true, icon: 'trash', kind: 'quiet compact'}),
      actionOf('share') && button(actionOf('share').title, shareList, {icon: 'share', kind: 'primary compact'})));
    if (!footer.isConnected) screen.body.append(footer);
  };
  // A row is kept while its item is the same; a quantity that was not stored is taken back in it, too.
  const drawQuantities = () => {
    const controls = new Map([...list.element.children].map(row => [row.rowKey, row.control]));
    for (const item of list.items()) controls.get(item.item_id)?.setLine(item.item_id, item.quantity);
  };
  const remove = async item => {
    const at = list.items().findIndex(other => other.item_id === item.item_id);
    await list.change(items => items.filter(other => other.item_id !== item.item_id),
      () => call(`/v1/shop/list/items/${item.item_id}`, {method: 'DELETE'}));
    toast(t('removed', item.title), {action: {title: t('undo'), run: () => putBack(item, at)}});
  };
  const check = item => {
    const marked = items => items.map(other => (other.item_id === item.item_id
      ? {...other, bought: !item.bought} : other));
    return attempt(() => list.change(marked, () => mark(item.item_id, !item.bought)));
  };
  const putBack = (item, at) => {
    const ids = list.items().map(other => other.item_id);
    return list.change(items => items.toSpliced(at, 0, item), async () => {
      const body = {product_id: item.product_id, quantity: item.quantity};
      const {data} = await call('/v1/shop/list/items', {method: 'POST', body});
      const id = data.item?.item_id ?? item.item_id;
      if (item.bought) await mark(id, true);
      return storeOrder(ids.toSpliced(at, 0, id));
    });
  };
  const storeOrder = ids => call('/v1/shop/list/order', {method: 'PUT', body: {item_ids: ids}});
  const order = rows => {
    const ids = rows.map(row => row.rowKey);
    const ordered = items => items.toSorted((one, other) => ids.indexOf(one.item_id) - ids.indexOf(other.item_id));
    return attempt(() => list.change(ordered, () => storeOrder(ids)));
  };
  afterQuantities(screen, () => list.resource.soon());
  return list.resource.ready;
}

/** Adds up amounts in cents, which are exact. */
const sum = (items, member) => items.reduce((cents, item) => cents + Math.round(100 * item[member]), 0) / 100;

/** Checks a line off, or takes that back. */
const mark = (id, bought) => call(`/v1/shop/list/items/${id}`, {method: 'PATCH', body: {bought}});

function line(item, {remove, order, check}) {
  const control = quantityControl({id: item.product_id, title: item.title, cart: {in_list: true,
    quantity: item.quantity}},
    {itemId: item.item_id, remove: () => remove({...item, quantity: 1})});
  const row = h('li', {class: `row cart-row ${item.bought ? 'bought' : ''}`},
    h('input', {type: 'checkbox', class: 'row-check', checked: item.bought, 'aria-label': t('bought', item.title),
      dataset: {write: ''}, onchange: () => check(item)}),
    picture(item.image_url, '', {class: 'thumb', sign: 'shop', sizes: '64px'}),
    h('div', {class: 'row-main'}, nameOf(item),
      h('span', {class: 'row-sub'}, prices(item, t('each', item.price_text))),
      !item.available && h('span', {class: 'tag warn'}, t('gone'))),
    sortHandle(() => row, item.title, order),
    h('div', {class: 'row-end cart-end'}, control, h('span', {class: 'price line-total'}, item.line_total_text),
      button(t('remove', item.title), () => remove(item), {icon: 'trash', bare: true, write: true, key: 'delete'})));
  row.control = control;
  // The row is drawn before the server's action is that of the new state.
  row.swipe = () => [{title: t('mark', item.bought), icon: item.bought ? 'refresh' : 'check', run: () => check(item)},
    {title: item.actions.find(one => one.id === 'delete').title, icon: 'trash', kind: 'danger',
      run: () => remove(item)}];
  return row;
}
