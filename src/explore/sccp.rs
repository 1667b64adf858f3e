//! Sparse conditional constant propagation on a function, with all that happens on the way.

use super::code::{Union, blocks};
use super::tables::{Tables, number};
use crate::analysis::graph::Graph;
use crate::ir::print::Printer;
use crate::ir::{FuncRef, Function, Module, Terminator};
use crate::opt::remark::Remarks;
use crate::opt::sccp::{Decision, Event, run_watched};
use crate::opt::{Context, Fuel};
use serde_json::{Value, json};

/// More events than this are not shown.
const MOST: usize = 60_000;

/// A run of the pass on a function as it comes to it; `of_level` says whether the pass runs at the
/// level that is shown.
pub fn run(
    tables: &mut Tables<'_>,
    printer: &Printer<'_>,
    module: &Module,
    id: FuncRef,
    f: &Function,
    of_level: bool,
) -> Value {
    let mut fuel = Fuel::default();
    let mut events = Vec::new();
    let remarks = &mut Remarks::default();
    let cx = &mut Context { module, id, fuel: &mut fuel, remarks, graph: &mut Graph::default() };
    run_watched(&mut f.clone(), cx, &mut events);
    let mut events = events.into_iter();
    let Some(Event::Begin(named)) = events.next() else { return Value::Null };
    if events.len() > MOST {
        return Value::Null;
    }
    let mut print = printer.of(&named);
    let shown = events.map(|event| match event {
        Event::Begin(_) => Value::Null,
        Event::Reached(block) => json!(["reach", number(block)]),
        Event::Raised(value, old, new) => {
            json!(["raise", print.value(value), old.to_string(), new.to_string()])
        }
        Event::ValueQueued(value) => json!(["+value", print.value(value)]),
        Event::Value(value) => json!(["value", print.value(value)]),
        Event::EdgeQueued(block, edge) => json!(["+edge", number(block), edge]),
        Event::Edge(block, edge) => json!(["edge", number(block), edge]),
        Event::Decided(decision) => {
            let text = match decision {
                Decision::Const(value, constant) => {
                    let fact = crate::opt::sccp::Fact::of(constant);
                    format!("{} becomes {fact}", print.value(value))
                }
                Decision::Operand(inst, place) => {
                    let operand = print.value(named.args(inst)[place]);
                    format!("{} becomes its operand {operand}", print.inst(inst))
                }
                Decision::Simpler(inst, op, constant) => {
                    format!("{} becomes {} with {constant}", print.inst(inst), op.info().name)
                }
                Decision::Taken(block, edge) => {
                    let target = match &named.blocks[block].terminator {
                        Terminator::Branch { edges, .. } => edges[edge].target,
                        _ => block,
                    };
                    format!("the branch of {block} becomes a jump to {target}")
                }
            };
            json!(["do", text])
        }
    });
    let shown: Value = shown.collect();
    let names = named.blocks.values().flat_map(|data| {
        let results = data.insts.iter().filter_map(|&inst| named.insts[inst].result);
        data.params.iter().copied().chain(results)
    });
    let mut print = printer.of(&named);
    let names: Vec<String> = names.map(|value| print.value(value)).collect();
    json!({
        "ofLevel": of_level,
        "blocks": blocks(tables, printer, &named, &mut Union::new()),
        "values": names,
        "events": shown,
    })
}
