//! Encoding: one method for each form of a machine instruction that the target uses.
//!
//! The only file that names dynasm. It silently cuts immediates and displacements that do not fit,
//! takes register numbers modulo 16 and an index of `rsp` for none, so every number passes through
//! the checked helpers here: `gpr`, `xmm`, `Form::of`, `short`.

use super::inst::{AluOp, BitOp, Cond, FloatOp, Round, Scale, ShiftOp, Width};
use super::regs::{CONTEXT, RSP, SCRATCH};
use crate::buffer::Buffer;
use crate::mach::{JumpTable, PReg, RegClass};
use crate::pooled;
use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use rustc_hash::FxHashMap;

/// A place in the code.
pub type Label = DynamicLabel;

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mem {
    /// base + index * scale + disp
    At {
        /// The base.
        base: PReg,
        /// Index and factor.
        index: Option<(PReg, Scale)>,
        /// The displacement.
        disp: i32,
    },
    /// An entry of the literal pool.
    Pool(Label),
}

impl Mem {
    /// `[base + disp]`
    pub fn at(base: PReg, disp: i32) -> Mem {
        Mem::At { base, index: None, disp }
    }

    /// A word of the context.
    pub fn context(offset: u64) -> Mem {
        Mem::at(CONTEXT, i32::try_from(offset).expect("an offset in the context"))
    }

    /// The same place after the stack pointer went down by `bytes`.
    pub fn below(self, bytes: i32) -> Mem {
        match self {
            Mem::At { base, index, disp } if base == RSP => {
                Mem::At { base, index, disp: disp + bytes }
            }
            mem => mem,
        }
    }

    /// Whether the address is made from this register.
    pub fn reads(self, reg: PReg) -> bool {
        match self {
            Mem::At { base, index, .. } => base == reg || index.is_some_and(|(i, _)| i == reg),
            Mem::Pool(_) => false,
        }
    }
}

/// A source operand: register, memory or immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Rmi {
    Reg(PReg),
    Mem(Mem),
    Imm(i32),
}

impl Rmi {
    /// Whether reading it reads this register.
    pub fn reads(self, reg: PReg) -> bool {
        match self {
            Rmi::Reg(r) => r == reg,
            Rmi::Mem(mem) => mem.reads(reg),
            Rmi::Imm(_) => false,
        }
    }
}

/// The encodings of a memory operand that are told apart.
enum Form {
    Base8(Number, i8),
    Base32(Number, i32),
    Index8(Number, Number, Scale, i8),
    Index32(Number, Number, Scale, i32),
    Pool(Label),
}

impl Form {
    fn of(mem: Mem) -> Form {
        match mem {
            Mem::Pool(label) => Form::Pool(label),
            Mem::At { base, index: None, disp } => match i8::try_from(disp) {
                Ok(disp) => Form::Base8(gpr(base), disp),
                Err(_) => Form::Base32(gpr(base), disp),
            },
            Mem::At { base, index: Some((index, scale)), disp } => {
                assert!(index != RSP, "rsp is no index");
                match i8::try_from(disp) {
                    Ok(disp) => Form::Index8(gpr(base), gpr(index), scale, disp),
                    Err(_) => Form::Index32(gpr(base), gpr(index), scale, disp),
                }
            }
        }
    }
}

/// A register's number, checked.
#[derive(Clone, Copy)]
struct Number(u8);

impl From<Number> for u8 {
    fn from(number: Number) -> u8 {
        number.0
    }
}

fn gpr(reg: PReg) -> Number {
    assert!(reg.class() == RegClass::Int, "a general register");
    Number(reg.encoding())
}

fn xmm(reg: PReg) -> Number {
    assert!(reg.class() == RegClass::Float && usize::from(reg.0) < PReg::COUNT, "a float register");
    Number(reg.encoding())
}

fn short(imm: i32) -> Option<i8> {
    i8::try_from(imm).ok()
}

/// An instruction with a memory operand: what stands before it and what stands after it.
macro_rules! mem {
    ($self:ident, $mem:expr, ($($pre:tt)*) ($($post:tt)*)) => {
        match Form::of($mem) {
            Form::Base8(b, o) => dynasm!($self.ops ; $($pre)* [BYTE Rq(b) + o] $($post)*),
            Form::Base32(b, o) => dynasm!($self.ops ; $($pre)* [DWORD Rq(b) + o] $($post)*),
            Form::Index8(b, i, Scale::One, o) =>
                dynasm!($self.ops ; $($pre)* [BYTE Rq(b) + Rq(i) * 1 + o] $($post)*),
            Form::Index8(b, i, Scale::Two, o) =>
                dynasm!($self.ops ; $($pre)* [BYTE Rq(b) + Rq(i) * 2 + o] $($post)*),
            Form::Index8(b, i, Scale::Four, o) =>
                dynasm!($self.ops ; $($pre)* [BYTE Rq(b) + Rq(i) * 4 + o] $($post)*),
            Form::Index8(b, i, Scale::Eight, o) =>
                dynasm!($self.ops ; $($pre)* [BYTE Rq(b) + Rq(i) * 8 + o] $($post)*),
            Form::Index32(b, i, Scale::One, o) =>
                dynasm!($self.ops ; $($pre)* [DWORD Rq(b) + Rq(i) * 1 + o] $($post)*),
            Form::Index32(b, i, Scale::Two, o) =>
                dynasm!($self.ops ; $($pre)* [DWORD Rq(b) + Rq(i) * 2 + o] $($post)*),
            Form::Index32(b, i, Scale::Four, o) =>
                dynasm!($self.ops ; $($pre)* [DWORD Rq(b) + Rq(i) * 4 + o] $($post)*),
            Form::Index32(b, i, Scale::Eight, o) =>
                dynasm!($self.ops ; $($pre)* [DWORD Rq(b) + Rq(i) * 8 + o] $($post)*),
            Form::Pool(label) => dynasm!($self.ops ; $($pre)* [=>label] $($post)*),
        }
    };
}

/// `op r64, r/m64/imm`
macro_rules! rmi {
    ($self:ident, $op:ident, $dst:expr, $src:expr) => {{
        let d = gpr($dst);
        match $src {
            Rmi::Reg(src) => dynasm!($self.ops ; $op Rq(d), Rq(gpr(src))),
            Rmi::Mem(src) => mem!($self, src, ($op Rq(d), QWORD) ()),
            Rmi::Imm(imm) => match short(imm) {
                Some(imm) => dynasm!($self.ops ; $op Rq(d), BYTE imm),
                None => dynasm!($self.ops ; $op Rq(d), DWORD imm),
            },
        }
    }};
}

/// `op r32, r/m32/imm`
macro_rules! half {
    ($self:ident, $op:ident, $dst:expr, $src:expr) => {{
        let d = gpr($dst);
        match $src {
            Rmi::Reg(src) => dynasm!($self.ops ; $op Rd(d), Rd(gpr(src))),
            Rmi::Mem(src) => mem!($self, src, ($op Rd(d), DWORD) ()),
            Rmi::Imm(imm) => match short(imm) {
                Some(imm) => dynasm!($self.ops ; $op Rd(d), BYTE imm),
                None => dynasm!($self.ops ; $op Rd(d), DWORD imm),
            },
        }
    }};
}

/// `op m64, r64/imm`
macro_rules! to_mem {
    ($self:ident, $op:ident, $dst:expr, $src:expr) => {
        match $src {
            Rmi::Reg(src) => {
                let s = gpr(src);
                mem!($self, $dst, ($op QWORD) (, Rq(s)))
            }
            Rmi::Imm(imm) => mem!($self, $dst, ($op QWORD) (, DWORD imm)),
            Rmi::Mem(_) => unreachable!("one operand in memory at most"),
        }
    };
}

/// `op r64, r/m64`
macro_rules! rm {
    ($self:ident, $op:ident, $dst:expr, $src:expr) => {{
        let d = gpr($dst);
        match $src {
            Rmi::Reg(src) => dynasm!($self.ops ; $op Rq(d), Rq(gpr(src))),
            Rmi::Mem(src) => mem!($self, src, ($op Rq(d), QWORD) ()),
            Rmi::Imm(_) => unreachable!("no immediate here"),
        }
    }};
}

/// `op xmm, xmm/m64`
macro_rules! float_rm {
    ($self:ident, $op:ident, $dst:expr, $src:expr $(, ($($last:tt)*))?) => {{
        let d = xmm($dst);
        match $src {
            Rmi::Reg(src) => dynasm!($self.ops ; $op Rx(d), Rx(xmm(src)) $($($last)*)?),
            Rmi::Mem(src) => mem!($self, src, ($op Rx(d), QWORD) ($($($last)*)?)),
            Rmi::Imm(_) => unreachable!("no immediate here"),
        }
    }};
}

/// An instruction for each condition.
macro_rules! by_cond {
    ($self:ident, $cond:expr, [$e:ident $ne:ident $l:ident $le:ident $g:ident $ge:ident
        $b:ident $be:ident $a:ident $ae:ident] $($rest:tt)*) => {
        match $cond {
            Cond::E => dynasm!($self.ops ; $e $($rest)*),
            Cond::Ne => dynasm!($self.ops ; $ne $($rest)*),
            Cond::L => dynasm!($self.ops ; $l $($rest)*),
            Cond::Le => dynasm!($self.ops ; $le $($rest)*),
            Cond::G => dynasm!($self.ops ; $g $($rest)*),
            Cond::Ge => dynasm!($self.ops ; $ge $($rest)*),
            Cond::B => dynasm!($self.ops ; $b $($rest)*),
            Cond::Be => dynasm!($self.ops ; $be $($rest)*),
            Cond::A => dynasm!($self.ops ; $a $($rest)*),
            Cond::Ae => dynasm!($self.ops ; $ae $($rest)*),
            Cond::FloatE | Cond::FloatNe => unreachable!("two conditions"),
        }
    };
}

/// The assembler: code, labels and the literal pool.
pub struct Asm {
    ops: VecAssembler<X64Relocation>,
    words: Pool<u64>,
    masks: Pool<u64>,
    /// The tables of jumps, each with the places that it leads to.
    tables: Vec<(Label, Vec<Label>)>,
    short_jumps: ShortJumps,
    /// The jumps so far: where each ends, and where it leads.
    jumps: Buffer<(usize, Label)>,
    /// Where code was aligned, in order.
    aligned: Buffer<usize>,
}

pooled! { (usize, Label), Label }

/// Which jumps are made short.
pub enum ShortJumps {
    /// None.
    None,
    /// All: the code must be small enough ([`Asm::all_reach`]).
    All,
    /// Those of which an earlier, equal assembly said so ([`Asm::relax`]), by their number.
    These(Buffer<bool>),
}

/// The most bytes that aligning a loop may take.
const MOST_PADDING: usize = 10;
/// The most bytes of an instruction.
const MOST_LENGTH: usize = 15;
/// Bytes of a poll, as long as a jump: the most that it adds to the code.
pub const POLL_LEN: usize = 5;

/// Whether a poll at an offset lies inside an aligned word.
fn fits_poll(offset: usize) -> bool {
    offset % 8 + POLL_LEN <= 8
}

/// Literals in order of their first use.
struct Pool<T> {
    entries: Vec<(T, Label)>,
    labels: FxHashMap<T, Label>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), labels: FxHashMap::default() }
    }
}

impl Asm {
    /// An empty one.
    pub fn new(short_jumps: ShortJumps) -> Self {
        Self::with_room(short_jumps, 0, 0)
    }

    /// An empty one with room for about so many instructions and labels.
    pub fn with_room(short_jumps: ShortJumps, insts: usize, labels: usize) -> Self {
        const USUAL_LENGTH: usize = 5;
        let bytes = insts * USUAL_LENGTH;
        Self {
            ops: VecAssembler::new_with_capacity(0, bytes, 0, 0, labels, 0, labels),
            words: Pool::default(),
            masks: Pool::default(),
            tables: Vec::new(),
            short_jumps,
            jumps: Buffer::new(),
            aligned: Buffer::new(),
        }
    }

    // Labels, offsets, literals.

    /// A label that is not placed yet.
    pub fn label(&mut self) -> Label {
        self.ops.new_dynamic_label()
    }

    /// Places a label here.
    pub fn bind(&mut self, label: Label) {
        dynasm!(self.ops ; =>label);
    }

    /// How many bytes there are.
    pub fn offset(&self) -> u32 {
        self.ops.offset().0 as u32
    }

    /// A literal of 8 bytes.
    pub fn literal(&mut self, bits: u64) -> Mem {
        let ops = &mut self.ops;
        let label = *self.words.labels.entry(bits).or_insert_with(|| {
            let label = ops.new_dynamic_label();
            self.words.entries.push((bits, label));
            label
        });
        Mem::Pool(label)
    }

    /// A literal of 16 bytes, aligned: the word twice.
    fn mask(&mut self, bits: u64) -> Label {
        let ops = &mut self.ops;
        *self.masks.labels.entry(bits).or_insert_with(|| {
            let label = ops.new_dynamic_label();
            self.masks.entries.push((bits, label));
            label
        })
    }

    /// Appends the literal pool. The answer is where the instructions end.
    pub fn finish_code(&mut self) -> u32 {
        let end = self.offset();
        let masks = std::mem::take(&mut self.masks.entries);
        let words = std::mem::take(&mut self.words.entries);
        if !masks.is_empty() || !words.is_empty() {
            self.align(if masks.is_empty() { 8 } else { 16 });
        }
        for (bits, label) in masks {
            dynasm!(self.ops ; =>label ; .u64 bits ; .u64 bits);
        }
        for (bits, label) in words {
            dynasm!(self.ops ; =>label ; .u64 bits);
        }
        if !self.tables.is_empty() {
            self.align(4);
        }
        for (table, places) in &self.tables {
            dynasm!(self.ops ; =>*table);
            for _ in places {
                // Filled in at the end.
                dynasm!(self.ops ; .u32 0);
            }
        }
        end
    }

    /// Fills with `int3` up to a multiple of `to`.
    pub fn align(&mut self, to: usize) {
        dynasm!(self.ops ; .align to, 0xCC);
    }

    /// Fills up to a multiple of 16 with instructions that do nothing, where it takes few.
    pub fn align_loop(&mut self) {
        let offset = self.ops.offset().0;
        let padding = offset.next_multiple_of(16) - offset;
        if padding <= MOST_PADDING {
            self.aligned.push(offset);
            self.nop(padding);
        } else {
            self.align_poll();
        }
    }

    /// The same for code of `len` bytes and a poll behind it.
    pub fn align_behind(&mut self, len: usize) {
        let offset = self.ops.offset().0;
        self.aligned.push(offset);
        let good = |padding: &usize| fits_poll(offset + padding + len);
        let aligned = (offset.next_multiple_of(16) - offset..=MOST_PADDING).find(good);
        self.nop(aligned.or_else(|| (0..8).find(good)).unwrap_or(0));
    }

    /// The same as far as a poll needs it.
    pub fn align_poll(&mut self) {
        let offset = self.ops.offset().0;
        self.aligned.push(offset);
        if !fits_poll(offset) {
            self.nop(8 - offset % 8);
        }
    }

    /// Prefixes that say nothing, for the instruction that comes next, which is no branch.
    pub fn idle_prefixes(&mut self, count: usize) {
        const DATA_SEGMENT: u8 = 0x3E;
        for _ in 0..count {
            dynasm!(self.ops ; .u8 DATA_SEGMENT);
        }
    }

    /// At most one instruction that does nothing, of so many bytes.
    pub fn nop(&mut self, len: usize) {
        const NOPS: [&[u8]; MOST_PADDING] = [
            &[0x90],
            &[0x66, 0x90],
            &[0x0F, 0x1F, 0x00],
            &[0x0F, 0x1F, 0x40, 0x00],
            &[0x0F, 0x1F, 0x44, 0x00, 0x00],
            &[0x66, 0x0F, 0x1F, 0x44, 0x00, 0x00],
            &[0x0F, 0x1F, 0x80, 0x00, 0x00, 0x00, 0x00],
            &[0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
            &[0x66, 0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
            &[0x66, 0x2E, 0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
        ];
        if len > 0 {
            dynasm!(self.ops ; .bytes NOPS[len - 1]);
        }
    }

    /// Where a label that was bound is.
    pub fn place_of(&self, label: Label) -> u32 {
        self.ops.labels().resolve_dynamic(label).map_or(0, |place| place.0 as u32)
    }

    /// Which jumps of this assembly reach their labels with 8 bits, and go on to do so when jumps
    /// become short: that moves no label away from a jump, but that padding and polls between them may grow.
    pub fn relax(&self) -> Buffer<bool> {
        let labels = self.ops.labels();
        let reaches = |&(end, label): &(usize, Label)| {
            let Ok(target) = labels.resolve_dynamic(label) else { return false };
            let (low, high) = (end.min(target.0), end.max(target.0));
            let below = |offset| self.aligned.partition_point(|&at| at < offset);
            let growth = (MOST_PADDING + POLL_LEN)
                * (below(high + 1) - below(low.saturating_sub(MOST_LENGTH)));
            high - low + growth <= i8::MAX as usize
        };
        self.jumps.iter().map(reaches).collect()
    }

    /// Whether all jumps reach their labels with 8 bits as they stand.
    pub fn all_reach(&self) -> bool {
        let labels = self.ops.labels();
        self.jumps.iter().all(|&(end, label)| {
            let target = labels.resolve_dynamic(label);
            target.is_ok_and(|target| i8::try_from(target.0 as isize - end as isize).is_ok())
        })
    }

    /// The tables of jumps.
    pub fn tables(&self) -> Vec<JumpTable> {
        let table = |(label, places): &(Label, Vec<Label>)| JumpTable {
            offset: self.place_of(*label),
            len: places.len() as u32,
        };
        self.tables.iter().map(table).collect()
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        let mut words = Vec::new();
        for (table, places) in &self.tables {
            let begin = self.place_of(*table);
            let distances =
                places.iter().map(|&place| self.place_of(place).wrapping_sub(begin).to_le_bytes());
            words.extend((begin as usize..).step_by(4).zip(distances));
        }
        let mut bytes = self.ops.finalize().expect("every label is placed and every jump reaches");
        for (at, word) in words {
            bytes[at..at + 4].copy_from_slice(&word);
        }
        bytes
    }

    /// To the place that a table has for an index.
    pub fn jump_by_table(&mut self, index: PReg, temp: PReg, places: Vec<Label>) {
        let table = self.label();
        let entry = Mem::At { base: SCRATCH, index: Some((index, Scale::Four)), disp: 0 };
        let t = gpr(temp);
        dynasm!(self.ops ; lea Rq(gpr(SCRATCH)), [=>table]);
        mem!(self, entry, (movsxd Rq(t), DWORD) ());
        dynasm!(self.ops ; add Rq(t), Rq(gpr(SCRATCH)) ; jmp Rq(t));
        self.tables.push((table, places));
    }

    // Integers.

    /// `mov`, of a register or an immediate or memory, into a register.
    pub fn mov(&mut self, dst: PReg, src: Rmi) {
        match src {
            Rmi::Imm(imm) => self.mov_imm(dst, imm.into()),
            _ => rm!(self, mov, dst, src),
        }
    }

    /// The same, never by an instruction that sets flags.
    pub fn mov_keeping_flags(&mut self, dst: PReg, src: Rmi) {
        match src {
            Rmi::Imm(imm) => dynasm!(self.ops ; mov Rq(gpr(dst)), DWORD imm),
            _ => rm!(self, mov, dst, src),
        }
    }

    /// A constant, in the shortest form.
    pub fn mov_imm(&mut self, dst: PReg, value: i64) {
        let d = gpr(dst);
        if value == 0 {
            dynasm!(self.ops ; xor Rd(d), Rd(d));
        } else if let Ok(value) = u32::try_from(value) {
            dynasm!(self.ops ; mov Rd(d), DWORD value as i32);
        } else if let Ok(value) = i32::try_from(value) {
            dynasm!(self.ops ; mov Rq(d), DWORD value);
        } else {
            dynasm!(self.ops ; mov Rq(d), QWORD value);
        }
    }

    /// An address that is filled in later; the answer is the offset of its 8 bytes.
    pub fn mov_hole(&mut self, dst: PReg) -> u32 {
        dynasm!(self.ops ; mov Rq(gpr(dst)), QWORD 0);
        self.offset() - 8
    }

    /// A place of the code that is filled in later; the answer is the offset of its 4 bytes.
    pub fn lea_hole(&mut self, dst: PReg) -> u32 {
        dynasm!(self.ops ; lea Rq(gpr(dst)), [rip + 0]);
        self.offset() - 4
    }

    /// A load that extends by zeros.
    pub fn load(&mut self, width: Width, dst: PReg, src: Mem) {
        let d = gpr(dst);
        match width {
            Width::Byte => mem!(self, src, (movzx Rd(d), BYTE) ()),
            Width::Half => mem!(self, src, (mov Rd(d), DWORD) ()),
            Width::Word => mem!(self, src, (mov Rq(d), QWORD) ()),
        }
    }

    /// A store of a register or an immediate.
    pub fn store(&mut self, width: Width, dst: Mem, src: Rmi) {
        match (width, src) {
            (Width::Byte, Rmi::Reg(src)) => {
                let s = gpr(src);
                mem!(self, dst, (mov BYTE) (, Rb(s)))
            }
            (Width::Half, Rmi::Reg(src)) => {
                let s = gpr(src);
                mem!(self, dst, (mov DWORD) (, Rd(s)))
            }
            (Width::Word, Rmi::Reg(src)) => {
                let s = gpr(src);
                mem!(self, dst, (mov QWORD) (, Rq(s)))
            }
            (Width::Byte, Rmi::Imm(imm)) => {
                let imm = (imm & 0xFF) as u8 as i8;
                mem!(self, dst, (mov BYTE) (, BYTE imm))
            }
            (Width::Half, Rmi::Imm(imm)) => mem!(self, dst, (mov DWORD) (, DWORD imm)),
            (Width::Word, Rmi::Imm(imm)) => mem!(self, dst, (mov QWORD) (, DWORD imm)),
            (_, Rmi::Mem(_)) => unreachable!("one operand in memory at most"),
        }
    }

    /// `lea`
    pub fn lea(&mut self, dst: PReg, src: Mem) {
        let d = gpr(dst);
        mem!(self, src, (lea Rq(d),) ())
    }

    /// `dst = dst op src`
    pub fn alu(&mut self, op: AluOp, dst: PReg, src: Rmi) {
        match op {
            AluOp::Add => rmi!(self, add, dst, src),
            AluOp::Sub => rmi!(self, sub, dst, src),
            AluOp::And => rmi!(self, and, dst, src),
            AluOp::Or => rmi!(self, or, dst, src),
            AluOp::Xor => rmi!(self, xor, dst, src),
            AluOp::Mul => match src {
                Rmi::Imm(imm) => self.mul_imm(dst, Rmi::Reg(dst), imm),
                _ => rm!(self, imul, dst, src),
            },
        }
    }

    /// The same on the low halves; the upper half of `dst` becomes zero.
    pub fn alu_half(&mut self, op: AluOp, dst: PReg, src: Rmi) {
        match op {
            AluOp::Add => half!(self, add, dst, src),
            AluOp::Sub => half!(self, sub, dst, src),
            AluOp::And => half!(self, and, dst, src),
            AluOp::Or => half!(self, or, dst, src),
            AluOp::Xor => half!(self, xor, dst, src),
            AluOp::Mul => {
                let d = gpr(dst);
                match src {
                    Rmi::Reg(src) => dynasm!(self.ops ; imul Rd(d), Rd(gpr(src))),
                    Rmi::Mem(src) => mem!(self, src, (imul Rd(d), DWORD) ()),
                    Rmi::Imm(imm) => dynasm!(self.ops ; imul Rd(d), Rd(d), DWORD imm),
                }
            }
        }
    }

    /// `[dst] = [dst] op src`
    pub fn alu_mem(&mut self, op: AluOp, dst: Mem, src: Rmi) {
        match op {
            AluOp::Add => to_mem!(self, add, dst, src),
            AluOp::Sub => to_mem!(self, sub, dst, src),
            AluOp::And => to_mem!(self, and, dst, src),
            AluOp::Or => to_mem!(self, or, dst, src),
            AluOp::Xor => to_mem!(self, xor, dst, src),
            AluOp::Mul => unreachable!("no multiplication in memory"),
        }
    }

    /// `dst = src * imm`
    pub fn mul_imm(&mut self, dst: PReg, src: Rmi, imm: i32) {
        let d = gpr(dst);
        match (src, short(imm)) {
            (Rmi::Reg(src), Some(imm)) => {
                dynasm!(self.ops ; imul Rq(d), Rq(gpr(src)), BYTE imm);
            }
            (Rmi::Reg(src), None) => dynasm!(self.ops ; imul Rq(d), Rq(gpr(src)), DWORD imm),
            (Rmi::Mem(src), Some(imm)) => mem!(self, src, (imul Rq(d), QWORD) (, BYTE imm)),
            (Rmi::Mem(src), None) => mem!(self, src, (imul Rq(d), QWORD) (, DWORD imm)),
            (Rmi::Imm(_), _) => unreachable!("no immediate here"),
        }
    }

    /// `rdx:rax = rax * src`, signed.
    pub fn mul_high(&mut self, src: Rmi) {
        match src {
            Rmi::Reg(src) => dynasm!(self.ops ; imul Rq(gpr(src))),
            Rmi::Mem(src) => mem!(self, src, (imul QWORD) ()),
            Rmi::Imm(_) => unreachable!("no immediate here"),
        }
    }

    /// `neg`
    pub fn neg(&mut self, dst: PReg) {
        dynasm!(self.ops ; neg Rq(gpr(dst)));
    }

    /// `not`
    pub fn not(&mut self, dst: PReg) {
        dynasm!(self.ops ; not Rq(gpr(dst)));
    }

    /// The low byte or half, extended by zeros.
    pub fn zext(&mut self, width: Width, dst: PReg, src: PReg) {
        let (d, s) = (gpr(dst), gpr(src));
        match width {
            Width::Byte => dynasm!(self.ops ; movzx Rd(d), Rb(s)),
            Width::Half => dynasm!(self.ops ; mov Rd(d), Rd(s)),
            Width::Word => dynasm!(self.ops ; mov Rq(d), Rq(s)),
        }
    }

    /// A shift by a constant below 64.
    pub fn shift(&mut self, op: ShiftOp, dst: PReg, count: u8) {
        let (d, n) = (gpr(dst), (count & 63) as i8);
        match op {
            ShiftOp::Shl => dynasm!(self.ops ; shl Rq(d), BYTE n),
            ShiftOp::Sar => dynasm!(self.ops ; sar Rq(d), BYTE n),
            ShiftOp::Shr => dynasm!(self.ops ; shr Rq(d), BYTE n),
            ShiftOp::Rol => dynasm!(self.ops ; rol Rq(d), BYTE n),
            ShiftOp::Ror => dynasm!(self.ops ; ror Rq(d), BYTE n),
        }
    }

    /// A shift by `cl`.
    pub fn shift_cl(&mut self, op: ShiftOp, dst: PReg) {
        let d = gpr(dst);
        match op {
            ShiftOp::Shl => dynasm!(self.ops ; shl Rq(d), cl),
            ShiftOp::Sar => dynasm!(self.ops ; sar Rq(d), cl),
            ShiftOp::Shr => dynasm!(self.ops ; shr Rq(d), cl),
            ShiftOp::Rol => dynasm!(self.ops ; rol Rq(d), cl),
            ShiftOp::Ror => dynasm!(self.ops ; ror Rq(d), cl),
        }
    }

    /// `dst = src op count` (BMI2).
    pub fn shift_x(&mut self, op: ShiftOp, dst: PReg, src: PReg, count: PReg) {
        let (d, s, c) = (gpr(dst), gpr(src), gpr(count));
        match op {
            ShiftOp::Shl => dynasm!(self.ops ; shlx Rq(d), Rq(s), Rq(c)),
            ShiftOp::Sar => dynasm!(self.ops ; sarx Rq(d), Rq(s), Rq(c)),
            ShiftOp::Shr => dynasm!(self.ops ; shrx Rq(d), Rq(s), Rq(c)),
            ShiftOp::Rol | ShiftOp::Ror => unreachable!("no such rotation"),
        }
    }

    /// `popcnt`, `lzcnt`, `tzcnt`
    pub fn bit_count(&mut self, op: BitOp, dst: PReg, src: Rmi) {
        match op {
            BitOp::Popcnt => rm!(self, popcnt, dst, src),
            BitOp::Lzcnt => rm!(self, lzcnt, dst, src),
            BitOp::Tzcnt => rm!(self, tzcnt, dst, src),
        }
    }

    /// `cqo`
    pub fn cqo(&mut self) {
        dynasm!(self.ops ; cqo);
    }

    /// `idiv`, 64 bits.
    pub fn idiv(&mut self, by: PReg) {
        dynasm!(self.ops ; idiv Rq(gpr(by)));
    }

    /// `div`, 32 bits.
    pub fn div32(&mut self, by: PReg) {
        dynasm!(self.ops ; div Rd(gpr(by)));
    }

    // Comparisons, jumps, calls.

    /// `cmp`
    pub fn cmp(&mut self, lhs: Rmi, rhs: Rmi) {
        match (lhs, rhs) {
            (Rmi::Reg(lhs), Rmi::Imm(imm)) => match short(imm) {
                // dynasm has no `cmp r64, imm8`.
                Some(imm) => {
                    let reg = u8::from(gpr(lhs));
                    let rex = 0x48 | reg >> 3;
                    dynasm!(self.ops ; .u8 rex ; .u8 0x83 ; .u8 0xF8 | (reg & 7) ; .i8 imm);
                }
                None => dynasm!(self.ops ; cmp Rq(gpr(lhs)), DWORD imm),
            },
            (Rmi::Reg(lhs), rhs) => rm!(self, cmp, lhs, rhs),
            (Rmi::Mem(lhs), rhs) => to_mem!(self, cmp, lhs, rhs),
            (Rmi::Imm(_), _) => unreachable!("no immediate on the left"),
        }
    }

    /// `cmp byte [mem], imm`
    pub fn cmp_byte(&mut self, mem: Mem, imm: u8) {
        let imm = imm.cast_signed();
        mem!(self, mem, (cmp BYTE) (, BYTE imm))
    }

    /// `cmp dword [mem], imm`
    pub fn cmp_half(&mut self, mem: Mem, imm: i32) {
        mem!(self, mem, (cmp DWORD) (, DWORD imm))
    }

    /// `test`
    pub fn test(&mut self, lhs: PReg, rhs: Rmi) {
        match rhs {
            Rmi::Reg(rhs) => dynasm!(self.ops ; test Rq(gpr(lhs)), Rq(gpr(rhs))),
            Rmi::Imm(imm) => dynasm!(self.ops ; test Rq(gpr(lhs)), DWORD imm),
            Rmi::Mem(_) => unreachable!("no memory here"),
        }
    }

    /// `test byte [mem], mask`
    pub fn test_byte(&mut self, mem: Mem, mask: u8) {
        let mask = mask as i8;
        mem!(self, mem, (test BYTE) (, BYTE mask))
    }

    /// `setcc`, the low byte.
    pub fn set(&mut self, cond: Cond, dst: PReg) {
        let d = gpr(dst);
        by_cond!(self, cond, [sete setne setl setle setg setge setb setbe seta setae] Rb(d))
    }

    /// `setnp`, the low byte.
    pub fn set_ordered(&mut self, dst: PReg) {
        dynasm!(self.ops ; setnp Rb(gpr(dst)));
    }

    /// `setp`, the low byte.
    pub fn set_unordered(&mut self, dst: PReg) {
        dynasm!(self.ops ; setp Rb(gpr(dst)));
    }

    /// `cmovcc`
    pub fn cmov(&mut self, cond: Cond, dst: PReg, src: PReg) {
        let (d, s) = (gpr(dst), gpr(src));
        by_cond!(self, cond,
            [cmove cmovne cmovl cmovle cmovg cmovge cmovb cmovbe cmova cmovae] Rq(d), Rq(s))
    }

    /// `cmovp`
    pub fn cmov_unordered(&mut self, dst: PReg, src: PReg) {
        dynasm!(self.ops ; cmovp Rq(gpr(dst)), Rq(gpr(src)));
    }

    /// `cmovs`
    pub fn cmov_negative(&mut self, dst: PReg, src: PReg) {
        dynasm!(self.ops ; cmovs Rq(gpr(dst)), Rq(gpr(src)));
    }

    /// Whether the jump that comes next is short.
    fn next_is_short(&self) -> bool {
        match &self.short_jumps {
            ShortJumps::None => false,
            ShortJumps::All => true,
            ShortJumps::These(short) => short.get(self.jumps.len()).copied().unwrap_or(false),
        }
    }

    fn jumped(&mut self, label: Label) {
        self.jumps.push((self.ops.offset().0, label));
    }

    /// `jmp`
    pub fn jmp(&mut self, label: Label) {
        if self.next_is_short() {
            dynasm!(self.ops ; jmp BYTE =>label);
        } else {
            dynasm!(self.ops ; jmp =>label);
        }
        self.jumped(label);
    }

    /// `jcc`; for two of the conditions it takes two jumps.
    pub fn jump_if(&mut self, cond: Cond, label: Label) {
        match cond {
            Cond::FloatE => {
                let skip = self.label();
                self.jump_unordered(skip);
                self.jump_if(Cond::E, label);
                self.bind(skip);
                return;
            }
            Cond::FloatNe => {
                self.jump_unordered(label);
                return self.jump_if(Cond::Ne, label);
            }
            _ => {}
        }
        if self.next_is_short() {
            by_cond!(self, cond, [je jne jl jle jg jge jb jbe ja jae] BYTE =>label);
        } else {
            by_cond!(self, cond, [je jne jl jle jg jge jb jbe ja jae] =>label);
        }
        self.jumped(label);
    }

    /// `jp`
    pub fn jump_unordered(&mut self, label: Label) {
        if self.next_is_short() {
            dynasm!(self.ops ; jp BYTE =>label);
        } else {
            dynasm!(self.ops ; jp =>label);
        }
        self.jumped(label);
    }

    /// `jo`
    pub fn jump_overflow(&mut self, label: Label) {
        if self.next_is_short() {
            dynasm!(self.ops ; jo BYTE =>label);
        } else {
            dynasm!(self.ops ; jo =>label);
        }
        self.jumped(label);
    }

    /// A call whose target is filled in later; the answer is the offset of its 4 bytes.
    pub fn call_hole(&mut self) -> u32 {
        dynasm!(self.ops ; .u8 0xE8 ; .i32 0);
        self.offset() - 4
    }

    /// A call through memory.
    pub fn call_mem(&mut self, mem: Mem) {
        mem!(self, mem, (call QWORD) ())
    }

    /// `ret`
    pub fn ret(&mut self) {
        dynasm!(self.ops ; ret);
    }

    /// `ud2`
    pub fn ud2(&mut self) {
        dynasm!(self.ops ; ud2);
    }

    /// `push`
    pub fn push(&mut self, src: Rmi) {
        match src {
            Rmi::Reg(src) => dynasm!(self.ops ; push Rq(gpr(src))),
            Rmi::Mem(src) => mem!(self, src, (push QWORD) ()),
            Rmi::Imm(imm) => dynasm!(self.ops ; push DWORD imm),
        }
    }

    /// `pop`
    pub fn pop(&mut self, dst: PReg) {
        dynasm!(self.ops ; pop Rq(gpr(dst)));
    }

    // Floats.

    /// Copies a float register.
    pub fn float_mov(&mut self, dst: PReg, src: PReg) {
        dynasm!(self.ops ; movaps Rx(xmm(dst)), Rx(xmm(src)));
    }

    /// Makes a float register zero, whatever it depended on.
    pub fn float_zero(&mut self, dst: PReg) {
        let d = xmm(dst);
        dynasm!(self.ops ; xorps Rx(d), Rx(d));
    }

    /// `movsd` from memory.
    pub fn float_load(&mut self, dst: PReg, src: Mem) {
        let d = xmm(dst);
        mem!(self, src, (movsd Rx(d), QWORD) ())
    }

    /// `movsd` to memory.
    pub fn float_store(&mut self, dst: Mem, src: PReg) {
        let s = xmm(src);
        mem!(self, dst, (movsd QWORD) (, Rx(s)))
    }

    /// `dst = dst op src`
    pub fn float_alu(&mut self, op: FloatOp, dst: PReg, src: Rmi) {
        match op {
            FloatOp::Add => float_rm!(self, addsd, dst, src),
            FloatOp::Sub => float_rm!(self, subsd, dst, src),
            FloatOp::Mul => float_rm!(self, mulsd, dst, src),
            FloatOp::Div => float_rm!(self, divsd, dst, src),
            FloatOp::Min => float_rm!(self, minsd, dst, src),
            FloatOp::Max => float_rm!(self, maxsd, dst, src),
        }
    }

    /// `dst = dst ^ mask`, by a mask of the pool.
    pub fn float_xor(&mut self, dst: PReg, mask: u64) {
        let label = self.mask(mask);
        dynasm!(self.ops ; xorps Rx(xmm(dst)), OWORD [=>label]);
    }

    /// `dst = dst & mask`, by a mask of the pool.
    pub fn float_and(&mut self, dst: PReg, mask: u64) {
        let label = self.mask(mask);
        dynasm!(self.ops ; andps Rx(xmm(dst)), OWORD [=>label]);
    }

    /// `sqrtsd`
    pub fn sqrt(&mut self, dst: PReg, src: Rmi) {
        float_rm!(self, sqrtsd, dst, src)
    }

    /// `roundsd` without the exception for inexact results.
    pub fn round(&mut self, mode: Round, dst: PReg, src: Rmi) {
        let mode = 8 | mode as i8;
        float_rm!(self, roundsd, dst, src, (, BYTE mode))
    }

    /// `ucomisd`
    pub fn float_cmp(&mut self, lhs: PReg, rhs: Rmi) {
        float_rm!(self, ucomisd, lhs, rhs)
    }

    /// `cvtsi2sd`
    pub fn int_to_float(&mut self, dst: PReg, src: Rmi) {
        let d = xmm(dst);
        match src {
            Rmi::Reg(src) => dynasm!(self.ops ; cvtsi2sd Rx(d), Rq(gpr(src))),
            Rmi::Mem(src) => mem!(self, src, (cvtsi2sd Rx(d), QWORD) ()),
            Rmi::Imm(_) => unreachable!("no immediate here"),
        }
    }

    /// `cvttsd2si`
    pub fn float_to_int(&mut self, dst: PReg, src: PReg) {
        dynasm!(self.ops ; cvttsd2si Rq(gpr(dst)), Rx(xmm(src)));
    }
}

#[cfg(test)]
mod tests;
