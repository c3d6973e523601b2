// A second network beside the first: the same domain, linked views, and words on where the two differ.
import * as api from "./api.js";
import { byId, fill, make } from "./dom.js";
import { gestures } from "./gestures.js";
import { Pane } from "./pane.js";
import { Picture } from "./picture.js";
import { View } from "./view.js";
import { many, number, short } from "./words.js";

// Points with more coordinates than this are not written out.
const WRITTEN = 4;

function inputs(point) {
  if (!point || point.length > WRITTEN) return "";
  return [", at (", point.map((value, k) => [k ? ", " : "", number(value)]), ")"];
}

export class Comparison {
  constructor(explorer) {
    this.explorer = explorer;
    this.pane = null;
    this.view = null;
    this.picture = null;
  }

  get active() {
    return this.picture !== null;
  }

  /** Lists networks that can stand beside this one. */
  offer(network) {
    const { networks, state } = this.explorer;
    const others = networks.filter(({ id, inputs, outputs, kind }) =>
      id !== network.id && kind === "network" && inputs === network.inputs && outputs === network.outputs);
    const choices = others.map(({ id, name }) => [id, name]);
    if (network.kind === "recording") choices.push(["@0", "its first snapshot"], [`@${network.steps.length - 1}`, "its last snapshot"]);
    choices.unshift(["", choices.length ? "nothing" : "no other network of these sizes"]);
    fill(byId("compare"), choices.map(([value, name]) => make("option", { value }, name)));
    const known = [...byId("compare").options].some(({ value }) => value === state.compare);
    if (!known) state.compare = null;
    byId("compare").value = state.compare ?? "";
    byId("compare").disabled = byId("compare").options.length < 2;
  }

  /** Unfolds the other network on the domain of the first and shows both. */
  async run() {
    const { explorer } = this;
    const { compare, domain } = explorer.state;
    this.stop();
    if (!compare) return;
    const task = compare.startsWith("@")
      ? { network: explorer.network.id, snapshot: Number(compare.slice(1)), domain }
      : { network: compare, domain };
    const mine = new Picture(task, { grown: () => {}, progress: () => {} });
    this.picture = mine;
    this.#open();
    this.#captions("unfolding …");
    const first = explorer.picture;
    await mine.run();
    if (this.picture !== mine) return;
    if (!mine.facts) {
      this.#captions(mine.error ?? mine.state);
      return;
    }
    this.view.begin(mine, mine.box);
    this.pane.axes = explorer.pane.axes;
    this.pane.camera.follow(explorer.pane.camera);
    await this.view.cutByClass();
    explorer.recolour();
    await this.overlay(explorer.state);
    this.#captions(many(mine.facts.cells, "cell"));
    await this.#words(first, mine);
  }

  #open() {
    byId("other").hidden = byId("caption").hidden = false;
    if (this.pane) return;
    const { explorer } = this;
    this.pane = new Pane(byId("picture-other"), { onmove: () => explorer.moved(this.pane) });
    this.view = new View(this.pane);
    gestures(this.pane, {
      onpick: (index) => index >= 0 && explorer.attempt(() => explorer.selection.pick(explorer.pane.cells.at(...this.pane.cells.middle(index)))),
      onhover: (index) => { this.pane.hovered = index; this.pane.marked(); },
      onwalk: (direction) => explorer.attempt(() => explorer.selection.walk(direction)),
      onhome: () => explorer.home(),
    });
  }

  #captions(says) {
    const { networks, network, picture, state } = this.explorer;
    const named = ({ name, steps }, snapshot) => (snapshot === undefined ? name : `${name}, step ${steps[snapshot]}`);
    const other = networks.find(({ id }) => id === this.picture.task.network);
    byId("caption").textContent = `${named(network, state.frame ?? undefined)}: ${many(picture.facts.cells, "cell")}`;
    byId("caption-other").textContent = `${named(other, this.picture.task.snapshot)}: ${says}`;
  }

  /** Asks whether the two are the same function here, and says so. */
  async #words(first, second) {
    const place = byId("difference");
    place.hidden = false;
    fill(place, make("p", {}, "Looking for the largest difference …"));
    const { job } = await api.compare(first.id, second.id);
    await api.follow(job, {});
    let found = await api.job(job);
    while (["queued", "running"].includes(found.state)) {
      await new Promise((done) => setTimeout(done, 300));
      found = await api.job(job);
    }
    if (this.picture !== second) return;
    if (!found.result) {
      fill(place, make("p", {}, found.error ?? "The comparison was not finished."));
      return;
    }
    const { words, compared, largest, at, point } = found.result;
    const of = compared === "outputs" ? "an output" : compared;
    const verdicts = {
      equal: "Here the two networks are the same function.",
      different: "Here the two networks are different functions.",
      unknown: "Whether the two networks are the same function here was not decided.",
    };
    fill(place,
      make("p", {}, make("strong", {}, verdicts[found.result.verdict] ?? `Verdict: ${found.result.verdict}.`)),
      largest ? make("p", {}, `Largest difference of ${of}: `, make("data", { value: largest, title: largest }, words), inputs(point), ".") : null,
      at?.length === 2 ? make("button", { type: "button", onclick: () => this.#goTo(at) }, `Show the place (${short(at[0])}, ${short(at[1])})`) : null);
  }

  #goTo([x, y]) {
    this.explorer.look([x, y, Math.max(4, this.explorer.pane.camera.zoom)]);
  }

  stop() {
    if (this.picture && ["queued", "running"].includes(this.picture.state)) {
      const { picture } = this;
      this.explorer.attempt(() => picture.cancel());
    }
    this.picture = null;
    byId("other").hidden = byId("caption").hidden = byId("difference").hidden = true;
  }

  /** The picture that did not move shows what the other one shows. */
  follow(moved) {
    if (!this.active || !this.pane) return;
    const other = moved === this.pane ? this.explorer.pane : this.pane;
    other.camera.follow(moved.camera);
    other.move(true);
  }

  recolour(colour) {
    if (this.cells.length) this.view.refresh(colour, [this.explorer.pane.cells]);
  }

  /** The cells of the other network, if they are there: colours mean the same in both pictures. */
  get cells() {
    return this.active && this.view?.picture === this.picture && this.picture.finished ? [this.picture.cells] : [];
  }

  async overlay(shown) {
    if (this.active && this.view?.picture?.finished) await this.view.overlay(shown);
  }

  get panes() {
    return this.active && this.pane ? [this.pane] : [];
  }

  get drawn() {
    return this.active && this.view ? [this.view.drawn] : [];
  }
}
