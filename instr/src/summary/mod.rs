//! `instr summary`: what a program did, as tables or JSON.

pub(crate) mod advice;
pub mod build;
pub mod constructs;
pub(crate) mod first;
pub mod load;
pub mod memory;
pub mod model;
pub mod notes;
pub(crate) mod power;
mod processes;
pub mod samples;
pub mod sensors;
pub mod switches;
pub mod table;
#[cfg(test)]
mod tests;
pub mod threads;
pub mod units;
mod verdict;

use std::io::{self, Write as _};

use anyhow::{Context, Result};
use instr_analysis::counts::Collector;
use instr_analysis::states::States;
use instr_analysis::{efficiency, executions, processor_time, scheduling};
use instr_trace::model::{State, pays_apart, relayed, replay_with};
use instr_trace::sensors::Definitions;
use instr_trace::tasks::{TaskStates, Totals, follows};
use instr_trace::{Event, Names, Session, ThreadInfo, Trace};

use crate::cli::{SummaryOptions, SymbolOptions};
use crate::console::{Console, NO_OUTPUT};
use crate::page::Page;
use crate::progress::Progress;
use crate::sheet::MAX_ROWS;
use crate::symbols;
pub use instr_analysis::counts;
use model::{Clock, FORMAT, Summary, Thread};
pub use power::Chip;

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, and failures to write.
pub fn run(options: &SummaryOptions, console: &mut Console<'_>) -> Result<()> {
    let (session, refused) = symbols::open_readable(&options.traces, console)?;
    show(&session, options, console)?;
    refused.map_or(Ok(()), Err)
}

fn show(session: &Session, options: &SummaryOptions, console: &mut Console<'_>) -> Result<()> {
    let chip = options.target.as_deref().map(Chip::named).transpose()?;
    let wanted = Wanted {
        chip: chip.as_ref(),
        executions: false,
    };
    let summaries = of_session(session, wanted, &options.symbols, console)?;
    let rows = options.top.map_or(MAX_ROWS, |top| top as usize);
    if options.json {
        let written = json(&summaries, &mut *console.out);
        return written
            .and_then(|()| writeln!(console.out))
            .context(NO_OUTPUT);
    }
    if options.leaks {
        let leaks = |page: &mut Page<'_>| {
            let mut each = summaries.iter();
            each.try_for_each(|summary| memory::table::leaks(summary, page))
        };
        return console.page(rows, leaks).context(NO_OUTPUT);
    }
    let sections = options.sections.chosen();
    let rows = match (options.top, sections.is_empty()) {
        (None, true) => first::MOST,
        _ => rows,
    };
    let tables = |page: &mut Page<'_>| text(&summaries, &sections, page);
    console.page(rows, tables).context(NO_OUTPUT)
}

/// Writes an object for one summary, else an array.
///
/// # Errors
///
/// Those of `out`.
pub(crate) fn json(summaries: &[Summary], out: &mut dyn io::Write) -> io::Result<()> {
    match summaries {
        [one] => serde_json::to_writer_pretty(out, one)?,
        several => serde_json::to_writer_pretty(out, several)?,
    }
    Ok(())
}

/// What a summary has that not all of its readers need.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted<'w> {
    /// The chip whose power model is used where nothing measured power.
    pub(crate) chip: Option<&'w Chip>,
    /// Durations of single executions.
    pub(crate) executions: bool,
}

/// The summaries of all processes, those of forked children in those of their parents.
///
/// # Errors
///
/// Stream files that cannot be read any more.
pub(crate) fn of_session(
    session: &Session,
    wanted: Wanted<'_>,
    symbols: &SymbolOptions,
    console: &mut Console<'_>,
) -> Result<Vec<Summary>> {
    let mut summaries = Vec::new();
    for (process, trace) in session.traces().iter().enumerate() {
        let mut summary = of_process(trace, symbols, wanted, console)?;
        summary.core_allocation =
            of_kernel(trace, crate::processors::of_trace(trace.dir()), console);
        let series = instr_analysis::series::series(trace.dir());
        summary.series = of_kernel(trace, series.map_err(anyhow::Error::from), console);
        if let Some(found) = summary
            .core_allocation
            .as_ref()
            .filter(|_| summary.is_only_processors())
        {
            summary.duration_ns = found.duration_ns;
            summary.processors = Some(found.processors.len() as u64);
            summary.verdict = None;
        }
        summary.started = trace.is_started();
        summary.forked = session.parent(process).is_some() && !summary.started;
        summaries.push(summary);
    }
    Ok(nested(summaries, session))
}

fn text(summaries: &[Summary], sections: &[table::Section], page: &mut Page<'_>) -> io::Result<()> {
    let mut told = notes::Told::default();
    for (at, summary) in summaries.iter().enumerate() {
        if at > 0 {
            writeln!(page)?;
        }
        table::write(summary, sections, &mut told, page)?;
    }
    Ok(())
}

fn of_process(
    trace: &Trace,
    options: &SymbolOptions,
    wanted: Wanted<'_>,
    console: &mut Console<'_>,
) -> Result<Summary> {
    let names = symbols::Symbols::of(trace, options);
    let mut progress = Progress::new("reading", console);
    let own = Chip::of(trace);
    let wanted = Wanted {
        chip: wanted.chip.or(own.as_ref()),
        ..wanted
    };
    let seen = progress.by_time(trace.end_time());
    let summary = summarize_by(trace, &names, wanted, seen, pays_apart(trace.bytes()))?;
    drop(progress);
    symbols::warn_of_unreadable(trace, console);
    names.report(console);
    Ok(summary)
}

/// Puts the summaries of forked children into those of their parents.
fn nested(mut summaries: Vec<Summary>, session: &Session) -> Vec<Summary> {
    let mut outermost = Vec::new();
    // Parents come before their children: from the last on, a summary is complete when it is taken.
    while let Some(mut summary) = summaries.pop() {
        summary.children.reverse();
        let parent = session.parent(summaries.len());
        match parent.and_then(|parent| summaries.get_mut(parent)) {
            Some(parent) => parent.children.push(summary),
            None => outermost.push(summary),
        }
    }
    outermost.reverse();
    outermost
}

/// The summary of one process, with the power of `chip` where nothing measured it; `seen` is called with the time of each event.
///
/// # Errors
///
/// Stream files that cannot be read any more.
pub fn summarize(
    trace: &Trace,
    names: &dyn Names,
    chip: Option<&Chip>,
    seen: impl FnMut(u64),
) -> Result<Summary> {
    let wanted = Wanted {
        chip,
        executions: false,
    };
    summarize_by(trace, names, wanted, seen, pays_apart(trace.bytes()))
}

/// `apart`: a thread of its own follows the tasks, which takes as long as reading the trace and everything else. The result is the same.
fn summarize_by(
    trace: &Trace,
    names: &dyn Names,
    wanted: Wanted<'_>,
    mut seen: impl FnMut(u64),
    apart: bool,
) -> Result<Summary> {
    let threads = trace.threads();
    let chip = wanted.chip;
    let mut executions = wanted
        .executions
        .then(|| executions::Collector::new(threads));
    let power = chip.map(|chip| chip.power.clone());
    let mut tasks = TaskStates::new(threads, Totals::default());
    let mut volume = Volume::new(threads.len());
    let has_switches = !trace.scheduled_threads().is_empty();
    let mut sinks = (
        (
            (
                Collector::new(threads, &Definitions::of(trace.metadata())),
                &mut executions,
            ),
            (
                efficiency::Collector::new(threads),
                (
                    States::new(threads.len()),
                    instr_analysis::threads::Collector::new(threads),
                ),
            ),
        ),
        (
            (
                instr_analysis::samples::Collector::new(names),
                instr_analysis::memory::Collector::new(threads),
            ),
            (
                instr_analysis::sensors::Collector::new(trace, power)?,
                (
                    instr_analysis::switches::Collector::new(trace),
                    (
                        processor_time::Collector::new(threads.len()),
                        has_switches.then(|| scheduling::Collector::new(trace)),
                    ),
                ),
            ),
        ),
    );
    relayed(&mut tasks, apart, follows, |tasks| {
        replay_with(trace, &mut (&mut sinks, tasks), |position, event| {
            seen(event.time);
            volume.add(position, event);
        })
    })?;
    let totals = tasks.finish();
    let (
        ((collector, _), (load, (states, made))),
        ((samples, memory), (readings, (switches, (times, scheduled)))),
    ) = sinks;
    let mut summary = head(trace);
    let (begin, last) = volume.span.unwrap_or_default();
    summary.duration_ns = last - begin;
    summary.threads = of_threads(trace, &volume, &states, &times);
    summary.events = volume.events.iter().sum();
    summary.bytes_per_event = per_event(summary.bytes, summary.events);
    build::fill(&mut summary, collector.finish(), &totals, names);
    summary.executions = executions
        .map(executions::Collector::finish)
        .unwrap_or_default();
    threads::build::fill(&mut summary, made.finish(), names);
    summary.samples = samples.finish();
    samples::label(&mut summary);
    summary.memory = memory::build::build(memory.finish(), begin, names);
    load::build::fill(&mut summary, &load.finish(), &totals, names);
    let target = chip.map_or("", |chip| &chip.target);
    sensors::build::fill(&mut summary, &readings.finish(), names, target);
    let target = instr_cc::targets::find(&summary.target).ok().flatten();
    let temperature = target.and_then(|target| target.temperature);
    sensors::convert::temperatures(&mut summary.sensors, temperature.as_ref());
    summary.context_switches = switches.section();
    if let Some(scheduled) = scheduled {
        build::scheduling(&mut summary, scheduled.finish(), names);
    }
    let (verdict, remarks) = verdict::of(&summary);
    summary.verdict = verdict;
    summary.remarks = remarks;
    Ok(summary)
}

/// What the launcher recorded. Where that is damaged the rest is shown; it is said once.
fn of_kernel<T>(trace: &Trace, found: Result<Option<T>>, console: &mut Console<'_>) -> Option<T> {
    found.unwrap_or_else(|error| {
        let text = error.to_string();
        let mut told = trace.warnings().iter().map(ToString::to_string);
        if !told.any(|told| told.contains(&text)) {
            console.warn(&text);
        }
        None
    })
}

/// What a trace says of its context switches where the launcher was to record them (`runtime/core/switches.c`).
const LEFT: &str = "no: left to instr run";

/// What metadata and index hold.
fn head(trace: &Trace) -> Summary {
    let metadata = trace.metadata();
    Summary {
        format: FORMAT,
        directory: trace.dir().display().to_string(),
        path: trace.dir().to_owned(),
        program: metadata.program.clone(),
        executable: metadata.executable.clone(),
        target: metadata.target.clone(),
        openmp: metadata.openmp.clone(),
        pid: Some(metadata.pid).filter(|pid| *pid != 0),
        closed: metadata.closed,
        clock: Clock {
            source: metadata.clock_source.clone(),
            frequency_hz: metadata.clock.freq,
        },
        started_realtime_ns: Some(metadata.start_realtime_ns).filter(|ns| *ns != 0),
        processors: metadata.processors,
        processor_quota: metadata.processor_quota.map(|quota| quota as f64 / 1000.0),
        switches: match trace.switch_infos().is_empty() && !trace.scheduled_threads().is_empty() {
            true => trace
                .kernel_part()
                .map(|part| format!("{}, by instr run", part.info().recorder.word())),
            false => metadata.switches.clone().map(|text| match text == LEFT {
                true => format!("{text}, whose records are not here"),
                false => text,
            }),
        },
        setting_trouble: crate::settings::trouble(metadata),
        discarded: trace.discarded(),
        discarded_unattached: metadata.discarded_unattached,
        lost_lines: metadata.lost_lines,
        lost_events: metadata.lost_events,
        truncated_streams: trace.truncated_streams() as u64,
        bytes: trace.bytes(),
        ..Summary::default()
    }
}

fn per_event(bytes: u64, events: u64) -> f64 {
    if events == 0 {
        return 0.0;
    }
    (bytes as f64 * 100.0 / events as f64).round() / 100.0
}

fn of_threads(
    trace: &Trace,
    volume: &Volume,
    states: &States,
    times: &processor_time::Collector,
) -> Vec<Thread> {
    let thread = |(position, info): (usize, &ThreadInfo)| {
        let ns = |state| states.ns(position, state);
        let time = times.of(position);
        Thread {
            index: info.index,
            os_tid: info.os_tid,
            name: info.name.clone(),
            useful_ns: ns(State::Useful),
            sync_ns: ns(State::Synchronization),
            sched_ns: ns(State::Scheduling),
            idle_ns: ns(State::Idle),
            flush_ns: ns(State::Flush),
            processor_ns: time.map(|time| time.run_ns),
            processor_wait_ns: time.map(|time| time.wait_ns),
            scheduling: None,
            birth: None,
            events: volume.events[position],
            discarded: info.discarded,
        }
    };
    trace.threads().iter().enumerate().map(thread).collect()
}

/// How many events there are, and when.
struct Volume {
    /// By position of the thread.
    events: Vec<u64>,
    /// Times of the first and the last one.
    span: Option<(u64, u64)>,
}

impl Volume {
    fn new(threads: usize) -> Self {
        Self {
            events: vec![0; threads],
            span: None,
        }
    }

    /// Threads of the runtime's own, which have later positions, do not count.
    #[inline]
    fn add(&mut self, position: usize, event: &Event<'_>) {
        let Some(events) = self.events.get_mut(position) else {
            return;
        };
        let span = self.span.get_or_insert((event.time, event.time));
        *span = (span.0.min(event.time), span.1.max(event.time));
        *events += u64::from(event.payload.id() != 0);
    }
}
