// Elements from values. Text only ever becomes a text node, so nothing that a server sends is markup.

const svgNamespace = 'http://www.w3.org/2000/svg';
const properties = new Set(['value', 'checked', 'selected', 'indeterminate', 'disabled', 'inert', 'hidden']);

/**
 * Makes an HTML element.
 * @param {string} tag Name of the element.
 * @param {?Object} attributes Attributes; `onclick` and the like are listeners, `dataset` an object, `false`, `null`
 *   and `undefined` are left out, `true` is an empty attribute.
 * @param {...(Node|string|number|null|false|Array)} children Children; strings become text, nothing is skipped.
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Makes an SVG element, as `h` makes an HTML element. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(svgNamespace, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) setAttribute(element, name, value);
  append(element, children);
  return element;
}

function setAttribute(element, name, value) {
  if (typeof value === 'function') element.addEventListener(name.slice(2), value);
  else if (name === 'dataset') Object.assign(element.dataset, value);
  else if (properties.has(name)) element[name] = value ?? (name === 'value' ? '' : false);
  else if (value === true) element.setAttribute(name, '');
  else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
}

/** Appends children as `h` does: strings as text, lists flattened, nothing skipped. */
export function append(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces all children of an element; what had the focus keeps it, or gives it to what takes its place. */
export function replace(element, ...children) {
  const held = element.contains(document.activeElement) && element !== document.activeElement
    ? document.activeElement : null;
  element.replaceChildren();
  append(element, children);
  if (held) refocus(held, element);
  return element;
}

/** Gives the focus back to an element, or to the one of its kind and name that was drawn in its place. */
export function refocus(held, within = document) {
  const target = held.isConnected ? held : [...within.querySelectorAll(held.localName)]
    .find(other => nameOf(other) === nameOf(held));
  if (target && target !== document.activeElement) target.focus({preventScroll: true});
}

function nameOf(element) {
  return [element.id, element.getAttribute('aria-label') ?? element.textContent].join(' ');
}
