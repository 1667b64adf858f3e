//! Statements and blocks.

use super::pattern::patterns;
use super::recover::{
    bracketed, expect, item_ahead, semicolon, skip_statement, skip_to, stray, take_name, unclosed,
};
use super::state::{State, at, nested, peek, peek_nth, since, take};
use super::{Ref, Rule};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{
    Arm, BinaryOp, Block, CompareOp, Expr, ExprKind, Item, Stmt, StmtKind, Type,
};
use crate::syntax::token::Token;
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
        let ty = inp.parse(&annotation)?;
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
        while condition && peek(inp) == Token::Eq {
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
            let (op, left_side, right) = (CompareOp::Eq, Box::new(left), Box::new(right));
            left = Expr { kind: ExprKind::Compare { op, op_span, left: left_side, right }, span };
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
    let to = dots.then(head.clone()).map(|(inclusive, to)| (to, inclusive)).or_not();
    just(Token::For)
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
        .then(block)
        .map(|(((name, from), to), body)| match name {
            Some(name) => StmtKind::For { name, from, to, body },
            None => StmtKind::Error,
        })
        .boxed()
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
            Diagnostic::error("E0110", s.span(start), "unexpected `,`", "arms need no commas")
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
            if lambda && !take(inp, Token::Semi) {
                return Ok(StmtKind::Error);
            }
            let whole = lambda || semicolon(inp);
            return Ok(if whole && !lambda { StmtKind::Expr(place) } else { StmtKind::Error });
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
        ExprKind::Name(_) | ExprKind::Field { .. } => last.is_name(),
        ExprKind::Index { .. } => last == Token::RBracket,
        ExprKind::Error => true,
        _ => false,
    };
    if good {
        return place;
    }
    let span = state.cover(start, here);
    state.insist(
        Diagnostic::error("E0116", span, "this can't be assigned", "no place to assign to")
            .help("a name, a field or an element of an array can be assigned"),
    );
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
                Diagnostic::error("E0110", s.span(here), "unexpected `;`", "nothing to end here")
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

/// What a block belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockOf {
    /// A named function.
    Function,
    /// A function expression.
    Lambda,
    /// An arm of a `match`.
    Arm,
    /// Another statement.
    Statement,
}

/// Whether an arm of a `match` begins here, as no statement does.
fn arm_ahead(inp: &mut Ref<'_, '_>) -> bool {
    peek(inp).starts_pattern()
        && match peek_nth(inp, 1) {
            Token::FatArrow => true,
            Token::DotDot | Token::DotDotEq => peek_nth(inp, 3) == Token::FatArrow,
            _ => false,
        }
}

/// `block`. Where the `{` is missing, something sensible is taken for the block.
pub(super) fn block<'s>(
    item: impl Parser<'s, super::In<'s>, Item, super::Extra<'s>> + Clone + 's,
    of: BlockOf,
) -> Rule<'s, Block> {
    custom(move |inp| {
        let start = at(inp);
        if peek(inp) != Token::LBrace && !find_block(inp) {
            return Ok(missing_block(inp, &item, of));
        }
        let open = at(inp);
        let statements = statements(inp, &item, Some(open), of);
        let span = match statements.is_some() {
            true => since(inp, open),
            false => since(inp, start),
        };
        Ok(Block { statements: statements.unwrap_or_default(), span })
    })
    .boxed()
}

/// Reports that no `{` comes next; whether one comes later in the same head, to which all is
/// skipped.
fn find_block(inp: &mut Ref<'_, '_>) -> bool {
    let here = at(inp);
    inp.state().expected(here, "`{`");
    let mut ahead = 0;
    loop {
        match peek_nth(inp, ahead) {
            Token::LBrace => {
                skip_to(inp, here + ahead);
                return true;
            }
            Token::Semi | Token::RBrace | Token::Eof | Token::Fn | Token::Struct | Token::Else => {
                return false;
            }
            token if token.is_statement_keyword() => return false,
            _ => {}
        }
        ahead += 1;
        if inp.state().newline_before(here + ahead) {
            return false;
        }
    }
}

/// What stands for a block whose `{` is missing.
fn missing_block<'s>(
    inp: &mut Ref<'s, '_>,
    item: &impl Parser<'s, super::In<'s>, Item, super::Extra<'s>>,
    of: BlockOf,
) -> Block {
    let start = at(inp);
    let mut statements_found = Vec::new();
    if inp.state().balance().lacks_opening(start) {
        inp.state().balance().mend(start);
        statements_found = statements(inp, item, None, of).unwrap_or_default();
    } else if matches!(of, BlockOf::Function | BlockOf::Lambda) {
        take(inp, Token::Semi);
    } else if peek(inp).starts_statement() && !item_ahead(inp, 0) {
        if let Some(Ok(Item::Statement(statement))) = nested(inp, 1, |inp| inp.parse(item)) {
            statements_found.push(statement);
        }
    } else {
        take(inp, Token::Semi);
    }
    Block { statements: statements_found, span: since(inp, start) }
}

/// Statements up to and with the `}`; `open` is the token of the `{`, which comes next.
fn statements<'s>(
    inp: &mut Ref<'s, '_>,
    item: &impl Parser<'s, super::In<'s>, Item, super::Extra<'s>>,
    open: Option<usize>,
    of: BlockOf,
) -> Option<Vec<Stmt>> {
    let free = std::mem::replace(&mut inp.state().struct_literals, true);
    let result = nested(inp, 1, |inp| {
        if open.is_some() {
            inp.skip();
        }
        let mut statements = Vec::new();
        loop {
            let here = at(inp);
            match peek(inp) {
                Token::RBrace if of == BlockOf::Function && closes_early(inp, open) => {
                    inp.state().balance().mend(here);
                    stray_brace(inp);
                }
                Token::RBrace => {
                    inp.skip();
                    break;
                }
                Token::Eof => {
                    unclosed_block(inp, open);
                    break;
                }
                Token::Fn | Token::Struct if item_ahead(inp, 0) => {
                    if !inp.state().balance().is_enclosed(here) {
                        unclosed_block(inp, open);
                        break;
                    }
                    not_here(inp);
                    if let Ok(item) = inp.parse(item) {
                        inp.state().hoisted.push(item);
                    }
                }
                _ if of == BlockOf::Arm && arm_ahead(inp) => {
                    unclosed_block(inp, open);
                    break;
                }
                _ => match inp.parse(item) {
                    Ok(Item::Statement(statement)) => statements.push(statement),
                    Ok(item) => inp.state().hoisted.push(item),
                    Err(_) => break,
                },
            }
        }
        statements
    });
    inp.state().struct_literals = free;
    result
}

fn unclosed_block(inp: &mut Ref<'_, '_>, open: Option<usize>) {
    let here = at(inp);
    if let Some(open) = open {
        unclosed(inp.state(), open, here, Token::RBrace);
    }
}

/// Whether the `}` that comes next ends a function too early: the function's piece of the file
/// closes too many braces, this one does not stand where a function's last brace stands, and
/// another is still to come.
fn closes_early(inp: &mut Ref<'_, '_>, open: Option<usize>) -> bool {
    let here = at(inp);
    let state = inp.state();
    let Some(open) = open else { return false };
    let misplaced = match state.newline_before(here) {
        true => state.indent(here) > state.indent(open),
        false => !state.newline_before(here + 1),
    };
    if !misplaced {
        return false;
    }
    if matches!(state.token(here + 1), Token::RBrace | Token::Eof | Token::Fn | Token::Struct) {
        return false;
    }
    state.balance().lacks_opening(here) && state.closes_after(here)
}

pub(super) fn stray_brace(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    inp.state().report(here, |s| {
        Diagnostic::error("E0113", s.span(here), "unexpected `}`", "this closes nothing")
    });
    inp.skip();
}

/// Reports an item inside a block.
fn not_here(inp: &mut Ref<'_, '_>) {
    let here = at(inp);
    let span: Span = inp.state().cover(here, here + 2);
    let (what, help) = match peek(inp) {
        Token::Fn => ("function", "a function expression can stand here: `let f = fn(…) { … };`"),
        _ => ("struct", "declare it outside the function"),
    };
    inp.state().insist(
        Diagnostic::error(
            "E0118",
            span,
            format!("a {what} can be declared at top level only"),
            "inside a block",
        )
        .help(help),
    );
}
