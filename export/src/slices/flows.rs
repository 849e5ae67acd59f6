//! Flows: from the creation of a task to its begin, and from the end of a task to the begin of each task that depends on it.
//!
//! A flow of a dependence is known when the successor is created. Has the predecessor not ended by then, its end carries the flow; else it gets a
//! mark of its own at the time of that end. What is kept is bounded by the tasks that live or may still be predecessors.

use instr_trace::depend::{Graph, Node};
use instr_trace::event::{Deps, TaskId};
use instr_trace::model::At;
use instr_trace::task_map::{Key, TaskMap, Value};

/// Flows of one process.
const FLOWS: u32 = 40;

/// A task that may still be an end of a flow.
#[derive(Debug, Default)]
struct Live {
    number: u64,
    /// Flows that end where it begins.
    incoming: Vec<u64>,
    /// Flows that begin where it ends.
    outgoing: Vec<u64>,
    /// Time and thread of its end.
    ended: Option<(u64, usize)>,
    /// Nothing shows when it was complete.
    hidden: bool,
    /// The name of its life, from the creation to the end.
    life: Option<u64>,
}

impl Value for Live {
    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What a successor follows that has ended: where, when, and the flow from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    pub(crate) position: usize,
    pub(crate) time: u64,
    pub(crate) flow: u64,
}

/// The flows of one process.
#[derive(Debug)]
pub(crate) struct Flows {
    tasks: TaskMap<Live>,
    graph: Graph,
    /// Numbers of tasks so far.
    last: u64,
    next: u64,
    pub(crate) late: Vec<Late>,
}

impl Flows {
    pub(crate) fn new(process: usize) -> Self {
        Self {
            tasks: TaskMap::default(),
            graph: Graph::default(),
            last: 0,
            next: (process as u64) << FLOWS,
            late: Vec::new(),
        }
    }

    pub(crate) fn depend(&mut self, position: usize, task: TaskId, entries: Deps<'_>) {
        self.graph.depend(position, task, entries);
    }

    fn flow(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn insert(&mut self, task: TaskId) -> Key {
        self.last += 1;
        let key = self.tasks.insert(task);
        if let Some(live) = self.tasks.get_mut(key) {
            live.number = self.last;
        }
        key
    }

    /// A task is created: its number. [`Flows::late`] are then the dependences on tasks that have ended. `hidden`: a `taskwait nowait`,
    /// of which nothing shows when it was complete.
    pub(crate) fn create(&mut self, at: At, task: TaskId, hidden: bool) -> u64 {
        self.late.clear();
        let key = self.insert(task);
        let node = Node {
            task,
            at: key.place,
        };
        let mut incoming = Vec::new();
        for predecessor in self.graph.create(at, node) {
            let Some(live) = self.tasks.at_mut(predecessor.at) else {
                continue;
            };
            if hidden || live.hidden {
                continue;
            }
            self.next += 1;
            let flow = self.next;
            incoming.push(flow);
            match live.ended {
                Some((time, position)) => self.late.push(Late {
                    position,
                    time,
                    flow,
                }),
                None => live.outgoing.push(flow),
            }
        }
        if let Some(live) = self.tasks.get_mut(key) {
            (live.incoming, live.hidden) = (incoming, hidden);
            live.ended = hidden.then_some((at.time, at.position));
        }
        if hidden {
            self.forget(key);
        }
        self.forget_released();
        self.last
    }

    /// The flow that begins where the task, or `task` as a piece of a taskloop, is created.
    pub(crate) fn created(&mut self, task: TaskId) -> u64 {
        let flow = self.flow();
        let key = match self.tasks.find(task) {
            Some(key) => key,
            None => self.insert(task),
        };
        if let Some(live) = self.tasks.get_mut(key) {
            live.incoming.push(flow);
        }
        flow
    }

    /// Number of a task that runs; one whose creation was lost gets its number now.
    pub(crate) fn number(&mut self, task: TaskId) -> u64 {
        let key = match self.tasks.find(task) {
            Some(key) => key,
            None => self.insert(task),
        };
        self.tasks.get(key).map_or(0, |live| live.number)
    }

    /// The flows that end where the task begins.
    pub(crate) fn begin(&mut self, task: TaskId) -> Vec<u64> {
        let key = self.tasks.find(task);
        let live = key.and_then(|key| self.tasks.get_mut(key));
        live.map_or_else(Vec::new, |live| std::mem::take(&mut live.incoming))
    }

    /// The flows that begin where the task ends. `hidden`: the end was lost.
    pub(crate) fn end(&mut self, at: At, task: TaskId, hidden: bool) -> Vec<u64> {
        let Some(key) = self.tasks.find(task) else {
            return Vec::new();
        };
        let mut outgoing = Vec::new();
        if let Some(live) = self.tasks.get_mut(key) {
            live.ended = Some((at.time, at.position));
            live.hidden |= hidden;
            outgoing = std::mem::take(&mut live.outgoing);
        }
        self.forget(key);
        outgoing
    }

    /// The life of a task begins; false: it has begun before.
    pub(super) fn live(&mut self, task: TaskId, name: u64) -> bool {
        let key = match self.tasks.find(task) {
            Some(key) => key,
            None => self.insert(task),
        };
        let live = self.tasks.get_mut(key);
        live.is_some_and(|live| live.life.replace(name).is_none())
    }

    /// The life of a task ends: its number and its name, if it has begun.
    pub(super) fn die(&mut self, task: TaskId) -> Option<(u64, u64)> {
        let key = self.tasks.find(task)?;
        let live = self.tasks.get_mut(key)?;
        Some((live.number, live.life.take()?))
    }

    /// Numbers and names of the lives that have not ended.
    pub(super) fn survivors(&self) -> Vec<(u64, u64)> {
        let lives = self.tasks.iter();
        let lives = lives.filter_map(|(_, live)| Some((live.number, live.life?)));
        let mut found: Vec<_> = lives.collect();
        found.sort_unstable();
        found
    }

    /// A body creates no more tasks.
    pub(crate) fn end_body(&mut self, body: u32) {
        self.graph.end(body);
        self.forget_released();
    }

    fn forget_released(&mut self) {
        while let Some(place) = self.graph.released() {
            if let Some(key) = self.tasks.at(place) {
                self.forget(key);
            }
        }
    }

    /// Drops a task that ended and cannot be a predecessor any more.
    fn forget(&mut self, key: Key) {
        if let Some(live) = self.tasks.get(key)
            && live.ended.is_some()
            && !self.graph.is_live(key.place)
        {
            self.tasks.remove(key);
        }
    }
}
