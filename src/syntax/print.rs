//! The tree as source text again.
//!
//! Output: text that parses to the same tree, but for places, one statement a line, with no more
//! parentheses than are needed. Comments are not part of the tree and are lost. The depth of the
//! recursion is the depth of the tree. Contract: the tree has no `Error` nodes.

use super::ast::{
    BinaryOp, Block, Call, Expr, ExprKind, Item, Lambda, Param, Pattern, PatternKind, Program,
    Stmt, StmtKind, Struct, Type, TypeKind,
};
use crate::source::{Interner, Symbol};
use std::fmt::Write;

/// The text of a program.
pub fn print(program: &Program, names: &Interner) -> String {
    let mut printer = Printer { out: String::new(), indent: 0, head: false, names };
    let mut after_function = false;
    for item in &program.items {
        let function = matches!(item, Item::Function(_));
        if !printer.out.is_empty() && (function || after_function) {
            printer.out.push('\n');
        }
        printer.item(item);
        after_function = function;
    }
    printer.out
}

/// The text of an expression.
pub fn print_expr(expr: &Expr, names: &Interner) -> String {
    let mut printer = Printer { out: String::new(), indent: 0, head: false, names };
    printer.expr(expr, Level::Any);
    printer.out
}

/// How tightly an expression must bind to stand without parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// Even a function expression, which may not begin a statement or be an operand.
    Any,
    Or,
    And,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Unary,
    Postfix,
}

impl Level {
    fn of(expr: &Expr) -> Level {
        match &expr.kind {
            ExprKind::Lambda(_) => Level::Any,
            ExprKind::Logic(logic) if logic.and => Level::And,
            ExprKind::Logic(_) => Level::Or,
            ExprKind::Compare(_) => Level::Compare,
            ExprKind::Chain(chain) => {
                chain.rest.first().map_or(Level::Postfix, |(op, ..)| Level::of_op(*op))
            }
            ExprKind::Unary { .. } | ExprKind::Int(i64::MIN) => Level::Unary,
            _ => Level::Postfix,
        }
    }

    fn of_op(op: BinaryOp) -> Level {
        match op {
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => Level::Product,
            BinaryOp::Add | BinaryOp::Sub => Level::Sum,
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::UShr => Level::Shift,
            BinaryOp::BitAnd => Level::BitAnd,
            BinaryOp::BitXor => Level::BitXor,
            BinaryOp::BitOr => Level::BitOr,
        }
    }

    /// What an operand at this level must be.
    fn tighter(self) -> Level {
        match self {
            Level::Any => Level::Or,
            Level::Or => Level::And,
            Level::And => Level::Compare,
            Level::Compare => Level::BitOr,
            Level::BitOr => Level::BitXor,
            Level::BitXor => Level::BitAnd,
            Level::BitAnd => Level::Shift,
            Level::Shift => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product => Level::Unary,
            Level::Unary | Level::Postfix => Level::Postfix,
        }
    }
}

struct Printer<'a> {
    out: String,
    indent: usize,
    /// In the head of a statement, where a struct literal needs parentheses.
    head: bool,
    names: &'a Interner,
}

impl Printer<'_> {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn name(&mut self, symbol: Symbol) {
        self.out.push_str(self.names.name(symbol));
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            each(self, item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Function(function) => {
                self.text("fn ");
                self.name(function.name.symbol);
                self.lambda(&function.lambda, false);
                self.text("\n");
            }
            Item::Struct(structure) => self.structure(structure),
            Item::Statement(statement) => self.statement(statement),
        }
    }

    fn structure(&mut self, structure: &Struct) {
        self.text("struct ");
        self.name(structure.name.symbol);
        self.text(" { ");
        self.list(&structure.fields, Self::param);
        self.text(" }\n");
    }

    /// Everything of a function after its name or its `fn`.
    fn lambda(&mut self, lambda: &Lambda, short: bool) {
        self.text("(");
        self.list(&lambda.params, Self::param);
        self.text(")");
        if let Some(result) = &lambda.result {
            self.text(" -> ");
            self.ty(result);
        }
        self.text(" ");
        let head = std::mem::replace(&mut self.head, false);
        match lambda.body.statements.as_slice() {
            [Stmt { kind: StmtKind::Return(Some(value)), .. }] if short => {
                self.text("{ return ");
                self.expr(value, Level::Any);
                self.text("; }");
            }
            _ => self.block(&lambda.body),
        }
        self.head = head;
    }

    fn param(&mut self, param: &Param) {
        self.name(param.name.symbol);
        self.text(": ");
        self.ty(&param.ty);
    }

    fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Name(symbol) => self.name(*symbol),
            TypeKind::Array(element) => {
                self.text("[");
                self.ty(element);
                self.text("]");
            }
            TypeKind::Function(params, result) => {
                self.text("fn(");
                self.list(params, Self::ty);
                self.text(")");
                if let Some(result) = result {
                    self.text(" -> ");
                    self.ty(result);
                }
            }
            TypeKind::Optional(inner) => {
                let name = matches!(inner.kind, TypeKind::Name(_) | TypeKind::Array(_));
                self.text(if name { "" } else { "(" });
                self.ty(inner);
                self.text(if name { "?" } else { ")?" });
            }
            TypeKind::Error => self.text("<error>"),
        }
    }

    /// From brace to brace.
    fn block(&mut self, block: &Block) {
        if block.statements.is_empty() {
            self.text("{ }");
            return;
        }
        self.text("{\n");
        self.indent += 1;
        block.statements.iter().for_each(|statement| self.statement(statement));
        self.indent -= 1;
        self.margin();
        self.text("}");
    }

    fn margin(&mut self) {
        let _ = write!(self.out, "{:1$}", "", self.indent * 4);
    }

    fn head(&mut self, expr: &Expr) {
        self.head = true;
        self.expr(expr, Level::Or);
        self.head = false;
    }

    fn statement(&mut self, statement: &Stmt) {
        self.margin();
        match &statement.kind {
            StmtKind::Declare { mutable, name, ty, value, .. } => {
                self.text(if *mutable { "var " } else { "let " });
                self.name(name.symbol);
                if let Some(ty) = ty {
                    self.text(": ");
                    self.ty(ty);
                }
                if let Some(value) = value {
                    self.text(" = ");
                    self.expr(value, Level::Any);
                }
                self.text(";");
            }
            StmtKind::Assign { place, op, value } => {
                self.expr(place, Level::Or);
                let _ = write!(self.out, " {}= ", op.map_or("", |(op, _)| op.symbol()));
                self.expr(value, Level::Any);
                self.text(";");
            }
            StmtKind::Expr(expr) => {
                self.expr(expr, Level::Or);
                self.text(";");
            }
            StmtKind::If { arms, otherwise } => {
                for (i, (condition, block)) in arms.iter().enumerate() {
                    self.text(if i == 0 { "if " } else { " else if " });
                    self.head(condition);
                    self.text(" ");
                    self.block(block);
                }
                if let Some(block) = otherwise {
                    self.text(" else ");
                    self.block(block);
                }
            }
            StmtKind::While { condition, body } => {
                self.text("while ");
                self.head(condition);
                self.text(" ");
                self.block(body);
            }
            StmtKind::For { name, from, to, body } => {
                self.text("for ");
                self.name(name.symbol);
                self.text(" in ");
                self.head(from);
                if let Some(to) = to {
                    let (to, inclusive) = &**to;
                    self.text(if *inclusive { "..=" } else { ".." });
                    self.head(to);
                }
                self.text(" ");
                self.block(body);
            }
            StmtKind::Match { value, arms } => {
                self.text("match ");
                self.head(value);
                self.text(" {\n");
                self.indent += 1;
                for arm in arms {
                    self.margin();
                    for (i, pattern) in arm.patterns.iter().enumerate() {
                        self.text(if i == 0 { "" } else { " | " });
                        self.pattern(pattern);
                    }
                    self.text(" => ");
                    self.block(&arm.body);
                    self.text("\n");
                }
                self.indent -= 1;
                self.margin();
                self.text("}");
            }
            StmtKind::Break => self.text("break;"),
            StmtKind::Continue => self.text("continue;"),
            StmtKind::Return(None) => self.text("return;"),
            StmtKind::Return(Some(value)) => {
                self.text("return ");
                self.expr(value, Level::Any);
                self.text(";");
            }
            StmtKind::Block(block) => self.block(block),
            StmtKind::Error => self.text("<error>"),
        }
        self.text("\n");
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Literal(literal) => self.bound(literal),
            PatternKind::Range { from, to, inclusive } => {
                self.bound(from);
                self.text(if *inclusive { "..=" } else { ".." });
                self.bound(to);
            }
            PatternKind::Any => self.text("_"),
        }
    }

    /// A literal of a pattern, into which a minus is folded.
    fn bound(&mut self, literal: &Expr) {
        match literal.kind {
            ExprKind::Int(value) => {
                let _ = write!(self.out, "{value}");
            }
            _ => self.expr(literal, Level::Any),
        }
    }

    fn expr(&mut self, expr: &Expr, least: Level) {
        let own = Level::of(expr);
        let structure = self.head && matches!(expr.kind, ExprKind::Struct(_));
        if own < least || structure {
            self.enclosed("(", ")", |p| p.bare(expr, own));
        } else {
            self.bare(expr, own);
        }
    }

    /// Between brackets, where a struct literal is free.
    fn enclosed(&mut self, open: &str, close: &str, inside: impl FnOnce(&mut Self)) {
        let head = std::mem::replace(&mut self.head, false);
        self.text(open);
        inside(self);
        self.text(close);
        self.head = head;
    }

    fn args(&mut self, args: &[Expr]) {
        self.enclosed("(", ")", |p| p.list(args, |p, arg| p.expr(arg, Level::Any)));
    }

    /// What a postfix operator with a name stands after: `5.f` is no number and no field.
    fn object(&mut self, object: &Expr) {
        match object.kind {
            ExprKind::Int(_) | ExprKind::Float(_) => {
                self.enclosed("(", ")", |p| p.expr(object, Level::Any));
            }
            _ => self.expr(object, Level::Postfix),
        }
    }

    fn bare(&mut self, expr: &Expr, own: Level) {
        match &expr.kind {
            ExprKind::Int(i64::MIN) => self.text("-9223372036854775808"),
            ExprKind::Int(value) => {
                // A negative one was a bit pattern.
                let _ = match *value < 0 {
                    true => write!(self.out, "{value:#x}"),
                    false => write!(self.out, "{value}"),
                };
            }
            ExprKind::Float(value) => {
                let _ = write!(self.out, "{value:?}");
            }
            ExprKind::Byte(value) => {
                let _ = match value {
                    b'\'' => write!(self.out, "'\\''"),
                    b'"' => write!(self.out, "'\"'"),
                    _ => write!(self.out, "'{}'", value.escape_ascii()),
                };
            }
            ExprKind::Bool(value) => {
                let _ = write!(self.out, "{value}");
            }
            ExprKind::Str(bytes) => self.string(bytes),
            ExprKind::Nil => self.text("nil"),
            ExprKind::Name(symbol) => self.name(*symbol),
            ExprKind::Unary { op, operand } => {
                self.text(op.symbol());
                self.expr(operand, Level::Unary);
            }
            ExprKind::Chain(chain) => {
                self.expr(&chain.first, own.tighter());
                for (op, _, operand) in &chain.rest {
                    let _ = write!(self.out, " {} ", op.symbol());
                    self.expr(operand, own.tighter());
                }
            }
            ExprKind::Compare(compare) => {
                self.expr(&compare.left, own.tighter());
                let _ = write!(self.out, " {} ", compare.op.symbol());
                self.expr(&compare.right, own.tighter());
            }
            ExprKind::Logic(logic) => {
                for (i, operand) in logic.operands.iter().enumerate() {
                    if i > 0 {
                        self.text(if logic.and { " && " } else { " || " });
                    }
                    self.expr(operand, own.tighter());
                }
            }
            ExprKind::Call(call) => {
                let Call { callee, args } = &**call;
                match callee.kind {
                    // Else it would be a method.
                    ExprKind::Field(_) => {
                        self.enclosed("(", ")", |p| p.expr(callee, Level::Any));
                    }
                    _ => self.expr(callee, Level::Postfix),
                }
                self.args(args);
            }
            ExprKind::Method(method) => {
                self.object(&method.receiver);
                self.text(".");
                self.name(method.name.symbol);
                self.args(&method.args);
            }
            ExprKind::Field(field) => {
                self.object(&field.object);
                self.text(".");
                self.name(field.name.symbol);
            }
            ExprKind::Index { object, index } => {
                self.expr(object, Level::Postfix);
                self.enclosed("[", "]", |p| p.expr(index, Level::Any));
            }
            ExprKind::Unwrap(operand) => {
                self.expr(operand, Level::Postfix);
                self.text("!");
            }
            ExprKind::Array(elements) => {
                self.enclosed("[", "]", |p| p.list(elements, |p, e| p.expr(e, Level::Any)));
            }
            ExprKind::Repeat { value, count } => self.enclosed("[", "]", |p| {
                p.expr(value, Level::Any);
                p.text("; ");
                p.expr(count, Level::Any);
            }),
            ExprKind::Struct(literal) => {
                self.name(literal.name.symbol);
                self.enclosed(" { ", " }", |p| {
                    p.list(&literal.fields, |p, (name, value)| {
                        p.name(name.symbol);
                        p.text(": ");
                        p.expr(value, Level::Any);
                    });
                });
            }
            ExprKind::Lambda(lambda) => {
                self.text("fn");
                self.lambda(lambda, true);
            }
            ExprKind::Error => self.text("<error>"),
        }
    }

    fn string(&mut self, bytes: &[u8]) {
        self.text("\"");
        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '"' | '\\' => self.out.extend(['\\', c]),
                    '\n' => self.text("\\n"),
                    '\r' => self.text("\\r"),
                    '\t' => self.text("\\t"),
                    c if c.is_control() && c.is_ascii() => {
                        let _ = write!(self.out, "\\x{:02x}", u32::from(c));
                    }
                    c if c.is_control() => {
                        let _ = write!(self.out, "\\u{{{:x}}}", u32::from(c));
                    }
                    c => self.out.push(c),
                }
            }
            for byte in chunk.invalid() {
                let _ = write!(self.out, "\\x{byte:02x}");
            }
        }
        self.text("\"");
    }
}

#[cfg(test)]
mod tests {
    use crate::source::{Interner, Sources};
    use crate::syntax::{dump_ast, parse};
    use std::path::Path;

    /// The tree without places, and its text; nothing where it does not parse.
    fn parsed(text: &str) -> Option<(String, String)> {
        let (mut sources, mut names) = (Sources::new(), Interner::new());
        sources.add("t.toy", text)?;
        let (program, diagnostics) = parse(&sources, 0, &mut names);
        let dump = dump_ast(&sources, &program, &names);
        let tree = dump.lines().map(|line| line.rsplit_once("  @").map_or(line, |(l, _)| l));
        let tree = tree.collect::<Vec<_>>().join("\n");
        diagnostics.is_empty().then(|| (tree, super::print(&program, &names)))
    }

    #[track_caller]
    fn same(text: &str) {
        let Some((tree, printed)) = parsed(text) else { return };
        let Some((again, reprinted)) = parsed(&printed) else {
            panic!("what was printed does not parse:\n{printed}");
        };
        assert_eq!(tree, again, "\n{printed}");
        assert_eq!(printed, reprinted);
    }

    #[test]
    fn shapes_that_need_parentheses() {
        for text in [
            "let a = (1 + 2) * 3 - (4 - 5); let b = 1 + 2 * 3; let c = (1 < 2) == (3 < 4);",
            "let a = -(1 + 2); let b = (-1).abs(); let c = !(x && y) || (p || q) && r;",
            "let a = (5).abs(); let b = (2.5).floor(); let c = -9223372036854775808 - -1;",
            "let a = (-9223372036854775808).abs(); let b = 0xFFFF_FFFF_FFFF_FFFF; let c = 0x8000_0000_0000_0000;",
            "(fn() { })(); (fn(x: int) -> int { return x; })(1); let f = fn() { print(1); print(2); };",
            "if (S { a: 1 }).a == 1 { } while f(S { }) { } for x in (S { xs: [] }).xs { } match [S { a: 1 }][0].a { 1 => { } }",
            "let f: (fn(int) -> str?)? = nil; let g: [fn()] = []; let h: fn() -> (fn() -> int)? = k;",
            "x! == y; x!.f = 3; a[1]![2] <<= 1 << 2 << (3 << 4); (fn() { }).f();",
            "match x { -5 | 1..=3 | -9223372036854775808..0 | '\\'' | \"\\\"\" | true | _ => { } }",
            "let s = \"a\\\\ \\u{7f} \\u{85} \\xff\\0 é \\n\"; let b = '\\''; let c = '\"'; let d = '\\xff';",
            "(b.click)(1); b.click(1); (b.click(1))(2);",
            "if a { } else if b { } else { if c { } }",
        ] {
            assert!(parsed(text).is_some(), "{text}");
            same(text);
        }
    }

    #[test]
    fn every_program_of_the_suites() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut programs = 0;
        for folder in ["tests/conformance", "tests/language", "examples"] {
            let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
            for entry in entries.flatten() {
                if let Ok(text) = std::fs::read_to_string(entry.path())
                    && entry.path().extension().is_some_and(|e| e == "toy")
                {
                    same(&text);
                    programs += 1;
                }
            }
        }
        assert!(programs > 0);
    }
}
