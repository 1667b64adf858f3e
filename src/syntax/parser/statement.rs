//! Statements and blocks.

use super::list::bracketed;
use super::pattern::patterns;
use super::recover::{expect, item_ahead, semicolon, skip_statement, stray, take_name};
use super::state::{State, at, peek, peek_nth, since, take};
use super::{Ref, Rule};
use crate::source::Diagnostic;
use crate::syntax::ast::{
    Arm, BinaryOp, Block, Compare, CompareOp, Expr, ExprKind, Stmt, StmtKind, Type,
};
use crate::syntax::token::Token;
use chumsky::error::EmptyErr;
use chumsky::prelude::*;
use chumsky::primitive::custom;

/// `statement`. The rule is to be asked for only where one may begin (anything but a closing brace
/// and the end of the file); it takes at least one token.
pub(super) fn statement<'s>(
    expr: Rule<'s, Expr>,
    ty: Rule<'s, Type>,
    block: Rule<'s, Block>,
    arm: Rule<'s, Block>,
) -> Rule<'s, Stmt> {
    let declare = declare(expr.clone(), ty);
    let condition = head(expr.clone(), true);
    let head = head(expr.clone(), false);
    let if_ = if_(condition.clone(), block.clone());
    let while_ = just(Token::While)
        .ignore_then(condition)
        .then(block.clone())
        .map(|(condition, body)| StmtKind::While { condition, body })
        .boxed();
    let for_ = for_(head.clone(), block.clone());
    let match_ = match_(head, arm);
    let return_ = return_(expr.clone());
    let other = expression_statement(expr);
    custom(move |inp| {
        let start = at(inp);
        let kind = match peek(inp) {
            Token::Let | Token::Var => inp.parse(&declare)?,
            Token::If => inp.parse(&if_)?,
            Token::While => inp.parse(&while_)?,
            Token::For => inp.parse(&for_)?,
            Token::Match => inp.parse(&match_)?,
            Token::Return => inp.parse(&return_)?,
            Token::Break => jump(inp, StmtKind::Break),
            Token::Continue => jump(inp, StmtKind::Continue),
            Token::LBrace => StmtKind::Block(inp.parse(&block)?),
            Token::Else => {
                lone_else(inp);
                inp.parse(&block)?;
                StmtKind::Error
            }
            Token::Ident(_) if foreign_block(inp) => {
                inp.parse(&block)?;
                skip_tail(inp, &block)?;
                StmtKind::Error
            }
            token if token.starts_expression() => inp.parse(&other)?,
            _ => {
                misplaced(inp);
                StmtKind::Error
            }
        };
        Ok(Stmt { kind, span: since(inp, start) })
    })
    .boxed()
}

fn jump(inp: &mut Ref<'_, '_>, kind: StmtKind) -> StmtKind {
    inp.skip();
    semicolon(inp);
    kind
}

/// `let NAME [: type] = expr;`, `var NAME [: type] = expr;` or `var NAME: type;`
fn declare<'s>(expr: Rule<'s, Expr>, ty: Rule<'s, Type>) -> Rule<'s, StmtKind> {
    let annotation = just(Token::Colon).ignore_then(ty).or_not().boxed();
    custom(move |inp| {
        let start = at(inp);
        let mutable = peek(inp) == Token::Var;
        inp.skip();
        let keyword = since(inp, start);
        let name = take_name(inp, "a name");
        let ty = inp.parse(&annotation)?.map(Box::new);
        let end = at(inp);
        let value_optional = mutable && ty.is_some();
        let value = match peek(inp) {
            Token::Semi => None,
            Token::EqEq => {
                inp.state().expected(end, "`=`");
                Some(())
            }
            Token::Eq => Some(()),
            _ if value_optional => None,
            _ => {
                inp.state().expected(end, "`=`");
                None
            }
        };
        let mut value = match value {
            Some(()) => {
                inp.skip();
                Some(inp.parse(&expr)?)
            }
            None => None,
        };
        let whole = semicolon(inp);
        let Some(name) = name else { return Ok(StmtKind::Error) };
        if value.is_none() && !value_optional {
            if whole {
                valueless(inp.state(), mutable, start, end);
            }
            value = Some(Expr { kind: ExprKind::Error, span: keyword });
        }
        Ok(StmtKind::Declare { mutable, keyword, name, ty, value })
    })
    .boxed()
}

/// Reports a declaration without a value that needs one.
fn valueless(state: &mut State<'_>, mutable: bool, start: usize, end: usize) {
    let name = state.text(start + 1);
    let (message, help) = match mutable {
        false => (
            format!("`let {name}` needs a value"),
            format!("write `let {name} = …;`, or `var` and a type for what is assigned later"),
        ),
        true => (
            format!("`var {name}` needs a value or a type"),
            format!("write `var {name} = …;` or `var {name}: int;`"),
        ),
    };
    let place = state.cover(start, end);
    state.insist(Diagnostic::error("E0121", place, message, "no value").help(help));
}

/// The expression in the head of a statement, where struct literals stand in parentheses. In a
/// condition, `=` is taken for `==`.
fn head<'s>(expr: Rule<'s, Expr>, condition: bool) -> Rule<'s, Expr> {
    custom(move |inp: &mut Ref<'s, '_>| {
        let free = std::mem::replace(&mut inp.state().struct_literals, false);
        let mut left: Expr = inp.parse(&expr)?;
        if condition && peek(inp) == Token::Eq {
            let here = at(inp);
            inp.state().report(here, |s| {
                Diagnostic::error("E0122", s.span(here), "`=` in a condition", "this assigns")
                    .help("did you mean `==`?")
                    .suggest(s.span(here), "==")
            });
            let op_span = inp.state().span(here);
            inp.skip();
            let right = inp.parse(&expr)?;
            let span = left.span.to(right.span);
            let compare = Compare { op: CompareOp::Eq, op_span, left, right };
            left = Expr { kind: ExprKind::Compare(Box::new(compare)), span };
        }
        inp.state().struct_literals = free;
        Ok(left)
    })
    .boxed()
}

/// `if expr block { "else" "if" expr block } [ "else" block ]`
fn if_<'s>(condition: Rule<'s, Expr>, block: Rule<'s, Block>) -> Rule<'s, StmtKind> {
    let arm = just(Token::If).ignore_then(condition).then(block.clone()).boxed();
    let more = just(Token::Else).ignore_then(arm.clone()).repeated().collect::<Vec<_>>();
    let otherwise = just(Token::Else).ignore_then(block).or_not();
    arm.then(more)
        .then(otherwise)
        .map(|((first, more), otherwise)| {
            let mut arms = vec![first];
            arms.extend(more);
            StmtKind::If { arms, otherwise }
        })
        .boxed()
}

/// `for NAME in expr [ (".." | "..=") expr ] block`
fn for_<'s>(head: Rule<'s, Expr>, block: Rule<'s, Block>) -> Rule<'s, StmtKind> {
    let dots = select! { Token::DotDot => false, Token::DotDotEq => true };
    let to = dots.then(head.clone()).map(|(inclusive, to)| Box::new((to, inclusive))).or_not();
    let plain = just(Token::For)
        .ignore_then(custom(|inp| {
            let name = take_name(inp, "a name for the loop's variable");
            if name.is_none() && peek_nth(inp, 1) == Token::In {
                inp.skip();
            }
            Ok(name)
        }))
        .then_ignore(custom(|inp| Ok(expect(inp, Token::In, "`in`"))))
        .then(head)
        .then(to)
        .then(block.clone())
        .map(|(((name, from), to), body)| match name {
            Some(name) => StmtKind::For { name, from, to, body: Box::new(body) },
            None => StmtKind::Error,
        })
        .boxed();
    custom(move |inp| {
        if peek_nth(inp, 1) != Token::LParen {
            return inp.parse(&plain);
        }
        inp.skip();
        foreign_head(inp);
        inp.parse(&block)?;
        Ok(StmtKind::Error)
    })
    .boxed()
}

fn newline_ahead(inp: &mut Ref<'_, '_>) -> bool {
    let here = at(inp);
    inp.state().newline_before(here)
}

/// Reports a loop's head in parentheses, as other languages have it, and skips it.
fn foreign_head(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    inp.state().report(here, |s| {
        let message = "the head of a `for` stands without parentheses";
        Diagnostic::error("E0129", s.span(here), message, "expected a name")
            .help("write `for i in 0..10 { … }` or `for x in xs { … }`")
    });
    while !matches!(peek(inp), Token::LBrace | Token::RBrace | Token::Eof)
        && !item_ahead(inp, 0)
        && !newline_ahead(inp)
    {
        inp.skip();
    }
}

/// Statements of other languages that are a word and a block, and what is written instead.
const FOREIGN: &[(&str, &str)] = &[
    ("do", "write `while true { … if !condition { break; } }`"),
    ("repeat", "write `while true { … if condition { break; } }`"),
    ("loop", "write `while true { … }`"),
    ("forever", "write `while true { … }`"),
    ("try", "a trap ends the program; a function can return an optional instead"),
];

/// Reports and takes the word before a block that is a statement in other languages; whether there
/// is one.
fn foreign_block(inp: &mut Ref<'_, '_>) -> bool {
    let here = at(inp);
    let word = inp.state().text(here);
    let Some((_, help)) = FOREIGN.iter().find(|(theirs, _)| *theirs == word) else { return false };
    let is_struct = peek_nth(inp, 2).is_name() && peek_nth(inp, 3) == Token::Colon;
    if peek_nth(inp, 1) != Token::LBrace || is_struct {
        return false;
    }
    inp.state().report(here, |s| {
        let message = format!("there is no statement `{word}`");
        Diagnostic::error("E0129", s.span(here), message, "").help(*help)
    });
    inp.skip();
    true
}

/// Skips what follows such a block: `while condition;`, `catch … { … }`.
fn skip_tail<'s>(inp: &mut Ref<'s, '_>, block: &Rule<'s, Block>) -> Result<(), EmptyErr> {
    loop {
        let here = at(inp);
        let is_catch = matches!(inp.state().text(here), "catch" | "except" | "finally");
        match peek(inp) {
            Token::While if !newline_ahead(inp) => {
                inp.skip();
                skip_statement(inp);
                return Ok(());
            }
            Token::Ident(_) if is_catch => {
                while !matches!(peek(inp), Token::LBrace | Token::RBrace | Token::Eof) {
                    inp.skip();
                }
                inp.parse(block)?;
            }
            _ => return Ok(()),
        }
    }
}

/// `match expr { pattern | pattern => block … }`
fn match_<'s>(head: Rule<'s, Expr>, block: Rule<'s, Block>) -> Rule<'s, StmtKind> {
    let arms = custom(move |inp: &mut Ref<'s, '_>| {
        if peek(inp) != Token::LBrace {
            expect(inp, Token::LBrace, "`{`");
            skip_statement(inp);
            return Ok(Vec::new());
        }
        let arms = bracketed(inp, Token::RBrace, |inp| {
            let mut arms = Vec::new();
            while !matches!(peek(inp), Token::RBrace | Token::Eof) && !item_ahead(inp, 0) {
                arms.extend(arm(inp, &block));
            }
            arms
        });
        Ok(arms.unwrap_or_default())
    });
    just(Token::Match)
        .ignore_then(head)
        .then(arms)
        .map(|(value, arms)| StmtKind::Match { value, arms })
        .boxed()
}

/// One arm; takes at least one token.
fn arm<'s>(inp: &mut Ref<'s, '_>, block: &Rule<'s, Block>) -> Option<Arm> {
    let start = at(inp);
    if peek(inp) == Token::Comma {
        inp.state().report(start, |s| {
            Diagnostic::error("E0124", s.span(start), "unexpected `,`", "arms need no commas")
        });
        inp.skip();
        return None;
    }
    let patterns = patterns(inp);
    if !expect(inp, Token::FatArrow, "`=>`") {
        while !matches!(peek(inp), Token::FatArrow | Token::LBrace | Token::RBrace | Token::Eof)
            && !item_ahead(inp, 0)
        {
            inp.skip();
        }
        if !take(inp, Token::FatArrow) && peek(inp) != Token::LBrace {
            return None;
        }
    }
    let body = inp.parse(block).ok()?;
    Some(Arm { patterns, body })
}

/// `return [expr];`
fn return_<'s>(expr: Rule<'s, Expr>) -> Rule<'s, StmtKind> {
    let value = any().filter(|token: &Token| token.starts_expression()).rewind().ignore_then(expr);
    just(Token::Return)
        .ignore_then(value.or_not())
        .then_ignore(custom(|inp| Ok(semicolon(inp))))
        .map(StmtKind::Return)
        .boxed()
}

/// `expr;` or `place op expr;`
fn expression_statement<'s>(expr: Rule<'s, Expr>) -> Rule<'s, StmtKind> {
    custom(move |inp| {
        let start = at(inp);
        let lambda = peek(inp) == Token::Fn;
        if lambda {
            inp.state().report(start, |s| {
                let message = "a statement can't begin with a function expression";
                Diagnostic::error("E0119", s.span(start), message, "")
                    .help("give the function a name, or put the expression in parentheses")
            });
        }
        let place = inp.parse(&expr)?;
        let here = at(inp);
        let Some(op) = assignment(peek(inp)) else {
            if lambda {
                take(inp, Token::Semi);
                return Ok(StmtKind::Error);
            }
            return Ok(if semicolon(inp) { StmtKind::Expr(place) } else { StmtKind::Error });
        };
        let op = op.map(|op| (op, inp.state().span(here)));
        let place = check_place(inp, place, start);
        inp.skip();
        let value = inp.parse(&expr)?;
        semicolon(inp);
        Ok(StmtKind::Assign { place, op, value })
    })
    .boxed()
}

/// The operator of an assignment: `Some(None)` for `=`.
fn assignment(token: Token) -> Option<Option<BinaryOp>> {
    Some(match token {
        Token::Eq => None,
        Token::PlusEq => Some(BinaryOp::Add),
        Token::MinusEq => Some(BinaryOp::Sub),
        Token::StarEq => Some(BinaryOp::Mul),
        Token::SlashEq => Some(BinaryOp::Div),
        Token::PercentEq => Some(BinaryOp::Rem),
        Token::AndEq => Some(BinaryOp::BitAnd),
        Token::OrEq => Some(BinaryOp::BitOr),
        Token::CaretEq => Some(BinaryOp::BitXor),
        Token::ShlEq => Some(BinaryOp::Shl),
        Token::ShrEq => Some(BinaryOp::Shr),
        Token::UShrEq => Some(BinaryOp::UShr),
        _ => return None,
    })
}

/// `place`, if it is one: a name, a field or an element, and not in parentheses. The assignment's
/// operator comes next.
fn check_place(inp: &mut Ref<'_, '_>, place: Expr, start: usize) -> Expr {
    let here = at(inp);
    let state = inp.state();
    let last = state.token(here - 1);
    let good = match place.kind {
        ExprKind::Name(_) | ExprKind::Field(_) => last.is_name(),
        ExprKind::Index { .. } => last == Token::RBracket,
        ExprKind::Error => true,
        _ => false,
    };
    if good {
        return place;
    }
    let span = state.cover(start, here);
    state.report(here, |_| {
        Diagnostic::error("E0116", span, "this can't be assigned", "no place to assign to")
            .help("a name, a field or an element of an array can be assigned")
    });
    Expr { kind: ExprKind::Error, span }
}

fn lone_else(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    inp.state().report(here, |s| {
        Diagnostic::error(
            "E0120",
            s.span(here),
            "`else` without an `if`",
            "no `if` ends before this",
        )
    });
    inp.skip();
    if take(inp, Token::If) {
        while !matches!(peek(inp), Token::LBrace | Token::RBrace | Token::Semi | Token::Eof) {
            inp.skip();
        }
    }
}

/// Reports a token with which no statement begins, and skips what goes with it.
fn misplaced(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    match peek(inp) {
        Token::RParen | Token::RBracket => {
            stray(inp);
            take(inp, Token::Semi);
        }
        Token::Semi => {
            inp.state().report(here, |s| {
                Diagnostic::error("E0124", s.span(here), "unexpected `;`", "nothing to end here")
                    .help("blocks, functions and structs need no `;` after them")
            });
            while take(inp, Token::Semi) {}
        }
        _ => {
            inp.state().expected(here, "a statement");
            inp.skip();
            skip_statement(inp);
        }
    }
}
