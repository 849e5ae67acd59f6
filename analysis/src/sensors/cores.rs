//! How many processors are busy, from the context switches of a system.

use instr_trace::model::{Run, Scheduler, Sink, Switch, is_idle};
use instr_trace::{Error, ThreadInfo, Trace};

/// A processor whose record leaves more than this share of it open is not known.
const MOST_UNKNOWN: f64 = 0.01;

/// Counts processors on which a thread other than the system's idle ones runs.
#[derive(Debug)]
pub(super) struct Cores {
    target: String,
    busy: Vec<bool>,
    count: usize,
}

/// Whether the first run of each processor is no idle thread's, and how long it is known who runs.
struct Known<'t> {
    target: &'t str,
    first: Vec<Option<bool>>,
    known: Vec<u64>,
}

impl Sink for Known<'_> {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;

    fn ran(&mut self, run: &Run) {
        self.first[run.processor].get_or_insert(!is_idle(self.target, run.os_tid));
        self.known[run.processor] += run.end - run.begin;
    }
}

impl Cores {
    /// Of a trace, before its first switch; `None` where switches were not recorded, or not so that it is always known who runs.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub(super) fn of(trace: &Trace) -> Result<Option<Self>, Error> {
        let (infos, target) = (trace.processor_infos(), &trace.metadata().target);
        let mut runs = Known {
            target,
            first: vec![None; infos.len()],
            known: vec![0; infos.len()],
        };
        Scheduler::replay(trace, &mut runs)?;
        let is_known = |(info, known): (&ThreadInfo, &u64)| {
            let recorded = (info.last_time - info.first_time) as f64;
            *known > 0 && recorded - *known as f64 <= recorded * MOST_UNKNOWN
        };
        if infos.is_empty() || !infos.iter().zip(&runs.known).all(is_known) {
            return Ok(None);
        }
        let busy: Vec<bool> = runs.first.iter().map(|busy| *busy == Some(true)).collect();
        Ok(Some(Self {
            target: target.clone(),
            count: busy.iter().filter(|busy| **busy).count(),
            busy,
        }))
    }

    /// How many are busy now.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// A processor turns to another thread.
    pub(super) fn switch(&mut self, switch: &Switch) {
        if let Some(was) = self.busy.get_mut(switch.processor) {
            let now = !is_idle(&self.target, switch.to);
            self.count = self.count + usize::from(now) - usize::from(*was);
            *was = now;
        }
    }
}
