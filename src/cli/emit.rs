//! `toyjit emit`: what a stage of the compiler makes of a program.

use super::exit::EXIT_USAGE;
use super::functions::chosen;
use super::run::CompileArgs;
use super::{passes, print, remarks, source};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use toyjit::engine::Language;
use toyjit::inspect::{self, View};
use toyjit::source::Sources;

/// Show what a stage of the compiler makes of a program.
#[derive(Args)]
#[command(after_help = "\
Examples:
  toyjit emit cfg examples/sieve.toy                    three-address code over variables
  toyjit emit ssa examples/sieve.toy -f primes_below    the same in SSA form
  toyjit emit ssa examples/sieve.toy --ssa minimal      as Cytron et al. construct it
  toyjit emit opt examples/sieve.toy --after gvn        after each run of one pass
  toyjit emit asm examples/sieve.toy -O0                the machine code, source lines between
  toyjit emit bril prog.bril -O3 --json                 the optimised program as Bril again")]
pub struct EmitArgs {
    /// The stage.
    #[arg(value_enum, value_name = "STAGE")]
    stage: Stage,

    #[command(flatten)]
    compile: CompileArgs,

    /// The program, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// With the stage `opt`: show the code after each run of this pass.
    #[arg(long, value_name = "PASS", value_parser = PossibleValuesParser::new(passes::names()))]
    after: Option<String>,

    /// Show this function only.
    #[arg(short, long, value_name = "NAME")]
    function: Option<String>,

    /// With the stage `bril`: the stage that is written as Bril.
    #[arg(long, value_enum, value_name = "STAGE", default_value_t = Written::Opt)]
    from: Written,

    /// With the stage `bril`: write JSON.
    #[arg(long)]
    json: bool,
}

/// The stages that can be written as Bril.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Written {
    /// Three-address code over variables.
    Cfg,
    /// SSA form.
    Ssa,
    /// SSA form after the passes of the level.
    Opt,
}

/// The stages in the order of the flow.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// What the lexer makes of the text.
    Tokens,
    /// The abstract syntax tree.
    Ast,
    /// The typed tree.
    Hir,
    /// Three-address code over variables.
    Cfg,
    /// SSA form with block parameters.
    Ssa,
    /// SSA form after the passes of the level.
    Opt,
    /// Machine instructions over virtual registers.
    Vcode,
    /// The same with registers, spill slots and the allocator's moves.
    Regalloc,
    /// Machine code, with source lines between.
    Asm,
    /// A stage of the IR as a Bril program.
    Bril,
}

impl Written {
    fn stage(self) -> inspect::Stage {
        match self {
            Written::Cfg => inspect::Stage::Cfg,
            Written::Ssa => inspect::Stage::Ssa,
            Written::Opt => inspect::Stage::Opt,
        }
    }
}

pub fn main(args: &EmitArgs) -> i32 {
    let shown = match args.stage {
        Stage::Tokens | Stage::Ast => before_checking(args),
        _ => after_checking(args),
    };
    shown.unwrap_or_else(|code| code)
}

fn before_checking(args: &EmitArgs) -> Result<i32, i32> {
    let (name, text) = source::text(&args.file)?;
    let language = Language::of(&args.file, &text);
    let mut sources = Sources::new();
    sources.add(name, text);
    let shown = match args.stage {
        Stage::Tokens => inspect::tokens(&sources, language),
        _ => inspect::tree(&mut sources, language).map(|(text, said)| {
            source::tell(&sources, &said);
            text
        }),
    };
    match shown {
        Some(text) => Ok(print(&text)),
        None => {
            source::complain("the IR's own text has no tree; `cfg` shows it", None);
            Err(EXIT_USAGE)
        }
    }
}

fn after_checking(args: &EmitArgs) -> Result<i32, i32> {
    let program = source::check(&args.compile.engine(), &args.file)?;
    let stage = match args.stage {
        Stage::Tokens | Stage::Ast => return before_checking(args),
        Stage::Hir => {
            let tree = program.typed_tree().ok_or_else(|| {
                let message = "only a Toy program has a typed tree; of Bril `ast` shows the text";
                source::complain(message, None);
                EXIT_USAGE
            })?;
            return Ok(print(&tree));
        }
        Stage::Cfg => inspect::Stage::Cfg,
        Stage::Ssa => inspect::Stage::Ssa,
        Stage::Opt => inspect::Stage::Opt,
        Stage::Vcode => inspect::Stage::Vcode,
        Stage::Regalloc => inspect::Stage::Regalloc,
        Stage::Asm => inspect::Stage::Asm,
        Stage::Bril => args.from.stage(),
    };
    let view = chosen(&program, args.function.as_deref())?;
    if args.compile.remarks && !matches!(stage, inspect::Stage::Cfg | inspect::Stage::Ssa) {
        remarks::tell(program.sources(), &view.remarks());
    }
    if args.stage == Stage::Bril {
        return Ok(as_bril(args, &view));
    }
    let text = match args.after.as_deref().filter(|_| args.stage == Stage::Opt) {
        Some(pass) => Ok(view.emit_after(pass)),
        None => view.emit(stage),
    };
    Ok(print(&text.map_err(|fault| source::fault(&fault.to_string()))?))
}

/// Writes functions as Bril; tells which can't be.
fn as_bril(args: &EmitArgs, view: &View<'_>) -> i32 {
    let written = view.as_bril(args.from.stage());
    for (name, what) in written.refused() {
        let message = format!("`{name}` can't be written as Bril: it has no {what}");
        source::complain(&message, None);
    }
    let code = match args.json {
        true => print(&format!("{:#}\n", written.json())),
        false => print(&written.text()),
    };
    if written.refused().is_empty() { code } else { EXIT_USAGE }
}
