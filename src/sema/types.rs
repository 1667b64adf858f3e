//! Types: from how they are written to their numbers, and back to text.
//!
//! A type with `Ty::ERROR` in it is `Ty::ERROR` as a whole: then a comparison of numbers is all
//! that is needed to see whether something was reported.

use super::hir::{Struct, StructId, Ty, TyKind, Types};
use super::names::Space;
use super::{Checker, codes};
use crate::entity::Arena;
use crate::source::{Diagnostic, Interner, Span, Symbol};
use crate::syntax::ast::{self, TypeKind};

/// Types nest no deeper. Only inference could go further: `let b = [a]; let c = [b];` …
const DEEPEST: u32 = 1_000;

/// What would follow so many bytes of a type's text is shown as `…`.
const LONGEST_SHOWN: usize = 1_000;

/// The names of the basic types.
pub(super) const BASIC: &[(&str, Ty)] = &[
    ("int", Ty::INT),
    ("float", Ty::FLOAT),
    ("bool", Ty::BOOL),
    ("byte", Ty::BYTE),
    ("str", Ty::STR),
];

/// A type as a program writes it, cut where it is very long.
pub fn display_ty(
    types: &Types,
    structs: &Arena<StructId, Struct>,
    interner: &Interner,
    ty: Ty,
) -> String {
    let mut out = String::new();
    Shown { types, structs, interner }.write(&mut out, ty);
    out
}

struct Shown<'a> {
    types: &'a Types,
    structs: &'a Arena<StructId, Struct>,
    interner: &'a Interner,
}

impl Shown<'_> {
    fn write(&self, out: &mut String, ty: Ty) {
        if out.len() > LONGEST_SHOWN {
            out.push('…');
            return;
        }
        match self.types.kind(ty) {
            TyKind::Unit => out.push_str("nothing"),
            TyKind::Int => out.push_str("int"),
            TyKind::Float => out.push_str("float"),
            TyKind::Bool => out.push_str("bool"),
            TyKind::Byte => out.push_str("byte"),
            TyKind::Str => out.push_str("str"),
            TyKind::Error => out.push_str("(unknown)"),
            TyKind::Struct(id) => out.push_str(self.interner.name(self.structs[*id].name)),
            TyKind::Array(element) => {
                out.push('[');
                self.write(out, *element);
                out.push(']');
            }
            TyKind::Optional(inner) => {
                let parens = matches!(self.types.kind(*inner), TyKind::Function(..));
                out.push_str(if parens { "(" } else { "" });
                self.write(out, *inner);
                out.push_str(if parens { ")?" } else { "?" });
            }
            TyKind::Function(params, result) => {
                out.push_str("fn(");
                for (i, param) in params.iter().enumerate() {
                    if out.len() > LONGEST_SHOWN {
                        out.push('…');
                        break;
                    }
                    out.push_str(if i > 0 { ", " } else { "" });
                    self.write(out, *param);
                }
                out.push(')');
                if *result != Ty::UNIT {
                    out.push_str(" -> ");
                    self.write(out, *result);
                }
            }
        }
    }
}

impl Checker<'_> {
    /// The type that is written there.
    pub(super) fn written(&mut self, ty: &ast::Type) -> Ty {
        match &ty.kind {
            TypeKind::Error => Ty::ERROR,
            TypeKind::Name(name) => {
                let text = self.name(*name);
                if let Some(&(_, ty)) = BASIC.iter().find(|(basic, _)| *basic == text) {
                    return ty;
                }
                match self.names[*name].structure {
                    Some(id) => self.types.intern(TyKind::Struct(id)),
                    None => {
                        self.unknown_type(*name, ty.span, "type");
                        Ty::ERROR
                    }
                }
            }
            TypeKind::Array(element) => {
                let element = self.written(element);
                self.array_of(element, ty.span)
            }
            TypeKind::Function(params, result) => {
                let params: Box<[Ty]> = params.iter().map(|p| self.written(p)).collect();
                let result = result.as_ref().map_or(Ty::UNIT, |r| self.written(r));
                self.function_type(params, result)
            }
            TypeKind::Optional(inner) => {
                let inner = self.written(inner);
                self.optional_of(inner, ty.span)
            }
        }
    }

    /// `[element]`
    pub(super) fn array_of(&mut self, element: Ty, span: Span) -> Ty {
        if element == Ty::ERROR {
            return Ty::ERROR;
        }
        let depth = self.depths[element] + 1;
        if depth > DEEPEST {
            let message = format!("this array's type nests deeper than {DEEPEST} levels");
            self.error(codes::TYPE_DEPTH, span, message, "");
            return Ty::ERROR;
        }
        let ty = self.types.intern(TyKind::Array(element));
        self.depths[ty] = depth;
        ty
    }

    /// `fn(params) -> result`
    pub(super) fn function_type(&mut self, params: Box<[Ty]>, result: Ty) -> Ty {
        if result == Ty::ERROR || params.contains(&Ty::ERROR) {
            return Ty::ERROR;
        }
        let deepest = params.iter().chain([&result]).map(|&t| self.depths[t]).max();
        let ty = self.types.intern(TyKind::Function(params, result));
        self.depths[ty] = deepest.unwrap_or(0) + 1;
        ty
    }

    fn optional_of(&mut self, inner: Ty, span: Span) -> Ty {
        let help = match self.types.kind(inner) {
            TyKind::Error => return Ty::ERROR,
            TyKind::Str | TyKind::Array(_) | TyKind::Struct(_) | TyKind::Function(..) => {
                let ty = self.types.intern(TyKind::Optional(inner));
                self.depths[ty] = self.depths[inner] + 1;
                return ty;
            }
            TyKind::Optional(_) => "one `?` is enough",
            _ => "only a str, an array, a struct or a function type has a `T?`",
        };
        let shown = self.show(inner);
        let message = match self.types.kind(inner) {
            TyKind::Optional(_) => format!("there is no `({shown})?`"),
            _ => format!("there is no `{shown}?`"),
        };
        self.report(Diagnostic::error(codes::NO_OPTIONAL, span, message, "").help(help));
        Ty::ERROR
    }

    /// Reports a name of a type (or struct) that is none, once.
    pub(super) fn unknown_type(&mut self, name: Symbol, span: Span, what: &str) {
        if !self.unknown.insert((Space::Type, name)) {
            return;
        }
        let text = self.name(name);
        let message = format!("there is no {what} `{text}`");
        let error = Diagnostic::error(codes::UNKNOWN_TYPE, span, message, "");
        let error = self.meant_type(error, span, text);
        self.report(error);
    }
}
