//! Seeded faults: compilers and runtimes that are wrong on purpose, to show that the tests can fail.
//!
//! With the feature `seeded-faults` a process may be given one of them ([`install`]), and the place
//! where it belongs asks [`is`]. Without the feature the answer is always no, at compile time, and
//! nothing of it is left in the program. `toyjit-fuzz faults` tells which are found, and how.

#[cfg(feature = "seeded-faults")]
use std::sync::atomic::{AtomicUsize, Ordering};

macro_rules! faults {
    ($($name:ident: $about:literal,)*) => {
        /// A fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $(#[doc = $about] $name,)*
        }

        impl Fault {
            /// All of them.
            pub const ALL: &[Fault] = &[$(Fault::$name),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Fault::$name => stringify!($name)),* }
            }

            /// What is wrong.
            pub fn about(self) -> &'static str {
                match self { $(Fault::$name => $about),* }
            }
        }
    };
}

faults! {
    FoldAddZero: "`x + 0.0` becomes `x`",
    FoldInverse: "division by any float becomes a multiplication",
    FoldShiftCount: "a shift by 64 or more gives 0",
    FoldRemMask: "`x % 2^k` becomes `x & (2^k - 1)` for negative `x` too",
    FoldDivShift: "`x / 2^k` becomes `x >> k` for negative `x` too",
    FoldNotLess: "`!(x < y)` becomes `x >= y` on floats",
    FoldSubNeg: "`x - (-y)` becomes `x - y`",
    FoldCompareWraps: "`x + 1 < k` becomes `x < k - 1`",
    FoldSelectNot: "a selection by `!c` becomes one by `c`, its sides as they were",
    FoldBoundsTwice: "an index checked against one length passes against any",
    GvnAcrossStores: "a load finds what was there before a store",
    GvnAcrossCalls: "a load finds what was there before a call",
    SummaryFields: "a called function is taken to write no fields",
    GvnAcrossJoins: "a load behind a join finds what one branch stored",
    GvnSwapKeepsOp: "`x < y` and `y < x` have one number",
    GvnAssume: "behind a branch its comparison is taken to have failed",
    GvnScope: "what one branch computed is found in the other",
    GvnFields: "all fields of an object are one",
    PrePastTraps: "a pure call moves up past what may trap",
    SccpOneEdge: "where a test is not known, its second edge is not taken",
    SccpNoWrap: "ranges end at the ends of int instead of wrapping",
    SccpProducts: "a product lies between the products of the lower and of the upper ends",
    SccpRemSign: "a remainder is never negative",
    SccpLessOrEqual: "behind `x <= y`, `x` is below `y`",
    RegionLength: "an element of a region that was never stored may be loaded",
    RegionSigned: "an index before a region's first element passes",
    BoundsOffByOne: "an index that may be the length passes",
    BoundsWrap: "sums in the proof of an index are taken not to wrap",
    BoundsGrow: "an index that grows in a loop passes",
    RangeTestEnd: "the test of a range takes one more in",
    DemandCarry: "a bit of a sum is taken to depend on no lower ones",
    RegroupDrops: "a regrouped sum loses what goes round",
    PromoteCalls: "a called function is taken not to read what is kept in a register",
    PromoteKeeps: "of the places kept in registers only the first is stored when the loop is left",
    InlineCaptures: "where a function value is inlined, all that it captured is the first of it",
    UnusedClosures: "a function that only closures lead to is left out",
    PhiOfOpsAlike: "a join takes the results of steps by other constants for its own",
    UnrollShort: "a loop that is unrolled goes round once too little",
    PartialLate: "a loop that goes several rounds at a time does so one round too long",
    PeelLeaves: "a loop whose first round was peeled is left behind it",
    ScalarTwoNames: "an object that has another name behind a join keeps its fields under the old one",
    ArraysFirst: "the elements of a small array behind the second one are the second one",
    SplitSpread: "of indices that differ by constants, only the least is kept in bounds",
    SplitLate: "the part of a loop without checks runs once too often",
    SplitFactor: "factors of indices are taken to be small",
    StrengthSlope: "a product that is added up grows as if its counter did by one",
    StrengthFirst: "a product that is added up begins without the other parts of its sum",
    BulkLast: "the runtime fills one element more than the loop does before its last round",
    BulkOverlap: "a copy takes elements as they were before it began",
    DeadStoreRead: "a store is left out that is read before it is overwritten",
    DceChecks: "a division that nobody uses does not trap",
    CleanupWrongWay: "a jump past a known test goes the other way",
    HoistAnyPlace: "a trap that both arms may have is told of the first arm",
    HoistTrapsEarly: "what may trap is computed before output that comes first",
    SwitchBase: "a table of jumps begins one place too high",
    SwitchLast: "the last place of a table of jumps is left out",
    InvertStale: "the copy of a header does not assign what leaks",
    SsaTrivial: "a φ whose second operand differs is trivial",
    LowerInclusive: "`a..=b` leaves out `b` where it is larger than `a`",
    LowerRangeStart: "a pattern's lower end is not asked for",
    LowerByteWraps: "bytes do not wrap",
    LowerByteShift: "a byte's shift count is taken modulo 64",
    LowerAssignOrder: "the right side of an assignment to a field is evaluated before its place",
    LowerNil: "what may be nil is not checked",
    LowerFields: "fields are stored in the order written",
    MovesSequential: "parallel copies are made one after the other",
    SlotsShared: "a slot is free again before its value's last use",
    RootMissing: "references in slots are not told to the collector where they are many",
    SpillNotStored: "a value that leaves its register late is not stored",
    XmmNotSaved: "calls are taken to preserve the upper float registers",
    RemClobbersRax: "a remainder is taken to preserve `rax`",
    R13NotSaved: "`r13` is not saved",
    StackMisaligned: "frames are not aligned to 16 bytes",
    IncomingOffset: "an argument on the stack is looked for 8 bytes too low",
    BoundsSigned: "indices are compared with a sign",
    NoBarrier: "stores into old objects are not remembered",
    BoolDirty: "the upper bits of a bool in a register stay what they were",
    ZeroBetween: "a register is cleared, flags too, between a comparison and its use",
    FloatEqNan: "a selection by `==` takes NaN for equal",
    FloatToIntNan: "`int(NaN)` is the largest int",
    DivMinusOne: "division by -1 is a division like any other",
    TrapPlace: "a trap is told of the place before it",
    MagicOffByOne: "the multiplier for a division is one too large",
    DivNoBias: "division by a power of two rounds down",
    FloatBelow: "`<` on floats holds with NaN",
    ImmediateOffByOne: "2147483648 is taken for an immediate of 32 bits",
    HalfIsWord: "`(x + y) & 0xFFFFFFFF` becomes `x + y`",
    AddressSign: "`a[i - 1]` becomes `a[i + 1]`",
    FusedLoad: "a load moves down past stores and calls of its block",
    PushNoBarrier: "`push` does not remember old arrays",
    GcGlobals: "globals are no roots",
    GcRemembered: "remembered objects are not scanned",
    GcChanged: "what is stored into while the old generation is marked is not scanned again",
}

#[cfg(feature = "seeded-faults")]
static CURRENT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Gives this process a fault.
#[cfg(feature = "seeded-faults")]
pub fn install(fault: Fault) {
    CURRENT.store(fault as usize, Ordering::Relaxed);
}

/// Whether this process has the fault.
#[cfg(feature = "seeded-faults")]
#[inline]
pub fn is(fault: Fault) -> bool {
    CURRENT.load(Ordering::Relaxed) == fault as usize
}

/// Without the feature no process can have a fault.
#[cfg(not(feature = "seeded-faults"))]
pub fn install(_: Fault) {}

/// Without the feature there are no faults.
#[cfg(not(feature = "seeded-faults"))]
#[inline(always)]
pub const fn is(_: Fault) -> bool {
    false
}
