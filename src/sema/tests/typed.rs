//! The HIR's promise, checked: every node has the type that its parts give it.

use super::hir::{
    BinaryOp, Block, Builtin, CompareOp, Expr, ExprKind, Function, FunctionKind, Pattern, Place,
    PlaceKind, Program, Stmt, StmtKind, Ty, TyKind, UnaryOp,
};

/// Panics where a program is not well typed.
pub(super) fn verify(program: &Program) {
    for (id, function) in program.functions.iter() {
        let types = function.params.iter().map(|&p| function.locals[p].ty).collect();
        assert_eq!(*program.types.kind(function.ty), TyKind::Function(types, function.result));
        assert_eq!(function.kind == FunctionKind::Script, id == program.script);
        assert!(function.locals.values().all(|l| l.ty != Ty::ERROR && l.ty != Ty::UNIT));
        assert!(function.captures.is_empty() || function.kind == FunctionKind::Lambda);
        Verifier { program, function }.block(&function.body);
    }
}

struct Verifier<'a> {
    program: &'a Program,
    function: &'a Function,
}

impl Verifier<'_> {
    fn kind(&self, ty: Ty) -> &TyKind {
        self.program.types.kind(ty)
    }

    /// The kind of `T` for a `T` or a `T?`.
    fn inner(&self, ty: Ty) -> &TyKind {
        self.kind(self.program.types.strip_optional(ty))
    }

    fn block(&self, block: &Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn has(&self, expr: &Expr, ty: Ty) {
        assert_eq!(self.expr(expr), ty, "{expr:?}");
    }

    fn statement(&self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Let { local, value } => {
                value.iter().for_each(|v| self.has(v, self.function.locals[*local].ty));
            }
            StmtKind::Global { global, value } => {
                assert_eq!(self.function.kind, FunctionKind::Script);
                value.iter().for_each(|v| self.has(v, self.program.globals[*global].ty));
            }
            StmtKind::Assign { place, value } => self.has(value, self.place(place)),
            StmtKind::Compound { place, op, value, .. } => {
                let ty = self.place(place);
                self.has(value, self.operand(*op, ty));
            }
            StmtKind::Expr(expr) => drop(self.expr(expr)),
            StmtKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.has(condition, Ty::BOOL);
                    self.block(body);
                }
                otherwise.iter().for_each(|body| self.block(body));
            }
            StmtKind::While { condition, body } => {
                self.has(condition, Ty::BOOL);
                self.block(body);
            }
            StmtKind::ForRange { local, from, to, body, .. } => {
                assert_eq!(self.function.locals[*local].ty, Ty::INT);
                self.has(from, Ty::INT);
                self.has(to, Ty::INT);
                self.block(body);
            }
            StmtKind::ForIn { local, iterable, body } => {
                let element = match *self.kind(self.expr(iterable)) {
                    TyKind::Array(element) => element,
                    ref other => {
                        assert_eq!(*other, TyKind::Str);
                        Ty::BYTE
                    }
                };
                assert_eq!(self.function.locals[*local].ty, element);
                self.block(body);
            }
            StmtKind::Match { value, arms } => {
                let ty = self.expr(value);
                for arm in arms {
                    arm.patterns.iter().for_each(|pattern| fits(pattern, ty));
                    self.block(&arm.body);
                }
            }
            StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Return(None) => assert_eq!(self.function.result, Ty::UNIT),
            StmtKind::Return(Some(value)) => self.has(value, self.function.result),
            StmtKind::Block(block) => self.block(block),
        }
    }

    fn place(&self, place: &Place) -> Ty {
        let ty = match &place.kind {
            PlaceKind::Local(id) => {
                assert!(self.function.locals[*id].mutable);
                self.function.locals[*id].ty
            }
            PlaceKind::Global(id) => {
                assert!(self.program.globals[*id].mutable);
                self.program.globals[*id].ty
            }
            PlaceKind::Field { object, structure, field } => {
                assert_eq!(*self.inner(self.expr(object)), TyKind::Struct(*structure));
                self.program.structs[*structure].fields[*field as usize].1
            }
            PlaceKind::Index { object, index } => {
                self.has(index, Ty::INT);
                self.element(self.expr(object))
            }
        };
        assert_eq!(place.ty, ty);
        ty
    }

    fn element(&self, ty: Ty) -> Ty {
        match *self.inner(ty) {
            TyKind::Array(element) => element,
            ref other => panic!("{other:?} has no elements"),
        }
    }

    fn operand(&self, op: BinaryOp, ty: Ty) -> Ty {
        use BinaryOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Shl, Shr, Sub, UShr};
        let taken: &[Ty] = match op {
            Add => &[Ty::INT, Ty::FLOAT, Ty::BYTE, Ty::STR],
            Mul | Div | Rem | Sub => &[Ty::INT, Ty::FLOAT, Ty::BYTE],
            Shl | Shr | UShr => &[Ty::INT, Ty::BYTE],
            BitAnd | BitXor | BitOr => &[Ty::INT, Ty::BYTE, Ty::BOOL],
        };
        assert!(taken.contains(&ty), "{op:?} on {ty}");
        if matches!(op, Shl | Shr | UShr) { Ty::INT } else { ty }
    }

    fn args(&self, args: &[Expr], params: &[Ty]) {
        assert_eq!(args.len(), params.len());
        args.iter().zip(params).for_each(|(arg, &param)| self.has(arg, param));
    }

    fn expr(&self, expr: &Expr) -> Ty {
        let ty = self.type_of(expr);
        assert_eq!(ty, expr.ty, "{expr:?}");
        assert_ne!(ty, Ty::ERROR);
        ty
    }

    fn type_of(&self, expr: &Expr) -> Ty {
        match &expr.kind {
            ExprKind::Int(_) => Ty::INT,
            ExprKind::Float(_) => Ty::FLOAT,
            ExprKind::Byte(_) => Ty::BYTE,
            ExprKind::Bool(_) => Ty::BOOL,
            ExprKind::Str(_) => Ty::STR,
            ExprKind::Nil => {
                assert!(matches!(self.kind(expr.ty), TyKind::Optional(_)));
                expr.ty
            }
            ExprKind::Local(id) => self.function.locals[*id].ty,
            ExprKind::Global(id) => self.program.globals[*id].ty,
            ExprKind::Function(id) => self.program.functions[*id].ty,
            ExprKind::Closure(id) => {
                let inner = &self.program.functions[*id];
                for capture in &inner.captures {
                    let (outer, copy) =
                        (&self.function.locals[capture.outer], &inner.locals[capture.inner]);
                    assert_eq!((outer.name, outer.ty, false), (copy.name, copy.ty, copy.mutable));
                }
                inner.ty
            }
            ExprKind::Wrap(inner) => {
                assert_eq!(*self.kind(expr.ty), TyKind::Optional(self.expr(inner)));
                expr.ty
            }
            ExprKind::Unary { op, operand } => {
                let ty = self.expr(operand);
                let taken: &[Ty] = match op {
                    UnaryOp::Neg => &[Ty::INT, Ty::FLOAT, Ty::BYTE],
                    UnaryOp::BitNot => &[Ty::INT, Ty::BYTE],
                    UnaryOp::Not => &[Ty::BOOL],
                };
                assert!(taken.contains(&ty));
                ty
            }
            ExprKind::Chain(chain) => {
                let ty = self.expr(&chain.first);
                for (op, _, operand) in &chain.rest {
                    self.has(operand, self.operand(*op, ty));
                }
                ty
            }
            ExprKind::Compare { op, left, right } => {
                let ty = self.expr(left);
                self.has(right, ty);
                let nil = matches!(left.kind, ExprKind::Nil) || matches!(right.kind, ExprKind::Nil);
                match op {
                    CompareOp::Eq | CompareOp::Ne => {
                        assert!(nil || !matches!(self.inner(ty), TyKind::Function(..)));
                    }
                    _ => assert!([Ty::INT, Ty::FLOAT, Ty::BYTE, Ty::STR].contains(&ty)),
                }
                Ty::BOOL
            }
            ExprKind::Logic { operands, .. } => {
                assert!(operands.len() > 1);
                operands.iter().for_each(|operand| self.has(operand, Ty::BOOL));
                Ty::BOOL
            }
            ExprKind::Convert(inner) => {
                let from = self.expr(inner);
                assert!(from != Ty::UNIT && from != expr.ty);
                expr.ty
            }
            ExprKind::Field { object, structure, field } => {
                assert_eq!(*self.inner(self.expr(object)), TyKind::Struct(*structure));
                self.program.structs[*structure].fields[*field as usize].1
            }
            ExprKind::Index { object, index } => {
                self.has(index, Ty::INT);
                let ty = self.expr(object);
                if *self.inner(ty) == TyKind::Str { Ty::BYTE } else { self.element(ty) }
            }
            ExprKind::Unwrap(inner) => match *self.kind(self.expr(inner)) {
                TyKind::Optional(ty) => ty,
                ref other => panic!("{other:?} unwrapped"),
            },
            ExprKind::Call { function, args } => {
                let callee = &self.program.functions[*function];
                let params: Vec<Ty> = callee.params.iter().map(|&p| callee.locals[p].ty).collect();
                self.args(args, &params);
                callee.result
            }
            ExprKind::CallValue(call) => match self.inner(self.expr(&call.callee)) {
                TyKind::Function(params, result) => {
                    self.args(&call.args, params);
                    *result
                }
                other => panic!("{other:?} called"),
            },
            ExprKind::Builtin { builtin, args } => {
                args.iter().for_each(|arg| assert_ne!(self.expr(arg), Ty::UNIT));
                self.builtin(*builtin, args, expr.ty)
            }
            ExprKind::Array(elements) => {
                let element = self.element(expr.ty);
                elements.iter().for_each(|e| self.has(e, element));
                assert!(matches!(self.kind(expr.ty), TyKind::Array(_)));
                expr.ty
            }
            ExprKind::Repeat { value, count } => {
                self.has(count, Ty::INT);
                assert_eq!(*self.kind(expr.ty), TyKind::Array(self.expr(value)));
                expr.ty
            }
            ExprKind::Struct { structure, fields } => {
                let declared = &self.program.structs[*structure].fields;
                let mut given: Vec<u32> = fields.iter().map(|&(field, _)| field).collect();
                given.sort_unstable();
                assert!(given.into_iter().eq(0..declared.len() as u32));
                fields.iter().for_each(|(f, value)| self.has(value, declared[*f as usize].1));
                assert_eq!(*self.kind(expr.ty), TyKind::Struct(*structure));
                expr.ty
            }
            ExprKind::Error => panic!("an error in a checked program"),
        }
    }

    /// The result of the builtins whose types vary; the others' is as said.
    fn builtin(&self, builtin: Builtin, args: &[Expr], said: Ty) -> Ty {
        match (builtin, args) {
            (Builtin::Push, [array, element]) => {
                assert_eq!(*self.kind(array.ty), TyKind::Array(element.ty));
                Ty::UNIT
            }
            (Builtin::Pop, [array]) => self.element(array.ty),
            (Builtin::Slice, [whole, from, to]) => {
                assert_eq!((from.ty, to.ty), (Ty::INT, Ty::INT));
                whole.ty
            }
            (Builtin::Abs, [x]) => x.ty,
            (Builtin::Min | Builtin::Max, [a, b]) => {
                assert_eq!(a.ty, b.ty);
                a.ty
            }
            _ => said,
        }
    }
}

fn fits(pattern: &Pattern, ty: Ty) {
    match pattern {
        Pattern::Range(low, high) => {
            assert!(low <= high && (ty == Ty::INT || ty == Ty::BYTE && *low >= 0 && *high < 256));
        }
        Pattern::Bool(_) => assert_eq!(ty, Ty::BOOL),
        Pattern::Str(_) => assert_eq!(ty, Ty::STR),
        Pattern::Any => {}
    }
}
