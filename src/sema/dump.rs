//! The HIR as text, for people: like the source, but with every name resolved (`x.3` is local 3,
//! `@x` a global), every type and every implicit step written out.

use super::hir::{
    Block, Builtin, Expr, ExprKind, FuncId, Function, FunctionKind, GlobalId, LocalId, Pattern,
    Place, PlaceKind, Program, Stmt, StmtKind, StructId, Ty,
};
use super::types::display_ty;
use crate::source::Interner;
use std::fmt::Write;

/// The HIR as text.
pub fn dump_hir(program: &Program, interner: &Interner) -> String {
    let mut dump = Dump { program, interner, out: String::new(), indent: 0 };
    dump.program();
    dump.out
}

struct Dump<'a> {
    program: &'a Program,
    interner: &'a Interner,
    out: String,
    indent: usize,
}

impl Dump<'_> {
    fn program(&mut self) {
        for declared in self.program.structs.values() {
            let fields: Vec<String> = declared
                .fields
                .iter()
                .map(|&(name, ty)| format!("{}: {}", self.interner.name(name), self.ty(ty)))
                .collect();
            let name = self.interner.name(declared.name);
            let _ = writeln!(self.out, "struct {name} {{ {} }}", fields.join(", "));
        }
        for (id, global) in self.program.globals.iter() {
            let word = if global.mutable { "var" } else { "let" };
            let (name, ty) = (self.global(id), self.ty(global.ty));
            let _ = writeln!(self.out, "global {word} {name}: {ty}");
        }
        for (id, function) in self.program.functions.iter() {
            if !self.out.is_empty() {
                self.out.push('\n');
            }
            self.function(id, function);
        }
    }

    fn function(&mut self, id: FuncId, function: &Function) {
        let params: Vec<String> =
            function.params.iter().map(|&local| self.declared(function, local)).collect();
        self.out.push_str(&self.function_name(id));
        if function.kind != FunctionKind::Script {
            let _ = write!(self.out, "({})", params.join(", "));
        }
        if function.result != Ty::UNIT {
            let _ = write!(self.out, " -> {}", self.ty(function.result));
        }
        if !function.captures.is_empty() {
            let captures: Vec<String> = function
                .captures
                .iter()
                .map(|c| format!("{} = outer.{}", self.declared(function, c.inner), c.outer.0))
                .collect();
            let _ = write!(self.out, " captures [{}]", captures.join(", "));
        }
        self.out.push(' ');
        self.block(function, &function.body);
        self.out.push('\n');
    }

    fn ty(&self, ty: Ty) -> String {
        display_ty(&self.program.types, &self.program.structs, self.interner, ty)
    }

    fn local(&self, function: &Function, id: LocalId) -> String {
        format!("{}.{}", self.interner.name(function.locals[id].name), id.0)
    }

    fn declared(&self, function: &Function, id: LocalId) -> String {
        format!("{}: {}", self.local(function, id), self.ty(function.locals[id].ty))
    }

    fn global(&self, id: GlobalId) -> String {
        format!("@{}", self.interner.name(self.program.globals[id].name))
    }

    fn function_name(&self, id: FuncId) -> String {
        let function = &self.program.functions[id];
        match (function.kind, function.name) {
            (FunctionKind::Script, _) => "script".into(),
            (_, Some(name)) => format!("fn {}", self.interner.name(name)),
            (_, None) => format!("{id}"),
        }
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
    }

    fn block(&mut self, function: &Function, block: &Block) {
        self.out.push('{');
        self.indent += 1;
        for statement in &block.statements {
            self.line();
            self.statement(function, statement);
        }
        self.indent -= 1;
        self.line();
        self.out.push('}');
    }

    fn first_value(&mut self, function: &Function, value: Option<&Expr>) {
        match value {
            Some(value) => {
                self.out.push_str(" = ");
                self.expr(function, value);
            }
            None => self.out.push_str(" unassigned"),
        }
    }

    fn statement(&mut self, function: &Function, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Let { local, value } => {
                let word = if function.locals[*local].mutable { "var" } else { "let" };
                let _ = write!(self.out, "{word} {}", self.declared(function, *local));
                self.first_value(function, value.as_ref());
            }
            StmtKind::Global { global, value } => {
                let _ = write!(self.out, "global {}", self.global(*global));
                self.first_value(function, value.as_ref());
            }
            StmtKind::Assign { place, value } => {
                self.place(function, place);
                self.out.push_str(" = ");
                self.expr(function, value);
            }
            StmtKind::Compound { place, op, value, .. } => {
                self.place(function, place);
                let _ = write!(self.out, " {}= ", op.symbol());
                self.expr(function, value);
            }
            StmtKind::Expr(value) => self.typed(function, value),
            StmtKind::If { arms, otherwise } => {
                for (i, (condition, body)) in arms.iter().enumerate() {
                    self.out.push_str(if i > 0 { " else if " } else { "if " });
                    self.expr(function, condition);
                    self.out.push(' ');
                    self.block(function, body);
                }
                if let Some(body) = otherwise {
                    self.out.push_str(" else ");
                    self.block(function, body);
                }
            }
            StmtKind::While { condition, body } => {
                self.out.push_str("while ");
                self.expr(function, condition);
                self.out.push(' ');
                self.block(function, body);
            }
            StmtKind::ForRange { local, from, to, inclusive, body } => {
                let _ = write!(self.out, "for {} in ", self.declared(function, *local));
                self.expr(function, from);
                self.out.push_str(if *inclusive { "..=" } else { ".." });
                self.expr(function, to);
                self.out.push(' ');
                self.block(function, body);
            }
            StmtKind::ForIn { local, iterable, body } => {
                let _ = write!(self.out, "for {} in ", self.declared(function, *local));
                self.expr(function, iterable);
                self.out.push(' ');
                self.block(function, body);
            }
            StmtKind::Match { value, arms } => {
                self.out.push_str("match ");
                self.typed(function, value);
                self.out.push_str(" {");
                self.indent += 1;
                for arm in arms {
                    self.line();
                    let patterns: Vec<String> = arm.patterns.iter().map(pattern).collect();
                    let patterns = patterns.join(" | ");
                    self.out.push_str(if patterns.is_empty() { "never" } else { &patterns });
                    self.out.push_str(" => ");
                    self.block(function, &arm.body);
                }
                self.indent -= 1;
                self.line();
                self.out.push('}');
            }
            StmtKind::Break => self.out.push_str("break"),
            StmtKind::Continue => self.out.push_str("continue"),
            StmtKind::Return(None) => self.out.push_str("return"),
            StmtKind::Return(Some(value)) => {
                self.out.push_str("return ");
                self.typed(function, value);
            }
            StmtKind::Block(block) => self.block(function, block),
        }
    }

    fn place(&mut self, function: &Function, place: &Place) {
        match &place.kind {
            PlaceKind::Local(id) => self.out.push_str(&self.local(function, *id)),
            PlaceKind::Global(id) => self.out.push_str(&self.global(*id)),
            PlaceKind::Field { object, structure, field } => {
                self.field(function, object, *structure, *field);
            }
            PlaceKind::Index { object, index } => self.index(function, object, index),
        }
        let _ = write!(self.out, ": {}", self.ty(place.ty));
    }

    fn field(&mut self, function: &Function, object: &Expr, structure: StructId, field: u32) {
        let name = self.program.structs[structure].fields[field as usize].0;
        self.expr(function, object);
        let _ = write!(self.out, ".{}", self.interner.name(name));
    }

    fn index(&mut self, function: &Function, object: &Expr, index: &Expr) {
        self.expr(function, object);
        self.out.push('[');
        self.expr(function, index);
        self.out.push(']');
    }

    fn typed(&mut self, function: &Function, expr: &Expr) {
        self.expr(function, expr);
        let _ = write!(self.out, ": {}", self.ty(expr.ty));
    }

    fn list<'e>(&mut self, function: &Function, exprs: impl IntoIterator<Item = &'e Expr>) {
        for (i, expr) in exprs.into_iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            self.expr(function, expr);
        }
    }

    fn called<'e>(
        &mut self,
        function: &Function,
        name: &str,
        args: impl IntoIterator<Item = &'e Expr>,
    ) {
        self.out.push_str(name);
        self.out.push('(');
        self.list(function, args);
        self.out.push(')');
    }

    fn expr(&mut self, function: &Function, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(value) => drop(write!(self.out, "{value}")),
            ExprKind::Float(value) => drop(write!(self.out, "{value:?}")),
            ExprKind::Byte(value) => self.out.push_str(&byte(*value)),
            ExprKind::Bool(value) => drop(write!(self.out, "{value}")),
            ExprKind::Str(value) => drop(write!(self.out, "\"{}\"", value.escape_ascii())),
            ExprKind::Nil => drop(write!(self.out, "(nil: {})", self.ty(expr.ty))),
            ExprKind::Local(id) => self.out.push_str(&self.local(function, *id)),
            ExprKind::Global(id) => self.out.push_str(&self.global(*id)),
            ExprKind::Function(id) => drop(write!(self.out, "({})", self.function_name(*id))),
            ExprKind::Closure(id) => drop(write!(self.out, "closure {id}")),
            ExprKind::Wrap(inner) => self.called(function, "wrap", [&**inner]),
            ExprKind::Unary { op, operand } => {
                self.out.push_str(op.symbol());
                self.expr(function, operand);
            }
            ExprKind::Chain(chain) => {
                self.out.push('(');
                self.expr(function, &chain.first);
                for (op, _, operand) in &chain.rest {
                    let _ = write!(self.out, " {} ", op.symbol());
                    self.expr(function, operand);
                }
                let _ = write!(self.out, ": {})", self.ty(expr.ty));
            }
            ExprKind::Compare { op, left, right } => {
                self.out.push('(');
                self.expr(function, left);
                let _ = write!(self.out, " {} ", op.symbol());
                self.expr(function, right);
                let _ = write!(self.out, " on {})", self.ty(left.ty));
            }
            ExprKind::Logic { and, operands } => {
                self.out.push('(');
                for (i, operand) in operands.iter().enumerate() {
                    let sign = if *and { " && " } else { " || " };
                    self.out.push_str(if i > 0 { sign } else { "" });
                    self.expr(function, operand);
                }
                self.out.push(')');
            }
            ExprKind::Convert(inner) => {
                let name = format!("{}:{}", self.ty(inner.ty), self.ty(expr.ty));
                self.called(function, &name, [&**inner]);
            }
            ExprKind::Field { object, structure, field } => {
                self.field(function, object, *structure, *field);
            }
            ExprKind::Index { object, index } => self.index(function, object, index),
            ExprKind::Unwrap(inner) => {
                self.expr(function, inner);
                self.out.push('!');
            }
            ExprKind::Call { function: id, args } => {
                let name = self.program.functions[*id].name;
                let name = name.map_or_else(|| id.to_string(), |n| self.interner.name(n).into());
                self.called(function, &name, args);
            }
            ExprKind::CallValue(call) => {
                self.out.push('(');
                self.expr(function, &call.callee);
                self.called(function, ")", &call.args);
            }
            ExprKind::Builtin { builtin, args } => {
                self.called(function, builtin_name(*builtin), args);
            }
            ExprKind::Array(elements) => {
                self.out.push('[');
                self.list(function, elements);
                let _ = write!(self.out, "]: {}", self.ty(expr.ty));
            }
            ExprKind::Repeat { value, count } => {
                self.out.push('[');
                self.expr(function, value);
                self.out.push_str("; ");
                self.expr(function, count);
                let _ = write!(self.out, "]: {}", self.ty(expr.ty));
            }
            ExprKind::Struct { structure, fields } => {
                let declared = &self.program.structs[*structure];
                let _ = write!(self.out, "{} {{", self.interner.name(declared.name));
                for (i, (field, value)) in fields.iter().enumerate() {
                    let name = self.interner.name(declared.fields[*field as usize].0);
                    let comma = if i > 0 { "," } else { "" };
                    let _ = write!(self.out, "{comma} {name}: ");
                    self.expr(function, value);
                }
                self.out.push_str(" }");
            }
            ExprKind::Error => self.out.push_str("(error)"),
        }
    }
}

fn builtin_name(builtin: Builtin) -> &'static str {
    Builtin::ALL.iter().find(|&&(_, b)| b == builtin).map_or("?", |&(name, _)| name)
}

fn byte(value: u8) -> String {
    format!("'{}'", value.escape_ascii())
}

fn pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Range(low, high) if low == high => low.to_string(),
        Pattern::Range(low, high) => format!("{low}..={high}"),
        Pattern::Bool(value) => value.to_string(),
        Pattern::Str(value) => format!("\"{}\"", value.escape_ascii()),
        Pattern::Any => "_".into(),
    }
}
