//! `instr doctor`: whether all that is needed works on this machine, what else does, and what is not here, why, and how to get it.
//! Everything it says was tried just now; what could not be tried is said to be unknown.

mod advice;
mod machine;
mod probe;
mod table;
mod verdict;

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::cli::DoctorOptions;
use crate::console::{Console, NO_OUTPUT};

/// Something that was looked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// What.
    pub name: String,
    /// Whether it works; null when it could not be tried.
    pub works: Option<bool>,
    /// Path, version, value, or why it does not work.
    pub what: String,
    /// What to do; null when there is nothing to do or nothing can be done.
    pub help: Option<String>,
}

impl Item {
    fn new(name: impl Into<String>, works: bool, what: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            works: Some(works),
            what: what.into(),
            help: None,
        }
    }

    fn unknown(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            works: None,
            what: why.into(),
            help: None,
        }
    }

    fn help(mut self, help: Option<&str>) -> Self {
        self.help = help.map(str::to_owned);
        self
    }
}

/// All that was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Version of the form.
    pub format: u32,
    /// Whether all works that everybody needs: a compiler, OpenMP, recording.
    pub works: bool,
    /// The same in a sentence.
    pub verdict: String,
    /// Compilers, linkers and archivers.
    pub compilers: Vec<Item>,
    /// OpenMP libraries of the compilers that were found.
    pub openmp: Vec<Item>,
    /// Known targets: whether their compiler and emulator are here.
    pub targets: Vec<Item>,
    /// Recording itself: a small program was built, run, and its trace read.
    pub recording: Vec<Item>,
    /// The clock of time stamps.
    pub clock: Vec<Item>,
    /// What the kernel allows.
    pub permissions: Vec<Item>,
    /// Sensors, each with its value now.
    pub sensors: Vec<Item>,
    /// Counters of threads.
    pub counters: Vec<Item>,
    /// Modules of series, by the names of their tables.
    pub series: Vec<Item>,
}

/// Runs the command.
///
/// # Errors
///
/// Failures to write.
pub fn run(options: &DoctorOptions, console: &mut Console<'_>) -> Result<()> {
    let report = examine();
    if options.json {
        serde_json::to_writer_pretty(&mut *console.out, &report).context(NO_OUTPUT)?;
        return writeln!(console.out).context(NO_OUTPUT);
    }
    table::write(&report, console.out).context(NO_OUTPUT)
}

/// Opens and reads every module of series once.
fn series() -> Vec<Item> {
    let root = std::env::var_os("INSTR_SENSORS_ROOT").unwrap_or_default();
    let roots = crate::series::Roots::new(root.as_ref());
    let modules = match crate::series::probe(&roots) {
        Ok(modules) => modules,
        Err(error) => return vec![Item::unknown("series", error.to_string())],
    };
    let item =
        |(module, works, refused): (instr_trace::kernel::series::Module, bool, Vec<String>)| {
            let why = refused.join("; ");
            let what = match (works, why.is_empty()) {
                (true, true) => "can be read".to_owned(),
                (true, false) => format!("can be read, but not: {why}"),
                (false, true) => "there was nothing to read".to_owned(),
                (false, false) => why.clone(),
            };
            Item::new(module.word(), works, what).help(advice::of_series(module.word(), &why))
        };
    modules.into_iter().map(item).collect()
}

fn examine() -> Report {
    let mut report = Report {
        format: 1,
        compilers: machine::compilers(),
        targets: machine::targets(),
        permissions: machine::permissions(),
        ..Report::default()
    };
    report.openmp = machine::openmp(&report.compilers);
    probe::examine(&mut report);
    report.series = series();
    let verdict = verdict::of(&report);
    (report.works, report.verdict) = (verdict.works, verdict.text);
    report
}
