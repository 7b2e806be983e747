// Disk: how a folder is shown: rows with columns, or pictures side by side; and in what order.

import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {address} from './parts.js';
import {define} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {modified: 'Changed', grid: 'Show as pictures', list: 'Show as a list',
    by: (name, down) => `Sort by ${name.toLowerCase()}, ${down ? 'descending' : 'ascending'}`},
  ru: {modified: 'Изменён', grid: 'Показать картинками', list: 'Показать списком',
    by: (name, down) => `Упорядочить: ${name.toLowerCase()}, по ${down ? 'убыванию' : 'возрастанию'}`},
});

/** Tells whether folders are shown as pictures. */
export function isGrid() { return localStorage.getItem('larder.disk.view') === 'grid'; }

/** Gives the order of a folder: that of its address, else the last one that was chosen. */
export function sortOf(screen) {
  return screen.query.get('sort') ?? sessionStorage.getItem('larder.disk.sort') ?? 'name';
}

/** Makes the button that changes between rows and pictures. */
export function viewButton(changed) {
  const draw = () => {
    const words = t(isGrid() ? 'list' : 'grid');
    Object.assign(element, {title: words, ariaLabel: words});
    replace(element, icon(isGrid() ? 'lines' : 'grid'));
  };
  const element = button(t('grid'), () => {
    localStorage.setItem('larder.disk.view', isGrid() ? 'list' : 'grid');
    draw();
    changed();
  }, {icon: 'grid', bare: true});
  draw();
  return element;
}

/**
 * Makes the heads of the columns: a press sorts by one, a further one the other way round.
 * @param {Screen} screen @param {function()} changed @param {function(string)} told Gets the order.
 */
export function columns(screen, changed, told) {
  const element = h('div', {class: 'file-columns', hidden: true});
  const sorted = () => {
    sessionStorage.setItem('larder.disk.sort', sortOf(screen));
    told(sortOf(screen));
    changed();
  };
  const draw = hidden => {
    const now = sortOf(screen);
    element.hidden = hidden;
    replace(element, ['name', 'modified', 'size'].map(name => {
      const [isThis, isDown] = [now.replace('-', '') === name, now.startsWith('-')];
      // What is new and what is large are looked for first.
      const next = isThis ? !isDown : name !== 'name';
      return h('button', {type: 'button', class: `column-${name}`, title: t('by', t(name), next),
        'aria-pressed': String(isThis), onclick: () => {
          address(screen, {sort: `${next ? '-' : ''}${name}`});
          sorted();
        }}, t(name), isThis && icon(isDown ? 'down' : 'up', 16));
    }));
  };
  return {element, draw, sorted};
}
