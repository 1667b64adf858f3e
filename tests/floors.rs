//! A module names only modules on lower floors (see ARCHITECTURE.md).

use std::fs;
use std::path::{Path, PathBuf};

/// Modules that share a floor of the map and use one another stand here one above the other.
const FLOORS: &[(&str, u32)] = &[
    ("buffer", 0),
    ("entity", 1),
    ("watch", 0),
    ("source", 2),
    ("syntax", 10),
    ("ir", 10),
    ("sema", 20),
    ("analysis", 20),
    ("interp", 30),
    ("bril", 31),
    ("lower", 30),
    ("ssa", 30),
    ("opt", 31),
    ("mach", 30),
    ("regalloc", 40),
    ("x64", 40),
    ("jit", 50),
    ("timing", 60),
    ("report", 60),
    ("profile", 60),
    ("pipeline", 61),
    ("explore", 62),
    ("inspect", 63),
    ("engine", 64),
    ("session", 65),
    ("bench", 65),
];

/// The library's face (see `src/lib.rs`): the modules that the command line may name.
const FACE: &[&str] = &["engine", "inspect", "session", "bench", "report", "source", "timing"];

fn floor(module: &str) -> Option<u32> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|&(_, floor)| floor)
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The modules and items behind a crate's name in a file, tests aside.
fn named<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let text = text.split("#[cfg(test)]").next().unwrap_or("");
    text.match_indices(name)
        .filter(|&(at, _)| !text[..at].ends_with('$'))
        .flat_map(|(at, found)| {
            let rest = &text[at + found.len()..];
            let group = rest.strip_prefix('{').and_then(|r| r.split('}').next());
            let names: Vec<&str> = match group {
                Some(group) => {
                    group.split(',').map(|n| n.split("::").next().unwrap_or("")).collect()
                }
                None => vec![
                    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""),
                ],
            };
            names.into_iter().map(str::trim).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn modules_name_lower_floors_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let mut wrong = Vec::new();
    for path in &files {
        let relative = path.strip_prefix(&root).expect("a file below src");
        let first = relative.components().next().expect("a component").as_os_str();
        let module = Path::new(first).file_stem().and_then(|s| s.to_str()).unwrap_or("");
        let is_test = relative.to_str().is_some_and(|p| p.contains("tests"));
        let Some(own) = floor(module).filter(|_| !is_test) else { continue };
        let text = fs::read_to_string(path).expect("a source file");
        for named in named(&text, "crate::") {
            if named != module && floor(named).is_some_and(|other| other >= own) {
                wrong.push(format!("{} (floor {own}) names {named}", relative.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_command_line_names_the_face_only() {
    let mut files = Vec::new();
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli"), &mut files);
    assert!(files.len() > 20);
    let mut wrong = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).expect("a source file");
        let is_item = |name: &str| name.starts_with(char::is_uppercase);
        let named = named(&text, "toyjit::").into_iter();
        let others = named.filter(|name| !FACE.contains(name) && !is_item(name));
        wrong.extend(others.map(|name| format!("{} names {name}", path.display())));
        if text.contains("toyjit_runtime") {
            wrong.push(format!("{} names the runtime", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
