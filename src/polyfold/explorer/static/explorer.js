// What is open and what is shown: the network, the domain, the picture, and how they follow from each other.
import * as address from "./address.js";
import * as api from "./api.js";
import { legendOf } from "./colours.js";
import { Comparison } from "./compare.js";
import { byId, fill, make, say, settled } from "./dom.js";
import { DomainForm } from "./domain.js";
import { SMALL } from "./paint.js";
import { Pane } from "./pane.js";
import { showNothing } from "./panel.js";
import { Picture } from "./picture.js";
import { Player } from "./player.js";
import { Selection } from "./selection.js";
import { fillTable } from "./table.js";
import { View } from "./view.js";
import { many, seconds, whole } from "./words.js";

// Pictures of a training that are kept for playing them again.
const KEPT = 40;

export class Explorer {
  constructor() {
    this.state = { ...address.read(location.hash), data: 0 };
    this.networks = [];
    this.picture = null;
    this.kept = new Map();
    this.opening = null;
    this.pane = new Pane(byId("picture"), { onmove: () => this.moved(this.pane), onseen: () => this.#noted() });
    this.view = new View(this.pane);
    this.form = new DomainForm(byId("domain-fields"), () => this.attempt(() => this.unfold({ quietly: true })));
    this.selection = new Selection(this);
    this.comparison = new Comparison(this);
    this.player = new Player(this);
    this.recolourSoon = settled(() => this.recolour(), 100);
    this.rememberSoon = settled(() => this.remember(), 250);
    this.tableSoon = settled(() => fillTable(this.pane, (i) => this.attempt(() => this.selection.pick(i))), 250);
  }

  /** Does something; a failure becomes one sentence on the page. */
  async attempt(f) {
    try {
      await f();
    } catch (error) {
      say(error.message, "error");
      if (!(error instanceof api.Refused) && error.name !== "Error") console.error(error);
    }
  }

  get network() {
    return this.networks.find(({ id }) => id === this.state.network) ?? null;
  }

  /** Lists the networks and shows the one that the address asks for, or the first. */
  async start() {
    this.networks = await api.networks();
    this.#list();
    const { network, name, domain, cell, view } = this.state;
    showNothing(false);
    if (network && (!this.network || (name && name !== this.network.name))) {
      this.choose(this.networks[0].id);
      const why = "it may have been opened in another browser or on another server. Open its file again";
      say(`The link asks for the network “${name ?? network}”, which is not here: ${why}.`, "error");
      return;
    }
    this.choose(this.network?.id ?? this.networks[0].id, domain);
    await this.unfold({ cell, view });
  }

  #list() {
    const titles = { given: "Given on the command line", uploaded: "Uploaded", bundled: "Bundled" };
    const groups = Object.entries(titles).map(([source, label]) => {
      const found = this.networks.filter((each) => each.source === source);
      return found.length ? make("optgroup", { label }, found.map(({ id, name }) => make("option", { value: id }, name))) : null;
    });
    fill(byId("network"), groups);
  }

  /** Prepares the form for a network. */
  choose(id, domain = null) {
    this.state.network = byId("network").value = id;
    // Ids of other networks than bundled ones mean something else elsewhere.
    this.state.name = this.network.source === "bundled" ? null : this.network.name;
    const { kind, inputs, outputs, head, gates, layers } = this.network;
    const what = { network: "", atlas: "Saved atlas: ", recording: "Recorded training: " }[kind];
    const sizes = `${many(inputs, "input")}, ${many(outputs, "output")}${head ? ` (scores before ${head})` : ""}, ${many(gates, "unit")} in ${many(layers, "layer")}`;
    byId("network-facts").textContent = what + sizes;
    this.form.show(this.network, domain);
    this.player.show(this.network);
    this.comparison.offer(this.network);
  }

  async open(file) {
    say(`Reading ${file.name} …`);
    this.opening = file;
    const network = await api.uploadNetwork(file);
    this.networks.push(network);
    this.#list();
    // Whoever has opened another file meanwhile wants to see that one.
    if (this.opening !== file) {
      byId("network").value = this.state.network;
      return;
    }
    Object.assign(this.state, { frame: null, compare: null, view: null });
    this.choose(network.id);
    await this.unfold();
  }

  /** Unfolds what the form asks for. `quietly` keeps what is shown until the new picture is there, and the camera. */
  async unfold({ quietly = false, cell = null, view = null } = {}) {
    const { network, state } = this;
    state.domain = this.form.read();
    if (network.kind === "recording") state.frame = Math.min(state.frame ?? Infinity, network.steps.length - 1);
    else state.frame = null;
    const task = { network: network.id, domain: state.domain, ...(state.frame === null ? {} : { snapshot: state.frame }) };
    this.stop();
    byId("panes").setAttribute("aria-busy", "true");
    const known = this.kept.get(JSON.stringify(task));
    const mine = known ?? new Picture(task, {
      grown: () => this.picture === mine && !quietly && this.recolourSoon(),
      progress: (event) => this.picture === mine && this.#progressed(event),
    });
    this.picture = mine;
    this.selection.clear();
    byId("tip").hidden = true;
    if (!quietly) {
      this.view.begin(mine, boxOf(state.domain));
      fill(byId("legend"));
      byId("note").textContent = "";
      byId("sure").hidden = true;
    }
    try {
      if (!known) await this.#run(mine);
      if (this.picture !== mine) return;
      if (mine.facts) await this.#show(quietly, cell, view);
      else this.#failed();
      this.remember();
    } finally {
      if (this.picture === mine) byId("panes").removeAttribute("aria-busy");
    }
  }

  async #run(picture) {
    this.#busy(true);
    say("Unfolding …");
    try {
      await picture.run();
    } finally {
      if (this.picture === picture) this.#busy(false);
    }
  }

  /** Ends what runs; its cells stay. */
  stop() {
    if (this.picture && ["queued", "running"].includes(this.picture.state)) this.attempt(() => this.picture.cancel());
    this.comparison.stop();
  }

  #busy(is) {
    byId("progress").hidden = !is;
    byId("cancel").hidden = !is;
    document.body.classList.toggle("busy", is);
  }

  #progressed({ cells, loaded, drawing }) {
    if (loaded) say(`Drawing ${whole(loaded)} of ${many(cells, "cell")} …`);
    else say(drawing ? `${many(cells, "cell")} found; drawing …` : `Unfolding … ${many(cells, "cell")} so far`);
  }

  #failed() {
    const { state, cells, error } = this.picture;
    this.recolour();
    if (state !== "cancelled") say(error ?? "The server could not unfold this.", "error");
    else if (cells.size) say(`Cancelled. The ${many(cells.size, "cell")} found until then stay in the picture.`);
    else say("Cancelled before any cell was drawn.");
  }

  async #show(quietly, cell, view) {
    const { picture, pane, state } = this;
    const { facts } = picture;
    const before = pane.camera.copy();
    this.view.begin(picture, picture.box);
    if (quietly) pane.camera.follow(before);
    if (view) this.look(view);
    pane.axes = facts.dim === 2 ? facts.names : [facts.names[0], "output"];
    await this.view.cutByClass();
    if (this.picture !== picture) return;
    this.recolour();
    byId("layer").max = facts.dim === 2 ? facts.layers.length : 0;
    byId("layer").value = state.layer ?? 0;
    byId("layer").disabled = facts.dim !== 2 || !facts.layers.length;
    byId("boundary").disabled = !facts.classes || facts.dim !== 2;
    for (const ending of ["csv", "parquet"]) byId(ending).href = api.exported(picture.id, ending);
    await this.overlay();
    this.#said();
    showNothing(true);
    if (cell !== null) await this.selection.number(cell);
    if (state.frame !== null) this.#keep(picture);
    this.tableSoon();
    // It may take long, and is no reason to wait.
    this.attempt(() => this.comparison.run());
  }

  #keep(picture) {
    this.kept.set(JSON.stringify(picture.task), picture);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
  }

  #said() {
    const { facts, state, error, seconds: spent } = this.picture;
    this.#sure(facts.certificate);
    if (state === "limit") say(`${many(facts.cells, "cell")}, and there are more: ${error}`, "error");
    else if (this.picture.task.domain.kind === "atlas") say(`${many(facts.cells, "cell")}, as they were saved.`);
    else say(`${many(facts.cells, "cell")}${facts.complete ? ", all there are here" : ""} (${seconds(spent)}).`);
  }

  /** What was proved of these cells, and what was checked. */
  #sure(certificate) {
    byId("sure").hidden = !certificate;
    if (!certificate) return;
    const checks = certificate.checks.map((check) => make("li", {}, check));
    fill(byId("sure-says"), make("p", {}, `${certificate.words}.`), make("ul", {}, checks));
  }

  /** Colours as they are chosen, in both pictures. */
  recolour() {
    if (!this.picture) return;
    const colouring = this.view.refresh(this.state.colour, this.comparison.cells);
    this.comparison.recolour(this.state.colour);
    fill(byId("legend"), this.pane.cells.size ? legendOf(colouring) : []);
  }

  async overlay() {
    const { says, aside } = await this.view.overlay(this.state);
    byId("layer-says").textContent = says || "off";
    byId("data-aside").textContent = aside;
    await this.comparison.overlay(this.state);
  }

  /** A pane was moved: the other follows. */
  moved(pane) {
    this.comparison.follow(pane);
    this.state.view = [this.pane.camera.x, this.pane.camera.y, this.pane.camera.zoom];
    this.rememberSoon();
    this.tableSoon();
  }

  /** Shows all of the domain. */
  home() {
    this.pane.camera.home(this.picture?.box ?? this.pane.camera.box);
    this.pane.move();
    this.state.view = null;
    this.rememberSoon();
  }

  /** Looks at a view [x, y, zoom]. */
  look([x, y, zoom]) {
    Object.assign(this.pane.camera, { x, y, zoom });
    this.pane.move();
  }

  #noted() {
    const { cells, small } = this.pane.counted(SMALL);
    const which = `${whole(small)} of the ${many(cells, "cell")} in view`;
    byId("note").textContent = small ? `${which} measure less than ${SMALL} pixels and have no outlines here; zoom in to see them.` : "";
  }

  /** Writes the address, so that it can be shared. */
  remember() {
    const hash = `#${address.written(this.state)}`;
    if (hash !== location.hash) history.replaceState(null, "", hash);
  }
}

/** What the camera shows before the first cell is there. */
function boxOf(domain) {
  if (domain.kind === "box" && domain.lo.length === 2) return [...domain.lo, ...domain.hi];
  if (domain.extent?.length === 4) return [domain.extent[0], domain.extent[2], domain.extent[1], domain.extent[3]];
  return [-1, -1, 1, 1];
}
