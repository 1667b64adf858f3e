//! Out of SSA form, on Bril: `set` and `get` become plain variables again.
//!
//! A `get` and what its `set`s hand over get one name where none of them is alive while another is
//! assigned (Budimlić et al., *Fast Copy Coalescing and Live-Range Identification*, 2002); the `set`s
//! and the `get` are then gone. What is left of the `set`s becomes a copy with `id` where nothing of
//! the name is needed behind it, which is not so on some edges between branches and joins: there
//! `set` and `get` stay.
//!
//! A function in SSA form → one that does the same with fewer instructions.

use super::ast::{Code, Function, Inst, Name, Type};
use crate::source::{Interner, Symbol};
use rustc_hash::FxHashMap;

/// Functions with more names that take part than this stay as they are: rows of bits for each.
const MOST: usize = 1 << 13;

/// A set of the names that take part, by their numbers.
type Bits = Vec<u64>;

/// Merges names in a function.
pub fn coalesce(f: &mut Function, interner: &mut Interner) {
    let [get, set, ret] = ["get", "set", "ret"].map(|word| interner.intern(word));
    let words = Words { get, set, ret };
    let id = interner.intern("id");
    let Some(mut webs) = Webs::of(f, &words) else { return };
    webs.live(f, &words);
    webs.merge();
    webs.rewrite(f, &words, id);
}

struct Words {
    get: Symbol,
    set: Symbol,
    ret: Symbol,
}

/// One `set`: the name that it hands over, and what is alive behind it.
struct Set {
    from: usize,
    after: Bits,
}

struct Webs {
    /// The names that take part, and the other way round.
    names: Vec<Symbol>,
    number: FxHashMap<Symbol, usize>,
    is_param: Vec<bool>,
    /// For each name that a `get` gives: its `set`s.
    sets: Vec<Vec<Set>>,
    gets: Vec<bool>,
    /// For each name: what is alive where it is assigned.
    rows: Vec<Bits>,
    /// Its class, and the members of each class.
    class: Vec<usize>,
    members: Vec<Vec<usize>>,
}

fn inst(code: &Code) -> Option<&Inst> {
    match code {
        Code::Inst(inst) => Some(inst),
        Code::Label(_) => None,
    }
}

fn is_set(inst: &Inst, words: &Words) -> bool {
    inst.op.symbol == words.set && inst.args.len() == 2
}

fn insert(bits: &mut Bits, at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

fn remove(bits: &mut Bits, at: usize) {
    bits[at / 64] &= !(1 << (at % 64));
}

fn contains(bits: &Bits, at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

fn add_all(to: &mut Bits, from: &Bits) -> bool {
    let mut changed = false;
    for (to, from) in to.iter_mut().zip(from) {
        changed |= from & !*to != 0;
        *to |= from;
    }
    changed
}

impl Webs {
    /// The names that a `get` gives or a `set` hands over, each assigned once.
    fn of(f: &Function, words: &Words) -> Option<Webs> {
        let mut webs = Webs {
            names: Vec::new(),
            number: FxHashMap::default(),
            is_param: Vec::new(),
            sets: Vec::new(),
            gets: Vec::new(),
            rows: Vec::new(),
            class: Vec::new(),
            members: Vec::new(),
        };
        for inst in f.body.iter().filter_map(inst).filter(|inst| is_set(inst, words)) {
            inst.args.iter().for_each(|name| webs.enter(name.symbol));
        }
        let count = webs.names.len();
        if count == 0 || count > MOST {
            return None;
        }
        let mut assigned = vec![0; count];
        for (name, _) in &f.params {
            if let Some(&at) = webs.number.get(&name.symbol) {
                webs.is_param[at] = true;
                assigned[at] += 1;
            }
        }
        for inst in f.body.iter().filter_map(inst) {
            let dest = inst.dest.and_then(|dest| webs.number.get(&dest.symbol));
            if let Some(&at) = dest {
                assigned[at] += 1;
                webs.gets[at] |= inst.op.symbol == words.get;
            }
        }
        // What is assigned twice is not in SSA form.
        assigned.iter().all(|&times| times == 1).then_some(webs)
    }

    fn enter(&mut self, name: Symbol) {
        if !self.number.contains_key(&name) {
            self.number.insert(name, self.names.len());
            self.class.push(self.names.len());
            self.members.push(vec![self.names.len()]);
            self.names.push(name);
            self.is_param.push(false);
            self.gets.push(false);
            self.sets.push(Vec::new());
        }
    }

    fn empty(&self) -> Bits {
        vec![0; self.names.len().div_ceil(64)]
    }

    /// Finds what is alive where names are assigned and set.
    fn live(&mut self, f: &Function, words: &Words) {
        let blocks = blocks(f, words);
        let mut input = vec![self.empty(); blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (number, block) in blocks.iter().enumerate().rev() {
                let mut live = self.output(block, &input);
                for inst in f.body[block.code.clone()].iter().rev().filter_map(inst) {
                    self.before(&mut live, inst, words);
                }
                changed |= add_all(&mut input[number], &live);
            }
        }
        self.rows = vec![self.empty(); self.names.len()];
        for block in &blocks {
            let mut live = self.output(block, &input);
            // What a `set` handed over is wanted until the end of its block.
            let mut pending = self.empty();
            let sets = f.body[block.code.clone()].iter().filter_map(inst);
            sets.filter(|inst| is_set(inst, words))
                .for_each(|inst| insert(&mut pending, self.number[&inst.args[0].symbol]));
            for at in block.code.clone().rev() {
                let Some(inst) = inst(&f.body[at]) else { continue };
                if is_set(inst, words) {
                    let [to, from] = [0, 1].map(|i| self.number[&inst.args[i].symbol]);
                    self.sets[to].push(Set { from, after: live.clone() });
                    remove(&mut pending, to);
                }
                if let Some(&dest) = inst.dest.and_then(|dest| self.number.get(&dest.symbol)) {
                    self.rows[dest] = live.clone();
                    add_all(&mut self.rows[dest], &pending);
                }
                self.before(&mut live, inst, words);
            }
            self.together(f, block, words);
            self.at_once(f, block, words);
        }
        // All parameters are there from the beginning.
        let mut start = input.first().cloned().unwrap_or_default();
        let params: Vec<usize> = (0..self.names.len()).filter(|&at| self.is_param[at]).collect();
        params.iter().for_each(|&at| insert(&mut start, at));
        params.iter().for_each(|&at| self.rows[at] = start.clone());
    }

    /// The `get`s at the beginning of a block happen at once.
    fn together(&mut self, f: &Function, block: &Block, words: &Words) {
        let gets: Vec<usize> = f.body[block.code.clone()]
            .iter()
            .filter_map(inst)
            .take_while(|inst| inst.op.symbol == words.get)
            .filter_map(|inst| self.number.get(&inst.dest?.symbol).copied())
            .collect();
        let Some(&last) = gets.last() else { return };
        let mut after = self.rows[last].clone();
        // Each of them that is used later is alive behind the last.
        gets.iter().for_each(|&at| insert(&mut after, at));
        gets.iter().for_each(|&at| self.rows[at] = after.clone());
    }

    /// What is set at the end of a block is wanted behind all of its `set`s.
    fn at_once(&mut self, f: &Function, block: &Block, words: &Words) {
        let sets = f.body[block.code.clone()].iter().filter_map(inst);
        let sets: Vec<usize> = sets
            .filter(|inst| is_set(inst, words))
            .map(|inst| self.number[&inst.args[0].symbol])
            .collect();
        for &to in &sets {
            let Some(set) = self.sets[to].last_mut() else { continue };
            for &other in sets.iter().filter(|&&other| other != to) {
                insert(&mut set.after, other);
            }
        }
    }

    fn output(&self, block: &Block, input: &[Bits]) -> Bits {
        let mut live = self.empty();
        for &succ in &block.succs {
            add_all(&mut live, &input[succ]);
        }
        live
    }

    /// Goes back over an instruction.
    fn before(&self, live: &mut Bits, inst: &Inst, words: &Words) {
        if let Some(&dest) = inst.dest.and_then(|dest| self.number.get(&dest.symbol)) {
            remove(live, dest);
        }
        let read = if is_set(inst, words) { &inst.args[1..] } else { &inst.args[..] };
        for name in read {
            if let Some(&at) = self.number.get(&name.symbol) {
                insert(live, at);
            }
        }
    }

    fn interfere(&self, a: usize, b: usize) -> bool {
        a != b && (contains(&self.rows[a], b) || contains(&self.rows[b], a))
    }

    /// Gives one class to what `set`s hand over and what the `get` gives, as far as that can be.
    fn merge(&mut self) {
        for to in 0..self.names.len() {
            for number in 0..self.sets[to].len() {
                let (a, b) = (self.class[to], self.class[self.sets[to][number].from]);
                if a == b || !self.gets[to] {
                    continue;
                }
                let apart = |&x: &usize| self.members[b].iter().all(|&y| !self.interfere(x, y));
                if self.members[a].iter().all(apart) {
                    let moved = std::mem::take(&mut self.members[b]);
                    moved.iter().for_each(|&member| self.class[member] = a);
                    self.members[a].extend(moved);
                }
            }
        }
        // Where a copy would hurt, the name keeps its `get`, and itself.
        for to in 0..self.names.len() {
            let class = self.class[to];
            let hurts = |set: &Set| {
                self.class[set.from] != class
                    && self.members[class].iter().any(|&member| contains(&set.after, member))
            };
            if self.gets[to] && self.sets[to].iter().any(hurts) {
                self.gets[to] = false;
                self.members[class].retain(|&member| member != to);
                self.class[to] = self.members.len();
                self.members.push(vec![to]);
            }
        }
    }

    fn rewrite(&self, f: &mut Function, words: &Words, id: Symbol) {
        // A class has the name of its parameter, or of its first member.
        let name_of = |symbol: Symbol| {
            let Some(&at) = self.number.get(&symbol) else { return symbol };
            let members = &self.members[self.class[at]];
            let param = members.iter().find(|&&member| self.is_param[member]);
            let least = param.or(members.iter().min()).copied().unwrap_or(at);
            self.names[least]
        };
        let types: FxHashMap<Symbol, Type> = f
            .body
            .iter()
            .filter_map(inst)
            .filter(|inst| inst.op.symbol == words.get)
            .filter_map(|inst| Some((inst.dest?.symbol, inst.ty.clone()?)))
            .collect();
        let mut body = Vec::with_capacity(f.body.len());
        for code in std::mem::take(&mut f.body) {
            let Code::Inst(mut inst) = code else {
                body.push(code);
                continue;
            };
            let resolved =
                |name: &Name| self.number.get(&name.symbol).is_some_and(|&at| self.gets[at]);
            if inst.op.symbol == words.get && inst.dest.as_ref().is_some_and(resolved) {
                continue;
            }
            if is_set(&inst, words) && resolved(&inst.args[0]) {
                let [to, from] = [0, 1].map(|i| name_of(inst.args[i].symbol));
                if to == from {
                    continue;
                }
                inst.ty = types.get(&inst.args[0].symbol).cloned();
                inst.dest = Some(Name { symbol: to, ..inst.args[0] });
                inst.op.symbol = id;
                inst.args.remove(0);
            }
            inst.args.iter_mut().for_each(|name| name.symbol = name_of(name.symbol));
            inst.dest.iter_mut().for_each(|name| name.symbol = name_of(name.symbol));
            body.push(Code::Inst(inst));
        }
        f.body = body;
    }
}

struct Block {
    code: std::ops::Range<usize>,
    succs: Vec<usize>,
}

/// The blocks of a function in the order of the text.
fn blocks(f: &Function, words: &Words) -> Vec<Block> {
    let mut starts = vec![0];
    for (at, code) in f.body.iter().enumerate() {
        let start = match code {
            Code::Label(_) => at,
            Code::Inst(inst) if ends_block(inst, words) => at + 1,
            Code::Inst(_) => continue,
        };
        if starts.last() != Some(&start) {
            starts.push(start);
        }
    }
    starts.retain(|&start| start < f.body.len() || start == 0);
    let mut of_label = FxHashMap::default();
    for (number, &start) in starts.iter().enumerate() {
        if let Some(Code::Label(name)) = f.body.get(start) {
            of_label.insert(name.symbol, number);
        }
    }
    let mut blocks = Vec::with_capacity(starts.len());
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(f.body.len());
        let last = f.body[start..end].last().and_then(inst).filter(|inst| ends_block(inst, words));
        let succs = match last {
            Some(last) => last
                .labels
                .iter()
                .filter_map(|label| of_label.get(&label.symbol).copied())
                .collect(),
            None => (number + 1 < starts.len()).then_some(number + 1).into_iter().collect(),
        };
        blocks.push(Block { code: start..end, succs });
    }
    blocks
}

/// Whether what follows is reached by a label only.
fn ends_block(inst: &Inst, words: &Words) -> bool {
    !inst.labels.is_empty() || inst.op.symbol == words.ret
}
