//! Exit codes.

use toyjit::{Stop, Trap};

/// Exit code: the program does not compile.
pub const EXIT_ERRORS: i32 = 1;
/// Exit code: a wrong command line, or a file that can't be read.
pub const EXIT_USAGE: i32 = 2;
/// Exit code: a fault of the compiler itself.
pub const EXIT_FAULT: i32 = 70;
/// Exit code: a trap.
pub const EXIT_TRAP: i32 = 101;
/// Exit code: interrupted.
pub const EXIT_INTERRUPTED: i32 = 130;

/// The exit code of a stop.
pub fn exit_code(stop: &Stop) -> i32 {
    match stop {
        Stop::Trap(Trap::Interrupted) => EXIT_INTERRUPTED,
        Stop::Trap(_) => EXIT_TRAP,
        Stop::Exit(code) => *code,
        Stop::ClosedPipe => 0,
        Stop::Output(_) => EXIT_USAGE,
        Stop::Fault(_) => EXIT_FAULT,
    }
}

/// The exit code of a stop of a Bril program: errors of any kind have that of its interpreters.
pub fn bril_exit_code(stop: &Stop) -> i32 {
    match stop {
        Stop::Trap(trap) if *trap != Trap::Interrupted => EXIT_USAGE,
        stop => exit_code(stop),
    }
}
