// One picture on the page: a canvas with its camera. Shows the last finished painting at once, moved and scaled, while a new one is made.
import { Camera } from "./camera.js";
import { Cells } from "./cells.js";
import { outline, paint } from "./paint.js";
import { short } from "./words.js";

// Milliseconds of painting in one frame; what takes longer goes on in the next.
const SLICE = 9;
// After the last movement, wait this long before a painting that does not fit into one frame.
const REST = 90;
// Up to this zoom a painting counts as one that shows all.
const OVERVIEW = 1.2;

export class Pane {
  /** `canvas` is on the page; `onmove(camera)` is told when the visitor moves, `onseen()` when a painting is finished. */
  constructor(canvas, { onmove = () => {}, onseen = () => {} } = {}) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.onmove = onmove;
    this.onseen = onseen;
    this.cells = new Cells();
    // What is painted instead of the cells, if anything: their parts.
    this.filled = null;
    this.colouring = null;
    this.overlays = [];
    this.faint = false;
    this.selected = -1;
    this.hovered = -1;
    this.axes = ["", ""];
    this.style = { wall: "#0006", text: "#000", ground: "#fff", mark: "#000" };
    this.camera = new Camera([-1, -1, 1, 1], 1, 1);
    this.painted = null;
    this.spare = document.createElement("canvas");
    this.job = null;
    this.cost = 0;
    this.wanted = 0;
    this.done = -1;
    // The last painting that shows all; what is behind the edges of a newer one while the visitor zooms out. Editions tell whether
    // it still shows the same cells in the same colours.
    this.overview = null;
    this.edition = 0;
    this.moved = 0;
    this.frames = [];
    new ResizeObserver(() => this.resized()).observe(canvas);
    this.resized();
  }

  get ratio() {
    return Math.min(2, window.devicePixelRatio || 1);
  }

  resized() {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    this.canvas.width = Math.round(clientWidth * this.ratio);
    this.canvas.height = Math.round(clientHeight * this.ratio);
    this.camera.resize(this.canvas.width, this.canvas.height);
    this.changed();
  }

  /** Shows other cells; the camera stays unless a box is given. */
  show(cells, box = null) {
    this.cells = cells;
    this.selected = this.hovered = -1;
    if (box) this.camera.home(box);
    this.changed();
  }

  /** Something that is painted has changed. */
  changed() {
    this.wanted += 1;
    this.edition += 1;
    this.#ask();
  }

  /** The visitor moved. */
  move(quietly = false) {
    this.moved = performance.now();
    this.wanted += 1;
    if (!quietly) this.onmove(this.camera);
    this.#ask();
  }

  /** Only marks have changed. */
  marked() {
    this.#ask();
  }

  #ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      const begun = performance.now();
      this.#frame(begun);
      this.frames.push(performance.now() - begun);
      if (this.frames.length > 400) this.frames.shift();
    });
  }

  #frame(now) {
    if (this.done !== this.wanted || this.job) {
      const resting = now - this.moved > REST;
      // A painting that has begun is finished even if more cells have come, but not if the camera has moved away.
      if (this.job && !this.job.camera.same(this.camera)) {
        this.cost = Math.max(this.cost, SLICE);
        this.job = null;
      }
      if (!this.job && (this.cost < SLICE || resting)) this.#begin();
      if (this.job) this.#goOn(now);
      if (this.done !== this.wanted || this.job) this.#ask();
    }
    this.#compose();
  }

  #begin() {
    this.spare.width = this.canvas.width;
    this.spare.height = this.canvas.height;
    const camera = this.camera.copy();
    this.job = { camera, steps: paint(this.spare, camera, this.#scene), spent: 0, version: this.wanted, edition: this.edition };
  }

  get #scene() {
    const { colouring, overlays, faint } = this;
    return { cells: this.filled ?? this.cells, colouring, overlays, faint, wall: this.style.wall, ground: this.style.ground };
  }

  #goOn(now) {
    const job = this.job;
    let step = { done: false };
    do step = job.steps.next();
    while (!step.done && performance.now() - now < SLICE);
    job.spent += performance.now() - now;
    if (!step.done) return;
    this.cost = job.spent;
    this.done = job.version;
    this.job = null;
    const old = this.painted?.canvas ?? document.createElement("canvas");
    this.painted = { canvas: this.spare, camera: job.camera };
    this.spare = old;
    if (job.camera.zoom <= OVERVIEW) this.#keepOverview(job);
    this.onseen();
  }

  #keepOverview({ camera, edition }) {
    const canvas = this.overview?.canvas ?? document.createElement("canvas");
    [canvas.width, canvas.height] = [camera.width, camera.height];
    canvas.getContext("2d").drawImage(this.painted.canvas, 0, 0);
    this.overview = { canvas, camera, edition };
  }

  /** A painting moved and scaled to where it belongs now. */
  #place({ canvas, camera: from }) {
    const { camera } = this;
    const [x, y] = camera.toPixel(...from.toPoint(0, 0));
    const [kx, ky] = [camera.scaleX / from.scaleX, camera.scaleY / from.scaleY];
    this.context.drawImage(canvas, x, y, from.width * kx, from.height * ky);
  }

  /** The last painting where it belongs now, and the marks on top. */
  #compose() {
    const { context, camera } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.style.ground;
    context.fillRect(0, 0, camera.width, camera.height);
    if (this.painted) {
      const moving = !this.painted.camera.same(camera);
      if (moving && this.overview?.edition === this.edition) this.#place(this.overview);
      this.#place(this.painted);
    }
    if (this.hovered >= 0 && this.hovered < this.cells.size) this.#mark(this.hovered, 1.5);
    if (this.selected >= 0 && this.selected < this.cells.size) this.#mark(this.selected, 3);
    if (this.cells.size) this.#axes();
  }

  #mark(i, width) {
    const { context, ratio } = this;
    context.beginPath();
    outline(context, this.camera, this.cells, i);
    context.lineJoin = "round";
    context.lineWidth = (width + 2) * ratio;
    context.strokeStyle = this.style.ground;
    context.stroke();
    context.lineWidth = width * ratio;
    context.strokeStyle = this.style.mark;
    context.stroke();
  }

  #axes() {
    const { context, camera, ratio } = this;
    const [x0, y0, x1, y1] = camera.seen;
    context.font = `${11 * ratio}px system-ui, sans-serif`;
    context.lineWidth = 3 * ratio;
    context.strokeStyle = this.style.ground;
    context.fillStyle = this.style.text;
    context.lineJoin = "round";
    const write = (text, px, py) => {
      context.strokeText(text, px, py);
      context.fillText(text, px, py);
    };
    context.textAlign = "center";
    context.textBaseline = "bottom";
    for (const [value, text] of ticks(x0, x1)) {
      const [px] = camera.toPixel(value, 0);
      if (px > 40 * ratio && px < camera.width - 50 * ratio) write(text, px, camera.height - 4 * ratio);
    }
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (const [value, text] of ticks(y0, y1)) {
      const [, py] = camera.toPixel(0, value);
      if (py > 30 * ratio && py < camera.height - 24 * ratio) write(text, 5 * ratio, py);
    }
    context.font = `italic 600 ${12 * ratio}px system-ui, sans-serif`;
    context.textAlign = "right";
    context.textBaseline = "bottom";
    write(this.axes[0], camera.width - 8 * ratio, camera.height - 4 * ratio);
    context.textAlign = "left";
    context.textBaseline = "top";
    write(this.axes[1], 6 * ratio, 6 * ratio);
  }

  /** How many cells are in view, and how many of them measure less than so many pixels. */
  counted(pixels) {
    const { cells, camera } = this;
    const inView = cells.within(...camera.seen);
    const [w, h] = [pixels / camera.scaleX, pixels / camera.scaleY];
    const b = cells.boxes;
    return { cells: inView.length, small: inView.filter((i) => b[4 * i + 2] - b[4 * i] < w && b[4 * i + 3] - b[4 * i + 1] < h).length };
  }

  /** The polygon under a place on the page, or -1. */
  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const point = this.camera.toPoint((event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio);
    return this.cells.at(...point);
  }

  /** A finished picture of this size, all at once: for export. */
  picture(scale = 2) {
    const canvas = document.createElement("canvas");
    const camera = this.camera.copy();
    canvas.width = Math.round(this.canvas.clientWidth * scale);
    canvas.height = Math.round(this.canvas.clientHeight * scale);
    camera.resize(canvas.width, canvas.height);
    const steps = paint(canvas, camera, this.#scene);
    while (!steps.next().done);
    const context = canvas.getContext("2d");
    context.globalCompositeOperation = "destination-over";
    context.fillStyle = this.style.ground;
    context.fillRect(0, 0, canvas.width, canvas.height);
    return canvas;
  }
}

/** Four or so round numbers between lo and hi, with texts that tell them apart. */
function ticks(lo, hi) {
  const rough = (hi - lo) / 7;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const digits = Math.min(15, Math.max(2, Math.ceil(Math.log10(Math.max(Math.abs(lo), Math.abs(hi)) / step)) + 1));
  const found = [];
  for (let k = Math.ceil(lo / step); k * step <= hi && found.length < 12; k++) {
    found.push([k * step, short(Number((k * step).toPrecision(15)), digits)]);
  }
  return found;
}
