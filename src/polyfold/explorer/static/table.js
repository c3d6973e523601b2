// The cells in view as a table: for screen readers, and for everyone who would rather read than look.
import { byId, fill, make } from "./dom.js";
import { many, number, whole } from "./words.js";

const ROWS = 60;
const COLUMNS = [
  ["value", "output"],
  ["slope", "slope"],
  ["layer", "layer"],
  ["area", "area"],
  ["facets", "facets"],
];

/** Fills the table from a pane; `onpick(index)` is called when a row's button is pressed. */
export function fillTable(pane, onpick) {
  const place = byId("table-of-cells");
  if (!place.open) return;
  const { cells } = pane;
  const inView = cells.within(...pane.camera.seen);
  const area = cells.columns.area;
  const largest = inView.sort((a, b) => (area[b] || 0) - (area[a] || 0)).slice(0, ROWS);
  byId("table-says").textContent =
    inView.length > ROWS
      ? `The ${ROWS} largest of the ${whole(inView.length)} cells in view; zoom in to see others.`
      : `${many(inView.length, "cell")} in view, the largest first.`;
  fill(place.querySelector("thead"),
    make("tr", {}, ["cell", "class"].map((name) => make("th", { scope: "col" }, name)),
      COLUMNS.map(([, name]) => make("th", { scope: "col", class: "value" }, name))));
  fill(place.querySelector("tbody"), largest.map((i) => row(cells, i, i === pane.selected, onpick)));
}

function row(cells, i, chosen, onpick) {
  const name = `Cell ${cells.numbers[i]}`;
  const known = (column) => cells.columns[column][i];
  return make("tr", { "aria-current": chosen ? "true" : null },
    make("th", { scope: "row" }, make("button", { type: "button", onclick: () => onpick(i) }, name)),
    make("td", {}, known("class") >= 0 ? String(known("class")) : "–"),
    COLUMNS.map(([column]) => make("td", { class: "value" }, Number.isNaN(known(column)) ? "–" : number(known(column), 3))));
}
