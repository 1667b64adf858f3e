//! What the references of a module's regions point at, found by unification: the IR knows of each
//! access what its elements are, but of a pointer to pointers no more than that.
//!
//! Each reference has a node; what is copied, passed or joined shares one. A node's elements are
//! those of the structure that it is accessed as, or another node. [`Module`] → for each reference
//! the type of its elements.

use super::export::Origin;
use super::lower::{DATA, ELEMENTS, OFFSETS};
use super::program::{Base, Ty};
use crate::entity::{Entity, SideTable};
use crate::ir::{ENTRY, FuncRef, Function, Inst, Module, Op, Terminator, Type, Value, imm_field};
use toyjit_runtime::Rt;

type Node = usize;

/// What a node's elements are.
#[derive(Clone, Copy, Debug)]
enum Elements {
    Unknown,
    Base(Base),
    Pointers(Node),
}

/// See the module.
#[derive(Debug)]
pub(super) struct Pointees {
    parent: Vec<Node>,
    /// How many nodes stand below one.
    size: Vec<u32>,
    elements: Vec<Elements>,
    values: Vec<SideTable<Value, Option<Node>>>,
    results: Vec<Node>,
    known: bool,
}

impl Pointees {
    pub(super) fn of(module: &Module, origin: Origin<'_>) -> Self {
        let mut all = Pointees {
            parent: Vec::new(),
            size: Vec::new(),
            elements: Vec::new(),
            values: Vec::new(),
            results: Vec::new(),
            known: matches!(origin, Origin::Bril(_)),
        };
        for f in module.functions.values() {
            all.values.push(SideTable::with_len(None, f.values.len()));
            let result = all.node();
            all.results.push(result);
        }
        if all.known {
            for (id, f) in module.functions.iter() {
                all.function(module, id, f);
            }
        }
        all
    }

    /// The type of the elements that a reference leads to.
    pub(super) fn value(&self, function: FuncRef, value: Value) -> Option<Ty> {
        let node = self.values[function.index()][value]?;
        Some(self.ty(node)).filter(|_| self.known)
    }

    /// The same for what a function gives back.
    pub(super) fn result(&self, function: FuncRef) -> Option<Ty> {
        Some(self.ty(self.results[function.index()])).filter(|_| self.known)
    }

    fn ty(&self, node: Node) -> Ty {
        let mut node = self.root(node);
        let mut pointers = 0;
        // A cycle can't come of a program that was checked.
        while pointers < 1_000 {
            match self.elements[node] {
                Elements::Unknown => return Ty { base: Base::Int, pointers },
                // Characters are ints.
                Elements::Base(Base::Char) => return Ty { base: Base::Int, pointers },
                Elements::Base(base) => return Ty { base, pointers },
                Elements::Pointers(inner) => {
                    node = self.root(inner);
                    pointers += 1;
                }
            }
        }
        Ty::INT
    }

    fn node(&mut self) -> Node {
        self.parent.push(self.parent.len());
        self.size.push(1);
        self.elements.push(Elements::Unknown);
        self.parent.len() - 1
    }

    fn root(&self, mut node: Node) -> Node {
        while self.parent[node] != node {
            node = self.parent[node];
        }
        node
    }

    fn of_value(&mut self, function: FuncRef, value: Value) -> Node {
        if let Some(node) = self.values[function.index()][value] {
            return node;
        }
        let node = self.node();
        self.values[function.index()][value] = Some(node);
        node
    }

    fn unify(&mut self, a: Node, b: Node) {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (mut a, mut b) = (self.root(a), self.root(b));
            if a == b {
                continue;
            }
            if self.size[a] < self.size[b] {
                std::mem::swap(&mut a, &mut b);
            }
            self.parent[b] = a;
            self.size[a] += self.size[b];
            match (self.elements[a], self.elements[b]) {
                (Elements::Unknown, other) => self.elements[a] = other,
                (Elements::Pointers(x), Elements::Pointers(y)) => work.push((x, y)),
                _ => {}
            }
        }
    }

    /// The node of the elements of one whose elements are pointers.
    fn inner(&mut self, node: Node) -> Node {
        let node = self.root(node);
        match self.elements[node] {
            Elements::Pointers(inner) => inner,
            _ => {
                let inner = self.node();
                self.elements[node] = Elements::Pointers(inner);
                inner
            }
        }
    }

    /// Notes that a node's elements are of this number among those of the lowering.
    fn accessed(&mut self, node: Node, number: u32) {
        let base = match number {
            0 => Base::Int,
            1 => Base::Bool,
            2 => Base::Float,
            3 => Base::Char,
            _ => {
                self.inner(node);
                return;
            }
        };
        let node = self.root(node);
        if matches!(self.elements[node], Elements::Unknown) {
            self.elements[node] = Elements::Base(base);
        }
    }

    fn function(&mut self, module: &Module, id: FuncRef, f: &Function) {
        for data in f.blocks.values() {
            for &inst in &data.insts {
                self.inst(module, id, f, inst);
            }
            for edge in data.terminator.edges() {
                for (&param, &arg) in f.blocks[edge.target].params.iter().zip(&edge.args) {
                    self.same(f, id, param, arg);
                }
            }
            if let Terminator::Return(Some(value)) = data.terminator
                && f.values[value].ty == Type::Ref
            {
                let (value, result) = (self.of_value(id, value), self.results[id.index()]);
                self.unify(result, value);
            }
        }
    }

    fn same(&mut self, f: &Function, id: FuncRef, a: Value, b: Value) {
        let is_region = |value| f.values[value].ty == Type::Ref && f.as_const(value).is_none();
        if is_region(a) && is_region(b) {
            let (a, b) = (self.of_value(id, a), self.of_value(id, b));
            self.unify(a, b);
        }
    }

    fn inst(&mut self, module: &Module, id: FuncRef, f: &Function, inst: Inst) {
        let data = f.insts[inst];
        let args = f.args(inst);
        let (structure, field) = imm_field(data.imm);
        match (data.op, data.result) {
            (Op::Copy | Op::CheckNil, Some(result)) => self.same(f, id, result, args[0]),
            (Op::Select, Some(result)) => {
                self.same(f, id, result, args[1]);
                self.same(f, id, result, args[2]);
            }
            (Op::NewStruct, Some(result)) => {
                self.same(f, id, result, args[2]);
                self.same(f, id, result, args[3]);
                let region = self.of_value(id, result);
                self.accessed(region, data.imm as u32);
            }
            (Op::LoadField, result) => {
                let region = self.of_value(id, args[0]);
                self.accessed(region, structure.0);
                if field == DATA || field == OFFSETS {
                    result.into_iter().for_each(|result| self.same(f, id, result, args[0]));
                }
            }
            (Op::CheckRead | Op::CheckWrite | Op::StoreField, _) => {
                let region = self.of_value(id, args[0]);
                self.accessed(region, structure.0);
            }
            (Op::LoadElem | Op::StoreElem, result) => {
                if data.imm >= ELEMENTS.len() as u64 {
                    return;
                }
                let region = self.of_value(id, args[0]);
                self.accessed(region, data.imm as u32);
                if let Some(element) = result.or(args.get(2).copied())
                    && f.values[element].ty == Type::Ref
                {
                    let (inner, element) = (self.inner(region), self.of_value(id, element));
                    self.unify(inner, element);
                }
            }
            (Op::Call, result) => {
                let callee = FuncRef(data.imm as u32);
                let params = module.functions[callee].blocks[ENTRY].params.clone();
                for (&param, &arg) in params.iter().zip(args) {
                    if f.values[arg].ty == Type::Ref && f.as_const(arg).is_none() {
                        let (param, arg) = (self.of_value(callee, param), self.of_value(id, arg));
                        self.unify(param, arg);
                    }
                }
                if let Some(result) = result
                    && f.values[result].ty == Type::Ref
                {
                    let (result, given) = (self.of_value(id, result), self.results[callee.index()]);
                    self.unify(given, result);
                }
            }
            (Op::Rt, _) if data.imm == Rt::RegionFree as u64 => {
                self.of_value(id, args[0]);
            }
            _ => {}
        }
    }
}
