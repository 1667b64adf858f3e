// The passes on the control flow graph, the difference between any two stages or levels, and the
// dominator tree.

/// All texts that can be compared: stages of this level, the code and the assembly of the others.
function comparable(f) {
  const asm = (lines) => lines.map(([, , , label, pieces]) =>
    (label == null ? "" : ".L" + label + ": ") + pieces.filter((_, i) => i % 2).join(""));
  const seen = {};
  const stages = f.stages.map((stage) => {
    seen[stage.name] = (seen[stage.name] || 0) + 1;
    const nth = seen[stage.name] > 1 ? ` (${seen[stage.name]})` : "";
    return { name: stage.name + nth, lines: () => textOf(f, stage.blocks) };
  });
  const own = [
    { name: "machine instructions", lines: () => f.machine.vcode.map(([text]) => f.texts[text]) },
    { name: "registers", lines: () => f.machine.allocated.map(([text]) => f.texts[text]) },
    { name: "assembly", lines: () => asm(f.machine.asm) },
  ];
  const levels = (f.levels || []).flatMap((level) => [
    { name: `-O${level.level}: SSA`, lines: () => textOf(f, level.blocks) },
    { name: `-O${level.level}: assembly`, lines: () => level.asm.map((text) => f.texts[text]) },
  ]);
  return [...stages, ...own, ...levels];
}

/// The lines of two texts, each with what became of it: kept, taken away, added (Myers' shortest edit
/// script; texts that differ too much are shown one behind the other).
function diff(a, b) {
  const MOST = 1500;
  const out = [];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) out.push([" ", a[start++]]);
  let [ea, eb] = [a.length, b.length];
  while (ea > start && eb > start && a[ea - 1] === b[eb - 1]) { ea--; eb--; }
  const [x, y] = [a.slice(start, ea), b.slice(start, eb)];
  const most = Math.min(x.length + y.length, MOST);
  const trace = [];
  let v = new Map([[1, 0]]);
  let found = x.length + y.length === 0;
  for (let d = 0; d <= most && !found; d++) {
    trace.push(new Map(v));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1));
      let i = down ? v.get(k + 1) ?? 0 : v.get(k - 1) + 1;
      while (i < x.length && i - k < y.length && x[i] === y[i - k]) i++;
      v.set(k, i);
      if (i >= x.length && i - k >= y.length) { found = true; break; }
    }
  }
  const middle = [];
  if (!found) middle.push(...x.map((line) => ["-", line]), ...y.map((line) => ["+", line]));
  else {
    let [i, j] = [x.length, y.length];
    for (let d = trace.length - 1; d >= 0; d--) {
      const v = trace[d];
      const k = i - j;
      const down = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1));
      const from = down ? k + 1 : k - 1;
      const i0 = v.get(from) ?? 0;
      const j0 = i0 - from;
      while (i > Math.max(i0, 0) && j > Math.max(j0, 0) && x[i - 1] === y[j - 1]) { middle.push([" ", x[--i]]); j--; }
      if (d > 0) middle.push(down ? ["+", y[--j]] : ["-", x[--i]]);
    }
    middle.reverse();
  }
  return [...out, ...middle, ...a.slice(ea).map((line) => [" ", line])];
}

function diffView(f, from, to) {
  const texts = comparable(f);
  const out = el("div.pane.diff", { style: "max-height: 480px", tabindex: 0 });
  const choose = (chosen) => el("select", { onchange: draw }, texts.map((text, i) => el("option", { value: i, selected: i === chosen }, text.name)));
  const [a, b] = [choose(from), choose(to)];
  const count = el("span.count");
  const whole = el("input", { type: "checkbox", id: "whole", onchange: draw });
  const NEAR = 3;
  function draw() {
    const lines = diff(texts[a.value].lines(), texts[b.value].lines());
    const kinds = { "+": ".add", "-": ".del", " ": "" };
    const near = new Set(lines.flatMap(([kind], i) => (kind === " " ? [] : Array.from({ length: 2 * NEAR + 1 }, (_, k) => i - NEAR + k))));
    const rows = [];
    lines.forEach(([kind, line], i) => {
      if (whole.checked || near.has(i)) rows.push(el("span.row" + kinds[kind], null, kind + " ", codeLine(line)));
      else if (!i || near.has(i - 1)) rows.push(el("span.row.head", null, "  …"));
    });
    out.replaceChildren(el("pre.code", null, chunks(rows)));
    const n = (kind) => lines.filter(([k]) => k === kind).length;
    count.textContent = `${n("-")} lines gone, ${n("+")} new`;
  }
  const set = (from, to) => { [a.value, b.value] = [from, to]; draw(); };
  set(from, to);
  return { element: el("section", null, el("div.bar", null, el("h2", null, "Difference"), "from", a, "to", b, el("label", null, whole, " all lines"), count), out), set };
}

const DEPTHS = "blocks in loops are tinted, loops begin at a strong border, edges that go back are orange";

addView("passes", "Passes", (f, view, rest) => {
  const graph = drawGraph(f.layout, { pick });
  const lines = el("div.pane", { style: "max-height: 60vh", tabindex: 0 });
  const difference = diffView(f, 0, 0);
  const heat = heatOfBlocks(f);
  let chosen = null;
  let at = 0;
  let changed = [];
  const buttons = f.stages.map((stage, i) => el("button" + (i > 0 && !stage.changed ? ".dim" : ""), {
    onclick: () => made.go(i), title: `${stage.insts} instructions, ${stage.rewrites} rewrites` + (i > 0 && !stage.changed ? "; nothing changed" : ""),
  }, stage.name));

  const changedBlocks = (a, b) => {
    const before = new Map(blocksOf(f, a).map((b) => [b.number, b.head + b.rows.map((row) => row.text).join("\n")]));
    return blocksOf(f, b).filter((b) => before.get(b.number) !== b.head + b.rows.map((row) => row.text).join("\n")).map((b) => b.number);
  };
  function pick(number) {
    chosen = number;
    const b = blocksOf(f, f.stages[at].blocks).find((b) => b.number === number);
    graph.mark({ changed, now: [number] });
    lines.replaceChildren(el("pre.code", null, b
      ? [row(codeLine(b.head + ":"), 0, ".head"), ...b.rows.map((line) => row(["  ", ...codeLine(line.text)], line.place))]
      : row(`b${number} is not there at this stage`, 0)));
  }
  const made = makePlayer(f.stages.length - 1, (step) => {
    at = step;
    const stage = f.stages[step];
    const blocks = blocksOf(f, stage.blocks);
    graph.show(blocks);
    if (heat && step === f.stages.length - 1) graph.heat(blocks, heat);
    changed = step > 0 && stage.changed ? changedBlocks(f.stages[step - 1].blocks, stage.blocks) : [];
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === step)));
    if (chosen == null || !blocks.some((b) => b.number === chosen)) chosen = blocks[0].number;
    pick(changed.length && !changed.includes(chosen) ? changed[0] : chosen);
    difference.set(Math.max(0, step - 1), step);
    writeAddress(step);
    const what = step === 0 ? "The control flow graph as it comes." : step === 1 && f.stages[0].name === "cfg" ? "In SSA form."
      : stage.changed ? `${stage.name} changed ${changed.length} of ${blocks.length} blocks.` : `${stage.name} changed nothing.`;
    return [el("b", null, stage.name), ` — ${what} ${blocks.length} blocks, ${stage.insts} instructions, ${stage.rewrites} rewrites counted.`];
  });
  showPlayer(view, made, el("div.stage", null, buttons),
    el("div.split", null, el("div", null, graphBox(graph), el("p.note", null, `Changed blocks glow; ${DEPTHS}. A dashed block belongs to another stage.`),
      heat ? heatLegend() : null),
      el("div", null, el("h2", null, "Block"), lines)),
    difference.element);
  made.go(rest[0] === undefined ? 0 : +rest[0]);
});

/// The dominator tree as a drawing: leaves side by side, each parent above the middle of its children.
function treeOf(blocks, pick) {
  const children = new Map(blocks.map((b) => [b.number, []]));
  const roots = [];
  for (const b of blocks) (b.idom == null ? roots : children.get(b.idom)).push(b.number);
  const places = new Map();
  const [W, H] = [46, 46];
  let leaves = 0;
  let depth = 0;
  // Without recursion: a chain of dominators may be long.
  const open = roots.map((number) => [number, 0, 0]).reverse();
  while (open.length) {
    const top = open[open.length - 1];
    const [number, level] = top;
    const below = children.get(number);
    depth = Math.max(depth, level);
    if (top[2] < below.length) { open.push([below[top[2]++], level + 1, 0]); continue; }
    open.pop();
    const x = below.length ? (places.get(below[0]).x + places.get(below[below.length - 1]).x) / 2 : leaves++ * W;
    places.set(number, { x, y: level * H });
  }
  const [width, height] = [Math.max(1, leaves) * W + 10, (depth + 1) * H];
  const svg = el("svg.graph", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "dominator tree" });
  for (const b of blocks) {
    if (b.idom == null) continue;
    const [from, to] = [places.get(b.idom), places.get(b.number)];
    svg.append(el("path", { d: `M${from.x + 23} ${from.y + 27}L${to.x + 23} ${to.y + 5}` }));
  }
  const groups = new Map();
  for (const [number, { x, y }] of places) {
    const group = el("g.node", { transform: `translate(${x + 4} ${y + 5})`, onclick: () => pick(number), tabindex: 0,
      onkeydown: (event) => event.key === "Enter" && pick(number) },
      el("rect.box", { width: 38, height: 22, rx: 5 }), el("text.head", { x: 6, y: 15 }, name(number)));
    groups.set(number, group);
    svg.append(group);
  }
  const mark = (marks) => {
    for (const [number, group] of groups) for (const kind of Object.keys(marks)) group.classList.toggle(kind, marks[kind].includes(number));
  };
  return { svg, mark };
}

addView("dominators", "Dominators", (f, view, rest) => {
  const body = el("div");
  const say = el("div.say");
  const stage = el("select", { "aria-label": "stage", onchange: () => draw(+stage.value) },
    f.stages.map((stage, i) => el("option", { value: i }, stage.name)));
  function draw(number) {
    const blocks = blocksOf(f, f.stages[number].blocks);
    const layout = number === 0 && f.variableLayout ? f.variableLayout : f.layout;
    const graph = drawGraph(layout, { pick });
    const tree = treeOf(blocks, pick);
    graph.show(blocks);
    body.replaceChildren(el("div.split", null, graphBox(graph), el("div", null, el("h2", null, "Dominator tree"), el("div.scroll", { tabindex: 0 }, tree.svg), table(blocks, pick))));
    function pick(chosen) {
      const of = new Map(blocks.map((b) => [b.number, b]));
      if (!of.has(chosen)) return;
      const above = [];
      for (let at = of.get(chosen).idom; at != null; at = of.get(at).idom) above.push(at);
      const below = blocks.filter((b) => {
        let at = b.number;
        while (at != null && at !== chosen) at = of.get(at).idom;
        return at === chosen && b.number !== chosen;
      }).map((b) => b.number);
      const marks = { now: [chosen], done: above, waiting: below, changed: of.get(chosen).frontier };
      graph.mark(marks);
      tree.mark(marks);
      say.replaceChildren(el("b", null, name(chosen)), ": dominated by ", ...chips(above.map(name)), " dominates ", ...chips(below.map(name), "wait"),
        " frontier ", ...chips(of.get(chosen).frontier.map(name), "new"));
      writeAddress(number, chosen);
    }
    pick(rest[1] === undefined ? blocks[0].number : +rest[1]);
  }
  const table = (blocks, pick) => el("table", null,
    el("tr", null, ["block", "immediate dominator", "frontier", "loops around"].map((head) => el("th", null, head))),
    blocks.map((b) => el("tr", { onclick: () => pick(b.number) }, el("td", null, name(b.number)), el("td", null, b.idom == null ? "–" : name(b.idom)),
      el("td", null, chips(b.frontier.map(name))), el("td.number", null, String(b.depth) + (b.header ? ", begins one" : "")))));
  view.append(el("div.bar", null, "stage", stage), say,
    legend(["accent", "chosen (border)"], ["reg", "dominates it (border)"], ["wait", "dominated by it"], ["glow", "its dominance frontier"]), body);
  stage.value = rest[0] === undefined ? 0 : rest[0];
  draw(+stage.value);
});
