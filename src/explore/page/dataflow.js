// A dataflow problem on its way to the solution: with a worklist, as the compiler solves it, or round by
// round, as one does it by hand.

addView("dataflow", "Dataflow", (f, view, rest) => {
  const problems = f.dataflow;
  const problem = el("select", { "aria-label": "problem", onchange: draw }, problems.map((p) => el("option", { value: p.name }, p.name)));
  const way = el("select", { "aria-label": "way", onchange: draw }, el("option", { value: "steps" }, "worklist"), el("option", { value: "rounds" }, "round by round"));
  const about = el("span.note");
  const body = el("div");
  view.append(el("div.bar", null, "problem", problem, way, about), body);
  if (problems.some((p) => p.name === rest[0])) problem.value = rest[0];
  if (rest[1] === "rounds") way.value = "rounds";
  let first = +rest[2] || 0;
  draw();

  function draw() {
    if (player) player.stop();
    const p = problems.find((p) => p.name === problem.value);
    const rounds = way.value === "rounds";
    about.textContent = `${p.about} (${p.how})`;
    const forward = p.how.startsWith("forward");
    const events = rounds
      ? p.rounds.flatMap((visits, round) => visits.map(([b, before, after, changed], i) => ({ round: round + 1, last: i === visits.length - 1, b, before, after, news: !!changed })))
      : p.steps.map(([b, before, after, changed]) => ({ b, before, after, changed }));
    const order = p.blocks.map(([b]) => b);
    // The worklist begins with all blocks, in the order of the flow.
    const flow = forward ? order : order.slice().reverse();
    const place = new Map(flow.map((b, i) => [b, i]));
    const initial = { input: {}, output: {}, waiting: rounds ? [] : flow, was: {} };
    const at = makeStates(events, initial, (state, event) => {
      state.was = { b: event.b, input: state.input[event.b], output: state.output[event.b] };
      state.input[event.b] = event.before;
      state.output[event.b] = event.after;
      const on = new Set([...state.waiting.filter((b) => b !== event.b), ...(event.changed || []).map(([b]) => b)]);
      state.waiting = [...on].sort((a, b) => place.get(a) - place.get(b));
      // What has come in at the neighbours is known there at once.
      for (const [b, known] of event.changed || []) (forward ? state.input : state.output)[b] = known;
    });

    const blocks = blocksOf(f, f.stages[0].blocks);
    const of = new Map(blocks.map((b) => [b.number, b]));
    const graph = drawGraph(f.variableLayout, { pick: (b) => rows.get(b) && rows.get(b).scrollIntoView({ block: "nearest" }) });
    graph.show(blocks);

    const facts = (state, before) => {
      const known = p.states[state];
      if (state == null) return [el("span.note", null, "not visited")];
      if (!Array.isArray(known)) return [chip(known, before != null && before !== state ? "new" : "")];
      const old = Array.isArray(p.states[before]) ? p.states[before] : null;
      const kind = (fact) => (old && !old.includes(fact) ? "new" : "");
      const gone = old ? old.filter((fact) => !known.includes(fact)) : [];
      // What is new comes first, where not all is shown.
      const news = known.length > MANY ? (a, b) => (kind(a) === "new" ? 0 : 1) - (kind(b) === "new" ? 0 : 1) : null;
      const all = [...(news ? [...known].sort(news) : known).map((fact) => () => factChip(fact, kind(fact))), ...gone.map((fact) => () => factChip(fact, "gone"))];
      return all.length ? few(all) : [el("span.note", null, "{}")];
    };
    // A cell is written anew only where it shows something else.
    const put = (cell, state, before) => {
      const key = `${state} ${before}`;
      if (cell.dataset.key === key) return;
      cell.dataset.key = key;
      cell.replaceChildren(...facts(state, before));
    };
    const meaning = new Map(p.legend);
    const factChip = (fact, kind) => {
      const made = chip(p.facts[fact], kind);
      const help = meaning.get(p.facts[fact]);
      if (help) made.setAttribute("data-help", p.facts[fact] + ": " + help);
      return made;
    };
    const plain = (state) => (state == null ? "" : Array.isArray(p.states[state]) ? (p.states[state].length ? few(p.states[state].map((fact) => () => factChip(fact))) : [el("span.note", null, "{}")]) : p.states[state]);
    const cells = new Map();
    const rows = new Map(p.blocks.map(([b, added, killed]) => {
      const [input, output] = [el("td"), el("td")];
      cells.set(b, { input, output });
      const sets = added == null ? [] : [el("td", null, plain(added)), el("td", null, plain(killed))];
      return [b, el("tr", null, el("td", null, name(b)), sets, input, output)];
    }));
    const heads = ["block", ...(p.blocks[0] && p.blocks[0][1] != null ? ["gen", "kill"] : []), "in", "out"];
    const table = el("table.facts", null, el("tr", null, heads.map((head) => el("th", null, head))), [...rows.values()]);
    const list = el("div");
    const AROUND = 40;
    const hidden = el("p.note", null, `Of ${order.length} blocks those around the one visited are listed.`);

    const total = p.rounds.length;
    const made = makePlayer(events.length, (step) => {
      const state = at(step);
      const event = events[step - 1];
      // Of many blocks those around the one at hand are shown.
      const middle = event && step < events.length ? order.indexOf(event.b) : order.length / 2;
      const shown = (b, i) => order.length <= 2 * AROUND || Math.abs(i - middle) <= AROUND || (event && event.b === b);
      hidden.hidden = order.length <= 2 * AROUND;
      for (const [i, b] of order.entries()) {
        const { input, output } = cells.get(b);
        rows.get(b).hidden = !shown(b, i);
        if (rows.get(b).hidden) continue;
        const now = event && event.b === b;
        const moved = event && (event.changed || []).some(([other]) => other === b);
        put(input, state.input[b], now ? state.was.input : null);
        put(output, state.output[b], now ? state.was.output : null);
        const kind = now ? "now" : moved ? "moved" : "";
        if (rows.get(b).className !== kind) rows.get(b).className = kind;
      }
      const waiting = state.waiting;
      list.replaceChildren(...(rounds ? [] : ["worklist ", ...chips(waiting.map(name), "wait")]));
      const changed = event ? (event.changed ? event.changed.map(([b]) => b) : event.news ? [event.b] : []) : [];
      graph.mark({ now: event ? [event.b] : [], changed: changed.filter((b) => !event || b !== event.b || rounds), waiting: rounds ? [] : waiting });
      if (event) graph.reveal(event.b);
      writeAddress(p.name, way.value, step);
      const stable = `Stable after ${total} rounds` + (rounds ? "." : `, or ${events.length} visits with the worklist.`);
      if (!event) return rounds ? `Every block is visited in every round, ${forward ? "in reverse postorder" : "in postorder"}, until a round changes nothing.`
        : `All blocks are on the worklist, ${forward ? "the entry first" : "the exits first"}. The first is taken, again and again, until none is left.`;
      const what = rounds
        ? `Round ${event.round}: ${name(event.b)} ${event.news ? "gives something new." : "gives nothing new."}`
        : `${name(event.b)} is taken. ` + (changed.length ? `Something new comes to ${changed.map(name).join(", ")}: on the worklist.` : "Nothing new comes out.");
      return step === events.length ? [what + " ", el("b", null, stable)] : what;
    });
    body.replaceChildren(made.bar, made.say, list, el("div.split", null,
      el("div", null, graphBox(graph), legend(["accent", "visited now (border)"], ["glow", "changed in this step"], ["wait", "on the worklist"])),
      el("div", null, el("div.scroll", { tabindex: 0 }, table), hidden,
        p.legend.length ? el("details", null, el("summary", null, "facts"), el("table", null, p.legend.map(([name, is]) => el("tr", null, el("td", null, name), el("td", null, el("code", null, is)))))) : null)));
    made.go(first);
    first = 0;
  }
}, (f) => f.dataflow && f.dataflow.length && f.variableLayout);
