// Sends what is typed to the server that this page is from, and shows the result. All text is text: nothing makes markup.

const PATIENCE = 200; // milliseconds after the last key, before the server is asked
const LONGEST_LINK = 30000; // characters of an address that can be sent around
const LONGEST_EXCERPT = 120; // characters of a line that are shown beside what is wrong with it

const GLANCE = 5000; // milliseconds for which it is said that something is copied
const NO_ANSWER = "The server doesn’t answer. Does ingress-manager play still run?";

const byId = (id) => document.getElementById(id);

/** Return an element with attributes and children; texts stand for text nodes. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A text field with the numbers of its lines, and marks on some. */
class Editor {
  constructor(id) {
    this.field = byId(id);
    const editor = this.field.parentElement;
    this.numbers = editor.querySelector(".numbers div");
    this.marks = editor.querySelector(".marks div");
    this.marked = new Set();
    this.field.addEventListener("input", typed);
    this.field.addEventListener("keydown", (event) => this.indent(event));
    this.field.addEventListener("scroll", () => this.follow());
  }

  get text() {
    return this.field.value;
  }

  set text(text) {
    this.field.value = text;
  }

  get lines() {
    return this.text.split("\n");
  }

  /** Show the numbers of all lines, and mark those of `wrong`. */
  draw(wrong = this.marked) {
    this.marked = wrong;
    const number = (_, index) => (wrong.has(index + 1) ? `✕ ${index + 1}` : `${index + 1}`);
    this.numbers.textContent = this.lines.map(number).join("\n");
    const stripes = [...wrong].map((line) => {
      const stripe = element("span", {});
      stripe.style.top = `${line - 1}lh`;
      return stripe;
    });
    this.marks.replaceChildren(...stripes);
    this.follow();
  }

  follow() {
    for (const layer of [this.numbers, this.marks]) layer.style.transform = `translateY(${-this.field.scrollTop}px)`;
  }

  /** Select a line and show it. */
  go(line) {
    const before = this.lines.slice(0, line - 1).join("").length + line - 1;
    this.field.focus();
    this.field.setSelectionRange(before, before + (this.lines[line - 1] ?? "").length);
    const height = parseFloat(getComputedStyle(this.field).lineHeight);
    this.field.scrollTop = (line - 1) * height - this.field.clientHeight / 2;
    this.field.parentElement.scrollIntoView({ block: "nearest" });
  }

  /** Begin a new line as far to the right as the last one, or as what belongs to it. The key Tab leaves the field. */
  indent(event) {
    if (event.key !== "Enter" || event.isComposing || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    const line = this.text.slice(0, this.field.selectionStart).split("\n").pop();
    const space = line.match(/^ */)[0] + (line.endsWith(":") ? "  " : "");
    // The only way that can be undone by the browser.
    if (document.execCommand("insertText", false, `\n${space}`)) event.preventDefault();
  }
}

const editors = { service: new Editor("service"), settings: new Editor("settings") };
const names = { service: "the Service", settings: "the settings" };
const example = byId("example");
let started = { settings: "", examples: [] };
let shown = "";
let waiting = 0;
let question = new AbortController();

// What is typed → the server → the result.

function typed() {
  example.value = "";
  for (const editor of Object.values(editors)) editor.draw();
  soon(PATIENCE);
}

/** Ask the server after so many milliseconds, unless something else is typed by then. */
function soon(patience) {
  byId("result").setAttribute("aria-busy", "true");
  // An answer to what stands there no more is never shown.
  question.abort();
  question = new AbortController();
  clearTimeout(waiting);
  waiting = setTimeout(ask, patience, question.signal);
}

async function ask(signal) {
  const state = keepInAddress();
  let result;
  try {
    const response = await fetch("result", { method: "POST", body: new URLSearchParams(state), signal });
    result = response.ok ? await response.json() : silent(`The server can’t decide: ${response.statusText}.`);
  } catch {
    result = silent(NO_ANSWER);
  }
  if (signal.aborted) return;
  show(result);
  byId("result").setAttribute("aria-busy", "false");
}

function silent(headline) {
  return { state: "silent", headline, mistakes: [], objects: [] };
}

const SIGNS = { fine: "✓", refused: "✕", nothing: "○", settings: "!", silent: "!" };

function show(result) {
  // What is shown already isn't announced again.
  const now = JSON.stringify(result);
  if (now === shown) return;
  shown = now;
  const status = byId("status");
  status.dataset.state = result.state;
  const headline = element("p", { id: "headline" }, element("span", { "aria-hidden": "true" }, `${SIGNS[result.state]} `), result.headline);
  const mistakes = element("ol", { id: "mistakes" }, ...result.mistakes.map(mistakeShown));
  status.replaceChildren(headline, ...(result.mistakes.length ? [mistakes] : []));
  for (const [name, editor] of Object.entries(editors)) {
    const wrong = result.mistakes.filter((mistake) => mistake.field === name);
    editor.field.setAttribute("aria-invalid", String(wrong.length > 0));
    editor.draw(new Set(wrong.map((mistake) => mistake.line).filter((line) => line > 0)));
  }
  const objects = result.objects.map((made) => element("div", {}, element("h3", {}, made.name), element("pre", {}, made.text)));
  if (objects.length) objects.push(copyButton(result.objects.map((made) => made.text).join("---\n")));
  byId("objects").replaceChildren(...objects);
}

function mistakeShown(mistake) {
  const editor = editors[mistake.field];
  const where = element("p", { class: "where" });
  if (mistake.line) {
    const button = element("button", { type: "button" }, `Line ${mistake.line} of ${names[mistake.field]}`);
    button.addEventListener("click", () => editor.go(mistake.line));
    where.append(button, element("code", {}, (editor.lines[mistake.line - 1] ?? "").trim().slice(0, LONGEST_EXCERPT)));
  }
  const about = mistake.about ? [element("b", {}, `${mistake.about}: `)] : [];
  const sentence = element("p", {}, ...about, mistake.sentence);
  const remedy = mistake.remedy ? [element("p", { class: "remedy" }, `What to do: ${mistake.remedy}`)] : [];
  return element("li", {}, where, sentence, ...remedy);
}

function copyButton(text) {
  const button = element("button", { type: "button" }, "Copy YAML");
  button.addEventListener("click", () => copy(text, "The YAML is copied."));
  return button;
}

async function copy(text, done) {
  const copied = byId("copied");
  try {
    await navigator.clipboard.writeText(text);
    copied.textContent = done;
  } catch {
    copied.textContent = "The browser doesn’t let this page copy.";
  }
  setTimeout(() => copied.replaceChildren(), GLANCE);
}

// The link: both texts after the #, which no browser sends to a server.

function keepInAddress() {
  const state = { service: editors.service.text, settings: editors.settings.text };
  const address = `#${new URLSearchParams(state)}`;
  const short = address.length <= LONGEST_LINK;
  if (short && address !== location.hash) history.replaceState(null, "", address);
  if (!short) history.replaceState(null, "", location.pathname);
  byId("link").disabled = !short;
  return state;
}

/** Take both texts from the address; return whether it has them. */
function takeFromAddress() {
  const state = new URLSearchParams(location.hash.slice(1));
  if (!state.has("service")) return false;
  set(state.get("service"), state.get("settings") ?? "");
  return true;
}

function set(service, settings) {
  editors.service.text = service;
  editors.settings.text = settings;
  for (const editor of Object.values(editors)) editor.draw(new Set());
  soon(0);
}

// The examples.

function choose() {
  const chosen = started.examples[example.value];
  if (!chosen) return;
  // So that the browser's Back brings back what stood there.
  keepInAddress();
  history.pushState(null, "", location.href);
  set(chosen.service, chosen.settings || started.settings);
}

function offerExamples() {
  const groups = new Map();
  started.examples.forEach(({ group, title }, index) => {
    if (!groups.has(group)) groups.set(group, element("optgroup", { label: group }));
    groups.get(group).append(element("option", { value: index }, title));
  });
  example.append(...groups.values());
}

example.addEventListener("change", choose);
byId("link").addEventListener("click", () => copy(location.href, "The link is copied."));
window.addEventListener("hashchange", takeFromAddress);

try {
  started = await (await fetch("start.json")).json();
  offerExamples();
  if (!takeFromAddress()) set(started.examples[0].service, started.settings);
} catch {
  show(silent(NO_ANSWER));
}
