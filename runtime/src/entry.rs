//! The table of entry points: what machine code and the interpreters call, one row each.
//!
//! A row gives the name, the parameters and the result, the effects, and the function that does it.
//! From it come the row's number in `Rt`, its description in [`ENTRIES`], a function in the System V
//! convention for machine code (the context first, where the row takes it; then ints, bools and
//! references as words, floats as `f64`), and a function on words for interpreters.
//!
//! A `runtime` row may stop the run. Its machine-code form then notes why and where and leaves the
//! Toy code for good: no frame is unwound, so it drops all that it owns first. A Rust panic is caught
//! at the same place and becomes a fault. A `pure` row touches nothing but its arguments and immutable
//! strings, never stops, and takes no context.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::bril;
use crate::context::{Context, ENTRY_TABLE};
use crate::heap::Zeroing;
use crate::host::discard;
use crate::layout::Slot;
use crate::math;
use crate::runtime::Runtime;
use crate::stack::leave;
use crate::strings::{parse_float, parse_int, str_cmp, str_eq};
use crate::trap::{Stop, Trap};

/// How a parameter or result is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abi {
    /// A word in a general register.
    Int,
    /// An `f64` in a vector register.
    Float,
    /// 0 or 1 in a general register.
    Bool,
    /// A reference in a general register.
    Ref,
}

/// What a call may do besides giving its result; nothing for a pure function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects(u8);

impl Effects {
    /// Nothing.
    pub const NONE: Effects = Effects(0);
    /// Reads objects that can change.
    pub const READS: Effects = Effects(1);
    /// Changes objects that can be seen.
    pub const WRITES: Effects = Effects(2);
    /// Allocates, so that everything may move: a safepoint.
    pub const ALLOCATES: Effects = Effects(4);
    /// May end the run, so that the place in the source is asked for.
    pub const TRAPS: Effects = Effects(8);
    /// Reads or writes outside the program.
    pub const IO: Effects = Effects(16);
    /// Never returns.
    pub const DIVERGES: Effects = Effects(32);

    /// Both.
    pub const fn and(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }

    /// Whether all of `other` is among these.
    pub const fn contains(self, other: Effects) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there are none.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// The description of an entry point.
#[derive(Debug)]
pub struct EntryPoint {
    /// Its name.
    pub name: &'static str,
    /// Its parameters, without the context.
    pub params: &'static [Abi],
    /// Its result.
    pub result: Option<Abi>,
    /// Its effects.
    pub effects: Effects,
    /// Whether the context's address comes before the parameters.
    pub takes_context: bool,
    /// The address of its machine-code form.
    pub address: fn() -> u64,
    /// Its form for interpreters: arguments and result as words (floats as their bits).
    pub call: fn(&mut Runtime, &[u64]) -> Result<u64, Stop>,
}

impl Rt {
    /// The description.
    #[inline]
    pub fn entry(self) -> &'static EntryPoint {
        &ENTRIES[self as usize]
    }

    /// Where the context holds the address.
    #[inline]
    pub const fn offset(self) -> u64 {
        ENTRY_TABLE + 8 * self as u64
    }

    /// The entry point with this name.
    pub fn named(name: &str) -> Option<Rt> {
        Rt::ALL.iter().copied().find(|rt| rt.entry().name == name)
    }
}

/// The Rust types of the table's parameters and results.
mod abi {
    pub(super) type Int = i64;
    pub(super) type Float = f64;
    pub(super) type Bool = bool;
    pub(super) type Ref = u64;
    pub(super) type Unit = ();
    pub(super) type Never = std::convert::Infallible;
}

/// A parameter or result: as a word, and as machine code passes it.
trait Value: Sized {
    type Machine;
    const ABI: Option<Abi>;
    fn from_word(word: u64) -> Self;
    fn into_word(self) -> u64;
    fn from_machine(machine: Self::Machine) -> Self;
    fn into_machine(self) -> Self::Machine;
}

macro_rules! values {
    ($($type:ty = $abi:expr, $machine:ty: $from_word:expr, $into_word:expr, $from:expr, $into:expr;)+) => {$(
        impl Value for $type {
            type Machine = $machine;
            const ABI: Option<Abi> = $abi;
            #[inline(always)]
            fn from_word(word: u64) -> Self {
                let convert: fn(u64) -> Self = $from_word;
                convert(word)
            }
            #[inline(always)]
            fn into_word(self) -> u64 {
                let convert: fn(Self) -> u64 = $into_word;
                convert(self)
            }
            #[inline(always)]
            fn from_machine(machine: $machine) -> Self {
                let convert: fn($machine) -> Self = $from;
                convert(machine)
            }
            #[inline(always)]
            fn into_machine(self) -> $machine {
                let convert: fn(Self) -> $machine = $into;
                convert(self)
            }
        }
    )+};
}

values! {
    i64 = Some(Abi::Int), i64: |w| w as i64, |v| v as u64, |m| m, |v| v;
    f64 = Some(Abi::Float), f64: f64::from_bits, f64::to_bits, |m| m, |v| v;
    bool = Some(Abi::Bool), u64: |w| w != 0, u64::from, |m| m != 0, u64::from;
    u64 = Some(Abi::Ref), u64: |w| w, |v| v, |m| m, |v| v;
    () = None, (): |_| (), |()| 0, |()| (), |()| ();
}

impl Value for Infallible {
    type Machine = ();
    const ABI: Option<Abi> = None;
    fn from_word(_: u64) -> Self {
        unreachable!("no parameter is of this type")
    }
    fn into_word(self) -> u64 {
        match self {}
    }
    fn from_machine((): ()) -> Self {
        unreachable!("no parameter is of this type")
    }
    fn into_machine(self) {
        match self {}
    }
}

/// Does the work of a `runtime` row for machine code.
///
/// # Safety
/// Called from Toy code that `Runtime::enter` called, with its context, through frames that own
/// nothing.
#[inline(always)]
unsafe fn guarded<T: Value>(
    context: *mut Context,
    work: impl FnOnce(&mut Runtime) -> Result<T, Stop>,
) -> T::Machine {
    // SAFETY: `enter` set the pointer, and touches the runtime again only when Toy code has ended.
    let runtime = unsafe { &mut *(*context).runtime };
    match catch_unwind(AssertUnwindSafe(|| work(&mut *runtime))) {
        Ok(Ok(value)) => value.into_machine(),
        Ok(Err(stop)) => {
            runtime.raise(stop);
            // SAFETY: told above; everything owned here has been given away.
            unsafe { leave(context) }
        }
        Err(panic) => {
            runtime.raise(fault(panic));
            // SAFETY: the same.
            unsafe { leave(context) }
        }
    }
}

#[cold]
fn fault(panic: Box<dyn std::any::Any + Send>) -> Stop {
    let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(message), _) => message,
        (None, Some(message)) => message.as_str(),
        (None, None) => "a panic without a message",
    };
    let stop = Stop::Fault(message.to_owned());
    discard(panic);
    stop
}

macro_rules! entries {
    (@address runtime ($($param:ident: $type:ident)*) $result:ident $inner:expr) => {{
        extern "C" fn shim(
            context: *mut Context,
            $($param: <abi::$type as Value>::Machine),*
        ) -> <abi::$result as Value>::Machine {
            // SAFETY: only Toy code calls this function, with its context.
            unsafe {
                guarded::<abi::$result>(context, |runtime| {
                    $inner(runtime, $(Value::from_machine($param)),*)
                })
            }
        }
        || shim as *const () as u64
    }};
    (@address pure ($($param:ident: $type:ident)*) $result:ident $inner:expr) => {{
        extern "C" fn shim(
            $($param: <abi::$type as Value>::Machine),*
        ) -> <abi::$result as Value>::Machine {
            let result: abi::$result = $inner($(Value::from_machine($param)),*);
            result.into_machine()
        }
        || shim as *const () as u64
    }};
    (@call runtime $runtime:ident ($($param:ident)*) $result:ident $inner:expr) => {{
        let result: Result<abi::$result, Stop> = $inner($runtime, $(Value::from_word($param)),*);
        result.map(Value::into_word)
    }};
    (@call pure $runtime:ident ($($param:ident)*) $result:ident $inner:expr) => {{
        let _ = $runtime;
        let result: abi::$result = $inner($(Value::from_word($param)),*);
        Ok(result.into_word())
    }};
    (@context runtime) => { true };
    (@context pure) => { false };
    ($(
        $(#[$doc:meta])*
        $variant:ident = $name:literal $kind:ident ($($param:ident: $type:ident),*) -> $result:ident
            [$($effect:ident)*] $inner:expr;
    )+) => {
        /// The entry points, by number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Rt {
            $($(#[$doc])* $variant,)+
        }

        impl Rt {
            /// All entry points in order.
            pub const ALL: &[Rt] = &[$(Rt::$variant),+];
        }

        /// How many entry points there are.
        pub const ENTRY_COUNT: usize = [$($name),+].len();

        /// The descriptions, in the order of `Rt`.
        pub static ENTRIES: [EntryPoint; ENTRY_COUNT] = [$(EntryPoint {
            name: $name,
            params: &[$(Abi::$type),*],
            result: <abi::$result as Value>::ABI,
            effects: Effects::NONE$(.and(Effects::$effect))*,
            takes_context: entries!(@context $kind),
            address: entries!(@address $kind ($($param: $type)*) $result $inner),
            call: |runtime, arguments| {
                let &[$($param),*] = arguments else {
                    return Err(Stop::Fault(format!("wrong number of arguments for {}", $name)));
                };
                entries!(@call $kind runtime ($($param)*) $result $inner)
            },
        }),+];
    };
}

entries! {
    /// Allocates `size` bytes and writes the header (give a type id), which may get more bits: the
    /// caller writes every other word before its next call, and leaves the header alone.
    AllocSlow = "alloc_slow" runtime (size: Int, header: Int) -> Ref [ALLOCATES TRAPS]
        |rt: &mut Runtime, size: i64, header: i64| {
            rt.allocate(size as u64, header as u64, Zeroing::No)
        };
    /// Puts an old object into the remembered set: the slow path of the write barrier.
    Remember = "remember" runtime (object: Ref) -> Unit []
        |rt: &mut Runtime, object: u64| {
            rt.barrier(object);
            Ok(())
        };

    /// Uses up a unit of fuel; traps where there is none.
    Burn = "burn" runtime () -> Unit [IO TRAPS] Runtime::burn;

    /// Prints an int or a byte.
    PrintInt = "print_int" runtime (value: Int) -> Unit [IO TRAPS] Runtime::print_int;
    /// Prints a float.
    PrintFloat = "print_float" runtime (value: Float) -> Unit [IO TRAPS] Runtime::print_float;
    /// Prints a bool.
    PrintBool = "print_bool" runtime (value: Bool) -> Unit [IO TRAPS] Runtime::print_bool;
    /// Prints any reference.
    PrintRef = "print_ref" runtime (value: Ref) -> Unit [READS IO TRAPS] Runtime::print_ref;
    /// Prints a space.
    PrintSpace = "print_space" runtime () -> Unit [IO TRAPS] Runtime::print_space;
    /// Prints a newline.
    PrintNewline = "print_newline" runtime () -> Unit [IO TRAPS] Runtime::print_newline;

    /// `str` of an int or a byte.
    StrOfInt = "str_of_int" runtime (value: Int) -> Ref [ALLOCATES TRAPS] Runtime::str_of_int;
    /// `str` of a float.
    StrOfFloat = "str_of_float" runtime (value: Float) -> Ref [ALLOCATES TRAPS]
        Runtime::str_of_float;
    /// `str` of a bool.
    StrOfBool = "str_of_bool" runtime (value: Bool) -> Ref [ALLOCATES TRAPS] Runtime::str_of_bool;
    /// `str` of any reference.
    StrOfRef = "str_of_ref" runtime (value: Ref) -> Ref [READS ALLOCATES TRAPS]
        Runtime::str_of_ref;

    /// `a + b` on strings.
    StrConcat = "str_concat" runtime (a: Ref, b: Ref) -> Ref [ALLOCATES TRAPS]
        Runtime::str_concat;
    /// Whether two strings are equal; either may be nil.
    StrEq = "str_eq" pure (a: Ref, b: Ref) -> Bool [] str_eq;
    /// -1, 0 or 1.
    StrCmp = "str_cmp" pure (a: Ref, b: Ref) -> Int [] str_cmp;
    /// `slice` of a string.
    StrSlice = "str_slice" runtime (string: Ref, from: Int, to: Int) -> Ref [ALLOCATES TRAPS]
        Runtime::str_slice;
    /// `slice` of an array.
    ArraySlice = "array_slice" runtime (array: Ref, from: Int, to: Int) -> Ref
        [READS ALLOCATES TRAPS] Runtime::array_slice;
    /// `to_bytes`
    ToBytes = "to_bytes" runtime (string: Ref) -> Ref [ALLOCATES TRAPS] Runtime::to_bytes;
    /// `from_bytes`
    FromBytes = "from_bytes" runtime (array: Ref) -> Ref [READS ALLOCATES TRAPS]
        Runtime::from_bytes;

    /// A new array of zeros, with elements of the kind of this number.
    ArrayNew = "array_new" runtime (slot: Int, len: Int) -> Ref [ALLOCATES TRAPS]
        |rt: &mut Runtime, slot: i64, len: i64| rt.array_new(Slot::from_number(slot as u64), len);
    /// `[value; count]` of ints, bools or bytes.
    ArrayFillInt = "array_fill_int" runtime (slot: Int, value: Int, count: Int) -> Ref
        [ALLOCATES TRAPS]
        |rt: &mut Runtime, slot: i64, value: i64, count: i64| {
            rt.array_fill(Slot::from_number(slot as u64), value as u64, count)
        };
    /// `[value; count]` of floats.
    ArrayFillFloat = "array_fill_float" runtime (value: Float, count: Int) -> Ref [ALLOCATES TRAPS]
        |rt: &mut Runtime, value: f64, count: i64| {
            rt.array_fill(Slot::Float, value.to_bits(), count)
        };
    /// `[value; count]` of references.
    ArrayFillRef = "array_fill_ref" runtime (value: Ref, count: Int) -> Ref [ALLOCATES TRAPS]
        |rt: &mut Runtime, value: u64, count: i64| rt.array_fill(Slot::Ref, value, count);
    /// `push` of an int, bool or byte.
    ArrayPushInt = "array_push_int" runtime (array: Ref, value: Int) -> Unit
        [READS WRITES ALLOCATES TRAPS]
        |rt: &mut Runtime, array: u64, value: i64| rt.array_push(array, value as u64);
    /// `push` of a float.
    ArrayPushFloat = "array_push_float" runtime (array: Ref, value: Float) -> Unit
        [READS WRITES ALLOCATES TRAPS]
        |rt: &mut Runtime, array: u64, value: f64| rt.array_push(array, value.to_bits());
    /// `push` of a reference.
    ArrayPushRef = "array_push_ref" runtime (array: Ref, value: Ref) -> Unit
        [READS WRITES ALLOCATES TRAPS] Runtime::array_push;
    /// `pop` of an int, bool or byte.
    ArrayPopInt = "array_pop_int" runtime (array: Ref) -> Int [READS WRITES TRAPS]
        |rt: &mut Runtime, array: u64| rt.array_pop(array).map(|word| word as i64);
    /// `pop` of a float.
    ArrayPopFloat = "array_pop_float" runtime (array: Ref) -> Float [READS WRITES TRAPS]
        |rt: &mut Runtime, array: u64| rt.array_pop(array).map(f64::from_bits);
    /// `pop` of a reference.
    ArrayPopRef = "array_pop_ref" runtime (array: Ref) -> Ref [READS WRITES TRAPS]
        Runtime::array_pop;

    /// Sets `count` elements of a buffer of bools or bytes from an index on, all in bounds.
    FillBytes = "fill_bytes" runtime (data: Ref, from: Int, count: Int, value: Int) -> Unit
        [WRITES TRAPS] Runtime::fill_bytes;
    /// The same for ints.
    FillInts = "fill_ints" runtime (data: Ref, from: Int, count: Int, value: Int) -> Unit
        [WRITES TRAPS]
        |rt: &mut Runtime, data: u64, from: i64, count: i64, value: i64| {
            rt.fill_words(data, from, count, value as u64)
        };
    /// The same for floats.
    FillFloats = "fill_floats" runtime (data: Ref, from: Int, count: Int, value: Float) -> Unit
        [WRITES TRAPS]
        |rt: &mut Runtime, data: u64, from: i64, count: i64, value: f64| {
            rt.fill_words(data, from, count, value.to_bits())
        };
    /// Copies elements of a buffer of bools or bytes, the first one first, all in bounds.
    CopyBytes = "copy_bytes" runtime (to: Ref, at: Int, from: Ref, first: Int, count: Int) -> Unit
        [READS WRITES TRAPS]
        |rt: &mut Runtime, to: u64, at: i64, from: u64, first: i64, count: i64| {
            rt.copy_elements(0, (to, at), (from, first), count)
        };
    /// The same for ints and floats.
    CopyWords = "copy_words" runtime (to: Ref, at: Int, from: Ref, first: Int, count: Int) -> Unit
        [READS WRITES TRAPS]
        |rt: &mut Runtime, to: u64, at: i64, from: u64, first: i64, count: i64| {
            rt.copy_elements(3, (to, at), (from, first), count)
        };

    /// e to the power of x.
    Exp = "exp" pure (x: Float) -> Float [] math::exp;
    /// Natural logarithm.
    Ln = "ln" pure (x: Float) -> Float [] math::ln;
    /// Logarithm to base 2.
    Log2 = "log2" pure (x: Float) -> Float [] math::log2;
    /// Logarithm to base 10.
    Log10 = "log10" pure (x: Float) -> Float [] math::log10;
    /// Sine.
    Sin = "sin" pure (x: Float) -> Float [] math::sin;
    /// Cosine.
    Cos = "cos" pure (x: Float) -> Float [] math::cos;
    /// Tangent.
    Tan = "tan" pure (x: Float) -> Float [] math::tan;
    /// Arc sine.
    Asin = "asin" pure (x: Float) -> Float [] math::asin;
    /// Arc cosine.
    Acos = "acos" pure (x: Float) -> Float [] math::acos;
    /// Arc tangent.
    Atan = "atan" pure (x: Float) -> Float [] math::atan;
    /// x to the power of y.
    Pow = "pow" pure (x: Float, y: Float) -> Float [] math::pow;
    /// The angle of the point (x, y).
    Atan2 = "atan2" pure (y: Float, x: Float) -> Float [] math::atan2;
    /// To the nearest integer, halves away from zero.
    Round = "round" pure (x: Float) -> Float [] math::round;
    /// `x % y`
    Fmod = "fmod" pure (x: Float, y: Float) -> Float [] math::fmod;
    /// Down to an integer.
    Floor = "floor" pure (x: Float) -> Float [] math::floor;
    /// Up to an integer.
    Ceil = "ceil" pure (x: Float) -> Float [] math::ceil;
    /// The integer part.
    Trunc = "trunc" pure (x: Float) -> Float [] math::trunc;
    /// `int` of a float.
    FloatToInt = "float_to_int" pure (x: Float) -> Int [] math::float_to_int;

    /// `parse_int`
    ParseInt = "parse_int" pure (string: Ref, or: Int) -> Int [] parse_int;
    /// `parse_float`
    ParseFloat = "parse_float" pure (string: Ref, or: Float) -> Float [] parse_float;
    /// `read_line`
    ReadLine = "read_line" runtime () -> Ref [IO ALLOCATES TRAPS] Runtime::read_line;
    /// `args`
    Args = "args" runtime () -> Ref [ALLOCATES TRAPS] Runtime::program_args;
    /// `clock`
    Clock = "clock" runtime () -> Float [IO]
        |rt: &mut Runtime| Ok(rt.started.elapsed().as_secs_f64());

    /// The bits of a float.
    FloatBits = "float_bits" pure (x: Float) -> Int [] |x: f64| x.to_bits() as i64;
    /// The float of these bits.
    FloatOfBits = "float_of_bits" pure (bits: Int) -> Float [] |bits: i64| f64::from_bits(bits as u64);

    /// Prints a float as Bril does.
    PrintBrilFloat = "print_bril_float" runtime (value: Float) -> Unit [IO TRAPS]
        Runtime::print_bril_float;
    /// Prints a character.
    PrintChar = "print_char" runtime (value: Int) -> Unit [IO TRAPS] Runtime::print_char;
    /// The operand, which must be a Unicode scalar value.
    CharOf = "char_of" runtime (value: Int) -> Int [TRAPS]
        |_: &mut Runtime, value: i64| bril::char_of(value);
    /// Traps unless the program was given so many arguments.
    BrilArgs = "bril_args" runtime (count: Int) -> Unit [TRAPS] Runtime::bril_args;
    /// The bits of an argument of the kind of this number.
    BrilArg = "bril_arg" runtime (kind: Int, index: Int) -> Int [TRAPS] Runtime::bril_arg;
    /// The buffer of a new region with elements of the kind of this number.
    RegionNew = "region_new" runtime (slot: Int, len: Int) -> Ref [ALLOCATES TRAPS]
        |rt: &mut Runtime, slot: i64, len: i64| rt.region_new(Slot::from_number(slot as u64), len);
    /// The buffer for the indices of a region of pointers.
    RegionOffsets = "region_offsets" runtime (len: Int) -> Ref [ALLOCATES TRAPS]
        Runtime::region_offsets;
    /// Notes that a region of this length is freed through a pointer with this index.
    RegionFree = "region_free" runtime (region: Ref, index: Int, len: Int) -> Unit [IO TRAPS]
        Runtime::region_free;
    /// Traps where a region has not been freed.
    RegionLeaks = "region_leaks" runtime () -> Unit [IO TRAPS] Runtime::region_leaks;
    /// Traps unless an element may be loaded.
    RegionRead = "region_read" runtime (region: Ref, index: Int) -> Unit [READS TRAPS]
        Runtime::region_read;
    /// Traps unless an element may be stored, and notes that it is.
    RegionWrite = "region_write" runtime (region: Ref, index: Int) -> Unit [READS WRITES TRAPS]
        Runtime::region_write;

    /// A failed `assert`; the message may be nil.
    AssertFail = "assert_fail" runtime (message: Ref) -> Never [TRAPS DIVERGES]
        |rt: &mut Runtime, message: u64| {
            let message = (message != 0).then(|| rt.str_bytes(message).to_vec());
            Err(Trap::Assertion(message).into())
        };
    /// `panic`
    Panic = "panic" runtime (message: Ref) -> Never [TRAPS DIVERGES]
        |rt: &mut Runtime, message: u64| Err(Trap::Panic(rt.str_bytes(message).to_vec()).into());
    /// `exit`
    Exit = "exit" runtime (code: Int) -> Never [TRAPS DIVERGES]
        |_: &mut Runtime, code: i64| Err(Stop::Exit((code & 0xFF) as i32));
    /// The index trap.
    TrapIndex = "trap_index" runtime (index: Int, len: Int) -> Never [TRAPS DIVERGES]
        |_: &mut Runtime, index: i64, len: i64| Err(Trap::Index { index, len: len as u64 }.into());
    /// The nil trap.
    TrapNil = "trap_nil" runtime () -> Never [TRAPS DIVERGES]
        |_: &mut Runtime| Err(Trap::Nil.into());
    /// The division trap.
    TrapDivision = "trap_division" runtime () -> Never [TRAPS DIVERGES]
        |_: &mut Runtime| Err(Trap::Division.into());
    /// The stack trap, or the end of a run that was interrupted.
    TrapStack = "trap_stack" runtime () -> Never [TRAPS DIVERGES]
        |rt: &mut Runtime| Err(rt.interrupted().unwrap_or(Trap::Stack).into());
    /// The end of the fuel, which machine code saw.
    TrapFuel = "trap_fuel" runtime () -> Never [TRAPS DIVERGES]
        |rt: &mut Runtime| {
            rt.set_fuel(0);
            Err(Trap::Fuel.into())
        };
    /// The end of a run that was interrupted.
    TrapInterrupt = "trap_interrupt" runtime () -> Never [TRAPS DIVERGES]
        |rt: &mut Runtime| Err(rt.interrupted().unwrap_or(Trap::Interrupted).into());
}
