// Shop: search with history and filters; the results.

import {call, quietly, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {field, form} from './form.js';
import {pagedList} from './list.js';
import {dialog} from './overlay.js';
import {cartLink, dollars, followCart, productTile, quantityControl} from './shop-cart.js';
import {define, langOf} from './texts.js';
import {button, empty, linkButton, picture} from './ui.js';

const t = define({
  en: {
    search: 'Search', placeholder: 'What are you looking for?', history: 'Last searches',
    forget: q => `Forget “${q}”`,
    clear: 'Clear the history', filter: 'Filter', category: 'Category', every: 'All categories', from: 'Price from',
    to: 'Price to', exact: 'Exact price', apply: 'Show', reset: 'Reset', number: 'Write a number such as 9.99.',
    order: 'This is more than the price to.', either: 'Either an exact price or a range.',
    without: what => `Without: ${what}`,
    price: (from, to) => (from && to ? `${from}–${to}` : from ? `from ${from}` : `to ${to}`), results: 'Results',
    clearAll: 'Clear the search', clearFilter: 'Clear the filter', last: q => `Last search: ${q}`,
    sort: 'Order', sorted: {'': 'As in the catalogue', relevance: 'By relevance',
      price: 'Cheapest first', '-price': 'Dearest first', title: 'By title'},
  },
  ru: {
    search: 'Найти', placeholder: 'Что ищете?', history: 'Последние запросы',
    forget: q => `Забыть «${q}»`,
    clear: 'Очистить историю', filter: 'Фильтр', category: 'Категория', every: 'Все категории', from: 'Цена от',
    to: 'Цена до', exact: 'Точная цена', apply: 'Показать', reset: 'Сбросить', number: 'Нужно число, например 9,99.',
    order: 'Это больше цены «до».', either: 'Либо точная цена, либо от и до.', without: what => `Убрать: ${what}`,
    price: (from, to) => (from && to ? `${from}–${to}` : from ? `от ${from}` : `до ${to}`), results: 'Результаты',
    clearAll: 'Сбросить поиск', clearFilter: 'Сбросить фильтр', last: q => `Прошлый запрос: ${q}`,
    sort: 'Порядок', sorted: {'': 'Как в каталоге', relevance: 'По соответствию',
      price: 'Сначала дешёвые', '-price': 'Сначала дорогие', title: 'По названию'},
  },
});

const later = name => async screen => (await import('./shop-list.js'))[name](screen);

export const routes = [
  {path: '/shop', open: openSearch},
  {path: '/shop/list', open: later('openList')},
  {path: '/shop/favourites', open: later('openFavourites')},
  {path: '/shop/:id', open: later('openProduct')},
];

const filterNames = ['category_id', 'price', 'price_min', 'price_max'];
const names = ['q', ...filterNames, 'sort'];

function openSearch(screen) {
  const given = names.some(name => screen.query.has(name));
  let query = Object.fromEntries(names.map(name => [name, screen.query.get(name)]));
  let lines = new Map();
  let sheet = null;
  let isReplayed = false;
  const place = h('div');
  const chips = h('div', {class: 'bar chips'});
  const categories = h('div', {class: 'categories', role: 'group', 'aria-label': t('category')});
  const filter = button(t('filter'), () => {
    const later = readSheet();
    later.then(found => { sheet = found ?? sheet; });
    openFilters(query, sheet, search, later);
  }, {icon: 'filter'});
  const sort = h('select', {class: 'field-input', 'aria-label': t('sort'), onchange: () => search({sort: sort.value})},
    Object.entries(t('sorted')).map(([value, title]) => h('option', {value}, title)));
  sort.value = query.sort ?? '';
  const drawHead = count => screen.head({title: t('shop'), actions: [screen.refreshButton(() => list.resource),
    linkButton(t('favourites'), '/shop/favourites', {icon: 'heart', bare: true}), cartLink(count)]});
  const address = values => withQuery('/v1/shop/search', values);
  const search = changes => {
    query = {...query, ...changes};
    isReplayed = false;
    const path = withQuery('/shop', query);
    screen.move(path === '/shop' ? '/shop?q=' : path);
    input.value = query.q ?? '';
    drawChips();
    list.resource.go(address(query));
  };
  const {element: bar, input} = searchBar(screen, query.q ?? '', q => search({q}));
  const drawCategories = () => {
    const choices = choicesOf(sheet).slice(0, 20);
    if (choices.length !== categories.childElementCount) {
      replace(categories, choices.map(({value, title}) => h('button', {type: 'button', class: 'filter-chip',
        lang: langOf(title), dataset: {value},
        onclick: () => search({category_id: query.category_id === value ? null : value})}, title)));
    }
    for (const chip of categories.children) chip.ariaPressed = String(chip.dataset.value === query.category_id);
    return choices.some(({value}) => value === query.category_id);
  };
  const drawChips = () => {
    const isKnown = drawCategories();
    const [exact, from, to] = filterNames.slice(1).map(name => query[name] && dollars(Number(query[name])));
    const price = exact ?? ((from ?? to) && t('price', from?.replace('$', to ? '' : '$'), to));
    const chip = (words, changes) => words && h('button', {type: 'button', class: 'filter-chip',
      'aria-label': t('without', words),
      onclick: () => search(changes)}, words, icon('close', 16));
    replace(chips,
      isReplayed && query.q && chip(t('last', query.q), {q: null}),
      !isKnown && query.category_id && chip(`${t('category')} ${query.category_id}`, {category_id: null}),
      chip(price, {price: null, price_min: null, price_max: null}));
  };
  drawHead(0);
  screen.show(h('div', {class: 'shop-tools'}, bar, h('div', {class: 'bar'}, filter, sort, chips), categories), place);
  const list = pagedList(screen, {
    href: given ? address(query) : '/v1/shop/search?saved=1', key: item => item.id, class: 'grid', label: t('results'),
    row: item => productCard(item, lines.get(item.id)), place, skeleton: 'grid', update: updateCard,
    empty: ({empty: sent, query: asked}, {meta}) => (!meta.partial && names.some(name => asked[name])
      ? empty({...sent, button: t(asked.q ? 'clearAll' : 'clearFilter')}, {icon: 'search',
        run: () => search(Object.fromEntries(names.map(name => [name, null])))})
      : empty(sent, {icon: 'search', run: () => list.resource.refresh()})),
    drawn: ({data}) => adopt(data.query),
  });
  const adopt = shown => {
    if (given || names.every(name => !shown[name]) || location.search) return;
    // The last search found nothing: it is not where one begins again.
    if (list.items().length === 0 && !list.resource.answer.meta.partial) { list.resource.go(address({})); return; }
    query = Object.fromEntries(names.map(name => [name, shown[name] == null ? null : String(shown[name])]));
    screen.move(withQuery('/shop', query), {replace: true});
    isReplayed = true;
    input.value = query.q ?? '';
    drawChips();
  };
  followCart(screen, (found, pieces) => {
    lines = found;
    drawHead(pieces);
    if (list.items().length) list.change(items => items.map(item => withCart(item, found)));
  });
  drawChips();
  readSheet().then(found => {
    if (!found || screen.signal.aborted) return;
    sheet = found;
    drawChips();
  });
  return list.resource.ready;
}

const withCart = (item, lines) => ({...item, cart: {in_list: lines.has(item.id),
  quantity: lines.get(item.id)?.quantity ?? 0, line: lines.get(item.id)?.itemId}});

function productCard(item, line) {
  const control = quantityControl(item, {bare: true, itemId: line?.itemId});
  const card = productTile(item, h('p', {class: 'product-about small muted', lang: langOf(item.description_text)},
    item.description_text), h('div', {class: 'product-end'}, control));
  card.item = item;
  card.control = control;
  return card;
}

function updateCard(card, item) {
  const strip = one => JSON.stringify({...one, cart: null, actions: null});
  if (strip(card.item) !== strip(item)) return false;
  card.item = item;
  card.control.setLine(item.cart.line ?? String(item.id), item.cart.quantity);
  return true;
}

/** Reads the filters that there are; nothing if they cannot be read. */
const readSheet = async () => (await quietly(call('/v1/shop/filters')))?.data;

const choicesOf = sheet => sheet?.actions[0].fields.find(one => one.name === 'category_id').options ?? [];

/** Makes the search field with its history: arrows choose, Delete forgets, Enter searches. */
function searchBar(screen, value, search) {
  const list = h('ul', {class: 'suggest', id: 'shop-history', role: 'listbox', 'aria-label': t('history'),
    hidden: true});
  const input = h('input', {type: 'search', name: 'q', value, placeholder: t('placeholder'), 'aria-label': t('search'),
    dataset: {key: 'search'}, role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'shop-history',
    'aria-autocomplete': 'list', autocomplete: 'off', enterkeyhint: 'search'});
  let rows = [];
  let at = -1;
  let asked = 0;
  const close = () => {
    asked += 1;
    list.hidden = true;
    at = -1;
    mark();
  };
  const mark = () => {
    input.setAttribute('aria-expanded', String(!list.hidden));
    [...list.querySelectorAll('[role=option]')].forEach((row, index) => row.setAttribute('aria-selected',
      String(index === at)));
    if (at >= 0) input.setAttribute('aria-activedescendant', `shop-history-${at}`);
    else input.removeAttribute('aria-activedescendant');
  };
  const choose = row => { input.value = row.q; close(); search(row.q); };
  /** The last searches with the typed text, then titles that it may become. */
  const suggested = async q => {
    const at = path => call(withQuery(path, {q}), {signal: screen.signal});
    const [past, titles] = await Promise.all([at('/v1/shop/history'), q ? at('/v1/shop/suggestions') : null]);
    const found = past.data.items.slice(0, 5);
    const known = new Set(found.map(row => row.q.toLowerCase()));
    return [...found, ...(titles?.data.items ?? []).filter(one => !known.has(one.text.toLowerCase()))
      .map(one => ({q: one.text}))].slice(0, 8);
  };
  const drop = async row => {
    const {href, method} = row.actions.find(action => action.id === 'delete');
    await call(href, {method});
    await show();
  };
  const show = async () => {
    const turn = ++asked;
    const found = await suggested(input.value.trim());
    if (turn !== asked) return;
    const marked = rows[at]?.q;
    rows = found;
    at = rows.findIndex(row => row.q === marked);
    replace(list, rows.map((row, index) => h('li', {role: 'option', id: `shop-history-${index}`,
      'aria-selected': 'false',
      lang: langOf(row.q)}, h('span', {class: 'suggest-words',
        onpointerdown: event => { event.preventDefault(); choose(row); }},
      icon(row.actions ? 'clock' : 'search', 18), row.q), row.actions && h('span', {class: 'suggest-drop',
      title: t('forget', row.q), onpointerdown: event => {
        event.preventDefault();
        quietly(drop(row));
      }}, icon('close', 18)))), rows.some(row => row.actions) && h('li', {role: 'presentation', class: 'suggest-clear',
      onpointerdown: event => { event.preventDefault(); quietly(clear()); }}, t('clear')));
    list.hidden = rows.length === 0 || document.activeElement !== input;
    mark();
  };
  const clear = async () => { await call('/v1/shop/history', {method: 'DELETE'}); close(); };
  input.addEventListener('focus', () => quietly(show()));
  input.addEventListener('input', () => quietly(show()));
  input.addEventListener('search', () => input.value === '' && search(null));
  input.addEventListener('blur', close);
  input.addEventListener('keydown', event => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step && rows.length) {
      event.preventDefault();
      list.hidden = false;
      at = (at + step + rows.length + (at < 0 && step < 0 ? 1 : 0)) % rows.length;
      mark();
    } else if (event.key === 'Escape' && !list.hidden) { event.preventDefault(); close(); }
    else if (event.key === 'Delete' && rows[at]?.actions) { event.preventDefault(); quietly(drop(rows[at])); }
  });
  const element = h('form', {class: 'search', role: 'search', onsubmit: event => {
    event.preventDefault();
    if (at >= 0) { choose(rows[at]); return; }
    close();
    search(input.value.trim() || null);
  }}, input, list, button(t('search'), null, {type: 'submit', icon: 'search', bare: true}));
  return {element, input};
}

/** Makes the choice of a category, with pictures; `fill` takes other choices, and keeps the chosen one. */
function categoryChoice(value, choices) {
  const choice = one => h('label', {class: 'choice'}, h('input', {type: 'radio', name: 'category_id', value: one.value,
    checked: one.value === value}), picture(one.image_url, '', {class: 'thumb', sign: 'shop',
    sizes: '64px'}), h('span', {lang: langOf(one.title)}, one.title));
  const element = h('fieldset', {class: 'field choices'});
  const chosen = () => element.querySelector('input:checked') ?? element.querySelector('input');
  const fill = choices => {
    const held = element.contains(document.activeElement);
    value = chosen()?.value ?? value;
    const known = !value || choices.some(one => one.value === value) ? choices : [...choices, {value, title: value}];
    replace(element, h('legend', null, t('category')), [{value: '', title: t('every')}, ...known].map(choice));
    if (held) chosen().focus();
  };
  fill(choices);
  return Object.assign(element, {fill, say() {}, valid: () => true, input: {name: 'category_id',
    get value() { return chosen().value; }, focus: () => chosen().focus()}});
}

/** Opens the filters with the choices that are known, and fills in others later. */
function openFilters(query, sheet, search, later) {
  const right = text => (/^(\d+([.,]\d+)?)?$/.test(text.trim()) ? null : t('number'));
  const bounds = sheet?.price_bounds;
  const number = (name, label, placeholder) => field(name, label, {value: query[name] ?? '', inputmode: 'decimal',
    check: right, placeholder});
  const category = categoryChoice(query.category_id ?? '', choicesOf(sheet));
  const [from, to, exact] = [number('price_min', t('from'), bounds?.min_text), number('price_max', t('to'),
    bounds?.max_text), number('price', t('exact'))];
  const send = async (values, close) => {
    const [price, min, max] = filterNames.slice(1).map(name => values[name].trim().replace(',', '.') || null);
    if (min && max && Number(min) > Number(max)) { from.say(t('order')); from.input.focus(); return; }
    if (price && (min || max)) { exact.say(t('either')); exact.input.focus(); return; }
    close({category_id: values.category_id || null, price, price_min: min, price_max: max});
  };
  later.then(found => {
    if (!found || JSON.stringify(found) === JSON.stringify(sheet)) return;
    category.fill(choicesOf(found));
    from.input.placeholder = found.price_bounds?.min_text ?? '';
    to.input.placeholder = found.price_bounds?.max_text ?? '';
  });
  return dialog(t('filter'), close => [form([category, h('div', {class: 'pair'}, from, to), exact], t('apply'),
    values => send(values, close), {first: button(t('reset'), () => close(Object.fromEntries(filterNames.map(name =>
      [name, null]))), {kind: 'quiet'})})]).then(changes => changes && search(changes));
}

