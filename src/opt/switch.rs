//! Jump tables: a tree or chain of tests of one int against constants becomes a switch.
//!
//! The tree begins at a block's end and goes on in blocks that hold nothing but another test of the same
//! int and that nobody else leads to. A walk over it gives the ints that come to each of its leaves: tests
//! of order halve a range, tests of equality take single ints out of one, so that of two leaves
//! that claim an int the one found first has it. Where the stretches between the first and the last
//! int that does not go where most go are many and dense, a table replaces the tests. (Bernstein, Producing
//! Good Code for the Case Statement, 1985, tells what else could be made.)
//!
//! SSA → SSA, where no later pass knows of switches; O(n log n) in the tests, each of which is
//! looked at as part of a bounded number of trees.

use super::Context;
use crate::entity::EntitySet;
use crate::ir::{Block, Cfg, Edge, Function, Op, Switch, Terminator, Type, Value};
use crate::ssa::empty_unreachable;
use rustc_hash::FxHashMap;
use toyjit_runtime::fault::{self, Fault};

/// The fewest tests that a switch is better than.
const FEWEST_TESTS: usize = 4;
/// The fewest stretches of ints with ways of their own.
const FEWEST_STRETCHES: usize = 5;
/// The most places of a table.
const MOST_PLACES: i128 = 1024;
/// The least part of a table, in percent, that leads elsewhere than its outside.
const DENSITY: i128 = 40;
/// The most tests of a tree.
const MOST_TESTS: usize = 2000;

/// Makes switches.
pub fn run(f: &mut Function, cx: &mut Context<'_>) {
    if !has_tests(f) {
        return;
    }
    let mut changed = false;
    for (tests, switch) in find(f, &cx.graph.cfg(f)) {
        let root = tests[0];
        if !cx.fuel.tick() {
            break;
        }
        cx.remarks.say("switch", f, f.blocks[root].loc, || {
            format!("{} tests became a table of {}", tests.len(), switch.table.len())
        });
        f.blocks[root].terminator = Terminator::Switch(Box::new(switch));
        changed = true;
    }
    if changed {
        empty_unreachable(f, &Cfg::compute(f));
    }
}

/// The tests, but for the first of each tree, that tables will replace if nothing comes between.
pub fn inner_tests(f: &Function, cfg: &Cfg) -> EntitySet<Block> {
    match has_tests(f) {
        true => find(f, cfg).into_iter().flat_map(|(tests, _)| tests.into_iter().skip(1)).collect(),
        false => EntitySet::new(),
    }
}

/// Whether there are enough blocks that hold nothing but a test.
fn has_tests(f: &Function) -> bool {
    let inner = |&block: &Block| f.blocks[block].insts.is_empty() && test(f, block).is_some();
    f.blocks.keys().filter(inner).count() + 1 >= FEWEST_TESTS
}

/// Trees of tests, the first test first, with the tables that replace them.
fn find(f: &Function, cfg: &Cfg) -> Vec<(Vec<Block>, Switch)> {
    let mut found = Vec::new();
    let mut seen = EntitySet::<Block>::with_len(f.blocks.len());
    // Trees are tried from their roots on; where one makes no table, those at its first test's ways.
    let mut left = 8 * f.blocks.len();
    let mut roots = Vec::new();
    let mut tree = Tree::default();
    for &block in cfg.rpo() {
        roots.push((block, ALL));
        while let Some((root, range)) = roots.pop() {
            let Some((value, _)) = test(f, root) else { continue };
            if (range == ALL && seen.contains(root)) || left == 0 {
                continue;
            }
            tree.walk(f, cfg, root, value, range);
            left = left.saturating_sub(tree.tests.len());
            tree.tests.iter().for_each(|&test| _ = seen.insert(test));
            if let Some(switch) = tree.switch(f, value) {
                found.push((tree.tests.clone(), switch));
            } else if tree.halves {
                roots.append(&mut tree.children);
            }
        }
    }
    found
}

/// From the first int to the last, both included.
type Range = (i128, i128);

const ALL: Range = (i64::MIN as i128, i64::MAX as i128);

/// The int that a block's end tests against a constant, and how.
fn test(f: &Function, block: Block) -> Option<(Value, (Op, i128))> {
    let Terminator::Branch { op, args: [value, with], .. } = &f.blocks[block].terminator else {
        return None;
    };
    let fits = matches!(op, Op::IEq | Op::INe | Op::ILt | Op::ILe | Op::IGt | Op::IGe);
    if !fits || f.values[*value].ty != Type::Int || f.as_const(*value).is_some() {
        return None;
    }
    match f.as_const(*with)? {
        crate::ir::Const::Int(with) => Some((*value, (*op, i128::from(with)))),
        _ => None,
    }
}

/// A way out of a tree: the ints that take it, but for those that an earlier leaf has.
struct Leaf {
    range: Range,
    from: Block,
    way: usize,
}

/// What a walk still has to look at: all of a narrower way before the wider one.
enum Step {
    Test(Block, Range),
    Leaf(Leaf),
}

/// A tree, and tables that are used for the next one again.
#[derive(Default)]
struct Tree<'f> {
    tests: Vec<Block>,
    leaves: Vec<Leaf>,
    /// Whether the first test is one of order, so that neither way has all the others.
    halves: bool,
    /// The tests that the first one leads to.
    children: Vec<(Block, Range)>,
    open: Vec<Step>,
    /// The leaves' edges, each once, and its number; the numbers by leaf.
    edges: Vec<&'f Edge>,
    known: FxHashMap<&'f Edge, usize>,
    numbers: Vec<usize>,
    cuts: Vec<i128>,
    owners: Vec<Option<usize>>,
}

impl<'f> Tree<'f> {
    fn walk(&mut self, f: &Function, cfg: &Cfg, root: Block, value: Value, range: Range) {
        let tree = self;
        tree.tests.clear();
        tree.leaves.clear();
        tree.children.clear();
        tree.halves = false;
        tree.open.push(Step::Test(root, range));
        while let Some(step) = tree.open.pop() {
            let (block, range) = match step {
                Step::Test(block, range) => (block, range),
                Step::Leaf(leaf) => {
                    tree.leaves.push(leaf);
                    continue;
                }
            };
            let Some((_, (op, with))) = test(f, block) else { continue };
            tree.tests.push(block);
            let first = block == root;
            if first {
                tree.halves = !matches!(op, Op::IEq | Op::INe);
            }
            let left = tree.open.len();
            for (way, range) in ways(op, with, range) {
                let target = f.blocks[block].terminator.edges()[way].target;
                let data = &f.blocks[target];
                let goes_on = data.insts.is_empty()
                    && data.params.is_empty()
                    && target != root
                    && cfg.pred_edges(target).len() == 1
                    && tree.tests.len() + left < MOST_TESTS
                    && test(f, target).is_some_and(|(tested, _)| tested == value);
                if goes_on {
                    tree.open.push(Step::Test(target, range));
                } else if range.0 <= range.1 {
                    tree.open.push(Step::Leaf(Leaf { range, from: block, way }));
                }
                if first && goes_on {
                    tree.children.push((target, range));
                }
            }
            tree.open[left..].reverse();
        }
    }

    /// The table, where there is a good one.
    fn switch(&mut self, f: &'f Function, value: Value) -> Option<Switch> {
        if self.tests.len() < FEWEST_TESTS {
            return None;
        }
        let edge = |leaf: &Leaf| &f.blocks[leaf.from].terminator.edges()[leaf.way];
        let Self { edges, known, numbers, .. } = self;
        edges.clear();
        known.clear();
        numbers.clear();
        for leaf in &self.leaves {
            let edge = edge(leaf);
            numbers.push(*known.entry(edge).or_insert_with(|| {
                edges.push(edge);
                edges.len() - 1
            }));
            if edges.len() > Switch::MOST_EDGES {
                return None;
            }
        }
        let stretches = self.stretches();
        let edges = &self.edges;
        // What most ints do is done outside.
        let mut sums = vec![0i128; edges.len()];
        stretches.iter().for_each(|&((low, high), edge)| sums[edge] += high - low + 1);
        let default = (0..edges.len()).max_by_key(|&edge| (sums[edge], edge))?;
        let is_own = |&&(_, edge): &&(Range, usize)| edge != default;
        let first = stretches.iter().position(|stretch| is_own(&stretch))?;
        let last = stretches.iter().rposition(|stretch| is_own(&stretch))?;
        let inside = &stretches[first..=last];
        let ((mut low, _), (_, high)) = (inside[0].0, inside[inside.len() - 1].0);
        if (1..=3).contains(&low) {
            low = 0;
        }
        let places = high - low + 1;
        let own: i128 = inside.iter().filter(is_own).map(|&((low, high), _)| high - low + 1).sum();
        let many = inside.len() >= FEWEST_STRETCHES;
        if !many || places > MOST_PLACES || own * 100 < places * DENSITY {
            return None;
        }
        let mut order = vec![default];
        let mut number_of = vec![None; edges.len()];
        number_of[default] = Some(0u8);
        let mut table = vec![0u8; places as usize];
        for &((from, to), edge) in inside {
            let number = *number_of[edge].get_or_insert_with(|| {
                order.push(edge);
                (order.len() - 1) as u8
            });
            table[(from - low) as usize..=(to - low) as usize].fill(number);
        }
        if fault::is(Fault::SwitchLast) {
            table.pop();
        }
        let base = low as i64 + i64::from(fault::is(Fault::SwitchBase));
        let edges = order.into_iter().map(|edge| edges[edge].clone()).collect();
        Some(Switch { value, base, table, edges })
    }

    /// Sorted disjoint stretches of ints, each with the number of its leaf's edge; neighbours of one
    /// edge are joined.
    fn stretches(&mut self) -> Vec<(Range, usize)> {
        let Self { leaves, numbers, cuts, owners, .. } = self;
        cuts.clear();
        cuts.extend(leaves.iter().flat_map(|leaf| [leaf.range.0, leaf.range.1 + 1]));
        cuts.sort_unstable();
        cuts.dedup();
        owners.clear();
        owners.resize(cuts.len(), None);
        for (leaf, &number) in leaves.iter().zip(&*numbers) {
            let from = cuts.partition_point(|&cut| cut < leaf.range.0);
            let wide = leaf.range.1 > leaf.range.0;
            let to = if wide { cuts.partition_point(|&cut| cut <= leaf.range.1) } else { from + 1 };
            owners[from..to].iter_mut().for_each(|edge| _ = edge.get_or_insert(number));
        }
        let mut stretches: Vec<(Range, usize)> = Vec::new();
        for (pair, &edge) in cuts.windows(2).zip(&*owners) {
            let Some(edge) = edge else { continue };
            match stretches.last_mut() {
                Some((range, last)) if *last == edge && range.1 + 1 == pair[0] => {
                    range.1 = pair[1] - 1;
                }
                _ => stretches.push(((pair[0], pair[1] - 1), edge)),
            }
        }
        stretches
    }
}

/// What a test leaves of a range on each of its ways, the narrower one first.
fn ways(op: Op, with: i128, (low, high): Range) -> [(usize, Range); 2] {
    let point = (with.max(low), with.min(high));
    let [below, upto] = [(low, high.min(with - 1)), (low, high.min(with))];
    let [above, from] = [(low.max(with + 1), high), (low.max(with), high)];
    match op {
        Op::IEq => [(0, point), (1, (low, high))],
        Op::INe => [(1, point), (0, (low, high))],
        Op::ILt => [(0, below), (1, from)],
        Op::ILe => [(0, upto), (1, above)],
        Op::IGt => [(0, above), (1, upto)],
        _ => [(0, from), (1, below)],
    }
}
