//! Local names: which variable a name means, through blocks, shadowing and captures.
//!
//! One table over all names tells the innermost variable of each; a log of what was overwritten
//! brings the table back at a block's end, so that a look-up and a declaration take constant time.
//! Functions under check stand on a stack of frames, a function expression above the function
//! that holds it. A name found in a lower frame is captured by every frame between.

use super::hir::{Capture, FuncId, Local, LocalId, Ty};
use crate::entity::{Arena, SideTable};
use crate::source::{Span, Symbol};
use rustc_hash::FxHashMap;

/// How a variable came to be, which decides what is said of an assignment to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// `let`, with the keyword's place.
    Let(Span),
    /// `var`
    Var,
    /// A parameter.
    Param,
    /// A loop's variable.
    Loop,
    /// A captured copy.
    Capture,
}

#[derive(Clone, Copy)]
struct Binding {
    frame: u32,
    local: LocalId,
}

/// A function whose body is being checked.
pub(super) struct Frame {
    /// Which function.
    pub function: FuncId,
    /// Its result type, and where that is given.
    pub result: (Ty, Option<Span>),
    /// Its variables so far.
    pub locals: Arena<LocalId, Local>,
    /// How they came to be.
    pub origins: SideTable<LocalId, Origin>,
    /// Its captures so far.
    pub captures: Vec<Capture>,
    /// How many loops are open.
    pub loops: u32,
    captured: FxHashMap<(u32, LocalId), LocalId>,
    undo: usize,
}

/// A block's begin.
#[must_use]
pub(super) struct Mark(usize);

/// All local names.
pub(super) struct Scopes {
    table: SideTable<Symbol, Option<Binding>>,
    log: Vec<(Symbol, Option<Binding>)>,
    frames: Vec<Frame>,
}

impl Scopes {
    /// No names, no frames; `names` is how many symbols there are.
    pub fn new(names: usize) -> Self {
        Self { table: SideTable::with_len(None, names), log: Vec::new(), frames: Vec::new() }
    }

    /// Begins a function.
    pub fn enter_function(&mut self, function: FuncId, result: (Ty, Option<Span>)) {
        self.frames.push(Frame {
            function,
            result,
            locals: Arena::new(),
            origins: SideTable::new(Origin::Var),
            captures: Vec::new(),
            loops: 0,
            captured: FxHashMap::default(),
            undo: self.log.len(),
        });
    }

    /// Ends the innermost function.
    pub fn leave_function(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.undo_to(frame.undo);
        Some(frame)
    }

    /// The innermost function.
    pub fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    /// The innermost function, to be changed.
    pub fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Begins a block.
    pub fn enter_block(&self) -> Mark {
        Mark(self.log.len())
    }

    /// Ends a block: its names mean again what they meant before.
    pub fn leave_block(&mut self, mark: Mark) {
        self.undo_to(mark.0);
    }

    fn undo_to(&mut self, len: usize) {
        while self.log.len() > len {
            if let Some((name, before)) = self.log.pop() {
                self.table[name] = before;
            }
        }
    }

    /// Declares a variable of the innermost function, visible from here on.
    pub fn declare(&mut self, local: Local, origin: Origin) -> LocalId {
        let name = local.name;
        let id = self.add(self.frames.len() - 1, local, origin);
        let binding = Binding { frame: self.frames.len() as u32 - 1, local: id };
        self.log.push((name, self.table[name]));
        self.table[name] = Some(binding);
        id
    }

    fn add(&mut self, frame: usize, local: Local, origin: Origin) -> LocalId {
        let frame = &mut self.frames[frame];
        let id = frame.locals.push(local);
        frame.origins[id] = origin;
        id
    }

    /// Whether the name means a local variable here.
    pub fn is_bound(&self, name: Symbol) -> bool {
        self.table[name].is_some()
    }

    /// The innermost function's own variable of this name, if the name means that.
    pub fn own(&self, name: Symbol) -> Option<LocalId> {
        let binding = self.table[name]?;
        (binding.frame as usize == self.frames.len() - 1).then_some(binding.local)
    }

    /// The variable that a name means, as a variable of the innermost function: captured first
    /// where it belongs to a function around.
    pub fn look_up(&mut self, name: Symbol, span: Span) -> Option<LocalId> {
        let binding = self.table[name]?;
        let origin = (binding.frame, binding.local);
        let innermost = self.frames.len() - 1;
        if binding.frame as usize == innermost {
            return Some(binding.local);
        }
        if let Some(&local) = self.frames[innermost].captured.get(&origin) {
            return Some(local);
        }
        let mut outer = binding.local;
        for frame in binding.frame as usize + 1..=innermost {
            outer = match self.frames[frame].captured.get(&origin) {
                Some(&inner) => inner,
                None => self.capture(frame, outer, origin, span),
            };
        }
        Some(outer)
    }

    fn capture(
        &mut self,
        frame: usize,
        outer: LocalId,
        origin: (u32, LocalId),
        span: Span,
    ) -> LocalId {
        let copy = Local { mutable: false, ..self.frames[frame - 1].locals[outer].clone() };
        let inner = self.add(frame, copy, Origin::Capture);
        self.frames[frame].captured.insert(origin, inner);
        self.frames[frame].captures.push(Capture { outer, inner, span });
        inner
    }

    /// How many names `visible` gives.
    pub fn visible_len(&self) -> usize {
        self.log.len()
    }

    /// The local names visible here, innermost first; one may come twice.
    pub fn visible(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.log.iter().rev().map(|&(name, _)| name)
    }
}
