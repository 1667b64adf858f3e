//! The off switches of the passes: `--no-gvn` and its like, one for each name in the table.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use toyjit::inspect::PASSES;

/// Names of passes that were switched off.
#[derive(Clone, Debug, Default)]
pub struct PassSwitches {
    /// The names.
    pub off: Vec<String>,
}

/// The names of all passes, each once, in the order in which they first run.
pub fn names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for pass in PASSES {
        if !names.contains(&pass.name) {
            names.push(pass.name);
        }
    }
    names
}

fn switch(name: &str) -> String {
    format!("no-{name}")
}

impl Args for PassSwitches {
    fn augment_args(command: Command) -> Command {
        command.args(names().into_iter().map(|name| {
            Arg::new(switch(name))
                .long(switch(name))
                .action(ArgAction::SetTrue)
                .help(format!("Leave the pass `{name}` out"))
                .help_heading("Passes")
                .hide_short_help(true)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PassSwitches {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let off = names().into_iter().filter(|name| matches.get_flag(&switch(name)));
        Ok(Self { off: off.map(str::to_owned).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
