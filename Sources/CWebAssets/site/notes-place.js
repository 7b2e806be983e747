// Notes: the place of a note, by a search while typing, by the map, or where the user is.

import {call, Problem, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {toast} from './overlay.js';
import {tileSource} from './parts.js';
import {define} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    place: 'Place', search: 'Search for a city or a place', mine: 'Use my place',
    partial: 'Only what is known here: the service of places does not answer.', nothing: 'No such place is known.',
    choose: 'Choose one of the places, or move the map to it.', move: 'Press the map, or move it, to choose a place.',
    chosen: 'The middle of the map is the place of the note.', denied: 'The browser did not tell your place.',
    remove: 'Remove the place', source: 'Names of places: GeoNames, CC BY 4.0',
    found: count => `Places: ${count}`,
  },
  ru: {
    place: 'Место', search: 'Город или место', mine: 'Где я сейчас',
    partial: 'Только то, что известно здесь: служба мест не отвечает.', nothing: 'Такое место неизвестно.',
    choose: 'Выберите одно из мест или передвиньте к нему карту.',
    move: 'Нажмите на карту или передвиньте её, чтобы выбрать место.',
    chosen: 'Середина карты — место заметки.', denied: 'Браузер не сообщил, где вы.', remove: 'Убрать место',
    source: 'Названия мест: GeoNames, CC BY 4.0',
    found: count => `Мест: ${count}`,
  },
});

/**
 * Makes the field of a place.
 * @param {Screen} screen @param {?{lat: number, lon: number, name: ?string}} start @param {function()} change
 * @returns {HTMLElement} With `place`, `changed` and `valid()`.
 */
export function placeField(screen, start, change) {
  const input = h('input', {id: 'note-place', class: 'field-input', type: 'text', role: 'combobox', autocomplete: 'off',
    'aria-expanded': 'false', 'aria-controls': 'note-places', 'aria-autocomplete': 'list', placeholder: t('search'),
    value: start?.name ?? '', 'aria-describedby': 'note-place-error'});
  const list = h('ul', {id: 'note-places', role: 'listbox', 'aria-label': t('place'), class: 'menu places',
    hidden: true});
  const said = h('p', {class: 'field-hint', role: 'status'});
  const error = h('p', {class: 'field-error', id: 'note-place-error', role: 'alert'});
  const map = h('larder-map', {picking: true, polite: true});
  const clear = button(t('remove'), () => set(null), {bare: true, icon: 'close'});
  const field = h('div', {class: 'field note-where'}, h('label', {for: 'note-place'}, t('place')),
    h('div', {class: 'place-line'}, input, clear), list, error, locates() && locateButton(position => set(position)),
    map, said, h('p', {class: 'small muted'}, t('source')));
  const state = {place: start, typed: false};
  const draw = () => {
    const {place} = state;
    map.toggleAttribute('unset', place === null);
    clear.hidden = place === null;
    replace(said, place ? t('chosen') : t('move'));
    replace(error);
    change();
  };
  const set = place => {
    state.place = place;
    input.value = place?.name ?? '';
    if (place) map.show(place.lat, place.lon, Math.max(5, map.view.zoom), true);
    draw();
  };
  map.addEventListener('pick', event => {
    const {lat, lon, name} = event.detail;
    state.place = {lat: rounded(lat), lon: rounded(lon), name};
    input.value = name ?? '';
    draw();
  });
  if (start) map.show(start.lat, start.lon, 5);
  tileSource().then(tiles => tiles && map.useTiles(tiles));
  suggest(screen, input, list, said, set);
  input.addEventListener('input', () => { replace(error); change(); });
  draw();
  const named = () => {
    const name = input.value.trim();
    return state.place && {lat: state.place.lat, lon: state.place.lon, ...(name && {name})};
  };
  const valid = () => {
    const wrong = input.value.trim() !== '' && state.place === null;
    replace(error, wrong && t('choose'));
    if (wrong) input.focus();
    return !wrong;
  };
  const changed = () => JSON.stringify(named()) !== JSON.stringify(start && {lat: start.lat, lon: start.lon,
    ...(start.name && {name: start.name})}) || (!state.place && input.value.trim() !== '');
  return Object.defineProperties(Object.assign(field, {valid, set}), {place: {get: named}, changed: {get: changed}});
}

const rounded = degrees => Math.round(degrees * 1e5) / 1e5;
const locates = () => isSecureContext && 'geolocation' in navigator;

function locateButton(take) {
  return h('div', null, button(t('mine'), () => new Promise(resolve => {
    navigator.geolocation.getCurrentPosition(({coords}) => {
      take({lat: rounded(coords.latitude), lon: rounded(coords.longitude), name: null});
      resolve();
    }, () => { toast(t('denied')); resolve(); }, {timeout: 10000, maximumAge: 60000});
  }), {icon: 'target'}));
}

/** Gives the place of a note, or null: a note without any is at 0, 0. */
export function placed(location) {
  return location && (location.lat !== 0 || location.lon !== 0) ? location : null;
}

/** Makes the small map of a place. */
export function pictureOf(place) {
  const map = h('larder-map', {still: true, 'aria-hidden': 'true'});
  map.setMarks([{id: 'note', lat: place.lat, lon: place.lon, label: place.name}]);
  map.show(place.lat, place.lon, 5);
  tileSource().then(tiles => {
    if (!tiles) return;
    map.useTiles(tiles);
    map.show(place.lat, place.lon, 12);
  });
  return map;
}

/** Shows up to five places while the user types; arrows choose, Enter takes, Escape closes. */
function suggest(screen, input, list, said, take) {
  let timer = 0;
  let flight = null;
  let at = -1;
  const close = () => {
    clearTimeout(timer);
    flight?.abort();
    at = -1;
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const mark = next => {
    const options = [...list.children];
    at = (next + options.length) % options.length;
    options.forEach((option, index) => option.setAttribute('aria-selected', String(index === at)));
    input.setAttribute('aria-activedescendant', options[at].id);
  };
  const choose = item => { close(); take({lat: item.lat, lon: item.lon, name: item.name}); };
  const show = ({data, meta}) => {
    const items = data.items.slice(0, 5);
    replace(list, items.map((item, index) => h('li', {id: `note-place-${index}`, role: 'option', class: 'menu-item',
      'aria-selected': 'false', onpointerdown: event => event.preventDefault(), onclick: () => choose(item)},
    icon('pin', 18), h('span', null, item.text))));
    replace(said, meta.partial ? t('partial') : items.length ? t('found', items.length) : t('nothing'));
    at = -1;
    list.hidden = items.length === 0;
    input.setAttribute('aria-expanded', String(items.length > 0));
  };
  const ask = async () => {
    flight?.abort();
    flight = new AbortController();
    const words = input.value.trim();
    if (!words) { close(); return; }
    try {
      show(await call(withQuery('/v1/notes/places', {q: words}), {signal: flight.signal}));
    } catch (problem) {
      if (problem.name === 'AbortError') return;
      if (!(problem instanceof Problem)) throw problem;
      close();
      replace(said, problem.words);
    }
  };
  input.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(ask, 180); });
  input.addEventListener('blur', close);
  input.addEventListener('keydown', event => {
    const open = !list.hidden;
    const acts = {ArrowDown: () => (open ? mark(at + 1) : ask()), ArrowUp: () => open && mark(at < 0 ? -1 : at - 1),
      Enter: () => open && list.children[Math.max(0, at)].click(), Escape: () => open && close()};
    if (!acts[event.key] || (event.key === 'Escape' && !open)) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  });
  screen.signal.addEventListener('abort', () => { clearTimeout(timer); flight?.abort(); });
}
