//! What is known of a function's graph: the graph itself, its dominators, its loops.
//!
//! Most passes leave the graph as it is, so that what was computed for one serves the next. Nobody
//! has to tell what he changed: who asks gets what is kept only where each of its edges is still
//! there, and no other; to look at all edges takes a sixth of what computing takes.
//!
//! [`Function`] → [`Cfg`], [`Dominators`], [`Loops`].

use super::loops::Loops;
use crate::ir::{Cfg, Dominators, Function};
use std::rc::Rc;

/// What was last found out about a graph.
#[derive(Debug, Default)]
pub struct Graph {
    cfg: Option<Rc<Cfg>>,
    dominators: Option<Rc<Dominators>>,
    loops: Option<Rc<Loops>>,
}

impl Graph {
    /// The graph of a function as it is now.
    pub fn cfg(&mut self, f: &Function) -> Rc<Cfg> {
        match &self.cfg {
            Some(cfg) if cfg.is_of(f) => cfg.clone(),
            _ => {
                let cfg = Rc::new(Cfg::compute(f));
                *self = Self { cfg: Some(cfg.clone()), dominators: None, loops: None };
                cfg
            }
        }
    }

    /// The graph and its dominator tree.
    pub fn dominators(&mut self, f: &Function) -> (Rc<Cfg>, Rc<Dominators>) {
        let cfg = self.cfg(f);
        let tree = self.dominators.get_or_insert_with(|| Rc::new(Dominators::compute(&cfg)));
        (cfg, tree.clone())
    }

    /// The graph and its loops, where there are some.
    pub fn loops(&mut self, f: &Function) -> Option<(Rc<Cfg>, Rc<Loops>)> {
        if !f.may_loop() {
            return None;
        }
        let (cfg, tree) = self.dominators(f);
        let loops = self.loops.get_or_insert_with(|| Rc::new(Loops::compute(&cfg, &tree)));
        (!loops.is_empty()).then(|| (cfg, loops.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Block, ENTRY, Edge, FuncRef, Op, Signature, Terminator};

    #[test]
    fn what_changed_is_computed_again() {
        let mut f = Function::new("f", FuncRef(0), Signature::default());
        let (body, exit, zero) = (f.add_block(), f.add_block(), f.int(0));
        let branch = |to: [Block; 2]| Terminator::Branch {
            op: Op::IEq,
            args: [zero, zero],
            edges: to.map(Edge::to),
        };
        f.blocks[ENTRY].terminator = branch([body, exit]);
        f.blocks[body].terminator = Terminator::Jump(Edge::to(exit));
        f.blocks[exit].terminator = Terminator::Return(None);
        let mut graph = Graph::default();
        let first = graph.dominators(&f).1;
        assert!(Rc::ptr_eq(&first, &graph.dominators(&f).1) && graph.loops(&f).is_none());
        let changes: [(Block, Terminator); 4] = [
            (ENTRY, branch([exit, body])),
            (ENTRY, Terminator::Jump(Edge::to(body))),
            (exit, branch([body, exit])),
            (exit, Terminator::Return(None)),
        ];
        for (block, terminator) in changes {
            let before = graph.cfg(&f);
            f.blocks[block].terminator = terminator;
            let (cfg, anew) = (graph.cfg(&f), Cfg::compute(&f));
            assert!(!Rc::ptr_eq(&before, &cfg));
            assert!(cfg.rpo() == anew.rpo() && cfg.preds(exit).eq(anew.preds(exit)));
            assert_eq!(graph.loops(&f).is_some(), block == exit && cfg.preds(exit).len() > 1);
        }
        let before = graph.cfg(&f);
        f.add_block();
        assert!(!Rc::ptr_eq(&before, &graph.cfg(&f)));
    }
}
