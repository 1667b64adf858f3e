// What all views use: elements, the data, the choice of function and view, themes, keys.

const $ = (id) => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

/// Makes an element: its name with classes ("div.a.b"), attributes, children (elements or texts).
function el(kind, attributes, ...children) {
  const [name, ...classes] = kind.split(".");
  const svg = ["svg", "g", "rect", "path", "text", "line", "circle", "title"].includes(name);
  const made = svg ? document.createElementNS(SVG, name) : document.createElement(name);
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child != null));
  return made;
}

/// A function's data, read when it is first looked at.
const loaded = new Map();
function load(number) {
  if (!loaded.has(number)) loaded.set(number, prepare(JSON.parse($("f" + number).textContent)));
  return loaded.get(number);
}

/// Stages without blocks of their own have those of the stage before.
function prepare(f) {
  let blocks = null;
  for (const stage of f.stages) {
    stage.changed = stage.blocks != null && blocks != null;
    blocks = stage.blocks = stage.blocks || blocks;
  }
  return f;
}

/// A block of a stage by name rather than by place.
function block(f, [number, params, lines, succs, idom, frontier, depth, header]) {
  const rows = [];
  for (let i = 0; i < lines.length; i += 2) rows.push({ text: f.texts[lines[i]], place: lines[i + 1] });
  const args = f.texts[params];
  const head = "b" + number + (args ? "(" + args + ")" : "");
  return { number, head, rows, succs: succs.map(([to, back]) => ({ to, back: !!back })), idom, frontier, depth, header: !!header };
}

const blocksOf = (f, blocks) => blocks.map((b) => block(f, b));

/// The lines of a stage, as `toyjit emit` prints them but for the function's head.
function textOf(f, blocks) {
  return blocksOf(f, blocks).flatMap((b) => [b.head + ":", ...b.rows.map((row) => "  " + row.text)]);
}

// The state is in the address, so that a view can be linked to: #function/view/…
const state = { function: 0, view: "code", rest: [] };
const VIEWS = [];

/// Adds a view: its name, its title, what draws it (gets the function and what is behind the view's
/// name in the address), and whether there is something to see for a function.
function addView(name, title, draw, has) {
  VIEWS.push({ name, title, draw, has: has || (() => true) });
}

function readAddress() {
  const parts = decodeURIComponent(location.hash.slice(1)).split("/");
  const at = DATA.functions.indexOf(parts[0]);
  state.function = at < 0 ? state.function : at;
  state.view = VIEWS.some((view) => view.name === parts[1]) ? parts[1] : state.view;
  state.rest = parts.slice(2);
}

function address(rest) {
  const parts = [DATA.functions[state.function], state.view, ...rest];
  return "#" + parts.map(encodeURIComponent).join("/");
}

/// Steps are written into the address when they have come to rest: browsers bear few changes.
let resting = null;
function writeAddress(...rest) {
  clearTimeout(resting);
  const to = address(rest);
  const write = () => history.replaceState(null, "", to);
  if (rest.length) resting = setTimeout(write, 300);
  else write();
}

let player = null;

function show() {
  if (player) player.stop();
  player = null;
  unlight();
  const f = load(state.function);
  const views = VIEWS.filter((view) => view.has(f));
  const view = views.find((view) => view.name === state.view) || views[0];
  state.view = view.name;
  $("function").value = state.function;
  $("tabs").replaceChildren(...views.map((other, i) => el("button", {
    role: "tab", "aria-selected": String(other === view), title: "key " + (i + 1),
    onclick: () => choose(state.function, other.name),
  }, other.title)));
  $("left-out").hidden = !f.leftOut.length;
  $("left-out").textContent = "Left out: " + f.leftOut.join("; ");
  $("view").replaceChildren();
  view.draw(f, $("view"), state.rest);
}

function choose(number, view) {
  state.function = number;
  state.view = view;
  state.rest = [];
  writeAddress();
  show();
}

// Help on hover, and by keyboard focus.
function tip(target) {
  const box = $("tip");
  const text = target && target.closest && target.closest("[data-help], [data-tip]");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text.getAttribute("data-help") || text.getAttribute("data-tip");
  const at = text.getBoundingClientRect();
  box.style.left = Math.max(4, Math.min(at.left, innerWidth - box.offsetWidth - 8)) + "px";
  const below = at.bottom + 6 + box.offsetHeight < innerHeight;
  box.style.top = (below ? at.bottom + 6 : at.top - box.offsetHeight - 6) + "px";
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function start() {
  const names = DATA.files.map((file) => file.name.split("/").pop()).join(", ");
  document.title = names + " · toyjit explore";
  $("title").textContent = names + " at -O" + DATA.level + (DATA.heat ? ", with a profile" : "");
  $("function").replaceChildren(...DATA.functions.map((name, i) => el("option", { value: i }, name)));
  $("function").addEventListener("change", (event) => choose(+event.target.value, state.view));
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  $("theme").addEventListener("click", () =>
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  $("keys").addEventListener("click", () => $("help").showModal());
  document.addEventListener("mouseover", (event) => tip(event.target));
  document.addEventListener("focusin", (event) => tip(event.target));
  addEventListener("hashchange", () => { readAddress(); show(); });
  document.addEventListener("keydown", key);
  readAddress();
  show();
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const on = event.target.tagName;
  if (on === "SELECT" || (on === "INPUT" && event.target.type !== "range")) return;
  const views = VIEWS.filter((view) => view.has(load(state.function)));
  const step = { "[": -1, "]": 1 }[event.key];
  if (views[event.key - 1]) choose(state.function, views[event.key - 1].name);
  else if (step) choose((state.function + step + DATA.functions.length) % DATA.functions.length, state.view);
  else if (event.key === "?") $("help").showModal();
  else if (event.key === "Escape") unlight();
  else if (player && player.key(event.key, on)) event.preventDefault();
}

addEventListener("DOMContentLoaded", start);
