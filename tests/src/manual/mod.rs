//! Manual pages and shell completions, made from the definitions of the command lines. They are kept in `packaging/`, so that nobody who
//! builds the tools pays for making them; a test compares, and `make golden` writes them anew.

mod page;

use clap::{Arg, ArgAction, Command, CommandFactory as _, ValueHint};
use clap_complete::{Shell, generate};
use instr_cc::help;

/// A file below `packaging/`.
#[derive(Debug)]
pub struct Made {
    /// `man/instr.1`, `completions/_instr` …
    pub path: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// All of them.
///
/// # Errors
///
/// None, as they are written to memory; the makers' interface has them.
pub fn all() -> std::io::Result<Vec<Made>> {
    let mut made = Vec::new();
    for command in commands() {
        for (name, text) in page::pages(command.clone())? {
            made.push(Made {
                path: format!("man/{name}.1"),
                bytes: text,
            });
        }
        made.extend(completions(&command));
    }
    Ok(made)
}

/// The commands people type, as clap defines them.
#[must_use]
pub fn commands() -> [Command; 3] {
    let rewrite = instr_rewrite::arguments::Arguments::command();
    [instr::cli::Cli::command(), instr_cc_command(), rewrite]
}

/// `instr-cc` reads its command line by itself, as most of it is the compiler's; its own options come from the table that
/// `--instr-help` prints.
fn instr_cc_command() -> Command {
    let option = |own: help::OwnOption| {
        let arg = Arg::new(own.name).long(own.name).help(own.help);
        match own.value {
            "" => arg.action(ArgAction::SetTrue),
            value => arg
                .value_name(value)
                .require_equals(true)
                .value_hint(if value == "FILE" {
                    ValueHint::FilePath
                } else {
                    ValueHint::Other
                }),
        }
    };
    let arguments = Arg::new("ARGUMENTS")
        .help("The compiler's arguments")
        .num_args(0..)
        .value_hint(ValueHint::FilePath);
    Command::new("instr-cc")
        .version(env!("CARGO_PKG_VERSION"))
        .about(help::NAME)
        .long_about(help::ABOUT)
        .override_usage(help::USAGE)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(help::OPTIONS.map(option))
        .arg(arguments)
}

fn completions(command: &Command) -> Vec<Made> {
    let name = command.get_name().to_owned();
    let shells = [
        (Shell::Bash, format!("{name}.bash")),
        (Shell::Zsh, format!("_{name}")),
        (Shell::Fish, format!("{name}.fish")),
    ];
    let made = shells.map(|(shell, file)| {
        let mut bytes = Vec::new();
        let mut command = command.clone();
        if shell == Shell::Bash {
            // Bash would offer the words `<DIR>...` themselves; without them it offers files.
            command = without_positionals(command);
        }
        generate(shell, &mut command, &name, &mut bytes);
        Made {
            path: format!("completions/{file}"),
            bytes,
        }
    });
    made.into()
}

fn without_positionals(command: Command) -> Command {
    let hide = |arg: Arg| {
        let positional = arg.is_positional();
        if positional { arg.hide(true) } else { arg }
    };
    command.mut_args(hide).mut_subcommands(without_positionals)
}
