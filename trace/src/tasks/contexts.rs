//! What runs: tasks of any kind as generators of others, threads, and teams with their barriers.

use std::collections::VecDeque;

use super::Parent;
use super::path::{Joins, OUTSIDE, Point};
use super::region::UnitKey;
use super::slab::{Key, Serial, after};
use crate::task_map;

/// A task of any kind between its begin and its end.
#[derive(Debug)]
pub(super) struct Context {
    /// Of its [`Key`]; none: it has ended.
    serial: Option<Serial>,
    pub(super) parent: Parent,
    /// The record of an explicit task.
    pub(super) task: Option<task_map::Key>,
    /// Owner of its segments.
    pub(super) owner: u32,
    pub(super) point: Point,
    /// Ends of the children so far, which a `taskwait` waits for.
    pub(super) children: Joins,
    /// Taskgroups it has open, and the one it was created in.
    pub(super) groups: Vec<Key>,
    pub(super) group: Option<Key>,
    pub(super) unit: UnitKey,
    /// Team of the innermost region.
    pub(super) team: Option<Key>,
    /// Barriers it has passed, and whether it is in one.
    pub(super) barriers: u64,
    pub(super) arrived: bool,
    /// A final task, or a descendant of one: its children are included tasks.
    pub(super) is_final: bool,
    /// The `taskwait` with dependences that it is in.
    pub(super) waiting: Option<task_map::Key>,
    pub(super) duration: u64,
    pub(super) work: u64,
}

impl Context {
    fn ended() -> Self {
        Self {
            serial: None,
            parent: Parent::Initial { thread: 0 },
            task: None,
            owner: OUTSIDE,
            point: Point::START,
            children: Joins::default(),
            groups: Vec::new(),
            group: None,
            unit: None,
            team: None,
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
}

/// What runs, by the numbers that the interpreter gives to bodies.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    contexts: Vec<Context>,
    /// Of the last one that began.
    last: Option<Serial>,
}

impl Bodies {
    /// A task begins.
    pub(super) fn begin(&mut self, body: u32, parent: Parent, point: Point) -> &mut Context {
        let at = body as usize;
        if at >= self.contexts.len() {
            self.contexts.resize_with(at + 1, Context::ended);
        }
        let serial = self.last.map_or(Serial::MIN, after);
        self.last = Some(serial);
        let context = &mut self.contexts[at];
        let mut children = std::mem::take(&mut context.children);
        children.clear();
        let mut groups = std::mem::take(&mut context.groups);
        groups.clear();
        *context = Context {
            serial: Some(serial),
            parent,
            point,
            children,
            groups,
            ..Context::ended()
        };
        context
    }

    /// A task has ended.
    pub(super) fn end(&mut self, body: u32) {
        if let Some(context) = self.contexts.get_mut(body as usize) {
            context.serial = None;
        }
    }

    #[inline]
    pub(super) fn at(&self, body: u32) -> Option<&Context> {
        let context = self.contexts.get(body as usize)?;
        context.serial.is_some().then_some(context)
    }

    #[inline]
    pub(super) fn at_mut(&mut self, body: u32) -> Option<&mut Context> {
        let context = self.contexts.get_mut(body as usize)?;
        context.serial.is_some().then_some(context)
    }

    #[inline]
    pub(super) fn key(&self, body: u32) -> Option<Key> {
        let serial = self.at(body)?.serial?;
        Some(Key {
            index: body,
            serial,
        })
    }

    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<&Context> {
        let context = self.contexts.get(key.index as usize)?;
        (context.serial == Some(key.serial)).then_some(context)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut Context> {
        let context = self.contexts.get_mut(key.index as usize)?;
        (context.serial == Some(key.serial)).then_some(context)
    }
}

/// A thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) index: u32,
    /// The body that runs.
    pub(super) runs: u32,
    pub(super) unit: UnitKey,
    /// Whether it is in user code.
    pub(super) useful: bool,
    /// Up to here its time is accounted for.
    pub(super) last: u64,
}

/// A construct whose tasks show later.
#[derive(Clone, Copy, Debug)]
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
    pub(super) team: Option<Key>,
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
