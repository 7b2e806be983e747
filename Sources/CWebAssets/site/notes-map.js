// Notes: the map, and beside it the list of what is on it.

import {call, Problem, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {keyed} from './list.js';
import {address, tileSource} from './parts.js';
import {actionsOf, tabs, zoned} from './notes-parts.js';
import {define, langOf, plural} from './texts.js';
import {button, empty} from './ui.js';
import './map.js';

const t = define({
  en: {
    onMap: 'On this map', none: 'No note is in this part of the map.', all: 'Show all notes',
    create: 'New note here', near: count => `${count} ${plural(count, {one: 'note', other: 'notes'})} close together`,
    open: 'Open the note', nearTo: city => `Near ${city}`, hint: 'Press the map to write a note of that place.',
    unplaced: count => `Notes without a place: ${count}`,
  },
  ru: {
    onMap: 'На этой карте', none: 'В этой части карты заметок нет.', all: 'Показать все заметки',
    create: 'Новая заметка здесь', open: 'Открыть заметку', nearTo: city => `Рядом: ${city}`,
    hint: 'Нажмите на карту, чтобы написать заметку об этом месте.', unplaced: count => `Заметок без места: ${count}`,
    near: count => `${count} ${plural(count, {one: 'заметка', few: 'заметки', other: 'заметок'})} рядом`,
  },
});

/** Opens the screen of the map. */
export async function openMap(screen) {
  const map = h('larder-map');
  const list = h('ul', {class: 'rows', role: 'list', 'aria-label': t('onMap')});
  const side = h('div', {class: 'map-side'});
  screen.head({title: t('map'), tabs, actions: actionsOf(screen, () => import('./notes-people.js'))});
  screen.show(h('div', {class: 'stack map-page'}, map, h('section', {class: 'stack', 'aria-label': t('onMap')},
    h('p', {class: 'muted'}, t('hint')), side)));
  const tiles = await tileSource();
  if (screen.signal.aborted) return;
  map.useTiles(tiles);
  const begun = await begin(screen, map);
  const resource = screen.load(begun, ({data}) => {
    map.setMarks(marksOf(data));
    drawSide(side, list, data, map);
  }, {place: side, skeleton: 'rows'});
  map.addEventListener('view', ({detail}) => {
    const {lat, lon, zoom} = detail;
    address(screen, {lat: lat.toFixed(4), lon: lon.toFixed(4), zoom: zoom.toFixed(2)});
    resource.go(viewed(map));
  });
  map.addEventListener('open', ({detail}) => openCallout(map, detail));
  map.addEventListener('press', ({detail}) => offer(map, detail));
}

const mapped = values => zoned('/v1/notes/map', {placed: 1, ...values});

/** Asks for clusters as far as they come apart; closer than that, notes of one place are pins of their own. */
function viewed({bbox, view: {zoom}, highest}) {
  return mapped({bbox: bbox.map(degrees => degrees.toFixed(4)).join(','),
    zoom: zoom < Math.min(14, highest - 0.01) ? Math.round(zoom) : null});
}

/** Shows what the address names, else all notes, and gives what to ask for. */
async function begin(screen, map) {
  const {lat, lon, zoom} = Object.fromEntries(screen.query);
  const all = mapped();
  if (lat && lon && zoom) {
    map.show(Number(lat), Number(lon), Number(zoom));
  } else {
    try {
      const {data} = await call(all, {signal: screen.signal});
      fitAll(map, data, false);
    } catch (problem) { if (!(problem instanceof Problem)) throw problem; }
  }
  return map.view.width ? viewed(map) : all;
}

function marksOf({pins, clusters}) {
  return [...clusters.map(cluster => ({id: cluster.href, ...cluster})),
    ...pins.map(pin => ({id: pin.id, lat: pin.lat, lon: pin.lon, label: `${pin.first_line}, ${pin.subtitle}`, pin}))];
}

function drawSide(side, list, data, map) {
  const marks = marksOf(data);
  if (data.empty) {
    replace(side, empty(data.empty, {icon: 'map', href: '/notes/new'}));
    return;
  }
  keyed(list, marks.slice(0, 200), mark => mark.id, mark => sideRow(mark, map), {animate: false});
  replace(side, h('h2', {}, t('onMap')), marks.length > 0 ? list : h('p', {class: 'muted'}, t('none')),
    marks.length === 0 && data.total > data.unplaced
      && h('div', null, button(t('all'), () => showAll(map), {icon: 'map'})),
    data.unplaced > 0 && h('p', {class: 'muted'}, t('unplaced', data.unplaced)));
}

async function showAll(map) {
  fitAll(map, (await call(mapped())).data);
}

function fitAll(map, data, animated = true) {
  const places = [...data.pins, ...data.clusters];
  if (places.length === 0) return;
  const [lats, lons] = [places.map(place => place.lat), places.map(place => place.lon)];
  map.fit([Math.min(...lons) - 1, Math.min(...lats) - 1, Math.max(...lons) + 1, Math.max(...lats) + 1], animated,
    map.highest - 2);
}

function sideRow(mark, map) {
  const name = mark.count ? t('near', mark.count) : mark.pin.first_line;
  const link = mark.count ? h('button', {type: 'button', class: 'row-link plain', onclick: () => map.fit(mark.bbox)},
    name)
    : h('a', {class: 'row-link', href: `/notes/${mark.id}`, dir: 'auto', lang: langOf(name)}, name);
  return h('li', {class: 'row', onpointerenter: () => map.highlight(mark.id, true),
    onpointerleave: () => map.highlight(mark.id, false)},
  icon(mark.count ? 'target' : 'pin'), h('div', {class: 'row-main'}, link,
    h('span', {class: 'row-sub'}, !mark.count ? mark.pin.subtitle : mark.city ? t('nearTo', mark.city) : t('zoomIn'))));
}

function openCallout(map, {id, pin}) {
  const link = h('a', {href: `/notes/${id}`, class: 'callout'},
    h('strong', {lang: langOf(pin.first_line), dir: 'auto'}, pin.first_line),
    h('span', {class: 'row-sub'}, pin.subtitle), h('span', {class: 'callout-go'}, t('open'), icon('right', 16)));
  map.openCallout(id, link);
  link.focus({preventScroll: true});
}

/** Offers a note of a place that was pressed. */
function offer(map, {lat, lon, name, near}) {
  const values = {lat: lat.toFixed(4), lon: lon.toFixed(4), name};
  const link = h('a', {href: withQuery('/notes/new', values), class: 'callout'},
    h('span', {class: 'callout-go'}, icon('plus', 16), t('create')),
    h('span', {class: 'row-sub', lang: langOf(name)}, name ?? (near ? t('nearTo', near)
      : `${values.lat}, ${values.lon}`)));
  map.openCallout({lat, lon}, link);
  link.focus({preventScroll: true});
}
