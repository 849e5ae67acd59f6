//! Spans and marks to Paraver's events.

use std::collections::BTreeSet;
use std::io::Write;

use crate::event::{ParallelKind, RegionId, StackKind, TaskId};
use crate::model::{
    At as Moment, Begin, Code, End, Mark, Memory, Reading, Sample, Scheduled, Since, Sink, Span,
    State, Work,
};
use crate::names::CodeRole;
use crate::samples::Chain;
use crate::session::Shift;
use crate::words::Asynchronous;

use super::names::NameTables;
use super::out::Records;
use super::readings::Readings;
use super::rows::{Cpus, Row};
use super::tasks::Tasks;
use super::types::*;
use super::{constructs, heap, samples};
use constructs::{has_name, lock_type, sync, types};

/// Processors that get a label.
const MAX_LABELS: usize = 4096;

/// One row.
#[derive(Debug, Default)]
struct RowState {
    tracing: bool,
    running: bool,
    /// It created or began tasks since the numbers of tasks were written.
    counts: bool,
    /// Tasks on it, outermost first, that have the number of their taskloop.
    pieces: Vec<TaskId>,
    /// The processors in the numbers of the output, where they are known.
    cpus: Option<Cpus>,
    /// It runs on a processor, as far as that is known.
    on_cpu: bool,
    /// The last value of [`SCHEDULED`] is not 0.
    scheduled: bool,
}

/// What is known of all rows and processes.
pub(super) struct Events<'n> {
    pub(super) names: NameTables<'n>,
    rows: Vec<RowState>,
    pub(super) tasks: Vec<Tasks>,
    pub(super) readings: Readings,
    /// Processors that were met.
    cpus: BTreeSet<u32>,
    /// What the system did with a thread is known.
    pub(super) scheduled: bool,
    /// The sample at hand.
    chain: Chain,
}

impl<'n> Events<'n> {
    pub(super) fn new(
        names: NameTables<'n>,
        readings: Readings,
        rows: &[Row],
        processes: usize,
    ) -> Self {
        let state = |row: &Row| RowState {
            cpus: row.cpus,
            ..RowState::default()
        };
        Self {
            names,
            rows: rows.iter().map(state).collect(),
            tasks: std::iter::repeat_with(Tasks::default)
                .take(processes)
                .collect(),
            readings,
            cpus: BTreeSet::new(),
            scheduled: false,
            chain: Chain::default(),
        }
    }

    /// Labels of the values of [`PROCESSOR`]; empty when nothing is known.
    pub(super) fn processor_labels(&self) -> Vec<(u32, String)> {
        let names = self.cpus.iter().filter_map(|number| {
            let value = number.checked_add(1)?;
            Some((value, format!("CPU {number}")))
        });
        names.collect()
    }

    /// Whether the row has begun and not ended.
    pub(super) fn is_running(&self, row: usize) -> bool {
        self.rows[row].running
    }
}

/// The sink of one process.
pub(super) struct Output<'o, 'r, 'n, W: Write> {
    pub(super) events: &'o mut Events<'n>,
    pub(super) records: &'o mut Records<'r, W>,
    pub(super) process: usize,
    /// Row of the process's first thread, and how many there are.
    pub(super) first: usize,
    pub(super) threads: usize,
    pub(super) shift: Shift,
}

impl<W: Write> Sink for Output<'_, '_, '_, W> {
    // The numbers of tasks come with their codes.
    const TASK_CODES: bool = false;
    const MEMORY: bool = true;
    const READINGS: bool = true;
    const SAMPLES: bool = true;
    const PROCESSORS: bool = true;

    fn thread_begin(&mut self, at: Moment) {
        let row = self.first + at.position;
        let state = &mut self.events.rows[row];
        (state.running, state.tracing) = (true, true);
        if at.position == 0 {
            self.put(at, APPLICATION, 1);
        }
        self.put(at, TRACING, 1);
    }

    fn thread_end(&mut self, at: Moment) {
        let row = self.first + at.position;
        self.counts(at);
        let state = &mut self.events.rows[row];
        state.running = false;
        if std::mem::take(&mut state.tracing) {
            self.put(at, TRACING, 0);
        }
        if at.position == 0 {
            self.put(at, APPLICATION, 0);
        }
        self.records.state(row, self.time(at), NOT_CREATED);
        if self.events.rows[row].on_cpu {
            self.on_cpu(at, None);
        }
        if self.events.rows[row].scheduled {
            self.scheduled(at, Scheduled::Unknown, 0);
        }
    }

    fn begin(&mut self, at: Moment, span: &Span, how: Begin) {
        let again = how == Begin::Resumed;
        match *span {
            Span::Task { task, .. } => self.task(at, task, how),
            Span::Asking { called: true } => self.put(at, DISPATCH, 1),
            Span::Sync(kind) => {
                let (kind, value) = sync(kind);
                self.put(at, kind, value);
            }
            Span::Parallel { kind, .. } => {
                let value = match kind {
                    ParallelKind::Loop => 1,
                    ParallelKind::Sections => 2,
                    ParallelKind::Region | ParallelKind::Teams | ParallelKind::Other(_) => 3,
                };
                self.put(at, PARALLEL, value);
            }
            Span::Implicit { code, .. } => {
                let id = self.code(code, CodeRole::Parallel);
                self.put(at, PARALLEL_FUNCTION, u64::from(id.0));
                self.put(at, PARALLEL_LINE, u64::from(id.1));
            }
            Span::Create { task, code, .. } => {
                let number = match again {
                    true => self.events.tasks[self.process].number(task),
                    false => Some(self.create(at, task, code)),
                };
                if !again {
                    self.events.tasks[self.process].set_piece(task, None, at.body);
                }
                let (function, line) = self.code(code, CodeRole::Task);
                self.created(at, function, line, number);
            }
            Span::WaitDepend { task, .. } => {
                let tasks = &mut self.events.tasks[self.process];
                let number = (!again).then(|| tasks.pass(task, Code::default()));
                let function = self.events.names.taskwait_depend();
                self.created(at, function, 1, number);
            }
            Span::Taskloop { task, code, .. } => {
                let tasks = &mut self.events.tasks[self.process];
                let number = match again {
                    true => tasks.taskloop_of(at.body),
                    false => tasks.begin_taskloop(task, code, at.body),
                };
                let (function, line) = self.code(code, CodeRole::Task);
                self.put(at, CREATED_FUNCTION, u64::from(function));
                self.put(at, CREATED_LINE, u64::from(line));
                self.put(at, TASKLOOP, 1);
                self.put(at, TASKLOOP_ID, number);
            }
            Span::Taskgroup => {
                // The call that begins it has one time.
                if !again {
                    self.put(at, TASKGROUP, 1);
                    self.put(at, TASKGROUP, 0);
                }
                self.put(at, IN_TASKGROUP, 1);
            }
            Span::Work(Work::Loop { .. } | Work::Combined) => self.put(at, WORKSHARING, 4),
            Span::Work(Work::Sections) => self.put(at, WORKSHARING, 5),
            Span::Single => self.put(at, WORKSHARING, 6),
            Span::Masked => self.put(at, WORKSHARING, 7),
            Span::Work(Work::Scope) => self.put(at, WORKSHARING, 8),
            Span::Acquire { kind, .. } => self.put(at, lock_type(kind), LOCK_WAIT),
            Span::Hold { kind, object } => {
                if how != Begin::Told {
                    self.put(at, lock_type(kind), LOCK_WAIT);
                }
                self.put(at, lock_type(kind), LOCK_HELD);
                if has_name(lock_type(kind)) {
                    self.put(at, LOCK_NAME, object);
                }
            }
            Span::Target(target) => {
                let (function, _) = self.code(Code::new(target.function, false), CodeRole::Target);
                self.put(at, TARGET, constructs::target(&target));
                self.put(at, TARGET_FUNCTION, u64::from(function));
            }
            Span::Flush => self.put(at, FLUSH, 1),
            Span::User { name } => {
                let id = self.events.names.region(self.row(at), name);
                self.put(at, REGION, u64::from(id));
            }
            Span::Call { name } => {
                let id = self.events.names.call(self.row(at), name);
                self.put(at, CALL, u64::from(id));
            }
            Span::Function { name } => {
                let (function, line) = self.events.names.function(self.row(at), name);
                self.put(at, USER_FUNCTION, u64::from(function));
                self.put(at, USER_LINE, u64::from(line));
                self.put(at, LISTED_FUNCTION, u64::from(function));
                match self.events.names.asynchronous(self.row(at), name) {
                    Some((Asynchronous::Task, id)) => {
                        let number = self.events.names.task_number(self.process, name);
                        self.put(at, LOOP_TASK, u64::from(id));
                        self.put(at, LOOP_TASK_NUMBER, number);
                    }
                    Some((Asynchronous::Await, id)) if !again => {
                        self.put(at, LOOP_TASK_AWAITS, u64::from(id));
                    }
                    _ => {}
                }
            }
            Span::Closing { .. } | Span::Asking { called: false } => {}
        }
    }

    fn end(&mut self, at: Moment, span: &Span, how: End, _since: Since) {
        let gone = !matches!(how, End::Suspended | End::Kept);
        let tasks = &mut self.events.tasks[self.process];
        let mut is_piece = false;
        match *span {
            Span::Task { task, .. } => {
                let pieces = &mut self.events.rows[self.first + at.position].pieces;
                let place = pieces.iter().rposition(|piece| *piece == task);
                is_piece = place.map(|place| pieces.remove(place)).is_some();
                if gone {
                    tasks.end(task);
                }
            }
            Span::Taskloop { .. } if gone => tasks.end_taskloop(at.body),
            _ => {}
        }
        match *span {
            _ if matches!(how, End::Unseen { .. }) => {}
            Span::Sync(kind) => self.put(at, sync(kind).0, 0),
            // The lock is held from now on.
            Span::Acquire { .. } if how == End::Told => {}
            Span::Acquire { kind, .. } => self.put(at, lock_type(kind), 0),
            Span::Hold { kind, .. } => {
                self.put(at, lock_type(kind), LOCK_LEAVE);
                self.put(at, lock_type(kind), 0);
                if has_name(lock_type(kind)) {
                    self.put(at, LOCK_NAME, 0);
                }
            }
            _ => {
                for kind in types(span) {
                    self.put(at, *kind, 0);
                }
                if is_piece {
                    self.put(at, TASKLOOP_ID, 0);
                }
                if let Span::Function { name } = *span {
                    self.end_of_loop_task(at, name, how);
                }
            }
        }
    }

    fn region_end(&mut self, at: Moment, _region: RegionId, members: &[usize]) {
        for &position in members {
            self.counts(Moment { position, ..at });
        }
    }

    #[inline]
    fn mark(&mut self, at: Moment, mark: Mark<'_>) {
        let row = self.row(at);
        match mark {
            Mark::User { kind, value } => {
                let kind = self.events.names.user_type(kind);
                self.put(at, kind, value);
            }
            Mark::Text { address, text } => self.events.names.string(row, address, text),
            Mark::Counter { name, value } => {
                if let Some(id) = self.events.names.counter(row, name) {
                    self.to(at).put_signed(COUNTER + id, value);
                }
            }
            Mark::Tracing(on) => {
                let tracing = &mut self.events.rows[row as usize].tracing;
                if std::mem::replace(tracing, on) != on {
                    self.put(at, TRACING, u64::from(on));
                }
            }
            Mark::StaticLoop { site } => {
                let (_, line) = self.code(Code::new(site, true), CodeRole::Loop);
                self.put(at, STATIC_LOOP, u64::from(line));
            }
            Mark::Piece {
                task,
                code,
                taskloop,
            } => {
                self.create(at, task, code);
                let tasks = &mut self.events.tasks[self.process];
                tasks.set_piece(task, Some(taskloop), at.body);
            }
            _ => constructs::moment(&mut self.to(at), mark),
        }
    }

    fn state(&mut self, at: Moment, state: State) {
        let row = self.first + at.position;
        self.records.state(row, self.time(at), state_number(state));
    }

    #[inline]
    fn memory(&mut self, at: Moment, memory: &Memory) {
        match *memory {
            Memory::Begins(ref call) => {
                heap::begin(&mut self.to(at), call);
                if call.site != 0 {
                    let (function, line) =
                        self.code(Code::new(call.site, true), CodeRole::Function);
                    self.put(at, CALLER_FUNCTION, u64::from(function));
                    self.put(at, CALLER_LINE, u64::from(line));
                }
            }
            Memory::Ends(_) => self.put(at, MEMORY, 0),
            Memory::Heap(ref call) => {
                heap::call(&mut self.to(at), call);
                // One row has what is in use in the process: the first one, as long as there is one.
                let first = self.first;
                let whole = Moment { position: 0, ..at };
                let on = if self.events.is_running(first) {
                    whole
                } else {
                    at
                };
                self.put(on, MEMORY_IN_USE, call.bytes_in_use);
            }
            // At its begin only its bounds are known.
            Memory::Stack {
                kind, high, mark, ..
            } if kind != StackKind::Bounds => {
                self.put(at, STACK, high.saturating_sub(mark));
            }
            _ => {}
        }
    }

    /// What a thread of the runtime's own reads is shown on the first thread.
    fn reading(&mut self, at: Moment, reading: &Reading<'_>) {
        let own = at.position >= self.threads;
        let position = if own { 0 } else { at.position };
        let (row, time) = (self.first + position, self.time(at));
        if position < self.threads && self.events.is_running(row) {
            let records = &mut *self.records;
            let mut to = At { records, row, time };
            let readings = &mut self.events.readings;
            readings.reading(&mut to, self.process, at.time, reading);
        }
    }

    fn sample(&mut self, at: Moment, sample: &Sample<'_>) {
        if let Sample::Taken { frames, .. } = sample {
            let (row, time) = (self.first + at.position, self.time(at));
            let records = &mut *self.records;
            let mut to = At { records, row, time };
            let (names, chain) = (&mut self.events.names, &mut self.events.chain);
            samples::sample(&mut to, names, chain, self.process, frames);
        }
    }

    fn on_cpu(&mut self, at: Moment, processor: Option<u32>) {
        let (row, time) = (self.first + at.position, self.time(at));
        let state = &mut self.events.rows[row];
        state.on_cpu = processor.is_some();
        if let Some(cpus) = state.cpus {
            let cpu = processor.map_or(0, |processor| cpus.number(processor));
            self.records.processor(row, time, cpu);
        }
        let Some(processor) = processor else {
            return self.put(at, PROCESSOR, 0);
        };
        if self.events.cpus.len() < MAX_LABELS {
            self.events.cpus.insert(processor);
        }
        self.put(at, EXECUTING_CPU, u64::from(processor));
        self.put(at, PROCESSOR, u64::from(processor) + 1);
    }

    fn scheduled(&mut self, at: Moment, state: Scheduled, _lost: u32) {
        self.events.scheduled = true;
        let value = match state {
            Scheduled::Unknown => 0,
            Scheduled::Running => 1,
            Scheduled::Ready => 2,
            Scheduled::Blocked => 3,
        };
        self.events.rows[self.first + at.position].scheduled = value != 0;
        self.put(at, SCHEDULED, value);
    }
}

impl<'r, W: Write> Output<'_, 'r, '_, W> {
    fn row(&self, at: Moment) -> u32 {
        (self.first + at.position) as u32
    }

    fn time(&self, at: Moment) -> u64 {
        self.shift.output(at.time)
    }

    #[inline]
    fn put(&mut self, at: Moment, kind: u32, value: u64) {
        let time = self.time(at);
        self.records
            .event(self.first + at.position, time, kind, value);
    }

    fn to(&mut self, at: Moment) -> At<'_, 'r, W> {
        At {
            time: self.time(at),
            row: self.first + at.position,
            records: self.records,
        }
    }

    fn code(&mut self, code: Code, role: CodeRole) -> (u32, u32) {
        self.events.names.code(self.process, code, role)
    }

    /// A task is created; its number.
    fn create(&mut self, at: Moment, task: TaskId, code: Code) -> u64 {
        self.events.rows[self.first + at.position].counts = true;
        self.events.tasks[self.process].create(task, code)
    }

    /// `number`: none where a suspended construct goes on whose task has ended.
    /// A function of a language leaves its thread: a task of an event loop, or what one awaits that is suspended next.
    fn end_of_loop_task(&mut self, at: Moment, name: u64, how: End) {
        match self.events.names.asynchronous(self.row(at), name) {
            Some((Asynchronous::Task, _)) => {
                self.put(at, LOOP_TASK, 0);
                self.put(at, LOOP_TASK_NUMBER, 0);
            }
            Some((Asynchronous::Await, _)) if how == End::Suspended => {
                self.put(at, LOOP_TASK_AWAITS, 0);
            }
            _ => {}
        }
    }

    fn created(&mut self, at: Moment, function: u32, line: u32, number: Option<u64>) {
        self.put(at, CREATED_FUNCTION, u64::from(function));
        self.put(at, CREATED_LINE, u64::from(line));
        if let Some(number) = number {
            self.put(at, TASK_ID, number);
        }
    }

    fn task(&mut self, at: Moment, task: TaskId, how: Begin) {
        if how != Begin::Resumed {
            self.events.rows[self.first + at.position].counts = true;
        }
        let record = self.events.tasks[self.process].begin(task);
        let (function, line) = self.code(record.function, CodeRole::Task);
        self.put(at, TASK_FUNCTION, u64::from(function));
        self.put(at, TASK_LINE, u64::from(line));
        self.put(at, TASK_ID, record.number);
        if record.taskloop != 0 {
            self.put(at, TASKLOOP_ID, record.taskloop);
            let row = &mut self.events.rows[self.first + at.position];
            row.pieces.push(task);
        }
    }

    /// Writes how many tasks the process has created and begun so far, so that the difference is what is pending on whatever row.
    fn counts(&mut self, at: Moment) {
        let state = &mut self.events.rows[self.first + at.position];
        if !state.running {
            return;
        }
        if std::mem::take(&mut state.counts) {
            let tasks = &self.events.tasks[self.process];
            let (created, executed) = (tasks.created, tasks.executed);
            self.put(at, TASKS_CREATED, created);
            self.put(at, TASKS_EXECUTED, executed);
        }
    }
}

/// Where and when an event is written.
pub(super) struct At<'o, 'r, W: Write> {
    pub(super) records: &'o mut Records<'r, W>,
    pub(super) row: usize,
    /// In the output.
    pub(super) time: u64,
}

impl<W: Write> At<'_, '_, W> {
    #[inline]
    pub(super) fn put(&mut self, kind: u32, value: u64) {
        self.records.event(self.row, self.time, kind, value);
    }

    pub(super) fn put_signed(&mut self, kind: u32, value: i64) {
        self.records.signed_event(self.row, self.time, kind, value);
    }
}
