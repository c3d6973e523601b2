// Dark or light: the system's choice until the visitor makes one.
import { byId } from "./dom.js";

const KEY = "polyfold-theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function theme() {
  return document.documentElement.dataset.theme;
}

/** Sets the theme now, on the switch, and when the system changes; `onchange` is called each time. */
export function themes(onchange) {
  const apply = () => {
    const chosen = localStorage.getItem(KEY) ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = chosen;
    byId("theme").setAttribute("aria-pressed", String(chosen === "dark"));
    onchange();
  };
  byId("theme").addEventListener("click", () => {
    localStorage.setItem(KEY, theme() === "dark" ? "light" : "dark");
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}

/** The colours that canvases need, from the style sheet. */
export function canvasStyle() {
  const found = getComputedStyle(document.documentElement);
  const colour = (name) => found.getPropertyValue(`--${name}`).trim();
  return {
    wall: colour("wall"), text: colour("text"), ground: colour("canvas"), mark: colour("mark"), fold: colour("fold"),
    earlier: colour("earlier"), boundary: colour("boundary"),
  };
}
