//! Calls and allocations.

use super::address::word;
use super::{ArgPlace, ArgPlaces, ENVIRONMENT, Selector, result_reg};
use crate::ir::{Const, FuncRef, Structure, Type, Value};
use crate::mach::{PReg, RegClass, RelocTarget, VReg};
use crate::x64::inst::{Addr, Base, Callee, Inst, Src, Width};
use toyjit_runtime::Rt;
use toyjit_runtime::layout::{CLOSURE_CAPTURES, CLOSURE_CODE, STRUCT_FIELDS};

impl Selector<'_> {
    pub(super) fn call(&mut self, function: FuncRef, args: &[Value], result: Option<VReg>) {
        let callee = Callee::Function(function);
        self.call_with(callee, ArgPlaces::new(), args, Vec::new(), result);
    }

    pub(super) fn call_value(&mut self, args: &[Value], result: Option<VReg>) {
        let Some((&closure, args)) = args.split_first() else { return };
        let uses = vec![(self.reg(closure), ENVIRONMENT)];
        self.call_with(Callee::Value, ArgPlaces::new(), args, uses, result);
    }

    pub(super) fn call_runtime(&mut self, row: Rt, args: &[Value], result: Option<VReg>) {
        let takes_context = row.entry().takes_context;
        let places = if takes_context { ArgPlaces::after_context() } else { ArgPlaces::new() };
        self.call_with(Callee::Runtime(row), places, args, Vec::new(), result);
    }

    /// Stack arguments are stored first: the registers are then read by the call itself.
    fn call_with(
        &mut self,
        callee: Callee,
        mut places: ArgPlaces,
        args: &[Value],
        mut uses: Vec<(VReg, PReg)>,
        result: Option<VReg>,
    ) {
        for &arg in args {
            let class = super::class_of(self.function.values[arg].ty);
            match places.next(class) {
                ArgPlace::Reg(at) => uses.push((self.reg(arg), at)),
                ArgPlace::Stack(word) => {
                    let addr = Addr { base: Base::Outgoing, index: None, disp: 8 * word as i32 };
                    self.store_word(addr, arg);
                }
            }
        }
        let def = result.map(|dst| (dst, result_reg(self.vregs[dst].class)));
        self.push(Inst::Call { callee, uses: uses.into(), def });
    }

    fn store_word(&mut self, addr: Addr, value: Value) {
        let inst = match (self.immediate(value), self.function.values[value].ty) {
            (Some(imm), _) => Inst::Store { width: Width::Word, addr, src: Src::Imm(imm) },
            (None, Type::Float) => Inst::FloatStore { addr, src: self.reg(value) },
            (None, Type::Int | Type::Bool | Type::Ref) => {
                Inst::Store { width: Width::Word, addr, src: Src::Reg(self.reg(value)) }
            }
        };
        self.push(inst);
    }

    pub(super) fn new_struct(&mut self, dst: VReg, imm: u64, fields: &[Value]) {
        let structure = Structure(imm as u32);
        let size = word(STRUCT_FIELDS, fields.len() as u64) as u32;
        self.push(Inst::Alloc { dst, size, header: self.module.struct_type(structure) });
        self.initialise(dst, STRUCT_FIELDS, fields);
    }

    pub(super) fn new_closure(&mut self, dst: VReg, imm: u64, captures: &[Value]) {
        let function = FuncRef(imm as u32);
        let size = word(CLOSURE_CAPTURES, captures.len() as u64) as u32;
        let header = self.module.closure_type(function);
        self.push(Inst::Alloc { dst, size, header });
        let code = self.new_vreg(RegClass::Int);
        self.push(Inst::Static { dst: code, target: RelocTarget::Function(function) });
        let addr = Addr::offset(dst, CLOSURE_CODE as i32);
        self.push(Inst::Store { width: Width::Word, addr, src: Src::Reg(code) });
        self.initialise(dst, CLOSURE_CAPTURES, captures);
    }

    /// First stores into a new object, which needs no barrier.
    fn initialise(&mut self, object: VReg, offset: u64, values: &[Value]) {
        for (i, &value) in values.iter().enumerate() {
            let addr = Addr::offset(object, word(offset, i as u64));
            match self.constant(value) {
                Some(Const::Float(bits)) => {
                    let src = self.imm_src(bits as i64);
                    self.push(Inst::Store { width: Width::Word, addr, src });
                }
                _ => self.store_word(addr, value),
            }
        }
    }
}
