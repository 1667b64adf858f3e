//! Makes a Bril program small, by lines: functions go with what calls them, branches become jumps,
//! results become constants; then whatever lines can go.
//!
//! Whether a candidate is still a program is for the predicate to say.

use super::text::reduce_lines;

type Takes<'p> = &'p mut dyn FnMut(&[u8]) -> Option<bool>;

/// The smallest text of a program found that the predicate takes; it takes `text` itself.
pub fn reduce(text: &str, takes: Takes<'_>) -> Vec<u8> {
    let mut best = text.to_owned();
    loop {
        let before = best.len();
        best = without_functions(best, takes);
        for simpler in [as_jump, as_constant] {
            best = with_simpler_lines(best, simpler, takes);
            let small = reduce_lines(best.as_bytes(), takes);
            best = String::from_utf8(small).unwrap_or(best);
        }
        if best.len() >= before {
            return best.into_bytes();
        }
    }
}

/// Drops functions, the last one first.
fn without_functions(mut best: String, takes: Takes<'_>) -> String {
    let heads = best.lines().filter(|line| line.starts_with('@'));
    let name = |head: &str| head.split(['(', ' ', ':', '{']).next().unwrap_or_default().to_owned();
    for name in heads.map(name).collect::<Vec<_>>().into_iter().rev() {
        let mut inside = false;
        let keep = |line: &&str| {
            let own = |word: &str| word == name;
            inside |=
                line.starts_with('@') && line.split(['(', ' ', ':', '{']).next().is_some_and(own);
            let gone = inside || line.split([' ', ';']).any(own);
            inside &= !line.starts_with('}');
            !gone
        };
        let candidate: String = best.lines().filter(keep).map(|line| format!("{line}\n")).collect();
        if takes(candidate.as_bytes()) == Some(true) {
            best = candidate;
        }
    }
    best
}

/// Puts what is simpler in place of lines, the last one first.
fn with_simpler_lines(best: String, simpler: fn(&str) -> Vec<String>, takes: Takes<'_>) -> String {
    let mut lines: Vec<String> = best.lines().map(|line| format!("{line}\n")).collect();
    for at in (0..lines.len()).rev() {
        for choice in simpler(&lines[at]) {
            let before = std::mem::replace(&mut lines[at], choice);
            match takes(lines.concat().as_bytes()) {
                Some(true) => break,
                Some(false) => lines[at] = before,
                None => {
                    lines[at] = before;
                    return lines.concat();
                }
            }
        }
    }
    lines.concat()
}

/// A branch as a jump to one of its targets.
fn as_jump(line: &str) -> Vec<String> {
    match line.trim_end_matches([';', '\n']).split_whitespace().collect::<Vec<_>>()[..] {
        ["br", _, yes, no] => [yes, no].map(|to| format!("  jmp {to};\n")).into(),
        _ => Vec::new(),
    }
}

/// A result as a constant.
fn as_constant(line: &str) -> Vec<String> {
    let zero = match line.split_whitespace().nth(1) {
        Some("int") => "0",
        Some("bool") => "false",
        Some("float") => "0.0",
        _ => return Vec::new(),
    };
    match line.split_once('=') {
        Some((left, right)) if !right.starts_with(" const") => {
            vec![format!("{left}= const {zero};\n")]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_stays() {
        let text = "@main {\n  a: int = const 4;\n  b: int = call @f a;\n  br c .x .y;\n.x:\n  \
                    print b;\n.y:\n}\n@f(a: int): int {\n  ret a;\n}\n@g {\n  call @f;\n}\n";
        let small = reduce(text, &mut |text| {
            let text = String::from_utf8_lossy(text);
            Some(text.contains("print b") && text.contains("b: int") && text.contains(" .y;"))
        });
        assert_eq!(small, b"  b: int = const 0;\n  jmp .y;\n  print b;\n");
    }
}
