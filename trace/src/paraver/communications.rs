//! Communications: from the creation of a task to its execution, and from the end of a task to the begin of its successors.
//!
//! They are known when they are received but must be written when they were sent: so a pass of their own collects and sorts
//! them, on disk when they are many.

use std::path::Path;

use crate::depend::{Graph, Node};
use crate::error::Error;
use crate::event::{SyncKind, TaskId};
use crate::model::{At, Begin, Call, End, Mark, Since, Sink, Span};
use crate::recent::Recent;
use crate::session::Shift;
use crate::task_map::{Key, TaskMap, Value};

use super::Comms;
use super::rows::Rows;
use super::sorter::{Communication, Sorted, Sorter};

/// Longer lists are not kept to be used again.
const MAX_KEPT: usize = 1 << 4;

/// Row and time of something.
#[derive(Clone, Copy, Debug)]
struct Point {
    row: u32,
    cpu: u32,
    time: u64,
}

/// A task that may still be an end of a communication.
#[derive(Debug, Default)]
struct Live {
    /// As [`super::tasks::Tasks`] gives it; 0: it has ended.
    number: u64,
    created: Option<Point>,
    ended: Option<Point>,
    /// Nothing tells when it was complete.
    hidden: bool,
    /// What it depends on, until it begins.
    predecessors: Vec<Key>,
    /// Successors that were created and have not begun.
    waiting: u32,
    /// Begins and numbers of successors that began before this one's end: at the very time of it, unless the trace is damaged.
    late: Vec<(Point, u64)>,
}

impl Value for Live {
    fn clear(&mut self) {
        let mut predecessors = std::mem::take(&mut self.predecessors);
        predecessors.clear();
        if predecessors.capacity() > MAX_KEPT {
            predecessors = Vec::new();
        }
        *self = Self {
            predecessors,
            ..Self::default()
        };
    }
}

/// What is followed of one process.
#[derive(Default)]
struct Process {
    tasks: TaskMap<Live>,
    /// Tasks so far.
    last: u64,
    graph: Graph,
    taskloops: Recent<Point>,
    /// The `taskwait` with dependences that each body is in, by its number.
    waiting: Vec<Option<TaskId>>,
}

/// Collects the communications of all processes.
pub(super) struct Collector<'r> {
    rows: &'r Rows,
    processes: Vec<Process>,
    /// The one that calls.
    process: usize,
    out: Out,
}

/// What the processes share.
struct Out {
    comms: Comms,
    sorter: Sorter,
    /// Processor of each row.
    cpus: Vec<u32>,
    /// Room for a list of predecessors.
    list: Vec<Key>,
    creations: u64,
    depends: u64,
    failed: Option<Error>,
}

impl<'r> Collector<'r> {
    pub(super) fn new(comms: Comms, dir: &Path, rows: &'r Rows) -> Self {
        Self {
            rows,
            processes: rows.shift.iter().map(|_| Process::default()).collect(),
            process: 0,
            out: Out {
                comms,
                sorter: Sorter::new(dir),
                cpus: rows.rows.iter().map(|row| row.cpu).collect(),
                list: Vec::new(),
                creations: 0,
                depends: 0,
                failed: None,
            },
        }
    }

    /// How many creations and dependences there are, and all of them in order.
    ///
    /// # Errors
    ///
    /// Temporary files that could not be written.
    pub(super) fn finish(self) -> Result<(u64, u64, Sorted), Error> {
        if let Some(error) = self.out.failed {
            return Err(error);
        }
        let sorted = self.out.sorter.sorted()?;
        Ok((self.out.creations, self.out.depends, sorted))
    }

    #[inline]
    fn tasks(&mut self) -> Tasks<'_> {
        Tasks {
            own: &mut self.processes[self.process],
            out: &mut self.out,
            rows: self.rows,
            first: self.rows.first[self.process],
            shift: self.rows.shift[self.process],
        }
    }

    /// Whether a collector does anything when it is called so.
    #[inline]
    pub(super) fn wants(call: &Call) -> bool {
        match call {
            Call::Begin(_, span, _) => matches!(
                span,
                Span::Task { .. }
                    | Span::Create { .. }
                    | Span::WaitDepend { .. }
                    | Span::Taskloop { .. }
            ),
            Call::End(_, span, ..) => matches!(
                span,
                Span::Task { .. } | Span::Implicit { .. } | Span::Sync(SyncKind::TaskwaitDepend)
            ),
            Call::Mark(_, mark) => matches!(mark, Mark::Piece { .. }),
            Call::Depend(..) | Call::OnCpu(..) | Call::Process(_) => true,
            _ => false,
        }
    }
}

impl Sink for Collector<'_> {
    const TASK_CODES: bool = false;
    const STATES: bool = false;
    const TIMES: bool = false;
    const PROCESSORS: bool = true;

    #[inline]
    fn process(&mut self, process: usize) {
        self.process = process;
    }

    #[inline]
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.tasks().begin(at, span, how);
    }

    #[inline]
    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        self.tasks().end(at, span, how);
    }

    #[inline]
    fn mark(&mut self, at: At, mark: Mark<'_>) {
        self.tasks().mark(at, mark);
    }

    fn on_cpu(&mut self, at: At, processor: Option<u32>) {
        self.tasks().on_cpu(at, processor);
    }
}

/// Follows one process.
struct Tasks<'o> {
    own: &'o mut Process,
    out: &'o mut Out,
    rows: &'o Rows,
    /// Row of the process's first thread.
    first: usize,
    /// From the times of the process to those of the output.
    shift: Shift,
}

impl Tasks<'_> {
    #[inline]
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        let told = how == Begin::Told;
        match *span {
            Span::Task { task, .. } => self.task(at, task, told),
            Span::Create { task, .. } if told => {
                let created = Some(self.point(at));
                let key = self.create(at, task, true);
                if let Some(live) = self.own.tasks.get_mut(key) {
                    live.created = created;
                }
            }
            // An empty task on the spot: it is not sent anywhere, but may be waited for and wait.
            Span::WaitDepend { task, nowait } if told => {
                let ended = nowait.then(|| self.point(at));
                let key = self.create(at, task, !nowait);
                if let Some(live) = self.own.tasks.get_mut(key) {
                    (live.ended, live.hidden) = (ended, nowait);
                }
                if nowait {
                    self.forget(key);
                } else {
                    let body = at.body as usize;
                    if body >= self.own.waiting.len() {
                        self.own.waiting.resize(body + 1, None);
                    }
                    self.own.waiting[body] = Some(task);
                }
            }
            Span::Taskloop { task, .. } if told => {
                self.own.last += 1;
                let point = self.point(at);
                self.own.taskloops.insert(task, point);
            }
            _ => {}
        }
    }

    #[inline]
    fn end(&mut self, at: At, span: &Span, how: End) {
        let over = matches!(how, End::Told | End::Implied);
        match *span {
            Span::Task { task, .. } if how.is_final() => {
                let told = matches!(how, End::Told | End::Unseen { told: true });
                self.ended(at, task, told);
                self.end_body(at.body);
            }
            Span::Implicit { .. } if how.is_final() => self.end_body(at.body),
            // What is ready when the wait ends runs in no time.
            Span::Sync(SyncKind::TaskwaitDepend) if how.is_final() => {
                let waiting = self.own.waiting.get_mut(at.body as usize);
                if let Some(task) = waiting.and_then(Option::take) {
                    if over {
                        self.task(at, task, true);
                    }
                    self.ended(at, task, over);
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn mark(&mut self, at: At, mark: Mark<'_>) {
        match mark {
            Mark::Depend { task, entries } if self.out.comms.depend() => {
                self.own.graph.depend(at.position, task, entries);
            }
            Mark::Piece { taskloop, task, .. } => {
                let number = self.number();
                let created = self.own.taskloops.get(taskloop).copied();
                let key = self.own.tasks.insert(task);
                if let Some(live) = self.own.tasks.get_mut(key) {
                    (live.number, live.created) = (number, created);
                }
            }
            _ => {}
        }
    }

    fn on_cpu(&mut self, at: At, processor: Option<u32>) {
        let row = self.first + at.position;
        if let (Some(known), Some(processor)) = (self.rows.rows[row].cpus, processor) {
            self.out.cpus[row] = known.number(processor);
        }
    }

    fn point(&self, at: At) -> Point {
        let row = self.first + at.position;
        Point {
            row: row as u32,
            cpu: self.out.cpus[row],
            time: self.shift.output(at.time),
        }
    }

    fn number(&mut self) -> u64 {
        self.own.last += 1;
        self.own.last
    }

    /// A task, or an empty one; `follows`: with what it depends on.
    fn create(&mut self, at: At, task: TaskId, follows: bool) -> Key {
        let number = self.number();
        let key = self.own.tasks.insert(task);
        if self.out.comms.depend() {
            let node = Node {
                task,
                at: key.place,
            };
            for predecessor in self.own.graph.create(at, node) {
                if follows
                    && let Some(of) = self.own.tasks.at(predecessor.at)
                    && let Some(live) = self.own.tasks.get_mut(of)
                    && !live.hidden
                {
                    live.waiting += 1;
                    self.out.list.push(of);
                }
            }
        }
        if let Some(live) = self.own.tasks.get_mut(key) {
            live.number = number;
            live.predecessors.append(&mut self.out.list);
        }
        self.forget_released();
        key
    }

    /// A task runs; `begins`: that is its begin.
    fn task(&mut self, at: At, task: TaskId, begins: bool) {
        let point = self.point(at);
        let key = match self.own.tasks.find(task) {
            Some(key) => key,
            None => self.own.tasks.insert(task),
        };
        let Some(live) = self.own.tasks.get_mut(key) else {
            return;
        };
        if live.number == 0 {
            self.own.last += 1;
            live.number = self.own.last;
        }
        if !begins {
            return;
        }
        let number = live.number;
        let created = live.created.take();
        self.out.list.append(&mut live.predecessors);
        if let Some(created) = created
            && self.out.comms.create()
        {
            self.out.creations += 1;
            // The clocks of two threads may differ.
            let time = created.time.min(point.time);
            self.out
                .send(Point { time, ..created }, point, number, false);
        }
        while let Some(of) = self.out.list.pop() {
            let Some(live) = self.own.tasks.get_mut(of) else {
                continue;
            };
            live.waiting = live.waiting.saturating_sub(1);
            match live.ended {
                _ if live.hidden => {}
                Some(ended) => self.out.depend(ended, point, number),
                None => live.late.push((point, number)),
            }
            self.forget(of);
        }
    }

    /// `told`: something says when. What ends otherwise may have an end elsewhere.
    fn ended(&mut self, at: At, task: TaskId, told: bool) {
        let point = self.point(at);
        let Some(key) = self.own.tasks.find(task) else {
            return;
        };
        let Some(live) = self.own.tasks.get_mut(key) else {
            return;
        };
        live.number = 0;
        if !told || live.ended.is_some() {
            return;
        }
        live.ended = Some(point);
        for (begin, number) in std::mem::take(&mut live.late) {
            if point.time <= begin.time {
                self.out.depend(point, begin, number);
            }
        }
        self.forget(key);
    }

    fn end_body(&mut self, body: u32) {
        if let Some(waiting) = self.own.waiting.get_mut(body as usize) {
            *waiting = None;
        }
        self.own.graph.end(body);
        self.forget_released();
    }

    fn forget_released(&mut self) {
        while let Some(place) = self.own.graph.released() {
            if let Some(key) = self.own.tasks.at(place) {
                self.forget(key);
            }
        }
    }

    /// Drops a task that ended and cannot be a predecessor any more.
    fn forget(&mut self, key: Key) {
        if let Some(live) = self.own.tasks.get(key)
            && live.ended.is_some()
            && live.waiting == 0
            && !self.own.graph.is_live(key.place)
        {
            self.own.tasks.remove(key);
        }
    }
}

impl Out {
    fn depend(&mut self, from: Point, to: Point, task: u64) {
        self.depends += 1;
        self.send(from, to, task, true);
    }

    fn send(&mut self, from: Point, to: Point, task: u64, depend: bool) {
        if self.failed.is_some() {
            return;
        }
        let sent = self.sorter.push(Communication {
            send: from.time,
            receive: to.time,
            from: from.row,
            to: to.row,
            on: [from.cpu, to.cpu],
            depend,
            task,
        });
        if let Err(error) = sent {
            self.failed = Some(error);
        }
    }
}
