//! Types.

use super::list::{bracketed, list};
use super::state::{at, nested, peek, since, take};
use super::{Ref, Rule};
use crate::source::Diagnostic;
use crate::syntax::ast::{Type, TypeKind};
use crate::syntax::token::Token;
use chumsky::Parser;
use chumsky::primitive::custom;
use chumsky::recursive::recursive;

/// `type = basetype ["?"]`; what is no type is reported and stands as `TypeKind::Error`.
pub(super) fn types<'s>() -> Rule<'s, Type> {
    recursive(|ty| {
        let inner = move |inp: &mut Ref<'s, '_>| inp.parse(&ty).unwrap_or_else(|_| missing(inp));
        let params = list(inner.clone(), Token::starts_type, Token::RParen, "a type or `)`");
        custom(move |inp| {
            let start = at(inp);
            let kind = match peek(inp) {
                Token::Ident(symbol) => {
                    inp.skip();
                    match peek(inp) {
                        Token::Lt | Token::LBracket => foreign(inp, start),
                        _ => TypeKind::Name(symbol),
                    }
                }
                Token::LBracket => bracketed(inp, Token::RBracket, &inner)
                    .map_or(TypeKind::Error, |element| TypeKind::Array(Box::new(element))),
                Token::LParen => {
                    bracketed(inp, Token::RParen, &inner).map_or(TypeKind::Error, |ty| ty.kind)
                }
                Token::Fn => {
                    inp.skip();
                    let params = match peek(inp) {
                        Token::LParen => inp.parse(&params)?,
                        _ => {
                            let here = at(inp);
                            inp.state().expected(here, "`(`");
                            Vec::new()
                        }
                    };
                    let result = match take(inp, Token::Arrow) {
                        true => nested(inp, 1, &inner).map(Box::new),
                        false => None,
                    };
                    TypeKind::Function(params, result)
                }
                _ => return Ok(missing(inp)),
            };
            let ty = Type { kind, span: since(inp, start) };
            let question = take(inp, Token::Question);
            Ok(if question && ty.kind != TypeKind::Error { optional(inp, start, ty) } else { ty })
        })
    })
    .boxed()
}

fn optional(inp: &mut Ref<'_, '_>, start: usize, ty: Type) -> Type {
    let span = since(inp, start);
    let here = at(inp);
    if peek(inp) == Token::Question {
        inp.state().report(here, |s| {
            Diagnostic::error("E0126", s.span(here), "a type takes one `?` at most", "one too many")
        });
        while take(inp, Token::Question) {}
    }
    Type { kind: TypeKind::Optional(Box::new(ty)), span }
}

/// Reports `NAME<…>` and `NAME[…]`, types of other languages, and skips their rest.
fn foreign(inp: &mut Ref<'_, '_>, start: usize) -> TypeKind {
    let mut depth = 0;
    loop {
        depth += match peek(inp) {
            Token::Lt | Token::LBracket => 1,
            Token::Gt | Token::RBracket => -1,
            Token::Shr => -2,
            Token::UShr => -3,
            Token::Ident(_) | Token::Comma | Token::Question => 0,
            _ => break,
        };
        inp.skip();
        if depth <= 0 {
            break;
        }
    }
    let span = since(inp, start);
    let state = inp.state();
    let element = match state.token(start + 2) {
        Token::RBracket => state.text(start),
        _ => "int",
    };
    let help = format!("an array's type is written in brackets: `[{element}]`");
    state.insist(
        Diagnostic::error("E0110", span, "there are no such types", "expected a type").help(help),
    );
    TypeKind::Error
}

fn missing(inp: &mut Ref<'_, '_>) -> Type {
    let here = at(inp);
    inp.state().expected(here, "a type");
    Type { kind: TypeKind::Error, span: since(inp, here) }
}
