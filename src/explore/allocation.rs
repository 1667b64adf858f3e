//! What happens while registers are allocated.

use crate::mach::{Allocation, Constraint, Edit, Place, RegisterFile, Role, Side, VCode, VInst};
use crate::regalloc::event::{Choice, Event, Origin, Spill, Where, Why};
use crate::x64::Inst;
use crate::x64::dump::{edit_text, place};
use serde_json::{Value, json};

/// More events than this are not shown.
const MOST: usize = 60_000;

/// An allocation to be told of.
pub struct Recording<'a> {
    /// The code.
    pub code: &'a VCode<Inst>,
    /// What came out.
    pub allocation: &'a Allocation,
    /// The registers.
    pub registers: &'a RegisterFile,
}

impl Recording<'_> {
    /// The registers, where operands are, and the events, if they are not too many.
    pub fn to_json(&self, events: &[Event]) -> Option<Value> {
        if events.len() > MOST {
            return None;
        }
        let registers = self.registers.allocatable.iter().map(|&reg| (self.registers.name)(reg));
        Some(json!({
            "registers": registers.collect::<Vec<_>>(),
            "insts": self.code.insts.len(),
            "operands": self.operands(),
            "events": events.iter().map(|event| self.event(event)).collect::<Vec<_>>(),
        }))
    }

    /// Operands that are where their virtual register is: position, virtual register, place.
    fn operands(&self) -> Vec<Value> {
        let mut shown = Vec::new();
        for (at, inst) in self.code.insts.iter().enumerate() {
            let mut operands = Vec::new();
            inst.operands(&mut |operand| operands.push(operand));
            let tied = operands.iter().any(|o| o.constraint == Constraint::SameAsFirst);
            for (operand, &place) in operands.iter().zip(self.allocation.of(at)) {
                let moment = match operand.role {
                    Role::Use if tied && operand.vreg == operands[0].vreg => continue,
                    Role::Use => 1,
                    Role::Def => 2,
                    _ => continue,
                };
                if !matches!(operand.constraint, Constraint::Fixed(_)) {
                    let position = 4 * at + moment;
                    shown.push(json!([position, operand.vreg.to_string(), self::place(place)]));
                }
            }
        }
        shown
    }

    fn event(&self, event: &Event) -> Value {
        let name = self.registers.name;
        match event {
            Event::Interval { piece, vreg, ranges, uses } => {
                json!(["interval", piece, vreg.to_string(), ranges, uses])
            }
            Event::Taken(piece) => json!(["take", piece]),
            Event::Assigned(piece, reg, choice) => {
                let [why, number] = match choice {
                    Choice::Free(until, score) => {
                        let until = (*until != u32::MAX).then_some(until);
                        return json!(["assign", piece, name(*reg), "free", until, score]);
                    }
                    Choice::Taken(distance) => [json!("taken"), json!(distance)],
                    Choice::Last => [json!("last"), Value::Null],
                };
                json!(["assign", piece, name(*reg), why, number])
            }
            Event::Split(piece, end, rest, start) => json!(["split", piece, end, rest, start]),
            Event::Spilled(piece, why) => {
                let why = match why {
                    Spill::Unmovable => "it begins in the middle of an instruction",
                    Spill::UsedLater => "all registers have values that are used sooner",
                    Spill::Asked => "everything is to be in its slot",
                    Spill::Evicted => "it lost its register",
                };
                json!(["spill", piece, why])
            }
            Event::Evicted(piece, reg, from) => json!(["evict", piece, name(*reg), from]),
            Event::Slot(vreg, slot) => json!(["slot", vreg.to_string(), slot.to_string()]),
            Event::Copies(at, copies) => {
                let at = match at {
                    Where::Point(point) => {
                        let side = if point.side == Side::Before { "before" } else { "after" };
                        json!([side, point.inst])
                    }
                    Where::Edge(from, succ) => {
                        let target = self.code.blocks[*from].succs[*succ as usize].target;
                        json!(["edge", from.to_string(), target.to_string()])
                    }
                };
                let copies = copies.iter().map(|(to, from)| match from {
                    Origin::Place(from) => json!([place(*to), place(*from)]),
                    Origin::Made(inst, _) => {
                        let made = match to {
                            Place::Reg(to) => {
                                edit_text(Edit::Remat { to: *to, inst: *inst }, self.code)
                            }
                            Place::Slot(_) => String::new(),
                        };
                        let constant = made.split(" = ").nth(1).unwrap_or("a constant");
                        json!([place(*to), constant])
                    }
                });
                json!(["copies", at, copies.collect::<Vec<_>>()])
            }
            Event::Done(edit, why) => {
                let why = match why {
                    Why::Copy => "copy",
                    Why::Cycle => "cycle",
                    Why::Through => "through",
                    Why::Made => "made",
                };
                json!(["done", edit_text(*edit, self.code), why])
            }
        }
    }
}
