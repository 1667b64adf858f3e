// The constructions of SSA form, step by step and side by side.

/// What all events of a construction do to what is shown.
function ssaStep(state, event) {
  const [kind, ...rest] = event;
  state.now = state.now ?? null;
  state.changed = [];
  const live = (value) => state.phis.find((phi) => phi.value === value);
  const lines = {
    fill: ([b]) => { state.status[b] = "filling"; state.now = b; },
    inst: ([b, place, text, folded]) => { state.lines[b] ??= {}; state.lines[b][place] = { text, folded }; state.now = b; },
    end: ([b, text]) => { state.lines[b] ??= {}; state.lines[b].end = { text }; state.filled[b] = true; state.now = b; },
    def: ([x, b, value]) => { state.defs[x] ??= {}; state.defs[x][b] = value; },
    found: ([x, b, value]) => { state.defs[x] ??= {}; state.defs[x][b] = value; },
    seal: ([b]) => { state.sealed[b] = true; state.now = b; },
    mark: ([x, b]) => { state.marks.push([x, b]); state.now = b; },
    agree: ([x, b, value]) => { state.marks = state.marks.filter(([y, c]) => x !== y || b !== c); state.defs[x] ??= {}; state.defs[x][b] = value; },
    phi: ([x, b, value, incomplete]) => {
      state.phis.push({ variable: x, block: b, value, operands: null, incomplete: !!incomplete, same: null });
      state.marks = state.marks.filter(([y, c]) => x !== y || b !== c);
      state.defs[x] ??= {}; state.defs[x][b] = value; state.changed = [b];
    },
    operands: ([value, operands]) => { const phi = live(value); if (phi) { phi.operands = operands; phi.incomplete = false; state.changed = [phi.block]; } },
    trivial: ([value, same]) => { const phi = live(value); if (phi) { phi.same = same; state.changed = [phi.block]; } },
    place: ([x, assigned]) => { state.variable = x; state.work = assigned.slice(); state.placed[x] = []; },
    look: ([x, b]) => { state.work.splice(state.work.lastIndexOf(b), 1); state.now = b; },
    join: ([x, b, needed]) => { state.work.push(b); if (needed) { state.placed[x].push(b); (state.wanted[b] ??= []).push(x); } state.changed = [b]; },
    enter: ([b]) => { state.path.push(b); state.now = b; state.variable = null; state.pushing = (state.wanted[b] || []).slice(); },
    leave: ([b]) => { state.path.pop(); state.now = b; },
    push: ([x, value]) => {
      (state.stacks[x] ??= []).push(value);
      const b = state.path[state.path.length - 1];
      if (state.pushing[0] === x) { state.pushing.shift(); state.phis.push({ variable: x, block: b, value, operands: [], same: null }); state.changed = [b]; }
    },
    pop: ([x]) => { state.stacks[x].pop(); },
    arg: ([from, to, x, value]) => { const phi = state.phis.find((phi) => phi.block === to && phi.variable === x); (state.args[to + x] ??= []).push(`${value} from ${name(from)}`); if (phi) phi.operands = state.args[to + x]; state.changed = [to]; },
  };
  lines[kind](rest);
}

const ssaStart = () => ({ status: {}, filled: {}, sealed: { 0: true }, lines: {}, defs: {}, phis: [], marks: [], now: null, changed: [],
  variable: null, work: [], placed: {}, wanted: {}, path: [], stacks: {}, args: {}, pushing: [] });

/// What is said of an event.
function ssaSay(f, [kind, ...rest]) {
  const say = {
    fill: ([b]) => `${name(b)} is filled: its instructions are renamed in their order.`,
    inst: ([b, , text, folded]) => `In ${name(b)}: ${f.texts[text]}` + (folded ? ` — ${folded} does for it.` : ""),
    end: ([b, text]) => `${name(b)} is filled; it ends: ${f.texts[text]}`,
    def: ([x, b, value]) => `${x} is ${value} in ${name(b)} from here on.`,
    found: ([x, b, value]) => `The search for ${x} came through ${name(b)}: it is ${value} there, which is noted.`,
    seal: ([b]) => `${name(b)} is sealed: all its predecessors are filled, and its incomplete φs get their operands.`,
    mark: ([x, b]) => `Looking for ${x}: ${name(b)} is a join. It is marked, and its predecessors are asked.`,
    agree: ([x, b, value]) => `All predecessors of ${name(b)} say that ${x} is ${value}: no φ is needed.`,
    phi: ([x, b, value, incomplete]) => incomplete ? `${name(b)} is not sealed: ${value} is a φ of ${x} without operands, until it is.`
      : `${value} is a φ of ${x} in ${name(b)}: its predecessors differ, or the search came back to the mark.`,
    operands: ([value, operands]) => `The φ ${value} gets its operands: ${operands.join(", ")}.`,
    trivial: ([value, same]) => `The φ ${value} is trivial: its operands are itself and ${same}, which takes its place.`,
    place: ([x, assigned]) => `${x} is assigned in ${assigned.map(name).join(", ") || "no block"}: these are the worklist for the iterated frontier.`,
    look: ([x, b]) => `${name(b)} is taken: where does its dominance end?`,
    join: ([x, b, needed]) => `${name(b)} is in the frontier: ` + (needed ? `a φ of ${x} goes there, which is an assignment: on the worklist.` : `${x} is not live there, so no φ; it goes on the worklist all the same.`),
    enter: ([b]) => `The walk over the dominator tree enters ${name(b)}.`,
    leave: ([b]) => `The walk leaves ${name(b)}: the versions that it pushed go.`,
    push: ([x, value]) => `${value} is the version of ${x} now: on its stack.`,
    pop: ([x, below]) => `The stack of ${x} goes back to ${below ?? "nothing"}.`,
    arg: ([from, to, x, value]) => `On the way from ${name(from)} to ${name(to)}, the φ of ${x} gets ${value}.`,
  };
  return say[kind](rest);
}

addView("ssa", "SSA", (f, view, rest) => {
  const players = f.ssa.filter((c) => c.events);
  const which = el("select", { "aria-label": "construction", onchange: draw }, players.map((c) => el("option", { value: c.name }, c.name)));
  const body = el("div");
  view.append(el("div.bar", null, "construction", which, el("span.note", null, "of the variable form, nothing folded")), body, sideBySide());
  if (players.some((c) => c.name === rest[0])) which.value = rest[0];
  let first = +rest[1] || 0;
  draw();

  function draw() {
    if (player) player.stop();
    const c = players.find((c) => c.name === which.value);
    if (!c) { body.replaceChildren(el("p.note", null, "The events of this function are too many to be shown.")); return; }
    const braun = c.name.startsWith("braun");
    const blocks = blocksOf(f, f.stages[0].blocks);
    let state = ssaStart();
    const at = makeStates(c.events, ssaStart(), ssaStep);
    const graph = drawGraph(f.variableLayout, { lines });
    graph.show(blocks);
    function lines(b) {
      const made = state.lines[b.number] || {};
      const phis = state.phis.filter((phi) => phi.block === b.number);
      return [
        ...phis.map((phi) => [`${phi.value} = φ ${phi.variable}` + (phi.same != null ? ` → ${phi.same}` : phi.operands ? `(${phi.operands.map((o) => o.split(" ")[0]).join(", ")})` : " …"), phi.same != null ? "old" : "new"]),
        ...b.rows.map((row, i) => {
          const now = i === b.rows.length - 1 ? made.end : made[i];
          return now ? [now.folded ? "(" + f.texts[now.text] + ")" : f.texts[now.text], now.folded ? "old" : ""] : [row.text, "old"];
        }),
      ];
    }
    const side = el("div");
    const made = makePlayer(c.events.length, (step) => {
      state = at(step);
      blocks.forEach(graph.write);
      const keys = (of) => Object.keys(of).map(Number);
      graph.mark(braun
        ? { now: state.now == null ? [] : [state.now], changed: state.changed, done: keys(state.sealed), waiting: keys(state.filled) }
        : { now: state.now == null ? [] : [state.now], changed: state.changed, done: state.path, waiting: state.work });
      if (state.now != null) graph.reveal(state.now);
      side.replaceChildren(...(braun ? braunSide(state) : cytronSide(state)));
      writeAddress(c.name, step);
      const event = c.events[step - 1];
      if (!event) return braun ? "Blocks are filled in reverse postorder; a block is sealed once all its predecessors are filled." : "First φs are placed, variable by variable; then a walk over the dominator tree renames.";
      return step === c.events.length ? [ssaSay(f, event) + " ", el("b", null, `Done: ${c.params} parameters, ${c.dead} of them dead.`)] : ssaSay(f, event);
    });
    body.replaceChildren(made.bar, made.say, el("div.split", null,
      el("div", null, graphBox(graph), braun
        ? legend(["accent", "now (border)"], ["glow", "φ changed"], ["wait", "filled"], ["reg", "sealed (border)"])
        : legend(["accent", "now (border)"], ["glow", "φ placed"], ["wait", "on the worklist"], ["reg", "on the path of the walk (border)"])), side));
    made.go(first);
    first = 0;
  }

  function braunSide(state) {
    const b = state.now;
    const defs = b == null ? [] : Object.entries(state.defs).filter(([, blocks]) => blocks[b] !== undefined).map(([x, blocks]) => `${x} = ${blocks[b]}`);
    return [el("h3", null, b == null ? "Definitions" : `Definitions known in ${name(b)}`), el("div", null, chips(defs)),
      el("h3", null, "Joins asked"), el("div", null, chips(state.marks.map(([x, b]) => `${x} in ${name(b)}`), "wait")), phiTable(state)];
  }

  function cytronSide(state) {
    const stacks = Object.entries(state.stacks).filter(([, stack]) => stack.length);
    return [el("h3", null, state.variable ? `Worklist of ${state.variable}` : "Worklist"), el("div", null, chips(state.work.map(name), "wait")),
      el("h3", null, "Path in the dominator tree"), el("div", null, chips(state.path.map(name))),
      el("h3", null, "Stacks, the top at the right"),
      el("table", null, stacks.map(([x, stack]) => el("tr", null, el("td", null, el("code", null, x)), el("td", null, chips(stack))))),
      state.phis.length ? phiTable(state) : el("div", null, el("h3", null, "φs placed"), el("table", null, Object.entries(state.placed).filter(([, blocks]) => blocks.length).map(([x, blocks]) => el("tr", null, el("td", null, el("code", null, x)), el("td", null, chips(blocks.map(name)))))))];
  }

  function phiTable(state) {
    const of = (phi) => phi.same != null ? `trivial: ${phi.same}` : phi.incomplete ? "incomplete" : (phi.operands || []).join(", ");
    const live = state.phis.filter((phi) => phi.same == null).length;
    return el("div", null, el("h3", null, `φs: ${live}` + (live < state.phis.length ? `, ${state.phis.length - live} removed` : "")),
      el("div.scroll", { style: "max-height: 320px", tabindex: 0 }, el("table.phis", null, el("tr", null, ["φ", "of", "in", "operands"].map((head) => el("th", null, head))),
        state.phis.map((phi) => el("tr", { "data-phi": phi.same == null ? `b${phi.block} ${phi.value}` : null }, el("td", null, phi.value), el("td", null, phi.variable), el("td", null, name(phi.block)), el("td", null, of(phi)))))));
  }

  function sideBySide() {
    const rows = f.ssa.map((c) => el("tr", null, el("td", null, c.name), el("td.number", null, String(c.params)), el("td.number", null, String(c.dead)), el("td.number", null, String(c.insts))));
    return el("section", null, el("h2", null, "Side by side"),
      el("table.counts", null, el("tr", null, ["construction", "parameters", "of them dead", "instructions"].map((head) => el("th", null, head))), rows),
      el("div.columns", null, f.ssa.filter((c) => c.name !== "braun+gvn").map((c) => el("div", null, el("h3", null, c.name), late(() => blockRows(f, c.blocks))))));
  }
}, (f) => f.ssa && f.variableLayout);
