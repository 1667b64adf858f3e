// Runs in a page with a profile, after it: tells what it shows of the heat, for tests/explore.rs to
// compare.

addEventListener("load", () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const tab = (title) => all("#tabs button").find((button) => button.textContent === title).click();
  const fits = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  const count = (cell) => (cell && cell.dataset.count ? +cell.dataset.count : null);
  const shown = {};
  tab("Code");
  const lines = all('[data-pane="source"] .row').map((row) => [+row.dataset.line, row.querySelector(".heat")]);
  shown.lines = lines.filter(([, cell]) => count(cell) != null).map(([line, cell]) => [line, count(cell)]);
  const width = ([, cell]) => parseFloat(cell.style.getPropertyValue("--heat-of")) || 0;
  shown.hottest = lines.reduce((hot, line) => (width(line) > width(hot) ? line : hot))[0];
  shown.asm = all('[data-pane="asm"] .row .no').map((no) => count(no.parentNode.querySelector(".heat")));
  shown.allocated = all('[data-pane="machine"] .row').map((row) => count(row.querySelector(".heat")));
  // The exact count is told where one points at it.
  const hot = all('[data-pane="asm"] .heat').find((cell) => count(cell) > 1000);
  hot.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
  shown.tip = [count(hot), document.getElementById("tip").textContent];
  const fitting = [fits()];
  tab("Passes");
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }));
  const node = (group) => [group.querySelector(".head").textContent, group.dataset.tip, [...group.classList].find((kind) => /^heat|^cold/.test(kind))];
  shown.blocks = all(".graph g.node[data-tip]").map(node);
  fitting.push(fits());
  shown.fits = fitting.every(Boolean);
  const report = JSON.stringify(shown);
  if (parent !== window) parent.postMessage(report, "*");
  document.body.append(Object.assign(document.createElement("pre"), { id: "report", textContent: report }));
});
