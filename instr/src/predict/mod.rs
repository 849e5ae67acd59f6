//! `instr predict`: how long a recorded program would take with other numbers of threads, faster functions, without a lock, or with other chunks.
//!
//! `docs/predict.md` has the definitions. A trace is read twice: for the costs of the run-time library and for what there is to make faster; then
//! region by region for the simulations.

mod build;
pub mod model;
mod names;
pub mod options;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use instr_analysis::predict::collect::{Collector, Survey};
use instr_analysis::predict::costs::{Measured, with_several};
use instr_analysis::predict::forecast::{Forecaster, MAX_PIECES, Question};
use instr_analysis::predict::model::{Lock, Spot, Spots};
use instr_analysis::predict::simulate::Library;
use instr_analysis::predict::totals::Totals;
use instr_trace::model::replay_with;
use instr_trace::{Names, Trace};

use self::options::PredictOptions;
use crate::console::{Console, NO_OUTPUT, Refusal, WrongUsage};
use crate::diff::sides;
use crate::progress::Progress;
use crate::quote::shown;
use crate::summary::notes::{NOT_CLOSED, WITHOUT_MUTEXES};
use crate::summary::units::{count, counted, percent, time};
use crate::symbols::{self, Symbols};
use model::Prediction;
use names::Namer;

/// What is predicted where nobody says.
const THREADS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// The largest share of the run that may be left out.
const MAX_UNMODELLED: f64 = 0.5;
/// Names in a message.
const MAX_NAMES: usize = 12;

/// What a user asks, as typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) threads: Vec<usize>,
    pub(crate) faster: Vec<(String, f64)>,
    pub(crate) without_lock: Option<String>,
    pub(crate) chunk: Option<u64>,
}

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, traces that no prediction can be made from, names that nothing has, and failures to write.
pub fn run(options: &PredictOptions, console: &mut Console<'_>) -> Result<()> {
    let mut open = |dirs: &[PathBuf]| {
        let opened = dirs.iter().map(|dir| symbols::open_trace(dir, console));
        opened.collect::<Result<Vec<Trace>>>()
    };
    let (traces, costs) = (open(&options.traces)?, open(&options.costs)?);
    let Some((trace, others)) = traces.split_first() else {
        return Err(WrongUsage("no trace is named".to_owned()).into());
    };
    let symbols = Symbols::of(trace, &options.symbols);
    let asked = Asked {
        threads: options
            .threads
            .iter()
            .flat_map(|counts| &counts.0)
            .map(|threads| *threads as usize)
            .collect(),
        faster: options.faster.clone(),
        without_lock: options.without_lock.clone(),
        chunk: options.chunk,
    };
    let mut bar = Progress::new("predicting", console);
    let mut seen = |done, total| bar.at(done, total);
    let known = Known {
        same: others,
        costs: &costs,
    };
    let result = of_trace(trace, known, &symbols, &asked, &mut seen);
    drop(bar);
    traces
        .iter()
        .chain(&costs)
        .for_each(|trace| symbols::warn_of_unreadable(trace, console));
    symbols.report(console);
    let prediction = result?;
    if options.json {
        serde_json::to_writer_pretty(&mut *console.out, &prediction).context(NO_OUTPUT)?;
        return writeln!(console.out).context(NO_OUTPUT);
    }
    let rows = crate::sheet::MAX_ROWS;
    console
        .page(rows, |page| table::write(&prediction, page))
        .context(NO_OUTPUT)
}

/// What a first pass finds.
struct First {
    totals: Totals,
    spots: Spots,
    survey: Survey,
}

impl First {
    fn measured(&self) -> Measured<'_> {
        Measured {
            team: self.survey.team,
            measures: &self.survey.costs,
        }
    }
}

fn measured(all: &[First]) -> Vec<Measured<'_>> {
    all.iter().map(First::measured).collect()
}

fn first(trace: &Trace, mut seen: impl FnMut(u64)) -> Result<First> {
    let mut collector = Collector::new(trace.threads(), None, Totals::default());
    replay_with(trace, &mut collector, |_, event| seen(event.time))?;
    let (totals, spots, survey) = collector.finish();
    Ok(First {
        totals,
        spots,
        survey,
    })
}

/// What other traces show.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known<'t> {
    /// Of the same program with other numbers of threads.
    pub(crate) same: &'t [Trace],
    /// Of any program: what the run-time library's work costs.
    pub(crate) costs: &'t [Trace],
}

/// Predicts from one trace. `seen` is told how far the work is.
///
/// # Errors
///
/// Stream files that cannot be read any more, and traces that no prediction can be made from.
pub(crate) fn of_trace(
    trace: &Trace,
    known: Known<'_>,
    names: &dyn Names,
    asked: &Asked,
    seen: &mut dyn FnMut(u64, u64),
) -> Result<Prediction> {
    let all = std::iter::once(trace).chain(known.same).chain(known.costs);
    for trace in all {
        is_complete(trace)?;
    }
    let runs = std::iter::once(trace).chain(known.same);
    sides::once(&[runs.map(|run| run.dir().to_owned()).collect(), Vec::new()])?;
    for other in known.same {
        is_of_program(trace, other)?;
    }
    for other in known.costs {
        has_its_library(trace, other)?;
    }
    let end = trace.end_time().max(1);
    // The second pass takes longer than the first.
    let mut at = Steps::default();
    let found = first(trace, |time| at.tell(time, end * 4, seen))?;
    is_readable(trace)?;
    may_be_predicted(trace, &found)?;
    let read = |others: &[Trace]| {
        let others = others.iter().map(|other| {
            let other_found = first(other, |_| {})?;
            is_readable(other)?;
            may_be_predicted(other, &other_found)?;
            Ok(other_found)
        });
        others.collect::<Result<Vec<First>>>()
    };
    let (others, costs) = (read(known.same)?, read(known.costs)?);
    let mut like = Vec::new();
    let mut notes = Vec::new();
    for (other, first) in known.same.iter().zip(&others) {
        let dir = other.dir().display();
        if let Some(why) = other_work(&found, first) {
            notes.push(format!(
                "{dir} did other work ({why}): it counts for costs, not for how work changes with the number of threads."
            ));
            continue;
        }
        if first.survey.team == found.survey.team {
            let threads = counted(first.survey.team as u64, "thread");
            notes.push(format!(
                "{dir} has {threads}, too: it does not show how work changes with their number."
            ));
        }
        like.push(first);
    }
    if !costs.is_empty() && costs.iter().all(|first| first.survey.team <= 1) {
        return Err(WrongUsage(
            "--costs: no trace has a region of several threads\n  help: name one that was recorded with OMP_NUM_THREADS=2 or more"
                .to_owned(),
        )
        .into());
    }
    let namer = Namer {
        names,
        texts: &found.survey.texts,
    };
    let mut question = question(&found, &like, &namer, asked, library(trace))?;
    question.several = with_several(found.measured(), &measured(&others), &measured(&costs));
    let forecaster = Forecaster::new(&found.survey, &found.spots, &found.totals, &question);
    let mut collector = Collector::new(trace.threads(), Some(found.survey.team), forecaster);
    replay_with(trace, &mut collector, |_, event| {
        at.tell(end + event.time * 3, end * 4, seen)
    })?;
    let (forecaster, ..) = collector.finish();
    let forecast = forecaster.finish();
    let mut prediction = build::prediction(trace, &found, &like, &question, &forecast, &namer);
    if trace.metadata().openmp.contains(WITHOUT_MUTEXES) {
        notes.push(
            "Critical sections, locks and ordered are not recorded (instr summary says why): what threads waited for them counts as work."
                .to_owned(),
        );
    }
    if !trace.metadata().closed {
        notes.push(format!(
            "{} {NOT_CLOSED}: what is predicted is the part of the run that it has.",
            trace.dir().display()
        ));
    }
    let processes = trace.children().len() as u64;
    if processes > 0 {
        notes.push(format!(
            "{} in {} of processes that it forked or started: nothing of those is predicted, and the time in which the program waits for them counts as work outside of regions.",
            match processes {
                1 => "There is a trace".to_owned(),
                more => format!("There are {} traces", count(more)),
            },
            trace.dir().display()
        ));
    }
    prediction.notes.extend(notes);
    Ok(prediction)
}

/// Tells how far the work is, now and then.
#[derive(Default)]
struct Steps(u64);

impl Steps {
    fn tell(&mut self, done: u64, total: u64, seen: &mut dyn FnMut(u64, u64)) {
        self.0 += 1;
        if self.0.is_multiple_of(1 << 14) {
            seen(done, total);
        }
    }
}

fn library(trace: &Trace) -> Library {
    match trace.metadata().openmp.starts_with("libomp") {
        true => Library::Omp,
        false => Library::Gomp,
    }
}

/// What a library's work costs says nothing about another library, or another machine.
fn has_its_library(trace: &Trace, other: &Trace) -> Result<()> {
    let (own, others) = (trace.metadata(), other.metadata());
    let why = if own.target != others.target {
        format!("it is of {}, not of {}", others.target, own.target)
    } else if library(trace) != library(other) {
        format!(
            "its OpenMP library is {}, not {}",
            others.openmp, own.openmp
        )
    } else {
        return Ok(());
    };
    Err(Refusal {
        message: format!("{} has no costs of this run: {why}", other.dir().display()),
        notes: Vec::new(),
        help: Some(
            "name a trace that was made on the same machine with the same OpenMP library"
                .to_owned(),
        ),
    }
    .into())
}

/// Only runs of the same program show how its work changes with the number of threads.
fn is_of_program(trace: &Trace, other: &Trace) -> Result<()> {
    let (own, others) = (trace.metadata(), other.metadata());
    let dir = other.dir().display();
    let refusal = |message: String, help: &str| Refusal {
        message,
        notes: Vec::new(),
        help: Some(help.to_owned()),
    };
    if own.program != others.program {
        let why = format!(
            "{dir} does not show how the work of {} changes: it is a trace of {}",
            shown(&own.program),
            shown(&others.program)
        );
        let help = "name runs of the same program; --costs TRACE takes what the OpenMP library's work costs from one of any program";
        return Err(refusal(why, help).into());
    }
    if own.target != others.target || library(trace) != library(other) {
        let why = format!(
            "{dir} does not show how work changes with the number of threads: it is of {} with {}, not of {} with {}",
            others.target, others.openmp, own.target, own.openmp
        );
        let help = "name runs on the same machine with the same OpenMP library";
        return Err(refusal(why, help).into());
    }
    Ok(())
}

/// Counts of the same work differ by no more than this share, or one.
const SAME_WORK: f64 = 0.01;

/// What another run has more of, or less, than the first: its regions, tasks or iterations. `None`: it did the same work, as far as they show.
fn other_work(found: &First, other: &First) -> Option<String> {
    let counts = |first: &First| {
        let (survey, totals) = (&first.survey, &first.totals);
        [survey.regions, totals.tasks, totals.iterations]
    };
    let words = ["parallel region", "task", "iteration"];
    let all = counts(found).into_iter().zip(counts(other)).zip(words);
    let differs =
        |own: f64, others: f64| (own - others).abs() > (own.max(others) * SAME_WORK).max(1.0);
    // Tasks may be made for each thread: a taskloop makes as many as there are.
    let teams = other.survey.team as f64 / found.survey.team.max(1) as f64;
    let mut differ = all.filter(|((own, others), _)| {
        let (own, others) = (*own as f64, *others as f64);
        differs(own, others) && differs(own * teams, others)
    });
    let ((own, others), what) = differ.next()?;
    Some(format!("{}, not {}", counted(others, what), count(own)))
}

/// A trace of which events are missing cannot be run again.
fn is_complete(trace: &Trace) -> Result<()> {
    let lost = trace.discarded();
    if lost == 0 && trace.warning_count() == 0 {
        return Ok(());
    }
    if lost == 0 {
        return Err(damaged(trace));
    }
    let what = format!(
        "{} of it were discarded while tracing",
        counted(lost, "event")
    );
    let help =
        "record it again with INSTR_POLICY=stream, or a larger INSTR_BUFFER (docs/environment.md)";
    Err(refusal(trace, &what, Vec::new(), help))
}

/// The same for what was met only when it was read.
fn is_readable(trace: &Trace) -> Result<()> {
    match trace.unreadable().1 {
        0 => Ok(()),
        _ => Err(damaged(trace)),
    }
}

fn damaged(trace: &Trace) -> anyhow::Error {
    let what = "parts of it are damaged".to_owned();
    refusal(trace, &what, Vec::new(), "record the program again")
}

fn refusal(trace: &Trace, why: &str, notes: Vec<String>, help: &str) -> anyhow::Error {
    let dir = trace.dir().display();
    Refusal {
        message: format!("nothing can be predicted from {dir}: {why}"),
        notes,
        help: Some(help.to_owned()),
    }
    .into()
}

fn may_be_predicted(trace: &Trace, found: &First) -> Result<()> {
    let survey = &found.survey;
    let refused = |why: &str, help: &str| {
        let gaps = survey.gaps.iter();
        let notes = gaps.map(|(why, number, ns)| {
            format!("{} ({}, {})", names::why(*why), count(*number), time(*ns))
        });
        Err(refusal(trace, why, notes.collect(), help))
    };
    if survey.overlapping {
        let why = "several threads run parallel regions at the same time";
        return refused(why, "instr summary shows what they do");
    }
    let missing = survey.gaps.iter().filter(|(why, ..)| why.is_region());
    let missing: u64 = missing.map(|(.., ns)| ns).sum();
    let share = missing as f64 / survey.elapsed.max(1) as f64;
    if share > MAX_UNMODELLED {
        let why = format!(
            "{} of its time is in regions that are not modelled",
            percent(share)
        );
        return refused(&why, "docs/predict.md says what is modelled");
    }
    if survey.regions == 0 {
        let why = "it has no parallel region of OpenMP that is complete";
        return refused(why, "instr summary shows what the trace has");
    }
    Ok(())
}

/// What the user asks, in terms of the trace.
fn question(
    found: &First,
    others: &[&First],
    namer: &Namer<'_>,
    asked: &Asked,
    library: Library,
) -> Result<Question> {
    let mut threads = match asked.threads.is_empty() {
        true => THREADS.to_vec(),
        false => asked.threads.clone(),
    };
    threads.sort_unstable();
    threads.dedup();
    let mut faster: Vec<(Spot, f64)> = Vec::new();
    for (given, factor) in &asked.faster {
        let spots = found.spots.all().iter().chain([&Spot::Serial]);
        let meant: Vec<Spot> = spots
            .filter(|spot| namer.is_spot(**spot, given))
            .copied()
            .collect();
        if meant.is_empty() {
            return Err(no_such(given, "--faster", "code", known_spots(found, namer)).into());
        }
        if faster.iter().any(|(spot, _)| meant.contains(spot)) {
            let message = format!("--faster {given}: this code has a factor already");
            return Err(WrongUsage(message).into());
        }
        faster.extend(meant.into_iter().map(|spot| (spot, *factor)));
    }
    let without = match &asked.without_lock {
        Some(given) => Some(lock(found, namer, given)?),
        None => None,
    };
    if let Some(chunk) = asked.chunk {
        if found.totals.iterations == 0 {
            return Err(Refusal {
                message: format!(
                    "--chunk {chunk}: the trace has no loop that is given out in chunks"
                ),
                notes: Vec::new(),
                help: Some("instr summary shows the loops of a trace".to_owned()),
            }
            .into());
        }
        let chunks = found.totals.iterations / chunk;
        if chunks > MAX_PIECES {
            return Err(WrongUsage(format!(
                "--chunk {chunk} makes {} chunks of one loop: more than {} are not simulated\n  \
                 help: chunks of {} iterations are possible",
                count(chunks),
                count(MAX_PIECES),
                found.totals.iterations / MAX_PIECES + 1
            ))
            .into());
        }
    }
    Ok(Question {
        threads,
        faster,
        without,
        chunk: asked.chunk,
        library,
        inflation: inflation(found, others),
        several: found.survey.costs,
    })
}

/// How much longer all work takes with twice as many threads: the mean of what the other traces show.
fn inflation(found: &First, others: &[&First]) -> f64 {
    let rates = others.iter().filter_map(|other| {
        let doublings = (other.survey.team as f64 / found.survey.team as f64).log2();
        let ratio = other.totals.work() as f64 / found.totals.work().max(1) as f64;
        (doublings.abs() > 0.1 && ratio > 0.0).then(|| ratio.powf(1.0 / doublings) - 1.0)
    });
    let rates: Vec<f64> = rates.collect();
    rates.iter().sum::<f64>() / rates.len().max(1) as f64
}

fn known_spots(found: &First, namer: &Namer<'_>) -> Vec<String> {
    let mut spots: Vec<_> = found.totals.spots.iter().collect();
    spots.sort_by_key(|(spot, total)| (std::cmp::Reverse(total.ns), **spot));
    let mut names: Vec<String> = spots.iter().map(|(spot, _)| namer.spot(**spot)).collect();
    names.push(names::SERIAL.to_owned());
    names
}

fn lock(found: &First, namer: &Namer<'_>, given: &str) -> Result<Lock> {
    let meant = found
        .totals
        .locks
        .keys()
        .filter(|lock| namer.is_lock(**lock, given));
    let meant: Vec<Lock> = meant.copied().collect();
    match meant.as_slice() {
        [lock] => Ok(*lock),
        [] => {
            let mut locks: Vec<_> = found.totals.locks.iter().collect();
            locks.sort_by_key(|(lock, ns)| (std::cmp::Reverse(**ns), **lock));
            let names = locks.iter().map(|(lock, _)| namer.lock(**lock)).collect();
            Err(no_such(given, "--without-lock", "lock", names).into())
        }
        several => {
            let all = several
                .iter()
                .take(MAX_NAMES)
                .map(|lock| format!("{:#x}", lock.object));
            Err(WrongUsage(format!(
                "--without-lock {given}: {} have this name\n  help: name one by its address: {}",
                counted(several.len() as u64, "lock"),
                all.collect::<Vec<_>>().join(", ")
            ))
            .into())
        }
    }
}

fn no_such(given: &str, option: &str, what: &str, names: Vec<String>) -> WrongUsage {
    let help = match names.len() {
        0 => format!("the trace has no {what}"),
        more => {
            let left = more.saturating_sub(MAX_NAMES);
            let mut listed: Vec<String> = names.into_iter().take(MAX_NAMES).collect();
            if left > 0 {
                listed.push(format!("... and {} more", count(left as u64)));
            }
            format!("the trace has {}", listed.join("; "))
        }
    };
    WrongUsage(format!(
        "{option} {given}: no {what} has this name\n  help: {help}"
    ))
}
