// Notes: the text of a note to read, with its links, and with boxes to check off at lines such as "- [ ] milk".

import {h} from './dom.js';

const box = /^(\s*[-*] \[)([ xXхХ])(\] ?)(.*)/s;
const link = /https?:\/\/[^\s<>"]*[^\s<>"'.,;:!?)\]»]/g;

/**
 * Makes the nodes of a text.
 * @param {string} text
 * @param {function(number, boolean)} check Called with a line and whether it was checked off.
 */
export function noteText(text, check) {
  const lines = text.split('\n');
  return lines.map((line, index) => {
    const [, , mark, , words] = box.exec(line) ?? [];
    if (mark === undefined) {
      const title = index === 0 && lines.length > 1;
      return [title ? h('strong', {class: 'note-title'}, linked(line)) : linked(line),
        index < lines.length - 1 && '\n'];
    }
    const done = mark !== ' ';
    return h('label', {class: `note-box ${done ? 'done' : ''}`}, h('input', {type: 'checkbox', id: `box-${index}`,
      checked: done, dataset: {write: ''}, onchange: event => check(index, event.target.checked)}),
    h('span', null, linked(words)));
  });
}

/** Gives a text with the box of a line checked off, or not. */
export function checked(text, index, done) {
  return text.split('\n').map((line, at) => (at === index ? line.replace(box, `$1${done ? 'x' : ' '}$3$4`) : line))
    .join('\n');
}

/** Gives a line of a list without its box, or with a sign in its place. */
export function withSigns(line) {
  return line.replace(/(^|\s)[-*] \[([ xXхХ])\] ?/g, (_, before, mark) => `${before}${mark === ' ' ? '☐' : '☑'} `);
}

/** Gives the first line of a note, with signs for boxes. */
export function firstLine(text) { return withSigns(text.trim().split('\n')[0]); }

function linked(text) {
  const parts = [];
  let end = 0;
  for (const {0: href, index} of text.matchAll(link)) {
    parts.push(text.slice(end, index), h('a', {href, target: '_blank', rel: 'noopener noreferrer'}, href));
    end = index + href.length;
  }
  return [parts, text.slice(end)];
}

/**
 * Lets boxes be typed: a button gives one to the line of the cursor or takes it away, Enter goes on with the next one.
 * @param {HTMLTextAreaElement} area
 * @returns {function()} What the button does.
 */
export function boxes(area) {
  const lineAt = at => {
    const start = area.value.lastIndexOf('\n', at - 1) + 1;
    const end = area.value.indexOf('\n', start);
    return {start, line: area.value.slice(start, end < 0 ? undefined : end)};
  };
  const put = (from, to, text, cursor) => {
    area.setRangeText(text, from, to);
    area.setSelectionRange(cursor, cursor);
    area.dispatchEvent(new Event('input', {bubbles: true}));
  };
  area.addEventListener('keydown', event => {
    const {selectionStart: at, selectionEnd: end} = area;
    if (event.key !== 'Enter' || event.isComposing || event.shiftKey || at !== end) return;
    const {start, line} = lineAt(at);
    const [, before, , , words] = box.exec(line) ?? [];
    if (!before || at < start + before.length + 2) return;
    event.preventDefault();
    // An empty one ends the list.
    if (!words.trim()) put(start, start + line.length, '', start);
    else put(at, at, `\n${before} ] `, at + before.length + 4);
  });
  return () => {
    const at = area.selectionStart;
    const {start, line} = lineAt(at);
    const [whole, , , , words] = box.exec(line) ?? [];
    const text = whole === undefined ? `- [ ] ${line}` : words;
    put(start, start + line.length, text, Math.max(start, at + text.length - line.length));
    area.focus();
  };
}
