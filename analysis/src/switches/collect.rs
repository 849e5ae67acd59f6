//! Switches to the section.

use std::collections::BTreeMap;

use instr_trace::model::{At, Run, Scheduled, Sink, Switch, is_idle};
use instr_trace::{ThreadInfo, Trace};

use super::model::{ContextSwitches, OnProcessor, Processor, ScheduledThread};

/// Folds what an interpreter and a scheduler give of processors.
#[derive(Debug)]
pub struct Collector<'t> {
    trace: &'t Trace,
    processors: Vec<Processor>,
    /// By position and the system's id; threads that are not in the trace come last.
    threads: BTreeMap<(usize, u32), Times>,
    /// By position: where threads themselves say that they run.
    by_thread: Vec<Times>,
}

/// Of a thread.
#[derive(Debug, Default, Clone)]
struct Times {
    last: Option<u32>,
    migrations: u64,
    runs: u64,
    /// It tells its own switches, and has run on this processor since then.
    running: Option<(u32, u64)>,
    /// It waits, and was not woken yet.
    blocked: bool,
    leaves: u64,
    timed: bool,
    by_processor: BTreeMap<u32, u64>,
}

impl Times {
    fn goes_on(&mut self, processor: u32) {
        self.migrations += u64::from(self.last.is_some_and(|last| last != processor));
        self.last = Some(processor);
        self.by_processor.entry(processor).or_default();
    }

    /// A run that it told itself is over.
    fn stops(&mut self, time: u64) {
        if let Some((processor, since)) = self.running.take() {
            let ran = self.by_processor.entry(processor).or_default();
            *ran += time.saturating_sub(since);
        }
    }
}

impl Sink for Collector<'_> {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;
    const PROCESSORS: bool = true;

    #[inline]
    fn on_cpu(&mut self, at: At, processor: Option<u32>) {
        if let (Some(times), Some(processor)) = (self.by_thread.get_mut(at.position), processor) {
            times.goes_on(processor);
        }
    }

    /// Comes behind what [`Sink::on_cpu`] says of it.
    fn scheduled(&mut self, at: At, state: Scheduled, _lost: u32) {
        let Some(times) = self.by_thread.get_mut(at.position) else {
            return;
        };
        times.timed = true;
        times.stops(at.time);
        match state {
            Scheduled::Running => {
                times.runs += 1;
                times.running = times.last.map(|processor| (processor, at.time));
            }
            Scheduled::Ready if times.blocked => {} // it was woken
            Scheduled::Ready | Scheduled::Blocked => times.leaves += 1,
            Scheduled::Unknown => {}
        }
        times.blocked = state == Scheduled::Blocked;
    }

    fn thread_end(&mut self, at: At) {
        if let Some(times) = self.by_thread.get_mut(at.position) {
            times.stops(at.time);
        }
    }

    #[inline]
    fn switch(&mut self, switch: &Switch) {
        self.processors[switch.processor].switches += u64::from(switch.from.is_some());
    }

    #[inline]
    fn ran(&mut self, run: &Run) {
        let at = &mut self.processors[run.processor];
        let time = run.end - run.begin;
        match is_idle(&self.trace.metadata().target, run.os_tid) {
            true => at.idle_ns += time,
            false => at.busy_ns += time,
        }
        let position = run.thread.unwrap_or(usize::MAX);
        let times = self.threads.entry((position, run.os_tid)).or_default();
        times.goes_on(at.processor);
        times.runs += 1;
        *times.by_processor.entry(at.processor).or_default() += time;
    }
}

impl<'t> Collector<'t> {
    /// Of a trace.
    pub fn new(trace: &'t Trace) -> Self {
        let processor = |info: &ThreadInfo| Processor {
            processor: info.os_tid,
            recorded_ns: info.last_time - info.first_time,
            ..Processor::default()
        };
        Self {
            trace,
            processors: trace.processor_infos().iter().map(processor).collect(),
            threads: BTreeMap::new(),
            by_thread: vec![Times::default(); trace.threads().len()],
        }
    }

    /// The section; `None` when nothing is known of processors.
    pub fn section(self) -> Option<ContextSwitches> {
        let target = &self.trace.metadata().target;
        let infos = self.trace.threads();
        if !self.processors.is_empty() {
            return Some(self.by_processors());
        }
        let known = |times: &&Times| times.last.is_some();
        if !self.by_thread.iter().any(|times| known(&times)) {
            return None;
        }
        let timed = self.by_thread.iter().any(|times| times.timed);
        let threads = infos.iter().zip(&self.by_thread);
        let threads = threads.filter(|(_, times)| known(times));
        Some(ContextSwitches {
            source: if timed { "threads" } else { "events" },
            count: self.by_thread.iter().map(|times| times.leaves).sum(),
            threads: threads
                .map(|(info, times)| thread(info.os_tid, Some(info), target, times, times.timed))
                .collect(),
            ..ContextSwitches::default()
        })
    }

    fn by_processors(mut self) -> ContextSwitches {
        for at in &mut self.processors {
            at.unknown_ns = at.recorded_ns.saturating_sub(at.busy_ns + at.idle_ns);
        }
        self.processors.sort_by_key(|at| at.processor);
        let (target, infos) = (&self.trace.metadata().target, self.trace.threads());
        let threads = self.threads.iter().map(|((position, os_tid), times)| {
            thread(*os_tid, infos.get(*position), target, times, true)
        });
        ContextSwitches {
            source: "switches",
            count: self.processors.iter().map(|at| at.switches).sum(),
            threads: threads.collect(),
            processors: self.processors,
        }
    }
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
