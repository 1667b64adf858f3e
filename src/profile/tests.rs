use super::*;
use crate::engine::Engine;

const SOURCE: &str = "fn collatz(start: int) -> int {
    var n = start;
    var steps = 0;
    while n != 1 {
        if n % 2 == 0 { n = n / 2; } else { n = 3 * n + 1; }
        steps += 1;
    }
    return steps;
}
fn main() -> int { return collatz(27); }";

fn profile(level: u8) -> Profile {
    let engine = Engine::new().level(level).counted(true);
    let mut module = engine.compile("collatz.toy", SOURCE).unwrap();
    assert_eq!(module.run().unwrap(), 111);
    module.profile().unwrap()
}

#[test]
fn blocks_are_counted_at_every_level() {
    for level in 0..=3 {
        let profile = profile(level);
        assert_eq!(profile, self::profile(level));
        let blocks = || profile.functions.iter().flat_map(|counts| &counts.blocks);
        let ran = |times: u64| blocks().any(|&(_, count)| count == times);
        // 111 steps: 70 halve, 41 do not.
        assert!(ran(111), "-O{level}: {profile:?}");
        assert!(level >= 2 || ran(70) && ran(41), "-O{level}: {profile:?}");
    }
}

/// What comes into a block goes on, or comes to an end there: so the counts of edges are right, too.
#[test]
fn what_comes_in_goes_out() {
    for level in 0..=3 {
        let program = Engine::new().level(level).check("collatz.toy", SOURCE).unwrap();
        let record = program.view(None).unwrap().explore(Some(&profile(level))).unwrap();
        for f in &record.functions {
            let count_of = |block: &serde_json::Value| {
                let counts = f["heat"]["blocks"].as_array().unwrap();
                counts
                    .iter()
                    .find(|pair| pair[0] == *block)
                    .map_or(0, |pair| pair[1].as_u64().unwrap())
            };
            let last = f["stages"].as_array().unwrap().iter().rev();
            let blocks =
                last.map(|stage| &stage["blocks"]).find(|blocks| !blocks.is_null()).unwrap();
            let profile = profile(level);
            let counts = profile.functions.iter().find(|counts| f["name"] == *counts.name).unwrap();
            for block in blocks.as_array().unwrap() {
                let ways = block[3].as_array().unwrap();
                if ways.is_empty() {
                    continue;
                }
                let way = |(way, to): (usize, &serde_json::Value)| {
                    let of = |edge: &&(u32, u32, u64)| block[0] == edge.0 && edge.1 as usize == way;
                    let counted = counts.edges.iter().find(of).map(|edge| edge.2);
                    counted.unwrap_or_else(|| match ways.len() {
                        1 => count_of(&block[0]),
                        _ => count_of(&to[0]),
                    })
                };
                let out: u64 = ways.iter().enumerate().map(way).sum();
                assert_eq!(out, count_of(&block[0]), "-O{level}: {} of {}", block[0], f["name"]);
            }
        }
    }
}

/// A trap ends a run, not its counts.
#[test]
fn a_run_that_traps_is_counted() {
    let source = "fn main() { for i in 0..100 { assert(i < 70); } }";
    let mut module = Engine::new().counted(true).compile("trap.toy", source).unwrap();
    assert!(module.run().is_err());
    let profile = module.profile().unwrap();
    let counts = &profile.functions.iter().find(|counts| counts.name == "main").unwrap().blocks;
    assert!(counts.iter().any(|&(_, count)| count == 70), "{counts:?}");
}

#[test]
fn json_and_back() {
    let profile = profile(2);
    assert_eq!(Profile::from_json(&profile.to_json()), Ok(profile.clone()));
    let later = profile.to_json().replace("\"version\":1", "\"version\":2");
    assert!(Profile::from_json(&later).unwrap_err().contains("version 2"));
    assert!(Profile::from_json("{}").unwrap_err().contains("no profile"));
}

#[test]
fn a_profile_of_something_else_is_refused() {
    let explored = |engine: Engine, source: &str, profile: &Profile| {
        let program = engine.check("collatz.toy", source).unwrap();
        program.view(None).unwrap().explore(Some(profile)).map(|_| ())
    };
    let profile = profile(2);
    assert_eq!(explored(Engine::new(), SOURCE, &profile), Ok(()));
    let other = SOURCE.replace("27", "28");
    assert_eq!(explored(Engine::new(), &other, &profile), Err(Mismatch::Program));
    let level = Mismatch::Level { profiled: 2, now: 1 };
    assert_eq!(explored(Engine::new().level(1), SOURCE, &profile), Err(level));
    assert_eq!(explored(Engine::new().fuel(1), SOURCE, &profile), Err(Mismatch::Code));
}

/// Counting changes nothing of what a program does.
#[test]
fn counted_programs_do_the_same() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toy") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let ran = |counted: bool| {
            let engine = Engine::new().counted(counted);
            let mut module = engine.compile("example.toy", text.as_str()).unwrap();
            module.set_input(crate::engine::Input::bytes(Vec::new()));
            let printed = module.capture();
            let ended = module.run().map_err(|stopped| stopped.to_string());
            (ended, printed.take(), module.profile().is_some())
        };
        let (plain, counted) = (ran(false), ran(true));
        assert_eq!((&plain.0, &plain.1), (&counted.0, &counted.1), "{}", path.display());
        assert!(!plain.2 && counted.2);
    }
}
