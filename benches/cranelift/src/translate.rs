//! SSA form → Cranelift IR, block by block and operator by operator: ints, floats, control flow and
//! calls. What needs the runtime (arrays, strings, structs, output) is not translated.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, BlockArg, InstBuilder, TrapCode, types};
use cranelift_codegen::settings::Configurable;
use cranelift_codegen::{isa, settings};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _, default_libcall_names};
use toyjit::entity::{Arena, Entity};
use toyjit::ir::cfg::Cfg;
use toyjit::ir::{
    Block, Const, Edge, FuncRef, Function, Inst, Module, Op, Terminator, Type, Value,
};

/// An empty module of code that runs here, and the settings of its compiler.
pub fn jit(opt_level: &str, allocator: &str) -> JITModule {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", opt_level),
        ("regalloc_algorithm", allocator),
        ("enable_verifier", "false"),
        ("is_pic", "false"),
    ] {
        flags.set(name, value).expect("a setting of Cranelift");
    }
    let isa: isa::Builder = cranelift_native::builder().expect("a processor Cranelift knows");
    let isa = isa.finish(settings::Flags::new(flags)).expect("settings that go together");
    JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()))
}

/// Whether all of a function's operators are translated.
pub fn is_translated(function: &Function) -> bool {
    let insts = function.blocks.values().flat_map(|block| &block.insts);
    !function.signature.env
        && insts.map(|&inst| function.insts[inst].op).all(|op| {
            !matches!(
                op,
                Op::StrLen
                    | Op::StrByte
                    | Op::ArrayLen
                    | Op::ArrayData
                    | Op::LoadElem
                    | Op::StoreElem
                    | Op::LoadField
                    | Op::StoreField
                    | Op::LoadGlobal
                    | Op::StoreGlobal
                    | Op::LoadCapture
                    | Op::NewStruct
                    | Op::NewClosure
                    | Op::CallValue
                    | Op::Rt
            )
        })
}

/// The functions called by a function.
pub fn callees(function: &Function) -> impl Iterator<Item = FuncRef> {
    let insts = function.blocks.values().flat_map(|block| &block.insts);
    insts
        .map(|&inst| function.insts[inst])
        .filter(|data| data.op == Op::Call)
        .map(|data| FuncRef(data.imm as u32))
}

fn ty(ty: Type) -> clif::Type {
    match ty {
        Type::Int | Type::Ref => types::I64,
        Type::Float => types::F64,
        Type::Bool => types::I8,
    }
}

/// Declares `functions` in `jit`; the identities of all functions of the module.
pub fn declare(jit: &mut JITModule, module: &Module, functions: &[FuncRef]) -> Vec<Option<FuncId>> {
    let mut ids = vec![None; module.functions.len()];
    for &function in functions {
        let signature = signature(jit, &module.functions[function]);
        let name = format!("f{}", function.index());
        let id = jit.declare_function(&name, Linkage::Local, &signature);
        ids[function.index()] = Some(id.expect("a new function"));
    }
    ids
}

fn signature(jit: &JITModule, function: &Function) -> clif::Signature {
    let mut signature = jit.make_signature();
    let params = function.signature.params.iter();
    signature.params.extend(params.map(|&t| clif::AbiParam::new(ty(t))));
    signature.returns.extend(function.signature.result.map(|t| clif::AbiParam::new(ty(t))));
    signature
}

/// Translates a function.
pub fn translate(
    jit: &mut JITModule,
    ids: &[Option<FuncId>],
    function: &Function,
    memory: &mut FunctionBuilderContext,
) -> clif::Function {
    let mut code = clif::Function::with_name_signature(
        clif::UserFuncName::default(),
        signature(jit, function),
    );
    let config = jit.isa().frontend_config();
    let mut builder = FunctionBuilder::new(&mut code, memory);
    let blocks: Arena<Block, clif::Block> =
        function.blocks.keys().map(|_| builder.create_block()).collect();
    let mut values = vec![None; function.values.len()];
    let cfg = Cfg::compute(function);
    for &block in cfg.rpo() {
        for &param in &function.blocks[block].params {
            let of = ty(function.values[param].ty);
            values[param.index()] = Some(builder.append_block_param(blocks[block], of));
        }
    }
    let mut translator =
        Translator { jit, ids, function, builder, blocks, values, constants: Vec::new() };
    for &block in cfg.rpo() {
        translator.block(block);
    }
    translator.builder.seal_all_blocks();
    translator.builder.finalize(config);
    code
}

struct Translator<'a> {
    jit: &'a mut JITModule,
    ids: &'a [Option<FuncId>],
    function: &'a Function,
    builder: FunctionBuilder<'a>,
    blocks: Arena<Block, clif::Block>,
    values: Vec<Option<clif::Value>>,
    /// Constants made in the block at hand.
    constants: Vec<Value>,
}

impl Translator<'_> {
    fn block(&mut self, block: Block) {
        for constant in self.constants.drain(..) {
            self.values[constant.index()] = None;
        }
        self.builder.switch_to_block(self.blocks[block]);
        let function = self.function;
        for &inst in &function.blocks[block].insts {
            let result = self.inst(inst);
            if let Some(value) = function.insts[inst].result {
                self.values[value.index()] = result;
            }
        }
        match &function.blocks[block].terminator {
            Terminator::Jump(edge) => {
                let (to, args) = self.edge(edge);
                self.builder.ins().jump(to, &args);
            }
            Terminator::Branch { op, args: [a, b], edges } => {
                let (a, b) = (self.value(*a), self.value(*b));
                let holds = self.compare(*op, a, b);
                let (yes, yes_args) = self.edge(&edges[0]);
                let (no, no_args) = self.edge(&edges[1]);
                self.builder.ins().brif(holds, yes, &yes_args, no, &no_args);
            }
            Terminator::Switch(_) => unreachable!("lowering makes no switches"),
            Terminator::Return(value) => {
                let values: Vec<clif::Value> = value.iter().map(|&v| self.value(v)).collect();
                self.builder.ins().return_(&values);
            }
            Terminator::Unreachable => {
                self.builder.ins().trap(TRAP);
            }
        }
    }

    fn edge(&mut self, edge: &Edge) -> (clif::Block, Vec<BlockArg>) {
        let args = edge.args.iter().map(|&v| self.value(v).into()).collect();
        (self.blocks[edge.target], args)
    }

    fn value(&mut self, value: Value) -> clif::Value {
        if let Some(known) = self.values[value.index()] {
            return known;
        }
        let made = match self.function.as_const(value) {
            Some(Const::Int(int)) => self.builder.ins().iconst(types::I64, int),
            Some(Const::Bool(bool)) => self.builder.ins().iconst(types::I8, i64::from(bool)),
            Some(Const::Float(bits)) => self.builder.ins().f64const(f64::from_bits(bits)),
            _ => self.builder.ins().iconst(types::I64, 0),
        };
        self.constants.push(value);
        self.values[value.index()] = Some(made);
        made
    }

    fn compare(&mut self, op: Op, a: clif::Value, b: clif::Value) -> clif::Value {
        let int = match op {
            Op::IEq | Op::REq => IntCC::Equal,
            Op::INe | Op::RNe => IntCC::NotEqual,
            Op::ILt => IntCC::SignedLessThan,
            Op::ILe => IntCC::SignedLessThanOrEqual,
            Op::IGt => IntCC::SignedGreaterThan,
            Op::IGe => IntCC::SignedGreaterThanOrEqual,
            _ => {
                let float = match op {
                    Op::FEq => FloatCC::Equal,
                    Op::FNe => FloatCC::NotEqual,
                    Op::FLt => FloatCC::LessThan,
                    Op::FLe => FloatCC::LessThanOrEqual,
                    Op::FGt => FloatCC::GreaterThan,
                    _ => FloatCC::GreaterThanOrEqual,
                };
                return self.builder.ins().fcmp(float, a, b);
            }
        };
        self.builder.ins().icmp(int, a, b)
    }

    fn inst(&mut self, inst: Inst) -> Option<clif::Value> {
        let function = self.function;
        let op = function.insts[inst].op;
        let args: Vec<clif::Value> = function.args(inst).iter().map(|&v| self.value(v)).collect();
        let x = |i: usize| args[i];
        if op.is_comparison() {
            return Some(self.compare(op, x(0), x(1)));
        }
        if op == Op::Call {
            let id = self.ids[function.insts[inst].imm as usize].expect("a translated function");
            let callee = self.jit.declare_func_in_func(id, self.builder.func);
            let call = self.builder.ins().call(callee, &args);
            return self.builder.inst_results(call).first().copied();
        }
        if op == Op::SDiv || op == Op::SRem {
            return Some(self.divide(op, x(0), x(1), function.args(inst)[1]));
        }
        let ins = self.builder.ins();
        Some(match op {
            Op::Copy => x(0),
            Op::IAdd => ins.iadd(x(0), x(1)),
            Op::ISub => ins.isub(x(0), x(1)),
            Op::IMul => ins.imul(x(0), x(1)),
            Op::INeg => ins.ineg(x(0)),
            Op::INot => ins.bnot(x(0)),
            Op::IAbs => ins.iabs(x(0)),
            Op::IMin => ins.smin(x(0), x(1)),
            Op::IMax => ins.smax(x(0), x(1)),
            Op::IAnd => ins.band(x(0), x(1)),
            Op::IOr => ins.bor(x(0), x(1)),
            Op::IXor => ins.bxor(x(0), x(1)),
            Op::Shl => ins.ishl(x(0), x(1)),
            Op::Sar => ins.sshr(x(0), x(1)),
            Op::Shr => ins.ushr(x(0), x(1)),
            Op::Rotl => ins.rotl(x(0), x(1)),
            Op::Rotr => ins.rotr(x(0), x(1)),
            Op::Popcnt => ins.popcnt(x(0)),
            Op::Clz => ins.clz(x(0)),
            Op::Ctz => ins.ctz(x(0)),
            Op::FAdd => ins.fadd(x(0), x(1)),
            Op::FSub => ins.fsub(x(0), x(1)),
            Op::FMul => ins.fmul(x(0), x(1)),
            Op::FDiv => ins.fdiv(x(0), x(1)),
            Op::FNeg => ins.fneg(x(0)),
            Op::FAbs => ins.fabs(x(0)),
            Op::FMin | Op::FMax => {
                let (less, than) = if op == Op::FMin { (x(1), x(0)) } else { (x(0), x(1)) };
                let holds = ins.fcmp(FloatCC::LessThan, less, than);
                self.builder.ins().select(holds, x(1), x(0))
            }
            Op::FSqrt => ins.sqrt(x(0)),
            Op::FFloor => ins.floor(x(0)),
            Op::FCeil => ins.ceil(x(0)),
            Op::FTrunc => ins.trunc(x(0)),
            Op::IToF => ins.fcvt_from_sint(types::F64, x(0)),
            Op::FToI => ins.fcvt_to_sint_sat(types::I64, x(0)),
            Op::BToI => ins.uextend(types::I64, x(0)),
            Op::Select => ins.select(x(0), x(1), x(2)),
            Op::CheckBounds => {
                let within = ins.icmp(IntCC::UnsignedLessThan, x(0), x(1));
                self.builder.ins().trapz(within, TRAP);
                x(0)
            }
            Op::CheckNil | Op::CheckDiv => {
                ins.trapz(x(0), TRAP);
                x(0)
            }
            _ => unreachable!("{op:?} is not translated"),
        })
    }

    /// MIN / -1 is MIN in Toy and traps in Cranelift's IR.
    fn divide(&mut self, op: Op, a: clif::Value, b: clif::Value, divisor: Value) -> clif::Value {
        if op == Op::SRem {
            return self.builder.ins().srem(a, b);
        }
        if matches!(self.function.as_const(divisor), Some(Const::Int(int)) if int != -1) {
            return self.builder.ins().sdiv(a, b);
        }
        let minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let one = self.builder.ins().iconst(types::I64, 1);
        let safe = self.builder.ins().select(minus_one, one, b);
        let quotient = self.builder.ins().sdiv(a, safe);
        let negated = self.builder.ins().ineg(a);
        self.builder.ins().select(minus_one, negated, quotient)
    }
}

const TRAP: TrapCode = TrapCode::unwrap_user(1);
