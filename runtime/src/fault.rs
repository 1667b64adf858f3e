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
    SubFolded: "`x - y` of constants folds to `y - x`",
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
