// The map of an image network as an image: how much every pixel adds to an output.
import { SIGNED, rgb } from "./colours.js";
import { make } from "./dom.js";
import { theme } from "./theme.js";
import { short } from "./words.js";

// Fewer inputs than this are no image.
const FEWEST = 64;

/** [rows, columns] of the images that a network takes; of inputs in one row, a square is guessed. Null if there is none. */
export function imageSize(shape, inputs) {
  if (inputs < FEWEST) return null;
  const sides = shape.filter((each) => each > 1);
  if (sides.length === 2 && sides[0] * sides[1] === inputs) return sides;
  const side = Math.round(Math.sqrt(inputs));
  return sides.length === 1 && side * side === inputs ? [side, side] : null;
}

/** A small picture of one row of a map: one colour for what raises the output, another for what lowers it. */
export function gradientImage(row, [height, width], name) {
  const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const words =
    `How much each of ${height} × ${width} pixels raises (blue) or lowers (orange) ${name}; ` +
    `the strongest changes it by ${short(largest)} per unit of brightness.`;
  const canvas = make("canvas", { class: "image", width, height, role: "img", "aria-label": "The map as an image" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const stops = SIGNED[theme()].map(rgb);
  row.forEach((value, k) => {
    const place = ((value / largest + 1) / 2) * (stops.length - 1);
    const from = Math.min(stops.length - 2, Math.floor(place));
    const colour = stops[from].map((each, c) => each + (place - from) * (stops[from + 1][c] - each));
    image.data.set([...colour, 255], 4 * k);
  });
  context.putImageData(image, 0, 0);
  return make("figure", {}, canvas, make("figcaption", {}, words));
}
