//! Communications: from the creation of a task to its execution, and from the end of a task to the begin of its successors.
//!
//! They are known when they are received but must be written when they were sent: so a pass of their own collects and sorts
//! them, on disk when they are many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use hashbrown::HashMap;

use crate::current::{CurrentTask, Parent};
use crate::depend::DependGraph;
use crate::error::Error;
use crate::event::{Event, Payload, SyncKind, TaskId};
use crate::model::Code;

use super::Comms;
use super::tasks::Tasks;

/// Records sorted in memory at a time (48 bytes each).
const RUN: usize = 1 << 19;
const RECORD: usize = 41;

/// One communication; ordered by the time it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Communication {
    pub(super) send: u64,
    pub(super) receive: u64,
    pub(super) from: u32,
    pub(super) to: u32,
    /// Processors of both ends.
    pub(super) on: [u32; 2],
    pub(super) depend: bool,
    /// Number of the task that begins.
    pub(super) task: u64,
}

impl Communication {
    fn write(&self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        bytes[..8].copy_from_slice(&self.send.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.receive.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.from.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.to.to_le_bytes());
        bytes[24] = u8::from(self.depend);
        bytes[25..33].copy_from_slice(&self.task.to_le_bytes());
        bytes[33..37].copy_from_slice(&self.on[0].to_le_bytes());
        bytes[37..41].copy_from_slice(&self.on[1].to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8; RECORD]) -> Self {
        let u32 = |at: usize| {
            bytes[at..]
                .first_chunk()
                .map_or(0, |raw| u32::from_le_bytes(*raw))
        };
        let u64 = |at: usize| {
            bytes[at..]
                .first_chunk()
                .map_or(0, |raw| u64::from_le_bytes(*raw))
        };
        Self {
            send: u64(0),
            receive: u64(8),
            from: u32(16),
            to: u32(20),
            on: [u32(33), u32(37)],
            depend: bytes[24] != 0,
            task: u64(25),
        }
    }
}

/// External sort in bounded memory.
pub(super) struct Sorter {
    dir: PathBuf,
    records: Vec<Communication>,
    runs: Vec<File>,
}

impl Sorter {
    /// Runs go to unnamed files in `dir`.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            records: Vec::new(),
            runs: Vec::new(),
        }
    }

    fn push(&mut self, record: Communication) -> Result<(), Error> {
        self.records.push(record);
        if self.records.len() >= RUN {
            self.spill()
                .map_err(Error::io("write a temporary file in", &self.dir))
        } else {
            Ok(())
        }
    }

    fn spill(&mut self) -> std::io::Result<()> {
        self.records.sort_unstable();
        let mut out = BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(&self.dir)?);
        for record in self.records.drain(..) {
            out.write_all(&record.write())?;
        }
        let mut file = out
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        file.rewind()?;
        self.runs.push(file);
        Ok(())
    }

    /// All records in order.
    pub(super) fn sorted(mut self) -> Result<Sorted, Error> {
        self.records.sort_unstable();
        self.records.reverse();
        let mut sorted = Sorted {
            dir: self.dir,
            rest: self.records,
            runs: Vec::new(),
            heap: BinaryHeap::new(),
        };
        for run in self.runs {
            sorted.runs.push(BufReader::with_capacity(1 << 16, run));
            sorted.refill(sorted.runs.len() - 1)?;
        }
        Ok(sorted)
    }
}

/// Sorted communications, from memory and runs.
pub(super) struct Sorted {
    dir: PathBuf,
    /// Those of the last run, last first.
    rest: Vec<Communication>,
    runs: Vec<BufReader<File>>,
    heap: BinaryHeap<Reverse<(Communication, usize)>>,
}

impl Sorted {
    fn refill(&mut self, run: usize) -> Result<(), Error> {
        let mut bytes = [0; RECORD];
        match self.runs[run].read_exact(&mut bytes) {
            Ok(()) => self.heap.push(Reverse((Communication::read(&bytes), run))),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {}
            Err(error) => return Err(Error::io("read a temporary file in", &self.dir)(error)),
        }
        Ok(())
    }

    /// The next one, if it was sent at `time` or before.
    #[inline]
    pub(super) fn next_until(&mut self, time: u64) -> Result<Option<Communication>, Error> {
        let on_disk = self.heap.peek().map(|Reverse((record, _))| *record);
        let Some(first) = [self.rest.last().copied(), on_disk]
            .into_iter()
            .flatten()
            .min()
        else {
            return Ok(None);
        };
        if first.send > time {
            return Ok(None);
        }
        if Some(first) == on_disk {
            if let Some(Reverse((_, run))) = self.heap.pop() {
                self.refill(run)?;
            }
        } else {
            self.rest.pop();
        }
        Ok(Some(first))
    }
}

/// Row and time of something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) row: u32,
    pub(super) cpu: u32,
    pub(super) time: u64,
}

/// A task that may still be an end of a communication.
#[derive(Clone, Copy, Debug, Default)]
struct Live {
    created: Option<Point>,
    ended: Option<Point>,
    /// Successors that were created and have not begun.
    waiting: u32,
}

/// What is followed of one process.
struct Process {
    tasks: Tasks,
    graph: DependGraph,
    live: HashMap<TaskId, Live>,
    predecessors: HashMap<TaskId, Vec<TaskId>>,
    /// Predecessors that end at the very time their successor begins.
    late: HashMap<TaskId, Vec<(Point, u64)>>,
    current: Vec<CurrentTask>,
    /// The `taskwait depend` a task is in.
    waiting: HashMap<Parent, TaskId>,
    ended: Vec<bool>,
    taskloops: HashMap<TaskId, Point>,
}

/// Collects the communications of all processes.
pub(super) struct Collector {
    comms: Comms,
    sorter: Sorter,
    processes: Vec<Process>,
    edges: Vec<TaskId>,
    spare: Vec<Vec<TaskId>>,
    finished: Vec<TaskId>,
    pub(super) creations: u64,
    pub(super) depends: u64,
}

impl Collector {
    /// `threads`: number of threads of each process.
    pub(super) fn new(comms: Comms, dir: &Path, threads: impl Iterator<Item = usize>) -> Self {
        let process = |threads| Process {
            tasks: Tasks::default(),
            graph: DependGraph::with_releases(),
            live: HashMap::new(),
            predecessors: HashMap::new(),
            late: HashMap::new(),
            current: vec![CurrentTask::default(); threads],
            waiting: HashMap::new(),
            ended: vec![false; threads],
            taskloops: HashMap::new(),
        };
        Self {
            comms,
            sorter: Sorter::new(dir),
            processes: threads.map(process).collect(),
            edges: Vec::new(),
            spare: Vec::new(),
            finished: Vec::new(),
            creations: 0,
            depends: 0,
        }
    }

    pub(super) fn finish(self) -> Result<Sorted, Error> {
        self.sorter.sorted()
    }

    /// One event; `point` is its row and time in the output.
    pub(super) fn event(
        &mut self,
        process: usize,
        position: usize,
        point: Point,
        event: &Event<'_>,
    ) -> Result<(), Error> {
        let own = &mut self.processes[process];
        if own.ended[position] {
            return Ok(());
        }
        match event.payload {
            Payload::ThreadEnd => own.ended[position] = true,
            Payload::TaskCreate { seq, .. } => {
                let task = TaskId {
                    thread: event.thread,
                    seq,
                };
                own.tasks.create(task, Code::default());
                own.live.insert(
                    task,
                    Live {
                        created: Some(point),
                        ..Live::default()
                    },
                );
            }
            // An empty task on the spot: it is not sent anywhere, but may be waited for and wait.
            Payload::TaskwaitDepend { seq, nowait, .. } => {
                let task = TaskId {
                    thread: event.thread,
                    seq,
                };
                own.tasks.create(task, Code::default());
                if !nowait {
                    own.live.insert(task, Live::default());
                    let waits = own.current[position].parent(event.thread);
                    own.waiting.insert(waits, task);
                }
            }
            Payload::TaskloopBegin { seq, .. } => {
                let taskloop = TaskId {
                    thread: event.thread,
                    seq,
                };
                own.tasks.create(taskloop, Code::default());
                own.tasks.end(taskloop);
                own.taskloops.insert(taskloop, point);
            }
            Payload::TaskloopTask { taskloop, seq, .. } => {
                let task = TaskId {
                    thread: event.thread,
                    seq,
                };
                own.tasks.create(task, Code::default());
                let created = own.taskloops.get(&taskloop).copied();
                own.live.insert(
                    task,
                    Live {
                        created,
                        ..Live::default()
                    },
                );
            }
            _ => {}
        }
        self.bodies(process, position, point, event)?;
        if self.comms.depend() {
            self.graph(process, event);
        }
        Ok(())
    }

    /// Begins and ends of tasks.
    fn bodies(
        &mut self,
        process: usize,
        position: usize,
        point: Point,
        event: &Event<'_>,
    ) -> Result<(), Error> {
        match event.payload {
            Payload::TaskBegin { task } => self.begin(process, task, point)?,
            // What is ready when the wait ends runs in no time.
            Payload::SyncEnd {
                kind: SyncKind::TaskwaitDepend,
            } => {
                let own = &mut self.processes[process];
                let waits = own.current[position].parent(event.thread);
                if let Some(task) = own.waiting.remove(&waits) {
                    self.begin(process, task, point)?;
                    self.processes[process].tasks.end(task);
                    self.finished.push(task);
                }
            }
            _ => {}
        }
        let own = &mut self.processes[process];
        let (tasks, finished) = (&mut own.tasks, &mut self.finished);
        own.current[position].event(event.thread, &event.payload, |parent| {
            if let Parent::Explicit(task) = parent {
                tasks.end(task);
                finished.push(task);
            }
        });
        if let Payload::Lost {
            task: Some(task), ..
        } = event.payload
        {
            own.tasks.begin(task);
        }
        while let Some(task) = self.finished.pop() {
            let own = &mut self.processes[process];
            if let Some(live) = own.live.get_mut(&task) {
                live.ended = Some(point);
            }
            for (begin, number) in own.late.remove(&task).unwrap_or_default() {
                if point.time <= begin.time {
                    self.depend(point, begin, number)?;
                }
            }
            self.processes[process].forget(task);
        }
        Ok(())
    }

    fn begin(&mut self, process: usize, task: TaskId, point: Point) -> Result<(), Error> {
        let own = &mut self.processes[process];
        let number = own.tasks.begin(task).number;
        let live = own.live.entry(task).or_default();
        let created = live.created.take();
        if let Some(created) = created
            && self.comms.create()
        {
            self.creations += 1;
            let (send, receive) = (created.time.min(point.time), point.time);
            self.sorter.push(Communication {
                send,
                receive,
                from: created.row,
                to: point.row,
                on: [created.cpu, point.cpu],
                depend: false,
                task: number,
            })?;
        }
        let Some(mut predecessors) = self.processes[process].predecessors.remove(&task) else {
            return Ok(());
        };
        for predecessor in predecessors.drain(..) {
            let own = &mut self.processes[process];
            let Some(live) = own.live.get_mut(&predecessor) else {
                continue;
            };
            live.waiting = live.waiting.saturating_sub(1);
            match live.ended {
                Some(ended) => self.depend(ended, point, number)?,
                None => own
                    .late
                    .entry(predecessor)
                    .or_default()
                    .push((point, number)),
            }
            self.processes[process].forget(predecessor);
        }
        self.spare.push(predecessors);
        Ok(())
    }

    fn depend(&mut self, from: Point, to: Point, task: u64) -> Result<(), Error> {
        self.depends += 1;
        self.sorter.push(Communication {
            send: from.time,
            receive: to.time,
            from: from.row,
            to: to.row,
            on: [from.cpu, to.cpu],
            depend: true,
            task,
        })
    }

    fn graph(&mut self, process: usize, event: &Event<'_>) {
        let own = &mut self.processes[process];
        let edges = &mut self.edges;
        let mut successor = None;
        own.graph.event(event, |predecessor, task| {
            successor = Some(task);
            edges.push(predecessor);
        });
        if let Some(task) = successor {
            let mut predecessors = self.spare.pop().unwrap_or_default();
            let begins = own.live.contains_key(&task);
            for predecessor in edges.drain(..) {
                if begins && let Some(live) = own.live.get_mut(&predecessor) {
                    live.waiting += 1;
                    predecessors.push(predecessor);
                }
            }
            // A `taskwait depend nowait` leaves no trace of when it was complete.
            if begins {
                own.predecessors.insert(task, predecessors);
            } else {
                self.spare.push(predecessors);
            }
        }
        self.finished.extend(own.graph.released());
        while let Some(task) = self.finished.pop() {
            self.processes[process].forget(task);
        }
    }
}

impl Process {
    /// Drops a task that ended and cannot be a predecessor any more.
    fn forget(&mut self, task: TaskId) {
        if let Some(live) = self.live.get(&task)
            && live.ended.is_some()
            && live.waiting == 0
            && !self.graph.is_live(task)
        {
            self.live.remove(&task);
        }
    }
}
