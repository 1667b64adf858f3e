use super::*;
use crate::ir::parse;
use crate::x64::X64;
use std::fs;

fn read(path: &str) -> (Sources, Module) {
    let text = fs::read_to_string(path).unwrap();
    let mut sources = Sources::new();
    sources.add(path, text.clone()).unwrap();
    if path.ends_with(".ir") {
        return (sources, parse::module(&text).unwrap());
    }
    let (front, diagnostics) = pipeline::front(&sources, &mut Timings::new());
    (sources, front.unwrap_or_else(|| panic!("{path}: {diagnostics:?}")).lowered.module)
}

fn recorded(path: &str, level: u8) -> Record {
    let (sources, module) = read(path);
    let functions: Vec<FuncRef> = module.functions.keys().collect();
    let program = Program { sources: &sources, module: &module, functions: &functions };
    record(&program, &Options { level, ..Options::default() }, None).unwrap()
}

fn examples() -> Vec<String> {
    let folders = ["examples", "docs/gallery"].map(|folder| fs::read_dir(folder).unwrap());
    let paths = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let is_program = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|extension| extension == "toy" || extension == "ir")
    };
    let mut paths: Vec<String> =
        paths.filter(is_program).map(|path| path.to_str().unwrap().to_owned()).collect();
    paths.sort();
    paths
}

#[test]
fn the_same_program_gives_the_same_page() {
    let page = |_| page::page(recorded("docs/gallery/primes.toy", 2));
    let [first, second] = [0, 1].map(page);
    assert_eq!(first, second);
    // Without the data the page is below 500 KB, and it names nothing beyond itself.
    let own = first.split("<script type=").next().unwrap().len()
        + first.rsplit("</script>").nth(1).unwrap().len();
    assert!(own < 500_000);
    for far in ["src=", "href=", "@import", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!first.contains(far), "{far}");
    }
}

#[test]
fn data_ends_no_element() {
    let mut sources = Sources::new();
    sources.add("x.toy", "print(\"</script><!--\");\n").unwrap();
    let (front, _) = pipeline::front(&sources, &mut Timings::new());
    let module = front.unwrap().lowered.module;
    let functions: Vec<FuncRef> = module.functions.keys().collect();
    let program = Program { sources: &sources, module: &module, functions: &functions };
    let page = page::page(record(&program, &Options::default(), None).unwrap());
    assert!(page.contains("\\u003c/script>\\u003c!--"));
    assert!(!page.contains("</script><!--"));
}

#[test]
fn every_machine_instruction_is_explained() {
    let target = X64::native();
    for path in examples() {
        let (_, module) = read(&path);
        for level in [0, 2] {
            let mut made = module.clone();
            let options = Options { level, ..Options::default() };
            pipeline::middle(&mut made, &options, &mut Timings::new(), &mut ());
            for f in made.functions.values() {
                for name in compile(&target, &made, f, false).mnemonics() {
                    assert!(help::mnemonic(&name).is_some(), "{name} in {path}");
                }
            }
        }
    }
}

/// What the events of an allocation say is what came out: where each value is at each operand.
#[test]
fn events_tell_the_whole_allocation() {
    let mut operands = 0;
    for path in examples() {
        for level in [0, 2] {
            for f in recorded(&path, level).functions {
                operands += replay(&f["allocation"], &path);
            }
        }
    }
    assert!(operands > 5_000, "{operands}");
}

/// A piece: virtual register, beginning, end, home.
#[derive(Clone)]
struct Piece<'a>(&'a str, u64, u64, &'a str);

fn replay(allocation: &Value, path: &str) -> usize {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut slots = BTreeMap::new();
    for event in allocation["events"].as_array().unwrap() {
        let number = |at: usize| event[at].as_u64().unwrap();
        let text = |at: usize| event[at].as_str().unwrap();
        let piece = || number(1) as usize;
        match text(0) {
            "interval" => {
                assert_eq!(piece(), pieces.len());
                let ranges = event[3].as_array().unwrap();
                let start = ranges[0][0].as_u64().unwrap();
                let end = ranges[ranges.len() - 1][1].as_u64().unwrap();
                pieces.push(Piece(text(2), start, end, ""));
            }
            "assign" => pieces[piece()].3 = text(2),
            "spill" => pieces[piece()].3 = "slot",
            "evict" if event[3].is_null() => pieces[piece()].3 = "",
            "split" => {
                assert_eq!(number(3) as usize, pieces.len());
                let Piece(vreg, _, end, _) = pieces[piece()];
                pieces.push(Piece(vreg, number(4), end, ""));
                pieces[piece()].2 = number(2);
            }
            "slot" => _ = slots.insert(text(1), text(2)),
            _ => {}
        }
    }
    let operands = allocation["operands"].as_array().unwrap();
    for operand in operands {
        let (at, vreg) = (operand[0].as_u64().unwrap(), operand[1].as_str().unwrap());
        let place = operand[2].as_str().unwrap();
        let mut there = pieces.iter().filter(|p| p.0 == vreg && p.1 <= at && at < p.2);
        let home = there.next().map(|p| if p.3 == "slot" { slots[vreg] } else { p.3 });
        assert_eq!(home, Some(place), "{operand} in {path}");
        assert!(there.next().is_none(), "{operand} in {path}");
    }
    operands.len()
}

#[test]
fn what_is_recorded_of_a_swap() {
    let record = recorded("docs/gallery/swap.toy", 2).to_json();
    assert_eq!(record["version"], 1);
    let functions = record["functions"].as_array().unwrap();
    let f = functions.iter().find(|f| f["name"] == "swapped").unwrap();
    let stages = f["stages"].as_array().unwrap();
    assert_eq!([&stages[0]["name"], &stages[1]["name"]], ["cfg", "ssa"]);
    // The cycle of the two registers is opened.
    let events = f["allocation"]["events"].as_array().unwrap();
    assert!(events.iter().any(|event| event[0] == "done" && event[2] == "cycle"));
    // Braun's makes φs that wait for the loop to be sealed, and takes trivial ones away.
    let events = |construction: usize| f["ssa"][construction]["events"].as_array().unwrap();
    let count = |name| events(0).iter().filter(|event| event[0] == name).count() as u64;
    assert_eq!(count("phi") - count("trivial"), f["ssa"][0]["params"].as_u64().unwrap());
    assert!(events(0).iter().any(|event| event[0] == "phi" && event[4] == 1));
    assert!(events(1).iter().any(|event| event[0] == "join"));
}

#[test]
fn a_large_program_is_shown_without_players() {
    let mut text = String::new();
    for n in 0..500 {
        text += &format!(
            "fn f{n}(a: int, b: int) -> int {{ var x = a; x = x * b + {n}; x = x - a; \
                          x = x * x + b; if x > a {{ x = x - 1; }} x = x + a * b; \
                          x = x * 3 + a * 7 + b * 9 - a * a + b * b; return x; }}\n"
        );
    }
    let mut sources = Sources::new();
    sources.add("x.toy", text).unwrap();
    let (front, _) = pipeline::front(&sources, &mut Timings::new());
    let module = front.unwrap().lowered.module;
    let functions: Vec<FuncRef> = module.functions.keys().collect();
    let options = Options { verify: false, ..Options::default() };
    let all = Program { sources: &sources, module: &module, functions: &functions };
    let record_of_all = record(&all, &options, None).unwrap();
    assert!(
        record_of_all
            .functions
            .iter()
            .all(|f| f["ssa"].is_null() && f["machine"]["asm"].is_array())
    );
    let one = Program { functions: &functions[..1], ..all };
    assert!(record(&one, &options, None).unwrap().functions[0]["ssa"].is_array());
}
