//! What is made of a text before it is checked.

use crate::bril::{self, Checks, Form};
use crate::source::{Diagnostic, Interner, Sources};
use crate::syntax;
use std::path::Path;

/// What a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Toy.
    Toy,
    /// Bril in a form, with checks of memory or without.
    Bril(Form, Checks),
    /// The compiler's own IR, which can be looked at, but not run.
    Ir,
}

impl Language {
    /// The language of a file, by the ending of its name; a text from standard input, which has no
    /// name but `-` or `<stdin>`, may be Toy or Bril.
    pub fn of(path: &Path, text: &str) -> Self {
        match path.extension() {
            Some(ending) if ending == "ir" => Self::Ir,
            _ => match bril::form_of(path, text) {
                Some(form) => Self::Bril(form, Checks::On),
                None => Self::Toy,
            },
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Toy => "Toy",
            Self::Bril(..) => "Bril",
            Self::Ir => "IR",
        }
    }
}

/// The tokens of the first file; none where the language has no such stage.
pub fn tokens(sources: &Sources, language: Language) -> Option<String> {
    match language {
        Language::Toy => Some(syntax::dump_tokens(sources, 0)),
        Language::Bril(..) => Some(bril::tokens(sources)),
        Language::Ir => None,
    }
}

/// The unchecked tree of the first file, and what is wrong with it; none where the language has no
/// such stage.
pub fn tree(sources: &mut Sources, language: Language) -> Option<(String, Vec<Diagnostic>)> {
    match language {
        Language::Toy => {
            let mut interner = Interner::new();
            let (ast, said) = syntax::parse(sources, 0, &mut interner);
            Some((syntax::dump_ast(sources, &ast, &interner), said))
        }
        Language::Bril(form, _) => {
            let (interner, tree, said) = bril::tree(sources, form);
            Some((bril::print::text(&tree, &interner), said))
        }
        Language::Ir => None,
    }
}
