// The allocation of registers: live intervals against the instructions, registers as lanes.

const HUES = [210, 30, 130, 280, 0, 175, 60, 320, 100, 240, 15, 155];
const colour = (vreg) => `hsl(${HUES[+vreg.slice(1) % HUES.length]} 58% 55%)`;

function allocationStep(state, [kind, ...rest]) {
  state.piece = null;
  state.slotted = null;
  const pieces = state.pieces;
  if (kind === "take") state.piece = rest[0];
  else if (kind === "assign") { pieces[rest[0]].home = rest[1]; pieces[rest[0]].why = rest.slice(2); state.piece = rest[0]; }
  else if (kind === "split") {
    const [piece, end, other, start] = rest;
    pieces[other] = { ...pieces[piece], start, home: null, why: null };
    pieces[piece].end = end;
    state.piece = piece;
  } else if (kind === "spill") { pieces[rest[0]].home = "slot"; pieces[rest[0]].why = [rest[1]]; state.piece = rest[0]; }
  else if (kind === "evict") { if (rest[2] == null) pieces[rest[0]].home = null; state.piece = rest[0]; }
  else if (kind === "slot") { state.slots[rest[0]] = rest[1]; state.slotted = rest[0]; }
  else if (kind === "copies") { state.copies = { at: rest[0], copies: rest[1], done: [] }; }
  else if (kind === "done") { state.copies.done.push([rest[0], rest[1]]); }
}

const moment = (position) => `${position >> 2}${["", " early", " late", " after"][position & 3]}`;

function allocationSay(state, [kind, ...rest], ranges) {
  const who = (piece) => `${ranges[state.pieces[piece].vreg].name}`;
  const life = (piece) => `[${moment(state.pieces[piece].start)}, ${moment(state.pieces[piece].end)})`;
  if (kind === "take") return `${who(rest[0])} ${life(rest[0])}: its turn.`;
  if (kind === "assign") {
    const [piece, reg, why, n, score] = rest;
    const hint = score > 0 ? ` It is a hint: moves of weight ${+score.toFixed(2)} vanish.` : "";
    const reason = why === "free" ? (n == null ? "it stays free for all of it." : state.pieces[piece].end <= n ? "it is free for all of it." : `it is free until ${moment(n)}.`) + hint
      : why === "taken" ? (n > 1e15 ? "nothing is in it that is used again." : `what is in it is needed last, about ${n.toLocaleString("en")} instructions from here.`) : "no other register will do for this instruction.";
    return `${who(piece)} gets ${reg}: ${reason}`;
  }
  if (kind === "split") return `${who(rest[0])} is split at ${moment(rest[1])}: the rest begins at ${moment(rest[3])} and comes again.`;
  if (kind === "spill") return `${who(rest[0])} goes to its slot for ${life(rest[0])}: ${rest[1]}.`;
  if (kind === "evict") return `${who(rest[0])} loses ${rest[1]}` + (rest[2] == null ? "." : ` from ${moment(rest[2])} on.`);
  if (kind === "slot") return `What is spilled of ${rest[0]} is in ${rest[1]}: no other value needs it meanwhile.`;
  if (kind === "copies") return `All at once, ${where(rest[0])}: ${rest[1].map(([to, from]) => `${to} ← ${from}`).join(", ")}.`;
  const why = { copy: "nobody needs what was there.", cycle: "only a cycle is left: one of its places is saved in the scratch register.", through: "from slot to slot it goes through a register.", made: "a constant is made again." };
  return `${rest[0]}: ${why[rest[1]]}`;
}

const where = (at) => (at[0] === "edge" ? `on the edge from ${at[1]} to ${at[2]}` : `${at[0]} instruction ${at[1]}`);

addView("registers", "Registers", (f, view, rest) => {
  const { registers, insts, operands, events: all } = f.allocation;
  const given = all.filter(([kind]) => kind === "interval");
  const events = all.filter(([kind]) => kind !== "interval");
  const ranges = given.map(([, , vreg, ranges, uses]) => ({ name: vreg, ranges, uses }));
  const pieces = Object.fromEntries(given.map(([, piece, , ranges], i) => [piece, { vreg: i, start: ranges[0][0], end: ranges[ranges.length - 1][1], home: null, why: null }]));
  const at = makeStates(events, { pieces, piece: null, slots: {}, copies: null }, allocationStep);

  // A row for each instruction, with its block's head where one begins.
  const LINE = 15;
  const heads = new Map();
  const texts = new Array(insts).fill("");
  let head = "";
  for (const [text, , kind, of] of f.machine.vcode) {
    if (kind === "b") head = f.texts[text];
    if (kind === "i") { texts[of] = f.texts[text].trim(); if (head) heads.set(of, head); head = ""; }
  }
  const tops = [];
  let y = 34;
  for (let i = 0; i < insts; i++) { if (heads.has(i)) y += LINE; tops.push(y); y += LINE; }
  tops.push(y);
  const yOf = (position) => {
    const i = Math.min(position >> 2, insts);
    return i >= insts ? tops[insts] : tops[i] + ((position & 3) / 4) * LINE;
  };
  const used = registers.filter((reg) => all.some(([kind, , r]) => (kind === "assign" || kind === "evict") && r === reg));
  const slots = [...new Set(events.filter(([kind]) => kind === "slot").map(([, , slot]) => slot))].sort((a, b) => a.slice(4) - b.slice(4));
  const lanes = [...used, ...slots];
  // Where a piece is: its register, its slot as soon as there is one, or null.
  const laneOf = (state, piece) => (piece.home === "slot" ? state.slots[ranges[piece.vreg].name] : piece.home);
  const [TEXT, THIN, WIDE] = [Math.min(innerWidth < 700 ? 150 : 300, 20 + Math.max(...texts.map((text) => Math.min(text.length, 40)), 0) * 6.7), 9, 38];
  const letters = Math.floor(TEXT / 6.7) - 6;
  const laneX = TEXT + ranges.length * THIN + 24;
  const width = laneX + lanes.length * WIDE + 8;
  const svg = el("svg.lanes", { width, height: y + 8, viewBox: `0 0 ${width} ${y + 8}`, role: "img", "aria-label": "live intervals and registers" });
  const base = el("g");
  const bars = el("g");
  svg.append(base, bars);
  lanes.forEach((lane, i) => {
    base.append(el("rect.lane" + (i % 2 ? ".odd" : ""), { x: laneX + i * WIDE, y: 18, width: WIDE, height: y - 18 }),
      el("text", { x: laneX + i * WIDE + 3, y: 12 }, lane));
  });
  base.append(el("text.dim", { x: 4, y: 12 }, "instruction"), el("text.dim", { x: TEXT, y: 12 }, ranges.length > 9 ? "intervals" : ""));
  for (let i = 0; i < insts; i++) {
    if (heads.has(i)) base.append(el("line.rule", { x1: 0, x2: width, y1: tops[i] - LINE + 1, y2: tops[i] - LINE + 1 }), el("text.dim", { x: 4, y: tops[i] - 4 }, cut(heads.get(i))));
    base.append(el("text", { x: 4, y: tops[i] + 11 }, `${String(i).padStart(3)} ${texts[i].length > letters ? texts[i].slice(0, letters - 1) + "…" : texts[i]}`));
  }
  const pending = el("g");
  bars.append(pending);
  ranges.forEach(({ name, uses }, i) => {
    const x = TEXT + i * THIN;
    uses.forEach(([position, register]) => bars.append(el("circle", { cx: x + 3.5, cy: yOf(position), r: register ? 2.2 : 1.4, fill: "var(--ink)" }, el("title", null, `${name} is used at ${moment(position)}` + (register ? " in a register" : "")))));
  });

  /// The stretches of a piece.
  const stretches = (piece) => ranges[piece.vreg].ranges.map(([s, e]) => [Math.max(s, piece.start), Math.min(e, piece.end)]).filter(([s, e]) => s < e);
  const drawn = new Map();
  function drawPiece(id, piece, current, at) {
    const key = [piece.start, piece.end, piece.home, at, current].join();
    if (drawn.has(id) && drawn.get(id).key === key) return;
    if (drawn.has(id)) drawn.get(id).group.remove();
    const group = el("g", null, el("title", null, `${ranges[piece.vreg].name} [${moment(piece.start)}, ${moment(piece.end)}) ${piece.home || "no home yet"}`));
    const kind = (piece.home ? (piece.home === "slot" ? ".spilled" : "") : ".pending") + (current ? ".current" : "");
    const fill = colour(ranges[piece.vreg].name);
    for (const [s, e] of stretches(piece)) {
      const [top, bottom] = [yOf(s), yOf(e)];
      group.append(el("rect.piece" + kind, { x: TEXT + piece.vreg * THIN, y: top, width: THIN - 2, height: Math.max(2, bottom - top), fill }));
      const lane = lanes.indexOf(at);
      if (lane < 0) continue;
      group.append(el("rect.piece" + kind, { x: laneX + lane * WIDE + 2, y: top, width: WIDE - 4, height: Math.max(2, bottom - top), rx: 2, fill }));
      if (bottom - top >= 10) group.append(el("text", { x: laneX + lane * WIDE + 5, y: top + 10, style: "pointer-events: none" }, ranges[piece.vreg].name));
    }
    pending.append(group);
    drawn.set(id, { key, group });
  }

  const copies = el("div");
  const made = makePlayer(events.length, (step) => {
    const state = at(step);
    for (const [id, { group }] of drawn) if (!state.pieces[id]) { group.remove(); drawn.delete(id); }
    for (const [id, piece] of Object.entries(state.pieces)) drawPiece(id, piece, +id === state.piece || (piece.home === "slot" && ranges[piece.vreg].name === state.slotted), laneOf(state, piece));
    const event = events[step - 1];
    const now = state.pieces[state.piece];
    if (now && box.clientHeight) {
      const top = yOf(now.start) * (svg.getBoundingClientRect().height / (y + 8) || 1);
      if (top < box.scrollTop + 30 || top > box.scrollTop + box.clientHeight - 30) box.scrollTop = top - box.clientHeight / 3;
    }
    copies.replaceChildren(...copyView(state.copies));
    writeAddress(step);
    if (!event) return "Pieces are taken in the order in which they begin; each gets a register that is free, or the one needed last, or its slot.";
    const said = allocationSay(state, event, ranges);
    return step === events.length ? [said + " ", el("b", null, `Done: ${Object.values(state.pieces).length} pieces of ${ranges.length} values; a frame of ${f.machine.frame} bytes.`)] : said;
  });
  function copyView(copies) {
    if (!copies) return [el("p.note", null, "Slots and copies come after all pieces have homes.")];
    return [el("h3", null, `Copies at once, ${where(copies.at)}`), el("div", null, chips(copies.copies.map(([to, from]) => `${to} ← ${from}`))),
      el("h3", null, "In sequence"), el("ol", null, copies.done.map(([text, why]) => el("li", null, el("code", null, text), " ", why === "copy" ? "" : chip({ cycle: "opens a cycle", through: "on the way", made: "made again" }[why], "new"))))];
  }
  /// Whether each operand is where its value is said to be at the end (for tests of the page).
  f.check = () => {
    const state = at(events.length);
    const wrong = operands.filter(([position, vreg, place]) => {
      const home = Object.values(state.pieces).find((piece) => ranges[piece.vreg].name === vreg && stretches(piece).some(([s, e]) => s <= position && position < e));
      return !home || place !== laneOf(state, home);
    });
    return { operands: operands.length, wrong };
  };
  const box = el("div.scroll", { tabindex: 0, role: "region", "aria-label": "intervals" }, svg);
  showPlayer(view, made, el("div.split.wide", null,
    el("div", null, box, el("p.note", null, "A thin bar for each value in the middle, with its holes and uses; lanes of registers at the right. Pale: not decided yet; dashed: spilled; slots are given out when all pieces have homes. An instruction reads early and writes late.")), copies));
  made.go(+rest[0] || 0);
}, (f) => f.allocation);
