// What is drawn over the cells: folds layer by layer, the decision boundary, graphs, data points.
import { dotColour } from "./colours.js";
import { dots, segments } from "./paint.js";
import { pairsOf } from "./picture.js";
import { many } from "./words.js";

/**
 * What to draw for a picture, as plain lists: {lines, points, faint, says, aside}.
 * `shown` is {layer, boundary, data}, the last being the number of columns that data points have.
 */
export async function drawnOver(picture, shown, style, theme) {
  const lines = [];
  const points = [];
  let says = "";
  let aside = "";
  if (picture.graph) lines.push({ list: picture.graph, style: style.mark, width: 1.8 });
  const flat = picture.facts?.dim === 2;
  if (shown.layer && picture.finished && flat) {
    const { layers } = await picture.once("layers");
    const k = Math.min(shown.layer, layers.length);
    layers.slice(0, k - 1).forEach((each) => lines.push({ list: pairsOf(each.segments), style: style.earlier, width: 1.2 }));
    const list = pairsOf(layers[k - 1].segments);
    lines.push({ list, style: style.fold, width: 2 });
    says = `layer ${k} of ${layers.length}${k > 1 ? "; earlier layers in grey" : ""}: ${many(list.length, "piece")} of folds`;
  }
  if (shown.boundary && picture.finished && flat && picture.facts.classes) {
    const { segments: flatList } = await picture.once("boundary");
    lines.push({ list: pairsOf(flatList), style: style.boundary, width: 3 });
  }
  if (shown.data && picture.finished && flat) {
    const { inputs } = picture.facts;
    if (shown.data === inputs) {
      const found = await picture.once("dataOn");
      points.push(dataPoints(found, style, theme));
      if (found.projected) aside = "The points do not lie in this plane; each is drawn at the place in it that is nearest.";
    } else aside = `Not shown: the points have ${many(shown.data, "column")}, and the network takes ${many(inputs, "input")}.`;
  }
  return { lines, points, faint: Boolean(shown.layer && flat), says, aside };
}

function dataPoints(found, style, theme) {
  const list = [];
  for (let k = 0; k + 1 < found.points.length; k += 2) list.push([found.points[k], found.points[k + 1]]);
  const numbers = labelNumbers(found.labels) ?? found.class;
  return { list, colours: (i) => dotColour(numbers[i], theme), edge: style.ground, radius: 4.5 };
}

/** Whole numbers stand for classes; other labels are numbered in alphabetical order. */
function labelNumbers(labels) {
  if (!labels) return null;
  if (labels.every((label) => label !== "" && Number.isInteger(Number(label)) && Number(label) >= 0)) return labels.map(Number);
  const names = [...new Set(labels)].sort();
  return labels.map((label) => names.indexOf(label));
}

// Segments that are painted at once: between two such parts the page may do something else.
const AT_ONCE = 2000;

function parted(list) {
  return Array.from({ length: Math.ceil(list.length / AT_ONCE) }, (_, k) => list.slice(k * AT_ONCE, (k + 1) * AT_ONCE));
}

/** The same as functions that paint. */
export function asOverlays({ lines, points }, ratio) {
  return [
    ...lines.flatMap(({ list, style, width }) => parted(list).map((part) => segments(part, style, width * ratio))),
    ...points.map(({ list, colours, edge, radius }) => dots(list, colours, edge, radius * ratio)),
  ];
}
