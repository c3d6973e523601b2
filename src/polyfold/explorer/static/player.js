// Plays a recorded training: one picture for each snapshot.
import { byId } from "./dom.js";
import { short, whole } from "./words.js";

// Milliseconds that a snapshot stays at least.
const STAY = 350;

export class Player {
  constructor(explorer) {
    this.explorer = explorer;
    this.playing = false;
    this.network = null;
  }

  show(network) {
    this.pause();
    this.network = network.kind === "recording" ? network : null;
    byId("player").hidden = !this.network;
    if (!this.network) return;
    byId("frame").max = network.steps.length - 1;
    const { state } = this.explorer;
    state.frame = Math.min(state.frame ?? network.steps.length - 1, network.steps.length - 1);
    this.#says();
  }

  #says() {
    const { frame } = this.explorer.state;
    const step = this.network.steps[frame];
    byId("frame").value = frame;
    const loss = this.network.metrics?.loss;
    const at = loss ? loss.steps.lastIndexOf(loss.steps.filter((each) => each <= step).at(-1)) : -1;
    const words = `step ${whole(step)}${at >= 0 ? `, loss ${short(loss.values[at], 3)}` : ""}`;
    byId("frame-says").textContent = words;
    byId("frame").setAttribute("aria-valuetext", words);
  }

  /** Shows a snapshot, in the view that there is. */
  async to(frame) {
    this.explorer.state.frame = frame;
    this.#says();
    await this.explorer.unfold({ quietly: true });
  }

  async toggle() {
    if (this.playing) {
      this.pause();
      return;
    }
    this.playing = true;
    this.#button();
    const { state } = this.explorer;
    const last = this.network.steps.length - 1;
    if (state.frame >= last) state.frame = -1;
    while (this.playing && state.frame < last) {
      const stay = new Promise((done) => setTimeout(done, STAY));
      await this.to(state.frame + 1);
      await stay;
    }
    this.pause();
  }

  pause() {
    this.playing = false;
    this.#button();
  }

  #button() {
    byId("play").textContent = this.playing ? "Pause" : "Play";
    byId("play").setAttribute("aria-pressed", String(this.playing));
  }
}
