//! Several processes on one time line: what the commands that take traces work on.

mod merge;
mod timeline;

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::trace::Trace;

pub use merge::SessionMerge;
pub(crate) use timeline::Shift;
use timeline::Timeline;

/// Deepest nesting of forked children.
pub(crate) const MAX_FORKS: usize = 64;

/// The traces of the processes of a run.
///
/// Times of a trace are nanoseconds since its own begin. [`Session::time`] gives them as nanoseconds since the session's begin, which is the first
/// event of all.
#[derive(Debug)]
pub struct Session {
    traces: Vec<Trace>,
    parents: Vec<Option<usize>>,
    timeline: Timeline,
}

impl Session {
    /// Opens traces and those of the forked children nested in each: parents first, in order of `dirs` and process ids.
    ///
    /// # Errors
    ///
    /// Directories that hold no readable trace. Damage is no error, see [`Trace::open`].
    pub fn open<P: AsRef<Path>>(dirs: &[P]) -> Result<Self, Error> {
        let mut pending: Vec<(PathBuf, Option<usize>, usize)> = dirs
            .iter()
            .rev()
            .map(|dir| (dir.as_ref().to_owned(), None, 0))
            .collect();
        let (mut traces, mut parents) = (Vec::new(), Vec::new());
        while let Some((dir, parent, depth)) = pending.pop() {
            let trace = Trace::open(&dir)?;
            let own = traces.len();
            if depth < MAX_FORKS {
                let children = trace.children().iter().rev();
                pending.extend(children.map(|child| (child.clone(), Some(own), depth + 1)));
            }
            traces.push(trace);
            parents.push(parent);
        }
        Ok(Self::new(traces, parents))
    }

    /// A session of these traces alone, without those of forked children.
    #[must_use]
    pub fn of(traces: Vec<Trace>) -> Self {
        let parents = vec![None; traces.len()];
        Self::new(traces, parents)
    }

    fn new(traces: Vec<Trace>, parents: Vec<Option<usize>>) -> Self {
        let timeline = Timeline::of(&traces);
        Self {
            traces,
            parents,
            timeline,
        }
    }

    /// Lets every run begin at 0, so that runs of other days can be compared: a process that no other one of the session forked begins a run. Times
    /// of day, and [`Session::begin`], are those of the first run then.
    pub fn begin_together(&mut self) {
        let parents = &self.parents;
        let run = |mut at: usize| {
            while let Some(parent) = parents[at] {
                at = parent;
            }
            at
        };
        self.timeline.begin_together(&self.traces, run);
    }

    /// The traces. A process is named by its position here.
    #[must_use]
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }

    /// The process that forked this one, if its trace holds this one's. It comes before all its children.
    #[must_use]
    pub fn parent(&self, process: usize) -> Option<usize> {
        self.parents.get(process).copied().flatten()
    }

    /// A time of a process, ns since the begin of its trace, in ns since the session's begin.
    #[must_use]
    pub fn time(&self, process: usize, time: u64) -> u64 {
        let shift = self.timeline.shifts.get(process);
        shift.map_or(time, |shift| shift.output(time))
    }

    /// What must be added to a time of a process, ns since the begin of its trace, for the time by the clock of [`Session::begin`]: also of what was before the first event.
    #[must_use]
    pub fn offset(&self, process: usize) -> i64 {
        let shift = self.timeline.shifts.get(process);
        let shift = shift.map_or(0, |shift| shift.ns());
        let begin = i64::try_from(self.timeline.begin).unwrap_or(i64::MAX);
        begin.saturating_add(shift)
    }

    /// The first process of the run that this one is of: it was not started or forked by another one of the session.
    #[must_use]
    pub fn root(&self, process: usize) -> usize {
        let mut at = process;
        while let Some(parent) = self.parent(at) {
            at = parent;
        }
        at
    }

    /// The session's begin by `CLOCK_MONOTONIC`, ns, where all processes ran on one host; else ns since 1970.
    #[must_use]
    pub fn begin(&self) -> u64 {
        self.timeline.begin
    }

    /// The session's begin, ns since 1970.
    #[must_use]
    pub fn realtime(&self) -> u64 {
        self.timeline.realtime
    }

    /// All events in order of time.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn merge(&self) -> Result<SessionMerge<'_>, Error> {
        SessionMerge::new(&self.traces, &self.timeline.shifts)
    }

    /// From the times of each process to those of the session.
    pub(crate) fn shifts(&self) -> &[Shift] {
        &self.timeline.shifts
    }
}
