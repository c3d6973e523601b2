// What the server can be asked. Every failure is one sentence for the visitor.

const PAGE = 20_000;

export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

async function ask(path, options = {}) {
  let answer = null;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused(0, "The server does not answer: is `polyfold serve` still running?");
  }
  const body = (answer.headers.get("content-type") ?? "").includes("json") ? await answer.json() : null;
  if (!answer.ok) throw new Refused(answer.status, body?.error ?? `The server answered ${answer.status} ${answer.statusText}.`);
  return body;
}

function post(path, body) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

function send(path, file) {
  const form = new FormData();
  form.append("file", file);
  return ask(path, { method: "POST", body: form });
}

export const networks = async () => (await ask("/api/networks")).networks;
export const uploadNetwork = (file) => send("/api/networks", file);
export const uploadData = (file) => send("/api/data", file);
export const startJob = async (task) => (await post("/api/jobs", task)).job;
export const job = (id) => ask(`/api/jobs/${id}`);
export const cancelJob = (id) => ask(`/api/jobs/${id}`, { method: "DELETE" });
export const cell = (id, number) => ask(`/api/jobs/${id}/cell/${number}`);
export const layers = (id) => ask(`/api/jobs/${id}/layers`);
export const boundary = (id) => ask(`/api/jobs/${id}/boundary`);
export const classParts = (id) => ask(`/api/jobs/${id}/classes`);
export const dataOn = (id) => ask(`/api/jobs/${id}/data`);
export const compare = (a, b) => post("/api/compare", { a, b });
export const exported = (id, ending) => `/api/jobs/${id}/export.${ending}`;

/** Pages of all cells that are drawn, one after the other. */
export async function* pages(id) {
  let from = 0;
  for (;;) {
    const page = await ask(`/api/jobs/${id}/cells?from=${from}&count=${PAGE}`);
    yield page;
    from += page.count;
    if (page.count === 0 || from >= page.total) return;
  }
}

/** Follows a job to its end: calls `on.progress` and `on.block`, and resolves when there is no more to come. */
export function follow(id, on) {
  return new Promise((done) => {
    const events = new EventSource(`/api/jobs/${id}/events`);
    const end = () => {
      events.close();
      done();
    };
    for (const [kind, f] of Object.entries(on)) events.addEventListener(kind, (event) => f(JSON.parse(event.data)));
    events.addEventListener("end", end);
    // The state of the job says what happened, also where the connection broke.
    events.addEventListener("error", end);
  });
}
