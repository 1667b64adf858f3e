//! What a construction makes of a function, in numbers: block parameters placed, how many of them
//! are dead, instructions left, and the time it took.
//!
//! A parameter is dead where it reaches no instruction and no end of a block, not even through
//! other parameters.
//!
//! A function in the variable form → [`Figures`] of each construction.

use super::{Construction, Folding, construct};
use crate::entity::EntitySet;
use crate::ir::{ENTRY, Function, Terminator, Value, ValueDef};
use std::time::{Duration, Instant};

/// The numbers of one construction, of one function or a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Block parameters, those of the entry not counted.
    pub params: usize,
    /// How many of them are dead.
    pub dead: usize,
    /// Instructions.
    pub insts: usize,
    /// The median of the times.
    pub time: Duration,
}

impl Figures {
    /// The numbers of a function in SSA form.
    pub fn of(f: &Function) -> Self {
        let params = f.blocks.iter().filter(|&(block, _)| block != ENTRY);
        let params = params.map(|(_, data)| data.params.len()).sum();
        let insts = f.blocks.values().map(|data| data.insts.len()).sum();
        Self { params, dead: dead_params(f), insts, time: Duration::ZERO }
    }

    /// Adds those of another function.
    pub fn add(&mut self, other: &Self) {
        self.params += other.params;
        self.dead += other.dead;
        self.insts += other.insts;
        self.time += other.time;
    }
}

/// Constructs SSA form so many times, and takes the median of the times.
pub fn measure(
    f: &Function,
    construction: Construction,
    folding: Folding,
    times: usize,
) -> Figures {
    let mut figures = Figures::default();
    let mut taken: Vec<Duration> = (0..times.max(1))
        .map(|_| {
            let mut copy = f.clone();
            let start = Instant::now();
            construct(&mut copy, construction, folding);
            let time = start.elapsed();
            figures = Figures::of(&copy);
            time
        })
        .collect();
    taken.sort_unstable();
    figures.time = taken[taken.len() / 2];
    figures
}

/// How many block parameters reach no instruction and no end.
fn dead_params(f: &Function) -> usize {
    let mut alive = EntitySet::<Value>::with_len(f.values.len());
    let mut open = Vec::new();
    let mut visit = |value: Value, open: &mut Vec<Value>| {
        if matches!(f.values[value].def, ValueDef::Param(..)) && alive.insert(value) {
            open.push(value);
        }
    };
    // The edges into each block, as arguments by parameter.
    let mut args: Vec<Vec<&[Value]>> = vec![Vec::new(); f.blocks.len()];
    for data in f.blocks.values() {
        data.insts.iter().flat_map(|&inst| f.args(inst)).for_each(|&arg| visit(arg, &mut open));
        match &data.terminator {
            Terminator::Branch { args, .. } => args.iter().for_each(|&arg| visit(arg, &mut open)),
            Terminator::Switch(switch) => visit(switch.value, &mut open),
            Terminator::Return(Some(value)) => visit(*value, &mut open),
            _ => {}
        }
        for edge in data.terminator.edges() {
            args[edge.target.0 as usize].push(&edge.args);
        }
    }
    while let Some(value) = open.pop() {
        if let ValueDef::Param(block, index) = f.values[value].def {
            args[block.0 as usize].iter().for_each(|args| {
                if let Some(&arg) = args.get(index as usize) {
                    visit(arg, &mut open);
                }
            });
        }
    }
    let params = f.blocks.iter().filter(|&(block, _)| block != ENTRY);
    params.flat_map(|(_, data)| &data.params).filter(|&&param| !alive.contains(param)).count()
}
