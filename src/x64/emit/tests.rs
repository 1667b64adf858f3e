//! Every form is encoded over the registers, displacements and immediates that are told apart, and
//! read back by another crate's decoder.

use super::{Asm, Mem, Rmi, ShortJumps};
use crate::mach::PReg;
use crate::x64::inst::{AluOp, BitOp, Cond, FloatOp, Round, Scale, ShiftOp, Width};
use crate::x64::regs;
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter, NumberBase};

fn decoded(asm: Asm) -> Vec<String> {
    let bytes = asm.finish();
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_number_base(NumberBase::Decimal);
    options.set_space_after_operand_separator(true);
    options.set_memory_size_options(iced_x86::MemorySizeOptions::Always);
    options.set_signed_immediate_operands(true);
    let decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
    decoder
        .into_iter()
        .map(|instruction| {
            let mut text = String::new();
            formatter.format(&instruction, &mut text);
            text
        })
        .collect()
}

/// Checks a sequence of instructions against their texts.
#[derive(Default)]
struct Check {
    asm: Option<Asm>,
    expected: Vec<String>,
}

impl Check {
    fn one(&mut self, expected: String, emit: impl FnOnce(&mut Asm)) {
        emit(self.asm.get_or_insert_with(|| Asm::new(ShortJumps::None)));
        self.expected.push(expected);
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        let Some(asm) = self.asm.take() else { return };
        let decoded = decoded(asm);
        for (i, (decoded, expected)) in decoded.iter().zip(&self.expected).enumerate() {
            assert_eq!(decoded, expected, "instruction {i}");
        }
        assert_eq!(decoded.len(), self.expected.len());
    }
}

fn ints() -> impl Iterator<Item = PReg> + Clone {
    (0..16).map(PReg)
}

fn floats() -> impl Iterator<Item = PReg> + Clone {
    (16..32).map(PReg)
}

fn r64(reg: PReg) -> &'static str {
    regs::name(reg)
}

fn r32(reg: PReg) -> String {
    match reg.0 {
        0..8 => r64(reg).replacen('r', "e", 1),
        _ => format!("{}d", r64(reg)),
    }
}

fn r8(reg: PReg) -> String {
    match reg.0 {
        0..4 => r64(reg).replace('r', "").replace('x', "l"),
        4..8 => r64(reg).replacen('r', "", 1) + "l",
        _ => format!("{}b", r64(reg)),
    }
}

const IMMS: [i32; 10] = [0, 1, -1, 127, 128, -128, -129, 0x1234_5678, i32::MAX, i32::MIN];
const SCALES: [Scale; 4] = [Scale::One, Scale::Two, Scale::Four, Scale::Eight];

fn mem_text(mem: Mem) -> String {
    let Mem::At { base, index, disp } = mem else { unreachable!() };
    let index = index.map_or(String::new(), |(index, scale)| match scale {
        Scale::One => format!("+{}", r64(index)),
        scale => format!("+{}*{}", r64(index), scale.factor()),
    });
    let disp = if disp == 0 { String::new() } else { format!("{disp:+}") };
    format!("[{}{index}{disp}]", r64(base))
}

/// Addresses whose encodings differ: all bases, an index, all sizes of displacements.
fn some_mems() -> Vec<Mem> {
    let mut mems = Vec::new();
    for base in ints() {
        for disp in [0, 8, -128, 128, i32::MIN] {
            mems.push(Mem::at(base, disp));
            let index = (PReg((base.0 + 7) % 16), SCALES[usize::from(base.0 % 4)]);
            if index.0 != regs::RSP {
                mems.push(Mem::At { base, index: Some(index), disp });
            }
        }
    }
    mems
}

#[test]
fn addresses() {
    let mut check = Check::default();
    for base in ints() {
        for disp in IMMS {
            let mem = Mem::at(base, disp);
            check.one(format!("lea rax, {}", mem_text(mem)), |asm| asm.lea(regs::RAX, mem));
            for index in ints().filter(|&reg| reg != regs::RSP) {
                for scale in SCALES {
                    let mem = Mem::At { base, index: Some((index, scale)), disp };
                    check.one(format!("lea r9, {}", mem_text(mem)), |asm| asm.lea(regs::R9, mem));
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "rsp is no index")]
fn the_stack_pointer_is_no_index() {
    let index = Some((regs::RSP, Scale::One));
    Asm::new(ShortJumps::None).lea(regs::RAX, Mem::At { base: regs::RAX, index, disp: 0 });
}

#[test]
#[should_panic(expected = "a general register")]
fn a_float_register_is_no_general_one() {
    Asm::new(ShortJumps::None).neg(regs::XMM0);
}

type Emit<T> = fn(&mut Asm, PReg, T);

#[test]
fn general_registers() {
    let mut check = Check::default();
    let alu = [
        ("add", AluOp::Add),
        ("sub", AluOp::Sub),
        ("and", AluOp::And),
        ("or", AluOp::Or),
        ("xor", AluOp::Xor),
        ("imul", AluOp::Mul),
    ];
    for (name, op) in alu {
        for dst in ints() {
            let d = r64(dst);
            for src in ints() {
                let text = format!("{name} {d}, {}", r64(src));
                check.one(text, |asm| asm.alu(op, dst, Rmi::Reg(src)));
            }
            for imm in IMMS {
                // The decoder shows `imul d, d, imm` so.
                let text = format!("{name} {d}, {imm}");
                check.one(text, |asm| asm.alu(op, dst, Rmi::Imm(imm)));
            }
        }
        for mem in some_mems() {
            let text = format!("{name} r13, qword ptr {}", mem_text(mem));
            check.one(text, |asm| asm.alu(op, regs::R13, Rmi::Mem(mem)));
            if op != AluOp::Mul {
                let text = format!("{name} qword ptr {}, r14", mem_text(mem));
                check.one(text, |asm| asm.alu_mem(op, mem, Rmi::Reg(regs::R14)));
                for imm in [1, -129] {
                    let text = format!("{name} qword ptr {}, {imm}", mem_text(mem));
                    check.one(text, |asm| asm.alu_mem(op, mem, Rmi::Imm(imm)));
                }
            }
        }
    }
    let on_two: [(&str, Emit<PReg>); 7] = [
        ("mov", |asm, a, b| asm.mov(a, Rmi::Reg(b))),
        ("cmp", |asm, a, b| asm.cmp(Rmi::Reg(a), Rmi::Reg(b))),
        ("test", |asm, a, b| asm.test(a, Rmi::Reg(b))),
        ("cmovp", |asm, a, b| asm.cmov_unordered(a, b)),
        ("cmovs", |asm, a, b| asm.cmov_negative(a, b)),
        ("popcnt", |asm, a, b| asm.bit_count(BitOp::Popcnt, a, Rmi::Reg(b))),
        ("lzcnt", |asm, a, b| asm.bit_count(BitOp::Lzcnt, a, Rmi::Reg(b))),
    ];
    for (name, emit) in on_two {
        for a in ints() {
            for b in ints() {
                check.one(format!("{name} {}, {}", r64(a), r64(b)), |asm| emit(asm, a, b));
            }
        }
    }
    let on_mem: [(&str, Emit<Mem>); 6] = [
        ("mov", |asm, a, m| asm.load(Width::Word, a, m)),
        ("mov", |asm, a, m| asm.mov_keeping_flags(a, Rmi::Mem(m))),
        ("cmp", |asm, a, m| asm.cmp(Rmi::Reg(a), Rmi::Mem(m))),
        ("popcnt", |asm, a, m| asm.bit_count(BitOp::Popcnt, a, Rmi::Mem(m))),
        ("lzcnt", |asm, a, m| asm.bit_count(BitOp::Lzcnt, a, Rmi::Mem(m))),
        ("tzcnt", |asm, a, m| asm.bit_count(BitOp::Tzcnt, a, Rmi::Mem(m))),
    ];
    for (name, emit) in on_mem {
        for (i, mem) in some_mems().into_iter().enumerate() {
            let reg = PReg((i % 16) as u8);
            let text = format!("{name} {}, qword ptr {}", r64(reg), mem_text(mem));
            check.one(text, |asm| emit(asm, reg, mem));
        }
    }
}

#[test]
fn immediates() {
    let mut check = Check::default();
    for reg in ints() {
        let r = r64(reg);
        for imm in IMMS {
            check.one(format!("cmp {r}, {imm}"), |asm| asm.cmp(Rmi::Reg(reg), Rmi::Imm(imm)));
            check.one(format!("test {r}, {imm}"), |asm| asm.test(reg, Rmi::Imm(imm)));
            check.one(format!("mov {r}, {imm}"), |asm| asm.mov_keeping_flags(reg, Rmi::Imm(imm)));
            let other = PReg((reg.0 + 3) % 16);
            let text = format!("imul {r}, {}, {imm}", r64(other));
            check.one(text, |asm| asm.mul_imm(reg, Rmi::Reg(other), imm));
        }
        check.one(format!("xor {0}, {0}", r32(reg)), |asm| asm.mov_imm(reg, 0));
        for value in [1, 0x7FFF_FFFF] {
            check.one(format!("mov {}, {value}", r32(reg)), |asm| asm.mov_imm(reg, value));
        }
        let text = format!("mov {}, {}", r32(reg), i64::from(i32::MIN));
        check.one(text, |asm| asm.mov_imm(reg, 0x8000_0000));
        for value in [-1, i64::from(i32::MIN), 0x1_0000_0000, i64::MAX, i64::MIN] {
            check.one(format!("mov {r}, {value}"), |asm| asm.mov_imm(reg, value));
        }
    }
    for mem in some_mems() {
        let m = mem_text(mem);
        for imm in [0, -1, 127, 128, i32::MIN] {
            let text = format!("cmp qword ptr {m}, {imm}");
            check.one(text, |asm| asm.cmp(Rmi::Mem(mem), Rmi::Imm(imm)));
            let text = format!("mov qword ptr {m}, {imm}");
            check.one(text, |asm| asm.store(Width::Word, mem, Rmi::Imm(imm)));
            let text = format!("mov dword ptr {m}, {imm}");
            check.one(text, |asm| asm.store(Width::Half, mem, Rmi::Imm(imm)));
            let text = format!("mov byte ptr {m}, {}", imm as i8);
            check.one(text, |asm| asm.store(Width::Byte, mem, Rmi::Imm(imm)));
            let text = format!("imul rbp, qword ptr {m}, {imm}");
            check.one(text, |asm| asm.mul_imm(regs::RBP, Rmi::Mem(mem), imm));
        }
        check.one(format!("cmp dword ptr {m}, 3"), |asm| asm.cmp_half(mem, 3));
        check.one(format!("cmp byte ptr {m}, 97"), |asm| asm.cmp_byte(mem, 97));
        check.one(format!("cmp byte ptr {m}, -1"), |asm| asm.cmp_byte(mem, 255));
        check.one(format!("test byte ptr {m}, 1"), |asm| asm.test_byte(mem, 1));
        check.one(format!("push qword ptr {m}"), |asm| asm.push(Rmi::Mem(mem)));
        check.one(format!("call qword ptr {m}"), |asm| asm.call_mem(mem));
        check.one(format!("imul qword ptr {m}"), |asm| asm.mul_high(Rmi::Mem(mem)));
    }
    for imm in [0, 5, -5, 1000, i32::MIN] {
        check.one(format!("push {imm}"), |asm| asm.push(Rmi::Imm(imm)));
    }
}

#[test]
fn one_register() {
    let mut check = Check::default();
    let shifts = [
        ("shl", ShiftOp::Shl),
        ("sar", ShiftOp::Sar),
        ("shr", ShiftOp::Shr),
        ("rol", ShiftOp::Rol),
        ("ror", ShiftOp::Ror),
    ];
    let conds = [
        ("e", Cond::E),
        ("ne", Cond::Ne),
        ("l", Cond::L),
        ("le", Cond::Le),
        ("g", Cond::G),
        ("ge", Cond::Ge),
        ("b", Cond::B),
        ("be", Cond::Be),
        ("a", Cond::A),
        ("ae", Cond::Ae),
    ];
    for reg in ints() {
        let r = r64(reg);
        for (name, op) in shifts {
            for count in [1, 7, 63] {
                check.one(format!("{name} {r}, {count}"), |asm| asm.shift(op, reg, count));
            }
            check.one(format!("{name} {r}, cl"), |asm| asm.shift_cl(op, reg));
        }
        for (name, cond) in conds {
            check.one(format!("set{name} {}", r8(reg)), |asm| asm.set(cond, reg));
            let other = PReg((reg.0 + 5) % 16);
            let text = format!("cmov{name} {r}, {}", r64(other));
            check.one(text, |asm| asm.cmov(cond, reg, other));
        }
        check.one(format!("setnp {}", r8(reg)), |asm| asm.set_ordered(reg));
        check.one(format!("setp {}", r8(reg)), |asm| asm.set_unordered(reg));
        check.one(format!("neg {r}"), |asm| asm.neg(reg));
        check.one(format!("not {r}"), |asm| asm.not(reg));
        check.one(format!("idiv {r}"), |asm| asm.idiv(reg));
        check.one(format!("div {}", r32(reg)), |asm| asm.div32(reg));
        check.one(format!("imul {r}"), |asm| asm.mul_high(Rmi::Reg(reg)));
        check.one(format!("push {r}"), |asm| asm.push(Rmi::Reg(reg)));
        check.one(format!("pop {r}"), |asm| asm.pop(reg));
        check.one(format!("mov {r}, 0"), |asm| {
            asm.mov_hole(reg);
        });
        for other in ints() {
            let text = format!("movzx {}, {}", r32(reg), r8(other));
            check.one(text, |asm| asm.zext(Width::Byte, reg, other));
            let text = format!("mov {}, {}", r32(reg), r32(other));
            check.one(text, |asm| asm.zext(Width::Half, reg, other));
            let text = format!("tzcnt {r}, {}", r64(other));
            check.one(text, |asm| asm.bit_count(BitOp::Tzcnt, reg, Rmi::Reg(other)));
            for count in ints() {
                for (name, op) in
                    [("shlx", ShiftOp::Shl), ("sarx", ShiftOp::Sar), ("shrx", ShiftOp::Shr)]
                {
                    let text = format!("{name} {r}, {}, {}", r64(other), r64(count));
                    check.one(text, |asm| asm.shift_x(op, reg, other, count));
                }
            }
        }
        for mem in [Mem::at(regs::RSP, 8), Mem::at(reg, 0), Mem::at(regs::R12, -1000)] {
            let m = mem_text(mem);
            let text = format!("movzx {}, byte ptr {m}", r32(reg));
            check.one(text, |asm| asm.load(Width::Byte, reg, mem));
            let text = format!("mov {}, dword ptr {m}", r32(reg));
            check.one(text, |asm| asm.load(Width::Half, reg, mem));
            let stores = [
                (Width::Byte, "byte", r8(reg)),
                (Width::Half, "dword", r32(reg)),
                (Width::Word, "qword", r.into()),
            ];
            for (width, size, name) in stores {
                let text = format!("mov {size} ptr {m}, {name}");
                check.one(text, |asm| asm.store(width, mem, Rmi::Reg(reg)));
            }
        }
    }
    check.one("cqo".into(), Asm::cqo);
    check.one("ret".into(), Asm::ret);
    check.one("ud2".into(), Asm::ud2);
}

#[test]
fn float_registers() {
    let mut check = Check::default();
    let on_two: [(&str, Emit<Rmi>); 8] = [
        ("addsd", |asm, a, b| asm.float_alu(FloatOp::Add, a, b)),
        ("subsd", |asm, a, b| asm.float_alu(FloatOp::Sub, a, b)),
        ("mulsd", |asm, a, b| asm.float_alu(FloatOp::Mul, a, b)),
        ("divsd", |asm, a, b| asm.float_alu(FloatOp::Div, a, b)),
        ("minsd", |asm, a, b| asm.float_alu(FloatOp::Min, a, b)),
        ("maxsd", |asm, a, b| asm.float_alu(FloatOp::Max, a, b)),
        ("sqrtsd", |asm, a, b| asm.sqrt(a, b)),
        ("ucomisd", |asm, a, b| asm.float_cmp(a, b)),
    ];
    for a in floats() {
        let x = r64(a);
        for (name, emit) in on_two {
            for b in floats() {
                check.one(format!("{name} {x}, {}", r64(b)), |asm| emit(asm, a, Rmi::Reg(b)));
            }
            for mem in some_mems() {
                let text = format!("{name} {x}, qword ptr {}", mem_text(mem));
                check.one(text, |asm| emit(asm, a, Rmi::Mem(mem)));
            }
        }
        for b in floats() {
            check.one(format!("movaps {x}, {}", r64(b)), |asm| asm.float_mov(a, b));
            for (mode, number) in [(Round::Floor, 9), (Round::Ceil, 10), (Round::Trunc, 11)] {
                let text = format!("roundsd {x}, {}, {number}", r64(b));
                check.one(text, |asm| asm.round(mode, a, Rmi::Reg(b)));
            }
        }
        check.one(format!("xorps {x}, {x}"), |asm| asm.float_zero(a));
        for b in ints() {
            let text = format!("cvtsi2sd {x}, {}", r64(b));
            check.one(text, |asm| asm.int_to_float(a, Rmi::Reg(b)));
            check.one(format!("cvttsd2si {}, {x}", r64(b)), |asm| asm.float_to_int(b, a));
        }
        for mem in some_mems() {
            let m = mem_text(mem);
            check.one(format!("movsd {x}, qword ptr {m}"), |asm| asm.float_load(a, mem));
            check.one(format!("movsd qword ptr {m}, {x}"), |asm| asm.float_store(mem, a));
            let text = format!("cvtsi2sd {x}, qword ptr {m}");
            check.one(text, |asm| asm.int_to_float(a, Rmi::Mem(mem)));
            let text = format!("roundsd {x}, qword ptr {m}, 9");
            check.one(text, |asm| asm.round(Round::Floor, a, Rmi::Mem(mem)));
        }
    }
}

#[test]
fn jumps_are_as_short_as_they_can_be() {
    // Both ways, from just in reach to just out of it.
    for filler in [0, 100, 122, 123, 124, 125, 126, 127, 128, 129, 130, 200] {
        let assemble = |short: ShortJumps| {
            let mut asm = Asm::new(short);
            let (begin, end) = (asm.label(), asm.label());
            asm.bind(begin);
            asm.jump_if(Cond::L, end);
            for _ in 0..filler {
                asm.ret();
            }
            asm.jmp(begin);
            asm.bind(end);
            asm
        };
        let short = assemble(ShortJumps::None).relax();
        let size = assemble(ShortJumps::These(short.clone())).finish().len();
        let expected = if short[0] { 2 } else { 6 } + filler + if short[1] { 2 } else { 5 };
        assert_eq!(size, expected);
        assert_eq!(short[0], filler + 5 <= 127, "{filler}");
        assert_eq!(short[1], 6 + filler + 5 <= 127, "{filler}");
    }
}

#[test]
fn literals_are_shared_and_aligned() {
    for before in 0..20 {
        let mut asm = Asm::new(ShortJumps::None);
        for _ in 0..before {
            asm.ret();
        }
        let first = asm.literal(1);
        assert_eq!(first, asm.literal(1));
        assert_ne!(first, asm.literal(2));
        asm.float_load(regs::XMM3, first);
        asm.float_xor(regs::XMM0, 1 << 63);
        asm.float_and(regs::XMM9, 1 << 63);
        let end = asm.finish_code() as usize;
        let bytes = asm.finish();
        let pool = end.next_multiple_of(16);
        assert!(bytes[end..pool].iter().all(|&b| b == 0xCC));
        let words: Vec<u64> =
            bytes[pool..].chunks(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
        assert_eq!(words, [1 << 63, 1 << 63, 1, 2]);
    }
}

#[test]
fn padding_between_keeps_short_jumps_true() {
    for filler in 0..140 {
        let assemble = |short: ShortJumps| {
            let mut asm = Asm::new(short);
            let labels: Vec<_> = (0..4).map(|_| asm.label()).collect();
            for &label in &labels {
                asm.jump_if(Cond::L, label);
            }
            for (i, &label) in labels.iter().enumerate() {
                asm.align_loop();
                asm.bind(label);
                for _ in 0..(filler * (i + 1)) % 61 {
                    asm.ret();
                }
                asm.jmp(labels[(i + 2) % 4]);
            }
            asm
        };
        let short = assemble(ShortJumps::None).relax();
        // `finish` fails where a short jump does not reach.
        let text = decoded(assemble(ShortJumps::These(short)));
        assert!(text.iter().all(|line| !line.contains("bad")), "{text:?}");
    }
}
