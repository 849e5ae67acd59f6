//! An outermost parallel region while it runs, and what is known of it at its end.

use super::path::{Segments, add};
use super::slab::Key;
use crate::event::RegionId;
use crate::task_map;

/// The tasks of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Level {
    /// How many.
    pub tasks: u64,
    /// Their work, ns.
    pub work: u64,
}

/// An outermost parallel region with explicit tasks. Durations in ns.
#[derive(Clone, Debug, Default)]
pub struct RegionRecord {
    /// Encountering thread and number there; [`None`] only by default.
    pub id: Option<RegionId>,
    /// Address of the body; 0: unknown.
    pub function: u64,
    /// `function` is a return address into the encountering function.
    pub call_site: bool,
    /// Entry of the construct, ns since the trace's start.
    pub begin: u64,
    /// T_P: from entry to return.
    pub elapsed: u64,
    /// P: threads that ran a part of it.
    pub threads: u64,
    /// Explicit tasks that ran.
    pub tasks: u64,
    /// Dependences of tasks created in it.
    pub edges: u64,
    /// T1: user code of all threads.
    pub work: u64,
    /// The part of `work` in explicit tasks.
    pub task_work: u64,
    /// T∞.
    pub span: u64,
    /// Heaviest chain of dependences.
    pub chain: u64,
    /// Tasks on the longest chain of dependences.
    pub chain_hops: u32,
    /// Tasks by level.
    pub levels: Vec<Level>,
    /// Time of threads outside of user code while a task was ready.
    pub delay: u64,
    /// Time of threads outside of user code while no task was ready.
    pub no_work: u64,
    /// Fewest threads in user code at one time, between the first and the last task body.
    pub min_parallelism: u64,
    /// Most threads in user code at one time.
    pub max_parallelism: u64,
    /// The fork-join graph, when it is kept.
    pub segments: Option<Segments>,
}

impl RegionRecord {
    /// Tasks on the longest path.
    pub fn span_hops(&self) -> u64 {
        self.levels.len() as u64
    }

    /// Most tasks of one level.
    pub fn width(&self) -> u64 {
        self.levels
            .iter()
            .map(|level| level.tasks)
            .max()
            .unwrap_or(0)
    }

    /// max(T1/P, T∞), rounded up.
    pub fn lower_bound(&self) -> u64 {
        self.work.div_ceil(self.threads.max(1)).max(self.span)
    }

    /// T1/P + T∞, rounded up.
    pub fn upper_bound(&self) -> u64 {
        self.work
            .div_ceil(self.threads.max(1))
            .saturating_add(self.span)
    }

    /// P × T_P = work + delay + no work.
    pub fn capacity(&self) -> u64 {
        self.threads.saturating_mul(self.elapsed)
    }
}

/// A region that runs.
#[derive(Debug, Default)]
pub(super) struct Unit {
    pub(super) record: RegionRecord,
    /// Explicit tasks created in it.
    pub(super) created: u64,
    /// Explicit tasks whose record was not yet given.
    pub(super) open: Vec<task_map::Key>,
    /// Positions of the threads that took part, ascending.
    pub(super) threads: Vec<u32>,
    pub(super) segments: Option<Segments>,
    /// Threads in user code now, and tasks that are ready and have not begun.
    working: u64,
    ready: u64,
    last: u64,
    ready_time: u64,
    work_while_ready: u64,
    /// Fewest threads in user code since the first task body; until the end of the last one.
    least: Option<u64>,
}

impl Unit {
    pub(super) fn new(id: RegionId, begin: u64, keep: usize) -> Self {
        Self {
            record: RegionRecord {
                id: Some(id),
                begin,
                ..RegionRecord::default()
            },
            segments: (keep > 0).then(|| Segments::up_to(keep)),
            last: begin,
            ..Self::default()
        }
    }

    /// Adds up to `now` what goes on.
    fn sweep(&mut self, now: u64) {
        let time = now.saturating_sub(self.last);
        if time == 0 {
            return;
        }
        self.last = now;
        let work = self.working.saturating_mul(time);
        add(&mut self.record.work, work);
        if self.ready > 0 {
            add(&mut self.ready_time, time);
            add(&mut self.work_while_ready, work);
        }
        self.record.max_parallelism = self.record.max_parallelism.max(self.working);
        if let Some(least) = &mut self.least {
            *least = self.working.min(*least);
        }
    }

    pub(super) fn add_thread(&mut self, thread: u32) {
        if let Err(at) = self.threads.binary_search(&thread) {
            self.threads.insert(at, thread);
        }
    }

    /// A thread entered or left user code.
    pub(super) fn working(&mut self, now: u64, enters: bool) {
        self.sweep(now);
        self.working = match enters {
            true => self.working + 1,
            false => self.working.saturating_sub(1),
        };
    }

    /// A task became ready, or began.
    pub(super) fn ready(&mut self, now: u64, more: bool) {
        self.sweep(now);
        self.ready = match more {
            true => self.ready + 1,
            false => self.ready.saturating_sub(1),
        };
    }

    pub(super) fn body_begins(&mut self, now: u64) {
        self.sweep(now);
        self.least.get_or_insert(u64::MAX);
    }

    pub(super) fn body_ends(&mut self, now: u64) {
        self.sweep(now);
        if let Some(least) = self.least
            && least != u64::MAX
        {
            self.record.min_parallelism = least;
        }
    }

    pub(super) fn finish(mut self, now: u64, span: u64) -> RegionRecord {
        self.sweep(now);
        let mut record = self.record;
        record.elapsed = now.saturating_sub(record.begin);
        record.threads = self.threads.len() as u64;
        record.span = span;
        let idle = |time: u64, work: u64| record.threads.saturating_mul(time).saturating_sub(work);
        record.delay = idle(self.ready_time, self.work_while_ready);
        record.no_work = idle(
            record.elapsed - self.ready_time.min(record.elapsed),
            record.work.saturating_sub(self.work_while_ready),
        );
        record.segments = self.segments;
        record
    }
}

/// Where a thread or a task is: the region's key.
pub(super) type UnitKey = Option<Key>;
