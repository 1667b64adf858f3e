//! The files of a program: the one that was named, and those that it imports.
//!
//! `from "PATH" import @f, @g as @h;` makes functions of another file callable here. A path is
//! looked up beside the file that names it, then in the working directory. Each file is read once,
//! so that files may import each other. Functions of different files never meet by name: each file
//! has a scope of its own.
//!
//! `Sources` with the main file → [`Read`]. What reads files is handed in.

use super::ast;
use super::check::{Scope, Scoped, check};
use super::lexer::lex;
use super::parser;
use super::program::{Func, Program};
use crate::source::{Diagnostic, Interner, Severity, Sources, Span, decode};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};

/// How a program is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As text.
    Text,
    /// As JSON.
    Json,
}

/// Reads another file; the reason where that can't be done.
pub type Loader<'a> = &'a mut dyn FnMut(&Path) -> Result<String, String>;

/// What came of reading a program.
#[derive(Debug)]
pub struct Read {
    /// The names.
    pub interner: Interner,
    /// The trees of all files, the named one first.
    pub files: Vec<ast::Program>,
    /// The checked program, where nothing is wrong.
    pub program: Option<Program>,
    /// What is to be said.
    pub diagnostics: Vec<Diagnostic>,
}

/// The form of a Bril program, by its file's name, or where that is `-` by how its text begins; none
/// of what is no Bril.
pub fn form_of(path: &Path, text: &str) -> Option<Form> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("bril") => Some(Form::Text),
        Some("json") => Some(Form::Json),
        _ if path.as_os_str() == "-" || path.as_os_str() == "<stdin>" => guess(text),
        _ => None,
    }
}

fn guess(text: &str) -> Option<Form> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with(['@', '#']) || text.starts_with("from \"") {
        return Some(Form::Text);
    }
    let inside = text.strip_prefix('{')?.trim_start();
    (inside.starts_with("\"functions\"") || inside.starts_with("\"imports\"")).then_some(Form::Json)
}

/// Reads an imported file from where it lies.
pub fn load(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    decode(bytes).map_err(|problem| problem.to_string())
}

/// One file that was read.
struct File {
    path: PathBuf,
    tree: ast::Program,
    /// For each of its imports: the file that it is.
    imports: Vec<Option<usize>>,
}

/// Reads the program whose main file is the only one of `sources`; the others are added.
pub fn read(sources: &mut Sources, form: Form, load: Loader<'_>) -> Read {
    let mut interner = Interner::new();
    let mut diagnostics = Vec::new();
    let path = PathBuf::from(&sources.files()[0].name);
    let tree = parse(sources, form, 0, &mut interner, &mut diagnostics);
    let mut files = vec![File { path, tree, imports: Vec::new() }];
    let mut at = 0;
    while at < files.len() {
        let mut imports = Vec::new();
        for import in std::mem::take(&mut files[at].tree.imports) {
            let found = find(&files, at, &import.path);
            let number = match found {
                Found::Known(number) => Some(number),
                Found::New(places) => {
                    let read = add(sources, &places, load, &mut interner, &mut diagnostics);
                    match read {
                        Ok(file) => {
                            files.push(file);
                            Some(files.len() - 1)
                        }
                        Err(why) => {
                            let message = format!("can't import \"{}\": {why}", import.path);
                            diagnostics.push(Diagnostic::error("E0704", import.span, message, ""));
                            None
                        }
                    }
                }
            };
            imports.push(number);
            files[at].tree.imports.push(import);
        }
        files[at].imports = imports;
        at += 1;
    }
    let program = resolve(&files, &mut interner, &mut diagnostics);
    diagnostics.sort_by_key(Diagnostic::span);
    let wrong = diagnostics.iter().any(|d| d.severity == Severity::Error);
    Read {
        interner,
        files: files.into_iter().map(|file| file.tree).collect(),
        program: (!wrong).then_some(program),
        diagnostics,
    }
}

fn parse(
    sources: &mut Sources,
    form: Form,
    base: u32,
    interner: &mut Interner,
    diagnostics: &mut Vec<Diagnostic>,
) -> ast::Program {
    let (tree, said) = match form {
        Form::Text => parser::parse(sources, base, interner),
        Form::Json => super::json::parse(sources, base, interner),
    };
    diagnostics.extend(said);
    tree
}

/// The tokens of a program's main file, one a line.
pub fn tokens(sources: &Sources) -> String {
    let file = &sources.files()[0];
    let lexed = lex(&file.text, file.base(), &mut Interner::new());
    let line = |&span: &Span| {
        let Span { start, .. } = span;
        let place = sources.place(start);
        format!("{}:{} {}\n", place.line, place.column, sources.text(span))
    };
    lexed.spans.iter().map(line).collect()
}

/// The tree of a program's main file, unchecked, with its names and what is wrong with it.
pub fn tree(sources: &mut Sources, form: Form) -> (Interner, ast::Program, Vec<Diagnostic>) {
    let (mut interner, mut diagnostics) = (Interner::new(), Vec::new());
    let tree = parse(sources, form, 0, &mut interner, &mut diagnostics);
    (interner, tree, diagnostics)
}

enum Found {
    Known(usize),
    New(Vec<PathBuf>),
}

/// Where an imported file may be.
fn find(files: &[File], from: usize, path: &str) -> Found {
    let beside = files[from].path.parent().unwrap_or(Path::new("")).join(path);
    let places = vec![beside, PathBuf::from(path)];
    match files.iter().position(|file| places.contains(&file.path)) {
        Some(number) => Found::Known(number),
        None => Found::New(places),
    }
}

/// Reads an imported file.
fn add(
    sources: &mut Sources,
    places: &[PathBuf],
    load: Loader<'_>,
    interner: &mut Interner,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<File, String> {
    let mut why = String::new();
    for path in places {
        match load(path) {
            Ok(text) => {
                let form = match path.extension() {
                    Some(extension) if extension == "json" => Form::Json,
                    _ => Form::Text,
                };
                let base = sources.add(path.display().to_string(), text);
                let base = base.ok_or("the files are larger than 4 GiB together")?;
                let tree = parse(sources, form, base, interner, diagnostics);
                return Ok(File { path: path.clone(), tree, imports: Vec::new() });
            }
            Err(error) if why.is_empty() => why = error,
            Err(_) => {}
        }
    }
    Err(why)
}

/// Gives each file its scope and checks all functions.
fn resolve(files: &[File], interner: &mut Interner, diagnostics: &mut Vec<Diagnostic>) -> Program {
    let mut scopes: Vec<Scope> = Vec::with_capacity(files.len());
    let mut numbers = 0;
    let error = |span, message: String| Diagnostic::error("E0707", span, message, "");
    for file in files {
        let mut scope = Scope::default();
        for function in &file.tree.functions {
            if scope.insert(function.name.symbol, Func(numbers)).is_some() {
                let name = interner.name(function.name.symbol);
                let message = format!("function `@{name}` is there twice");
                diagnostics.push(error(function.name.span, message));
            }
            numbers += 1;
        }
        scopes.push(scope);
    }
    let own = scopes.clone();
    for (at, file) in files.iter().enumerate() {
        for (import, number) in file.tree.imports.iter().zip(&file.imports) {
            let Some(number) = *number else { continue };
            for &(name, alias) in &import.functions {
                let here = alias.unwrap_or(name);
                let Some(&function) = own[number].get(&name.symbol) else {
                    let name_text = interner.name(name.symbol);
                    let message = format!("\"{}\" has no function `@{name_text}`", import.path);
                    diagnostics.push(Diagnostic::error("E0704", name.span, message, ""));
                    continue;
                };
                if scopes[at].insert(here.symbol, function).is_some_and(|other| other != function) {
                    let name = interner.name(here.symbol);
                    let message = format!("there is a function `@{name}` here already");
                    diagnostics
                        .push(error(here.span, message).help("give it another name: `@f as @g`"));
                }
            }
        }
    }
    let main = interner.find("main").and_then(|main| own[0].get(&main).copied());
    let mut functions = Vec::new();
    let mut taken = FxHashSet::default();
    let mut count: FxHashMap<String, u32> = FxHashMap::default();
    for (file, scope) in files.iter().zip(&scopes) {
        for function in &file.tree.functions {
            let mut name = interner.name(function.name.symbol).to_owned();
            while !taken.insert(name.clone()) {
                let original = interner.name(function.name.symbol);
                let number = count.entry(original.to_owned()).or_default();
                *number += 1;
                name = format!("{original}.{number}");
            }
            functions.push(Scoped { function, scope, name });
        }
    }
    let (program, said) = check(&functions, main, interner);
    diagnostics.extend(said);
    program
}
