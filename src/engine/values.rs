//! Rust values as Toy values: `i64` is an int, `f64` a float, `bool` a bool, `u8` a byte, `String` (and
//! `&str` as an argument) a str, whose bytes are copied. `()` is the result of a function without one.

use crate::sema::hir::Ty;
use toyjit_runtime::{Results, Runtime, Stop};

/// A Rust value that can be an argument.
pub trait Argument: sealed::Argument {}

/// A Rust value that can be a result.
pub trait Returned: sealed::Returned {}

/// A tuple of up to six arguments.
pub trait Arguments: sealed::Arguments {}

impl<T: sealed::Argument> Argument for T {}
impl<T: sealed::Returned> Returned for T {}
impl<T: sealed::Arguments> Arguments for T {}

/// Arguments on their way into registers. References wait as roots, since making the next argument
/// may move them.
#[derive(Default)]
pub struct Passing {
    words: Vec<Word>,
    floats: Vec<f64>,
}

enum Word {
    Plain(u64),
    Root(usize),
}

impl Passing {
    /// The registers, when all arguments are there.
    pub(super) fn registers(&self, runtime: &Runtime) -> toyjit_runtime::Arguments {
        let mut arguments = toyjit_runtime::Arguments::default();
        for (register, word) in arguments.words.iter_mut().zip(&self.words) {
            *register = match *word {
                Word::Plain(word) => word,
                Word::Root(index) => runtime.roots.get(index),
            };
        }
        for (register, &float) in arguments.floats.iter_mut().zip(&self.floats) {
            *register = float;
        }
        arguments
    }
}

pub(super) mod sealed {
    use super::{Passing, Results, Runtime, Stop, Ty, Word};

    pub trait Argument {
        const TYPE: Ty;
        fn pass(self, to: &mut Passing, runtime: &mut Runtime) -> Result<(), Stop>;
    }

    pub trait Returned: Sized {
        const TYPE: Ty;
        fn take(results: Results, runtime: &Runtime) -> Self;
    }

    pub trait Arguments {
        fn types() -> Vec<Ty>;
        fn pass(self, runtime: &mut Runtime) -> Result<Passing, Stop>;
    }

    /// Arguments on their way out of registers.
    pub struct Taking<'a> {
        arguments: &'a toyjit_runtime::Arguments,
        words: usize,
        floats: usize,
    }

    impl<'a> Taking<'a> {
        pub fn new(arguments: &'a toyjit_runtime::Arguments) -> Self {
            Self { arguments, words: 0, floats: 0 }
        }

        fn word(&mut self) -> u64 {
            self.words += 1;
            self.arguments.words[self.words - 1]
        }

        fn float(&mut self) -> f64 {
            self.floats += 1;
            self.arguments.floats[self.floats - 1]
        }
    }

    /// What a host function may take.
    pub trait Taken: Sized {
        const TYPE: Ty;
        fn take(from: &mut Taking<'_>, runtime: &Runtime) -> Self;
    }

    /// What a host function may give as it is.
    pub trait Given {
        fn give(self, runtime: &mut Runtime) -> Result<Results, Stop>;
    }

    pub trait HostResult {
        const TYPE: Ty;
        fn give(self, runtime: &mut Runtime) -> Result<Results, Stop>;
    }

    pub trait HostFunction<A, R>: Send + Sync + 'static {
        fn types() -> (Vec<Ty>, Ty);
        fn call(
            &self,
            runtime: &mut Runtime,
            arguments: &toyjit_runtime::Arguments,
        ) -> Result<Results, Stop>;
    }

    macro_rules! words {
        ($($rust:ty, $toy:ident, $from:expr;)+) => {$(
            impl Argument for $rust {
                const TYPE: Ty = Ty::$toy;
                fn pass(self, to: &mut Passing, _: &mut Runtime) -> Result<(), Stop> {
                    to.words.push(Word::Plain(self as u64));
                    Ok(())
                }
            }

            impl Returned for $rust {
                const TYPE: Ty = Ty::$toy;
                fn take(results: Results, _: &Runtime) -> Self {
                    let from: fn(u64) -> $rust = $from;
                    from(results.word)
                }
            }

            impl Taken for $rust {
                const TYPE: Ty = Ty::$toy;
                fn take(from: &mut Taking<'_>, _: &Runtime) -> Self {
                    let convert: fn(u64) -> $rust = $from;
                    convert(from.word())
                }
            }

            impl Given for $rust {
                fn give(self, _: &mut Runtime) -> Result<Results, Stop> {
                    Ok(Results { word: self as u64, ..Results::default() })
                }
            }
        )+};
    }

    words! {
        i64, INT, |word| word as i64;
        bool, BOOL, |word| word != 0;
        u8, BYTE, |word| word as u8;
    }

    impl Argument for f64 {
        const TYPE: Ty = Ty::FLOAT;
        fn pass(self, to: &mut Passing, _: &mut Runtime) -> Result<(), Stop> {
            to.floats.push(self);
            Ok(())
        }
    }

    impl Returned for f64 {
        const TYPE: Ty = Ty::FLOAT;
        fn take(results: Results, _: &Runtime) -> Self {
            results.float
        }
    }

    impl Taken for f64 {
        const TYPE: Ty = Ty::FLOAT;
        fn take(from: &mut Taking<'_>, _: &Runtime) -> Self {
            from.float()
        }
    }

    impl Given for f64 {
        fn give(self, _: &mut Runtime) -> Result<Results, Stop> {
            Ok(Results { float: self, ..Results::default() })
        }
    }

    impl Taken for String {
        const TYPE: Ty = Ty::STR;
        fn take(from: &mut Taking<'_>, runtime: &Runtime) -> Self {
            String::from_utf8_lossy(runtime.str_bytes(from.word())).into_owned()
        }
    }

    impl Given for String {
        fn give(self, runtime: &mut Runtime) -> Result<Results, Stop> {
            let word = runtime.new_str(self.as_bytes())?;
            Ok(Results { word, ..Results::default() })
        }
    }

    impl Given for () {
        fn give(self, _: &mut Runtime) -> Result<Results, Stop> {
            Ok(Results::default())
        }
    }

    impl Argument for &str {
        const TYPE: Ty = Ty::STR;
        fn pass(self, to: &mut Passing, runtime: &mut Runtime) -> Result<(), Stop> {
            let string = runtime.new_str(self.as_bytes())?;
            to.words.push(Word::Root(runtime.roots.push(string)));
            Ok(())
        }
    }

    impl Argument for String {
        const TYPE: Ty = Ty::STR;
        fn pass(self, to: &mut Passing, runtime: &mut Runtime) -> Result<(), Stop> {
            self.as_str().pass(to, runtime)
        }
    }

    /// Bytes that are not UTF-8 become U+FFFD.
    impl Returned for String {
        const TYPE: Ty = Ty::STR;
        fn take(results: Results, runtime: &Runtime) -> Self {
            String::from_utf8_lossy(runtime.str_bytes(results.word)).into_owned()
        }
    }

    impl Returned for () {
        const TYPE: Ty = Ty::UNIT;
        fn take(_: Results, _: &Runtime) -> Self {}
    }

    macro_rules! tuples {
        ($(($($name:ident)*))+) => {$(
            impl<$($name: Argument),*> Arguments for ($($name,)*) {
                fn types() -> Vec<Ty> {
                    vec![$($name::TYPE),*]
                }

                #[allow(non_snake_case, unused_variables)]
                fn pass(self, runtime: &mut Runtime) -> Result<Passing, Stop> {
                    let ($($name,)*) = self;
                    #[allow(unused_mut)]
                    let mut to = Passing::default();
                    $($name.pass(&mut to, runtime)?;)*
                    Ok(to)
                }
            }

            impl<$($name: Taken,)* R: HostResult, Call> HostFunction<($($name,)*), R> for Call
            where
                Call: Fn($($name),*) -> R + Send + Sync + 'static,
            {
                fn types() -> (Vec<Ty>, Ty) {
                    (vec![$($name::TYPE),*], R::TYPE)
                }

                #[allow(non_snake_case, unused_mut, unused_variables)]
                fn call(
                    &self,
                    runtime: &mut Runtime,
                    arguments: &toyjit_runtime::Arguments,
                ) -> Result<Results, Stop> {
                    let mut from = Taking::new(arguments);
                    $(let $name = $name::take(&mut from, runtime);)*
                    self($($name),*).give(runtime)
                }
            }
        )+};
    }

    tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }
}
