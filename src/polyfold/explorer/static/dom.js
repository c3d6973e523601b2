// Making elements without markup in strings, so that nothing a file or a server says is ever read as HTML.

/** An element: `make("button", {class: "quiet", onclick: f}, "text", child, ...)`; attributes that are null, undefined or false are left out. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export function byId(name) {
  const found = document.getElementById(name);
  if (!found) throw new Error(`the page has no element #${name}`);
  return found;
}

/** Puts children in place of what is there. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
}

/** Says a sentence to everyone: on the page and, politely, to screen readers. */
export function say(sentence, kind = "") {
  const status = byId("status");
  status.textContent = finished(sentence);
  status.className = kind;
}

/** With a capital letter in front and a full stop behind: messages of programs often have neither. */
function finished(sentence) {
  // Not x0 and the like.
  const begun = sentence.replace(/^[a-z]+\b/, (word) => word.charAt(0).toUpperCase() + word.slice(1));
  return begun + (/[.…?!]$/.test(begun) ? "" : ".");
}

/** Calls f once things have been quiet for a while. */
export function settled(f, milliseconds) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...values), milliseconds);
  };
}

/** Hands a file to the visitor. */
export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
