"use strict";
// The page's two JSON blocks: what holds for all frames, and the frames. A frame's arrays lie one behind the other in
// base64, numbers of four bytes first; see write.py for their order.
const film = JSON.parse(document.getElementById("film").textContent);
const frames = JSON.parse(document.getElementById("frames").textContent);
const at = (id) => document.getElementById(id);
const canvas = at("picture"), pen = canvas.getContext("2d");
const [x0, x1, y0, y1] = film.view;
const aspect = film.aspect;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let number = 0, playing = null, probe = null, shown = null;

// -- data

function bytes(text) {
  const binary = atob(text), found = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) found[i] = binary.charCodeAt(i);
  return found.buffer;
}

function decode(frame) {
  const buffer = bytes(frame.arrays), polygons = frame.polygons;
  let offset = 0;
  const take = (Kind, count) => {
    const found = new Kind(buffer, offset, count);
    offset += found.byteLength;
    return found;
  };
  const values = take(Float32Array, film.scale ? polygons : 0);
  const maps = take(Float32Array, 3 * film.rows * polygons);
  const cell = take(Uint32Array, polygons);
  const count = take(Uint16Array, polygons), label = take(Uint16Array, polygons);
  const corners = take(Uint16Array, 2 * frame.corners), boundary = take(Uint16Array, 4 * frame.pieces);
  const start = new Uint32Array(polygons + 1);
  for (let i = 0; i < polygons; i++) start[i + 1] = start[i] + count[i];
  return { values, maps, cell, label, start, corners, boundary };
}

const points = new Uint16Array(bytes(film.points));

// -- colours

function mixed(colour, other, share) {
  const part = (text, k) => parseInt(text.slice(1 + 2 * k, 3 + 2 * k), 16);
  const channel = (k) => Math.round((1 - share) * part(colour, k) + share * part(other, k));
  return `rgb(${channel(0)}, ${channel(1)}, ${channel(2)})`;
}

function classColour(k) { return film.colours[k % film.colours.length]; }

function areaColour(k) {
  return dark.matches ? mixed(classColour(k), "#14161a", 0.45) : mixed(classColour(k), "#ffffff", 0.55);
}

function scaleColour(value) {
  if (!Number.isFinite(value)) return "#c8c8c8";
  const [lo, hi] = film.limits, stops = film.scale;
  const place = (hi > lo ? Math.min(Math.max((value - lo) / (hi - lo), 0), 1) : 0.5) * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  return mixed(stops[k], stops[k + 1], place - k);
}

function fillOf(polygon) { return film.scale ? scaleColour(shown.values[polygon]) : areaColour(shown.label[polygon]); }

// -- the picture

function resize() {
  const room = Math.max(240, Math.min(canvas.parentElement.clientWidth, 0.72 * window.innerHeight / aspect, 720));
  const density = window.devicePixelRatio || 1;
  canvas.style.width = `${room}px`;
  canvas.style.height = `${room * aspect}px`;
  canvas.width = Math.round(room * density);
  canvas.height = Math.round(room * aspect * density);
  draw();
}

// From 0 .. 65535 to pixels; the second coordinate grows upward.
const px = (u) => u / 65535 * canvas.width;
const py = (v) => (1 - v / 65535) * canvas.height;

function outline(polygon) {
  const { start, corners } = shown;
  pen.beginPath();
  for (let i = start[polygon]; i < start[polygon + 1]; i++) pen.lineTo(px(corners[2 * i]), py(corners[2 * i + 1]));
  pen.closePath();
}

function draw() {
  const density = window.devicePixelRatio || 1, walls = at("walls").checked, night = dark.matches;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.lineJoin = "round";
  for (let i = 0; i < frames[number].polygons; i++) {
    outline(i);
    pen.fillStyle = fillOf(i);
    pen.fill();
    pen.lineWidth = (walls ? 0.9 : 0.6) * density;
    pen.strokeStyle = walls ? (night ? "rgba(230,230,230,0.45)" : "rgba(50,50,50,0.55)") : pen.fillStyle;
    pen.stroke();
  }
  if (at("boundary").checked) {
    pen.beginPath();
    const b = shown.boundary;
    for (let i = 0; i < b.length; i += 4) {
      pen.moveTo(px(b[i]), py(b[i + 1]));
      pen.lineTo(px(b[i + 2]), py(b[i + 3]));
    }
    pen.lineCap = "round";
    pen.lineWidth = 3 * density;
    pen.strokeStyle = night ? "#ffffff" : "#101010";
    pen.stroke();
  }
  if (at("data").checked) {
    pen.lineWidth = density;
    pen.strokeStyle = "#ffffff";
    for (let i = 0; i < points.length / 2; i++) {
      pen.beginPath();
      pen.arc(px(points[2 * i]), py(points[2 * i + 1]), 3.2 * density, 0, 2 * Math.PI);
      pen.fillStyle = film.pointLabels ? classColour(film.pointLabels[i]) : (night ? "#e8e8e6" : "#262626");
      pen.fill();
      pen.stroke();
    }
  }
  drawProbe(density, night);
}

function drawProbe(density, night) {
  if (!probe) return;
  const polygon = find(probe[0], probe[1]);
  if (polygon >= 0) {
    outline(polygon);
    pen.lineWidth = 2.5 * density;
    pen.strokeStyle = night ? "#6cc0f5" : "#0068a3";
    pen.stroke();
  }
  const x = px(probe[0]), y = py(probe[1]), r = 6 * density;
  pen.beginPath();
  pen.moveTo(x - r, y); pen.lineTo(x + r, y);
  pen.moveTo(x, y - r); pen.lineTo(x, y + r);
  pen.lineWidth = 1.5 * density;
  pen.strokeStyle = night ? "#ffffff" : "#000000";
  pen.stroke();
}

// -- what is under the mark

function find(u, v) {
  const { start, corners } = shown;
  for (let polygon = 0; polygon < frames[number].polygons; polygon++) {
    let inside = false;
    for (let i = start[polygon], j = start[polygon + 1] - 1; i < start[polygon + 1]; j = i++) {
      const xi = corners[2 * i], yi = corners[2 * i + 1], xj = corners[2 * j], yj = corners[2 * j + 1];
      if (yi > v !== yj > v && u < (xj - xi) * (v - yi) / (yj - yi) + xi) inside = !inside;
    }
    if (inside) return polygon;
  }
  return -1;
}

const digits = (x) => Number(x.toPrecision(4)).toString().replace("-", "\u2212");

function affine(row) {
  const [a, b] = film.axes;
  const signed = (x) => (x < 0 ? ` \u2212 ${digits(-x)}` : ` + ${digits(x)}`);
  return `${digits(row[0])} \u00b7 ${a}${signed(row[1])} \u00b7 ${b}${signed(row[2])}`;
}

function details() {
  const panel = at("details");
  panel.replaceChildren();
  const line = (text, name) => {
    const p = document.createElement("p");
    p.textContent = text;
    p.className = name || "";
    panel.append(p);
  };
  const [a, b] = film.axes;
  if (!probe) {
    line(`${a} from ${digits(x0)} to ${digits(x1)}, ${b} from ${digits(y0)} to ${digits(y1)}.`);
    return line("No cell chosen yet.");
  }
  const x = x0 + probe[0] / 65535 * (x1 - x0), y = y0 + probe[1] / 65535 * (y1 - y0);
  const polygon = find(probe[0], probe[1]);
  const place = `${a} = ${digits(x)}, ${b} = ${digits(y)}`;
  if (polygon < 0) return line(`${place}: outside the domain`);
  const { cell, label, maps } = shown;
  line(`${place}: cell ${cell[polygon]}, ${film.classes[label[polygon]]}`);
  for (let k = 0; k < film.rows; k++) {
    const row = maps.subarray(3 * (polygon * film.rows + k), 3 * (polygon * film.rows + k + 1));
    const name = film.rows < film.outputs ? `output ${label[polygon]} (the largest)` : film.outputs > 1 ? `output ${k}` : "output";
    line(`${name} = ${affine(row)}`, "map");
  }
}

// -- the controls

function said(frame) {
  const logged = Object.entries(frame.logged).filter(([, value]) => value !== null);
  return [frame.said, ...logged.map(([name, value]) => `${name} ${digits(value)}`)].join(" \u00b7 ");
}

function show(next) {
  number = Math.min(Math.max(next, 0), frames.length - 1);
  shown = decode(frames[number]);
  const text = said(frames[number]);
  at("now").textContent = text;
  at("slider").value = number;
  at("slider").setAttribute("aria-valuetext", text);
  canvas.setAttribute("aria-label", `Cells of the network: ${text}`);
  at("here").setAttribute("transform", `translate(${curveX(number)} 0)`);
  draw();
  if (probe) details();
}

function play(on) {
  clearTimeout(playing);
  playing = null;
  at("play").textContent = on ? "Pause" : "Play";
  // While it runs, a screen reader would be told something at every frame.
  at("now").setAttribute("aria-live", on ? "off" : "polite");
  if (!on) return;
  if (number === frames.length - 1) show(0);
  const step = () => {
    if (number === frames.length - 1) return play(false);
    show(number + 1);
    playing = setTimeout(step, 1000 / (film.fps * at("speed").value));
  };
  playing = setTimeout(step, 1000 / (film.fps * at("speed").value));
}

function moveMark(u, v) {
  const kept = (x) => Math.min(Math.max(x, 0), 65535);
  probe = [kept(u), kept(v)];
  draw();
  details();
}

function pointed(event) {
  const place = canvas.getBoundingClientRect();
  moveMark((event.clientX - place.left) / place.width * 65535, (1 - (event.clientY - place.top) / place.height) * 65535);
}

const curveX = (k) => 4 + 592 * (frames.length > 1 ? k / (frames.length - 1) : 0.5);

function drawCurve() {
  const counts = frames.map((frame) => frame.cells), most = Math.max(...counts);
  const places = counts.map((count, k) => `${curveX(k)},${66 - 60 * count / most}`).join(" ");
  at("curve").innerHTML =
    `<polyline points="${places}" fill="none" stroke="var(--accent)" stroke-width="2" vector-effect="non-scaling-stroke"/>` +
    `<line id="here" y1="0" y2="70" stroke="var(--ink)" stroke-width="1.5" vector-effect="non-scaling-stroke"/>`;
  at("curve-label").textContent = `cells from ${film.stepName} ${frames[0].step} to ${frames[frames.length - 1].step}: at most ${most}`;
}

function legend() {
  const place = at("legend");
  place.replaceChildren();
  const add = (tag, name, text) => {
    const found = document.createElement(tag);
    found.className = name;
    found.textContent = text;
    place.append(found);
    return found;
  };
  if (film.scale) {
    add("span", "", `${film.label}: ${digits(film.limits[0])}`);
    add("span", "ramp", "").style.background = `linear-gradient(to right, ${film.scale.join(", ")})`;
    add("span", "", digits(film.limits[1]));
  }
  if (film.scale && !film.pointLabels) return;
  film.classes.slice(0, 12).forEach((name, k) => {
    const one = add("span", "", "");
    const dot = document.createElement("span");
    dot.className = "swatch";
    dot.style.background = classColour(k);
    one.append(dot, name);
  });
}

function keys(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key];
  const where = event.target;
  if (event.shiftKey && where === canvas && step) {
    const [u, v] = probe || [32768, 32768];
    moveMark(u + 1311 * step[0], v + 1311 * step[1]);
  } else if (where.tagName === "SELECT" || event.shiftKey) {
    return;
  } else if (event.key === " " && !["BUTTON", "INPUT"].includes(where.tagName)) {
    play(playing === null);
  } else if (event.key === " " && where === at("slider")) {
    play(playing === null);
  } else if (step && step[0]) {
    play(false);
    show(number + step[0]);
  } else if (event.key === "Home" || event.key === "End") {
    play(false);
    show(event.key === "Home" ? 0 : frames.length - 1);
  } else {
    return;
  }
  event.preventDefault();
}

for (const speed of [0.25, 0.5, 1, 2, 4]) at("speed").add(new Option(`${speed}\u00d7`, speed, speed === 1, speed === 1));
at("slider").max = frames.length - 1;
at("slider").addEventListener("input", () => { play(false); show(Number(at("slider").value)); });
at("play").addEventListener("click", () => play(playing === null));
at("back").addEventListener("click", () => { play(false); show(number - 1); });
at("forth").addEventListener("click", () => { play(false); show(number + 1); });
for (const id of ["walls", "boundary", "data"]) at(id).addEventListener("change", draw);
canvas.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") pointed(event); });
canvas.addEventListener("click", pointed);
document.addEventListener("keydown", keys);
dark.addEventListener("change", () => { legend(); draw(); });
window.addEventListener("resize", resize);
at("data-choice").hidden = !points.length;
for (const note of film.notes) {
  const p = document.createElement("p");
  p.textContent = note;
  at("notes").append(p);
}
drawCurve();
legend();
show(0);
details();
resize();
