//! Programs of any size, each of one shape: where compile time grows faster than its input, one of
//! them shows it.

use std::fmt::Write;

/// A way to make a program of about so many statements.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// What it is called.
    pub name: &'static str,
    /// Makes a program.
    pub make: fn(usize) -> String,
}

/// All shapes.
pub const SHAPES: &[Shape] = &[
    Shape { name: "straight", make: straight },
    Shape { name: "ifs", make: ifs },
    Shape { name: "blocks", make: blocks },
    Shape { name: "else_ifs", make: else_ifs },
    Shape { name: "live", make: live },
    Shape { name: "loops", make: loops },
    Shape { name: "nest", make: nest },
    Shape { name: "shadow", make: shadow },
    Shape { name: "functions", make: functions },
    Shape { name: "match", make: matches },
    Shape { name: "top_level", make: top_level },
];

/// The shape of a name.
pub fn named(name: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.name == name)
}

/// A function `f` around a body that computes `result`, and a call of it.
fn function(result: &str, body: impl FnOnce(&mut String)) -> String {
    let mut text = "fn f(p: int) -> int {\n    var x = p;\n".to_owned();
    body(&mut text);
    text + "    return " + result + ";\n}\nprint(f(args().len()));\n"
}

/// Writes into a string, which can't fail.
macro_rules! add {
    ($text:expr, $($format:tt)*) => {
        let _ = writeln!($text, $($format)*);
    };
}

fn straight(n: usize) -> String {
    function("x + y", |text| {
        add!(text, "    var y = 1;");
        for i in 0..n / 2 {
            add!(text, "    x = x * 3 + y;\n    y = y ^ x + {};", i % 1000);
        }
    })
}

fn ifs(n: usize) -> String {
    function("x", |text| {
        for i in 0..n / 2 {
            add!(text, "    if x % {} == 0 {{ x = x + {}; }}", i % 7 + 2, i % 100);
        }
    })
}

fn blocks(n: usize) -> String {
    function("x", |text| {
        for _ in 0..n {
            add!(text, "    {{ x = x + 1; }}");
        }
    })
}

fn else_ifs(n: usize) -> String {
    function("x", |text| {
        add!(text, "    if x == -1 {{ x = 0; }}");
        for i in 0..n / 2 {
            add!(text, "    else if x == {i} {{ x = x * 3 + {}; }}", i % 100);
        }
    })
}

fn live(n: usize) -> String {
    let variables = (n / 4).clamp(1, 1000);
    let names: Vec<String> = (0..variables).map(|i| format!("v{i}")).collect();
    function(&names.join(" + "), |text| {
        for (i, name) in names.iter().enumerate() {
            add!(text, "    var {name} = x + {i};");
        }
        for i in 0..n.saturating_sub(2 * variables) / 2 {
            let (to, from) = (&names[i % variables], &names[(i * 7 + 3) % variables]);
            add!(text, "    if x > {i} {{ {to} += {from}; }}");
        }
    })
}

fn loops(n: usize) -> String {
    function("x", |text| {
        for i in 0..n / 4 {
            let step = i % 5 + 1;
            add!(
                text,
                "    for i in 0..p {{ var j = i; while j > 0 {{ x += i ^ j; j -= {step}; }} }}"
            );
        }
    })
}

fn nest(n: usize) -> String {
    const DEPTH: usize = 120;
    function("x", |text| {
        for _ in 0..(n / (2 * DEPTH)).max(1) {
            for i in 0..DEPTH {
                add!(text, "    var i{i} = 0; while i{i} < p {{ i{i} += 1;");
            }
            add!(text, "    x += i{} ^ i{}; {}", DEPTH - 1, DEPTH / 2, "}".repeat(DEPTH));
        }
    })
}

fn shadow(n: usize) -> String {
    function("x", |text| {
        for _ in 0..n {
            add!(text, "    let x = x + 1;");
        }
    })
}

fn functions(n: usize) -> String {
    let mut text = String::new();
    let count = (n / 5).max(1);
    for i in 0..count {
        let call = match i.checked_sub(1) {
            Some(before) => format!("f{before}(b, x)"),
            None => "1".to_owned(),
        };
        add!(
            text,
            "fn f{i}(a: int, b: int) -> int {{\n    var x = a * {};\n    if x > b {{ x -= b; }}\n    \
             x = x ^ b;\n    return x + {call};\n}}",
            i + 2
        );
    }
    add!(text, "print(f{}(args().len(), 2));", count - 1);
    text
}

fn matches(n: usize) -> String {
    function("x", |text| {
        add!(text, "    match p {{");
        for i in 0..n / 2 {
            add!(text, "        {} => {{ x = {}; }}", i * 3, i * 7 % 1000);
        }
        add!(text, "        _ => {{}}\n    }}");
    })
}

fn top_level(n: usize) -> String {
    let mut text = "var x = args().len();\n".to_owned();
    for i in 0..n {
        add!(text, "x = x * 3 + {};", i % 100);
    }
    text + "print(x);\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::front;
    use crate::source::Sources;
    use crate::timing::Timings;

    #[test]
    fn all_are_programs() {
        for shape in SHAPES {
            for size in [0, 1, 7, 200] {
                let text = (shape.make)(size);
                let mut sources = Sources::new();
                sources.add(shape.name, text.clone()).expect("room");
                let (front, said) = front(&sources, &mut Timings::new());
                assert!(front.is_some(), "{} of {size}: {said:?}\n{text}", shape.name);
            }
            let (one, two) = ((shape.make)(1000).len(), (shape.make)(2000).len());
            assert!(two > one + one / 2, "{} grows", shape.name);
        }
        assert!(named("loops").is_some() && named("nothing").is_none());
    }
}
