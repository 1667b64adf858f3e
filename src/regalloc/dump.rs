//! Prints live intervals and where they were put: a line for each piece, with its ranges, its home
//! and its uses (`r` in a register, `a` anywhere, `c` copied from there).
//!
//! A position is an instruction's index and a letter: the gap before it, early, late, or after it.

use super::intervals::{Home, Intervals, Need};
use super::layout::Layout;
use crate::mach::RegisterFile;
use std::fmt::Write;

/// All intervals as text.
pub fn intervals(layout: &Layout, intervals: &Intervals, registers: &RegisterFile) -> String {
    let mut text = String::new();
    for vreg in layout.vregs.keys() {
        for (nth, piece) in intervals.pieces_of(vreg).enumerate() {
            let name = if nth == 0 { vreg.to_string() } else { String::new() };
            let home = match intervals[piece].home {
                Home::Reg(reg) => (registers.name)(reg),
                Home::Spilled if layout.remat(vreg).is_some() => "remade",
                Home::Spilled => "spilled",
                Home::Open => "?",
            };
            let ranges: Vec<String> = intervals
                .ranges(piece)
                .map(|range| format!("[{}, {})", range.start, range.end))
                .collect();
            let uses: Vec<String> = intervals
                .uses(piece)
                .iter()
                .map(|u| {
                    let need = match u.need {
                        Need::Register => 'r',
                        Need::Anywhere => 'a',
                        Need::Copied => 'c',
                    };
                    format!("{}:{need}", u.pos)
                })
                .collect();
            let line = format!("{name:<6} {home:<8} {}", ranges.join(" "));
            let uses =
                if uses.is_empty() { String::new() } else { format!("  uses {}", uses.join(" ")) };
            // Writing to a string does not fail.
            let _ = writeln!(text, "{}{uses}", line.trim_end());
        }
    }
    text
}
