// Where a picture looks: from coordinates of the domain to pixels and back. Doubles all the way, so that deep zooms stay sharp.

// Axes whose extents differ by more than this get scales of their own.
const MOST_STRETCH = 3;
const PADDING = 0.04;
// Beyond this, doubles cannot tell neighbouring pixels apart.
const DEEPEST = 1e11;

export class Camera {
  /** Shows `box` = [x0, y0, x1, y1] on a canvas of width x height pixels. */
  constructor(box, width, height) {
    this.resize(width, height);
    this.home(box);
  }

  resize(width, height) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    if (this.box) this.#fitted();
  }

  /** Looks at all of the box. */
  home(box) {
    this.box = box;
    const [x0, y0, x1, y1] = box;
    this.x = (x0 + x1) / 2;
    this.y = (y0 + y1) / 2;
    this.zoom = 1;
    this.#fitted();
  }

  #fitted() {
    const [x0, y0, x1, y1] = this.box;
    const [w, h] = [x1 - x0 || 1, y1 - y0 || 1];
    let [sx, sy] = [(this.width * (1 - 2 * PADDING)) / w, (this.height * (1 - 2 * PADDING)) / h];
    if (w / h < MOST_STRETCH && h / w < MOST_STRETCH) sx = sy = Math.min(sx, sy);
    [this.fitX, this.fitY] = [sx, sy];
  }

  get scaleX() {
    return this.fitX * this.zoom;
  }

  get scaleY() {
    return this.fitY * this.zoom;
  }

  toPixel(x, y) {
    return [this.width / 2 + (x - this.x) * this.scaleX, this.height / 2 - (y - this.y) * this.scaleY];
  }

  toPoint(px, py) {
    return [this.x + (px - this.width / 2) / this.scaleX, this.y - (py - this.height / 2) / this.scaleY];
  }

  /** The rectangle that is seen, [x0, y0, x1, y1]. */
  get seen() {
    const [x0, y1] = this.toPoint(0, 0);
    const [x1, y0] = this.toPoint(this.width, this.height);
    return [x0, y0, x1, y1];
  }

  panBy(px, py) {
    this.x -= px / this.scaleX;
    this.y += py / this.scaleY;
  }

  /** Zooms by a factor; the point under pixel (px, py) stays where it is. */
  zoomBy(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toPoint(px, py);
    this.zoom = Math.min(DEEPEST, Math.max(0.2, this.zoom * factor));
    const [qx, qy] = this.toPixel(x, y);
    this.panBy(px - qx, py - qy);
  }

  /** So that a linked picture of another size shows the same. */
  follow(other) {
    [this.x, this.y, this.zoom] = [other.x, other.y, other.zoom];
  }

  copy() {
    return Object.assign(new Camera(this.box, this.width, this.height), this);
  }

  same(other) {
    return ["x", "y", "zoom", "width", "height", "fitX", "fitY"].every((name) => this[name] === other[name]);
  }
}
