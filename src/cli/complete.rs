//! `toyjit completions` and `toyjit man`: made of the same table as the command line itself.

use super::source::complain;
use super::{Cli, print};
use crate::cli::exit::EXIT_USAGE;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use toyjit::source::nearest;

/// Write a script that completes this command line in a shell.
#[derive(Args)]
#[command(after_help = "\
Examples:
  toyjit completions bash > ~/.local/share/bash-completion/completions/toyjit
  toyjit completions fish > ~/.config/fish/completions/toyjit.fish")]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Write a manual page.
#[derive(Args)]
#[command(after_help = "\
Examples:
  toyjit man > toyjit.1          the page of the whole
  toyjit man run | man -l -      that of a verb")]
pub struct ManArgs {
    /// The verb; the page is that of the whole where none is given.
    #[arg(value_name = "VERB")]
    verb: Option<String>,
}

pub fn completions(args: &CompletionsArgs) -> i32 {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "toyjit", &mut script);
    print(&String::from_utf8_lossy(&script))
}

pub fn man(args: &ManArgs) -> i32 {
    let mut command = Cli::command();
    command.build();
    if let Some(verb) = &args.verb {
        let Some(found) = command.find_subcommand(verb) else {
            let verbs = command.get_subcommands().map(clap::Command::get_name);
            let message = format!("there is no verb `{verb}`; `toyjit --help` lists them");
            complain(&message, nearest(verb, verbs));
            return EXIT_USAGE;
        };
        let name = format!("toyjit-{verb}");
        command = found.clone().name(name).version(env!("CARGO_PKG_VERSION"));
    }
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => print(&String::from_utf8_lossy(&page)),
        Err(error) => {
            complain(&error.to_string(), None);
            EXIT_USAGE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound_and_every_verb_has_examples() {
        let mut command = Cli::command();
        command.clone().debug_assert();
        command.build();
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "{}", verb.get_name());
        }
    }
}
