// The polygons of one picture: growing arrays, and a grid that finds the polygon under a point.

const COLUMNS = ["class", "value", "slope", "layer", "area", "facets"];

export class Cells {
  constructor() {
    this.size = 0;
    this.numbers = new Int32Array(256);
    this.start = new Int32Array(257);
    this.points = new Float64Array(4096);
    this.boxes = new Float64Array(1024);
    this.columns = Object.fromEntries(COLUMNS.map((name) => [name, new Float64Array(256)]));
    this.indexOf = new Map();
    this.box = [Infinity, Infinity, -Infinity, -Infinity];
    this.grid = null;
  }

  /**
   * More polygons: number k has corners points[2 * start[k]] ... points[2 * start[k + 1] - 1], x and y in turn, in order around it.
   * `numbers` are the cells' own; columns that are missing are not known.
   */
  append({ numbers, start, points, ...columns }) {
    for (let k = 0; k + 1 < start.length; k++) {
      const i = this.size;
      if (i === this.numbers.length) this.#grow();
      const first = this.start[i];
      const count = start[k + 1] - start[k];
      while (2 * (first + count) > this.points.length) this.points = doubled(this.points);
      let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
      for (let c = 0; c < count; c++) {
        const x = points[2 * (start[k] + c)];
        const y = points[2 * (start[k] + c) + 1];
        this.points[2 * (first + c)] = x;
        this.points[2 * (first + c) + 1] = y;
        if (x < x0) x0 = x;
        if (y < y0) y0 = y;
        if (x > x1) x1 = x;
        if (y > y1) y1 = y;
      }
      this.boxes.set([x0, y0, x1, y1], 4 * i);
      this.start[i + 1] = first + count;
      this.numbers[i] = numbers[k];
      this.indexOf.set(numbers[k], i);
      for (const name of COLUMNS) this.columns[name][i] = columns[name]?.[k] ?? NaN;
      const all = this.box;
      if (x0 < all[0]) all[0] = x0;
      if (y0 < all[1]) all[1] = y0;
      if (x1 > all[2]) all[2] = x1;
      if (y1 > all[3]) all[3] = y1;
      this.size += 1;
    }
  }

  #grow() {
    this.numbers = doubled(this.numbers);
    this.boxes = doubled(this.boxes);
    for (const name of COLUMNS) this.columns[name] = doubled(this.columns[name]);
    const start = new Int32Array(2 * this.start.length - 1);
    start.set(this.start);
    this.start = start;
  }

  corners(i) {
    const found = [];
    for (let k = this.start[i]; k < this.start[i + 1]; k++) found.push([this.points[2 * k], this.points[2 * k + 1]]);
    return found;
  }

  /** The index of the polygon that (x, y) lies in, or -1. */
  at(x, y) {
    const grid = this.#indexed();
    if (!grid) return -1;
    const [column, row] = grid.place(x, y);
    if (column < 0 || row < 0 || column >= grid.side || row >= grid.side) return -1;
    const bucket = row * grid.side + column;
    for (let k = grid.first[bucket]; k < grid.first[bucket + 1]; k++) {
      if (this.#holds(grid.items[k], x, y)) return grid.items[k];
    }
    return -1;
  }

  #holds(i, x, y) {
    const p = this.points;
    const [from, to] = [this.start[i], this.start[i + 1]];
    let sign = 0;
    for (let k = from, before = to - 1; k < to; before = k++) {
      const cross = (p[2 * k] - p[2 * before]) * (y - p[2 * before + 1]) - (p[2 * k + 1] - p[2 * before + 1]) * (x - p[2 * before]);
      if (cross !== 0) {
        if (sign !== 0 && cross > 0 !== sign > 0) return false;
        sign = cross;
      }
    }
    return sign !== 0;
  }

  /** Indexes of all polygons whose boxes meet the rectangle, each once, in order. */
  within(x0, y0, x1, y1) {
    const found = [];
    const b = this.boxes;
    for (let i = 0; i < this.size; i++) {
      if (b[4 * i] <= x1 && b[4 * i + 2] >= x0 && b[4 * i + 1] <= y1 && b[4 * i + 3] >= y0) found.push(i);
    }
    return found;
  }

  /** A mean of the corners: a point inside. */
  middle(i) {
    let [x, y] = [0, 0];
    const count = this.start[i + 1] - this.start[i];
    for (let k = this.start[i]; k < this.start[i + 1]; k++) {
      x += this.points[2 * k] / count;
      y += this.points[2 * k + 1] / count;
    }
    return [x, y];
  }

  /** The grid, made again when polygons have come. */
  #indexed() {
    if (!this.size) return null;
    if (this.grid && this.grid.made >= this.size) return this.grid;
    const side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(this.size))));
    const [x0, y0, x1, y1] = this.box;
    const [sx, sy] = [side / (x1 - x0 || 1), side / (y1 - y0 || 1)];
    const place = (x, y) => [Math.floor((x - x0) * sx), Math.floor((y - y0) * sy)];
    const each = (i, f) => {
      const at = (value) => Math.min(side - 1, Math.max(0, value));
      const b = this.boxes;
      const [c0, r0] = place(b[4 * i], b[4 * i + 1]).map(at);
      const [c1, r1] = place(b[4 * i + 2], b[4 * i + 3]).map(at);
      for (let r = r0; r <= r1; r++) for (let c = c0; c <= c1; c++) f(r * side + c);
    };
    const first = new Int32Array(side * side + 1);
    for (let i = 0; i < this.size; i++) each(i, (bucket) => (first[bucket + 1] += 1));
    for (let k = 0; k < side * side; k++) first[k + 1] += first[k];
    const items = new Int32Array(first[side * side]);
    const next = first.slice();
    for (let i = 0; i < this.size; i++) each(i, (bucket) => (items[next[bucket]++] = i));
    // Points on the far border belong to the last column and row.
    const inside = (x, y) => {
      const [c, r] = place(x, y);
      return [c === side && x <= x1 ? side - 1 : c, r === side && y <= y1 ? side - 1 : r];
    };
    this.grid = { side, first, items, place: inside, made: this.size };
    return this.grid;
  }
}

function doubled(array) {
  const larger = new array.constructor(2 * array.length);
  larger.set(array);
  return larger;
}
