// Sparse conditional constant propagation: a fact for each value, edges found executable, two worklists.

addView("sccp", "SCCP", (f, view, rest) => {
  const { blocks: stage, events, values, ofLevel } = f.sccp;
  const blocks = blocksOf(f, stage);
  const initial = { facts: Object.fromEntries(values.map((value) => [value, "nothing yet"])), reached: [], edges: [], edgeWork: [], valueWork: [], done: [], now: null, value: null, old: null };
  const at = makeStates(events, initial, (state, [kind, a, b, c]) => {
    state.value = state.old = null;
    if (kind === "reach") { state.reached.push(a); state.now = a; }
    else if (kind === "raise") { state.old = state.facts[a]; state.facts[a] = c; state.value = a; }
    else if (kind === "+value") { state.valueWork.push(a); state.value = a; }
    else if (kind === "value") { state.valueWork.splice(state.valueWork.lastIndexOf(a), 1); state.value = a; }
    else if (kind === "+edge") state.edgeWork.push([a, b]);
    else if (kind === "edge") {
      const i = state.edgeWork.findLastIndex(([x, y]) => x === a && y === b);
      state.edgeWork.splice(i, 1);
      state.edges.push([a, b]);
      state.now = a;
    } else if (kind === "do") state.done.push(a);
  });
  const of = new Map(blocks.map((b) => [b.number, b]));
  const target = (b, edge) => of.get(b).succs[edge].to;
  for (const b of blocks) for (const row of b.rows) row.value = (row.text.match(/^(v\d+)/) || [])[1];
  const defined = (row) => row.value;
  let state = initial;
  let reached = new Set();
  const graph = drawGraph(f.layout, {
    lines: (b) => b.rows.map((row) => {
      const value = defined(row);
      const fact = value && state.facts[value];
      return fact && fact !== "nothing yet" ? [row.text, value === state.value ? "new" : "", `  ⟵ ${fact}`] : [row.text, reached.has(b.number) ? "" : "old"];
    }),
  });
  graph.show(blocks);
  const home = new Map();
  for (const b of blocks) {
    for (const [value] of b.head.matchAll(/v\d+/g)) home.set(value, b.number);
    for (const row of b.rows) if (defined(row)) home.set(defined(row), b.number);
  }
  const cells = new Map(values.map((value) => [value, el("td")]));
  const rows = new Map(values.map((value) => [value, el("tr", null, el("td", null, value), el("td", null, name(home.get(value) ?? "?")), cells.get(value))]));
  const [edgeList, valueList, doneList] = [el("div"), el("div"), el("ul.events")];
  const say = ([kind, a, b, c]) => ({
    reach: () => `Control comes to ${name(a)} for the first time: all in it is evaluated.`,
    raise: () => `${a} was ${b}, and is ${c} now.`,
    "+value": () => `${a} goes on the worklist of values: what uses it is to be looked at.`,
    value: () => `${a} is taken from the worklist: what uses it is evaluated.`,
    "+edge": () => `The edge from ${name(a)} to ${name(target(a, b))} may be taken: on the worklist of edges.`,
    edge: () => `The edge from ${name(a)} to ${name(target(a, b))} is executable from now on.`,
    do: () => `Nothing rises any more. Done about it: ${a}.`,
  })[kind]();
  const made = makePlayer(events.length, (step) => {
    state = at(step);
    reached = new Set(state.reached);
    blocks.forEach(graph.write);
    graph.mark({ now: state.now == null ? [] : [state.now], off: blocks.map((b) => b.number).filter((b) => !reached.has(b)), changed: state.value ? [home.get(state.value)] : [] });
    const on = new Set(state.edges.map(([b, edge]) => b + ">" + target(b, edge)));
    const wait = new Set(state.edgeWork.map(([b, edge]) => b + ">" + target(b, edge)));
    graph.edges((from, to) => (on.has(from + ">" + to) ? "on" : wait.has(from + ">" + to) ? "wait" : "off"));
    if (state.now != null) graph.reveal(state.now);
    for (const [value, cell] of cells) {
      const fact = state.facts[value];
      const news = value === state.value && state.old != null;
      const shown = news ? [chip(state.old, "gone"), chip(fact, "new")] : [chip(fact)];
      if (cell.dataset.fact !== fact + news) { cell.replaceChildren(...shown); cell.dataset.fact = fact + news; }
      rows.get(value).classList.toggle("now", value === state.value);
    }
    edgeList.replaceChildren("edges ", ...chips(state.edgeWork.map(([b, edge]) => `${name(b)} → ${name(target(b, edge))}`), "wait"));
    valueList.replaceChildren("values ", ...chips(state.valueWork, "wait"));
    doneList.replaceChildren(...state.done.map((text) => el("li", null, el("code", null, text))));
    writeAddress(step);
    if (step === 0) return "Nothing has reached any value. Control begins at b0; facts only ever rise, towards “anything”.";
    return step === events.length ? [say(events[step - 1]) + " ", el("b", null, `Stable; ${state.done.length} decisions.`)] : say(events[step - 1]);
  });
  showPlayer(view, made, el("p.note", null, (ofLevel ? "The function as it comes to the pass. " : "The pass does not run at this level; this is what it would do at the end. ")
    + "Copies at the beginning of a block are names for what the branch before it has shown."),
    edgeList, valueList,
    el("div.split", null, el("div", null, graphBox(graph), legend(["accent", "executable edges"], ["edge", "not yet (dashed)"], ["glow", "a fact has risen here"])),
      el("div", null, el("div.scroll", { tabindex: 0, style: "max-height: 50vh" }, el("table.cells", null, el("tr", null, ["value", "in", "fact"].map((head) => el("th", null, head))), [...rows.values()])),
        el("h3", null, "Decisions"), doneList)));
  made.go(+rest[0] || 0);
}, (f) => f.sccp);
