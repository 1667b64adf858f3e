//! The builtin functions, as §7 of the reference says them.

use super::frame::Frame;
use super::{Interpreter, Run};
use crate::sema::hir::{Builtin, Expr, Ty};
use toyjit_runtime::{Rt, Stop, Trap, math, parse};

impl Interpreter<'_> {
    /// `call` is the whole expression, where traps point.
    pub(super) fn builtin(
        &mut self,
        frame: &Frame,
        builtin: Builtin,
        args: &[Expr],
        call: &Expr,
    ) -> Run<u64> {
        let words = self.eval_all(frame, args)?;
        let result = self.apply(builtin, args, &words);
        self.at(call.span, result)
    }

    fn apply(&mut self, builtin: Builtin, args: &[Expr], words: &[u64]) -> Run<u64> {
        let word = |i: usize| words[i];
        let int = |i: usize| words[i] as i64;
        let float = |i: usize| f64::from_bits(words[i]);
        let on_floats = args.first().is_some_and(|arg| arg.ty == Ty::FLOAT);
        let on_strings = args.first().is_some_and(|arg| arg.ty == Ty::STR);
        Ok(match builtin {
            Builtin::Print => {
                self.show(args, words, true)?;
                0
            }
            Builtin::Write => {
                self.show(args, words, false)?;
                0
            }
            Builtin::Len if on_strings => self.runtime.str_len(word(0)),
            Builtin::Len => self.runtime.array_len(word(0)),
            Builtin::Push => {
                self.runtime.array_push(word(0), word(1))?;
                0
            }
            Builtin::Pop => self.runtime.array_pop(word(0))?,
            Builtin::Slice if on_strings => self.runtime.str_slice(word(0), int(1), int(2))?,
            Builtin::Slice => self.runtime.array_slice(word(0), int(1), int(2))?,
            Builtin::ToBytes => self.runtime.to_bytes(word(0))?,
            Builtin::FromBytes => self.runtime.from_bytes(word(0))?,
            Builtin::Abs if on_floats => float(0).abs().to_bits(),
            Builtin::Abs => int(0).wrapping_abs() as u64,
            Builtin::Min if on_floats => word(usize::from(float(1) < float(0))),
            Builtin::Min => word(usize::from(int(1) < int(0))),
            Builtin::Max if on_floats => word(usize::from(float(0) < float(1))),
            Builtin::Max => word(usize::from(int(0) < int(1))),
            Builtin::Sqrt => float(0).sqrt().to_bits(),
            Builtin::Floor => float(0).floor().to_bits(),
            Builtin::Ceil => float(0).ceil().to_bits(),
            Builtin::Trunc => float(0).trunc().to_bits(),
            Builtin::Round => float(0).round().to_bits(),
            Builtin::Exp => math::exp(float(0)).to_bits(),
            Builtin::Ln => math::ln(float(0)).to_bits(),
            Builtin::Log2 => math::log2(float(0)).to_bits(),
            Builtin::Log10 => math::log10(float(0)).to_bits(),
            Builtin::Sin => math::sin(float(0)).to_bits(),
            Builtin::Cos => math::cos(float(0)).to_bits(),
            Builtin::Tan => math::tan(float(0)).to_bits(),
            Builtin::Asin => math::asin(float(0)).to_bits(),
            Builtin::Acos => math::acos(float(0)).to_bits(),
            Builtin::Atan => math::atan(float(0)).to_bits(),
            Builtin::Pow => math::pow(float(0), float(1)).to_bits(),
            Builtin::Atan2 => math::atan2(float(0), float(1)).to_bits(),
            Builtin::Popcount => u64::from(word(0).count_ones()),
            Builtin::Clz => u64::from(word(0).leading_zeros()),
            Builtin::Ctz => u64::from(word(0).trailing_zeros()),
            Builtin::Rotl => word(0).rotate_left((word(1) % 64) as u32),
            Builtin::Rotr => word(0).rotate_right((word(1) % 64) as u32),
            Builtin::ParseInt => {
                parse::parse_int(self.runtime.str_bytes(word(0))).map_or(word(1), |i| i as u64)
            }
            Builtin::ParseFloat => {
                parse::parse_float(self.runtime.str_bytes(word(0))).map_or(word(1), f64::to_bits)
            }
            Builtin::ReadLine => self.runtime.read_line()?,
            Builtin::Args => self.runtime.program_args()?,
            Builtin::Clock => (Rt::Clock.entry().call)(self.runtime, &[])?,
            Builtin::Assert if word(0) != 0 => 0,
            Builtin::Assert => {
                let message = words.get(1).map(|&m| self.runtime.str_bytes(m).to_vec());
                return Err(Trap::Assertion(message).into());
            }
            Builtin::Panic => {
                return Err(Trap::Panic(self.runtime.str_bytes(word(0)).to_vec()).into());
            }
            Builtin::Exit => return Err(Stop::Exit((int(0) & 0xFF) as i32)),
        })
    }

    /// `print` (a space between, a newline at the end) and `write`.
    fn show(&mut self, args: &[Expr], words: &[u64], line: bool) -> Run<()> {
        for (i, (arg, &word)) in args.iter().zip(words).enumerate() {
            if line && i > 0 {
                self.runtime.print_space()?;
            }
            match arg.ty {
                Ty::INT | Ty::BYTE => self.runtime.print_int(word as i64)?,
                Ty::FLOAT => self.runtime.print_float(f64::from_bits(word))?,
                Ty::BOOL => self.runtime.print_bool(word != 0)?,
                _ => self.runtime.print_ref(word)?,
            }
        }
        if line { self.runtime.print_newline() } else { Ok(()) }
    }
}
