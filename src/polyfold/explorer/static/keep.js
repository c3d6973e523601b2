// Pictures to keep: PNG from the canvas, SVG from the polygons in view.
import { download } from "./dom.js";

export async function keepPng(panes, name) {
  const pictures = panes.map((pane) => pane.picture());
  const gap = pictures.length > 1 ? 16 : 0;
  const canvas = document.createElement("canvas");
  canvas.width = pictures.reduce((sum, each) => sum + each.width, gap * (pictures.length - 1));
  canvas.height = Math.max(...pictures.map((each) => each.height));
  const context = canvas.getContext("2d");
  let left = 0;
  for (const picture of pictures) {
    context.drawImage(picture, left, 0);
    left += picture.width + gap;
  }
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  download(`${name}.png`, blob);
}

/** The polygons in view with their colours, then segments and points; coordinates to a hundredth of a pixel. */
export function svgOf(pane, { lines = [], points = [] } = {}) {
  const { camera, colouring, style } = pane;
  const cells = pane.filled ?? pane.cells;
  const place = (x, y) => camera.toPixel(x, y).map((value) => Number(value.toFixed(2)));
  const [wall, opacity] = opaque(style.wall);
  const outlines = pane.faint ? 'fill-opacity="0.25"' : `stroke="${wall}" stroke-opacity="${opacity}" stroke-width="0.8" stroke-linejoin="round"`;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${camera.width} ${camera.height}">`,
    `<rect width="100%" height="100%" fill="${style.ground}"/>`,
    `<g ${outlines}>`,
  ];
  for (const i of cells.within(...camera.seen)) {
    const corners = cells.corners(i).map(([x, y]) => place(x, y).join(",")).join(" ");
    parts.push(`<polygon points="${corners}" fill="${colouring.lut[colouring.indexes[i]]}"><title>cell ${cells.numbers[i]}</title></polygon>`);
  }
  parts.push("</g>");
  for (const { list, style: colour, width } of lines) {
    const path = list.map(([a, b]) => `M${place(...a).join(" ")}L${place(...b).join(" ")}`).join("");
    parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round"/>`);
  }
  for (const { list, colours, edge, radius } of points) {
    list.forEach(([x, y], i) => {
      const [px, py] = place(x, y);
      parts.push(`<circle cx="${px}" cy="${py}" r="${radius}" fill="${colours(i)}" stroke="${edge}"/>`);
    });
  }
  parts.push("</svg>");
  return parts.join("\n");
}

/** "#rrggbbaa" as a colour and an opacity, which SVG keeps apart. */
function opaque(colour) {
  return colour.length === 9 ? [colour.slice(0, 7), (parseInt(colour.slice(7), 16) / 255).toFixed(2)] : [colour, 1];
}

export function keepSvg(panes, name, drawn) {
  panes.forEach((pane, k) => {
    download(panes.length > 1 ? `${name}-${k + 1}.svg` : `${name}.svg`, new Blob([svgOf(pane, drawn[k])], { type: "image/svg+xml" }));
  });
}
