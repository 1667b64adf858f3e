//! `toyjit emit`: what a stage of the compiler makes of a program.

use super::functions::chosen;
use super::run::CompileArgs;
use super::source::Tree;
use super::{passes, print, remarks, source};
use crate::bril;
use crate::explore::target_name;
use crate::ir::{FuncRef, Global, Module, print as ir_print};
use crate::mach::CompiledFunction;
use crate::opt::remark::Remark;
use crate::opt::{Event, Observer, Stats};
use crate::pipeline::{self, Backed, Options};
use crate::report::EXIT_USAGE;
use crate::sema;
use crate::source::{Interner, Sources, Span};
use crate::ssa;
use crate::syntax;
use crate::timing::Timings;
use crate::x64::disasm::{Names, disassemble};
use crate::x64::{self, X64};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

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

pub fn main(args: &EmitArgs) -> i32 {
    match args.stage {
        Stage::Tokens | Stage::Ast => before_checking(args),
        _ => after_checking(args),
    }
}

fn before_checking(args: &EmitArgs) -> i32 {
    let mut sources = match source::read(&args.file) {
        Ok(sources) => sources,
        Err(code) => return code,
    };
    if let Some(form) = bril::form_of(&args.file, &sources.files()[0].text) {
        let text = match args.stage {
            Stage::Tokens => bril::tokens(&sources),
            _ => {
                let (interner, tree, said) = bril::tree(&mut sources, form);
                source::tell(&sources, &said);
                bril::print::text(&tree, &interner)
            }
        };
        return print(&text);
    }
    if args.stage == Stage::Tokens {
        return print(&syntax::dump_tokens(&sources, 0));
    }
    let mut interner = Interner::new();
    let (ast, diagnostics) = syntax::parse(&sources, 0, &mut interner);
    source::tell(&sources, &diagnostics);
    print(&syntax::dump_ast(&sources, &ast, &interner))
}

fn after_checking(args: &EmitArgs) -> i32 {
    let checked = match source::check(&args.file) {
        Ok(checked) => checked,
        Err(code) => return code,
    };
    if args.stage == Stage::Hir {
        return match &checked.tree {
            Tree::Toy(program, interner) => print(&sema::dump_hir(program, interner)),
            Tree::Bril(_) => {
                anstream::eprintln!(
                    "error: a Bril program has no typed tree; `ast` shows its text"
                );
                EXIT_USAGE
            }
        };
    }
    let mut module = checked.lowered.module;
    let chosen = match chosen(&module, args.function.as_deref()) {
        Ok(chosen) => chosen,
        Err(code) => return code,
    };
    let options = args.compile.options();
    if args.stage == Stage::Bril {
        return as_bril(args, &checked.tree, &mut module, &chosen, &options);
    }
    let (pass, sources) = (args.after.as_deref(), &checked.sources);
    let mut after = After { sources, pass, chosen: &chosen, text: String::new() };
    prepare(args.stage, &mut module, &options, &mut after);
    if args.stage == Stage::Opt && args.after.is_some() {
        return print(&after.text);
    }
    match write(args.stage, &checked.sources, &module, &chosen, &options) {
        Ok(text) => print(&text),
        Err(error) => source::fault(&error),
    }
}

/// Writes functions as Bril; tells which can't be.
fn as_bril(
    args: &EmitArgs,
    tree: &Tree,
    module: &mut Module,
    chosen: &[FuncRef],
    options: &Options,
) -> i32 {
    let stage = match args.from {
        Written::Cfg => Stage::Cfg,
        Written::Ssa => Stage::Ssa,
        Written::Opt => Stage::Opt,
    };
    prepare(stage, module, options, &mut ());
    let origin = match tree {
        Tree::Toy(..) => bril::Origin::Toy,
        Tree::Bril(program) => bril::Origin::Bril(program),
    };
    let mut interner = Interner::new();
    let mut exported = bril::export(module, chosen, origin, &mut interner);
    if args.from == Written::Opt {
        for function in &mut exported.program.functions {
            bril::coalesce(function, &mut interner);
        }
    }
    for (name, what) in &exported.refused {
        anstream::eprintln!("error: `{name}` can't be written as Bril: it has no {what}");
    }
    let code = match args.json {
        true => print(&format!("{:#}\n", bril::json::write(&exported.program, &interner))),
        false => print(&bril::print::text(&exported.program, &interner)),
    };
    if exported.refused.is_empty() { code } else { EXIT_USAGE }
}

/// What a stage from the CFG on makes of functions, whose module is in the variable form; or a fault.
pub fn show(
    stage: Stage,
    sources: &Sources,
    module: &mut Module,
    chosen: &[FuncRef],
    options: &Options,
) -> Result<String, String> {
    prepare(stage, module, options, &mut ());
    write(stage, sources, module, chosen, options)
}

/// Brings a module in the variable form to the form that a stage shows.
fn prepare(stage: Stage, module: &mut Module, options: &Options, observer: &mut dyn Observer) {
    match stage {
        Stage::Tokens | Stage::Ast | Stage::Hir | Stage::Cfg => {}
        Stage::Ssa => {
            for function in module.functions.values_mut() {
                let construction = options.construction.unwrap_or_else(|| ssa::choose(function));
                ssa::construct(function, construction, ssa::Folding::Off);
            }
        }
        _ => pipeline::middle(module, options, &mut Timings::new(), observer),
    }
}

fn write(
    stage: Stage,
    sources: &Sources,
    module: &Module,
    chosen: &[FuncRef],
    options: &Options,
) -> Result<String, String> {
    let mut target = X64::native();
    target.polls = options.polls;
    let mut text = String::new();
    for &function in chosen {
        if !text.is_empty() {
            text.push('\n');
        }
        match stage {
            Stage::Vcode | Stage::Regalloc | Stage::Asm => {
                let mut timings = Timings::new();
                let backed = pipeline::back(&target, module, function, options, &mut timings);
                let backed = backed.map_err(|error| error.to_string())?;
                text += &machine(stage, sources, module, function, &backed);
            }
            _ => text += &ir_print::function(module, &module.functions[function]),
        }
    }
    Ok(text)
}

/// Writes down the chosen functions as a pass left them.
struct After<'a> {
    sources: &'a Sources,
    pass: Option<&'a str>,
    chosen: &'a [FuncRef],
    text: String,
}

impl Observer for After<'_> {
    fn remarks(&mut self, remarks: Vec<Remark>) {
        remarks::tell(self.sources, &remarks);
    }

    fn after(&mut self, event: &Event<'_>) {
        if self.pass == Some(event.pass.name) && self.chosen.contains(&event.id) {
            let Stats { insts_before, insts_after, rewrites, .. } = event.stats;
            self.text += &format!(
                "; after {}: {rewrites} rewrites, {insts_before} instructions before, {insts_after} \
                 after\n{}\n",
                event.pass.name,
                ir_print::function(event.module, event.function)
            );
        }
    }
}

fn machine(
    stage: Stage,
    sources: &Sources,
    module: &Module,
    function: FuncRef,
    backed: &Backed<x64::Inst>,
) -> String {
    match stage {
        Stage::Vcode => x64::dump::vcode(&backed.code),
        Stage::Regalloc => x64::dump::allocated(&backed.code, &backed.allocation),
        _ => assembly(sources, module, function, &backed.compiled),
    }
}

fn assembly(
    sources: &Sources,
    module: &Module,
    function: FuncRef,
    compiled: &CompiledFunction,
) -> String {
    let code = &module.functions[function];
    let names = Names {
        target: &|target| target_name(module, target),
        global: &|global| module.globals[Global(global)].name.clone(),
        line: &|loc| {
            let span = code.locs[loc].span;
            (span != Span::default()).then(|| {
                let (file, at) = sources.locate(span.start);
                let line = file.line_of(at);
                format!("{line}: {}", file.line(line).trim())
            })
        },
    };
    format!("{}:\n{}", code.name, disassemble(compiled, &names))
}
