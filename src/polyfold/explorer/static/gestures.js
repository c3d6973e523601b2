// Moving about in a picture: mouse, wheel, fingers and keys.

// A press that moves less than this many pixels is a click.
const STILL = 5;
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Wires a pane; `onpick(index)` gets the polygon that was clicked, or -1, `onwalk([dx, dy])` a direction from the keys. */
export function gestures(pane, { onpick, onhover, onwalk, onhome }) {
  const { canvas } = pane;
  const fingers = new Map();
  let travelled = 0;

  const spot = (event) => [event.offsetX * pane.ratio, event.offsetY * pane.ratio];

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, spot(event));
    if (fingers.size === 1) travelled = 0;
    canvas.classList.add("held");
  });

  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") onhover(pane.under(event), event);
      return;
    }
    const now = spot(event);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    travelled += Math.hypot(dx, dy);
    if (fingers.size === 1) {
      pane.camera.panBy(dx, dy);
    } else {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const [was, is] = [Math.hypot(before[0] - other[0], before[1] - other[1]), Math.hypot(now[0] - other[0], now[1] - other[1])];
      pane.camera.panBy(dx / 2, dy / 2);
      if (was > 0 && is > 0) pane.camera.zoomBy(is / was, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    }
    fingers.set(event.pointerId, now);
    pane.move();
  });

  const lift = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    canvas.classList.remove("held");
    if (event.type === "pointerup" && fingers.size === 0 && travelled < STILL * pane.ratio) onpick(pane.under(event));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", (event) => onhover(-1, event));

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      pane.camera.zoomBy(Math.exp(-0.0018 * lines * Math.max(-400, Math.min(400, event.deltaY))), ...spot(event));
      pane.move();
    },
    { passive: false },
  );

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = KEYS[event.key];
    if (direction && event.shiftKey) {
      pane.camera.panBy((-direction[0] * pane.camera.width) / 8, (direction[1] * pane.camera.height) / 8);
      pane.move();
    } else if (direction) onwalk(direction);
    else if (event.key === "+" || event.key === "=") zoom(pane, 1.4);
    else if (event.key === "-" || event.key === "_") zoom(pane, 1 / 1.4);
    else if (event.key === "0" || event.key === "Home") onhome();
    else if (event.key === "Escape") onpick(-1);
    else if (event.key === "Enter" || event.key === " ") onpick(pane.cells.at(pane.camera.x, pane.camera.y));
    else return;
    event.preventDefault();
  });
}

export function zoom(pane, factor) {
  pane.camera.zoomBy(factor);
  pane.move();
}
