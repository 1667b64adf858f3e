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
                    TypeKind::Name(symbol)
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

fn missing(inp: &mut Ref<'_, '_>) -> Type {
    let here = at(inp);
    inp.state().expected(here, "a type");
    Type { kind: TypeKind::Error, span: since(inp, here) }
}
