// Where a run was hot, if a profile of one is there: a number before a line, and a bar behind it.

const HEAT_KINDS = 5;

/// A count in few letters.
function brief(count) {
  for (const [unit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (count >= 10 * unit) return Math.floor(count / unit) + letter;
    if (count >= unit && unit > 1e3) return (Math.floor(count / unit * 10) / 10) + letter;
  }
  return String(count);
}

const times = (count) => `ran ${count.toLocaleString("en")} time${count === 1 ? "" : "s"}`;

/// How hot a count is beside the greatest one, from 0 to 1. Roots, since counts differ by magnitudes.
const warmth = (count, most) => (count && most ? Math.sqrt(count / most) : 0);

/// The greatest of counts, some of which are null.
const greatest = (counts) => counts.reduce((most, count) => Math.max(most, count || 0), 0);

/// What stands before a line: nothing where no profile is there, else a count or room for one.
function heatCell(count, most, text, help) {
  if (!DATA.heat) return null;
  if (count == null) return el("span.heat");
  return el("span.heat" + (count ? "" : ".never"), {
    "data-count": count, "data-tip": help, style: `--heat-of: ${(100 * warmth(count, most)).toFixed(1)}%`,
  }, text);
}

/// The cells of lines of code, by their counts.
function heatColumn(counts) {
  if (!counts) return () => null;
  const most = greatest(counts);
  return (i) => (counts[i] == null ? heatCell(null) : heatCell(counts[i], most, brief(counts[i]), times(counts[i])));
}

/// The cells of a file's lines: the share of all machine instructions that ran.
function heatOfLines(file) {
  if (!DATA.heat) return () => null;
  const lines = new Map(DATA.heat.lines[file]);
  const most = greatest(DATA.heat.lines.flatMap((lines) => lines.map(([, count]) => count)));
  return (line) => {
    const count = lines.get(line);
    if (count == null) return heatCell(null);
    const share = 100 * count / (DATA.heat.total || 1);
    const text = count && share < 0.1 ? "<.1%" : share >= 99.95 ? "100%" : share.toFixed(1) + "%";
    return heatCell(count, most, text, `${count.toLocaleString("en")} machine instructions that come from this line ran: ${text.replace("<", "less than ")} of all`);
  };
}

/// Blocks of a graph by how hot they are.
function heatOfBlocks(f) {
  if (!f.heat) return null;
  const counts = new Map(f.heat.blocks);
  const most = greatest([...counts.values()]);
  const kind = (count) => (count ? "heat" + Math.max(1, Math.ceil(HEAT_KINDS * warmth(count, most))) : "cold");
  return { count: (number) => counts.get(number), kind };
}

function heatLegend() {
  const kinds = Array.from({ length: HEAT_KINDS }, (_, i) => el("i.heat" + (i + 1)));
  return el("p.legend.warm", null, el("span", null, "After the last pass: how often each block ran, ", kinds, "from seldom to often"));
}
