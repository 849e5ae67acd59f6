//! Explicit tasks over time: their states, and the order of a run as a fork-join graph. `docs/graph.md` has the definitions.
//!
//! [`TaskStates`] is a [`crate::model::Sink`]. It gives its own [`TaskSink`] a [`TaskRecord`] for every task when it can no longer change, and a
//! [`RegionRecord`] for every outermost parallel region with tasks when it has ended. Memory grows with the tasks that live, and those
//! that may still be predecessors; levels of a region take 16 bytes each. Segments, which slack and critical path need, are kept
//! only when asked for, for one region at a time.

mod contexts;
mod create;
mod detach;
mod life;
mod live;
mod path;
mod region;
mod slab;
mod states;
mod teams;
mod totals;

pub use path::{CriticalPath, OUTSIDE, Segments};
pub use region::{Level, RegionRecord};
pub use states::{TaskStates, follows};
pub use totals::Totals;

use crate::event::{RegionId, TaskId};

/// A task of any kind, as the generator of explicit tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parent {
    /// The initial task of a thread: outside all regions.
    Initial {
        /// Index of the thread.
        thread: u32,
    },
    /// The implicit task of a region on a thread.
    Implicit {
        /// Index of the thread.
        thread: u32,
        /// The region.
        region: RegionId,
    },
    /// An explicit task.
    Explicit(TaskId),
}

/// What made a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum TaskKind {
    /// `task`.
    #[default]
    Task,
    /// A piece of a `taskloop`.
    Taskloop,
    /// `taskwait` with a `depend` clause: an empty task.
    Taskwait,
    /// A device construct with `nowait` or `depend`.
    Target,
}

/// An explicit task. Times are ns since the trace's start; what the trace does not hold is [`None`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    /// Creating thread and number there.
    pub id: TaskId,
    /// Place in the order of creation over all threads, from 0.
    pub number: u64,
    /// What made it.
    pub kind: TaskKind,
    /// Address of the body (see [`crate::event::task_flags::CALL_SITE`]); 0: unknown.
    pub function: u64,
    /// [`crate::event::task_flags`].
    pub flags: u32,
    /// The task that created it.
    pub parent: Option<Parent>,
    /// The outermost parallel region it was created in.
    pub region: Option<RegionId>,
    /// Thread that began the body.
    pub thread: Option<u32>,
    /// Entry of the construct.
    pub created: Option<u64>,
    /// The later of creation and the last predecessor's completion.
    pub ready: Option<u64>,
    /// Begin of the body.
    pub begin: Option<u64>,
    /// End of the body.
    pub end: Option<u64>,
    /// End, or the later fulfilment of the `detach` event.
    pub complete: Option<u64>,
    /// From begin to end, without tasks that ran on top on the same thread and without the time it was suspended, ns.
    pub duration: u64,
    /// The part of `duration` in user code, ns.
    pub work: u64,
    /// Tasks on the longest path that ends just before it; [`None`] when it never began.
    pub level: Option<u32>,
    /// The body ran inside the construct that created it.
    pub undeferred: bool,
    /// It never began though its region has ended.
    pub cancelled: bool,
}

impl TaskRecord {
    pub(crate) fn new(id: TaskId, number: u64) -> Self {
        Self {
            id,
            number,
            kind: TaskKind::Task,
            function: 0,
            flags: 0,
            parent: None,
            region: None,
            thread: None,
            created: None,
            ready: None,
            begin: None,
            end: None,
            complete: None,
            duration: 0,
            work: 0,
            level: None,
            undeferred: false,
            cancelled: false,
        }
    }

    /// From creation to readiness, ns.
    pub fn dependency_wait(&self) -> Option<u64> {
        Some(self.ready?.saturating_sub(self.created?))
    }

    /// From readiness to the begin of the body, ns; 0 when it began too early.
    pub fn ready_wait(&self) -> Option<u64> {
        Some(self.begin?.saturating_sub(self.ready?))
    }
}

/// Takes what [`TaskStates`] finds out.
pub trait TaskSink {
    /// `to` depends on `from`: given when `to` is created, each pair once.
    fn edge(&mut self, from: TaskId, to: TaskId) {
        let _ = (from, to);
    }

    /// `before` and `task`, which is created, do not run at the same time, in whatever order: they follow each other in a `mutexinoutset`. Given as edges are.
    fn excludes(&mut self, before: TaskId, task: TaskId) {
        let _ = (before, task);
    }

    /// At this time one more task of a region is ready to begin, or one that was so is no longer: it began, or the trace ends. Times do not go back.
    fn ready(&mut self, time: u64, more: bool) {
        let _ = (time, more);
    }

    /// A task that will not change any more. All tasks of a region come before the region.
    fn task(&mut self, task: &TaskRecord);

    /// An outermost parallel region that has ended and in which explicit tasks were created.
    fn region(&mut self, region: RegionRecord);

    /// The order of the run contradicts the rules: `edges` tasks began before a predecessor was complete, `overlaps` pairs of
    /// `mutexinoutset` siblings ran at the same time. Called once, at the end.
    fn violations(&mut self, edges: u64, overlaps: u64) {
        let _ = (edges, overlaps);
    }
}

impl<S: TaskSink + ?Sized> TaskSink for &mut S {
    fn edge(&mut self, from: TaskId, to: TaskId) {
        (**self).edge(from, to);
    }

    fn excludes(&mut self, before: TaskId, task: TaskId) {
        (**self).excludes(before, task);
    }

    fn ready(&mut self, time: u64, more: bool) {
        (**self).ready(time, more);
    }

    fn task(&mut self, task: &TaskRecord) {
        (**self).task(task);
    }

    fn region(&mut self, region: RegionRecord) {
        (**self).region(region);
    }

    fn violations(&mut self, edges: u64, overlaps: u64) {
        (**self).violations(edges, overlaps);
    }
}
