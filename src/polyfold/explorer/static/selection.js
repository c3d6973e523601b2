// The chosen cell: by a click, by its number, or by walking.
import { byId, say } from "./dom.js";
import { neighbourTowards, showCell, showNothing } from "./panel.js";
import { many, short } from "./words.js";

export class Selection {
  constructor(explorer) {
    this.explorer = explorer;
    this.cell = null;
  }

  clear() {
    this.cell = null;
    this.explorer.state.cell = null;
    this.explorer.pane.selected = -1;
    this.explorer.pane.marked();
  }

  /** Chooses the polygon with an index; -1 leaves the cell. */
  async pick(index) {
    const { pane, picture } = this.explorer;
    if (index < 0) {
      this.clear();
      showNothing(Boolean(picture?.finished));
      this.explorer.rememberSoon();
      return;
    }
    if (!picture.finished) {
      const running = ["queued", "running"].includes(picture.state);
      say(running ? "Cells can be read when the unfolding is finished." : "The unfolding was not finished: unfold again to read cells.");
      return;
    }
    await this.number(pane.cells.numbers[index]);
  }

  /** Chooses the cell with a number. */
  async number(number, { focus = false } = {}) {
    const { pane, picture, state } = this.explorer;
    const index = picture.cells.indexOf.get(number) ?? -1;
    // Marked at once; the words come when the server has answered.
    pane.selected = index;
    state.cell = number;
    this.#bringIntoView(index);
    pane.marked();
    const cell = await picture.cell(number);
    if (picture !== this.explorer.picture || state.cell !== number) return;
    this.cell = cell;
    const { outputs, inputs, is_slice: isSlice, dim } = picture.facts;
    const walk = (next) => this.explorer.attempt(() => this.number(next, { focus: true }));
    showCell(cell, { outputs, inputs, shape: this.explorer.network.input_shape, isSlice, dim, walk });
    if (focus) byId("panel").querySelector("h3").focus({ preventScroll: true });
    const words = [`Cell ${number}`];
    if (cell.class >= 0) words.push(`class ${cell.class} at its centre`);
    words.push(cell.volume === null ? "unbounded" : `${dim === 1 ? "length" : "area"} ${short(cell.volume)}`, many(cell.facets.length, "facet"));
    say(`${words.join(", ")}.${index < 0 ? " It lies outside the picture." : ""}`);
    this.explorer.rememberSoon();
    this.explorer.tableSoon();
  }

  #bringIntoView(index) {
    const { pane } = this.explorer;
    if (index < 0) return;
    const [x, y] = pane.cells.middle(index);
    const [x0, y0, x1, y1] = pane.camera.seen;
    if (x >= x0 && x <= x1 && y >= y0 && y <= y1) return;
    Object.assign(pane.camera, { x, y });
    pane.move();
  }

  /** From the keys: to the neighbour in a direction, or to the cell in the middle of the view if none is chosen. */
  async walk(direction) {
    const { pane } = this.explorer;
    if (!this.cell) {
      const { camera, cells } = pane;
      const middle = cells.at(camera.x, camera.y);
      await this.pick(middle >= 0 || !cells.size ? middle : 0);
      return;
    }
    const next = neighbourTowards(this.cell, direction);
    if (next >= 0) await this.number(next);
    else say("Here the domain ends; there is no neighbour in this direction.");
  }

  /** Words again, since the data have changed. */
  async renew() {
    this.explorer.picture.forgetCells();
    if (this.explorer.state.cell !== null) await this.number(this.explorer.state.cell);
  }
}
