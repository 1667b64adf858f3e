//! Tokens and trees as text, for `emit tokens` and `emit ast`.
//!
//! Output: one token or one node a line, each with the line and column of its start; children are
//! indented under their node. The depth of the recursion is the depth of the tree.

use super::ast::{
    Block, Expr, ExprKind, Item, Lambda, Param, Pattern, PatternKind, Program, Stmt, StmtKind,
    Type, TypeKind,
};
use super::lexer::lossless;
use super::token::Class;
use crate::source::{Interner, Sources, Span, Symbol};
use std::fmt::Write;

/// All tokens of the file that begins at `base`, comments included.
pub fn dump_tokens(sources: &Sources, base: u32) -> String {
    let text = sources.locate(base).0.text.as_str();
    let mut out = String::new();
    for (token, range) in lossless(text) {
        let class = match token.class() {
            Class::Name => "name",
            Class::Keyword => "keyword",
            Class::Number => "number",
            Class::Text => "text",
            Class::Comment => "comment",
            Class::Punctuation => "punctuation",
            Class::Error => "error",
        };
        let place = line_column(sources, base + range.start as u32);
        let text = text[range].replace('\n', "\\n").replace('\r', "\\r");
        let _ = writeln!(out, "{place:<9} {class:<12} {text}");
    }
    out
}

/// The tree of a program.
pub fn dump_ast(sources: &Sources, program: &Program, interner: &Interner) -> String {
    let mut dump = Dump { out: String::new(), depth: 0, sources, names: interner };
    program.items.iter().for_each(|item| dump.item(item));
    dump.out
}

fn line_column(sources: &Sources, offset: u32) -> String {
    let place = sources.place(offset);
    format!("{}:{}", place.line, place.column)
}

struct Dump<'a> {
    out: String,
    depth: usize,
    sources: &'a Sources,
    names: &'a Interner,
}

impl Dump<'_> {
    fn line(&mut self, span: Span, text: impl AsRef<str>) {
        let place = line_column(self.sources, span.start);
        let (indent, text) = (self.depth * 2, text.as_ref());
        let _ = writeln!(self.out, "{:indent$}{text}  @{place}", "");
    }

    /// A node with children.
    fn node(&mut self, span: Span, text: impl AsRef<str>, children: impl FnOnce(&mut Self)) {
        self.line(span, text);
        self.depth += 1;
        children(self);
        self.depth -= 1;
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.names.name(symbol)
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Function(function) => {
                let text = format!("function {}", self.name(function.name.symbol));
                self.node(function.lambda.head, text, |d| d.lambda(&function.lambda));
            }
            Item::Struct(structure) => {
                let text = format!("struct {}", self.name(structure.name.symbol));
                self.node(structure.span, text, |d| {
                    structure.fields.iter().for_each(|field| d.param("field", field));
                });
            }
            Item::Statement(statement) => self.statement(statement),
        }
    }

    fn lambda(&mut self, lambda: &Lambda) {
        lambda.params.iter().for_each(|param| self.param("param", param));
        if let Some(ty) = &lambda.result {
            let text = format!("result {}", self.ty(ty));
            self.line(ty.span, text);
        }
        self.block("body", &lambda.body);
    }

    fn param(&mut self, what: &str, param: &Param) {
        let text = format!("{what} {}: {}", self.name(param.name.symbol), self.ty(&param.ty));
        self.line(param.name.span, text);
    }

    fn ty(&self, ty: &Type) -> String {
        match &ty.kind {
            TypeKind::Name(symbol) => self.name(*symbol).into(),
            TypeKind::Array(element) => format!("[{}]", self.ty(element)),
            TypeKind::Function(params, result) => {
                let params: Vec<_> = params.iter().map(|p| self.ty(p)).collect();
                let result = result.as_ref().map(|r| format!(" -> {}", self.ty(r)));
                format!("fn({}){}", params.join(", "), result.unwrap_or_default())
            }
            TypeKind::Optional(inner) => match &inner.kind {
                TypeKind::Function(..) => format!("({})?", self.ty(inner)),
                _ => format!("{}?", self.ty(inner)),
            },
            TypeKind::Error => "<error>".into(),
        }
    }

    fn block(&mut self, what: &str, block: &Block) {
        self.node(block.span, what, |d| block.statements.iter().for_each(|s| d.statement(s)));
    }

    fn statement(&mut self, statement: &Stmt) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Declare { mutable, name, ty, value, .. } => {
                let keyword = if *mutable { "var" } else { "let" };
                let ty = ty.as_ref().map(|ty| format!(": {}", self.ty(ty))).unwrap_or_default();
                let text = format!("{keyword} {}{ty}", self.name(name.symbol));
                self.node(span, text, |d| value.iter().for_each(|value| d.expr(value)));
            }
            StmtKind::Assign { place, op, value } => {
                let op = op.map_or("", |(op, _)| op.symbol());
                self.node(span, format!("assign {op}="), |d| {
                    d.expr(place);
                    d.expr(value);
                });
            }
            StmtKind::Expr(expr) => self.node(span, "expression", |d| d.expr(expr)),
            StmtKind::If { arms, otherwise } => self.node(span, "if", |d| {
                for (condition, block) in arms {
                    d.expr(condition);
                    d.block("then", block);
                }
                otherwise.iter().for_each(|block| d.block("else", block));
            }),
            StmtKind::While { condition, body } => self.node(span, "while", |d| {
                d.expr(condition);
                d.block("do", body);
            }),
            StmtKind::For { name, from, to, body } => {
                let dots = to.as_ref().map_or("", |to| if to.1 { " ..=" } else { " .." });
                let text = format!("for {} in{dots}", self.name(name.symbol));
                self.node(span, text, |d| {
                    d.expr(from);
                    to.iter().for_each(|to| d.expr(&to.0));
                    d.block("do", body);
                });
            }
            StmtKind::Match { value, arms } => self.node(span, "match", |d| {
                d.expr(value);
                for arm in arms {
                    d.node(arm.body.span, "arm", |d| {
                        arm.patterns.iter().for_each(|pattern| d.pattern(pattern));
                        d.block("do", &arm.body);
                    });
                }
            }),
            StmtKind::Break => self.line(span, "break"),
            StmtKind::Continue => self.line(span, "continue"),
            StmtKind::Return(value) => {
                self.node(span, "return", |d| value.iter().for_each(|value| d.expr(value)));
            }
            StmtKind::Block(block) => self.block("block", block),
            StmtKind::Error => self.line(span, "<error>"),
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Literal(expr) => self.expr(expr),
            PatternKind::Range { from, to, inclusive } => {
                let text = if *inclusive { "range ..=" } else { "range .." };
                self.node(pattern.span, text, |d| {
                    d.expr(from);
                    d.expr(to);
                });
            }
            PatternKind::Any => self.line(pattern.span, "_"),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value) => self.line(span, format!("int {value}")),
            ExprKind::Float(value) => self.line(span, format!("float {value:?}")),
            ExprKind::Byte(value) => self.line(span, format!("byte {value}")),
            ExprKind::Bool(value) => self.line(span, format!("{value}")),
            ExprKind::Str(bytes) => self.line(span, format!("str \"{}\"", bytes.escape_ascii())),
            ExprKind::Nil => self.line(span, "nil"),
            ExprKind::Name(symbol) => {
                let text = format!("name {}", self.name(*symbol));
                self.line(span, text);
            }
            ExprKind::Unary { op, operand } => {
                self.node(span, format!("unary {}", op.symbol()), |d| d.expr(operand));
            }
            ExprKind::Chain(chain) => self.node(span, "chain", |d| {
                d.expr(&chain.first);
                for (op, op_span, operand) in &chain.rest {
                    d.node(*op_span, op.symbol(), |d| d.expr(operand));
                }
            }),
            ExprKind::Compare(compare) => {
                self.node(span, format!("compare {}", compare.op.symbol()), |d| {
                    d.expr(&compare.left);
                    d.expr(&compare.right);
                });
            }
            ExprKind::Logic(logic) => {
                let text = if logic.and { "logic &&" } else { "logic ||" };
                self.node(span, text, |d| logic.operands.iter().for_each(|e| d.expr(e)));
            }
            ExprKind::Call(call) => self.node(span, "call", |d| {
                d.expr(&call.callee);
                call.args.iter().for_each(|arg| d.expr(arg));
            }),
            ExprKind::Method(method) => {
                let text = format!("method .{}", self.name(method.name.symbol));
                self.node(span, text, |d| {
                    d.expr(&method.receiver);
                    method.args.iter().for_each(|arg| d.expr(arg));
                });
            }
            ExprKind::Field(field) => {
                let text = format!("field .{}", self.name(field.name.symbol));
                self.node(span, text, |d| d.expr(&field.object));
            }
            ExprKind::Index { object, index } => self.node(span, "index", |d| {
                d.expr(object);
                d.expr(index);
            }),
            ExprKind::Unwrap(operand) => self.node(span, "unwrap !", |d| d.expr(operand)),
            ExprKind::Array(elements) => {
                self.node(span, "array", |d| elements.iter().for_each(|e| d.expr(e)));
            }
            ExprKind::Repeat { value, count } => self.node(span, "repeat", |d| {
                d.expr(value);
                d.expr(count);
            }),
            ExprKind::Struct(literal) => {
                let text = format!("struct {}", self.name(literal.name.symbol));
                self.node(span, text, |d| {
                    for (name, value) in &literal.fields {
                        let text = format!("field {}", d.name(name.symbol));
                        d.node(name.span, text, |d| d.expr(value));
                    }
                });
            }
            ExprKind::Lambda(lambda) => self.node(span, "lambda", |d| d.lambda(lambda)),
            ExprKind::Error => self.line(span, "<error>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_with_comments() {
        let mut sources = Sources::new();
        let base = sources.add("t.toy", "let é = \"a\tb\"; // c\n  1.5").unwrap();
        assert_eq!(
            dump_tokens(&sources, base),
            "1:1       keyword      let
1:5       error        é
1:7       punctuation  =
1:9       text         \"a\tb\"
1:14      punctuation  ;
1:16      comment      // c
2:3       number       1.5
"
        );
    }
}
