//! Bril as JSON, its first form: to trees and back.
//!
//! serde reads it, and tells line and column of what is no Bril program. A program that came as
//! JSON is then shown as text in messages, for which that text becomes one more source; whatever
//! places the JSON tells of (`pos`, `src`) are left aside.
//!
//! A file's JSON → [`Program`]; a [`Program`] → JSON.

use super::ast::{Code, Function, Import, Inst, Literal, Name, Program, Type};
use super::print;
use crate::source::{Diagnostic, Interner, Sources, Span};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

#[derive(Deserialize)]
struct RawProgram<'a> {
    #[serde(borrow)]
    functions: Vec<RawFunction<'a>>,
    #[serde(borrow, default)]
    imports: Vec<RawImport<'a>>,
}

#[derive(Deserialize)]
struct RawImport<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    #[serde(borrow, default)]
    functions: Vec<RawImported<'a>>,
}

#[derive(Deserialize)]
struct RawImported<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    alias: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct RawFunction<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    args: Option<Vec<RawParam<'a>>>,
    #[serde(borrow, default, rename = "type")]
    ty: Option<RawType<'a>>,
    #[serde(borrow, default)]
    instrs: Option<Vec<RawCode<'a>>>,
}

#[derive(Deserialize)]
struct RawParam<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    ty: RawType<'a>,
}

/// A label or an instruction.
#[derive(Deserialize)]
struct RawCode<'a> {
    #[serde(borrow, default)]
    label: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    op: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    dest: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "type")]
    ty: Option<RawType<'a>>,
    #[serde(borrow, default)]
    args: Option<SmallVecOf<'a>>,
    #[serde(borrow, default)]
    funcs: Option<SmallVecOf<'a>>,
    #[serde(borrow, default)]
    labels: Option<SmallVecOf<'a>>,
    #[serde(default)]
    value: Option<Value>,
}

type SmallVecOf<'a> = Vec<Cow<'a, str>>;

/// A word, or an object with one key around a type.
struct RawType<'a>(Vec<Cow<'a, str>>);

impl<'de: 'a, 'a> Deserialize<'de> for RawType<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = RawType<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a type")
            }

            fn visit_borrowed_str<E>(self, word: &'de str) -> Result<RawType<'de>, E> {
                Ok(RawType(vec![Cow::Borrowed(word)]))
            }

            fn visit_str<E>(self, word: &str) -> Result<RawType<'de>, E> {
                Ok(RawType(vec![Cow::Owned(word.to_owned())]))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<RawType<'de>, A::Error> {
                use serde::de::Error;
                let Some((word, mut inner)) = map.next_entry::<Cow<'de, str>, RawType<'de>>()?
                else {
                    return Err(Error::custom("a type is a word, or an object with one key"));
                };
                inner.0.insert(0, word);
                Ok(inner)
            }
        }
        from.deserialize_any(Visitor)
    }
}

/// Parses the JSON of `sources` that begins at `base`, and adds the program's text to them.
pub(super) fn parse(
    sources: &mut Sources,
    base: u32,
    interner: &mut Interner,
) -> (Program, Vec<Diagnostic>) {
    let file = sources.locate(base).0;
    let name = format!("{} (as text)", file.name);
    let mut reader = Reader { interner, wrong: Vec::new() };
    let text = file.text.trim_start_matches('\u{feff}');
    let mut program = match serde_json::from_str::<RawProgram<'_>>(text) {
        Ok(raw) => reader.program(raw),
        Err(error) => {
            let line = file.text.split_inclusive('\n').take(error.line().saturating_sub(1));
            let at = line.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
            let at = base + at.min(file.text.len()) as u32;
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or("").to_owned();
            let message = format!("this is no Bril program: {what}");
            let error = Diagnostic::error("E0703", Span::new(at, at + 1), message, "");
            return (Program::default(), vec![error]);
        }
    };
    let mut diagnostics = Vec::new();
    let wrong = reader.wrong;
    let next = sources.files().last().map_or(0, |f| f.base() + f.text.len() as u32 + 1);
    let text = print::placed(&mut program, interner, next);
    if sources.add(name, text).is_none() {
        let message = "the program is larger than 4 GiB as text";
        diagnostics.push(Diagnostic::error("E0703", Span::new(base, base), message, ""));
    }
    for (function, at, message) in wrong {
        let span = match program.functions.get(function).and_then(|f| f.body.get(at)) {
            Some(Code::Inst(inst)) => inst.span,
            _ => Span::new(base, base),
        };
        diagnostics.push(Diagnostic::error("E0703", span, message, ""));
    }
    (program, diagnostics)
}

struct Reader<'a> {
    interner: &'a mut Interner,
    /// What is wrong with an instruction of a function, by their numbers.
    wrong: Vec<(usize, usize, String)>,
}

impl Reader<'_> {
    fn name(&mut self, text: &str) -> Name {
        Name { symbol: self.interner.intern(text), span: Span::default() }
    }

    fn names<T: FromIterator<Name>>(&mut self, texts: Option<SmallVecOf<'_>>) -> T {
        texts.unwrap_or_default().iter().map(|text| self.name(text)).collect()
    }

    fn ty(&mut self, ty: RawType<'_>) -> Type {
        let words = ty.0.iter().map(|word| self.interner.intern(word)).collect();
        Type { words, span: Span::default() }
    }

    fn program(&mut self, raw: RawProgram<'_>) -> Program {
        let imports = raw.imports.into_iter().map(|import| Import {
            path: import.path.into_owned(),
            span: Span::default(),
            functions: import
                .functions
                .into_iter()
                .map(|imported| {
                    let alias = imported.alias.map(|alias| self.name(&alias));
                    (self.name(&imported.name), alias)
                })
                .collect(),
        });
        let imports = imports.collect();
        let functions = raw.functions.into_iter().enumerate();
        Program { imports, functions: functions.map(|(n, f)| self.function(n, f)).collect() }
    }

    fn function(&mut self, number: usize, raw: RawFunction<'_>) -> Function {
        let params = raw.args.unwrap_or_default().into_iter();
        Function {
            name: self.name(&raw.name),
            params: params.map(|param| (self.name(&param.name), self.ty(param.ty))).collect(),
            result: raw.ty.map(|ty| self.ty(ty)),
            body: raw
                .instrs
                .unwrap_or_default()
                .into_iter()
                .enumerate()
                .map(|(at, code)| self.code(number, at, code))
                .collect(),
            end: Span::default(),
        }
    }

    fn code(&mut self, function: usize, at: usize, raw: RawCode<'_>) -> Code {
        let op = match (raw.op, raw.label) {
            (None, Some(label)) => return Code::Label(self.name(&label)),
            (Some(op), _) => op,
            (None, None) => {
                self.wrong.push((function, at, "this has neither `op` nor `label`".into()));
                Cow::Borrowed("nop")
            }
        };
        let value = raw.value.and_then(|value| {
            let literal = literal(&value);
            if literal.is_none() {
                self.wrong.push((function, at, format!("`{value}` is no constant")));
            }
            literal.map(|literal| (literal, Span::default()))
        });
        Code::Inst(Inst {
            op: self.name(&op),
            dest: raw.dest.map(|dest| self.name(&dest)),
            ty: raw.ty.map(|ty| self.ty(ty)),
            args: self.names(raw.args),
            funcs: self.names(raw.funcs),
            labels: self.names(raw.labels),
            value,
            span: Span::default(),
        })
    }
}

fn literal(value: &Value) -> Option<Literal> {
    match value {
        Value::Bool(value) => Some(Literal::Bool(*value)),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Some(Literal::Int(value)),
            None => number.as_f64().map(Literal::Float),
        },
        Value::String(text) => {
            let mut chars = text.chars();
            let first = chars.next()?;
            chars.next().is_none().then_some(Literal::Char(first))
        }
        _ => None,
    }
}

/// The JSON of a program.
pub fn write(program: &Program, interner: &Interner) -> Value {
    let name = |name: &Name| interner.name(name.symbol);
    let mut whole = json!({
        "functions": program.functions.iter().map(|f| function(f, interner)).collect::<Vec<_>>(),
    });
    if !program.imports.is_empty() {
        let imported = |(function, alias): &(Name, Option<Name>)| match alias {
            Some(alias) => json!({ "name": name(function), "alias": name(alias) }),
            None => json!({ "name": name(function) }),
        };
        let imports = program.imports.iter().map(|import| {
            let functions: Vec<Value> = import.functions.iter().map(imported).collect();
            json!({ "path": import.path, "functions": functions })
        });
        whole["imports"] = imports.collect();
    }
    whole
}

fn ty(ty: &Type, interner: &Interner) -> Value {
    let mut words = ty.words.iter().rev();
    let inner = json!(words.next().map_or("int", |&word| interner.name(word)));
    words.fold(inner, |inner, &word| json!({ interner.name(word): inner }))
}

fn function(function: &Function, interner: &Interner) -> Value {
    let name = |name: &Name| interner.name(name.symbol);
    let mut object = json!({
        "name": name(&function.name),
        "instrs": function.body.iter().map(|part| code(part, interner)).collect::<Vec<_>>(),
    });
    if !function.params.is_empty() {
        let param =
            |(param, of): &(Name, Type)| json!({ "name": name(param), "type": ty(of, interner) });
        object["args"] = function.params.iter().map(param).collect();
    }
    if let Some(result) = &function.result {
        object["type"] = ty(result, interner);
    }
    object
}

fn code(code: &Code, interner: &Interner) -> Value {
    let name = |name: &Name| interner.name(name.symbol);
    let inst = match code {
        Code::Label(label) => return json!({ "label": name(label) }),
        Code::Inst(inst) => inst,
    };
    let mut object = json!({ "op": name(&inst.op) });
    if let Some(dest) = &inst.dest {
        object["dest"] = json!(name(dest));
    }
    if let Some(of) = &inst.ty {
        object["type"] = ty(of, interner);
    }
    if let Some((literal, _)) = inst.value {
        object["value"] = match literal {
            Literal::Int(value) => json!(value),
            Literal::Float(value) => json!(value),
            Literal::Bool(value) => json!(value),
            Literal::Char(value) => json!(value),
        };
    }
    for (key, names) in
        [("args", &inst.args[..]), ("funcs", &inst.funcs[..]), ("labels", &inst.labels[..])]
    {
        if !names.is_empty() {
            object[key] = names.iter().map(name).collect();
        }
    }
    object
}
