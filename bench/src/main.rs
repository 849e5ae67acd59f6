//! Measures what tracing costs, how big it is and how fast the host tools are, and prints a Markdown table.
//!
//! Whatever is compared is run in turn, in one run, plain–traced–plain, so that a change of the machine's speed meets both;
//! the plain-to-plain (A/A) ratio stands beside every ratio. Figures are medians. Run it on a quiet machine.

mod events;
mod link;
mod merge;
mod openmp;
mod program;
mod run;
mod size;
mod stats;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;

use crate::run::Bench;
use crate::table::Row;

/// Measures overhead, size and speed.
#[derive(Debug, Parser)]
struct Options {
    /// Folder of the tools under test
    #[arg(long)]
    bin: PathBuf,
    /// The project's folder
    #[arg(long)]
    root: PathBuf,
    /// Scratch folder; table.md is written there
    #[arg(long)]
    work: PathBuf,
    /// Short and imprecise: does everything run?
    #[arg(long)]
    quick: bool,
    /// Measure only these parts
    #[arg(long, value_delimiter = ',', value_name = "PART")]
    only: Vec<String>,
}

type Part = fn(&Bench) -> Result<Vec<Row>>;

const PARTS: [(&str, Part); 7] = [
    ("events", events::measure),
    ("regions", openmp::measure_regions),
    ("tasks", openmp::measure_tasks),
    ("program", program::measure),
    ("link", link::measure),
    ("size", size::measure),
    ("merge", merge::measure),
];

fn main() -> ExitCode {
    match measure(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// All parts; false when one could not be measured. A missed goal is a result, not a failure.
fn measure(options: &Options) -> Result<bool> {
    if let Some(name) = options
        .only
        .iter()
        .find(|name| PARTS.iter().all(|(part, _)| part != name))
    {
        let known: Vec<_> = PARTS.iter().map(|(part, _)| *part).collect();
        anyhow::bail!(
            "no part is named {name}: expected one of {}",
            known.join(", ")
        );
    }
    std::fs::create_dir_all(&options.work)
        .with_context(|| format!("cannot make {}", options.work.display()))?;
    let absolute = |path: &PathBuf| {
        path.canonicalize()
            .with_context(|| format!("cannot find {}", path.display()))
    };
    let bench = Bench {
        bin: absolute(&options.bin)?,
        root: absolute(&options.root)?,
        work: absolute(&options.work)?,
        quick: options.quick,
    };
    let mut rows = Vec::new();
    let mut complete = true;
    for (name, part) in PARTS {
        if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        eprintln!("bench: {name}");
        match part(&bench) {
            Ok(more) => rows.extend(more),
            Err(error) => {
                eprintln!("bench: error: cannot measure {name}: {error:#}");
                complete = false;
            }
        }
    }
    let table = table::markdown(&rows);
    println!("{table}");
    let file = bench.path("table.md");
    std::fs::write(&file, &table).with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!("bench: also in {}", file.display());
    Ok(complete)
}
