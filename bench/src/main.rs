//! Measures what tracing costs, how big it is and how fast the host tools are, and prints a Markdown table.
//!
//! Whatever is compared is run in turn, in one run, plain–traced–plain, so that a change of the machine's speed meets both;
//! the plain-to-plain (A/A) ratio stands beside every ratio. Figures are medians. Run it on a quiet machine.

mod before;
mod constructs;
mod events;
mod export;
mod installed;
mod launch;
mod link;
mod machine;
mod memory;
mod merge;
mod openmp;
mod overhead;
mod page;
mod programs;
mod query;
mod recorded;
mod report;
mod run;
mod sampling;
mod sensors;
mod series;
mod size;
mod stats;
mod switches;
mod symbolize;
mod synthetic;
mod table;
mod toolchain;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;

use crate::report::Report;
use crate::run::Bench;

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
    /// Folder of older tools, whose runtime is measured beside this one
    #[arg(long, value_name = "FOLDER")]
    before: Option<PathBuf>,
    /// Short and imprecise: does everything run?
    #[arg(long)]
    quick: bool,
    /// Measure only these parts
    #[arg(long, value_delimiter = ',', value_name = "PART")]
    only: Vec<String>,
}

/// Measures one thing and adds what it found.
type Part = fn(&Bench, &mut Report) -> Result<()>;

/// A part that only makes rows of the table.
macro_rules! rows {
    ($measure:path) => {
        |bench, report| {
            report.rows.extend($measure(bench)?);
            Ok(())
        }
    };
}

const PARTS: [(&str, Part); 20] = [
    ("events", events::measure),
    ("regions", rows!(openmp::measure_regions)),
    ("tasks", rows!(openmp::measure_tasks)),
    ("programs", programs::measure),
    ("installed", installed::measure),
    ("constructs", constructs::measure),
    ("sensors", sensors::measure),
    ("series", series::measure),
    ("switches", switches::measure),
    ("launch", launch::measure),
    ("memory", memory::measure),
    ("sampling", sampling::measure),
    ("link", rows!(link::measure)),
    ("size", rows!(size::measure)),
    ("merge", rows!(merge::measure)),
    ("export", rows!(export::measure)),
    ("query", rows!(query::measure)),
    ("report", rows!(page::measure)),
    ("symbolize", symbolize::measure),
    ("before", before::measure),
];

/// More processes than this that want to run while nothing is measured yet disturb what uses two threads.
const BUSY: f64 = 0.5;

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
        before: options.before.as_ref().map(absolute).transpose()?,
        quick: options.quick,
    };
    if machine::load() > BUSY {
        eprintln!("bench: warning: the machine is busy: the figures will not mean much");
    }
    let mut report = Report::default();
    let mut complete = true;
    for (name, part) in PARTS {
        if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        eprintln!("bench: {name}");
        if let Err(error) = part(&bench, &mut report) {
            eprintln!("bench: error: cannot measure {name}: {error:#}");
            complete = false;
        }
    }
    write(&bench, &report, complete && options.only.is_empty())?;
    Ok(complete)
}

/// Prints the table and leaves it in the scratch folder; the document on overhead too, and in the tree after a `whole` run.
fn write(bench: &Bench, report: &Report, whole: bool) -> Result<()> {
    let table = table::markdown(&report.rows);
    println!("{table}");
    put(&bench.path("table.md"), &table)?;
    let documented = !report.programs.is_empty()
        || !report.installed.is_empty()
        || !report.constructs.is_empty()
        || !report.sensors.is_empty()
        || !report.series.is_empty()
        || !report.memory.is_empty()
        || !report.sampling.is_empty()
        || report.symbolize.is_some();
    if !documented {
        return Ok(());
    }
    let whole = whole && !bench.quick;
    let text = overhead::document(report, &machine::Machine::this(), whole);
    put(&bench.path("overhead.md"), &text)?;
    if whole {
        put(&bench.root.join("docs/overhead.md"), &text)
    } else {
        eprintln!(
            "bench: docs/overhead.md is left as it is: this run was short or not of all parts"
        );
        Ok(())
    }
}

/// Writes a file under a temporary name and renames it.
fn put(file: &Path, text: &str) -> Result<()> {
    let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&temporary, text)
        .and_then(|()| std::fs::rename(&temporary, file))
        .with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!("bench: also in {}", file.display());
    Ok(())
}
