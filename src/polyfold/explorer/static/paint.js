// Painting cells: small ones as pixels, larger ones as outlined polygons, in slices of time so that the page never waits.
import { rgb } from "./colours.js";

// Cells that measure less than this many pixels are filled pixel by pixel and have no outline.
export const SMALL = 5;
const AT_ONCE = 400;
const IN_ONE_PATH = 60;

/** A generator that paints and yields now and then. */
export function* paint(canvas, camera, scene) {
  const { cells, colouring } = scene;
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (cells && cells.size && colouring) {
    const large = yield* paintSmall(context, camera, cells, colouring);
    yield* paintLarge(context, camera, cells, colouring, large, scene);
  }
  if (scene.faint) veil(context, scene.ground);
  for (const overlay of scene.overlays) {
    overlay(context, camera);
    yield;
  }
}

/** Lays the ground's colour over all that is painted, so that lines on top stand out. */
function veil(context, ground) {
  context.save();
  context.globalCompositeOperation = "source-atop";
  context.globalAlpha = 0.75;
  context.fillStyle = ground;
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
  context.restore();
}

/** Fills small cells where pixels' centres lie in them; cells tile the domain, so each pixel gets the colour of one. Returns the others. */
function* paintSmall(context, camera, cells, { lut, indexes }) {
  const { width, height } = context.canvas;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const words = lut.map((colour) => {
    const [r, g, b] = rgb(colour);
    return (255 << 24) | (b << 16) | (g << 8) | r;
  });
  const [x0, y0, x1, y1] = camera.seen;
  const { boxes } = cells;
  const count = Math.min(cells.size, indexes.length);
  const large = [];
  let any = false;
  const [sx, sy, ox, oy] = [camera.scaleX, camera.scaleY, width / 2, height / 2];
  for (let i = 0; i < count; i++) {
    if (i % AT_ONCE === AT_ONCE - 1) yield;
    if (boxes[4 * i] > x1 || boxes[4 * i + 2] < x0 || boxes[4 * i + 1] > y1 || boxes[4 * i + 3] < y0) continue;
    if ((boxes[4 * i + 2] - boxes[4 * i]) * sx >= SMALL || (boxes[4 * i + 3] - boxes[4 * i + 1]) * sy >= SMALL) {
      large.push(i);
      continue;
    }
    any = true;
    const word = words[indexes[i]];
    const [from, to] = [cells.start[i], cells.start[i + 1]];
    const top = Math.max(0, Math.ceil(oy - (boxes[4 * i + 3] - camera.y) * sy - 0.5));
    const bottom = Math.min(height - 1, Math.floor(oy - (boxes[4 * i + 1] - camera.y) * sy - 0.5));
    for (let row = top; row <= bottom; row++) {
      const at = row + 0.5;
      let [left, right] = [Infinity, -Infinity];
      let [ax, ay] = [ox + (cells.points[2 * to - 2] - camera.x) * sx, oy - (cells.points[2 * to - 1] - camera.y) * sy];
      for (let k = from; k < to; k++) {
        const bx = ox + (cells.points[2 * k] - camera.x) * sx;
        const by = oy - (cells.points[2 * k + 1] - camera.y) * sy;
        if (ay > at !== by > at) {
          const crossing = ax + ((at - ay) / (by - ay)) * (bx - ax);
          if (crossing < left) left = crossing;
          if (crossing > right) right = crossing;
        }
        ax = bx;
        ay = by;
      }
      const first = Math.max(0, Math.ceil(left - 0.5));
      const last = Math.min(width - 1, Math.ceil(right - 0.5) - 1);
      for (let column = first; column <= last; column++) pixels[row * width + column] = word;
    }
  }
  if (any) context.putImageData(image, 0, 0);
  return large;
}

/** Polygons with outlines, those of one colour together; without outlines if they are to be `faint`. */
function* paintLarge(context, camera, cells, { lut, indexes }, large, { wall, faint }) {
  large.sort((a, b) => indexes[a] - indexes[b]);
  context.lineJoin = "round";
  context.lineWidth = large.length > 1500 ? 0.5 : 0.9;
  context.strokeStyle = wall;
  let from = 0;
  while (from < large.length) {
    let to = from;
    context.beginPath();
    while (to < large.length && to - from < IN_ONE_PATH && indexes[large[to]] === indexes[large[from]]) {
      outline(context, camera, cells, large[to]);
      to += 1;
    }
    context.fillStyle = lut[indexes[large[from]]];
    context.fill();
    if (!faint) context.stroke();
    from = to;
    yield;
  }
}

// Canvas coordinates are kept this close to the canvas: far ones lose the digits that near ones need.
const FAR = 20_000;

/** Adds a cell's outline to the context's path. */
export function outline(context, camera, cells, i) {
  const p = cells.points;
  for (let k = cells.start[i]; k < cells.start[i + 1]; k++) {
    const [x, y] = camera.toPixel(p[2 * k], p[2 * k + 1]);
    const [px, py] = Math.abs(x) < FAR && Math.abs(y) < FAR ? [x, y] : nearer(x, y);
    if (k === cells.start[i]) context.moveTo(px, py);
    else context.lineTo(px, py);
  }
  context.closePath();
}

function nearer(x, y) {
  return [Math.max(-FAR, Math.min(FAR, x)), Math.max(-FAR, Math.min(FAR, y))];
}

/** An overlay of segments [[x0, y0], [x1, y1]]. */
export function segments(list, style, width) {
  return (context, camera) => {
    context.save();
    context.strokeStyle = style;
    context.lineWidth = width;
    context.lineCap = "round";
    context.beginPath();
    for (const [[ax, ay], [bx, by]] of list) {
      const [x0, y0] = camera.toPixel(ax, ay);
      const [x1, y1] = camera.toPixel(bx, by);
      if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > camera.width) continue;
      if (Math.max(y0, y1) < 0 || Math.min(y0, y1) > camera.height) continue;
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
    }
    context.stroke();
    context.restore();
  };
}

/** An overlay of data points; `colours` gives each its filling. */
export function dots(list, colours, edge, radius) {
  return (context, camera) => {
    context.save();
    context.strokeStyle = edge;
    context.lineWidth = radius / 3;
    list.forEach(([x, y], i) => {
      const [px, py] = camera.toPixel(x, y);
      if (px < -radius || py < -radius || px > camera.width + radius || py > camera.height + radius) return;
      context.beginPath();
      context.arc(px, py, radius, 0, 2 * Math.PI);
      context.fillStyle = colours(i);
      context.fill();
      context.stroke();
    });
    context.restore();
  };
}
