//! Scalar replacement: objects that nobody else can see are taken apart into their fields.
//!
//! Of an object that is only loaded from and stored to, each field is a variable: its creation
//! assigns them, stores assign one, loads read one, and SSA construction does the rest. The object
//! is never made, and what calls and other stores do can't touch its fields.
//!
//! Objects may flow into block parameters, as `p = plus(p, q)` in a loop makes them, where the
//! parameter takes over: no edge passes an object that is used under its old name behind it, or to
//! two parameters. So an object has one name at a time, and that name's variables are its fields.
//!
//! SSA → SSA, linear, but for the walks that find where a name that is passed on is live.

use super::Context;
use crate::entity::SideTable;
use crate::ir::{
    Block, Cfg, ENTRY, Edge, Form, Function, Inst, InstData, Loc, Module, Op, Structure,
    Terminator, Type, Value, Variable, imm_field, slot_type,
};
use crate::source::Span;
use crate::ssa::params::retain_params;
use crate::ssa::{Construction, Folding, construct};
use smallvec::SmallVec;
use toyjit_runtime::fault::{self, Fault};
use toyjit_runtime::layout::Slot;

/// Objects with more fields stay whole.
const MAX_FIELDS: usize = 16;
/// So many times at most it is looked whether a name that is out leaves others.
const MAX_ROUNDS: usize = 8;
/// So many blocks at most are looked at for where names are live.
const MAX_WALK: usize = 1 << 16;

/// Takes objects apart.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    let objects: Vec<Inst> =
        f.blocks.values().flat_map(|data| data.insts.iter().copied()).collect();
    let objects = objects.into_iter().filter(|&inst| f.insts[inst].op == Op::NewStruct);
    let small = |inst: &Inst| f.args(*inst).len() <= MAX_FIELDS;
    let objects: Vec<Inst> = objects.filter(small).collect();
    if objects.is_empty() {
        return;
    }
    let cfg = cx.graph.cfg(f);
    let Some(names) = Names::find(f, &cfg, &objects) else { return };
    let gone: Vec<Loc> = objects
        .iter()
        .filter(|&&inst| f.insts[inst].result.is_some_and(|value| names.has(value)))
        .map(|&inst| f.insts[inst].loc)
        .collect();
    if gone.is_empty() || !cx.fuel.tick() {
        return;
    }
    for loc in gone {
        cx.remarks.say("scalar", f, loc, || "object left out: its fields are values".to_owned());
    }
    names.take_apart(f, cx.module, &cfg);
}

/// The names of the objects that can be taken apart, each with the object's structure.
struct Names {
    structures: SideTable<Value, Option<Structure>>,
}

impl Names {
    /// Starts with all that could be one, and drops what is used otherwise.
    fn find(f: &Function, cfg: &Cfg, objects: &[Inst]) -> Option<Self> {
        let mut names = Self { structures: SideTable::with_len(None, f.values.len()) };
        for &inst in objects {
            if let Some(result) = f.insts[inst].result {
                names.structures[result] = Some(Structure(f.insts[inst].imm as u32));
            }
        }
        names.name_params(f, cfg);
        for _ in 0..MAX_ROUNDS {
            if !names.drop_misused(f, cfg) && !names.drop_live_on(f, cfg)? {
                return Some(names);
            }
        }
        None
    }

    fn has(&self, value: Value) -> bool {
        self.structures[value].is_some()
    }

    /// Gives parameters the structure that one of their arguments has, until nothing more is known.
    fn name_params(&mut self, f: &Function, cfg: &Cfg) {
        let mut open: Vec<Block> = cfg.postorder().collect();
        while let Some(block) = open.pop() {
            for edge in f.blocks[block].terminator.edges() {
                let params = &f.blocks[edge.target].params;
                let mut found = false;
                for (&arg, &param) in edge.args.iter().zip(params) {
                    if f.values[param].ty == Type::Ref && self.has(arg) && !self.has(param) {
                        self.structures[param] = self.structures[arg];
                        found = true;
                    }
                }
                if found {
                    open.push(edge.target);
                }
            }
        }
    }

    /// Drops names that are used otherwise than for loads, stores and passing on; whether there
    /// were any.
    fn drop_misused(&mut self, f: &Function, cfg: &Cfg) -> bool {
        let mut dropped = false;
        let mut drop = |names: &mut Self, value: Value| {
            dropped |= names.structures[value].take().is_some();
        };
        for &block in cfg.rpo() {
            let data = &f.blocks[block];
            for &inst in &data.insts {
                let InstData { op, imm, .. } = f.insts[inst];
                let own = match op {
                    Op::LoadField | Op::StoreField => Some(imm_field(imm).0),
                    _ => None,
                };
                for (place, &arg) in f.args(inst).iter().enumerate() {
                    if self.has(arg) && (place != 0 || self.structures[arg] != own) {
                        drop(self, arg);
                    }
                }
            }
            match &data.terminator {
                Terminator::Branch { args, .. } => args.iter().for_each(|&arg| drop(self, arg)),
                Terminator::Return(Some(value)) => drop(self, *value),
                _ => {}
            }
            for edge in data.terminator.edges() {
                let params = &f.blocks[edge.target].params;
                for (i, (&arg, &param)) in edge.args.iter().zip(params).enumerate() {
                    let twice = self.has(arg) && edge.args[..i].contains(&arg);
                    if self.structures[arg] != self.structures[param] || twice {
                        drop(self, arg);
                        drop(self, param);
                    }
                }
            }
        }
        dropped
    }

    /// Drops names that are used behind an edge that passes them on; whether there were any, if that
    /// can be told in short time.
    fn drop_live_on(&mut self, f: &Function, cfg: &Cfg) -> Option<bool> {
        let mut passed: SideTable<Value, bool> = SideTable::new(false);
        let mut edges: Vec<(Value, Value, Block)> = Vec::new();
        for &block in cfg.rpo() {
            for edge in f.blocks[block].terminator.edges() {
                let params = &f.blocks[edge.target].params;
                for (&arg, &param) in
                    edge.args.iter().zip(params).filter(|(arg, _)| self.has(**arg))
                {
                    passed[arg] = true;
                    edges.push((arg, param, edge.target));
                }
            }
        }
        let live = live_in(f, cfg, |value| passed[value])?;
        let mut dropped = false;
        for (arg, param, target) in edges {
            if live.binary_search(&(arg, target)).is_ok() && !fault::is(Fault::ScalarTwoNames) {
                dropped = true;
                (self.structures[arg], self.structures[param]) = (None, None);
            }
        }
        Some(dropped)
    }

    /// Lets variables stand for the fields.
    fn take_apart(&self, f: &mut Function, module: &Module, cfg: &Cfg) {
        let mut variables: SideTable<Value, Option<u32>> = SideTable::new(None);
        let mut fields: Vec<Fields> = Vec::new();
        for value in f.values.keys() {
            let Some(structure) = self.structures[value] else { continue };
            variables[value] = Some(fields.len() as u32);
            let slots: SmallVec<[Slot; 4]> =
                module.structures[structure].fields.iter().map(|field| field.1).collect();
            let add = |slot| f.add_variable("", slot_type(slot), Span::default());
            fields.push(slots.into_iter().map(add).collect());
        }
        let of = |value: Value| variables[value].map(|at| &fields[at as usize]);
        for &block in cfg.rpo() {
            let insts = std::mem::take(&mut f.blocks[block].insts);
            for inst in insts {
                rewrite(f, block, inst, of);
            }
            pass_on(f, block, of);
        }
        retain_params(f, |param| !self.has(param));
        f.form = Form::Variable;
        construct(f, Construction::Braun, Folding::On);
    }
}

type Fields = SmallVec<[Variable; 4]>;

/// Appends to a block what an instruction is on variables.
fn rewrite<'a>(
    f: &mut Function,
    block: Block,
    inst: Inst,
    of: impl Fn(Value) -> Option<&'a Fields>,
) {
    let InstData { op, imm, loc, result, .. } = f.insts[inst];
    let object = match op {
        Op::NewStruct => result,
        Op::LoadField | Op::StoreField => Some(f.args(inst)[0]),
        _ => None,
    };
    let Some(fields) = object.and_then(of) else { return f.blocks[block].insts.push(inst) };
    let place = imm_field(imm).1 as usize;
    match op {
        Op::NewStruct => {
            for (i, &field) in fields.iter().enumerate() {
                let value = f.args(inst)[i];
                f.append_assign(block, field, Op::Copy, &[value], 0, loc);
            }
        }
        Op::LoadField => {
            let value = f.variables[fields[place]].value;
            let args = f.pool.list(&[value]);
            let data = &mut f.insts[inst];
            (data.op, data.args, data.imm) = (Op::Copy, args, 0);
            f.blocks[block].insts.push(inst);
        }
        _ => {
            let value = f.args(inst)[1];
            f.append_assign(block, fields[place], Op::Copy, &[value], 0, loc);
        }
    }
}

/// On the edges that pass objects on, the parameters' variables become those of the arguments, all
/// at once.
fn pass_on<'a>(f: &mut Function, block: Block, of: impl Fn(Value) -> Option<&'a Fields>) {
    let single = f.blocks[block].terminator.edges().len() == 1;
    for i in 0..f.blocks[block].terminator.edges().len() {
        let Edge { target, args } = f.blocks[block].terminator.edges()[i].clone();
        let mut copies: SmallVec<[(Variable, Variable); 8]> = SmallVec::new();
        for (&arg, &param) in args.iter().zip(&f.blocks[target].params) {
            if let (Some(from), Some(to)) = (of(arg), of(param))
                && arg != param
            {
                copies.extend(to.iter().copied().zip(from.iter().copied()));
            }
        }
        if copies.is_empty() {
            continue;
        }
        let mut at = block;
        if !single {
            at = f.add_block();
            f.blocks[at].loc = f.blocks[block].loc;
            let edge = &mut f.blocks[block].terminator.edges_mut()[i];
            let edge = std::mem::replace(edge, Edge::to(at));
            f.blocks[at].terminator = Terminator::Jump(edge);
        }
        let loc = f.blocks[at].loc;
        let mut values: SmallVec<[Value; 8]> = SmallVec::new();
        for &(_, from) in &copies {
            let from = f.variables[from].value;
            let copy = f.append(at, Op::Copy, &[from], 0, None, loc);
            values.extend(f.insts[copy].result);
        }
        for (&(to, _), value) in copies.iter().zip(values) {
            f.append_assign(at, to, Op::Copy, &[value], 0, loc);
        }
    }
}

/// The blocks where each of some values is live at the beginning, sorted by value; nothing if that
/// takes long to find.
fn live_in(f: &Function, cfg: &Cfg, asked: impl Fn(Value) -> bool) -> Option<Vec<(Value, Block)>> {
    let mut homes: SideTable<Value, Option<Block>> = SideTable::new(None);
    let mut uses: Vec<(Value, Block)> = Vec::new();
    for &block in cfg.rpo() {
        let data = &f.blocks[block];
        data.params.iter().for_each(|&param| homes[param] = Some(block));
        for &inst in &data.insts {
            uses.extend(f.args(inst).iter().filter(|&&arg| asked(arg)).map(|&arg| (arg, block)));
            if let Some(result) = f.insts[inst].result {
                homes[result] = Some(block);
            }
        }
        data.terminator.for_each_use(|value| {
            if asked(value) {
                uses.push((value, block));
            }
        });
    }
    uses.sort_unstable();
    uses.dedup();
    let mut live = Vec::new();
    let mut seen: SideTable<Block, Option<Value>> = SideTable::new(None);
    for (value, block) in uses {
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            if homes[value] == Some(block) || seen[block] == Some(value) || block == ENTRY {
                continue;
            }
            seen[block] = Some(value);
            live.push((value, block));
            open.extend(cfg.preds(block));
            if live.len() > MAX_WALK {
                return None;
            }
        }
    }
    live.sort_unstable();
    Some(live)
}
