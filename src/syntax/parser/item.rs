//! Functions, structs and the program.

use super::block::{BlockOf, block, stray_brace};
use super::expression::expression;
use super::list::list;
use super::recover::{expect_or, find_close, item_ahead, take_name};
use super::state::{at, peek, peek_nth, since};
use super::statement::statement;
use super::types::types;
use super::{Ref, Rule};
use crate::source::{Diagnostic, Symbol};
use crate::syntax::ast::{
    Block, Function, Item, Lambda, Name, Param, Stmt, StmtKind, Struct, Type, TypeKind,
};
use crate::syntax::token::Token;
use chumsky::prelude::*;
use chumsky::primitive::custom;

/// `program`.
pub(super) fn program<'s>() -> Rule<'s, Vec<Item>> {
    let item = item();
    custom(move |inp| {
        let mut items = Vec::new();
        loop {
            match peek(inp) {
                Token::Eof => return Ok(items),
                Token::RBrace => stray_brace(inp),
                _ => {
                    let item = inp.parse(&item)?;
                    items.append(&mut inp.state().hoisted);
                    items.push(item);
                }
            }
        }
    })
    .boxed()
}

/// `item | statement`. The rule takes at least one token.
fn item<'s>() -> Rule<'s, Item> {
    recursive(|item| {
        let ty = types();
        let param = param(ty.clone());
        let body = block(item.clone(), BlockOf::Function);
        let function = function(lambda(param.clone(), ty.clone(), body));
        let body = block(item.clone(), BlockOf::Lambda);
        let expr = expression(unnamed(lambda(param.clone(), ty.clone(), body)));
        let structure = structure(param);
        let arm = block(item.clone(), BlockOf::Arm);
        let statement = statement(expr, ty, block(item, BlockOf::Statement), arm);
        custom(move |inp| match peek(inp) {
            Token::Fn if peek_nth(inp, 1) != Token::LParen => Ok(inp.parse(&function)?),
            Token::Struct => Ok(inp.parse(&structure)?),
            Token::Ident(_) if headless(inp) => Ok(inp.parse(&function)?),
            _ => Ok(Item::Statement(inp.parse(&statement)?)),
        })
    })
    .boxed()
}

/// `NAME ":" type`; `None` (reported) without a name.
fn param<'s>(ty: Rule<'s, Type>) -> Rule<'s, Option<Param>> {
    custom(move |inp| {
        if let (Token::Ident(ty), Token::Ident(symbol)) = (peek(inp), peek_nth(inp, 1)) {
            return Ok(Some(type_first(inp, ty, symbol)));
        }
        let name = take_name(inp, "a name");
        expect_or(inp, Token::Colon, Token::Eq, "`:` and a type");
        let ty = inp.parse(&ty)?;
        Ok(name.map(|name| Param { name, ty }))
    })
    .boxed()
}

/// Reports `TYPE NAME`, and takes it for `NAME: TYPE`.
fn type_first(inp: &mut Ref<'_, '_>, ty: Symbol, symbol: Symbol) -> Param {
    let start = at(inp);
    inp.skip();
    let ty = Type { kind: TypeKind::Name(ty), span: since(inp, start) };
    inp.skip();
    let state = inp.state();
    let name = Name { symbol, span: state.span(start + 1) };
    let span = state.cover(start, start + 2);
    let text = format!("{}: {}", state.text(start + 1), state.text(start));
    let message = format!("expected `:` and a type, found `{}`", state.text(start + 1));
    state.insist(
        Diagnostic::error("E0110", name.span, message, "the name comes first")
            .help(format!("write `{text}`"))
            .suggest(span, text),
    );
    Param { name, ty }
}

fn params<'s>(
    param: Rule<'s, Option<Param>>,
    closing: Token,
    what: &'static str,
) -> Rule<'s, Vec<Param>> {
    let element = move |inp: &mut Ref<'s, '_>| inp.parse(&param).ok().flatten();
    list(element, Token::is_name, closing, what)
        .map(|params| params.into_iter().flatten().collect())
        .boxed()
}

/// What follows `fn` and the name: parameters, result and body. The head is to be extended to the
/// left by who knows where it begins.
fn lambda<'s>(
    param: Rule<'s, Option<Param>>,
    ty: Rule<'s, Type>,
    body: Rule<'s, Block>,
) -> Rule<'s, Lambda> {
    let params = params(param, Token::RParen, "a parameter or `)`");
    custom(move |inp| {
        let start = at(inp);
        let params = match peek(inp) {
            Token::LParen => inp.parse(&params)?,
            _ => {
                let here = at(inp);
                inp.state().expected(here, "`(`");
                skip_head(inp);
                Vec::new()
            }
        };
        let here = at(inp);
        let result = match peek(inp) {
            Token::Arrow => true,
            Token::Colon | Token::FatArrow => {
                inp.state().expected(here, "`->` or `{`");
                true
            }
            _ => false,
        };
        let result = match result {
            true => {
                inp.skip();
                Some(inp.parse(&ty)?)
            }
            false => None,
        };
        let head = since(inp, start);
        let body = inp.parse(&body)?;
        Ok(Lambda { params, result, body, head })
    })
    .boxed()
}

/// Skips to the result or the body of a function whose parameters are missing.
fn skip_head(inp: &mut Ref<'_, '_>) {
    while !matches!(
        peek(inp),
        Token::LBrace | Token::RBrace | Token::Arrow | Token::Semi | Token::Eof
    ) && !peek(inp).is_statement_keyword()
        && !item_ahead(inp, 0)
    {
        inp.skip();
    }
}

/// `"fn" NAME …`
fn function<'s>(lambda: Rule<'s, Lambda>) -> Rule<'s, Item> {
    custom(move |inp| {
        let start = at(inp);
        if peek(inp) == Token::Fn {
            inp.skip();
        } else {
            inp.state().report(start, |s| {
                let name = s.text(start);
                let message = format!("expected `fn` before `{name}`");
                let place = s.span(start);
                Diagnostic::error("E0110", place, message, "this looks like a function")
                    .suggest(place, format!("fn {name}"))
            });
        }
        let name = take_name(inp, "a name for the function");
        if name.is_none() && peek_nth(inp, 1) == Token::LParen {
            inp.skip();
        }
        let mut lambda = inp.parse(&lambda)?;
        lambda.head.start = inp.state().span(start).start;
        Ok(match name {
            Some(name) => Item::Function(Function { name, lambda }),
            None => broken(inp, start),
        })
    })
    .boxed()
}

/// `"fn" …` without a name.
fn unnamed<'s>(lambda: Rule<'s, Lambda>) -> Rule<'s, Lambda> {
    custom(move |inp| {
        let start = at(inp);
        inp.skip();
        if peek(inp).is_name() && peek_nth(inp, 1) == Token::LParen {
            let here = at(inp);
            inp.state().report(here, |s| {
                let message = "a function expression has no name";
                Diagnostic::error("E0127", s.span(here), message, "expected `(`")
            });
            inp.skip();
        }
        let mut lambda = inp.parse(&lambda)?;
        lambda.head.start = inp.state().span(start).start;
        Ok(lambda)
    })
    .boxed()
}

/// `"struct" NAME "{" … "}"`
fn structure<'s>(param: Rule<'s, Option<Param>>) -> Rule<'s, Item> {
    let fields = params(param, Token::RBrace, "a field or `}`");
    custom(move |inp| {
        let start = at(inp);
        inp.skip();
        let name = take_name(inp, "a name for the struct");
        let here = at(inp);
        let fields = match peek(inp) {
            Token::LBrace => Some(inp.parse(&fields)?),
            _ => {
                inp.state().expected(here, "`{`");
                None
            }
        };
        Ok(match (name, fields) {
            (Some(name), fields) => {
                let fields = fields.unwrap_or_default();
                Item::Struct(Struct { name, fields, span: since(inp, start) })
            }
            (None, _) => broken(inp, start),
        })
    })
    .boxed()
}

fn broken(inp: &mut Ref<'_, '_>, start: usize) -> Item {
    Item::Statement(Stmt { kind: StmtKind::Error, span: since(inp, start) })
}

/// Whether what comes next can only be a function whose `fn` is missing.
fn headless(inp: &mut Ref<'_, '_>) -> bool {
    if peek_nth(inp, 1) != Token::LParen {
        return false;
    }
    let likely = match peek_nth(inp, 2) {
        Token::RParen => true,
        token => token.is_name() && peek_nth(inp, 3) == Token::Colon,
    };
    let first = at(inp) + 2;
    let state = inp.state();
    likely
        && find_close(state, first, Token::RParen)
            .is_some_and(|end| matches!(state.token(end + 1), Token::Arrow | Token::LBrace))
}
