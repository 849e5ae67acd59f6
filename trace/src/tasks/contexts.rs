//! What runs: tasks of any kind as generators of others, threads, and teams with their barriers.

use std::collections::VecDeque;

use super::path::{Joins, OUTSIDE, Point};
use super::region::UnitKey;
use super::slab::Key;
use crate::current::Parent;
use crate::event::{RegionId, TaskId};

/// A task of any kind between its begin and its end.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) parent: Parent,
    /// Owner of its segments.
    pub(super) owner: u32,
    pub(super) point: Point,
    /// Ends of the children so far, which a `taskwait` waits for.
    pub(super) children: Joins,
    /// Taskgroups it has open, and the one it was created in.
    pub(super) groups: Vec<Key>,
    pub(super) group: Option<Key>,
    pub(super) unit: UnitKey,
    /// Innermost region.
    pub(super) region: Option<RegionId>,
    /// Barriers it has passed, and whether it is in one.
    pub(super) barriers: u64,
    pub(super) arrived: bool,
    /// A final task, or a descendant of one: its children are included tasks.
    pub(super) is_final: bool,
    /// The `taskwait` with dependences that it is in.
    pub(super) waiting: Option<TaskId>,
    pub(super) duration: u64,
    pub(super) work: u64,
}

impl Context {
    pub(super) fn new(parent: Parent, point: Point) -> Self {
        Self {
            parent,
            owner: OUTSIDE,
            point,
            children: Joins::default(),
            groups: Vec::new(),
            group: None,
            unit: None,
            region: None,
            barriers: 0,
            arrived: false,
            is_final: false,
            waiting: None,
            duration: 0,
            work: 0,
        }
    }

    pub(super) fn innermost_group(&self) -> Option<Key> {
        self.groups.last().copied().or(self.group)
    }

    pub(super) fn task(&self) -> Option<TaskId> {
        match self.parent {
            Parent::Explicit(task) => Some(task),
            Parent::Implicit { .. } | Parent::Initial { .. } => None,
        }
    }
}

/// A thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) index: u32,
    /// Running contexts, the initial task first.
    pub(super) frames: Vec<Key>,
    /// Places of the implicit tasks among them.
    pub(super) implicit: Vec<(usize, RegionId)>,
    pub(super) unit: UnitKey,
    /// Whether it is in user code since its last event.
    pub(super) useful: bool,
    pub(super) last: u64,
    /// Numbers of the tasks being created.
    pub(super) creating: Vec<u32>,
    pub(super) taskloops: Vec<TaskId>,
}

/// A construct whose tasks show later.
#[derive(Debug)]
pub(super) struct Taskloop {
    pub(super) function: u64,
    pub(super) flags: u32,
    pub(super) parent: Parent,
    pub(super) creator: Key,
    pub(super) start: Point,
    pub(super) group: Option<Key>,
    /// Whether the construct itself is a taskgroup.
    pub(super) is_group: bool,
    pub(super) unit: UnitKey,
    pub(super) region: Option<RegionId>,
}

/// A parallel region of any depth.
#[derive(Debug)]
pub(super) struct Team {
    pub(super) unit: UnitKey,
    pub(super) outermost: bool,
    pub(super) start: Point,
    /// Ends of implicit tasks.
    pub(super) ends: Joins,
    /// Ends of explicit tasks since the last barrier.
    pub(super) tasks: Joins,
    barriers: VecDeque<Barrier>,
    /// Barriers that all have left.
    passed: u64,
}

#[derive(Debug, Default)]
struct Barrier {
    arrivals: Joins,
    inside: u32,
    /// Where it ends, once the first thread has left.
    end: Option<Point>,
}

impl Team {
    pub(super) fn new(unit: UnitKey, outermost: bool, start: Point) -> Self {
        Self {
            unit,
            outermost,
            start,
            ends: Joins::default(),
            tasks: Joins::default(),
            barriers: VecDeque::new(),
            passed: 0,
        }
    }

    /// A thread comes to its barrier `number` (from 0). Whether that barrier is open to it.
    pub(super) fn arrive(&mut self, number: u64, point: Point) -> bool {
        let Some(at) = number.checked_sub(self.passed) else {
            return false;
        };
        let at = at as usize;
        if at == self.barriers.len() {
            self.barriers.push_back(Barrier::default());
        }
        let Some(barrier) = self.barriers.get_mut(at) else {
            return false;
        };
        barrier.arrivals.add(point);
        barrier.inside += 1;
        true
    }

    /// A thread leaves its barrier `number`; `open` makes the point where it ends out of what it waits for.
    pub(super) fn leave(
        &mut self,
        number: u64,
        open: impl FnOnce(&Joins) -> Point,
    ) -> Option<Point> {
        let at = number.checked_sub(self.passed)? as usize;
        let barrier = self.barriers.get_mut(at)?;
        let end = match barrier.end {
            Some(end) => end,
            None => {
                let mut joins = std::mem::take(&mut barrier.arrivals);
                joins.append(&mut std::mem::take(&mut self.tasks));
                *barrier.end.insert(open(&joins))
            }
        };
        barrier.inside = barrier.inside.saturating_sub(1);
        while let Some(first) = self.barriers.front()
            && first.end.is_some()
            && first.inside == 0
        {
            self.barriers.pop_front();
            self.passed += 1;
        }
        Some(end)
    }
}
