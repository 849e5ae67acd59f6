//! What is open: stays of threads in regions, and the regions.

use std::collections::{BTreeMap, BTreeSet};

use instr_trace::RegionId;
use instr_trace::model::{Activity, Code};

use super::region::ThreadLoad;

/// A thread's stay in a region: as long as the construct, its implicit task or its closing barrier is open on the thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    pub(super) region: RegionId,
    /// The outermost region around it.
    pub(super) root: RegionId,
    pub(super) thread_num: u32,
    pub(super) useful: u64,
    pub(super) barrier: u64,
    /// From the region's begin to that of the thread's implicit task, once it has begun.
    pub(super) start: Option<u64>,
    /// This thread encountered the region.
    pub(super) leads: bool,
    /// The construct is open.
    pub(super) construct: bool,
    /// Implicit tasks and closing barriers that are open.
    pub(super) inside: u32,
    /// Of these, implicit tasks whose begin has to be given again behind a gap.
    pub(super) unseen: u32,
}

/// One thread of the trace.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) index: u32,
    pub(super) initial: bool,
    /// Which of the P threads it is.
    pub(super) place: Option<usize>,
    pub(super) stays: Vec<Stay>,
    /// Useful time outside of regions not handed on yet.
    pub(super) serial: u64,
    pub(super) activity: Activity,
    pub(super) since: u64,
    pub(super) begin: Option<u64>,
    /// Time of its last event.
    pub(super) last: u64,
    pub(super) ended: bool,
}

impl Line {
    /// Counts the time up to `now` for what the thread did.
    #[inline]
    pub(super) fn settle(&mut self, now: u64) {
        let now = now.min(self.last);
        let time = now.saturating_sub(self.since);
        self.since = self.since.max(now);
        match (self.activity, self.stays.last_mut()) {
            (Activity::Useful, Some(stay)) => add(&mut stay.useful, time),
            (Activity::Useful, None) => add(&mut self.serial, time),
            (Activity::Barrier, Some(stay)) => add(&mut stay.barrier, time),
            _ => {}
        }
    }
}

pub(super) fn add(to: &mut u64, ns: u64) {
    *to = to.saturating_add(ns);
}

/// A region that runs.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) code: Code,
    pub(super) root: RegionId,
    pub(super) begin: u64,
    pub(super) members: Vec<usize>,
    pub(super) loads: Vec<(u32, ThreadLoad)>,
}

/// An outermost region that runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Root {
    pub(super) code: Code,
    pub(super) begin: u64,
    /// Threads that entered it or a region inside of it.
    pub(super) members: BTreeSet<usize>,
    /// Useful time by place among the P threads.
    pub(super) useful: BTreeMap<usize, u64>,
}

/// One of the P threads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) useful: u64,
    /// When the thread that had it ended.
    pub(super) free: Option<u64>,
}

/// Deeper nesting is damage: it is not followed.
pub(super) const MAX_DEPTH: usize = 1 << 12;
/// A region is not looked for below so many others, which have lost their ends.
pub(super) const MAX_LOOK: usize = 64;
