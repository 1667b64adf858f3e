//! `--remarks`: what the optimiser says of its work, a line each, on standard error.

use super::{json, source};
use toyjit::inspect::Remark;
use toyjit::source::Sources;

/// Tells remarks on a program.
pub fn tell(sources: &Sources, remarks: &[Remark]) {
    if source::is_json() {
        for remark in remarks {
            anstream::eprintln!("{}", json::remark(sources, remark));
        }
    } else {
        anstream::eprint!("{}", listing(sources, remarks));
    }
}

/// A line for each remark: `FILE:LINE:COLUMN: remark: TEXT [PASS]`.
fn listing(sources: &Sources, remarks: &[Remark]) -> String {
    let line = |remark: &Remark| {
        let place = sources.place(remark.span.start);
        let Remark { text, pass, .. } = remark;
        format!("{}:{}:{}: remark: {text} [{pass}]\n", place.file, place.line, place.column)
    };
    remarks.iter().map(line).collect()
}
