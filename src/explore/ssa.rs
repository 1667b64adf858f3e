//! The constructions of SSA form, each with all that happens on the way.

use super::code::{Union, blocks};
use super::tables::{Tables, number};
use crate::ir::print::{Parts, Printer};
use crate::ir::{Function, Inst, InstData, Module, Terminator, Value as V};
use crate::ssa::figures::Figures;
use crate::ssa::{Construction, Event, Folding, construct_watched};
use serde_json::{Value, json};

/// More events than this are not shown.
const MOST: usize = 60_000;

/// The constructions of a function in the variable form. Nothing is folded, so that each instruction
/// can be followed.
pub fn constructions(
    tables: &mut Tables<'_>,
    printer: &Printer<'_>,
    module: &Module,
    f: &Function,
) -> Value {
    let all = Construction::ALL.into_iter().map(|construction| {
        let mut events = Vec::new();
        let mut made = f.clone();
        construct_watched(&mut made, construction, Folding::Off, &mut events);
        let Figures { params, dead, insts, .. } = Figures::of(&made);
        let shown = blocks(tables, printer, &made, &mut Union::new());
        let events = (events.len() <= MOST && construction != Construction::BraunGvn)
            .then(|| self::events(tables, module, f, &made, &events));
        json!({
            "name": construction.name(),
            "params": params,
            "dead": dead,
            "insts": insts,
            "blocks": shown,
            "events": events,
        })
    });
    all.collect()
}

/// The events, with names for what they are about. Instructions are named by their place in the
/// block that they came from.
fn events(
    tables: &mut Tables<'_>,
    module: &Module,
    before: &Function,
    made: &Function,
    events: &[Event],
) -> Value {
    let mut places = vec![0; before.insts.len()];
    for data in before.blocks.values() {
        data.insts.iter().enumerate().for_each(|(place, &inst)| places[number(inst)] = place);
    }
    let printer = Printer::new(module);
    let mut then = Then { function: made.clone(), printer: &printer };
    let mut print = printer.of(made);
    let shown = events.iter().map(|event| match event {
        Event::Fill(block) => json!(["fill", number(*block)]),
        Event::Renamed(block, inst, operands, result, folded) => {
            let text = tables.text(then.inst(*inst, operands, *result));
            let place = places[number(*inst)];
            json!(["inst", number(*block), place, text, folded.map(|value| print.value(value))])
        }
        Event::Filled(block, operands) => {
            let text = tables.text(then.terminator(before, *block, operands));
            json!(["end", number(*block), text])
        }
        Event::Defined(variable, block, value) => {
            json!(["def", print.variable(*variable), number(*block), print.value(*value)])
        }
        Event::Found(variable, block, value) => {
            json!(["found", print.variable(*variable), number(*block), print.value(*value)])
        }
        Event::Sealed(block) => json!(["seal", number(*block)]),
        Event::Marked(variable, block) => {
            json!(["mark", print.variable(*variable), number(*block)])
        }
        Event::Agreed(variable, block, value) => {
            json!(["agree", print.variable(*variable), number(*block), print.value(*value)])
        }
        Event::Phi(variable, block, value, incomplete) => json!([
            "phi",
            print.variable(*variable),
            number(*block),
            print.value(*value),
            u8::from(*incomplete)
        ]),
        Event::Operands(value, operands) => {
            json!(["operands", print.value(*value), values(&mut print, operands)])
        }
        Event::Replaced(value, same) => {
            json!(["trivial", print.value(*value), print.value(*same)])
        }
        Event::Place(variable, assigned) => {
            let assigned: Vec<usize> = assigned.iter().map(|&block| number(block)).collect();
            json!(["place", print.variable(*variable), assigned])
        }
        Event::Look(variable, block) => json!(["look", print.variable(*variable), number(*block)]),
        Event::Join(variable, block, needed) => {
            json!(["join", print.variable(*variable), number(*block), u8::from(*needed)])
        }
        Event::Enter(block) => json!(["enter", number(*block)]),
        Event::Push(variable, value) => {
            json!(["push", print.variable(*variable), print.value(*value)])
        }
        Event::Leave(block) => json!(["leave", number(*block)]),
        Event::Pop(variable, below) => {
            json!(["pop", print.variable(*variable), below.map(|value| print.value(value))])
        }
        Event::Argument(from, to, variable, value) => json!([
            "arg",
            number(*from),
            number(*to),
            print.variable(*variable),
            print.value(*value)
        ]),
    });
    shown.collect()
}

fn values(print: &mut Parts<'_>, values: &[V]) -> Vec<String> {
    values.iter().map(|&value| print.value(value)).collect()
}

/// Prints instructions as they were at some moment.
struct Then<'a> {
    function: Function,
    printer: &'a Printer<'a>,
}

impl Then<'_> {
    fn inst(&mut self, inst: Inst, operands: &[V], result: Option<V>) -> String {
        let args = self.function.pool.list(operands);
        let data = self.function.insts[inst];
        self.function.insts[inst] = InstData { args, result, ..data };
        let text = self.printer.of(&self.function).inst(inst);
        self.function.insts[inst] = data;
        text
    }

    /// A block's end with these operands, which has no arguments for new parameters yet.
    fn terminator(&mut self, before: &Function, block: crate::ir::Block, operands: &[V]) -> String {
        let mut terminator = before.blocks[block].terminator.clone();
        let mut operands = operands.iter();
        terminator.map_uses(|value| operands.next().copied().unwrap_or(value));
        let blocks = &mut self.function.blocks;
        let made: Terminator = std::mem::replace(&mut blocks[block].terminator, terminator);
        let text = self.printer.of(&self.function).terminator(block);
        self.function.blocks[block].terminator = made;
        text
    }
}
