// What a link holds: the part of the address behind # says what is shown, so that opening it shows the same again.

/** {network, domain, view, cell, colour, layer, boundary, compare, frame} -> "network=iris&box=..." */
export function written(state) {
  const parts = new URLSearchParams();
  if (state.network) parts.set("network", state.network);
  if (state.frame !== null && state.frame !== undefined) parts.set("frame", state.frame);
  if (state.domain) parts.set("domain", writtenDomain(state.domain));
  if (state.view) parts.set("view", state.view.map((value) => Number(value.toPrecision(12))).join(","));
  if (state.cell !== null && state.cell !== undefined) parts.set("cell", state.cell);
  if (state.colour && state.colour !== "class") parts.set("colour", state.colour);
  if (state.layer) parts.set("layer", state.layer);
  if (state.boundary) parts.set("boundary", "1");
  if (state.compare) parts.set("compare", state.compare);
  // These characters need no escape behind #, and links are easier to read without.
  return parts.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%2A", "*");
}

export function read(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const count = (name) => (/^\d+$/.test(parts.get(name) ?? "") ? Number(parts.get(name)) : null);
  const view = (parts.get("view") ?? "").split(",").map(Number);
  return {
    network: parts.get("network"),
    frame: count("frame"),
    domain: readDomain(parts.get("domain")),
    view: view.length === 3 && view.every(Number.isFinite) ? view : null,
    cell: count("cell"),
    colour: parts.get("colour") ?? "class",
    layer: count("layer"),
    boundary: parts.get("boundary") === "1",
    compare: parts.get("compare"),
  };
}

const FIELDS = {
  box: ["lo", "hi"],
  plane: ["origin", "x", "y", "extent"],
  features: ["i", "j", "at", "extent"],
  atlas: [],
};
const SINGLE = new Set(["i", "j"]);

/** {"kind": "box", "lo": [0, 0], "hi": [8, 3]} -> "box:0,0:8,3" */
export function writtenDomain(domain) {
  return [domain.kind, ...FIELDS[domain.kind].map((name) => runs([domain[name] ?? []].flat()))].join(":");
}

/** [0, 0, 0, 1] -> "0*3,1" */
function runs(values) {
  const found = [];
  for (const value of values) {
    const last = found.at(-1);
    if (last && Object.is(last[0], value)) last[1] += 1;
    else found.push([value, 1]);
  }
  return found.map(([value, count]) => (count > 2 ? `${value}*${count}` : Array(count).fill(value).join(","))).join(",");
}

// More numbers than this are in no domain; a link that asks for more is broken.
const MOST = 1_000_000;

function unrolled(text) {
  if (text === "") return [];
  const found = [];
  for (const part of text.split(",")) {
    const [value, count = "1"] = part.split("*");
    if (!(Number(count) >= 1) || found.length + Number(count) > MOST || value === "") return [NaN];
    for (let k = 0; k < Number(count); k++) found.push(Number(value));
  }
  return found;
}

export function readDomain(text) {
  const [kind, ...parts] = (text ?? "").split(":");
  const names = Object.hasOwn(FIELDS, kind) ? FIELDS[kind] : null;
  if (!names || parts.length !== names.length) return null;
  const domain = { kind };
  for (const [k, name] of names.entries()) {
    const values = unrolled(parts[k]);
    if (!values.every(Number.isFinite)) return null;
    domain[name] = SINGLE.has(name) ? values[0] : values;
  }
  return domain;
}
