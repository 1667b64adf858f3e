//! Trees to checked programs: names, types, and how many of what each operation takes.
//!
//! All that can be known without running is an error here, in code that is never reached too.
//! Functions are resolved through [`Scope`]s, one a file, since an import may rename them.
//!
//! `ast::Function`s and scopes → [`Program`] and what is wrong.

mod insts;

use crate::bril::ast::{self, Code, Literal, Name};
use crate::bril::program::{
    Base, Func, Function, Inst, Kind, Label, LabelData, OPS, Op, Program, Ty, Var, VarData,
};
use crate::entity::Arena;
use crate::source::{Diagnostic, Interner, Span, Symbol};
use rustc_hash::FxHashMap;

/// The functions that a file can call, by name.
pub type Scope = FxHashMap<Symbol, Func>;

/// A function with the scope that its names are looked up in.
pub(super) struct Scoped<'a> {
    pub function: &'a ast::Function,
    pub scope: &'a Scope,
    /// The name that no other function of the program has.
    pub name: String,
}

/// The type of a function, as its callers see it.
struct Head {
    params: Vec<Option<Ty>>,
    result: Result<Option<Ty>, ()>,
    span: Span,
}

struct Checker<'a> {
    interner: &'a Interner,
    ops: FxHashMap<Symbol, Op>,
    heads: Arena<Func, Head>,
    diagnostics: Vec<Diagnostic>,
}

/// Checks all functions. A program comes out in any case; it means something where no error does.
pub(super) fn check(
    functions: &[Scoped<'_>],
    main: Option<Func>,
    interner: &mut Interner,
) -> (Program, Vec<Diagnostic>) {
    let ops = OPS.iter().map(|&(name, op)| (interner.intern(name), op)).collect();
    let mut checker = Checker { interner, ops, heads: Arena::new(), diagnostics: Vec::new() };
    for scoped in functions {
        let ast::Function { params, result, name, .. } = scoped.function;
        let params = params.iter().map(|(_, ty)| checker.ty(ty)).collect();
        let result = match result {
            None => Ok(None),
            Some(ty) => checker.ty(ty).map(Some).ok_or(()),
        };
        checker.heads.push(Head { params, result, span: name.span });
    }
    if let Some(main) = main {
        checker.main(functions[main.0 as usize].function);
    }
    let mut program = Program { functions: Arena::new(), main };
    for (number, scoped) in functions.iter().enumerate() {
        let function = Body::new(&mut checker, scoped, Func(number as u32)).function();
        program.functions.push(function);
    }
    (program, checker.diagnostics)
}

impl Checker<'_> {
    fn error(&mut self, code: &'static str, span: Span, message: String, label: &str) {
        self.diagnostics.push(Diagnostic::error(code, span, message, label));
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.interner.name(symbol)
    }

    /// The type that is written; none, reported, where it is none.
    fn ty(&mut self, ty: &ast::Type) -> Option<Ty> {
        let (&last, outer) = ty.words.split_last()?;
        let wrong = outer.iter().find(|&&word| self.name(word) != "ptr");
        let base = match self.name(last) {
            "int" => Some(Base::Int),
            "bool" => Some(Base::Bool),
            "float" => Some(Base::Float),
            "char" => Some(Base::Char),
            _ => None,
        };
        match (wrong, base) {
            (None, Some(base)) => Some(Ty { base, pointers: outer.len() as u32 }),
            (wrong, _) => {
                let name = self.name(wrong.copied().unwrap_or(last)).to_owned();
                let message = match name.as_str() {
                    "any" => "the type `any` of the dynamic extension is not supported".to_owned(),
                    _ => format!("there is no type `{name}`"),
                };
                self.error("E0706", ty.span, message, "");
                None
            }
        }
    }

    /// What is asked of `main` alone.
    fn main(&mut self, main: &ast::Function) {
        if let Some(result) = &main.result {
            let message = "`@main` has no result".to_owned();
            self.error("E0710", result.span, message, "a result type");
        }
        for (_, ty) in &main.params {
            if ty.words.len() > 1 {
                let message = "`@main` can't be given pointers".to_owned();
                self.error("E0710", ty.span, message, "this can't be written on a command line");
            }
        }
    }
}

/// The checking of one function.
struct Body<'a, 'b> {
    cx: &'a mut Checker<'b>,
    scoped: &'a Scoped<'a>,
    head: Func,
    vars: Arena<Var, VarData>,
    /// The variables by name; none where its type is unknown.
    by_name: FxHashMap<Symbol, Option<Var>>,
    labels: Arena<Label, LabelData>,
    label_of: FxHashMap<Symbol, Label>,
    /// The variables that a `get` gives.
    gotten: FxHashMap<Symbol, Span>,
}

impl<'a, 'b> Body<'a, 'b> {
    fn new(cx: &'a mut Checker<'b>, scoped: &'a Scoped<'a>, head: Func) -> Self {
        Self {
            cx,
            scoped,
            head,
            vars: Arena::new(),
            by_name: FxHashMap::default(),
            labels: Arena::new(),
            label_of: FxHashMap::default(),
            gotten: FxHashMap::default(),
        }
    }

    fn function(mut self) -> Function {
        let function = self.scoped.function;
        let mut params = Vec::new();
        for (number, &(name, _)) in function.params.iter().enumerate() {
            if self.by_name.contains_key(&name.symbol) {
                let message = format!("parameter `{}` is there twice", self.cx.name(name.symbol));
                self.cx.error("E0707", name.span, message, "");
                continue;
            }
            let ty = self.cx.heads[self.head].params[number];
            let var = ty.map(|ty| self.variable(name, ty));
            self.by_name.insert(name.symbol, var);
            params.extend(var);
        }
        let mut at = 0;
        for code in &function.body {
            match code {
                Code::Label(name) => self.label(*name, at),
                Code::Inst(inst) => {
                    self.declare(inst);
                    at += 1;
                }
            }
        }
        let mut code = Vec::with_capacity(at as usize);
        for part in &function.body {
            if let Code::Inst(inst) = part {
                let kind = self.inst(inst).unwrap_or(Kind::Nop);
                code.push(Inst { kind, span: inst.span });
            }
        }
        Function {
            name: self.scoped.name.clone(),
            span: function.name.span,
            end: function.end,
            params,
            result: self.cx.heads[self.head].result.unwrap_or(None),
            vars: self.vars,
            labels: self.labels,
            code,
        }
    }

    fn variable(&mut self, name: Name, ty: Ty) -> Var {
        let text = self.cx.name(name.symbol).to_owned();
        self.vars.push(VarData { name: text, ty, span: name.span })
    }

    fn label(&mut self, name: Name, at: u32) {
        let text = self.cx.name(name.symbol).to_owned();
        if self.label_of.contains_key(&name.symbol) {
            let message = format!("label `.{text}` is there twice");
            return self.cx.error("E0707", name.span, message, "");
        }
        let label = self.labels.push(LabelData { name: text, at });
        self.label_of.insert(name.symbol, label);
    }

    /// Notes the variable that an instruction assigns.
    fn declare(&mut self, inst: &ast::Inst) {
        let Some(dest) = inst.dest else { return };
        let op = self.cx.ops.get(&inst.op.symbol).copied();
        if op == Some(Op::Get) && self.gotten.insert(dest.symbol, dest.span).is_some() {
            let message = format!("there are two `get` of `{}`", self.cx.name(dest.symbol));
            self.cx.error("E0707", dest.span, message, "each variable has one at most");
        }
        let ty = match &inst.ty {
            Some(ty) => self.cx.ty(ty),
            None => {
                let known = self.by_name.get(&dest.symbol).copied();
                let ty =
                    known.flatten().map(|var| self.vars[var].ty).or_else(|| natural(op?, inst));
                if ty.is_none() && known != Some(None) {
                    let message = format!("the type of `{}` is missing", self.cx.name(dest.symbol));
                    self.cx.error("E0709", dest.span, message, "write `: int`, or what it is");
                }
                ty
            }
        };
        match (self.by_name.get(&dest.symbol).copied(), ty) {
            (Some(Some(var)), Some(ty)) if self.vars[var].ty != ty => {
                let VarData { name, ty: before, span } = &self.vars[var];
                let message = format!("`{name}` is {before} elsewhere, and {ty} here");
                let error = Diagnostic::error("E0710", dest.span, message, "")
                    .label(*span, format!("{before} here"))
                    .help("a variable has one type in all of a function");
                self.cx.diagnostics.push(error);
            }
            (Some(Some(_)), _) => {}
            (_, ty) => {
                let var = ty.map(|ty| self.variable(dest, ty));
                self.by_name.insert(dest.symbol, var);
            }
        }
    }

    /// A variable that is read; none, where it is not known (which is reported).
    fn var(&mut self, name: Name) -> Option<Var> {
        match self.by_name.get(&name.symbol) {
            Some(&var) => var,
            None => {
                let message = format!("variable `{}` is never assigned", self.cx.name(name.symbol));
                self.cx.error("E0708", name.span, message, "");
                // Once is enough.
                self.by_name.insert(name.symbol, None);
                None
            }
        }
    }

    /// A variable that is read and must be of a type.
    fn typed(&mut self, name: Name, ty: Ty) -> Option<Var> {
        let var = self.var(name)?;
        self.same(name.span, self.vars[var].ty, ty)?;
        Some(var)
    }

    /// Reports a type that is not the one wanted.
    fn same(&mut self, span: Span, is: Ty, wanted: Ty) -> Option<()> {
        if is == wanted {
            return Some(());
        }
        let message = format!("{wanted} is wanted, this is {is}");
        self.cx.error("E0710", span, message, &format!("this is {is}"));
        None
    }

    fn jump(&mut self, name: Name) -> Option<Label> {
        let label = self.label_of.get(&name.symbol).copied();
        if label.is_none() {
            let message = format!("there is no label `.{}`", self.cx.name(name.symbol));
            self.cx.error("E0708", name.span, message, "");
        }
        label
    }

    /// Reports a number of operands that is not the one wanted.
    fn count(&mut self, inst: &ast::Inst, what: &str, found: usize, wanted: usize) -> Option<()> {
        if found == wanted {
            return Some(());
        }
        let op = self.cx.name(inst.op.symbol);
        let s = if wanted == 1 { "" } else { "s" };
        let message = format!("`{op}` takes {wanted} {what}{s}, not {found}");
        self.cx.error("E0709", inst.span, message, "");
        None
    }

    /// Checks how many of what stands there. Where `dest` is none, either is right.
    fn shape(
        &mut self,
        inst: &ast::Inst,
        args: Option<usize>,
        funcs: usize,
        labels: Option<usize>,
        dest: Option<bool>,
    ) -> Option<()> {
        let args = args.unwrap_or(inst.args.len());
        let labels = labels.unwrap_or(inst.labels.len());
        let right = [
            self.count(inst, "argument", inst.args.len(), args),
            self.count(inst, "function", inst.funcs.len(), funcs),
            self.count(inst, "label", inst.labels.len(), labels),
        ];
        let op = self.cx.name(inst.op.symbol).to_owned();
        match (dest, inst.dest) {
            (Some(true), None) => {
                let message = format!("the result of `{op}` goes nowhere");
                self.cx.error("E0709", inst.span, message, "write `x: int = ` before it");
                return None;
            }
            (Some(false), Some(dest)) => {
                let message = format!("`{op}` has no result");
                self.cx.error("E0709", dest.span, message, "");
                return None;
            }
            _ => {}
        }
        right.into_iter().collect()
    }

    /// The variable that gets the result, which is of a type.
    fn dest(&mut self, inst: &ast::Inst, ty: Ty) -> Option<Var> {
        let name = inst.dest?;
        let var = self.by_name.get(&name.symbol).copied().flatten()?;
        if self.vars[var].ty != ty {
            let op = self.cx.name(inst.op.symbol).to_owned();
            let (name, is) = (self.vars[var].name.clone(), self.vars[var].ty);
            let message = format!("`{op}` gives {ty}, but `{name}` is {is}");
            self.cx.error("E0710", inst.span, message, "");
            return None;
        }
        Some(var)
    }

    /// The variable that gets the result, whatever its type.
    fn any_dest(&self, inst: &ast::Inst) -> Option<(Var, Ty)> {
        let var = self.by_name.get(&inst.dest?.symbol).copied().flatten()?;
        Some((var, self.vars[var].ty))
    }
}

/// The type of an operation's result where it is always the same.
fn natural(op: Op, inst: &ast::Inst) -> Option<Ty> {
    match op {
        Op::Unary(op) => Some(op.types().1),
        Op::Binary(op) => Some(op.types().1),
        Op::Const => inst.value.map(|(literal, _)| match literal {
            Literal::Int(_) => Ty::INT,
            Literal::Float(_) => Ty::FLOAT,
            Literal::Bool(_) => Ty::BOOL,
            Literal::Char(_) => Ty::CHAR,
        }),
        _ => None,
    }
}
