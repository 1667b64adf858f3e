//! All dataflow problems on a function in the variable form, with every visit on the way.

use super::tables::number;
use crate::analysis::board::{Board, Ways};
use crate::analysis::dataflow::Words;
use crate::analysis::problems::PROBLEMS;
use crate::ir::{Cfg, Function, Module};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// A problem whose states have more facts in all than this is left out.
const MOST: usize = 200_000;

/// The problems, solved; and the names of those that are too large to be shown.
pub fn problems(module: &Module, f: &Function) -> (Vec<Value>, Vec<&'static str>) {
    let cfg = Cfg::compute(f);
    let mut too_large = Vec::new();
    let mut shown = Vec::new();
    for row in PROBLEMS {
        // Facts are about as many as instructions at most.
        let insts: usize = cfg.rpo().iter().map(|&block| f.blocks[block].insts.len()).sum();
        if insts.saturating_mul(cfg.rpo().len()) > 40 * MOST {
            too_large.push(row.name);
            continue;
        }
        let board = (row.draw)(module, f, &cfg, Ways::Worklist);
        let mut states = States::default();
        let solved = problem(&board, &mut states);
        if states.size > MOST {
            too_large.push(row.name);
            continue;
        }
        let [blocks, rounds, steps] = solved;
        shown.push(json!({
            "name": row.name,
            "about": row.about,
            "how": row.how,
            "legend": board.legend,
            "facts": states.facts,
            "states": states.states,
            "blocks": blocks,
            "rounds": rounds,
            "steps": steps,
        }));
    }
    (shown, too_large)
}

fn problem(board: &Board, states: &mut States) -> [Value; 3] {
    let blocks = board.blocks.iter().map(|drawn| {
        let [added, killed] =
            [&drawn.added, &drawn.killed].map(|set| set.as_ref().map(|set| states.number(set)));
        let [input, output] = [&drawn.input, &drawn.output].map(|state| states.number(state));
        json!([number(drawn.block), added, killed, input, output])
    });
    let blocks = blocks.collect();
    let rounds = board.rounds.iter().map(|round| {
        let visits = round.iter().map(|visit| {
            let [input, output] = [&visit.input, &visit.output].map(|state| states.number(state));
            json!([number(visit.block), input, output, u8::from(visit.changed)])
        });
        visits.collect::<Value>()
    });
    let rounds = rounds.collect();
    let steps = board.steps.iter().map(|step| {
        let [input, output] = [&step.input, &step.output].map(|state| states.number(state));
        let changed =
            step.changed.iter().map(|(b, state)| json!([number(*b), states.number(state)]));
        let changed: Vec<Value> = changed.collect();
        json!([number(step.block), input, output, changed])
    });
    [blocks, rounds, steps.collect()]
}

/// What is known at points, each kept once: lists of facts by number, or words.
#[derive(Default)]
struct States {
    facts: Vec<String>,
    by_fact: FxHashMap<String, usize>,
    states: Vec<Value>,
    by_state: FxHashMap<String, usize>,
    size: usize,
}

impl States {
    fn number(&mut self, words: &Words) -> usize {
        let key = words.to_string();
        if let Some(&known) = self.by_state.get(&key) {
            return known;
        }
        let state = match words {
            Words::Other(text) => json!(text),
            Words::Facts(facts) => {
                self.size += facts.len();
                let numbers = facts.iter().map(|fact| {
                    let next = self.facts.len();
                    *self.by_fact.entry(fact.clone()).or_insert_with(|| {
                        self.facts.push(fact.clone());
                        next
                    })
                });
                json!(numbers.collect::<Vec<_>>())
            }
        };
        self.states.push(state);
        self.by_state.insert(key, self.states.len() - 1);
        self.states.len() - 1
    }
}
