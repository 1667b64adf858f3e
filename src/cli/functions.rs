//! Which functions of a program a verb is about.

use super::source::complain;
use crate::ir::{FuncRef, Module};
use crate::report::EXIT_USAGE;
use crate::source::nearest;

/// All functions, or those of a name; an exit code, and what is wrong is told, where there is none.
pub fn chosen(module: &Module, name: Option<&str>) -> Result<Vec<FuncRef>, i32> {
    let Some(name) = name else { return Ok(module.functions.keys().collect()) };
    let found: Vec<FuncRef> =
        module.functions.iter().filter(|(_, f)| f.name == name).map(|(id, _)| id).collect();
    if found.is_empty() {
        let names: Vec<&str> = module.functions.values().map(|f| f.name.as_str()).collect();
        let message = format!("there is no function `{name}`; there are: {}", names.join(", "));
        complain(&message, nearest(name, names.into_iter()));
        return Err(EXIT_USAGE);
    }
    Ok(found)
}
