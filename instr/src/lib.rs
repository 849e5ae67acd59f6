//! The `instr` command as a library: what a traced program did, as tables, JSON, graphs and Paraver files.
//!
//! | module | job |
//! |---|---|
//! | [`cli`] | the command line: what may be typed |
//! | [`console`] | standard streams, messages, exit statuses |
//! | [`output`] | files that appear complete or not at all |
//! | [`page`], `sheet`, `pager` | text for people: its width, tables, more than a screen |
//! | [`progress`] | the bar on a terminal |
//! | [`symbols`] | run-time addresses to names, through the metadata's module list |
//! | `kernel` | who runs on which processor, while `instr run` runs a program, or of a process that runs already |
//! | [`wrapper`], [`attach`], [`config`], [`mod@run`], [`list`], [`doctor`], [`merge`], [`export`], [`query`], [`summary`], [`mod@processors`], [`mod@diff`], [`mod@report`], [`timeline`], [`plot`], [`live`], [`graph`], [`mod@sweep`], [`mod@predict`], [`repair`], [`extract`], [`symbolize`] | one command each |

pub mod attach;
pub mod cli;
pub mod config;
pub mod console;
pub mod counts;
pub mod diff;
pub mod doctor;
pub mod export;
pub mod extract;
mod find;
#[cfg(test)]
mod fixture;
pub mod graph;
mod interrupted;
mod kept;
mod kernel;
mod launch;
pub mod list;
pub mod live;
mod locale;
mod mapped;
pub mod merge;
pub mod output;
pub mod page;
mod pager;
pub mod plot;
pub mod predict;
pub mod processors;
pub mod progress;
pub mod query;
mod quote;
pub mod repair;
pub mod report;
pub mod run;
mod runs;
mod series;
mod settings;
mod sheet;
pub mod summary;
pub mod sweep;
pub mod symbolize;
pub mod symbols;
pub mod timeline;
mod why;
pub mod wrapper;

use std::ffi::OsString;

use anyhow::Result;
use clap::FromArgMatches as _;

use cli::{Cli, Command};
use console::{Console, Status};

/// Runs the command with the process's own arguments and streams and returns its exit status (0 to 3).
pub fn run_process() -> u8 {
    mapped::end_with_a_message();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    console::with_process_streams(|console| run(arguments, console)) as u8
}

/// Runs the command with the given arguments (the first is the program's name) and streams.
///
/// Messages about failure are printed to the console's error stream; the status says what happened.
pub fn run(arguments: Vec<OsString>, console: &mut Console<'_>) -> Status {
    // No command for people: what `instr sweep` starts beside itself.
    if arguments.get(1).is_some_and(|word| word == sweep::GUARD) && arguments.len() == 2 {
        return console.finish(sweep::stand_guard());
    }
    let words = symbolize::arguments::prepare(arguments);
    let parsed = cli::command().try_get_matches_from(words);
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => {
            let result = dispatch(&cli.command, console);
            console.finish(result)
        }
        Err(error) => console.usage(&error),
    }
}

fn dispatch(command: &Command, console: &mut Console<'_>) -> Result<()> {
    match command {
        Command::Cc(options) => wrapper::run("instr-cc", options),
        Command::Cpp(options) => wrapper::run("instr-c++", options),
        Command::Fortran(options) => wrapper::run("instr-gfortran", options),
        Command::Config(options) => config::run(options, console),
        Command::Merge(options) => merge::run(options, console),
        Command::Export(options) => export::run(options, console),
        Command::Query(options) => query::run(options, console),
        Command::Summary(options) => summary::run(options, console),
        Command::Processors(options) => processors::run(options, console),
        Command::Diff(options) => diff::run(options, console),
        Command::Report(options) => report::run(options, console),
        Command::Live(options) => live::run(options, console),
        Command::Plot(options) => plot::run(options, console),
        Command::Timeline(options) => timeline::run(options, console),
        Command::Graph(options) => graph::run(options, console),
        Command::Predict(options) => predict::run(options, console),
        Command::Sweep(options) => sweep::run(options, console),
        Command::Extract(options) => extract::run(options, console),
        Command::Repair(options) => repair::run(options, console),
        Command::Run(options) => run::run(options, console),
        Command::Attach(options) => attach::run(options, console),
        Command::List(options) => list::run(options, console),
        Command::Doctor(options) => doctor::run(options, console),
        Command::Symbolize(options) => symbolize::run(options, console),
    }
}
