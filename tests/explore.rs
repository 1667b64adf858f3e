//! The page of `toyjit explore` in a browser: worked as a person does, and what it shows compared with
//! what the verbs print. Where there is no Chromium nothing is tested, and that is said; `CHROMIUM`
//! names one that has another name.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

const DRIVE: &str = include_str!("explore/drive.js");

fn toyjit(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_toyjit")).args(args).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "toyjit {}: {said}", args.join(" "));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json_of(args: &[&str]) -> Value {
    serde_json::from_str(&toyjit(args)).expect("JSON")
}

fn chromium() -> Option<PathBuf> {
    let named = env::var_os("CHROMIUM").map(PathBuf::from);
    let paths = env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut found = env::split_paths(&paths).flat_map(|path| names.map(|name| path.join(name)));
    named.or_else(|| found.find(|path| path.is_file()))
}

/// A new folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// Opens a page in a window of this width; the document as it is in the end.
fn browse(chromium: &Path, folder: &Path, page: &Path, width: u32) -> String {
    let run = |attempt: u32| {
        let profile = folder.join(format!("profile-{width}-{attempt}"));
        let output = Command::new(chromium)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args(["--disable-dev-shm-usage", "--virtual-time-budget=60000", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("--window-size={width},900"))
            .arg(format!("file://{}", page.display()))
            .stderr(Stdio::null())
            .output()
            .expect("Chromium starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // A browser that does not come up says nothing at all.
    (0..3).map(run).find(|dom| !dom.trim().is_empty()).unwrap_or_default()
}

fn report(dom: &str) -> Option<&str> {
    let (_, rest) = dom.split_once("<pre id=\"report\">")?;
    rest.split_once("</pre>").map(|(report, _)| report)
}

/// All that the verbs print of a function.
fn expected(file: &str, function: &str) -> Value {
    let emit = |stage: &str| toyjit(&["emit", stage, file, "-f", function]);
    let problems = toyjit::analysis::problems::PROBLEMS
        .iter()
        .map(|row| json_of(&["analyze", row.name, file, "-f", function, "--json"]));
    let problems: Vec<Value> = problems.collect();
    let mut ssa = json_of(&["ssa", file, "--times", "1", "--no-folding", "--json"]);
    let functions = ssa["functions"].as_array_mut().expect("functions");
    functions.retain(|row| row["function"] == function);
    let constructed = ["braun", "minimal", "semi-pruned", "pruned"].map(|name| {
        (name.to_owned(), json!(toyjit(&["emit", "ssa", file, "-f", function, "--ssa", name])))
    });
    json!({
        "source": fs::read_to_string(file).expect("the program"),
        "cfg": emit("cfg"),
        "opt": emit("opt"),
        "vcode": emit("vcode"),
        "regalloc": emit("regalloc"),
        "asm": emit("asm"),
        "analyze": problems,
        "ssa": ssa,
        "constructed": Value::Object(constructed.into_iter().collect()),
        "sccp": toyjit(&["emit", "opt", file, "-f", function, "--after", "sccp"]),
    })
}

/// The page of a program with what works it, and the page around it that is so narrow.
fn pages(folder: &Path, file: &str, functions: &[&str], narrow: u32) -> (PathBuf, PathBuf) {
    let page = folder.join("page.html");
    toyjit(&["explore", file, "-o", page.to_str().expect("a plain path")]);
    let expected = functions.iter().map(|&name| (name.to_owned(), expected(file, name)));
    let expected = Value::Object(expected.collect()).to_string().replace('<', "\\u003c");
    let mut text = fs::read_to_string(&page).expect("the page");
    let _ = write!(text, "<script>const EXPECTED = {expected};\n{DRIVE}</script>");
    fs::write(&page, text).expect("the page is written");
    let around = around(folder, narrow);
    (page, around)
}

/// A page around `page.html`, which is so narrow in it.
fn around(folder: &Path, narrow: u32) -> PathBuf {
    let around = folder.join("around.html");
    let text = format!(
        "<!doctype html><body><iframe src=page.html width={narrow} height=844></iframe><script>\n\
         addEventListener('message', (event) => document.body.append(Object.assign(\
         document.createElement('pre'), {{ id: 'report', textContent: event.data }})));\n</script>"
    );
    fs::write(&around, text).expect("the page is written");
    around
}

fn check(name: &str, file: &str, functions: &[&str]) {
    let Some(chromium) = chromium() else {
        eprintln!("no Chromium here: {name} is not tested");
        return;
    };
    let folder = folder(name);
    let (page, around) = pages(&folder, file, functions, 390);
    for (page, width) in [(page, 1280), (around, 800)] {
        let dom = browse(&chromium, &folder, &page, width);
        assert_eq!(report(&dom), Some("all is well"), "{file} in {width}");
    }
    fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn loops_and_checks() {
    check("primes", "docs/gallery/primes.toy", &["primes_below", "script"]);
}

#[test]
fn a_swap_a_lost_copy_and_a_loop_folded_away() {
    check("swap", "docs/gallery/swap.toy", &["swapped"]);
    check("lost-copy", "docs/gallery/lost_copy.toy", &["before_last"]);
    check("folded", "docs/gallery/folded_loop.toy", &["always_one"]);
}

#[test]
fn values_across_calls() {
    check("calls", "docs/gallery/calls.toy", &["many", "mix"]);
}

#[test]
fn an_irreducible_graph_in_bril() {
    check("irreducible", "tests/bril/irreducible.bril", &["main"]);
}

const HEAT: &str = include_str!("explore/heat.js");

/// The page shows of a profile what the compiler records of it, and that is what ran.
#[test]
fn heat_of_a_run() {
    let folder = folder("heat");
    let path = |name: &str| folder.join(name).to_str().expect("a plain path").to_owned();
    let (file, profile, page) = (path("hot.toy"), path("hot.json"), path("page.html"));
    let program = "fn collatz(start: int) -> int {\n    var n = start;\n    var steps = 0;\n    \
                   while n != 1 {\n        if n % 2 == 0 { n = n / 2; } else { n = 3 * n + 1; }\n        \
                   steps += 1;\n    }\n    return steps;\n}\n\
                   for i in 1..1000 { print(collatz(i)); }\n";
    fs::write(&file, program).expect("the program is written");
    toyjit(&["run", "-O1", "--profile", &profile, &file]);
    let explored = ["explore", "-O1", &file, "--profile", &profile, "--function", "collatz"];
    let recorded = json_of(&[&explored[..], &["--json"]].concat());
    let heat = &recorded["functions"][0]["heat"];
    // Of the steps from 1 to 999 to 1 so many halve, and so many do not.
    let counted: Vec<u64> =
        heat["blocks"].as_array().expect("blocks").iter().filter_map(|b| b[1].as_u64()).collect();
    for count in [999, 59_431, 39_817, 19_614] {
        assert!(counted.contains(&count), "{count} in {counted:?}");
    }
    let Some(chromium) = chromium() else {
        eprintln!("no Chromium here: the heat on the page is not tested");
        return;
    };
    toyjit(&[&explored[..], &["-o", &page]].concat());
    let mut text = fs::read_to_string(&page).expect("the page");
    let _ = write!(text, "<script>{HEAT}</script>");
    fs::write(&page, text).expect("the page is written");
    let around = around(&folder, 390);
    for (page, width) in [(PathBuf::from(&page), 1280), (around, 800)] {
        let dom = browse(&chromium, &folder, &page, width);
        let shown = report(&dom).expect("a report").replace("&lt;", "<").replace("&amp;", "&");
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(shown["fits"], true, "in {width}");
        assert_eq!(shown["hottest"], 5);
        assert_eq!(shown["lines"], recorded["heat"]["lines"][0]);
        assert_eq!(shown["asm"], heat["asm"]);
        assert_eq!(shown["allocated"], heat["allocated"]);
        let told = shown["tip"][1].as_str().expect("a text").replace(',', "");
        assert_eq!(told, format!("ran {} times", shown["tip"][0]));
        let blocks = shown["blocks"].as_array().expect("blocks");
        assert_eq!(blocks.len(), counted.len());
        let hottest = blocks.iter().find(|block| block[2] == "heat5").expect("a hot block");
        assert!(hottest[0].as_str().expect("a head").ends_with(" ×59k"), "{hottest}");
        assert!(hottest[1].as_str().expect("a tip").ends_with(" ran 59,431 times"), "{hottest}");
    }
    fs::remove_dir_all(&folder).expect("the folder goes");
}

/// Opens the page of a program and tells how long that took, in milliseconds.
fn opened(name: &str, program: &str, function: Option<&str>) -> Option<(f64, u64)> {
    let chromium = chromium()?;
    let folder = folder(name);
    let (file, page) = (folder.join("program.toy"), folder.join("page.html"));
    fs::write(&file, program).expect("the program is written");
    let [file, out] = [&file, &page].map(|path| path.to_str().expect("a plain path"));
    let mut args = vec!["explore", file, "-o", out];
    args.extend(function.iter().flat_map(|name| ["--function", name]));
    toyjit(&args);
    let mut text = fs::read_to_string(&page).expect("the page");
    let size = text.len() as u64;
    text += "<script>addEventListener('load', () => { for (const title of ['Passes', 'Dataflow', \
             'SSA']) { const found = [...document.querySelectorAll('#tabs button')].find((b) => \
             b.textContent === title); if (found) found.click(); } document.body.append(\
             Object.assign(document.createElement('pre'), { id: 'report', textContent: \
             performance.now() })); });</script>";
    fs::write(&page, text).expect("the page is written");
    let dom = browse(&chromium, &folder, &page, 1280);
    let took = report(&dom).expect("the page opens").parse().expect("a time");
    fs::remove_dir_all(&folder).expect("the folder goes");
    Some((took, size))
}

/// A function with so many blocks: arms and loops over a few variables.
fn large_function(name: &str, arms: usize) -> String {
    let mut text = format!("fn {name}(n: int) -> int {{\n    var a = n;\n    var b = 1;\n");
    for arm in 0..arms {
        let _ = match arm % 4 {
            0 => writeln!(text, "    for i in 0..{arm} {{ a = a * 3 + i; }}"),
            _ => writeln!(
                text,
                "    if a % {} == b {{ b = b + a; }} else {{ a = a - {arm}; }}",
                arm + 2
            ),
        };
    }
    text + "    return a + b;\n}\n"
}

#[test]
fn a_function_of_500_blocks_opens() {
    let program = large_function("large", 140) + "print(large(7));\n";
    if let Some((took, size)) = opened("large", &program, Some("large")) {
        println!("500 blocks: {took:.0} ms, {size} bytes");
    }
}

#[test]
fn a_program_of_10000_lines_opens() {
    let functions = (0..400).map(|n| large_function(&format!("f{n}"), 20));
    let mut program: String = functions.collect();
    program += "print(f0(1));\n";
    assert!(program.lines().count() > 9_500);
    if let Some((took, size)) = opened("program", &program, None) {
        println!("10,000 lines: {took:.0} ms, {size} bytes");
    }
}
