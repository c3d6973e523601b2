// Numbers and terms in words that people read.
import { make } from "./dom.js";

const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** A number with `digits` significant digits: 0.01234, −3.5, 1.2×10⁻⁷. */
export function short(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const power = [...exponent.replace("+", "")].map((each) => SUPERSCRIPTS[each]).join("");
    return `${trimmed(mantissa)}×10${power}`.replace("-", "−");
  }
  return trimmed(Number(value.toPrecision(digits)).toString()).replace("-", "−");
}

function trimmed(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A whole number with thin spaces between thousands. */
export function whole(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** "1 cell", "2 cells". */
export function many(count, noun) {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** An element with the number in short form; its title is the full value. */
export function number(value, digits = 4) {
  return make("data", { value: String(value), title: String(value) }, short(value, digits));
}

export function seconds(value) {
  if (value === null || value === undefined) return "";
  if (value < 1) return `${Math.max(1, Math.round(value * 1000))} ms`;
  return value < 60 ? `${short(value, 2)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

/** 0.5 x1 − 2 x2 + 1 as nodes: coefficients that are zero are left out, of many only the largest are named. */
export function formula(coefficients, constant, names, most = 6) {
  const order = coefficients.map((_, i) => i).filter((i) => coefficients[i] !== 0);
  const kept = new Set([...order].sort((a, b) => Math.abs(coefficients[b]) - Math.abs(coefficients[a])).slice(0, most));
  const nodes = [];
  const add = (value, name) => {
    const sign = value < 0 ? "− " : nodes.length ? "+ " : "";
    nodes.push(make("data", { value: String(value), title: String(value) }, `${sign}${short(Math.abs(value))}`), name ? `\u00a0${name} ` : " ");
  };
  for (const i of order) if (kept.has(i)) add(coefficients[i], names[i]);
  if (order.length > kept.size) nodes.push(`+ … (${many(order.length - kept.size, "smaller term")}) `);
  if (constant !== 0 || !nodes.length) add(constant, "");
  return nodes;
}

// More numbers than this are in no domain; what asks for more is a mistake.
const MOST = 1_000_000;

/** "0.1, 0.2 0*3" as numbers, 0*3 being three zeros; throws a sentence that quotes what is no number. */
export function numbers(text, what) {
  const found = [];
  for (const word of text.trim().split(/[\s,;]+/).filter(Boolean)) {
    const [, value, count = "1"] = /^([^*]+)(?:\*([1-9]\d{0,6}))?$/.exec(word) ?? [];
    const number = Number((value ?? "none").replace("−", "-"));
    if (!Number.isFinite(number) || found.length + Number(count) > MOST) throw new Error(`${what}: “${word}” is not a number`);
    for (let k = 0; k < Number(count); k++) found.push(number);
  }
  return found;
}

/** [0, 0, 0, 1] as "0*3,1" */
export function listed(values, between = ",") {
  const runs = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last && Object.is(last[0], value)) last[1] += 1;
    else runs.push([value, 1]);
  }
  return runs.flatMap(([value, count]) => (count > 2 ? [`${value}*${count}`] : Array(count).fill(value))).join(between);
}
