// What the map draws on its canvas: sea, land, tiles, degrees, cities, dots. Positions in the world are 0 to 1, as in
// Web Mercator: x to the east, y to the south.

/** The zoom up to which the outline of the world is honest. */
export const outlineZoom = 7;

/** Gives the position in the world of a place. */
export function project(lat, lon) {
  const sine = Math.sin(Math.max(-85.0511, Math.min(85.0511, lat)) * Math.PI / 180);
  return {x: lon / 360 + 0.5, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)};
}

/** Gives the place of a position in the world; the longitude is between -180 and 180. */
export function unproject(x, y) {
  const lat = 360 / Math.PI * Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) - 90;
  return {lat, lon: (x - Math.floor(x)) * 360 - 180};
}

let world = null;

/** Loads the outline of the world, once. */
export function loadWorld() {
  world ??= fetch(new URL('./world.json', import.meta.url)).then(response => response.json()).then(unpack);
  world.catch(() => { world = null; });
  return world;
}

/** Gives the lines of the outline; script/make-world says how they are written. A border is a line of two rings. */
function unpack({scale, lines, rings}) {
  const points = lines.split(' ').map(line => unpackLine(numbers(line).map(n => (n >> 1) ^ -(n & 1)), scale));
  const uses = points.map(() => 0);
  let next = 0;
  const shapes = rings.split(' ').map(ring => numbers(ring).flatMap(n => {
    const number = next - (n >> 1);
    if (number === next) next += 1;
    uses[number] += 1;
    return n & 1 ? points[number].toReversed() : points[number];
  }));
  return {rings: shapes, coasts: points.filter((_, number) => uses[number] < 2),
    borders: points.filter((_, number) => uses[number] > 1)};
}

function numbers(text) {
  const found = [];
  let high = 0;
  for (const sign of text) {
    const digit = sign.charCodeAt(0) - (sign > '\\' ? 36 : 35);
    if (digit >= 60) high = 31 * high + digit - 59;
    else { found.push(60 * high + digit); high = 0; }
  }
  return found;
}

function unpackLine(line, scale) {
  const points = [];
  for (let index = 0, x = 0, y = 0; index < line.length; index += 2) {
    x += line[index];
    y += line[index + 1];
    points.push({...project(y / scale, x / scale), seam: Math.abs(x) === 180 * scale || y <= -89 * scale});
  }
  return points;
}

/**
 * Draws the map.
 * @param {CanvasRenderingContext2D} pen
 * @param {{x: number, y: number, zoom: number, width: number, height: number, scale: number}} view The middle, and the
 *   size in CSS pixels; `scale` is the width of the world.
 * @param {{world: ?Object, tiles: ?Tiles, cities: Array, marks: Array, dots: Array, colors: Object, font: string}} what
 */
export function draw(pen, view, {world: outline, tiles, cities, marks, dots, colors, font}) {
  const close = view.zoom > outlineZoom;
  pen.fillStyle = close ? colors.land : colors.sea;
  pen.fillRect(0, 0, view.width, view.height);
  if (outline && !close) drawLand(pen, view, outline, colors);
  tiles?.draw(pen, view);
  if (!tiles || view.zoom < 3) drawDegrees(pen, view, colors);
  if (!tiles) drawCities(pen, view, cities, marks, colors, font);
  pen.fillStyle = colors.accent;
  for (const {x, y} of dots) circle(pen, place(view, x, y), 5);
}

/** Gives where a position is on the screen, that nearest to the middle. */
export function place(view, x, y) {
  const east = x - view.x;
  return {
    left: view.width / 2 + (east - Math.round(east)) * view.scale,
    top: view.height / 2 + (y - view.y) * view.scale,
  };
}

/** Gives the item that is nearest to a spot of the screen, if one is nearer than so many pixels. */
export function nearest(view, items, spot, most) {
  return items.map(item => ({item, at: place(view, item.x, item.y)}))
    .map(({item, at}) => ({item, far: Math.hypot(at.left - spot.left, at.top - spot.top)}))
    .filter(({far}) => far < most).sort((one, two) => one.far - two.far)[0]?.item;
}

/** Gives how far each mark stands aside: those of one place are seen, as the seeds of a sunflower. */
export function spread(view, marks) {
  const taken = new Map();
  return new Map(marks.map(mark => {
    const spot = [mark.x, mark.y].map(part => Math.round(part * view.scale / 12)).join();
    const before = taken.get(spot) ?? 0;
    taken.set(spot, before + 1);
    const far = 30 * Math.sqrt(before);
    return [mark, {left: far * Math.cos(2.4 * before), top: far * Math.sin(2.4 * before)}];
  }));
}

function drawLand(pen, view, outline, colors) {
  const first = Math.floor(view.x - view.width / 2 / view.scale);
  const last = Math.floor(view.x + view.width / 2 / view.scale);
  for (let turn = first; turn <= last; turn += 1) {
    const path = (lines, closed) => trace(pen, view, turn, lines, closed);
    pen.fillStyle = colors.land;
    path(outline.rings, true);
    pen.fill();
    pen.lineWidth = 0.75;
    pen.strokeStyle = colors.border;
    path(outline.borders);
    pen.stroke();
    pen.lineWidth = 1;
    pen.strokeStyle = colors.coast;
    path(outline.coasts);
    pen.stroke();
  }
}

function trace(pen, view, turn, lines, closed = false) {
  const left = view.width / 2 + (turn - view.x) * view.scale;
  const top = view.height / 2 - view.y * view.scale;
  pen.beginPath();
  for (const line of lines) {
    line.forEach((point, index) => {
      const jump = index === 0 || (!closed && point.seam && line[index - 1].seam);
      pen[jump ? 'moveTo' : 'lineTo'](left + point.x * view.scale, top + point.y * view.scale);
    });
    if (closed) pen.closePath();
  }
}

const steps = [30, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

function drawDegrees(pen, view, colors) {
  const step = steps.findLast(degrees => degrees / 360 * view.scale >= 110) ?? 30;
  const half = {x: view.width / 2 / view.scale, y: view.height / 2 / view.scale};
  const west = (view.x - half.x - 0.5) * 360;
  const east = (view.x + half.x - 0.5) * 360;
  const north = unproject(0, Math.max(0, view.y - half.y)).lat;
  const south = unproject(0, Math.min(1, view.y + half.y)).lat;
  pen.strokeStyle = colors.grid;
  pen.lineWidth = 0.5;
  pen.beginPath();
  for (let lon = Math.ceil(west / step) * step; lon <= east; lon += step) {
    const left = view.width / 2 + (lon / 360 + 0.5 - view.x) * view.scale;
    pen.moveTo(left, 0);
    pen.lineTo(left, view.height);
  }
  for (let lat = Math.ceil(south / step) * step; lat <= north; lat += step) {
    const {top} = place(view, view.x, project(lat, 0).y);
    pen.moveTo(0, top);
    pen.lineTo(view.width, top);
  }
  pen.stroke();
}

/** Names cities where there is room: beside clusters, pins, the buttons, the scale and the credit. */
function drawCities(pen, view, cities, marks, colors, font) {
  const taken = marks.map(({x, y, count}) => {
    const {left, top} = place(view, x, y);
    return [left - 20, top - 32, left + 20, top + (count ? 20 : -10)];
  });
  taken.push([view.width - 60, 0, view.width, 104], [0, view.height - 28, view.width, view.height]);
  pen.font = `12px ${font}`;
  pen.textBaseline = 'middle';
  pen.lineJoin = 'round';
  for (const city of cities) {
    const {left, top} = place(view, city.x, city.y);
    const {width} = pen.measureText(city.name);
    // One that would be cut at the right is named on the left.
    const start = left + width + 9 > view.width ? left - width - 7 : left + 7;
    const box = [Math.min(left, start) - 5, top - 9, Math.max(left, start + width) + 5, top + 9];
    if (left < 0 || left > view.width || start < 0 || taken.some(other => overlap(box, other))) continue;
    taken.push(box);
    pen.fillStyle = colors.muted;
    circle(pen, {left, top}, 2.5);
    pen.strokeStyle = colors.land;
    pen.lineWidth = 3;
    pen.strokeText(city.name, start, top);
    pen.fillText(city.name, start, top);
  }
}

function overlap(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

function circle(pen, {left, top}, radius) {
  pen.beginPath();
  pen.arc(left, top, radius, 0, 2 * Math.PI);
  pen.fill();
}

/** Tiles of a service that Larder has behind a mount. */
export class Tiles {
  /**
   * @param {string} template Address with `{z}`, `{x}` and `{y}`.
   * @param {number} maxZoom Zoom of the most detailed tiles.
   * @param {function()} changed Is called when another tile is there.
   */
  constructor(template, maxZoom, changed) {
    Object.assign(this, {template, maxZoom, changed, pictures: new Map()});
  }

  /** Draws the tiles of a view; those that are not there yet are requested, larger ones are shown meanwhile. */
  draw(pen, view) {
    const zoom = Math.max(0, Math.min(this.maxZoom, Math.round(view.zoom)));
    const count = 2 ** zoom;
    const size = view.scale / count;
    const left = view.x * count - view.width / 2 / size;
    const top = view.y * count - view.height / 2 / size;
    for (let y = Math.max(0, Math.floor(top)); y < Math.min(count, top + view.height / size); y += 1) {
      for (let x = Math.floor(left); x < left + view.width / size; x += 1) {
        this.drawTile(pen, zoom, ((x % count) + count) % count, y, (x - left) * size, (y - top) * size, size);
      }
    }
  }

  drawTile(pen, zoom, x, y, left, top, size) {
    for (let up = 0; up <= Math.min(4, zoom); up += 1) {
      const picture = this.picture(zoom - up, x >> up, y >> up, up === 0);
      if (!picture?.naturalWidth) continue;
      const part = picture.naturalWidth / 2 ** up;
      const column = (x - ((x >> up) << up)) * part;
      const row = (y - ((y >> up) << up)) * part;
      pen.drawImage(picture, column, row, part, part, left, top, size + 0.5, size + 0.5);
      return;
    }
  }

  picture(zoom, x, y, wanted) {
    const address = this.template.replace('{z}', zoom).replace('{x}', x).replace('{y}', y);
    const known = this.pictures.get(address);
    if (known || !wanted) return known;
    const picture = new Image();
    picture.onload = () => this.changed();
    picture.onerror = () => setTimeout(() => { this.pictures.delete(address); this.changed(); }, 10000);
    picture.src = address;
    this.pictures.set(address, picture);
    if (this.pictures.size > 400) this.pictures.delete(this.pictures.keys().next().value);
    return picture;
  }
}
