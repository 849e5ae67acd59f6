//! The command line of `instr diff`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::{SymbolOptions, share};

/// Options of `instr diff`.
#[derive(Debug, Args)]
pub struct DiffOptions {
    /// What to compare, before and after: a trace (NAME.instr), a program's newest run, a run (app.3), several (app.1-5), or a folder with runs of one program
    #[arg(value_name = "BEFORE AFTER")]
    pub runs: Vec<PathBuf>,
    /// Runs before the change
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub before: Vec<PathBuf>,
    /// Runs after the change
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub after: Vec<PathBuf>,
    /// Exit with status 1 where the run, a region, task or loop is slower by SHARE or more, such as 5%; with several runs only where that is more than noise
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub fail_if_slower: Option<f64>,
    /// Largest probability that anything is called slower or faster although nothing is [default: 0.01]
    #[arg(long, value_name = "P", value_parser = level)]
    pub level: Option<f64>,
    /// Do not call a difference of less than SHARE one [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub noticeable: Option<f64>,
    /// Show also what does not differ
    #[arg(long)]
    pub all: bool,
    /// Print JSON (docs/diff-json.md)
    #[arg(long, conflicts_with_all = ["all", "top"])]
    pub json: bool,
    /// Show at most N rows of each table [default: 40]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub top: Option<u64>,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// A probability between 0 and 1.
fn level(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    let right = number.filter(|number| *number > 0.0 && *number < 1.0);
    right.ok_or_else(|| "not a probability between 0 and 1, such as 0.01".to_owned())
}
