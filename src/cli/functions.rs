//! Which functions of a program a verb is about.

use super::exit::EXIT_USAGE;
use super::source::complain;
use toyjit::Program;
use toyjit::inspect::View;

/// All functions, or those of a name; an exit code, and what is wrong is told, where there is none.
pub fn chosen<'p>(program: &'p Program, name: Option<&str>) -> Result<View<'p>, i32> {
    program.view(name).map_err(|unknown| {
        complain(&unknown.to_string(), unknown.meant());
        EXIT_USAGE
    })
}
