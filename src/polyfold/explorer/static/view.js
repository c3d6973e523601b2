// A pane with the picture in it: colours, overlays, the chosen cell.
import { Cells } from "./cells.js";
import { coloured } from "./colours.js";
import { asOverlays, drawnOver } from "./overlays.js";
import { canvasStyle, theme } from "./theme.js";

const NOTHING = { lines: [], points: [], faint: false, says: "", aside: "" };

export class View {
  constructor(pane) {
    this.pane = pane;
    this.picture = null;
    this.drawn = NOTHING;
    this.parts = null;
  }

  /** Shows a picture from its first cells on. */
  begin(picture, box) {
    this.picture = picture;
    this.parts = null;
    this.drawn = NOTHING;
    this.pane.overlays = [];
    this.pane.faint = false;
    this.pane.colouring = null;
    this.pane.filled = null;
    this.pane.show(picture.cells, box);
  }

  /** More cells, or all of them under their numbers. */
  refresh(colour, beside) {
    const chosen = this.pane.selected >= 0 ? this.pane.cells.numbers[this.pane.selected] : null;
    this.pane.cells = this.picture.cells;
    this.pane.selected = chosen === null ? -1 : (this.picture.cells.indexOf.get(chosen) ?? -1);
    this.pane.hovered = -1;
    return this.recolour(colour, beside);
  }

  /** Paints in other colours. By class, cells are cut where the class changes, so that every point has its own. */
  recolour(colour, beside = []) {
    const style = canvasStyle();
    this.pane.style = style;
    this.pane.filled = colour === "class" ? this.parts : null;
    this.pane.colouring = coloured(this.pane.filled ?? this.pane.cells, colour, theme(), beside);
    this.pane.changed();
    return this.pane.colouring;
  }

  /** Fetches the parts of cells that are of one class; where they were not found, cells have the class of their centres. */
  async cutByClass() {
    const { facts } = this.picture;
    if (!facts || facts.dim !== 2 || !facts.classes || facts.outputs < 1) return;
    const found = await this.picture.once("classParts");
    this.parts = new Cells();
    this.parts.append({ ...found, numbers: found.cell });
  }

  /** Folds, boundary and data as they are asked for. */
  async overlay(shown) {
    const picture = this.picture;
    const drawn = await drawnOver(picture, shown, canvasStyle(), theme());
    if (picture !== this.picture) return this.drawn;
    this.drawn = drawn;
    this.pane.overlays = asOverlays(drawn, this.pane.ratio);
    this.pane.faint = drawn.faint;
    this.pane.changed();
    return drawn;
  }
}
