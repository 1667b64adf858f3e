//! The verifier: whether a function is well formed.
//!
//! First that every index means something (`references`); only then does the rest make sense: that
//! the blocks fit together, that every operator has the operands that its row of the table asks for
//! (`types`), and that every temporary is defined once and before its uses. Each error tells the
//! place and shows the instruction. All in linear time, but for the text of errors, of which at
//! most [`MAX_ERRORS`] are told.
//!
//! `Module` and `Function` (of either form) → nothing, or what is wrong.

mod references;
#[cfg(test)]
mod tests;
mod types;

use super::cfg::Cfg;
use super::dominators::Dominators;
use super::function::{Block, ENTRY, Form, Function, Inst, Loc, Terminator, Value, ValueDef};
use super::module::Module;
use super::print::Printer;
use super::{Edge, Type};
use crate::entity::{EntitySet, SideTable};
use crate::source::Span;
use std::fmt;

/// How many errors are told of one function.
pub const MAX_ERRORS: usize = 20;

/// Where in a function something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the function as a whole.
    Function,
    /// In a block as a whole.
    Block(Block),
    /// In an instruction of a block.
    Inst(Block, Inst),
    /// In a block's end.
    Terminator(Block),
}

/// What is wrong with a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The function's name.
    pub function: String,
    /// Where.
    pub place: Place,
    /// The instruction or terminator as printed; empty for other places.
    pub text: String,
    /// Its place in the source.
    pub span: Span,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.function)?;
        if let Place::Block(block) | Place::Inst(block, _) | Place::Terminator(block) = self.place {
            write!(f, " {block}")?;
        }
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Whether `function`, of `module`, is well formed.
pub fn verify(module: &Module, function: &Function) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier { module, function, errors: Vec::new() };
    verifier.references();
    if verifier.errors.is_empty() {
        let cfg = Cfg::compute(function);
        verifier.blocks(&cfg);
        verifier.values(&cfg);
        verifier.types();
    }
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

/// Whether every function of a module is well formed, and script and main can be called.
pub fn verify_module(module: &Module) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    for function in module.functions.values() {
        errors.extend(verify(module, function).err().unwrap_or_default());
    }
    let mut starts = |id, params: &[Type], result: Option<Type>, what: &str| {
        let function = module.functions.get(id);
        let signature = function.map(|f| &f.signature);
        if !signature.is_some_and(|s| s.params == params && s.result == result && !s.env) {
            errors.push(VerifyError {
                function: function.map_or_else(|| id.to_string(), |f| f.name.clone()),
                place: Place::Function,
                text: String::new(),
                span: Span::default(),
                message: format!("the signature does not fit its use as {what}"),
            });
        }
    };
    if let Some(script) = module.script {
        starts(script, &[], None, "the script");
    }
    if let Some((main, takes_args, gives_code)) = module.main {
        let params = if takes_args { &[Type::Ref][..] } else { &[] };
        starts(main, params, gives_code.then_some(Type::Int), "main");
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

struct Verifier<'a> {
    module: &'a Module,
    function: &'a Function,
    errors: Vec<VerifyError>,
}

impl Verifier<'_> {
    fn error(&mut self, place: Place, message: impl Into<String>) {
        if self.errors.len() >= MAX_ERRORS {
            return;
        }
        let function = self.function;
        let printer = Printer::new(self.module);
        let span = |loc: Loc| function.locs.get(loc).map_or(Span::default(), |data| data.span);
        let (text, span) = match place {
            Place::Function | Place::Block(_) => (String::new(), Span::default()),
            Place::Inst(_, inst) => match function.insts.get(inst) {
                Some(data) => (printer.inst(function, inst), span(data.loc)),
                None => (inst.to_string(), Span::default()),
            },
            Place::Terminator(block) => {
                (printer.terminator(function, block), span(function.blocks[block].loc))
            }
        };
        let (function, message) = (function.name.clone(), message.into());
        self.errors.push(VerifyError { function, place, text, span, message });
    }

    /// A value as it is printed; nothing where no more errors are told.
    fn name(&self, value: Value) -> String {
        if self.errors.len() >= MAX_ERRORS {
            return String::new();
        }
        Printer::new(self.module).value(self.function, value)
    }

    /// Entry, edges, and what no path reaches.
    fn blocks(&mut self, cfg: &Cfg) {
        let function = self.function;
        let signature = &function.signature;
        let wanted = signature.env.then_some(Type::Ref).into_iter().chain(signature.params.clone());
        let params = &function.blocks[ENTRY].params;
        if !wanted.eq(params.iter().map(|&param| function.values[param].ty)) {
            self.error(Place::Block(ENTRY), "the entry block's parameters are not the signature's");
        }
        for (block, data) in function.blocks.iter() {
            for edge in data.terminator.edges() {
                self.edge(block, edge);
            }
            if !cfg.is_reachable(block)
                && (!data.insts.is_empty() || data.terminator != Terminator::Unreachable)
            {
                let message = "no path leads here: the block must be empty and unreachable";
                self.error(Place::Block(block), message);
            }
        }
    }

    fn edge(&mut self, block: Block, edge: &Edge) {
        let function = self.function;
        let place = Place::Terminator(block);
        if edge.target == ENTRY {
            self.error(place, "no edge may lead to the entry block");
        }
        let params = &function.blocks[edge.target].params;
        let (given, wanted) = (edge.args.len(), params.len());
        if given != wanted {
            let target = edge.target;
            self.error(place, format!("{target} takes {wanted} arguments, the edge has {given}"));
        }
        for (&arg, &param) in edge.args.iter().zip(params) {
            let (given, wanted) = (function.values[arg].ty, function.values[param].ty);
            if given != wanted {
                let (arg, param) = (self.name(arg), self.name(param));
                let (given, wanted) = (given.name(), wanted.name());
                self.error(place, format!("{arg} is {given}, but {param} is {wanted}"));
            }
        }
    }

    /// Each temporary is defined once, and on every path before it is used.
    fn values(&mut self, cfg: &Cfg) {
        let function = self.function;
        let dominators = Dominators::compute(cfg);
        // Where each temporary is defined: block, and place in it (parameters 0, then 1, 2 …).
        let mut defined: SideTable<Value, Option<(Block, u32)>> =
            SideTable::with_len(None, function.values.len());
        let mut listed = EntitySet::with_len(function.insts.len());
        for (block, data) in function.blocks.iter() {
            for (i, &param) in data.params.iter().enumerate() {
                let at = Place::Block(block);
                if function.values[param].def != ValueDef::Param(block, i as u32) {
                    let message = format!("the parameter {} is another thing", self.name(param));
                    self.error(at, message);
                } else if defined[param].replace((block, 0)).is_some() {
                    let message = format!("{} is defined twice", self.name(param));
                    self.error(at, message);
                }
            }
            for (i, &inst) in data.insts.iter().enumerate() {
                let at = Place::Inst(block, inst);
                if !listed.insert(inst) {
                    self.error(at, "the instruction is listed twice");
                    continue;
                }
                let Some(result) = function.insts[inst].result else { continue };
                match function.values[result].def {
                    ValueDef::Inst(def) if def == inst => {
                        defined[result] = Some((block, i as u32 + 1));
                    }
                    ValueDef::Variable(_) if function.form == Form::Variable => {}
                    ValueDef::Variable(_) => self.error(at, "no variable occurs in the SSA form"),
                    ValueDef::Const(_) => self.error(at, "the result is a constant"),
                    ValueDef::Inst(_) | ValueDef::Param(..) => {
                        let message = format!("{} is defined twice", self.name(result));
                        self.error(at, message);
                    }
                }
            }
        }
        for &block in cfg.rpo() {
            let data = &function.blocks[block];
            let mut check = |value: Value, at: u32, place: Place| {
                let is_temporary = match function.values[value].def {
                    ValueDef::Const(_) => false,
                    ValueDef::Variable(_) => function.form == Form::Ssa,
                    ValueDef::Inst(_) | ValueDef::Param(..) => true,
                };
                if !is_temporary {
                    return;
                }
                let message = match (function.values[value].def, defined[value]) {
                    (ValueDef::Variable(_), _) => "no variable occurs in the SSA form".to_owned(),
                    (_, None) => format!("{} is defined nowhere", self.name(value)),
                    (_, Some((b, i))) if b == block && i >= at => {
                        format!("{} is used before it is defined", self.name(value))
                    }
                    (_, Some((b, _))) if !dominators.dominates(b, block) => {
                        let value = self.name(value);
                        format!("{value} is defined in {b}, which does not dominate {block}")
                    }
                    _ => return,
                };
                self.error(place, message);
            };
            for (i, &inst) in data.insts.iter().enumerate() {
                for &value in function.args(inst) {
                    check(value, i as u32 + 1, Place::Inst(block, inst));
                }
            }
            data.terminator.for_each_use(|value| check(value, u32::MAX, Place::Terminator(block)));
        }
    }
}
