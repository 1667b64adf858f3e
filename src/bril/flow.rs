//! The blocks of a function, and which of its variables a run may read before they have a value.
//!
//! A block begins at each label and behind each jump; only blocks that a path from the beginning
//! reaches are kept. What a `phi` takes depends on the way into its block, so that each edge into a
//! block with phis is a block of its own, which hands over one value for each phi.
//!
//! `set`, `get` and `phi` speak of *shadows*: places beside the variables, one for each variable
//! that a `get` gives and one for each phi. Variables and shadows together are *places*. A place
//! may be read without a value where it is live at the beginning of the function, and where `undef`
//! may come to it by a copy: these, the *doubtful* ones, get a state that is looked at when they
//! are read. Liveness is solved for 64 places at a time, and only for those that some block reads
//! before it assigns them: linear in practice.
//!
//! [`Function`] → [`Flow`].

use super::program::{Function, Kind, Label, Var};
use crate::entity::Entity;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;

/// A variable, or a shadow behind all variables.
pub(super) type Place = usize;

/// A block.
#[derive(Debug)]
pub(super) struct Node {
    /// Its instructions; none on an edge.
    pub code: Range<usize>,
    /// What an edge hands over: the shadow of a phi, and the variable, if the phi tells one.
    pub passes: Vec<(Place, Option<Var>)>,
    /// Where control goes: behind `br` two blocks.
    pub succs: SmallVec<[usize; 2]>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Flow {
    /// The blocks that are reached; the first is where the function begins.
    pub nodes: Vec<Node>,
    /// The shadow of each phi, by its instruction.
    pub phis: FxHashMap<usize, Place>,
    /// The shadow of each variable that a `get` gives.
    pub gets: FxHashMap<Var, Place>,
    /// For each place: whether it may be read without a value.
    pub doubtful: Vec<bool>,
}

impl Flow {
    pub(super) fn of(f: &Function) -> Flow {
        let (phis, gets, places) = shadows(f);
        let nodes = reached(edges(f, blocks(f), &phis));
        let mut flow = Flow { nodes, phis, gets, doubtful: vec![false; places] };
        flow.find_doubtful(f);
        flow
    }

    /// The shadow that an instruction reads, and the one that it sets.
    fn shadows_of(&self, at: usize, kind: &Kind) -> (Option<Place>, Option<Place>) {
        match kind {
            Kind::Phi(..) => (Some(self.phis[&at]), None),
            Kind::Get(var) => (Some(self.gets[var]), None),
            Kind::Set(Some(var), _) => (None, Some(self.gets[var])),
            _ => (None, None),
        }
    }

    fn find_doubtful(&mut self, f: &Function) {
        let events = self.events(f);
        for place in self.live_at_start(&events) {
            self.doubtful[place] = true;
        }
        self.spread(f);
    }

    /// For each place the blocks that read it before they assign it, and those that assign it.
    fn events(&self, f: &Function) -> Events {
        let mut events = Events {
            exposed: vec![Vec::new(); self.doubtful.len()],
            assigned: vec![Vec::new(); self.doubtful.len()],
        };
        for (number, node) in self.nodes.iter().enumerate() {
            for &(shadow, from) in &node.passes {
                from.iter().for_each(|var| events.read(var.index(), number));
                // A phi without a value for this way leaves its shadow without one.
                if from.is_some() {
                    events.assign(shadow, number);
                }
            }
            for at in node.code.clone() {
                let kind = &f.code[at].kind;
                let (read, set) = self.shadows_of(at, kind);
                reads(kind, |var| events.read(var.index(), number));
                read.into_iter().for_each(|place| events.read(place, number));
                set.into_iter().for_each(|place| events.assign(place, number));
                kind.dest().into_iter().for_each(|var| events.assign(var.index(), number));
            }
        }
        for param in &f.params {
            events.exposed[param.index()].clear();
        }
        events
    }

    /// The places that are live where the function begins.
    fn live_at_start(&self, events: &Events) -> Vec<Place> {
        let candidates: Vec<Place> =
            (0..events.exposed.len()).filter(|&place| !events.exposed[place].is_empty()).collect();
        let mut preds = vec![SmallVec::<[u32; 2]>::new(); self.nodes.len()];
        for (number, node) in self.nodes.iter().enumerate() {
            node.succs.iter().for_each(|&succ| preds[succ].push(number as u32));
        }
        let mut live = Vec::new();
        let (mut kept, mut input) = (vec![0u64; preds.len()], vec![0u64; preds.len()]);
        for slice in candidates.chunks(64) {
            kept.fill(u64::MAX);
            input.fill(0);
            let mut work: Vec<u32> = Vec::new();
            for (bit, &place) in slice.iter().enumerate() {
                for &block in &events.assigned[place] {
                    kept[block as usize] &= !(1 << bit);
                }
                for &block in &events.exposed[place] {
                    input[block as usize] |= 1 << bit;
                    work.push(block);
                }
            }
            while let Some(block) = work.pop() {
                for &pred in &preds[block as usize] {
                    let more = input[block as usize] & kept[pred as usize];
                    if more & !input[pred as usize] != 0 {
                        input[pred as usize] |= more;
                        work.push(pred);
                    }
                }
            }
            live.extend(
                slice
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| input[0] >> bit & 1 == 1)
                    .map(|(_, &p)| p),
            );
        }
        live
    }

    /// What copies of doubtful places and of `undef` come to.
    fn spread(&mut self, f: &Function) {
        let mut copies: Vec<Vec<Place>> = vec![Vec::new(); self.doubtful.len()];
        let mut undefined = Vec::new();
        for node in &self.nodes {
            for &(shadow, from) in &node.passes {
                match from {
                    Some(var) => copies[var.index()].push(shadow),
                    None => undefined.push(shadow),
                }
            }
            for at in node.code.clone() {
                let kind = &f.code[at].kind;
                let (read, set) = self.shadows_of(at, kind);
                match *kind {
                    Kind::Undef(var) => undefined.push(var.index()),
                    Kind::Id(to, from) => copies[from.index()].push(to.index()),
                    Kind::Set(_, from) => copies[from.index()].extend(set),
                    Kind::Get(to) | Kind::Phi(to, _) => {
                        read.into_iter().for_each(|place| copies[place].push(to.index()));
                    }
                    _ => {}
                }
            }
        }
        let mut work: Vec<Place> = (0..copies.len()).filter(|&p| self.doubtful[p]).collect();
        work.extend(undefined);
        let mut seen = vec![false; copies.len()];
        while let Some(place) = work.pop() {
            if !std::mem::replace(&mut seen[place], true) {
                self.doubtful[place] = true;
                work.extend(&copies[place]);
            }
        }
    }
}

struct Events {
    exposed: Vec<Vec<u32>>,
    assigned: Vec<Vec<u32>>,
}

impl Events {
    fn read(&mut self, place: Place, block: usize) {
        let block = block as u32;
        if self.assigned[place].last() != Some(&block) && self.exposed[place].last() != Some(&block)
        {
            self.exposed[place].push(block);
        }
    }

    fn assign(&mut self, place: Place, block: usize) {
        if self.assigned[place].last() != Some(&(block as u32)) {
            self.assigned[place].push(block as u32);
        }
    }
}

/// Visits the variables that an instruction reads; a phi reads none.
pub(super) fn reads(kind: &Kind, mut f: impl FnMut(Var)) {
    match kind {
        Kind::Const(..) | Kind::Jmp(_) | Kind::Ret(None) | Kind::Nop => {}
        Kind::Phi(..) | Kind::Get(_) | Kind::Undef(_) => {}
        Kind::Unary(_, _, a)
        | Kind::Id(_, a)
        | Kind::Bitcast(_, a)
        | Kind::Br(a, _)
        | Kind::Ret(Some(a))
        | Kind::Alloc(_, a)
        | Kind::Free(a)
        | Kind::Load(_, a)
        | Kind::Set(_, a) => f(*a),
        Kind::Binary(_, _, [a, b]) | Kind::Store(a, b) | Kind::PtrAdd(_, a, b) => {
            f(*a);
            f(*b);
        }
        Kind::Call(_, _, args) | Kind::Print(args) => args.iter().for_each(|&arg| f(arg)),
    }
}

type Shadows = (FxHashMap<usize, Place>, FxHashMap<Var, Place>, usize);

/// Numbers the shadows; how many places there are.
fn shadows(f: &Function) -> Shadows {
    let (mut phis, mut gets) = (FxHashMap::default(), FxHashMap::default());
    let mut places = f.vars.len();
    for (at, inst) in f.code.iter().enumerate() {
        let new = match inst.kind {
            Kind::Phi(..) => phis.insert(at, places).is_none(),
            Kind::Get(var) => gets.insert(var, places).is_none(),
            _ => false,
        };
        places += usize::from(new);
    }
    (phis, gets, places)
}

/// All blocks in the order of the text, with their labels.
fn blocks(f: &Function) -> Vec<(Option<Label>, Node)> {
    let mut starts: Vec<(usize, Option<Label>)> = Vec::new();
    let mut labels = f.labels.iter().peekable();
    let mut open = false;
    for at in 0..=f.code.len() {
        while let Some((label, _)) = labels.next_if(|(_, data)| data.at as usize == at) {
            starts.push((at, Some(label)));
            open = true;
        }
        if at < f.code.len() && !open {
            starts.push((at, None));
        }
        open = f.code.get(at).is_some_and(|inst| !inst.kind.ends_block());
    }
    if starts.first().is_none_or(|&(at, label)| at > 0 || label.is_some()) {
        // Where the function begins no label has been passed yet, and no jump leads to.
        starts.insert(0, (0, None));
    }
    let mut block_of = vec![0; f.labels.len()];
    for (number, &(_, label)) in starts.iter().enumerate() {
        label.into_iter().for_each(|label| block_of[label.index()] = number);
    }
    let mut blocks = Vec::with_capacity(starts.len());
    for (number, &(start, label)) in starts.iter().enumerate() {
        let next = starts.get(number + 1);
        let code = start..next.map_or(f.code.len(), |&(at, _)| at);
        let succs = match f.code[code.clone()].last().map(|inst| &inst.kind) {
            Some(kind) if kind.ends_block() => {
                kind.targets().iter().map(|label| block_of[label.index()]).collect()
            }
            _ => next.map(|_| number + 1).into_iter().collect(),
        };
        blocks.push((label, Node { code, passes: Vec::new(), succs }));
    }
    blocks
}

/// Puts a block on each edge that leads to phis.
fn edges(
    f: &Function,
    blocks: Vec<(Option<Label>, Node)>,
    phis: &FxHashMap<usize, Place>,
) -> Vec<Node> {
    let (labels, mut nodes): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
    if phis.is_empty() {
        return nodes;
    }
    for from in 0..labels.len() {
        for way in 0..nodes[from].succs.len() {
            let to = nodes[from].succs[way];
            let mut passes = Vec::new();
            for at in nodes[to].code.clone() {
                let Kind::Phi(_, ways) = &f.code[at].kind else { continue };
                let found = ways.iter().find(|&&(label, _)| Some(label) == labels[from]);
                passes.push((phis[&at], found.map(|&(_, var)| var)));
            }
            if !passes.is_empty() {
                let edge = Node { code: 0..0, passes, succs: SmallVec::from_slice(&[to]) };
                nodes[from].succs[way] = nodes.len();
                nodes.push(edge);
            }
        }
    }
    nodes
}

/// The blocks that a path from the first reaches, in their order.
fn reached(nodes: Vec<Node>) -> Vec<Node> {
    let mut number = vec![None; nodes.len()];
    let mut work = vec![0];
    while let Some(at) = work.pop() {
        if number[at].is_none() {
            number[at] = Some(0);
            work.extend(&nodes[at].succs);
        }
    }
    let mut count = 0;
    for number in number.iter_mut().flatten() {
        *number = count;
        count += 1;
    }
    let mut kept = Vec::with_capacity(count);
    for (at, mut node) in nodes.into_iter().enumerate() {
        if number[at].is_some() {
            node.succs.iter_mut().for_each(|succ| *succ = number[*succ].unwrap_or(0));
            kept.push(node);
        }
    }
    kept
}
