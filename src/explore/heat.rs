//! Where a run spent its instructions: a profile on blocks, machine instructions and source lines.
//!
//! A profile says how often blocks and critical edges ran. The emitter says which block or edge each
//! stretch of machine code belongs to, and the source map which line: an instruction ran as often as
//! its block, and a line is as hot as the instructions that come from it ran often together.

use super::machine::Machine;
use crate::entity::{Entity, SideTable};
use crate::ir::{Block, FuncRef, Function, Module};
use crate::mach::{Origin, VBlock};
use crate::profile::{Counts, Profile};
use crate::source::{Sources, Span};
use crate::x64::X64;
use crate::x64::disasm::places;
use crate::x64::dump::{self, What};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The heat of one function.
struct Warm<'a> {
    f: &'a Function,
    /// The blocks by their numbers in machine code.
    order: Vec<Block>,
    blocks: SideTable<Block, Option<u64>>,
    edges: FxHashMap<(u32, u32), u64>,
}

impl<'a> Warm<'a> {
    fn of(f: &'a Function, counts: &Counts) -> Self {
        let mut blocks = SideTable::new(None);
        for &(block, count) in &counts.blocks {
            if (block as usize) < f.blocks.len() {
                blocks[Block(block)] = Some(count);
            }
        }
        let edges = counts.edges.iter().map(|&(from, way, count)| ((from, way), count)).collect();
        Self { f, order: X64::order(f), blocks, edges }
    }

    fn block(&self, block: VBlock) -> Option<u64> {
        self.order.get(block.index()).and_then(|&block| self.blocks[block])
    }

    /// How often an edge was taken: that of an edge that is not critical as often as its target ran.
    fn edge(&self, from: VBlock, way: u32) -> Option<u64> {
        let from = *self.order.get(from.index())?;
        let counted = self.edges.get(&(from.0, way)).copied();
        let edges = self.f.blocks[from].terminator.edges();
        let through = match edges {
            [_] => self.blocks[from],
            edges => edges.get(way as usize).and_then(|edge| self.blocks[edge.target]),
        };
        counted.or(through)
    }

    fn origin(&self, origin: Origin) -> Option<u64> {
        match origin {
            Origin::Block(block) => self.block(block),
            Origin::Edge(from, way) => self.edge(from, way),
            Origin::Nowhere => None,
        }
    }
}

/// The heat of a program.
pub struct Heat<'a> {
    sources: &'a Sources,
    /// The functions.
    functions: Vec<Warm<'a>>,
    /// By file and line, how many instructions that come from there ran.
    lines: BTreeMap<(usize, usize), u64>,
    total: u64,
}

impl<'a> Heat<'a> {
    /// That of a program in optimised SSA form, whose machine code is made to be looked at.
    pub fn of(
        sources: &'a Sources,
        module: &'a Module,
        profile: &Profile,
        mut machine: impl FnMut(FuncRef) -> Machine,
    ) -> Self {
        let functions = module.functions.values().zip(&profile.functions);
        let functions = functions.map(|(f, counts)| Warm::of(f, counts)).collect();
        let mut heat = Self { sources, functions, lines: BTreeMap::new(), total: 0 };
        for id in module.functions.keys() {
            heat.add(id, &machine(id));
        }
        heat
    }

    fn add(&mut self, id: FuncRef, machine: &Machine) {
        let Some(warm) = self.functions.get(id.index()) else { return };
        for (offset, loc) in places(&machine.compiled) {
            let Some(count) = warm.origin(machine.compiled.origin(offset)) else { continue };
            self.total += count;
            let span = loc.map_or(Span::default(), |loc| warm.f.locs[loc].span);
            if span == Span::default() {
                continue;
            }
            let (file, at) = self.sources.locate(span.start);
            let line = file.line_of(at);
            let files = self.sources.files();
            let file = files.partition_point(|other| other.base() <= span.start).saturating_sub(1);
            *self.lines.entry((file, line)).or_default() += count;
        }
    }

    /// What is said of the whole program: `lines` by file.
    pub fn head(&self) -> Value {
        let lines = (0..self.sources.files().len()).map(|file| {
            let lines = self.lines.range((file, 0)..(file + 1, 0));
            lines.map(|(&(_, line), &count)| json!([line, count])).collect::<Value>()
        });
        json!({ "total": self.total, "lines": lines.collect::<Vec<_>>() })
    }

    /// What is said of a function: counts of its blocks, and of each line of its machine code.
    pub fn function(&self, id: FuncRef, machine: &Machine) -> Value {
        let Some(warm) = self.functions.get(id.index()) else { return Value::Null };
        let blocks = warm.f.blocks.keys();
        let blocks = blocks.filter_map(|block| Some(json!([block.0, warm.blocks[block]?])));
        let asm = places(&machine.compiled).into_iter();
        let asm = asm.map(|(offset, _)| json!(warm.origin(machine.compiled.origin(offset))));
        let mut data = Map::new();
        data.insert("blocks".to_owned(), blocks.collect());
        data.insert("asm".to_owned(), asm.collect());
        let forms = [("vcode", None), ("allocated", Some(&machine.allocation))];
        for (name, allocation) in forms {
            let mut at = VBlock(0);
            let lines = dump::lines(&machine.code, allocation).into_iter().map(|line| {
                json!(match line.what {
                    What::Function => None,
                    What::Edge(from, way) => warm.edge(from, way),
                    What::Block(block) => {
                        at = block;
                        warm.block(at)
                    }
                    What::Inst(_) | What::Edit(_) | What::Map(_) => warm.block(at),
                })
            });
            data.insert(name.to_owned(), lines.collect());
        }
        Value::Object(data)
    }
}
