// The side panel: everything about one cell, in words.
import { byId, fill, make, say } from "./dom.js";
import { gradientImage, imageSize } from "./gradient.js";
import { formula, many, number } from "./words.js";

// Of more outputs than this, only the winner's map is open.
const OUTPUTS = 4;
const LISTED = 12;
// Behind such a facet there is a cell, but the job was stopped before it got there.
const UNREACHED = -2;

/** What stands there before a cell is chosen. */
export function showNothing(hasCells) {
  fill(byId("panel"),
    make("h3", {}, "No cell chosen"),
    make("p", {}, hasCells
      ? "Click a cell to read its map, or focus the picture and press an arrow key. Arrow keys then walk from neighbour to neighbour."
      : "Choose a network and where to look, then press Unfold."),
    make("ol", { class: "steps" },
      make("li", {}, "Every polygon is a cell. On it, the network is one affine map."),
      make("li", {}, "Lines are folds: a unit (neuron) switches on or off there."),
      make("li", {}, "Zoom with the wheel or two fingers, drag to move.")));
}

/** Shows a cell as the server describes it; `walk(number)` goes to a neighbour. */
export function showCell(cell, { outputs, inputs, shape, isSlice, walk, dim }) {
  const { A, c } = cell.map;
  fill(byId("panel"),
    make("h3", { tabindex: "-1" }, `Cell ${cell.cell}`),
    // "0.9 x x0" is read more easily without the cross, inputs being called x0, x1 and so on.
    make("p", {}, cell.explanation.replaceAll(" x x", " x").replace(/ -(?=[\d ])/g, " −")),
    make("dl", {}, facts(cell, outputs, dim)),
    make("h4", {}, "Map", help("term-map", "What is a map?"), copier("Copy", () => JSON.stringify({ A, c }))),
    maps(cell, outputs, inputs, imageSize(shape, inputs)),
    make("p", { class: "hint" }, isSlice
      ? "The map holds on the whole cell in input space, of which the picture shows a slice. Point at a number for all of its digits."
      : "Point at a number for all of its digits."),
    make("h4", {}, "Facets and neighbours", help("term-facet", "What is a facet?")),
    facetTable(cell, walk),
    dataOf(cell),
    make("h4", {}, "Pattern", help("term-pattern", "What is a pattern?"), copier("Copy", () => cell.pattern)),
    make("p", { class: "pattern" }, cell.pattern.length > 600 ? `${cell.pattern.slice(0, 600)} …` : cell.pattern));
}

function maps(cell, outputs, inputs, size) {
  const { A, c } = cell.map;
  const names = Array.from({ length: inputs }, (_, k) => `x${k}`);
  const winner = outputs > 1 && cell.class >= 0 ? cell.class : 0;
  const rows = A.map((row, k) =>
    make("li", {},
      make("span", { class: outputs > 1 && k === winner ? "name wins" : "name" }, outputs > 1 ? `output ${k} = ` : "output = "),
      formula(row, c[k], names)));
  const image = size ? gradientImage(A[winner], size, outputs > 1 ? `output ${winner}` : "the output") : null;
  if (rows.length <= OUTPUTS) return [make("ul", { class: "maps" }, rows), image];
  return [
    make("ul", { class: "maps" }, rows[winner]),
    image,
    make("details", {}, make("summary", {}, `The other ${A.length - 1} outputs`), make("ul", { class: "maps" }, rows.filter((_, k) => k !== winner))),
  ];
}

function facts(cell, outputs, dim) {
  const rows = [];
  rows.push([dim === 1 ? "length" : "area", cell.volume === null ? "unbounded" : number(cell.volume)]);
  rows.push(["centre", row(cell.centre)]);
  if (cell.value) rows.push([outputs > 1 ? "outputs there" : "output there", [row(cell.value.slice(0, 4)), cell.value.length > 4 ? ", …" : ""]]);
  if (cell.class >= 0) rows.push(["class there", String(cell.class)]);
  return rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]);
}

function row(values) {
  return values.map((value, k) => [k ? ", " : "", number(value)]);
}

function facetTable({ facets }, walk) {
  const inner = facets.filter(({ neighbour }) => neighbour >= 0 || neighbour === UNREACHED);
  const rows = inner.map(({ words, neighbour }) => [words, neighbour === UNREACHED
    ? "not found"
    : make("button", { type: "button", "data-cell": neighbour, onclick: () => walk(neighbour) }, `Cell ${neighbour}`)]);
  const outer = facets.length - inner.length;
  if (outer) rows.push([`the edge of what is looked at${outer > 1 ? ` (${many(outer, "facet")})` : ""}`, "–"]);
  return make("table", { class: "facets" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "across it"), make("th", { scope: "col" }, "leads to"))),
    make("tbody", {}, rows.map(([words, leads]) => make("tr", {}, make("td", {}, words), make("td", {}, leads)))));
}

function dataOf({ data }) {
  if (!data) return null;
  const more = data.count > LISTED ? ` and ${data.count - LISTED} more` : "";
  const rows = `${data.count > 1 ? "rows" : "row"} ${data.rows.slice(0, LISTED).join(", ")}${more}, counted from 0`;
  const labels = Object.entries(data.labels ?? {}).map(([name, count]) => `${count} × ${name}`).join(", ");
  return [
    make("h4", {}, "Data"),
    make("p", {}, data.count
      ? `${many(data.count, "data point")} in this cell${labels ? ` (${labels})` : ""}: ${rows}.`
      : "None of the data points is in this cell."),
  ];
}

function help(term, label) {
  return make("button", { type: "button", class: "term", popovertarget: term, "aria-label": label }, "?");
}

function copier(name, text) {
  return make("button", { type: "button", class: "small", onclick: async () => {
    await copied(text());
    say("Copied, with all digits.");
  } }, name);
}

/** Puts a text on the clipboard, also where the page is not served securely. */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", {});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** The neighbour behind the facet that is met first from the cell's centre in a direction, or -1. */
export function neighbourTowards(cell, direction) {
  let [best, nearest] = [-1, Infinity];
  for (const { row, offset, neighbour } of cell.facets) {
    const along = row.reduce((sum, value, k) => sum + value * (direction[k] ?? 0), 0);
    const room = offset - row.reduce((sum, value, k) => sum + value * cell.centre[k], 0);
    if (along > 0 && room / along < nearest) [best, nearest] = [neighbour, room / along];
  }
  return best;
}
