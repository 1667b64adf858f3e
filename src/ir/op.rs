//! The table of operators: everything that the compiler's stages need to know of each.
//!
//! Parser, printer, verifier, interpreter, folding, SCCP, GVN and DCE ask this table and never name
//! an operator; only instruction selection matches on operators. To add an operator, add its row
//! here and its arm in `x64/isel.rs`.
//!
//! A row's evaluation function gives the operator's meaning on words (an int's bits, a float's
//! bits, 0 or 1 for a bool). It answers `None` where the operator traps or where its result is not
//! a function of its operands' bits alone.
//!
//! Checks (`check_bounds`, `check_nil`, `check_div`) trap or give back their first operand. What
//! relies on a check takes the check's *result* as its operand, so that no pass can move it above.

use super::Type::{self, Bool, Float, Int, Ref};
use toyjit_runtime::{entry, math};

/// What an operand must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This type.
    Is(Type),
    /// An int or a bool; all such operands of one instruction have the same type.
    Word,
    /// Any type; all such operands of one instruction have the same type.
    Any,
}

/// What the result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// There is none.
    None,
    /// Always this type.
    Is(Type),
    /// The type of the last operand.
    SameAsLast,
    /// Told by the instruction (`ty`): loads and calls. Calls may have none.
    Stated,
}

/// What an instruction does besides computing its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects(pub u8);

impl Effects {
    /// Nothing: may be removed, repeated, merged with its equal.
    pub const NONE: Effects = Effects(0);
    /// Reads memory that may change (see `Space`).
    pub const READS: Effects = Effects(1);
    /// Writes memory that is read elsewhere.
    pub const WRITES: Effects = Effects(2);
    /// Allocates: a safepoint; each result is a new object.
    pub const ALLOCATES: Effects = Effects(4);
    /// May trap.
    pub const TRAPS: Effects = Effects(8);
    /// Input, output, the clock, or leaving the program.
    pub const IO: Effects = Effects(16);
    /// Anything: a call of unknown code.
    pub const ALL: Effects = Effects(31);

    /// The effects of a row of the runtime's table. What never returns counts as leaving the
    /// program; a row that does not exist may do anything.
    pub fn of_row(row: u64) -> Effects {
        const SAME: [(Effects, entry::Effects); 6] = [
            (Effects::READS, entry::Effects::READS),
            (Effects::WRITES, entry::Effects::WRITES),
            (Effects::ALLOCATES, entry::Effects::ALLOCATES),
            (Effects::TRAPS, entry::Effects::TRAPS),
            (Effects::IO, entry::Effects::IO),
            (Effects::IO, entry::Effects::DIVERGES),
        ];
        let Some(row) = entry::ENTRIES.get(usize::try_from(row).unwrap_or(usize::MAX)) else {
            return Effects::ALL;
        };
        let has = |&&(_, theirs): &&(Effects, entry::Effects)| row.effects.contains(theirs);
        SAME.iter().filter(has).fold(Effects::NONE, |all, &(ours, _)| all.and(ours))
    }

    /// Both together.
    pub const fn and(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }

    /// Whether any of `other` is in it.
    pub const fn has(self, other: Effects) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether an instruction with these effects may be removed when nobody uses its result.
    pub const fn removable(self) -> bool {
        !self.has(Effects::WRITES.and(Effects::TRAPS).and(Effects::IO))
    }
}

/// Which memory a load or store touches. Two locations of different spaces, or of one space with
/// different `imm`, never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// None, or memory that never changes (strings, captures).
    None,
    /// Length and data reference of arrays; `imm` is the element class.
    Header,
    /// Elements of arrays; `imm` is the element class (see `ElemClass`).
    Elements,
    /// A field; `imm` is structure and field.
    Field,
    /// A global; `imm` is its number.
    Global,
    /// Whatever the called code touches.
    Any,
}

/// What an instruction's `imm` refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImmKind {
    /// Nothing: it is 0.
    None,
    /// An element class.
    Class,
    /// A field of a structure (`field_imm`).
    Field,
    /// A global.
    Global,
    /// A capture, by its number.
    Capture,
    /// A structure.
    Structure,
    /// A function of the module.
    Function,
    /// A row of the runtime's table.
    Row,
}

/// The meaning of an operator on words; `None` where it traps.
pub type Eval = fn(&[u64]) -> Option<u64>;

/// One row of the table.
#[derive(Debug)]
pub struct OpInfo {
    /// As printed.
    pub name: &'static str,
    /// The operands; `None` for any number of any types.
    pub params: Option<&'static [Kind]>,
    /// The result.
    pub result: ResultKind,
    /// What else it does.
    pub effects: Effects,
    /// Which memory it touches.
    pub space: Space,
    /// Whether its two operands may change places.
    pub commutes: bool,
    /// Whether its `imm` means something (it is then printed and compared).
    pub imm: bool,
    /// What its `imm` refers to.
    pub imm_kind: ImmKind,
    /// Its meaning on constants.
    pub eval: Option<Eval>,
    /// One line for people.
    pub doc: &'static str,
}

macro_rules! ops {
    ($($variant:ident $name:literal $params:tt -> $result:ident, $effects:expr, $space:ident,
       $flags:tt, $eval:expr, $doc:literal;)+) => {
        /// The operators.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = $doc] $variant,)+
        }

        /// The rows in the order of `Op`.
        pub static OPS: &[OpInfo] = &[
            $(OpInfo {
                name: $name,
                params: ops!(@params $params),
                result: ops!(@result $result),
                effects: $effects,
                space: Space::$space,
                commutes: ops!(@flag commutes $flags),
                imm: ops!(@flag imm $flags),
                imm_kind: ops!(@imm $flags),
                eval: $eval,
                doc: $doc,
            },)+
        ];

        impl Op {
            /// All operators.
            pub const ALL: &[Op] = &[$(Op::$variant),+];
        }
    };
    (@params (..)) => { None };
    (@params ($($kind:ident),*)) => { Some(&[$(ops!(@kind $kind)),*]) };
    (@kind Word) => { Kind::Word };
    (@kind Any) => { Kind::Any };
    (@kind $ty:ident) => { Kind::Is($ty) };
    (@result None) => { ResultKind::None };
    (@result Last) => { ResultKind::SameAsLast };
    (@result Stated) => { ResultKind::Stated };
    (@result $ty:ident) => { ResultKind::Is($ty) };
    (@flag $flag:ident [$($have:ident)*]) => { false $(|| ops!(@same $flag $have))* };
    (@imm [imm $kind:ident]) => { ImmKind::$kind };
    (@imm [$($flag:ident)*]) => { ImmKind::None };
    (@same commutes commutes) => { true };
    (@same imm imm) => { true };
    (@same $a:ident $b:ident) => { false };
}

const NONE: Effects = Effects::NONE;
const READS: Effects = Effects::READS;
const WRITES: Effects = Effects::WRITES;
const TRAPS: Effects = Effects::TRAPS;
const ALLOCATES: Effects = Effects::ALLOCATES;
const ALL: Effects = Effects::ALL;

ops! {
    Copy "copy" (Any) -> Last, NONE, None, [], Some(|x| Some(x[0])),
        "its operand";

    IAdd "iadd" (Int, Int) -> Int, NONE, None, [commutes], Some(|x| ints(x, i64::wrapping_add)),
        "sum, wrapping";
    ISub "isub" (Int, Int) -> Int, NONE, None, [], Some(|x| ints(x, i64::wrapping_sub)),
        "difference, wrapping";
    IMul "imul" (Int, Int) -> Int, NONE, None, [commutes], Some(|x| ints(x, i64::wrapping_mul)),
        "product, wrapping";
    SDiv "sdiv" (Int, Int) -> Int, NONE, None, [], Some(|x| divide(x, i64::wrapping_div)),
        "quotient toward zero; the divisor is not zero (a `check_div` gave it); MIN / -1 is MIN";
    SRem "srem" (Int, Int) -> Int, NONE, None, [], Some(|x| divide(x, i64::wrapping_rem)),
        "remainder with the dividend's sign; the divisor is not zero; MIN % -1 is 0";
    INeg "ineg" (Int) -> Int, NONE, None, [], Some(|x| Some((x[0] as i64).wrapping_neg() as u64)),
        "negation, wrapping";
    IAbs "iabs" (Int) -> Int, NONE, None, [], Some(|x| Some((x[0] as i64).wrapping_abs() as u64)),
        "absolute value; MIN stays MIN";
    IMin "imin" (Int, Int) -> Int, NONE, None, [commutes], Some(|x| ints(x, i64::min)),
        "the lesser";
    IMax "imax" (Int, Int) -> Int, NONE, None, [commutes], Some(|x| ints(x, i64::max)),
        "the greater";
    INot "inot" (Int) -> Int, NONE, None, [], Some(|x| Some(!x[0])),
        "complement";
    IAnd "iand" (Word, Word) -> Last, NONE, None, [commutes], Some(|x| Some(x[0] & x[1])),
        "bitwise and";
    IOr "ior" (Word, Word) -> Last, NONE, None, [commutes], Some(|x| Some(x[0] | x[1])),
        "bitwise or";
    IXor "ixor" (Word, Word) -> Last, NONE, None, [commutes], Some(|x| Some(x[0] ^ x[1])),
        "bitwise exclusive or; with `true` the negation of a bool";
    Shl "shl" (Int, Int) -> Int, NONE, None, [], Some(|x| Some(x[0] << (x[1] & 63))),
        "shift left, count modulo 64";
    Sar "sar" (Int, Int) -> Int, NONE, None, [], Some(|x| Some(((x[0] as i64) >> (x[1] & 63)) as u64)),
        "shift right copying the sign, count modulo 64";
    Shr "shr" (Int, Int) -> Int, NONE, None, [], Some(|x| Some(x[0] >> (x[1] & 63))),
        "shift right with zeros, count modulo 64";
    Rotl "rotl" (Int, Int) -> Int, NONE, None, [], Some(|x| Some(x[0].rotate_left(x[1] as u32 & 63))),
        "rotate left, count modulo 64";
    Rotr "rotr" (Int, Int) -> Int, NONE, None, [], Some(|x| Some(x[0].rotate_right(x[1] as u32 & 63))),
        "rotate right, count modulo 64";
    Popcnt "popcnt" (Int) -> Int, NONE, None, [], Some(|x| Some(u64::from(x[0].count_ones()))),
        "number of one bits";
    Clz "clz" (Int) -> Int, NONE, None, [], Some(|x| Some(u64::from(x[0].leading_zeros()))),
        "number of leading zero bits; 64 for 0";
    Ctz "ctz" (Int) -> Int, NONE, None, [], Some(|x| Some(u64::from(x[0].trailing_zeros()))),
        "number of trailing zero bits; 64 for 0";

    IEq "ieq" (Word, Word) -> Bool, NONE, None, [commutes], Some(|x| Some(u64::from(x[0] == x[1]))),
        "equal";
    INe "ine" (Word, Word) -> Bool, NONE, None, [commutes], Some(|x| Some(u64::from(x[0] != x[1]))),
        "not equal";
    ILt "ilt" (Int, Int) -> Bool, NONE, None, [], Some(|x| compare(x, |a, b| a < b)),
        "less, signed";
    ILe "ile" (Int, Int) -> Bool, NONE, None, [], Some(|x| compare(x, |a, b| a <= b)),
        "less or equal, signed";
    IGt "igt" (Int, Int) -> Bool, NONE, None, [], Some(|x| compare(x, |a, b| a > b)),
        "greater, signed";
    IGe "ige" (Int, Int) -> Bool, NONE, None, [], Some(|x| compare(x, |a, b| a >= b)),
        "greater or equal, signed";
    ULt "ult" (Int, Int) -> Bool, NONE, None, [], Some(|x| Some(u64::from(x[0] < x[1]))),
        "less, unsigned";
    ULe "ule" (Int, Int) -> Bool, NONE, None, [], Some(|x| Some(u64::from(x[0] <= x[1]))),
        "less or equal, unsigned";
    UGt "ugt" (Int, Int) -> Bool, NONE, None, [], Some(|x| Some(u64::from(x[0] > x[1]))),
        "greater, unsigned";
    UGe "uge" (Int, Int) -> Bool, NONE, None, [], Some(|x| Some(u64::from(x[0] >= x[1]))),
        "greater or equal, unsigned";

    FAdd "fadd" (Float, Float) -> Float, NONE, None, [commutes], Some(|x| floats(x, |a, b| a + b)),
        "sum";
    FSub "fsub" (Float, Float) -> Float, NONE, None, [], Some(|x| floats(x, |a, b| a - b)),
        "difference";
    FMul "fmul" (Float, Float) -> Float, NONE, None, [commutes], Some(|x| floats(x, |a, b| a * b)),
        "product";
    FDiv "fdiv" (Float, Float) -> Float, NONE, None, [], Some(|x| floats(x, |a, b| a / b)),
        "quotient";
    FNeg "fneg" (Float) -> Float, NONE, None, [], Some(|x| float(x, |a| -a)),
        "the other sign, of zeros and NaN too";
    FAbs "fabs" (Float) -> Float, NONE, None, [], Some(|x| float(x, f64::abs)),
        "absolute value";
    FMin "fmin" (Float, Float) -> Float, NONE, None, [],
        Some(|x| floats(x, |a, b| if b < a { b } else { a })),
        "`b` where `b < a`, else `a`";
    FMax "fmax" (Float, Float) -> Float, NONE, None, [],
        Some(|x| floats(x, |a, b| if a < b { b } else { a })),
        "`b` where `a < b`, else `a`";
    FSqrt "fsqrt" (Float) -> Float, NONE, None, [], Some(|x| float(x, f64::sqrt)),
        "square root, exact";
    FFloor "ffloor" (Float) -> Float, NONE, None, [], Some(|x| float(x, f64::floor)),
        "round down";
    FCeil "fceil" (Float) -> Float, NONE, None, [], Some(|x| float(x, f64::ceil)),
        "round up";
    FTrunc "ftrunc" (Float) -> Float, NONE, None, [], Some(|x| float(x, f64::trunc)),
        "round toward zero";

    FEq "feq" (Float, Float) -> Bool, NONE, None, [commutes], Some(|x| fcompare(x, |a, b| a == b)),
        "equal; false with NaN";
    FNe "fne" (Float, Float) -> Bool, NONE, None, [commutes], Some(|x| fcompare(x, |a, b| a != b)),
        "not equal; true with NaN";
    FLt "flt" (Float, Float) -> Bool, NONE, None, [], Some(|x| fcompare(x, |a, b| a < b)),
        "less; false with NaN";
    FLe "fle" (Float, Float) -> Bool, NONE, None, [], Some(|x| fcompare(x, |a, b| a <= b)),
        "less or equal; false with NaN";
    FGt "fgt" (Float, Float) -> Bool, NONE, None, [], Some(|x| fcompare(x, |a, b| a > b)),
        "greater; false with NaN";
    FGe "fge" (Float, Float) -> Bool, NONE, None, [], Some(|x| fcompare(x, |a, b| a >= b)),
        "greater or equal; false with NaN";

    REq "req" (Ref, Ref) -> Bool, NONE, None, [commutes], None,
        "the same object, or both nil";
    RNe "rne" (Ref, Ref) -> Bool, NONE, None, [commutes], None,
        "not the same object";

    IToF "itof" (Int) -> Float, NONE, None, [], Some(|x| Some((x[0] as i64 as f64).to_bits())),
        "int to float, to nearest even";
    FToI "ftoi" (Float) -> Int, NONE, None, [], Some(|x| Some(math::float_to_int(f64::from_bits(x[0])) as u64)),
        "float to int toward zero, saturating, NaN gives 0";
    BToI "btoi" (Bool) -> Int, NONE, None, [], Some(|x| Some(x[0])),
        "0 or 1";
    Select "select" (Bool, Any, Any) -> Last, NONE, None, [], Some(|x| Some(if x[0] != 0 { x[1] } else { x[2] })),
        "the second operand where the first is true, else the third";

    CheckBounds "check_bounds" (Int, Int) -> Int, TRAPS, None, [],
        Some(|x| (x[0] < x[1] && x[1] as i64 >= 0).then_some(x[0])),
        "the first operand, an index; traps unless 0 <= index < length (the second, never negative)";
    CheckNil "check_nil" (Ref) -> Ref, TRAPS, None, [], None,
        "its operand; traps where it is nil";
    CheckDiv "check_div" (Int) -> Int, TRAPS, None, [], Some(|x| (x[0] != 0).then_some(x[0])),
        "its operand, a divisor; traps where it is zero";

    CheckRead "check_read" (Ref, Int) -> Int, READS.and(TRAPS), Field, [imm Field], None,
        "the second operand, an index into a region (the first); traps unless that element was stored";
    CheckWrite "check_write" (Ref, Int) -> Int, READS.and(WRITES).and(TRAPS), Field, [imm Field], None,
        "the second operand, an index into a region (the first); traps unless it is in bounds, and notes that the element is stored";

    StrLen "str_len" (Ref) -> Int, NONE, None, [], None,
        "length of a string in bytes";
    StrByte "str_byte" (Ref, Int) -> Int, NONE, None, [], None,
        "byte of a string at a checked index";
    ArrayLen "array_len" (Ref) -> Int, READS, Header, [imm Class], None,
        "length of an array; imm is its element class";
    ArrayData "array_data" (Ref) -> Ref, READS, Header, [imm Class], None,
        "the buffer of an array's elements; imm is its element class";
    LoadElem "load_elem" (Ref, Int) -> Stated, READS, Elements, [imm Class], None,
        "element of a buffer at a checked index";
    StoreElem "store_elem" (Ref, Int, Any) -> None, WRITES, Elements, [imm Class], None,
        "sets an element of a buffer at a checked index";
    LoadField "load_field" (Ref) -> Stated, READS, Field, [imm Field], None,
        "field of a struct";
    StoreField "store_field" (Ref, Any) -> None, WRITES, Field, [imm Field], None,
        "sets a field of a struct";
    LoadGlobal "load_global" () -> Stated, READS, Global, [imm Global], None,
        "value of a global";
    StoreGlobal "store_global" (Any) -> None, WRITES, Global, [imm Global], None,
        "sets a global";
    LoadCapture "load_capture" (Ref) -> Stated, NONE, None, [imm Capture], None,
        "captured value of a closure; imm is its number";

    NewStruct "new_struct" (..) -> Ref, ALLOCATES, None, [imm Structure], None,
        "a new struct with these fields; imm is the structure";
    NewClosure "new_closure" (..) -> Ref, ALLOCATES, None, [imm Function], None,
        "a new closure with these captures; imm is the function";

    Call "call" (..) -> Stated, ALL, Any, [imm Function], None,
        "call of a function of the module; imm is the function";
    CallValue "call_value" (..) -> Stated, ALL, Any, [], None,
        "call of a function value (the first operand, not nil)";
    Rt "rt" (..) -> Stated, ALL, Any, [imm Row], None,
        "call of the runtime; imm is the row of its table, which tells operands, result, effects";
}

impl Op {
    /// The operator's row.
    #[inline]
    pub fn info(self) -> &'static OpInfo {
        &OPS[self as usize]
    }

    /// The operator of this name.
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.info().name == name)
    }

    /// Whether it compares two operands to a bool without effect: what a branch may carry.
    pub fn is_comparison(self) -> bool {
        let info = self.info();
        info.result == ResultKind::Is(Bool) && info.params.is_some_and(|p| p.len() == 2)
    }

    /// For a comparison: the one that holds where it does not. The order of floats has none: with
    /// NaN neither of two opposites holds.
    pub fn opposite(self) -> Option<Op> {
        Some(match self {
            Op::IEq => Op::INe,
            Op::INe => Op::IEq,
            Op::ILt => Op::IGe,
            Op::IGe => Op::ILt,
            Op::IGt => Op::ILe,
            Op::ILe => Op::IGt,
            Op::ULt => Op::UGe,
            Op::UGe => Op::ULt,
            Op::UGt => Op::ULe,
            Op::ULe => Op::UGt,
            Op::FEq => Op::FNe,
            Op::FNe => Op::FEq,
            Op::REq => Op::RNe,
            Op::RNe => Op::REq,
            _ => return None,
        })
    }

    /// For a comparison: the one with its operands swapped.
    pub fn swapped(self) -> Op {
        match self {
            Op::ILt => Op::IGt,
            Op::ILe => Op::IGe,
            Op::IGt => Op::ILt,
            Op::IGe => Op::ILe,
            Op::ULt => Op::UGt,
            Op::ULe => Op::UGe,
            Op::UGt => Op::ULt,
            Op::UGe => Op::ULe,
            Op::FLt => Op::FGt,
            Op::FLe => Op::FGe,
            Op::FGt => Op::FLt,
            Op::FGe => Op::FLe,
            op => op,
        }
    }
}

fn ints(x: &[u64], f: fn(i64, i64) -> i64) -> Option<u64> {
    Some(f(x[0] as i64, x[1] as i64) as u64)
}

fn divide(x: &[u64], f: fn(i64, i64) -> i64) -> Option<u64> {
    if x[1] == 0 { None } else { ints(x, f) }
}

fn compare(x: &[u64], f: fn(i64, i64) -> bool) -> Option<u64> {
    Some(u64::from(f(x[0] as i64, x[1] as i64)))
}

fn float(x: &[u64], f: fn(f64) -> f64) -> Option<u64> {
    Some(f(f64::from_bits(x[0])).to_bits())
}

fn floats(x: &[u64], f: fn(f64, f64) -> f64) -> Option<u64> {
    Some(f(f64::from_bits(x[0]), f64::from_bits(x[1])).to_bits())
}

fn fcompare(x: &[u64], f: fn(f64, f64) -> bool) -> Option<u64> {
    Some(u64::from(f(f64::from_bits(x[0]), f64::from_bits(x[1]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toyjit_runtime::Rt;

    #[test]
    fn names_are_unique() {
        for &op in Op::ALL {
            assert_eq!(Op::from_name(op.info().name), Some(op));
            assert_eq!(op.info().imm, op.info().imm_kind != ImmKind::None);
        }
    }

    #[test]
    fn rows_of_the_runtime_have_their_effects() {
        assert_eq!(Effects::of_row(Rt::Sin as u64), Effects::NONE);
        assert_eq!(Effects::of_row(Rt::Clock as u64), Effects::IO);
        assert!(Effects::of_row(Rt::ArrayPushInt as u64).has(Effects::WRITES));
        assert!(!Effects::of_row(Rt::Exit as u64).removable());
        assert_eq!(Effects::of_row(u64::MAX), Effects::ALL);
    }
}
