//! Switches to the section.

use std::collections::BTreeMap;

use instr_trace::switches::{Run, Runs, is_idle};
use instr_trace::{Error, Event, Payload, ThreadInfo, Trace};

use super::model::{ContextSwitches, OnProcessor, Processor, ScheduledThread};

/// Processors that threads' own events tell of (event 89), for traces without switches.
#[derive(Debug)]
pub struct Seen {
    by_thread: Vec<Times>,
}

/// Of a thread.
#[derive(Debug, Default, Clone)]
struct Times {
    last: Option<u32>,
    migrations: u64,
    runs: u64,
    by_processor: BTreeMap<u32, u64>,
}

impl Times {
    fn goes_on(&mut self, processor: u32) {
        self.migrations += u64::from(self.last.is_some_and(|last| last != processor));
        self.last = Some(processor);
        self.by_processor.entry(processor).or_default();
    }
}

impl Seen {
    /// For the threads of one trace.
    pub fn new(threads: usize) -> Self {
        Self {
            by_thread: vec![Times::default(); threads],
        }
    }

    /// Takes an event of the thread at `position`.
    #[inline]
    pub fn event(&mut self, position: usize, event: &Event<'_>) {
        if let Payload::Processor { processor } = event.payload
            && let Some(times) = self.by_thread.get_mut(position)
        {
            times.goes_on(processor);
        }
    }
}

/// The section of a trace; `None` when nothing is known of processors.
///
/// # Errors
///
/// Stream files that cannot be read any more.
pub fn section(trace: &Trace, seen: &Seen) -> Result<Option<ContextSwitches>, Error> {
    if trace.processors() > 0 {
        return from_switches(trace).map(Some);
    }
    let known = |times: &&Times| times.last.is_some();
    if !seen.by_thread.iter().any(|times| known(&times)) {
        return Ok(None);
    }
    let threads = trace.threads().iter().zip(&seen.by_thread);
    Ok(Some(ContextSwitches {
        source: "events",
        threads: threads
            .filter(|(_, times)| known(times))
            .map(|(info, times)| {
                thread(
                    info.os_tid,
                    Some(info),
                    &trace.metadata().target,
                    times,
                    false,
                )
            })
            .collect(),
        ..ContextSwitches::default()
    }))
}

fn from_switches(trace: &Trace) -> Result<ContextSwitches, Error> {
    let (infos, target) = (trace.processor_infos(), &trace.metadata().target);
    let mut processors: Vec<Processor> = infos
        .iter()
        .map(|info| Processor {
            processor: info.os_tid,
            recorded_ns: info.last_time - info.first_time,
            ..Processor::default()
        })
        .collect();
    // Threads of the trace come first: None is larger than their positions.
    let mut threads: BTreeMap<(usize, u32), Times> = BTreeMap::new();
    let finder = Finder::new(trace.threads());
    let mut runs = Runs::of(trace);
    while let Some(run) = runs.next()? {
        let at = &mut processors[run.processor];
        let time = run.end - run.begin;
        match is_idle(target, run.os_tid) {
            true => at.idle_ns += time,
            false => at.busy_ns += time,
        }
        let position = finder.find(&run).unwrap_or(usize::MAX);
        let times = threads.entry((position, run.os_tid)).or_default();
        times.goes_on(at.processor);
        times.runs += 1;
        *times.by_processor.entry(at.processor).or_default() += time;
    }
    let mut merge = trace.switches();
    while let Some(event) = merge.next()? {
        let switched =
            matches!(event.payload, Payload::ThreadSwitch { from, to, .. } if from != to);
        if let Some(position) = merge.position().filter(|_| switched) {
            processors[position].switches += 1;
        }
    }
    for at in &mut processors {
        at.unknown_ns = at.recorded_ns.saturating_sub(at.busy_ns + at.idle_ns);
    }
    processors.sort_by_key(|at| at.processor);
    Ok(ContextSwitches {
        source: "switches",
        count: processors.iter().map(|at| at.switches).sum(),
        processors,
        threads: threads
            .iter()
            .map(|((position, os_tid), times)| {
                thread(*os_tid, trace.threads().get(*position), target, times, true)
            })
            .collect(),
    })
}

fn thread(
    os_tid: u32,
    info: Option<&ThreadInfo>,
    target: &str,
    times: &Times,
    timed: bool,
) -> ScheduledThread {
    let name = match info {
        Some(info) => info.name.clone(),
        None if is_idle(target, os_tid) => format!("idle {}", os_tid & 0xffff),
        None => format!("{os_tid:#010x}"),
    };
    let by_processor = times.by_processor.iter();
    ScheduledThread {
        os_tid,
        index: info.map(|info| info.index),
        name,
        running_ns: timed.then(|| times.by_processor.values().sum()),
        runs: timed.then_some(times.runs),
        migrations: times.migrations,
        by_processor: by_processor
            .map(|(processor, time)| OnProcessor {
                processor: *processor,
                running_ns: timed.then_some(*time),
            })
            .collect(),
    }
}

/// Finds threads by the system's id, which it may give again after a thread's end.
struct Finder {
    /// Positions and ends, by id.
    by_id: BTreeMap<u32, Vec<(u64, usize)>>,
}

impl Finder {
    fn new(threads: &[ThreadInfo]) -> Self {
        let mut by_id: BTreeMap<u32, Vec<(u64, usize)>> = BTreeMap::new();
        for (position, info) in threads.iter().enumerate() {
            by_id
                .entry(info.os_tid)
                .or_default()
                .push((info.last_time, position));
        }
        for known in by_id.values_mut() {
            known.sort_unstable();
        }
        Self { by_id }
    }

    /// The one that had not ended yet; a thread may run before its first event, and after its last.
    fn find(&self, run: &Run) -> Option<usize> {
        let known = self.by_id.get(&run.os_tid)?;
        let at = known.partition_point(|(end, _)| *end < run.begin);
        known
            .get(at)
            .or(known.last())
            .map(|(_, position)| *position)
    }
}
