//! What the system does with each thread of a trace that has no records of its threads' own, but the launcher's (`kernel`).

use hashbrown::{HashMap, HashSet};

use crate::error::Error;
use crate::kernel::{Leave, Part, Record, Recorded, Records, What};
use crate::trace::Trace;

use super::scheduled::{Scheduled, Step};

/// The launcher's records of the threads of one trace, in order of time.
#[derive(Debug)]
pub(super) struct Launched {
    records: Records,
    pid: u32,
    /// `CLOCK_MONOTONIC` at the trace's begin.
    start: u64,
    /// Positions of the threads that had a number, in order of their begin, and how many of them have been made.
    by_tid: HashMap<u32, (Vec<usize>, usize)>,
    /// Behind a loss, the threads of which nothing is known.
    unknown: Vec<usize>,
    /// Who runs on which processor.
    runs: HashMap<u32, usize>,
    /// Who waits, and was not woken yet.
    blocked: HashSet<usize>,
    lost: Option<(u64, u32)>,
    /// When the records end, which may be before the trace does; [`None`]: that was told.
    end: Option<u64>,
}

/// A program that another one started has its numbers for less time than this before it records, ns.
const BEFORE: u64 = 1_000_000_000;

/// The part of the trace that has its threads' switches; nothing if there is none, or their own records are there.
fn part(trace: &Trace) -> Option<&Part> {
    let part = trace.kernel_part()?;
    (trace.switch_infos().is_empty() && part.info().recorded != Recorded::Sums).then_some(part)
}

/// Positions of the threads whose switches the launcher recorded; none where they have records of their own.
pub(crate) fn threads(trace: &Trace) -> Vec<usize> {
    let all = trace.threads().iter().enumerate();
    let known = all.filter(|(_, thread)| thread.os_tid != 0);
    match part(trace) {
        Some(_) => known.map(|(position, _)| position).collect(),
        None => Vec::new(),
    }
}

impl Launched {
    pub(super) fn of(trace: &Trace) -> Result<Option<Self>, Error> {
        let Some(part) = part(trace) else {
            return Ok(None);
        };
        let mut by_tid: HashMap<u32, (Vec<usize>, usize)> = HashMap::new();
        let mut order = threads(trace);
        order.sort_by_key(|position| trace.threads()[*position].first_time);
        for position in order {
            let tid = trace.threads()[position].os_tid;
            by_tid.entry(tid).or_default().0.push(position);
        }
        let metadata = trace.metadata();
        let pid = u32::try_from(metadata.pid).unwrap_or(0);
        let start = metadata.start_monotonic_ns;
        let last = trace.threads().iter().map(|thread| thread.last_time);
        let until = start.saturating_add(last.max().unwrap_or(0));
        // Of the program itself, what it was before is known from its begin on.
        let since = match pid == part.info().pid {
            true => 0,
            false => start.saturating_sub(BEFORE),
        };
        let end = match part.info().end_monotonic_ns {
            0 => None,
            end => Some(end.saturating_sub(start)),
        };
        Ok(Some(Self {
            records: part.records_of(since..=until)?,
            pid,
            start,
            end: end.filter(|_| part.info().end_monotonic_ns < until),
            by_tid,
            unknown: Vec::new(),
            runs: HashMap::new(),
            blocked: HashSet::new(),
            lost: None,
        }))
    }

    /// The next change of one of the threads.
    pub(super) fn next(&mut self) -> Result<Option<Step>, Error> {
        loop {
            if let (Some(position), Some((time, lost))) = (self.unknown.pop(), self.lost) {
                return Ok(Some(step(time, position, Scheduled::Unknown, None, lost)));
            }
            let Some(record) = self.records.next()? else {
                let Some(end) = self.end.take() else {
                    return Ok(None);
                };
                self.lost = Some((end, 0));
                self.unknown = self
                    .by_tid
                    .values()
                    .flat_map(|(at, _)| at)
                    .copied()
                    .collect();
                self.unknown.sort_unstable();
                continue;
            };
            if let Some(found) = self.change(&record) {
                return Ok(Some(found));
            }
        }
    }

    fn change(&mut self, record: &Record) -> Option<Step> {
        let time = record.time.saturating_sub(self.start);
        let processor = record.processor;
        if let What::Lost(count) = record.what {
            self.lost = Some((time, u32::try_from(count).unwrap_or(u32::MAX)));
            self.unknown.extend(self.runs.remove(&processor));
            return None;
        }
        if record.thread.pid != self.pid {
            return None;
        }
        let (positions, made) = self.by_tid.get_mut(&record.thread.tid)?;
        if matches!(record.what, What::Fork(_)) {
            *made += 1;
        }
        let position = *positions.get(made.saturating_sub(1))?;
        let state = match record.what {
            What::In | What::Exec(_) => {
                self.blocked.remove(&position);
                self.runs.insert(processor, position);
                return Some(step(time, position, Scheduled::Running, Some(processor), 0));
            }
            What::Out(Leave::Blocked) => {
                self.blocked.insert(position);
                Scheduled::Blocked
            }
            What::Out(Leave::Ready | Leave::Yielded) | What::Fork(_) => Scheduled::Ready,
            What::Wake { .. } => {
                // One that had not left yet goes on as if nothing had been.
                let waited = self.blocked.remove(&position);
                return waited.then(|| step(time, position, Scheduled::Ready, None, 0));
            }
            What::Exit => {
                self.blocked.remove(&position);
                Scheduled::Unknown
            }
            What::Name(_) | What::Arguments(_) | What::Lost(_) | What::Priority(_) => return None,
        };
        self.runs.remove(&processor);
        Some(step(time, position, state, None, 0))
    }
}

fn step(time: u64, position: usize, state: Scheduled, processor: Option<u32>, lost: u32) -> Step {
    Step {
        time,
        position,
        state,
        processor,
        lost,
    }
}
