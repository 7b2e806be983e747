// What fingers, mouse and wheel do with the map.

/**
 * Hears the gestures of a surface.
 * @param {Element} surface @param {AbortSignal} signal
 * @param {{zoomBy: function(number, {left: number, top: number}, boolean), panBy: function(number, number),
 *   tap: function({left: number, top: number}), polite: function(): boolean}} acts A polite map leaves the wheel to the
 *   page until it has the focus.
 */
export function hearGestures(surface, signal, {zoomBy, panBy, tap, polite}) {
  const fingers = new Map();
  const on = (type, act, options) => surface.addEventListener(type, act, {signal, ...options});
  const spotOf = event => {
    const box = surface.getBoundingClientRect();
    return {left: event.clientX - box.left, top: event.clientY - box.top};
  };
  on('wheel', event => {
    if (!event.ctrlKey && !surface.contains(document.activeElement) && polite()) return;
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 30 : 1);
    zoomBy(Math.max(-1, Math.min(1, -pixels / 240)), spotOf(event), false);
  }, {passive: false});
  on('dblclick', event => zoomBy(1, spotOf(event)));
  on('pointerdown', event => {
    if (event.button !== 0 || event.target.closest('.map-callout')) return;
    fingers.set(event.pointerId, {...spotOf(event), moved: 0});
  });
  on('pointermove', event => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = spotOf(event);
    const moved = before.moved + Math.hypot(now.left - before.left, now.top - before.top);
    if (moved > 4 && !surface.hasPointerCapture(event.pointerId)) surface.setPointerCapture(event.pointerId);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    fingers.set(event.pointerId, {...now, moved});
    if (other) pinch(before, now, other);
    else if (moved > 4) panBy(before.left - now.left, before.top - now.top);
  });
  const pinch = (before, now, other) => {
    const width = (one, two) => Math.max(10, Math.hypot(one.left - two.left, one.top - two.top));
    const middle = {left: (now.left + other.left) / 2, top: (now.top + other.top) / 2};
    panBy((before.left - now.left) / 2, (before.top - now.top) / 2);
    zoomBy(Math.log2(width(now, other) / width(before, other)), middle, false);
  };
  let wasTap = false;
  for (const type of ['pointerup', 'pointercancel']) {
    on(type, event => {
      wasTap = fingers.get(event.pointerId)?.moved <= 4 && type === 'pointerup';
      fingers.delete(event.pointerId);
    });
  }
  // Not before: the press itself moves the focus to the map. The second of a double press zooms only.
  on('click', event => event.detail < 2 && wasTap && !event.target.closest('button, a') && tap(spotOf(event)));
}
