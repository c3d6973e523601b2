// The fields that say where to look: a box, two inputs with the others held, or a plane through three points.
import { fill, make } from "./dom.js";
import { listed, numbers, short } from "./words.js";

// Up to so many held inputs have a slider each; of more, all values are in one field.
const SLIDERS = 24;
const WHERE_DATA_LIE = { iris: [0, 8], blobs: [-3, 3] };
const KINDS = {
  atlas: "As it was saved",
  box: "A box",
  features: "Two inputs, the others held",
  plane: "A plane through three points",
};

export class DomainForm {
  constructor(container, onchange = () => {}) {
    this.container = container;
    this.onchange = onchange;
  }

  /** Fields for a network, filled with a domain if it suits the network. */
  show(network, domain) {
    this.network = network;
    const { inputs } = network;
    this.kinds = [];
    if (network.atlas && network.atlas.dim <= 2) this.kinds.push("atlas");
    this.kinds.push(...(inputs <= 2 ? ["box"] : inputs <= SLIDERS ? ["features", "plane"] : ["plane", "features"]));
    const suits = domain && this.kinds.includes(domain.kind) && sizesFit(domain, inputs);
    this.domain = suits ? structuredClone(domain) : usual(this.kinds[0], network);
    this.#build();
  }

  #build() {
    const rows = { atlas: () => this.#atlas(), box: () => this.#box(), features: () => this.#features(), plane: () => this.#plane() };
    const choice =
      this.kinds.length > 1 &&
      make("div", { class: "kinds", role: "radiogroup", "aria-label": "Kind of domain" },
        this.kinds.map((kind) =>
          make("label", {},
            make("input", { type: "radio", name: "kind", value: kind, checked: kind === this.domain.kind, onchange: () => this.#turn(kind) }),
            KINDS[kind])));
    fill(this.container, choice || null, rows[this.domain.kind]());
  }

  #turn(kind) {
    this.domain = usual(kind, this.network);
    this.#build();
    this.container.querySelector("input[type=radio]:checked")?.focus();
  }

  #atlas() {
    this.reader = () => ({ kind: "atlas" });
    const { cells, domain } = this.network.atlas;
    return make("p", { class: "hint" }, `${cells} cells of ${domain}, shown without unfolding again.`);
  }

  #box() {
    const { lo, hi } = this.domain;
    const sides = lo.map((_, k) => [`x${k}`, field(`x${k} from`, lo[k]), field(`x${k} to`, hi[k])]);
    this.reader = () => {
      const box = { kind: "box", lo: sides.map(([, from]) => valueOf(from)), hi: sides.map(([, , to]) => valueOf(to)) };
      box.lo.forEach((from, k) => ordered(from, box.hi[k], `x${k}`));
      return box;
    };
    return extents(sides);
  }

  #features() {
    const { inputs } = this.network;
    const { i, j, at, extent } = this.domain;
    const pick = (name, chosen) =>
      make("select", { "aria-label": name, onchange: () => this.#again() },
        Array.from({ length: inputs }, (_, k) => make("option", { value: k, selected: k === chosen }, `x${k}`)));
    const [first, second] = [pick("Input across", i), pick("Input upwards", j)];
    const sides = [
      [`x${i}`, field(`x${i} from`, extent[0]), field(`x${i} to`, extent[1])],
      [`x${j}`, field(`x${j} from`, extent[2]), field(`x${j} to`, extent[3])],
    ];
    const [held, values] = inputs - 2 <= SLIDERS ? this.#sliders(at, i, j, extent) : this.#allValues(at);
    this.reader = () => {
      const found = sides.flatMap(([, from, to]) => [valueOf(from), valueOf(to)]);
      const domain = { kind: "features", i: Number(first.value), j: Number(second.value), at: values(), extent: found };
      if (domain.i === domain.j) throw new Error(`x${domain.i} is chosen twice: choose two different inputs`);
      ordered(domain.extent[0], domain.extent[1], `x${domain.i}`);
      ordered(domain.extent[2], domain.extent[3], `x${domain.j}`);
      return domain;
    };
    return [
      make("div", { class: "two" }, make("label", {}, "across", first), make("label", {}, "upwards", second)),
      extents(sides),
      make("p", { class: "hint" }, "The other inputs stay at"),
      held,
    ];
  }

  /** Fields for other inputs, with the values that are there now. */
  #again() {
    let read = null;
    try {
      read = this.reader();
    } catch {
      return; // the same input twice: said when unfolding is asked for
    }
    this.domain = read;
    this.#build();
  }

  #sliders(at, i, j, extent) {
    const boxes = new Map();
    const [lo, hi] = [Math.min(extent[0], extent[2]), Math.max(extent[1], extent[3])];
    const rows = at.map((value, k) => {
      if (k === i || k === j) return null;
      const box = field(`Value of x${k}`, value);
      const [least, most] = [Math.min(lo, value), Math.max(hi, value)];
      const slider = make("input", {
        type: "range", min: least, max: most, step: "any", value, "aria-label": `x${k}, slider`,
        oninput: () => { box.value = Number(Number(slider.value).toPrecision(3)); },
        onchange: () => this.onchange(),
      });
      box.addEventListener("change", () => { slider.value = box.value; });
      boxes.set(k, box);
      return make("div", { class: "row" }, make("span", {}, `x${k}`), slider, box);
    });
    const values = () => at.map((value, k) => (boxes.has(k) ? valueOf(boxes.get(k)) : value));
    return [make("div", { class: "held-inputs" }, rows.filter(Boolean)), values];
  }

  #allValues(at) {
    const area = make("textarea", { "aria-label": "Values of all inputs", spellcheck: "false" });
    area.value = compact(at);
    return [
      [area, make("p", { class: "hint" }, `One number for all, or ${at.length} of them in order.`)],
      () => this.#point(area, "values of the inputs"),
    ];
  }

  #plane() {
    const { inputs } = this.network;
    const { origin, x, y, extent } = this.domain;
    const points = { P: origin, Q: origin.map((each, k) => each + x[k]), R: origin.map((each, k) => each + y[k]) };
    const areas = Object.entries(points).map(([name, point]) => {
      const area = make("textarea", { spellcheck: "false" });
      area.value = compact(point);
      return [name, area, make("label", {}, `Point ${name}`, area)];
    });
    const sides = [["u", field("u from", extent[0]), field("u to", extent[1])], ["v", field("v from", extent[2]), field("v to", extent[3])]];
    this.reader = () => {
      const [p, q, r] = areas.map(([name, area]) => this.#point(area, `point ${name}`));
      const found = sides.flatMap(([, from, to]) => [valueOf(from), valueOf(to)]);
      ordered(found[0], found[1], "u");
      ordered(found[2], found[3], "v");
      return { kind: "plane", origin: p, x: q.map((each, k) => each - p[k]), y: r.map((each, k) => each - p[k]), extent: found };
    };
    return [
      make("p", { class: "hint" }, "P + u (Q − P) + v (R − P). ",
        `A point is ${inputs} numbers, or one that holds for all inputs; 0*3 stands for three zeros.`),
      areas.map(([, , label]) => label),
      extents(sides),
    ];
  }

  #point(area, what) {
    const { inputs } = this.network;
    const found = numbers(area.value, what);
    if (found.length === 1) return Array(inputs).fill(found[0]);
    if (found.length !== inputs) throw new Error(`${what}: there are ${found.length} numbers, and the network has ${inputs} inputs`);
    return found;
  }

  /** The domain that the fields ask for; throws a sentence if they ask for none. */
  read() {
    this.domain = this.reader();
    return this.domain;
  }
}

function sizesFit(domain, inputs) {
  const vectors = { box: ["lo", "hi"], features: ["at"], plane: ["origin", "x", "y"], atlas: [] }[domain.kind];
  if (!vectors.every((name) => domain[name]?.length === inputs)) return false;
  if (domain.kind === "features" && !(domain.i < inputs && domain.j < inputs && domain.i !== domain.j)) return false;
  return !["features", "plane"].includes(domain.kind) || domain.extent?.length === 4;
}

/** What to look at before anybody has said anything. */
export function usual(kind, network) {
  const { inputs } = network;
  const [lo, hi] = (network.source === "bundled" && WHERE_DATA_LIE[network.name]) || (inputs > 2 ? [0, 1] : [-1, 1]);
  if (kind === "atlas") return { kind };
  if (kind === "box") return { kind, lo: Array(inputs).fill(lo), hi: Array(inputs).fill(hi) };
  const middle = (lo + hi) / 2;
  if (kind === "features") return { kind, i: 0, j: 1, at: Array(inputs).fill(middle), extent: [lo, hi, lo, hi] };
  // Of an image: the upper half gets brighter across, the lower half upwards.
  const half = (second) => Array.from({ length: inputs }, (_, k) => (k >= inputs / 2 === second ? hi - lo : 0));
  return { kind, origin: Array(inputs).fill(lo), x: half(false), y: half(true), extent: [0, 1, 0, 1] };
}

function field(name, value) {
  return make("input", { type: "text", inputmode: "decimal", "aria-label": name, value: String(value), autocomplete: "off" });
}

function valueOf(box) {
  const found = numbers(box.value, box.getAttribute("aria-label"));
  if (found.length !== 1) throw new Error(`${box.getAttribute("aria-label")}: one number is needed, not “${box.value}”`);
  return found[0];
}

function ordered(from, to, name) {
  if (!(from < to)) throw new Error(`${name}: from ${short(from)} to ${short(to)} is nothing; the first number has to be the smaller one`);
}

function extents(sides) {
  return make("div", { class: "grid" }, sides.flatMap(([name, from, to]) => [make("span", {}, name), from, to]));
}

function compact(values) {
  return values.every((value) => value === values[0]) ? String(values[0]) : listed(values, ", ");
}
