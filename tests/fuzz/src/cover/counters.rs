//! How often each piece of code ran, as instrumented code counts it.
//!
//! LLVM's *SanitizerCoverage* with `inline-8bit-counters` gives every edge of the control flow a byte
//! that it counts up, and tells where these bytes are before `main`. Without the instrumentation
//! there are none. The one file of this crate with `unsafe`: the counters are memory that code
//! outside of Rust's rules writes.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static START: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Called before `main` by each instrumented unit, with the counters of the whole program.
// SAFETY: the name is reserved for this, and nothing else in the program has it.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, stop: *mut u8) {
    START.store(start, Ordering::Relaxed);
    LENGTH.store((stop as usize).saturating_sub(start as usize), Ordering::Relaxed);
}

/// How many counters there are.
pub fn len() -> usize {
    LENGTH.load(Ordering::Relaxed)
}

/// Tells of each counter that is not 0, and sets it to 0.
pub fn take(mut each: impl FnMut(usize, u8)) {
    let (start, length) = (START.load(Ordering::Relaxed), len());
    let mut at = 0;
    while at < length {
        // SAFETY: `at` and the bytes up to `at + width` lie in the counters, which live as long as the
        // program; instrumented code of this thread does not run between a read and its write, and
        // what other threads count at that moment may be lost.
        unsafe {
            let here = start.add(at);
            if length - at >= 8 && here.cast::<u64>().read_unaligned() == 0 {
                at += 8;
                continue;
            }
            let count = here.read();
            if count != 0 {
                here.write(0);
                each(at, count);
            }
        }
        at += 1;
    }
}
