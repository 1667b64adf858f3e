// Runs in the page, after it: works it as a person does, and compares what it shows with what the verbs
// print (EXPECTED, made by tests/explore.rs). What is wrong is told to the page around, if there is one,
// and written into the element `report`.

const wrong = [];
addEventListener("error", (event) => wrong.push("error: " + event.message));
const same = (what, shown, printed) => {
  if (shown !== printed) wrong.push(`${what}:\n--- shown\n${shown}\n--- printed\n${printed}`);
};
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const press = (key, on = document.body) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const pick = (label, value) => {
  const select = document.querySelector(`select[aria-label="${label}"]`);
  select.value = value;
  same(`choosing ${value} as ${label}`, select.value, String(value));
  select.dispatchEvent(new Event("change", { bubbles: true }));
};
const tab = (title) => {
  const found = all("#tabs button").find((button) => button.textContent === title);
  if (!found) { wrong.push("no view " + title); return false; }
  found.click();
  return true;
};
const count = () => document.querySelector(".count").textContent;
const said = () => document.querySelector(".say").textContent;
const atEnd = (what) => same(what + ": at the end", count().split(" ")[0], count().split(" ")[2]);
const fits = (what) => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) wrong.push(`${what}: ${scrollWidth} pixels wide in a window of ${clientWidth}`);
};
const code = (pane) => all(`[data-pane="${pane}"] .row`).map((row) => row.textContent);

/// The printed text of a function without its head, its variables, its end and remarks.
const body = (text) => text.split("\n").filter((line) => line && !/^(ssa )?fn |^\}|^ +var |^; after/.test(line)).join("\n");

function checkCode(expected) {
  if (!tab("Code")) return;
  same("source", all('[data-pane="source"] .row').map((row) => all("[data-column]", row).map((piece) => piece.textContent).join("").trimEnd()).join("\n").trim(), expected.source.split("\n").map((line) => line.trimEnd()).join("\n").trim());
  same("three-address code", code("cfg").join("\n"), body(expected.cfg));
  same("SSA", code("ssa").join("\n"), body(expected.opt));
  same("machine instructions", code("machine").join("\n"), expected.regalloc.trimEnd());
  pick("registers", "vcode");
  same("machine instructions as selected", code("machine").join("\n"), expected.vcode.trimEnd());
  const asm = all('[data-pane="asm"] .row').map((row) => (row.querySelector(".text") || row).textContent.trim());
  const printed = expected.asm.split("\n").filter((line) => line && !/^ *;/.test(line)).slice(1);
  same("assembly", asm.join("\n"), printed.map((line) => line.replace(/^ *[0-9a-f]+: +/, "").trim()).join("\n"));
  // A line and its relatives light up together, and stay lit by a click.
  const lines = all('[data-pane="cfg"] .row[data-place]');
  if (lines.length) {
    const line = lines[lines.length - 1];
    line.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    if (!line.classList.contains("lit")) wrong.push("a line is not lit");
    if (!document.querySelector('[data-pane="source"] .lit')) wrong.push("its source is not lit");
    line.click();
    if (!document.querySelector('[data-pane="source"] .kept')) wrong.push("its source is not kept lit");
    press("Escape");
    if (document.querySelector(".kept")) wrong.push("something is kept lit");
  }
  fits("code");
}

function checkPasses(expected) {
  if (!tab("Passes")) return;
  document.getElementById("whole").click();
  const shown = () => all(".diff .row:not(.del)").map((row) => row.textContent.slice(2)).join("\n");
  press("End");
  atEnd("passes");
  same("after all passes", shown(), body(expected.opt));
  press("Home");
  same("before all passes", shown(), body(expected.cfg));
  const steps = +count().split(" ")[2];
  for (let step = 1; step <= steps; step++) {
    press("ArrowRight");
    same("the slider", count(), `${step} of ${steps}`);
    if (!all(".graph g.node").length) wrong.push("no graph");
  }
  fits("passes");
}

function checkDominators(expected) {
  if (!tab("Dominators")) return;
  const solved = expected.analyze.find((problem) => problem.problem === "dominators");
  if (!solved) return;
  for (const { block, out } of solved.functions[0].blocks) {
    const row = all("tr").find((row) => row.firstChild.textContent === block);
    row.click();
    const above = all(".say .chip:not(.wait):not(.new)").map((chip) => chip.textContent);
    const sort = (names) => names.sort((a, b) => a.slice(1) - b.slice(1)).join(", ");
    same("dominators of " + block, sort([...above, block]), sort(out.slice(1, -1).split(", ")));
  }
  fits("dominators");
}

function checkDataflow(expected) {
  if (!tab("Dataflow")) return;
  for (const way of ["steps", "rounds"]) {
    for (const { problem, functions } of expected.analyze) {
      pick("problem", problem);
      pick("way", way);
      press("End");
      atEnd(problem);
      if (!said().includes(`Stable after ${functions[0].rounds} rounds`)) wrong.push(`${problem}: ${said()}`);
      const rows = new Map(all("table.facts tr").map((row) => [row.firstChild.textContent, row]));
      for (const block of functions[0].blocks) {
        const cells = [...rows.get(block.block).children].slice(-2);
        const shown = cells.map((cell) => all(".chip:not(.gone)", cell).map((chip) => chip.textContent).join(", "));
        const set = (text) => text.replace(/^\{(.*)\}$/, "$1");
        same(`${problem} (${way}): into ${block.block}`, shown[0], set(block.in));
        same(`${problem} (${way}): out of ${block.block}`, shown[1], set(block.out));
      }
    }
  }
  fits("dataflow");
}

function checkSsa(expected) {
  if (!tab("SSA")) return;
  const counts = all("table.counts tr").slice(1).map((row) => [...row.children].map((cell) => cell.textContent).join(" "));
  const printed = expected.ssa.functions[0].constructions.map((c) => [c.construction, c.params, c.dead, c.insts].join(" "));
  same("counts of constructions", counts.join("\n"), printed.join("\n"));
  for (const [construction, text] of Object.entries(expected.constructed)) {
    pick("construction", construction);
    press("End");
    atEnd(construction);
    if (!said().includes("Done: ")) wrong.push(`${construction}: ${said()}`);
    const phis = all("[data-phi]").map((row) => row.dataset.phi).sort();
    const params = [...text.matchAll(/^(b\d+)\(([^\n]*)\):$/gm)].filter((m) => m[1] !== "b0")
      .flatMap((m) => m[2].split(", ").map((param) => `${m[1]} ${param.split(":")[0]}`)).sort();
    same("φs of " + construction, phis.join("\n"), params.join("\n"));
  }
  fits("SSA");
}

function checkSccp(expected) {
  if (!tab("SCCP")) return;
  press("End");
  atEnd("SCCP");
  const rewrites = (expected.sccp.match(/; after sccp: (\d+) rewrites/) || [])[1];
  if (rewrites !== undefined) same("decisions", said().match(/(\d+) decisions/)?.[1], rewrites);
  if (document.querySelector(".wait.chip")) wrong.push("a worklist of SCCP is not empty");
  fits("SCCP");
}

function checkRegisters(number) {
  if (!tab("Registers")) return;
  press("End");
  atEnd("registers");
  const { operands, wrong: misplaced } = load(number).check();
  if (misplaced.length) wrong.push(`${misplaced.length} of ${operands} operands are elsewhere: ${misplaced.slice(0, 5).join("; ")}`);
  fits("registers");
}

addEventListener("load", () => {
  for (const [name, expected] of Object.entries(EXPECTED)) {
    const number = DATA.functions.indexOf(name);
    pick("function", number);
    same("chosen function", decodeURIComponent(location.hash.slice(1)).split("/")[0], name);
    try {
      checkCode(expected);
      checkPasses(expected);
      checkDominators(expected);
      checkDataflow(expected);
      checkSsa(expected);
      checkSccp(expected);
      checkRegisters(number);
    } catch (error) {
      wrong.push(String(error.stack));
    }
  }
  const report = wrong.length ? wrong.join("\n\n") : "all is well";
  parent.postMessage(report, "*");
  document.body.append(Object.assign(document.createElement("pre"), { id: "report", textContent: report }));
});
