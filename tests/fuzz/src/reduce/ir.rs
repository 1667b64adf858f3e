//! Makes a module small: functions return at once, branches become jumps, instructions and
//! parameters become constants; then whole lines of its text go.
//!
//! Whether a candidate is still well formed is for the predicate to say.

use super::text::reduce_lines;
use toyjit::entity::Entity;
use toyjit::ir::{
    Block, Const, ENTRY, FuncRef, Function, Inst, Module, Terminator, Type, Value, ValueDef, parse,
    print,
};
use toyjit::ssa::params::retain_params;

/// The smallest text of a module found that the predicate takes; it takes `text` itself.
pub fn reduce(text: &str, takes: &mut dyn FnMut(&[u8]) -> Option<bool>) -> Vec<u8> {
    let mut best = text.as_bytes().to_vec();
    loop {
        let before = best.clone();
        if let Ok(module) = parse::module(&String::from_utf8_lossy(&best)) {
            let mut reducer = Reducer { module, takes, over: false };
            reducer.round();
            let printed = print::module(&reducer.module).into_bytes();
            if printed != best && takes(&printed) == Some(true) {
                best = printed;
            }
        }
        best = reduce_lines(&best, takes);
        if best == before {
            return best;
        }
    }
}

struct Reducer<'p> {
    module: Module,
    takes: &'p mut dyn FnMut(&[u8]) -> Option<bool>,
    over: bool,
}

impl Reducer<'_> {
    /// Tries a change of one function.
    fn attempt(&mut self, id: FuncRef, change: impl FnOnce(&mut Function)) -> bool {
        if self.over {
            return false;
        }
        let before = self.module.functions[id].clone();
        change(&mut self.module.functions[id]);
        match (self.takes)(print::module(&self.module).as_bytes()) {
            Some(true) => return true,
            Some(false) => {}
            None => self.over = true,
        }
        self.module.functions[id] = before;
        false
    }

    fn round(&mut self) {
        let functions: Vec<FuncRef> = self.module.functions.keys().collect();
        for &id in &functions {
            self.attempt(id, return_at_once);
        }
        for &id in &functions {
            for block in self.module.functions[id].blocks.keys().collect::<Vec<_>>() {
                self.terminator(id, block);
                self.insts(id, block);
                self.params(id, block);
            }
        }
    }

    fn terminator(&mut self, id: FuncRef, block: Block) {
        let edges = self.module.functions[id].blocks[block].terminator.edges().to_vec();
        if edges.len() < 2 {
            return;
        }
        for edge in edges {
            let jump = |f: &mut Function| f.blocks[block].terminator = Terminator::Jump(edge);
            if self.attempt(id, jump) {
                return;
            }
        }
    }

    fn insts(&mut self, id: FuncRef, block: Block) {
        for inst in self.module.functions[id].blocks[block].insts.clone().into_iter().rev() {
            self.attempt(id, |f| {
                f.blocks[block].insts.retain(|&other| other != inst);
                forget(f, inst);
            });
        }
    }

    fn params(&mut self, id: FuncRef, block: Block) {
        if block == ENTRY {
            return;
        }
        for param in self.module.functions[id].blocks[block].params.clone() {
            self.attempt(id, |f| {
                replace(f, param);
                retain_params(f, |other| other != param);
            });
        }
    }
}

fn return_at_once(f: &mut Function) {
    let value = f.signature.result.map(|ty| f.constant(nothing(ty)));
    f.blocks[ENTRY].insts.clear();
    f.blocks[ENTRY].terminator = Terminator::Return(value);
}

fn nothing(ty: Type) -> Const {
    match ty {
        Type::Int => Const::Int(0),
        Type::Float => Const::Float(0),
        Type::Bool => Const::Bool(false),
        Type::Ref => Const::Nil,
    }
}

/// Lets a constant stand for what an instruction computed, if that has a name of its own.
fn forget(f: &mut Function, inst: Inst) {
    if let Some(result) = f.insts[inst].result
        && matches!(f.values[result].def, ValueDef::Inst(_))
    {
        replace(f, result);
    }
}

fn replace(f: &mut Function, value: Value) {
    let constant = f.constant(nothing(f.values[value].ty));
    for i in 0..f.insts.len() {
        for arg in f.args_mut(Inst::new(i)) {
            if *arg == value {
                *arg = constant;
            }
        }
    }
    for block in f.blocks.keys() {
        f.blocks[block].terminator.map_uses(|used| if used == value { constant } else { used });
    }
}
