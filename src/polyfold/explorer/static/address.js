// What a link holds: the part of the address behind # says what is shown, so that opening it shows the same again.
import { listed, numbers } from "./words.js";

/** {network, name, domain, view, cell, colour, layer, boundary, compare, frame} -> "network=iris&box=..." */
export function written(state) {
  const parts = new URLSearchParams();
  if (state.network) parts.set("network", state.network);
  if (state.name) parts.set("name", state.name);
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
    name: parts.get("name"),
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
  return [domain.kind, ...FIELDS[domain.kind].map((name) => listed([domain[name] ?? []].flat()))].join(":");
}

export function readDomain(text) {
  const [kind, ...parts] = (text ?? "").split(":");
  const names = Object.hasOwn(FIELDS, kind) ? FIELDS[kind] : null;
  if (!names || parts.length !== names.length) return null;
  const domain = { kind };
  for (const [k, name] of names.entries()) {
    let values = [];
    try {
      values = numbers(parts[k], name);
    } catch {
      return null; // a broken link: the usual domain is shown
    }
    domain[name] = SINGLE.has(name) ? values[0] : values;
  }
  return domain;
}
