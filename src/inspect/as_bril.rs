//! Functions written as Bril.

use super::{Stage, View};
use crate::bril::{self, Exported};
use crate::source::Interner;
use serde_json::Value;

/// A Bril program made of functions.
#[derive(Debug)]
pub struct AsBril {
    exported: Exported,
    interner: Interner,
}

impl View<'_> {
    /// The functions as Bril: three-address code, SSA form or (for later stages) what the passes make
    /// of it.
    pub fn as_bril(&self, stage: Stage) -> AsBril {
        let module = self.brought_to(stage, &mut ());
        let mut interner = Interner::new();
        let mut exported = bril::export(&module, &self.functions, self.origin, &mut interner);
        if !matches!(stage, Stage::Cfg | Stage::Ssa) {
            for function in &mut exported.program.functions {
                bril::coalesce(function, &mut interner);
            }
        }
        AsBril { exported, interner }
    }
}

impl AsBril {
    /// In Bril's text form.
    pub fn text(&self) -> String {
        bril::print::text(&self.exported.program, &self.interner)
    }

    /// In its JSON form.
    pub fn json(&self) -> Value {
        bril::json::write(&self.exported.program, &self.interner)
    }

    /// The functions that Bril can't express: their names, and what it has no words for.
    pub fn refused(&self) -> &[(String, String)] {
        &self.exported.refused
    }
}
