// What colours mean: a colouring turns a column of numbers into a few hundred colours and a legend.
import { make } from "./dom.js";
import { short } from "./words.js";

// Told apart by people with any colour vision; the same hues are toned for either background.
const CLASSES = {
  light: ["#8fb8de", "#f2b880", "#9ccfa5", "#e3a2b8", "#b9a7d9", "#e6da72", "#7cc8cc", "#c4a184", "#a3a9b5", "#e68c7a"],
  dark: ["#3f6f9f", "#a8692c", "#42804e", "#97496a", "#6a559a", "#8a7d1c", "#27858a", "#7d5f45", "#666d7b", "#a4473a"],
};
// From quiet to strong; the far end is what stands out from the background.
const SCALES = {
  light: ["#f4f1e8", "#d5e3dc", "#a3cdcb", "#68afbd", "#3d89ab", "#2c6192", "#2b3a6d"],
  dark: ["#23262f", "#28405a", "#2d6383", "#3a8a9b", "#66aea2", "#a9cfa9", "#ecebc2"],
};
export const SIGNED = {
  light: ["#9c4a1a", "#cf8a55", "#eccbad", "#f5f2ec", "#b7d0e2", "#6d9fc6", "#2d6397"],
  dark: ["#f0a46c", "#b96f3c", "#6f482f", "#2a2c33", "#2f4f69", "#3f7da8", "#83bfe8"],
};
const LEVELS = 200;

export const COLOURINGS = {
  class: { label: "class", column: "class", kind: "named", says: "Which output is the largest; if there is one only, whether it is above 0." },
  value: { label: "output", column: "value", kind: "signed", says: "The largest output in the middle of the cell, or the only one." },
  slope: { label: "slope", column: "slope", kind: "scale", says: "How steep that output is: the length of its gradient." },
  layer: { label: "layer", column: "layer", kind: "named", says: "The last layer with a fold along the cell." },
  area: { label: "area", column: "area", kind: "log", says: "How large the cell is, on a logarithmic scale." },
};

/**
 * {lut, indexes, legend}: a colour for each polygon as a number of the lut's rows; 0 is grey, for what is not known.
 * `beside` are other cells that are to be coloured in the same way.
 */
export function coloured(cells, by, theme, beside = []) {
  const { column, kind } = COLOURINGS[by];
  const valuesOf = (each) => each.columns[column].subarray(0, each.size);
  const all = [cells, ...beside].map(valuesOf);
  const found = kind === "named" ? named(all, by, theme) : scaled(all, kind, theme);
  return { ...found, by };
}

const GREY = { light: "#e4e4e4", dark: "#33363d" };

function named(all, by, theme) {
  const palette = CLASSES[theme];
  const indexes = Uint16Array.from(all[0], (value) => (value >= 0 ? 1 + (Math.round(value) % palette.length) : 0));
  const present = [...new Set(all.flatMap((values) => [...new Set(values)]))].filter((value) => value >= 0).sort((a, b) => a - b);
  const entries = present.map((value) => ({
    colour: palette[Math.round(value) % palette.length],
    name: by === "layer" ? (value === 0 ? "no layer" : `layer ${value}`) : `class ${value}`,
  }));
  return { lut: [GREY[theme], ...palette], indexes, legend: { entries } };
}

function scaled(all, kind, theme) {
  const usable = (value) => Number.isFinite(value) && (kind !== "log" || value > 0);
  const to = kind === "log" ? Math.log : (value) => value;
  let [lo, hi] = [Infinity, -Infinity];
  for (const values of all) {
    for (const value of values) {
      if (!usable(value)) continue;
      lo = Math.min(lo, to(value));
      hi = Math.max(hi, to(value));
    }
  }
  const both = kind === "signed" && lo < 0 && hi > 0;
  if (both) [lo, hi] = [-Math.max(-lo, hi), Math.max(-lo, hi)];
  const stops = both ? SIGNED[theme] : SCALES[theme];
  const step = hi > lo ? (LEVELS - 1) / (hi - lo) : 0;
  const indexes = Uint16Array.from(all[0], (value) => (usable(value) ? 1 + Math.round((to(value) - lo) * step) : 0));
  const ramp = Array.from({ length: LEVELS }, (_, k) => between(stops, k / (LEVELS - 1)));
  const from = kind === "log" ? Math.exp : (value) => value;
  const ends = lo <= hi ? [from(lo), from(hi)] : null;
  return { lut: [GREY[theme], ...ramp], indexes, legend: { ends, ramp: stops, kind } };
}

function between(stops, t) {
  const place = t * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(place));
  const [a, b] = [rgb(stops[k]), rgb(stops[k + 1])];
  const mixed = a.map((value, i) => Math.round(value + (place - k) * (b[i] - value)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

export function rgb(hex) {
  return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

/** The colour of a class for data points: that of the other theme, which stands out from cells of this one. */
export function dotColour(value, theme) {
  const palette = CLASSES[theme === "dark" ? "light" : "dark"];
  return palette[value % palette.length];
}

/** What the colours mean, as elements. */
export function legendOf({ legend, by }) {
  const title = make("span", { class: "legend-title", title: COLOURINGS[by].says }, `Colour: ${COLOURINGS[by].label}`);
  if (legend.entries) {
    const shown = legend.entries.slice(0, 12).map(({ colour, name }) => {
      const swatch = make("i", { class: "swatch" });
      swatch.style.background = colour;
      return make("span", { class: "entry" }, swatch, name);
    });
    return [title, ...shown];
  }
  if (!legend.ends) return [title, "not known for these cells"];
  const bar = make("i", { class: "ramp" });
  bar.style.background = `linear-gradient(to right, ${legend.ramp.join(", ")})`;
  const [lo, hi] = legend.ends;
  return [title, make("span", { class: "entry" }, short(lo, 3), bar, short(hi, 3), legend.kind === "log" ? " (logarithmic)" : "")];
}
