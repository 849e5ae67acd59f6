//! `instr diff`: what got slower, what faster, between two groups of runs. `docs/diff.md` shows how it is used.
//!
//! | module | job |
//! |---|---|
//! | `sides` | which runs are before and which after |
//! | `run` | a run's constructs with their executions |
//! | `matching` | which construct of one build is which of the other |
//! | `compare` | the comparison: medians, differences, what is more than noise |
//! | `model` | the same as data, which is what `--json` writes |
//! | `notes` | what makes a comparison weaker than it looks |
//! | `limit` | `--fail-if-slower` |
//! | `table` | the page |

pub(crate) mod compare;
mod limit;
pub(crate) mod matching;
pub(crate) mod model;
mod notes;
pub mod options;
pub(crate) mod run;
pub(crate) mod sides;
pub(crate) mod table;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use self::options::DiffOptions;
use crate::cli::SymbolOptions;
use crate::console::{Console, NO_OUTPUT, Refusal};
use crate::quote::shown;
use crate::sheet::MAX_ROWS;
use crate::summary::{self, Wanted};
use crate::symbols::open_session;
use compare::{Settings, compare};
use run::Run;

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, runs that cannot be compared, what `--fail-if-slower` refuses, and failures to write.
pub fn run(options: &DiffOptions, console: &mut Console<'_>) -> Result<()> {
    let [before, after] = sides::of(options)?;
    let mut warnings = Warnings::default();
    let symbols = &options.symbols;
    let before = runs(&before, "before", symbols, &mut warnings, console)?;
    let after = runs(&after, "after", symbols, &mut warnings, console)?;
    let mut settings = Settings::default();
    settings.level = options.level.unwrap_or(settings.level);
    settings.noticeable = options.noticeable.unwrap_or(settings.noticeable);
    if let Some(limit) = options.fail_if_slower {
        settings.noticeable = settings.noticeable.min(limit);
    }
    let mut diff = compare(&before, &after, settings);
    diff.limit = options
        .fail_if_slower
        .map(|share| limit::find(&diff, share));
    if options.json {
        let written = serde_json::to_writer_pretty(&mut *console.out, &diff);
        let written = written.map_err(std::io::Error::from);
        written
            .and_then(|()| writeln!(console.out))
            .context(NO_OUTPUT)?;
    } else {
        let rows = options.top.map_or(MAX_ROWS, |top| top as usize);
        console
            .page(rows, |page| table::write(&diff, options.all, page))
            .context(NO_OUTPUT)?;
    }
    // What was found comes before what is refused.
    console.out.flush().context(NO_OUTPUT)?;
    let refusal = diff
        .limit
        .as_ref()
        .and_then(|limit| limit::refusal(&diff, limit));
    refusal.map_or(Ok(()), |refusal| Err(refusal.into()))
}

/// Reads the runs of one group. Runs without an event are left out, and so are those that were cut off, as long as others are there.
pub(crate) fn runs(
    paths: &[PathBuf],
    side: &str,
    symbols: &SymbolOptions,
    warnings: &mut Warnings,
    console: &mut Console<'_>,
) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for path in paths {
        let mut text = Vec::new();
        let mut own = Console {
            out: &mut *console.out,
            err: &mut text,
            ..*console
        };
        let run = read(path, symbols, &mut own);
        warnings.tell(&text, console);
        runs.extend(run?);
    }
    let of_program: BTreeSet<&str> = runs.iter().map(|run| run.program.as_str()).collect();
    if let [first, second, ..] = of_program.into_iter().collect::<Vec<_>>()[..] {
        return Err(refusal(format!(
            "the runs {side} are of different programs: {first} and {second}"
        )));
    }
    comparable(runs, side, console)
}

fn comparable(runs: Vec<Run>, side: &str, console: &mut Console<'_>) -> Result<Vec<Run>> {
    let (empty, runs): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(Run::is_empty);
    let (cut, whole): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(|run| run.is_cut);
    let list = |runs: &[Run]| {
        runs.iter()
            .map(|run| shown(&run.path))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !empty.is_empty() && (!whole.is_empty() || !cut.is_empty()) {
        console.warn(&format!(
            "left out, since nothing was recorded: {}",
            list(&empty)
        ));
    }
    match (whole.is_empty(), cut.is_empty()) {
        (true, true) => Err(refusal(format!(
            "nothing was recorded {side}: {}",
            list(&empty)
        ))),
        (true, false) => Ok(cut),
        (false, true) => Ok(whole),
        (false, false) => {
            console.warn(&format!(
                "left out, since they were killed or lost events: {}",
                list(&cut)
            ));
            Ok(whole)
        }
    }
}

/// Reads one run.
fn read(path: &PathBuf, symbols: &SymbolOptions, console: &mut Console<'_>) -> Result<Option<Run>> {
    let session = open_session(std::slice::from_ref(path), console)?;
    let wanted = Wanted {
        chip: None,
        executions: true,
    };
    let summaries = summary::of_session(&session, wanted, symbols, console)?;
    let both = session.traces().first().zip(summaries.first());
    Ok(both.map(|(trace, summary)| Run::of(trace.metadata(), summary)))
}

/// Warnings that runs of a program share are printed once.
#[derive(Debug, Default)]
pub(crate) struct Warnings(BTreeSet<String>);

impl Warnings {
    /// Prints what was not printed before. A help belongs to the line before it.
    fn tell(&mut self, text: &[u8], console: &mut Console<'_>) {
        let text = String::from_utf8_lossy(text);
        let mut is_new = true;
        for line in text.lines() {
            if !line.starts_with(' ') {
                is_new = self.0.insert(line.to_owned());
            }
            if is_new {
                // A closed error stream is no reason to stop working.
                let _ = writeln!(console.err, "{line}");
            }
        }
    }
}

fn refusal(message: String) -> anyhow::Error {
    let refusal = Refusal {
        message,
        notes: Vec::new(),
        help: None,
    };
    refusal.into()
}
