//! Random matches against the rule: the first arm with a pattern that fits.

use super::deep;
use super::suite::run;
use arbtest::arbitrary::{Result, Unstructured};
use std::fmt::Write;

/// One pattern in the source, and whether it fits each of the values.
type Pattern = (String, Vec<bool>);

/// Runs a match with random arms on all values and compares what it takes with the rule.
fn check(
    u: &mut Unstructured<'_>,
    ty: &str,
    values: &[String],
    pattern: impl Fn(&mut Unstructured<'_>) -> Result<Pattern>,
) -> Result<()> {
    let mut arms = String::new();
    let mut taken: Vec<Option<usize>> = vec![None; values.len()];
    for arm in 0..u.int_in_range(0..=12)? {
        for alternative in 0..u.int_in_range(1..=3)? {
            let (text, fits) = pattern(u)?;
            let _ = write!(arms, "{}{text}", if alternative > 0 { " | " } else { "" });
            for (taken, _) in
                taken.iter_mut().zip(fits).filter(|(taken, fits)| *fits && taken.is_none())
            {
                *taken = Some(arm);
            }
        }
        let _ = writeln!(arms, " => {{ return {arm}; }}");
    }
    let mut source = format!("fn f(x: {ty}) -> int {{ match x {{ {arms} }} return -1; }}\n");
    let mut expected = String::new();
    for (value, taken) in values.iter().zip(taken) {
        let _ = writeln!(source, "print(f({value}));");
        let _ = writeln!(expected, "{}", taken.map_or(-1, |arm| arm as i64));
    }
    let found = deep(|| run("", &source)).expect("a correct program");
    assert_eq!(found, (expected, "exit: 0".to_owned()), "{source}");
    Ok(())
}

fn range(u: &mut Unstructured<'_>, numbers: &[i64], show: fn(i64) -> String) -> Result<Pattern> {
    let (low, high) = (*u.choose(numbers)?, *u.choose(numbers)?);
    Ok(match u.int_in_range(0..=9)? {
        0 => ("_".to_owned(), vec![true; numbers.len()]),
        1..=3 => {
            let fits = numbers.iter().map(|n| (low..=high).contains(n));
            (format!("{}..={}", show(low), show(high)), fits.collect())
        }
        4..=5 => {
            let fits = numbers.iter().map(|n| (low..high).contains(n));
            (format!("{}..{}", show(low), show(high)), fits.collect())
        }
        _ => (show(low), numbers.iter().map(|&n| n == low).collect()),
    })
}

#[test]
fn on_ints() {
    let numbers: Vec<i64> =
        (-9..=9).chain([i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]).collect();
    let values: Vec<String> = numbers.iter().map(i64::to_string).collect();
    arbtest::arbtest(|u| check(u, "int", &values, |u| range(u, &numbers, |n| n.to_string())));
}

#[test]
fn on_bytes() {
    let show = |n| format!("'\\x{n:02x}'");
    let numbers: Vec<i64> = (0..=6).chain(125..=130).chain(250..=255).collect();
    let values: Vec<String> = numbers.iter().map(|&n| show(n)).collect();
    arbtest::arbtest(|u| check(u, "byte", &values, |u| range(u, &numbers, show)));
}

#[test]
fn on_bools_and_strings() {
    let values = ["true", "false"].map(str::to_owned);
    let strings = ["", "a", "b", "ab", "ba", "\u{e9}", "aa", "c", "d"].map(|s| format!("{s:?}"));
    let one_of = |u: &mut Unstructured<'_>, values: &[String]| {
        let chosen = u.choose(values)?;
        Ok(match u.ratio(1, 8)? {
            true => ("_".to_owned(), vec![true; values.len()]),
            false => (chosen.clone(), values.iter().map(|value| value == chosen).collect()),
        })
    };
    arbtest::arbtest(|u| {
        check(u, "bool", &values, |u| one_of(u, &values))?;
        check(u, "str", &strings, |u| one_of(u, &strings))
    });
}
