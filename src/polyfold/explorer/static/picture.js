// One network on one domain: asks the server to unfold it, takes cells as they come, and keeps what is known of them.
import * as api from "./api.js";
import { Cells } from "./cells.js";

export class Picture {
  /** `task` is what the server is asked for; `on.grown()` is called when cells have come, `on.progress({cells, seconds})` in between. */
  constructor(task, on) {
    this.task = task;
    this.on = on;
    this.cells = new Cells();
    this.facts = null;
    this.state = "queued";
    this.parts = null;
    this.graph = null;
    this.known = new Map();
    this.answers = new Map();
  }

  /** Runs to the end; resolves to this picture, with `state` "done", "limit", "cancelled" or "failed". */
  async run() {
    this.id = await api.startJob(this.task);
    if (this.state === "cancelled") {
      await api.cancelJob(this.id);
      return this;
    }
    this.state = "running";
    await api.follow(this.id, {
      progress: (event) => this.on.progress(event),
      block: (block) => this.#preview(block),
    });
    const job = await this.#ended();
    this.state = job.state;
    this.error = job.error;
    this.seconds = job.seconds;
    this.facts = job.result ?? null;
    if (this.facts) await this.#load();
    return this;
  }

  /** The state of the job once it has ended; asks again where events broke off too early. */
  async #ended() {
    for (;;) {
      const job = await api.job(this.id);
      if (!["queued", "running"].includes(job.state)) return job;
      this.on.progress(job);
      await new Promise((done) => setTimeout(done, 300));
    }
  }

  async cancel() {
    this.state = "cancelled";
    if (this.id) await api.cancelJob(this.id);
  }

  /** Cells while the engine runs: they have no numbers yet. */
  #preview({ start, points, ...columns }) {
    if (this.state === "cancelled" || points.length !== 2 * start.at(-1)) return;
    const numbers = start.slice(1).map((_, k) => -1 - this.cells.size - k);
    this.cells.append({ numbers, start, points, class: columns.class, value: columns.value });
    this.on.grown();
  }

  async #load() {
    const cells = new Cells();
    const graph = [];
    for await (const page of api.pages(this.id)) {
      if (this.facts.dim === 1) graph.push(page);
      else cells.append({ ...page, numbers: page.cell });
      this.on.progress({ cells: this.facts.cells, loaded: page.from + page.count, drawing: true });
    }
    if (this.facts.dim === 1) this.#strips(cells, graph);
    this.cells = cells;
  }

  /** Intervals of a line become strips, as high as the graph of the output that is drawn over them. */
  #strips(cells, pages) {
    // Outputs beyond all floats are null: the graph has a gap there.
    const values = pages.flatMap((page) => page.ends.flat()).filter((value) => value !== null);
    const [lo, hi] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
    const margin = 0.08 * (hi - lo || 1);
    const [y0, y1] = values.length ? [lo - margin, hi + margin] : [0, 1];
    this.graph = [];
    for (const page of pages) {
      const points = [];
      page.cell.forEach((_, k) => {
        const [a, b] = [page.points[2 * k], page.points[2 * k + 1]];
        points.push(a, y0, b, y0, b, y1, a, y1);
        const [left, right] = [page.ends[0][k], page.ends[1][k]];
        if (left !== null && right !== null) this.graph.push([[a, left], [b, right]]);
      });
      cells.append({ ...page, numbers: page.cell, start: page.cell.map((_, k) => 4 * k).concat(4 * page.cell.length), points });
    }
  }

  /** What the camera should show. */
  get box() {
    if (this.facts && this.facts.dim === 2) return [this.facts.lo[0], this.facts.lo[1], this.facts.hi[0], this.facts.hi[1]];
    return this.cells.size ? this.cells.box : [-1, -1, 1, 1];
  }

  get finished() {
    return this.facts !== null;
  }

  /** What the server knows of one cell; asked for once unless data have changed. */
  async cell(number, fresh = false) {
    if (fresh || !this.known.has(number)) this.known.set(number, await api.cell(this.id, number));
    return this.known.get(number);
  }

  forgetCells() {
    this.known.clear();
  }

  /** Layers, boundary and the like: asked for once. */
  async once(what) {
    if (!this.answers.has(what)) this.answers.set(what, api[what](this.id));
    return this.answers.get(what);
  }
}

/** A flat list x0, y0, x1, y1, ... as pairs of points. */
export function pairsOf(flat) {
  const found = [];
  for (let k = 0; k + 3 < flat.length; k += 4) found.push([[flat[k], flat[k + 1]], [flat[k + 2], flat[k + 3]]]);
  return found;
}
