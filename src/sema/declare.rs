//! What a program declares, before any statement is looked at: structs with their fields, functions
//! with their signatures, the names of globals, and `main`.

use super::hir::{self, FuncId, FunctionKind, StructId, Ty, TyKind};
use super::scope::Origin;
use super::types::BASIC;
use super::{Checker, HostHead, Signature, codes};
use crate::entity::Arena;
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast::{self, Item, StmtKind};

/// What was declared.
pub(super) struct Declared {
    /// The function of the top-level statements.
    pub script: FuncId,
    /// The functions, in the order of the program's function items.
    pub functions: Vec<FuncId>,
}

impl Checker<'_> {
    /// Declares everything that may be used before its declaration.
    pub(super) fn declare(&mut self, program: &ast::Program) -> Declared {
        let script = match self.entry {
            Some(_) => self.entry_script(whole(program)),
            None => self.add_function(None, FunctionKind::Script, whole(program)),
        };
        self.prepare_entry(program);
        let mut structs = Vec::new();
        for item in &program.items {
            match item {
                Item::Struct(item) => structs.push(self.struct_name(item)),
                Item::Statement(statement) => self.global_name(statement),
                Item::Function(_) => {}
            }
        }
        let mut functions = Vec::new();
        let mut next_struct = structs.into_iter();
        for item in &program.items {
            match item {
                Item::Struct(item) => {
                    if let Some(id) = next_struct.next() {
                        self.struct_fields(id, item);
                    }
                }
                Item::Function(item) => functions.push(self.function_head(item)),
                Item::Statement(_) => {}
            }
            self.unknown.clear();
        }
        Declared { script, functions }
    }

    /// Declares a function of the host, and the global that holds its value.
    pub(super) fn declare_host(&mut self, host: &HostHead, name: Symbol) {
        let none = Span::default();
        let id = self.add_function(Some(name), FunctionKind::Named, none);
        let params = host.params.iter().map(|&ty| (name, ty, none)).collect();
        self.signatures[id] = Signature { params, result: host.result, result_span: None };
        let ty = self.function_type(host.params.clone().into(), host.result);
        self.functions[id].result = host.result;
        self.functions[id].ty = ty;
        self.globals.push(hir::Global { name, ty, mutable: false, span: none });
        self.names[name].function = Some(id);
        self.hosts += 1;
    }

    /// Checks the bodies of the named functions.
    pub(super) fn bodies(&mut self, program: &ast::Program, functions: &[FuncId]) {
        let items = program.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            _ => None,
        });
        for (item, &id) in items.zip(functions) {
            self.unknown.clear();
            self.noting(id, |checker| checker.function_body(id, &item.lambda));
        }
    }

    /// Adds a function that has neither signature nor body yet.
    pub(super) fn add_function(
        &mut self,
        name: Option<Symbol>,
        kind: FunctionKind,
        span: Span,
    ) -> FuncId {
        self.signatures.push(Signature { params: Vec::new(), result: Ty::UNIT, result_span: None });
        let ty = self.function_type(Box::new([]), Ty::UNIT);
        self.functions.push(hir::Function {
            name,
            kind,
            params: Vec::new(),
            result: Ty::UNIT,
            ty,
            captures: Vec::new(),
            locals: Arena::new(),
            body: hir::Block::default(),
            span,
        })
    }

    /// Resolves the parameters' and the result's types.
    pub(super) fn signature(&mut self, id: FuncId, lambda: &ast::Lambda) {
        let params: Vec<_> = lambda
            .params
            .iter()
            .map(|p| (p.name.symbol, self.written(&p.ty), p.name.span))
            .collect();
        let result = lambda.result.as_ref().map_or(Ty::UNIT, |r| self.written(r));
        let types = params.iter().map(|&(_, ty, _)| ty).collect();
        self.functions[id].result = result;
        self.functions[id].ty = self.function_type(types, result);
        let result_span = lambda.result.as_ref().map(|r| r.span);
        self.signatures[id] = Signature { params, result, result_span };
    }

    /// Checks a function's body, its signature being resolved.
    pub(super) fn function_body(&mut self, id: FuncId, lambda: &ast::Lambda) {
        let Signature { ref params, result, result_span } = self.signatures[id];
        let params = params.clone();
        self.scopes.enter_function(id, (result, result_span));
        let mut locals = Vec::with_capacity(params.len());
        for (name, ty, span) in params {
            if let Some(first) = self.scopes.own(name) {
                let first = self.scopes.frame().locals[first].span;
                self.duplicate(codes::DUPLICATE_PARAM, "parameters", name, first, span);
            }
            let local = hir::Local { name, ty, mutable: true, span };
            locals.push(self.scopes.declare(local, Origin::Param));
        }
        let body = self.block(&lambda.body);
        if let Some(frame) = self.scopes.leave_function() {
            let function = &mut self.functions[frame.function];
            function.params = locals;
            function.locals = frame.locals;
            function.captures = frame.captures;
            function.body = body;
        }
    }

    fn struct_name(&mut self, item: &ast::Struct) -> StructId {
        let name = item.name.symbol;
        let span = item.name.span;
        let text = self.name(name);
        if let Some(kept) = self.kept_struct(name) {
            return kept;
        }
        let declared = hir::Struct { name, fields: Vec::new(), span };
        if BASIC.iter().any(|&(basic, _)| basic == text) {
            let message = format!("`{text}` is a basic type's name");
            self.error(codes::BASIC_TYPE_NAME, span, message, "choose another name");
            return self.structs.push(declared);
        }
        match self.names[name].structure {
            Some(first) => {
                let first = self.structs[first].span;
                self.duplicate(codes::DUPLICATE_ITEM, "structs", name, first, span);
                self.structs.push(declared)
            }
            None => {
                self.entry_struct(name);
                let id = self.structs.push(declared);
                self.names[name].structure = Some(id);
                id
            }
        }
    }

    fn struct_fields(&mut self, id: StructId, item: &ast::Struct) {
        if !self.structs[id].fields.is_empty() {
            return;
        }
        for field in &item.fields {
            let (name, span) = (field.name.symbol, field.name.span);
            let ty = self.written(&field.ty);
            if let Some(&first) = self.fields.get(&(id, name)) {
                let first = self.field_spans[id][first as usize];
                self.duplicate(codes::DUPLICATE_FIELD, "fields", name, first, span);
                continue;
            }
            self.fields.insert((id, name), self.structs[id].fields.len() as u32);
            self.structs[id].fields.push((name, ty));
            self.field_spans[id].push(span);
        }
    }

    fn function_head(&mut self, item: &ast::Function) -> FuncId {
        let ast::Name { symbol: name, span } = item.name;
        let id = self.add_function(Some(name), FunctionKind::Named, span);
        self.signature(id, &item.lambda);
        if let Some(id) = self.entry_function(id, name) {
            self.beside_struct(name, span);
            return id;
        }
        let entry = self.names[name];
        if let Some(first) = entry.function.filter(|f| f.0 as usize >= self.hosts) {
            let first = self.functions[first].span;
            self.duplicate(codes::DUPLICATE_ITEM, "functions", name, first, span);
            return id;
        }
        self.names[name].function = Some(id);
        self.beside_struct(name, span);
        id
    }

    /// Reports a function that has a struct's name.
    fn beside_struct(&mut self, name: Symbol, span: Span) {
        if let Some(structure) = self.names[name].structure {
            let structure = self.structs[structure].span;
            let (first, second) = (span.min(structure), span.max(structure));
            self.duplicate(codes::DUPLICATE_ITEM, "a function and a struct", name, first, second);
        }
    }

    fn global_name(&mut self, statement: &ast::Stmt) {
        if let StmtKind::Declare { name, .. } = &statement.kind {
            let is_entry = self.entry.is_some();
            let first = &mut self.names[name.symbol].global_span;
            if is_entry {
                *first = Some(name.span);
            } else if let Some(first) = *first {
                self.duplicate(codes::DUPLICATE_GLOBAL, "globals", name.symbol, first, name.span);
            } else {
                *first = Some(name.span);
            }
        }
    }

    fn duplicate(
        &mut self,
        code: &'static str,
        what: &str,
        name: Symbol,
        first: Span,
        second: Span,
    ) {
        let text = self.name(name);
        let message = match what.strip_prefix("a ") {
            Some(_) => format!("{what} have the same name `{text}`"),
            None => format!("two {what} have the same name `{text}`"),
        };
        let error = Diagnostic::error(code, second, message, "declared again here")
            .label(first, "first declared here");
        self.report(error);
    }

    /// The function `main` with its signature, if there is one.
    pub(super) fn main_function(&mut self) -> Option<hir::Main> {
        let symbol = self.interner.find("main")?;
        let function = self.names[symbol].function.filter(|f| f.0 as usize >= self.hosts)?;
        let signature = &self.signatures[function];
        let takes_args = match signature.params[..] {
            [] => Some(false),
            [(_, Ty::ERROR, _)] => return None,
            [(_, ty, _)] => (*self.types.kind(ty) == TyKind::Array(Ty::STR)).then_some(true),
            _ => None,
        };
        let returns_int = match signature.result {
            Ty::ERROR => return None,
            Ty::UNIT => Some(false),
            Ty::INT => Some(true),
            _ => None,
        };
        if let (Some(takes_args), Some(returns_int)) = (takes_args, returns_int) {
            return Some(hir::Main { function, takes_args, returns_int });
        }
        let span = self.functions[function].span;
        let message = "`main` takes nothing or `args: [str]`, and gives nothing or an int";
        let help = "write `fn main()`, `fn main() -> int`, `fn main(args: [str])` or `fn main(args: [str]) -> int`";
        self.report(Diagnostic::error(codes::MAIN_SIGNATURE, span, message, "").help(help));
        None
    }
}

fn whole(program: &ast::Program) -> Span {
    let spans = program.items.iter().map(|item| match item {
        Item::Function(item) => item.lambda.head.to(item.lambda.body.span),
        Item::Struct(item) => item.span,
        Item::Statement(statement) => statement.span,
    });
    spans.reduce(Span::to).unwrap_or_default()
}
