//! `instr report`: one HTML file that shows where time went, on a time line and in tables. `docs/report.md` says what is in it.
//!
//! | module | job |
//! |---|---|
//! | `timeline` | traces to bins, spans, lanes and histograms, in bounded memory |
//! | `columns` | how numbers are stored, and the TypeScript that reads them |
//! | `findings` | what cost most, as sentences with evidence and a place on the time line |
//! | `kernel_findings` | the same for programs that recorded nothing themselves |
//! | `compare` | the differences of two runs |
//! | `flame` | samples as a flame graph |
//! | `view` | a summary as what the template shows |
//! | `page` | the file: template, style, script, data |

mod columns;
mod compare;
mod findings;
mod flame;
mod kernel_findings;
pub(crate) mod page;
#[cfg(test)]
mod schema;
pub(crate) mod timeline;
mod view;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use instr_cc::exec::Call;
use instr_trace::{Names, Session, Trace};

use crate::cli::ReportOptions;
use crate::console::{Console, NO_OUTPUT, Refusal, WrongUsage};
use crate::diff;
use crate::diff::compare::Settings;
use crate::diff::model::Diff;
use crate::diff::run::Run;
use crate::output::{is_folder, write_to};
use crate::predict::model::Prediction;
use crate::predict::{Asked, Known, of_trace};
use crate::progress::Progress;
use crate::summary;
use crate::summary::units::{counted, size};
use crate::sweep;
use crate::symbols::{as_names, of_session, open_readable, program_name};

/// Bytes of a trace that is predicted from.
const MOST_PREDICTED: u64 = 1 << 20;

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, and failures to write.
pub fn run(options: &ReportOptions, console: &mut Console<'_>) -> Result<()> {
    let path = options.output.as_deref();
    if options.open && path == Some(Path::new("-")) {
        let why = "`--open` needs a file: `-o -` writes to standard output";
        return Err(WrongUsage(why.to_owned()).into());
    }
    if let [dir] = &options.traces[..]
        && sweep::is_sweep(dir)
    {
        let path = sweep::report(dir, path, console)?;
        if path != Path::new("-") {
            writeln!(
                console.out,
                "{}: the sweep {}",
                path.display(),
                dir.display()
            )
            .context(NO_OUTPUT)?;
        }
        return if options.open { open(&path) } else { Ok(()) };
    }
    let diff = match options.compare {
        true => Some(compared(options, console)?),
        false => None,
    };
    let shown = match &diff {
        Some((_, shown)) => &shown[..],
        None => &options.traces,
    };
    let (mut session, refused) = open_readable(shown, console)?;
    let diff = diff.map(|(diff, _)| diff);
    if diff.is_some() {
        session.begin_together();
    }
    let path = match path {
        Some(path) if is_folder(path) => path.join(default_name(&session)),
        Some(path) => path.to_owned(),
        None => default_name(&session),
    };
    let written = write(&session, options, diff.as_ref(), &path, console)?;
    if path != Path::new("-") {
        writeln!(
            console.out,
            "{}: {} of {}, {}",
            path.display(),
            counted(written.threads, "thread"),
            counted(session.traces().len() as u64, "process").replace("processs", "processes"),
            size(written.bytes)
        )
        .context(NO_OUTPUT)?;
    }
    if options.open {
        open(&path)?;
    }
    refused.map_or(Ok(()), Err)
}

/// The comparison of two runs, or of two groups of them, and the two that the time line shows: the last ones.
fn compared(options: &ReportOptions, console: &mut Console<'_>) -> Result<(Diff, [PathBuf; 2])> {
    let [before, after] = &options.traces[..] else {
        let runs = options.traces.len();
        return Err(WrongUsage(format!("`--compare` takes two runs, not {runs}")).into());
    };
    let named = [
        diff::sides::expanded(before)?,
        diff::sides::expanded(after)?,
    ];
    diff::sides::once(&named)?;
    let mut sides = Vec::new();
    let mut warnings = diff::Warnings::default();
    for (paths, side) in named.iter().zip(["before", "after"]) {
        sides.push(diff::runs(
            paths,
            side,
            &options.symbols,
            &mut warnings,
            console,
        )?);
    }
    let last = |runs: &[Run]| runs.last().map(|run| run.path.clone()).unwrap_or_default();
    let shown = [last(&sides[0]), last(&sides[1])];
    Ok((
        diff::compare::compare(&sides[0], &sides[1], Settings::default()),
        shown,
    ))
}

/// What was written.
struct Written {
    threads: u64,
    bytes: u64,
}

fn write(
    session: &Session,
    options: &ReportOptions,
    diff: Option<&Diff>,
    path: &Path,
    console: &mut Console<'_>,
) -> Result<Written> {
    let summaries = summary::of_session(
        session,
        summary::Wanted::default(),
        &options.symbols,
        console,
    )?;
    let symbols = of_session(session, &options.symbols);
    let names = as_names(&symbols);
    let mut bar = Progress::new("time line", console);
    let mut seen = |done, total| bar.at(done, total);
    let collected = timeline::collect(session, &names, options.compare, &mut seen)?;
    drop(bar);
    let threads = collected.timeline.tracks.len() as u64;
    let predicted = predict(session, &names, options, console);
    let mut bytes = 0;
    write_to(path, console, |out| {
        let comparison = match (diff, &summaries[..]) {
            (Some(diff), [first, second]) => Some(compare::of(diff, [first, second], &collected)),
            _ => None,
        };
        bytes = page::write(&summaries, &collected, comparison, &predicted, out)?;
        Ok(())
    })?;
    Ok(Written { threads, bytes })
}

/// What `instr predict` says of each process, where it says something, and the trace is not too large to be read twice more.
fn predict(
    session: &Session,
    names: &[Box<dyn Names + '_>],
    options: &ReportOptions,
    console: &Console<'_>,
) -> Vec<Option<Prediction>> {
    let mut bar = Progress::new("predicting", console);
    let mut seen = |done, total| bar.at(done, total);
    let names = names.iter().map(|names| &**names);
    let traces = session.traces().iter().zip(names);
    let of = |(trace, names): (&Trace, &(dyn Names + '_))| {
        if options.compare || trace.bytes() > MOST_PREDICTED {
            return None;
        }
        of_trace(trace, Known::default(), names, &Asked::default(), &mut seen).ok()
    };
    traces.map(of).collect()
}

/// The first program's name with `.html`, in the current directory.
fn default_name(session: &Session) -> PathBuf {
    let mut name = program_name(session).to_owned();
    name.push(".html");
    name.into()
}

/// Opens the file in the user's browser.
fn open(path: &Path) -> Result<()> {
    let how = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let refusal = |why: String| Refusal {
        message: format!("cannot open {} in a browser: {why}", path.display()),
        notes: Vec::new(),
        help: Some("open the file yourself: it is complete".to_owned()),
    };
    // Its messages are of no use to the user; what failed is in its status.
    let ended = Call::new(how).args([path]).run_privately();
    match ended {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(refusal(format!("{how} failed ({})", output.status)).into()),
        Err(error) => Err(refusal(format!("{how}: {error}")).into()),
    }
}
