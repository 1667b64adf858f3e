// A control flow graph as the layout of the data has it.

const LINE = 15;
const LETTERS = 44;
const LINES = 14;

const cut = (text) => (text.length > LETTERS ? text.slice(0, LETTERS - 1) + "…" : text);

/// A way through the points of an edge: straight up, down and aside, else bent.
function curve(points) {
  let path = `M${points[0]} ${points[1]}`;
  for (let i = 2; i < points.length; i += 2) {
    const [x0, y0, x1, y1] = points.slice(i - 2, i + 2);
    const ym = (y0 + y1) / 2;
    path += x0 === x1 || y0 === y1 ? `L${x1} ${y1}` : `C${x0} ${ym} ${x1} ${ym} ${x1} ${y1}`;
  }
  return path;
}

/// Draws a graph: `layout` of the function, and the blocks that there are at this stage. Answers with
/// the drawing and ways to mark blocks and edges. `options.lines(block)` gives the lines of a block
/// (texts, or pairs of text and class); `options.pick` is called with a block that is chosen.
function drawGraph(layout, options = {}) {
  const svg = el("svg.graph", { width: layout.width, height: layout.height, viewBox: `0 0 ${layout.width} ${layout.height}`, role: "img", "aria-label": "control flow graph" });
  const edges = el("g");
  const nodes = el("g");
  svg.append(edges, nodes);
  const places = new Map(layout.nodes.map(([number, x, y, w, h]) => [number, { x, y, w, h }]));
  const paths = new Map();
  for (const [from, to, points] of layout.edges) {
    const path = el("path", { d: curve(points) });
    const [x, y] = points.slice(-2);
    const arrow = el("path.arrow", { d: `M${x - 4} ${y - 7}L${x + 4} ${y - 7}L${x} ${y}Z` });
    edges.append(path, arrow);
    paths.set(from + ">" + to, { path, arrow });
  }
  const groups = new Map();
  for (const [number, { x, y, w, h }] of places) {
    const group = el("g.node", { transform: `translate(${x} ${y})`, onclick: () => options.pick && options.pick(number) },
      el("rect.box", { width: w, height: h, rx: 5 }));
    nodes.append(group);
    groups.set(number, group);
  }

  const graph = { svg, places };
  const linesOf = (b) => (options.lines ? options.lines(b) : b.rows.map((row) => row.text));
  // What is written, marked and lit already is left alone.
  const written = new Map();
  const marked = new Map();
  const lit = new Map();

  /// Shows the blocks of a stage; blocks of other stages are ghosts.
  graph.show = (blocks) => {
    const there = new Map(blocks.map((b) => [b.number, b]));
    marked.clear();
    for (const [number, group] of groups) {
      const b = there.get(number);
      group.removeAttribute("data-tip");
      group.setAttribute("class", b ? "node depth" + Math.min(3, b.depth) + (b.header ? " header" : "") : "node ghost");
      write(number, group, b ? b.head : "b" + number, b ? linesOf(b) : []);
    }
    lit.clear();
    const present = new Map(blocks.flatMap((b) => b.succs.map(({ to, back }) => [b.number + ">" + to, back])));
    for (const [name, { path, arrow }] of paths) {
      const kind = !present.has(name) ? "absent" : present.get(name) ? "back" : "";
      path.setAttribute("class", kind);
      arrow.setAttribute("class", "arrow " + kind);
      arrow.style.display = kind === "absent" ? "none" : "";
    }
  };

  /// Writes the lines of a block.
  graph.write = (b) => groups.has(b.number) && write(b.number, groups.get(b.number), b.head, linesOf(b));

  function write(number, group, head, lines, behind = "") {
    const key = head + behind + "\n" + lines.join("\n");
    if (written.get(number) === key) return;
    written.set(number, key);
    const at = places.get(number);
    group.querySelectorAll("text").forEach((text) => text.remove());
    const room = Math.max(1, Math.min(LINES + 1, Math.floor((at.h - 4) / LINE) - 1));
    const letters = Math.floor((at.w - 10) / 6.6);
    const shown = lines.length > room ? [...lines.slice(0, room - 1), [`… ${lines.length - room + 1} more`, "more"]] : lines;
    // What is behind a text is always to be seen.
    const put = (text, kind, i, behind = "") => {
      const room = letters - behind.length;
      const cut = text.length > room ? text.slice(0, Math.max(0, room - 1)) + "…" : text;
      group.append(el("text" + (kind ? "." + kind : ""), { x: 6, y: 14 + i * LINE }, cut + behind));
    };
    put(head, "head", 0, behind);
    shown.forEach((line, i) => (Array.isArray(line) ? put(line[0], line[1], i + 1, line[2]) : put(line, "", i + 1)));
  }

  /// Shows how often blocks ran: `heat` is that of a function's last stage.
  graph.heat = (blocks, heat) => {
    for (const b of blocks) {
      const count = heat.count(b.number);
      if (count == null || !groups.has(b.number)) continue;
      const group = groups.get(b.number);
      write(b.number, group, b.head, linesOf(b), " ×" + brief(count));
      group.classList.add(heat.kind(count));
      group.setAttribute("data-tip", `b${b.number} ${times(count)}`);
    }
  };

  /// Gives blocks classes: an object of sets or lists by class.
  graph.mark = (marks) => {
    const sets = Object.entries(marks).map(([kind, numbers]) => [kind, new Set(numbers)]);
    for (const [number, group] of groups) {
      const kinds = sets.filter(([, numbers]) => numbers.has(number)).map(([kind]) => kind);
      const before = marked.get(number) || [];
      if (kinds.join() === before.join()) continue;
      marked.set(number, kinds);
      group.classList.remove(...before);
      group.classList.add(...kinds);
    }
  };

  /// Gives edges a class, chosen by `kind(from, to)`.
  graph.edges = (kind) => {
    for (const [name, { path }] of paths) {
      const [from, to] = name.split(">").map(Number);
      const chosen = kind(from, to);
      if (lit.get(name) === chosen || path.classList.contains("absent")) continue;
      lit.set(name, chosen);
      path.classList.remove("on", "off", "wait");
      if (chosen) path.classList.add(chosen);
    }
  };

  /// Scrolls to a block where it is not to be seen.
  graph.reveal = (number) => {
    const at = places.get(number);
    const box = svg.closest(".scroll");
    if (!at || !box || !box.clientHeight) return;
    const scale = svg.getBoundingClientRect().width / layout.width || 1;
    const [x, y, w, h] = [at.x, at.y, at.w, at.h].map((n) => n * scale);
    if (y < box.scrollTop || y + h > box.scrollTop + box.clientHeight) box.scrollTop = y - 40;
    if (x < box.scrollLeft || x + w > box.scrollLeft + box.clientWidth) box.scrollLeft = x - 20;
  };

  return graph;
}

/// The graph in a box that scrolls; it is made smaller where it is wider than the box, to a third at
/// most.
function graphBox(graph) {
  const box = el("div.scroll", { tabindex: 0, role: "region", "aria-label": "graph" }, graph.svg);
  const fit = () => {
    const full = graph.svg.viewBox.baseVal;
    const scale = Math.min(1, Math.max(0.75, (box.clientWidth - 4) / full.width));
    graph.svg.setAttribute("width", full.width * scale);
    graph.svg.setAttribute("height", full.height * scale);
  };
  new ResizeObserver(() => requestAnimationFrame(fit)).observe(box);
  return box;
}
