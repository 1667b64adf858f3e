//! A function at one stage: its blocks with their lines, and what is known of its graph.

use super::layout::{Node, draw};
use super::tables::{Tables, number};
use crate::analysis::frontier::Frontier;
use crate::analysis::nesting::Nesting;
use crate::entity::SideTable;
use crate::ir::print::Printer;
use crate::ir::{Block, Cfg, Dominators, Function};
use serde_json::{Value, json};

/// A letter, a line and the frame of a block as the page draws them.
const LETTER: f32 = 6.7;
const LINE: f32 = 15.0;
const FRAME: f32 = 12.0;
/// Longer lines and blocks are cut in the drawing.
const LETTERS: usize = 44;
const LINES: usize = 14;

/// The blocks of a function in the order of their numbers: for each its number, parameters, lines (text and place, alternating),
/// successors (number, and whether the edge goes back), immediate dominator, dominance frontier, the
/// number of loops around it, and whether it begins one. The graph is added to `union`.
pub fn blocks(
    tables: &mut Tables<'_>,
    printer: &Printer<'_>,
    f: &Function,
    union: &mut Union,
) -> Value {
    let cfg = Cfg::compute(f);
    let dominators = Dominators::compute(&cfg);
    let frontier = Frontier::compute(&cfg, &dominators);
    let nesting = Nesting::compute(f, &cfg);
    let mut print = printer.of(f);
    let blocks = cfg.rpo().iter().map(|&block| {
        let data = &f.blocks[block];
        let params = data
            .params
            .iter()
            .map(|&param| format!("{}: {}", print.value(param), f.values[param].ty.name()));
        let params = params.collect::<Vec<_>>().join(", ");
        let mut letters = params.len() + 8;
        let mut lines = Vec::with_capacity(2 * data.insts.len() + 2);
        let ends = data.insts.iter().map(|&inst| Some(inst)).chain([None]);
        for inst in ends {
            let (text, loc) = match inst {
                Some(inst) => (print.inst(inst), f.insts[inst].loc),
                None => (print.terminator(block), data.loc),
            };
            letters = letters.max(text.chars().count());
            lines.push(tables.text(text));
            lines.push(tables.place(f, loc));
        }
        union.add(f, block, letters, data.insts.len() + 1);
        let at = cfg.rpo_number(block);
        let is_back = |succ| u8::from(cfg.rpo_number(succ) <= at);
        let mut depth = 0;
        let mut around = nesting.innermost(block);
        let is_header = around.is_some_and(|id| nesting.get(id).header == block);
        while let Some(id) = around {
            depth += 1;
            around = nesting.get(id).parent;
        }
        let shown = json!([
            number(block),
            tables.text(params),
            lines,
            f.succs(block).map(|succ| json!([number(succ), is_back(succ)])).collect::<Vec<_>>(),
            dominators.idom(block).map(number),
            frontier.of(block).iter().map(|&join| number(join)).collect::<Vec<_>>(),
            depth,
            u8::from(is_header),
        ]);
        (block, shown)
    });
    let mut blocks: Vec<(Block, Value)> = blocks.collect();
    blocks.sort_unstable_by_key(|&(block, _)| block);
    blocks.into_iter().map(|(_, shown)| shown).collect()
}

/// The union of the graphs of several stages.
pub struct Union {
    sizes: SideTable<Block, Option<(usize, usize)>>,
    /// The blocks in the order in which they came, the entry first.
    order: Vec<Block>,
    edges: Vec<(Block, Block)>,
}

impl Union {
    /// No graph.
    pub fn new() -> Self {
        Self { sizes: SideTable::new(None), order: Vec::new(), edges: Vec::new() }
    }

    fn add(&mut self, f: &Function, block: Block, letters: usize, lines: usize) {
        let (width, height) = self.sizes[block].unwrap_or_else(|| {
            self.order.push(block);
            (0, 0)
        });
        self.sizes[block] =
            Some((width.max(letters.min(LETTERS)), height.max(lines.min(LINES + 1))));
        self.edges.extend(f.succs(block).map(|succ| (block, succ)));
    }

    /// Makes room for φs where edges meet.
    pub fn make_room(&mut self) {
        let mut arrivals = SideTable::new(0);
        self.edges.iter().for_each(|&(_, to)| arrivals[to] += 1);
        for &block in self.order.iter().filter(|&&block| arrivals[block] > 1) {
            let (letters, lines) = self.sizes[block].unwrap_or_default();
            self.sizes[block] = Some((letters.max(24), (lines + 3).min(LINES + 1)));
        }
    }

    /// Draws it.
    pub fn layout(&self) -> Value {
        let mut places = SideTable::new(0);
        self.order.iter().enumerate().for_each(|(i, &block)| places[block] = i);
        let node = |&block: &Block| {
            let (letters, lines) = self.sizes[block].unwrap_or_default();
            Node {
                block: block.0,
                width: letters as f32 * LETTER + FRAME,
                height: (lines + 1) as f32 * LINE + FRAME / 2.0,
            }
        };
        let nodes: Vec<Node> = self.order.iter().map(node).collect();
        let edges: Vec<(usize, usize)> =
            self.edges.iter().map(|&(from, to)| (places[from], places[to])).collect();
        draw(&nodes, &edges)
    }
}
