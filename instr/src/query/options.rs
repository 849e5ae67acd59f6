//! The command line of `instr query`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::SymbolOptions;

/// Options of `instr query`.
#[derive(Debug, Args)]
pub struct QueryOptions {
    /// Traces (NAME.instr), or the programs beside them [default: the one in .]; then the SQL as one word, or the name of a question. Without: SQL from standard input, or a prompt
    #[arg(value_name = "DIR|SQL")]
    pub words: Vec<OsString>,
    /// List the questions that have names
    #[arg(short, long)]
    pub list: bool,
    /// How to write the answer
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    pub format: AnswerFormat,
    /// Read the SQL from FILE; - is standard input
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Write the answer into FILE; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Memory that the columns of a query may take, MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub memory: u64,
    /// End a query that takes longer, s
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub time: Option<u64>,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// How `instr query` writes an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnswerFormat {
    /// A table for people
    Table,
    /// Comma-separated values with a header
    Csv,
    /// An array with an object for each row
    Json,
}
