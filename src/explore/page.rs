//! One HTML file of the data.
//!
//! The page's own text stands in `page/`. Data goes in as JSON, a script element for all and one for
//! each function, which the page reads when the function is looked at. No `<` is left in it, so that
//! nothing in a program can end the element.

use super::Record;
use serde_json::{Value, json};
use std::fmt::Write;

const SHELL: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPTS: [&str; 10] = [
    include_str!("page/base.js"),
    include_str!("page/heat.js"),
    include_str!("page/code.js"),
    include_str!("page/graph.js"),
    include_str!("page/player.js"),
    include_str!("page/passes.js"),
    include_str!("page/dataflow.js"),
    include_str!("page/ssa.js"),
    include_str!("page/sccp.js"),
    include_str!("page/registers.js"),
];

/// The page.
pub fn page(record: Record) -> String {
    let mut data = String::new();
    let mut head = record.head;
    let names = record.functions.iter().map(|f| f["name"].clone());
    head.insert("functions".to_owned(), names.collect());
    element(&mut data, "data", &Value::Object(head));
    for (number, function) in record.functions.iter().enumerate() {
        element(&mut data, &format!("f{number}"), function);
    }
    let scripts = SCRIPTS.concat();
    let mut page = String::with_capacity(data.len() + scripts.len() + 64 * 1024);
    let mut rest = SHELL;
    for (mark, text) in [("{{style}}", STYLE), ("{{data}}", &data), ("{{script}}", &scripts)] {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page + rest
}

fn element(out: &mut String, id: &str, data: &Value) {
    let text = json!(data).to_string().replace('<', "\\u003c");
    // Writing to a string does not fail.
    let _ = writeln!(out, "<script type=\"application/json\" id=\"{id}\">{text}</script>");
}
