//! The conformance suite: what must compile is checked without an error, and the mistakes that are
//! this module's are reported at their lines.

use super::{checked, deep};
use crate::source::Severity;
use std::path::{Path, PathBuf};

/// The conformance programs: names and texts, those that are UTF-8.
pub(super) fn programs() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let files = std::fs::read_dir(&folder).expect("the conformance suite");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toy"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem()?.to_string_lossy().into_owned();
        Some((name, String::from_utf8(std::fs::read(path).ok()?).ok()?))
    };
    paths.into_iter().filter_map(read).collect()
}

fn headed(source: &str, key: &str) -> Vec<usize> {
    let lines = source.lines().map_while(|line| line.strip_prefix("// "));
    lines
        .filter_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse().ok())
        .collect()
}

#[test]
fn right_programs_have_no_errors() {
    deep(|| {
        for (name, source) in programs().iter().filter(|(name, _)| !name.starts_with("error_")) {
            let checked = checked(source);
            assert!(!checked.broken, "{name} does not parse");
            assert!(checked.program.is_some(), "{name}:\n{}", checked.messages());
            assert!(!checked.dump().is_empty());
            if name != "flow_warn_unreachable" {
                let warned: Vec<_> = checked.found().into_iter().map(|(line, _)| line).collect();
                for line in headed(source, "warning:") {
                    assert!(warned.contains(&line), "{name}:{line}");
                }
            }
        }
    });
}

#[test]
fn wrong_programs_are_reported_at_their_lines() {
    let others = ["error_missing_return", "error_unassigned", "error_global_reach"];
    let mut tested = 0;
    deep(|| {
        for (name, source) in programs().iter().filter(|(name, _)| name.starts_with("error_")) {
            let checked = checked(source);
            if checked.broken || others.contains(&name.as_str()) {
                continue;
            }
            let errors = checked.diagnostics.iter().filter(|d| d.severity == Severity::Error);
            let mut lines: Vec<_> = errors.map(|d| checked.line(d.span())).collect();
            lines.dedup();
            assert_eq!(lines, headed(source, "error:"), "{name}:\n{}", checked.messages());
            tested += 1;
        }
    });
    assert!(tested >= 15, "{tested}");
}
