// The panes: source, three-address code, SSA, machine instructions, assembly. What is related through
// the places in the source that the compiler keeps lights up together.

const TOY = /(\/\/.*)|("(?:[^"\\]|\\.)*"?)|\b(fn|let|var|if|else|while|for|in|return|break|continue|struct|match|true|false|nil|loop|and|or|not|as|print|global|ssa|script|main|br|jump|ret|unreachable)\b|\b(\d[\w.]*)|([A-Za-z_]\w*)|(\s+)|(.)/g;

/// Pieces of a line of a file. In the IR's own text remarks begin at a semicolon, in Bril's at #.
function toyPieces(line, file) {
  const pieces = [];
  const mark = file.endsWith(".ir") ? ";" : file.endsWith(".bril") ? "#" : null;
  const remark = mark ? line.indexOf(mark) : -1;
  if (remark >= 0) return [...toyPieces(line.slice(0, remark), ""), { text: line.slice(remark), kind: "c" }];
  for (const m of line.matchAll(TOY)) {
    const kind = m[1] ? "c" : m[2] ? "s" : m[3] ? "k" : m[4] ? "n" : "";
    pieces.push({ text: m[0], kind });
  }
  return pieces;
}

const IR = /("(?:[^"\\]|\\.)*")|(\bv\d+\b)|(%\d+|\bbb?\d+\b)|(\$[\w.]+|[@&][\w.@:]+)|(-?\b\d[\w.]*)|([A-Za-z_][\w.]*)|(.)/gs;

/// A line of the IR or of machine instructions in colours, with help for operators.
function codeLine(text) {
  return [...text.matchAll(IR)].map((m) => {
    if (m[1]) return el("span.s", null, m[0]);
    if (m[2]) return el("span", { "data-value": m[0] }, m[0]);
    if (m[3]) return el("span", { "data-value": m[0] }, m[0]);
    if (m[4]) return el("span.l", null, m[0]);
    if (m[5]) return el("span.n", null, m[0]);
    const help = m[6] && DATA.operators[m[6]];
    return help ? el("span.o", { "data-help": m[6] + ": " + help }, m[0]) : m[0];
  });
}

function row(content, place, kind) {
  return el("span.row" + (kind || ""), { "data-place": place || null }, content);
}

/// Many rows in chunks that are laid out when they come into view.
const CHUNK = 200;
function chunks(rows) {
  if (rows.length <= 2 * CHUNK) return rows;
  const parts = Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, i) => rows.slice(i * CHUNK, (i + 1) * CHUNK));
  return parts.map((part) => el("span.chunk", null, part));
}

const KINDS = { m: "m", r: "r", n: "n", l: "l", k: "k", p: "" };

function assemblyRows(asm, heat) {
  const cell = heatColumn(heat && heat.asm);
  return asm.flatMap(([offset, bytes, place, label, pieces], i) => {
    const parts = [];
    for (let i = 0; i < pieces.length; i += 2) {
      const text = pieces[i + 1];
      const help = pieces[i] === "m" && DATA.mnemonics[text.trim()];
      parts.push(el("span." + KINDS[pieces[i]], { "data-help": help ? text.trim() + ": " + help : null }, text));
    }
    const head = label == null ? [] : [row([heat && heatCell(null), ".L" + label + ":"], 0, ".head")];
    const spaced = bytes.replace(/../g, "$& ");
    return [...head, row([cell(i), el("span.no", null, offset.toString(16)), el("span.text", null, parts), el("span.bytes", null, spaced)], place)];
  });
}

/// With `heat`, the blocks are those that ran.
function blockRows(f, blocks, heat) {
  const shown = blocksOf(f, blocks);
  const counts = new Map(heat ? heat.blocks : []);
  const cell = heatColumn(heat && shown.map((b) => counts.get(b.number)));
  return shown.flatMap((b, i) => [
    row([cell(i), ...codeLine(b.head + ":")], 0, ".head"),
    ...b.rows.map((line) => row([cell(i), "  ", ...codeLine(line.text)], line.place)),
  ]);
}

function machineRows(f, form) {
  const cell = heatColumn(f.heat && f.heat[form]);
  return f.machine[form].map(([text, place, kind], i) =>
    row([cell(i), ...codeLine(f.texts[text])], place, kind === "b" || kind === "f" ? ".head" : kind === "e" || kind === "o" ? ".edit" : ""));
}

const ALL_LINES = 3000;

function sourceRows(f, all) {
  const file = DATA.files[f.file];
  const lines = file.text.replace(/\n$/, "").split("\n");
  let [first, last] = [1, lines.length];
  if (!all && lines.length > ALL_LINES && f.lines) [first, last] = f.lines;
  const cell = heatOfLines(f.file);
  const rows = [];
  for (let n = first; n <= last; n++) {
    let column = 1;
    const pieces = toyPieces(lines[n - 1], file.name).map(({ text, kind }) => {
      const piece = el("span." + kind, { "data-column": column }, text);
      column += [...text].length;
      return piece;
    });
    rows.push(el("span.row", { "data-line": n }, cell(n), el("span.no", null, String(n)), pieces));
  }
  return rows;
}

/// The smallest place that holds a line and column, or else the first that begins on the line.
function placeAt(f, line, column) {
  let best = 0;
  let size = Infinity;
  f.places.forEach(([l1, c1, l2, c2], place) => {
    if (!place) return;
    const inside = (l1 < line || (l1 === line && c1 <= column)) && (line < l2 || (line === l2 && column < c2));
    const area = (l2 - l1) * 1000 + (c2 - c1);
    if (inside && area < size) [best, size] = [place, area];
  });
  return best || f.places.findIndex(([l1]) => l1 === line);
}

function unlight() {
  document.querySelectorAll(".lit, .kept, .same").forEach((lit) => lit.classList.remove("lit", "kept", "same"));
}

/// Lights all that comes from a place: in each pane the lines with this very place or, where there are
/// none, those of the same line; in the source its text.
function light(f, place, how) {
  if (place <= 0) return;
  const [l1, c1, l2, c2] = f.places[place];
  for (const pane of document.querySelectorAll(".pane[data-pane]")) {
    if (pane.dataset.pane === "source") {
      for (const line of pane.querySelectorAll(".row")) {
        const n = +line.dataset.line;
        if (n < l1 || n > l2) continue;
        for (const piece of line.querySelectorAll("[data-column]")) {
          const column = +piece.dataset.column;
          const inside = (n > l1 || column >= c1) && (n < l2 || column < c2);
          if (inside && piece.textContent.trim()) piece.classList.add(how);
        }
      }
      continue;
    }
    let rows = [...pane.querySelectorAll(`.row[data-place="${place}"]`)];
    if (!rows.length) {
      const near = new Set(f.places.map(([line], i) => (line === l1 ? String(i) : "")));
      rows = [...pane.querySelectorAll(".row[data-place]")].filter((row) => near.has(row.dataset.place));
    }
    rows.forEach((row) => row.classList.add(how));
  }
}

/// Brings the first lit line of each other pane into view.
function follow(from) {
  for (const pane of document.querySelectorAll(".pane[data-pane]")) {
    const lit = pane !== from && pane.querySelector(".kept");
    if (!lit) continue;
    const [a, b] = [lit.getBoundingClientRect(), pane.getBoundingClientRect()];
    if (a.top < b.top || a.bottom > b.bottom) pane.scrollTop += a.top - b.top - b.height / 3;
  }
}

addView("code", "Code", (f, view) => {
  let kept = 0;
  const stages = f.stages.map((stage, i) => [stage, i]).filter(([stage]) => stage.name !== "cfg");
  const cfg = f.stages.find((stage) => stage.name === "cfg");

  // A pane is made wider by its title.
  const wide = new Set();
  const arrange = () => all.style.setProperty("--columns", panes.map((pane) => (wide.has(pane.dataset.name) ? "minmax(0, 2.6fr)" : "minmax(0, 1fr)")).join(" "));

  const pane = (name, title, rows, ...controls) => {
    const body = el("div.pane", { "data-pane": name, tabindex: 0, role: "region", "aria-label": title });
    body.append(el("pre.code", null, chunks(rows)));
    const heading = el("h2", null, el("button.title", { title: "wider, narrower", onclick: () => { wide.has(name) ? wide.delete(name) : wide.add(name); arrange(); } }, title));
    return el("section", { "data-name": name }, el("div.bar", null, heading, controls), body);
  };
  const fill = (name, rows) => view.querySelector(`[data-pane="${name}"] .code`).replaceChildren(...chunks(rows));

  // The blocks that ran are those of the last stage.
  const heatAt = (stage) => (stage === f.stages.length - 1 ? f.heat : null);
  const stage = el("select", { "aria-label": "stage", onchange: (event) => fill("ssa", blockRows(f, f.stages[event.target.value].blocks, heatAt(+event.target.value))) },
    stages.map(([stage, i]) => el("option", { value: i }, stage.name === "ssa" ? "as constructed" : "after " + stage.name)));
  stage.value = stages[stages.length - 1][1];
  const registers = el("select", { "aria-label": "registers", onchange: (event) => fill("machine", machineRows(f, event.target.value)) },
    el("option", { value: "allocated" }, "allocated"), el("option", { value: "vcode" }, "as selected"));

  const panes = [
    pane("source", "Source", sourceRows(f, false)),
    cfg && pane("cfg", "Three-address", blockRows(f, cfg.blocks)),
    pane("ssa", "SSA", blockRows(f, f.stages[f.stages.length - 1].blocks, heatAt(f.stages.length - 1)), stage),
    pane("machine", "Machine", machineRows(f, "allocated"), registers),
    pane("asm", "Assembly", assemblyRows(f.machine.asm, f.heat)),
  ].filter(Boolean);
  const all = el("div.panes", null, panes);
  arrange();
  view.append(all);
  if (f.lines) {
    const first = view.querySelector(`[data-line="${f.lines[0]}"]`);
    const source = view.querySelector('[data-pane="source"]');
    if (first) source.scrollTop = first.offsetTop - source.offsetTop - 20;
  }

  const placeOf = (target) => {
    const line = target.closest && target.closest(".row");
    if (!line) return 0;
    if (line.dataset.place) return +line.dataset.place;
    if (!line.dataset.line) return 0;
    const piece = target.closest("[data-column]");
    return placeAt(f, +line.dataset.line, piece ? +piece.dataset.column : 1);
  };
  const relight = (place) => {
    unlight();
    light(f, kept, "kept");
    if (place !== kept) light(f, place, "lit");
  };
  all.addEventListener("mouseover", (event) => {
    relight(placeOf(event.target));
    const value = event.target.closest("[data-value]");
    if (value) {
      event.target.closest(".pane").querySelectorAll(`[data-value="${value.dataset.value}"]`)
        .forEach((same) => same.classList.add("same"));
    }
  });
  all.addEventListener("mouseleave", () => relight(0));
  all.addEventListener("click", (event) => {
    if (event.target.closest("select")) return;
    const place = placeOf(event.target);
    kept = place === kept ? 0 : place;
    relight(0);
    follow(event.target.closest(".pane"));
  });
  // Up and down go from line to line in a pane.
  all.addEventListener("keydown", (event) => {
    const pane = event.target.closest(".pane");
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!pane || !step) return;
    event.preventDefault();
    const rows = [...pane.querySelectorAll(".row")];
    let at = rows.findIndex((line) => line.hasAttribute("data-at"));
    rows.forEach((line) => line.removeAttribute("data-at"));
    do at += step; while (rows[at] && !placeOf(rows[at]));
    at = Math.max(0, Math.min(rows.length - 1, at));
    rows[at].setAttribute("data-at", "");
    kept = placeOf(rows[at]);
    relight(0);
    rows[at].scrollIntoView({ block: "nearest" });
    follow(pane);
  });
});
