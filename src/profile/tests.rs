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
