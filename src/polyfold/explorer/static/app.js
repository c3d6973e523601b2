// The page comes alive here: what every control does.
import * as api from "./api.js";
import { COLOURINGS } from "./colours.js";
import { byId, fill, make, say } from "./dom.js";
import { Explorer } from "./explorer.js";
import { gestures, zoom } from "./gestures.js";
import { keepPng, keepSvg } from "./keep.js";
import { copied } from "./panel.js";
import { themes } from "./theme.js";
import { many, short } from "./words.js";

const explorer = new Explorer();
const { pane, state, selection, player, comparison } = explorer;
const on = (name, event, f) => byId(name).addEventListener(event, (happened) => explorer.attempt(() => f(happened)));

// -- what to look at --------------------------------------------------------------------------------------------------

on("network", "change", async () => {
  Object.assign(state, { compare: null, frame: null, view: null });
  explorer.choose(byId("network").value);
  await explorer.unfold();
});
on("job", "submit", (event) => {
  event.preventDefault();
  state.view = null;
  return explorer.unfold();
});
on("cancel", "click", () => explorer.stop());
on("upload", "change", async () => {
  const [file] = byId("upload").files;
  byId("upload").value = "";
  if (file) await explorer.open(file);
});

const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
let within = 0;
document.addEventListener("dragenter", (event) => {
  if (!holdsFiles(event)) return;
  within += 1;
  byId("drop").hidden = false;
});
document.addEventListener("dragleave", (event) => {
  if (!holdsFiles(event)) return;
  within -= 1;
  byId("drop").hidden = within > 0 ? byId("drop").hidden : true;
});
document.addEventListener("dragover", (event) => holdsFiles(event) && event.preventDefault());
document.addEventListener("drop", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  within = 0;
  byId("drop").hidden = true;
  const [file] = event.dataTransfer.files;
  explorer.attempt(() => (/\.csv$/i.test(file.name) ? openData(file) : explorer.open(file)));
});

// -- how to show it ---------------------------------------------------------------------------------------------------

if (!Object.hasOwn(COLOURINGS, state.colour)) state.colour = "class";
fill(byId("colour"), Object.entries(COLOURINGS).map(([name, { label }]) => make("option", { value: name }, label)));
byId("colour").value = state.colour;
byId("colour-says").textContent = COLOURINGS[state.colour].says;
byId("boundary").checked = state.boundary;
on("colour", "change", () => {
  state.colour = byId("colour").value;
  byId("colour-says").textContent = COLOURINGS[state.colour].says;
  explorer.recolour();
  explorer.remember();
});
on("boundary", "change", async () => {
  state.boundary = byId("boundary").checked;
  await explorer.overlay();
  explorer.remember();
});
on("layer", "input", async () => {
  state.layer = Number(byId("layer").value) || null;
  await explorer.overlay();
  explorer.rememberSoon();
});
on("data", "change", async () => {
  const [file] = byId("data").files;
  byId("data").value = "";
  if (file) await openData(file);
});
on("compare", "change", async () => {
  state.compare = byId("compare").value || null;
  explorer.remember();
  await comparison.run();
  explorer.recolour();
});

async function openData(file) {
  const found = await api.uploadData(file);
  byId("data-says").textContent = `${many(found.count, "point")} from ${file.name}${found.labels ? ", coloured by label" : ""}`;
  state.data = found.rows[0].length;
  for (const picture of [explorer.picture, comparison.picture]) picture?.answers.delete("dataOn");
  await explorer.overlay();
  await selection.renew();
}

// -- the picture ------------------------------------------------------------------------------------------------------

gestures(pane, {
  onpick: (index) => explorer.attempt(() => selection.pick(index)),
  onhover: hover,
  onwalk: (direction) => explorer.attempt(() => selection.walk(direction)),
  onhome: () => explorer.home(),
});
on("zoom-in", "click", () => zoom(pane, 1.5));
on("zoom-out", "click", () => zoom(pane, 1 / 1.5));
on("zoom-fit", "click", () => explorer.home());
on("play", "click", () => player.toggle());
on("frame", "input", () => {
  player.pause();
  return player.to(Number(byId("frame").value));
});
byId("table-of-cells").addEventListener("toggle", () => explorer.tableSoon());

function hover(index, event) {
  const tip = byId("tip");
  tip.hidden = index < 0;
  if (index !== pane.hovered) {
    pane.hovered = index;
    pane.marked();
  }
  if (index < 0) return;
  const { columns, numbers } = pane.cells;
  const words = [numbers[index] >= 0 ? `Cell ${numbers[index]}` : "Cell"];
  if (columns.class[index] >= 0) words.push(`class ${columns.class[index]} at its centre`);
  if (!Number.isNaN(columns.value[index])) words.push(`output ${short(columns.value[index], 3)}`);
  tip.textContent = words.join(" · ");
  const left = Math.min(event.offsetX + 14, pane.canvas.clientWidth - tip.offsetWidth - 4);
  tip.style.transform = `translate(${left}px, ${event.offsetY + 16}px)`;
}

// -- what to keep -----------------------------------------------------------------------------------------------------

const fileName = () => `polyfold-${explorer.network.name.replace(/[^\w.-]+/g, "_")}`;
on("png", "click", () => keepPng([pane, ...comparison.panes], fileName()));
on("svg", "click", () => keepSvg([pane, ...comparison.panes], fileName(), [explorer.view.drawn, ...comparison.drawn]));
on("share", "click", async () => {
  explorer.remember();
  await copied(location.href);
  const uploaded = explorer.network.source === "uploaded" ? " It works in this browser only, since the network was uploaded here." : "";
  say(`The link is copied. It shows this network, domain, view and cell.${uploaded}`);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  // Not as a link: the part behind # belongs to what is shown.
  event.preventDefault();
  byId("picture").focus();
});
window.addEventListener("hashchange", () => location.reload());

themes(() => {
  if (!explorer.picture) return;
  explorer.recolour();
  explorer.attempt(() => explorer.overlay());
});
if (window.matchMedia("(max-width: 720px)").matches) for (const each of document.querySelectorAll(".choose details")) each.open = false;
explorer.attempt(() => explorer.start());
// For those who look under the hood, and for tests.
window.polyfold = explorer;
