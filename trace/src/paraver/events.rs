//! Raw events to Paraver's: every begin gets its end, also where the trace was cut.

use std::io::Write;

use hashbrown::HashMap;

use crate::current::{CurrentTask, Parent};
use crate::event::{
    Event, MutexKind, ParallelKind, Payload, RegionId, SyncKind, TaskId, task_flags,
};
use crate::names::CodeRole;
use crate::samples::Chain;

use super::constructs;
use super::heap::Heap;
use super::names::{Code, NameTables};
use super::out::Records;
use super::samples;
use super::tasks::Tasks;
use super::types::*;

/// A construct that was begun and must be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Parallel(u32),
    Implicit,
    Work,
    Single,
    Masked,
    Dispatch,
    Join,
    Barrier,
    Taskwait,
    TaskgroupEnd,
    Taskyield,
    DoacrossSink,
    /// A wait that Extrae has no type for.
    OtherSync,
    Create,
    /// `taskwait depend`, from its begin to the end of its wait.
    WaitDepend,
    Task,
    Target,
    Taskloop,
    Flush,
}

impl Open {
    /// Types that get a 0 at the end.
    fn types(self) -> &'static [u32] {
        match self {
            Self::Parallel(_) => &[PARALLEL],
            Self::Implicit => &[PARALLEL_FUNCTION, PARALLEL_LINE],
            Self::Work | Self::Single | Self::Masked => &[WORKSHARING],
            Self::Dispatch => &[DISPATCH],
            Self::Join => &[JOIN],
            Self::Barrier => &[BARRIER],
            Self::Taskwait => &[TASKWAIT],
            Self::TaskgroupEnd => &[TASKGROUP],
            Self::Taskyield => &[TASKYIELD],
            Self::DoacrossSink => &[DOACROSS],
            Self::OtherSync => &[WAIT],
            Self::WaitDepend => &[CREATED_FUNCTION, CREATED_LINE, TASK_ID],
            Self::Target => &[TARGET, TARGET_FUNCTION],
            Self::Create => &[CREATED_FUNCTION, CREATED_LINE, TASK_ID],
            Self::Task => &[TASK_FUNCTION, TASK_LINE, TASK_ID],
            Self::Taskloop => &[TASKLOOP, TASKLOOP_ID],
            Self::Flush => &[FLUSH],
        }
    }

    fn is_body(self) -> bool {
        matches!(self, Self::Implicit | Self::Task)
    }

    /// Value with which a construct is opened again when the task around it goes on; nothing for those that hold a number.
    fn value_again(self) -> Option<u64> {
        match self {
            Self::Barrier
            | Self::Taskwait
            | Self::Taskyield
            | Self::Dispatch
            | Self::Join
            | Self::OtherSync => Some(1),
            Self::TaskgroupEnd | Self::DoacrossSink => Some(2),
            _ => None,
        }
    }
}

/// Type and value of a wait.
fn sync(kind: SyncKind) -> (Open, u64) {
    match kind {
        SyncKind::ExplicitBarrier => (Open::Barrier, 1),
        SyncKind::ImplicitBarrier => (Open::Join, 1),
        SyncKind::Taskwait => (Open::Taskwait, 1),
        SyncKind::TaskwaitDepend => (Open::Taskwait, 2),
        SyncKind::TaskgroupEnd => (Open::TaskgroupEnd, 2),
        SyncKind::Taskyield => (Open::Taskyield, 1),
        SyncKind::DoacrossSink => (Open::DoacrossSink, 2),
        SyncKind::Copyprivate => (Open::OtherSync, 1),
        SyncKind::Reduction => (Open::OtherSync, 2),
        SyncKind::TeamsEnd => (Open::OtherSync, 3),
        SyncKind::Other(_) => (Open::OtherSync, 4),
    }
}

fn lock_type(kind: MutexKind) -> u32 {
    match kind {
        MutexKind::NamedCritical | MutexKind::Lock | MutexKind::NestLock => NAMED_LOCK,
        MutexKind::Critical | MutexKind::Atomic | MutexKind::Other(_) => LOCK,
        MutexKind::Ordered => ORDERED,
    }
}

/// Deeper nesting is damage: it is not followed.
const MAX_DEPTH: usize = 1 << 16;

/// A lock that is waited for or held.
#[derive(Clone, Copy, Debug)]
struct HeldLock {
    kind: u32,
    object: u64,
    held: bool,
}

/// What is open on one row.
#[derive(Debug, Default)]
pub(super) struct RowState {
    open: Vec<Open>,
    locks: Vec<HeldLock>,
    regions: usize,
    calls: usize,
    taskgroups: usize,
    tracing: bool,
    begun: bool,
    ended: bool,
    created: u64,
    executed: u64,
    current: CurrentTask,
}

/// A region that is running.
#[derive(Debug, Default)]
struct RegionRecord {
    function: Code,
    members: Vec<usize>,
}

/// Turns the events of all processes into Paraver events.
pub(super) struct Events<'n> {
    pub(super) names: NameTables<'n>,
    rows: Vec<RowState>,
    pub(super) tasks: Vec<Tasks>,
    regions: HashMap<(usize, RegionId), RegionRecord>,
    taskloops: HashMap<(usize, TaskId), Code>,
    /// What was open in tasks that left their thread before their end.
    suspended: HashMap<(usize, TaskId), Vec<Open>>,
    heaps: Vec<Heap>,
    /// The sample at hand.
    chain: Chain,
}

impl<'n> Events<'n> {
    pub(super) fn new(names: NameTables<'n>, rows: usize, processes: usize) -> Self {
        Self {
            names,
            rows: std::iter::repeat_with(RowState::default)
                .take(rows)
                .collect(),
            tasks: std::iter::repeat_with(Tasks::default)
                .take(processes)
                .collect(),
            regions: HashMap::new(),
            taskloops: HashMap::new(),
            suspended: HashMap::new(),
            heaps: std::iter::repeat_with(Heap::default)
                .take(processes)
                .collect(),
            chain: Chain::default(),
        }
    }

    /// One event of `row` in `process`; `application` for the row that carries the process's life.
    #[inline]
    pub(super) fn event<W: Write>(
        &mut self,
        to: &mut At<'_, '_, W>,
        process: usize,
        event: &Event<'_>,
    ) {
        let row = to.row;
        if !self.rows[row].begun {
            self.begin(to);
        }
        if self.rows[row].ended {
            return;
        }
        match event.payload {
            Payload::UserEvent { kind, value } => {
                self.names.user_type(kind);
                to.put(kind, value);
            }
            Payload::String { address, text } => self.names.string(row as u32, address, text),
            Payload::Counter { name, value } => {
                if let Some(id) = self.names.counter(row as u32, name) {
                    to.put_signed(COUNTER + id, value);
                }
            }
            Payload::ThreadEnd => self.end(to),
            Payload::Lost { .. } => self.lost(to, process, event),
            Payload::ParallelBegin { .. }
            | Payload::ParallelEnd { .. }
            | Payload::ImplicitBegin { .. }
            | Payload::ImplicitEnd => self.region(to, process, event),
            Payload::TaskCreate { .. }
            | Payload::TaskCreated
            | Payload::TaskBegin { .. }
            | Payload::TaskEnd
            | Payload::TaskloopBegin { .. }
            | Payload::TaskloopEnd
            | Payload::TaskloopTask { .. } => self.task(to, process, event),
            Payload::TaskwaitDepend { .. } => self.taskwait_depend(to, process, event),
            Payload::TaskSuspend | Payload::TaskResume { .. } => {
                self.leave_or_return(to, process, event)
            }
            Payload::StaticLoop { site } => {
                let (_, line) = self
                    .names
                    .code(process, Code::new(site, true), CodeRole::Loop);
                to.put(STATIC_LOOP, u64::from(line));
            }
            Payload::TargetBegin { function, .. } => {
                let value = constructs::target(&event.payload);
                let (function, _) =
                    self.names
                        .code(process, Code::new(function, false), CodeRole::Target);
                self.rows[row].push(Open::Target);
                to.put(TARGET, value);
                to.put(TARGET_FUNCTION, u64::from(function));
            }
            Payload::Cancel { .. }
            | Payload::Doacross { .. }
            | Payload::TaskEvent { .. }
            | Payload::TaskFulfill { .. }
            | Payload::OmpAlloc { .. }
            | Payload::OmpFree { .. } => constructs::moment(to, &event.payload),
            Payload::MemAlloc { .. } | Payload::MemFree { .. } | Payload::MemRealloc { .. } => {
                self.heaps[process].event(to, &event.payload)
            }
            Payload::MutexAcquire { .. }
            | Payload::MutexAcquired { .. }
            | Payload::MutexReleased { .. }
            | Payload::MutexFailed { .. } => self.rows[row].mutex(to, &event.payload),
            Payload::RegionBegin { name } => {
                let id = self.names.region(row as u32, name);
                self.rows[row].regions += 1;
                to.put(REGION, u64::from(id));
            }
            Payload::CallBegin { name, .. } => {
                let id = self.names.call(row as u32, name);
                self.rows[row].calls += 1;
                to.put(CALL, u64::from(id));
            }
            Payload::Sample { .. } | Payload::SampleStack { .. } => samples::sample(
                to,
                &mut self.names,
                &mut self.chain,
                process,
                &event.payload,
            ),
            ref payload => self.rows[row].other(to, payload),
        }
    }

    /// Whether the row has begun and not ended.
    pub(super) fn is_running(&self, row: usize) -> bool {
        self.rows[row].begun && !self.rows[row].ended
    }

    fn begin<W: Write>(&mut self, to: &mut At<'_, '_, W>) {
        let state = &mut self.rows[to.row];
        (state.begun, state.tracing) = (true, true);
        if to.main {
            to.put(APPLICATION, 1);
        }
        to.put(TRACING, 1);
    }

    /// Ends the row: all that is open gets its end now.
    pub(super) fn end<W: Write>(&mut self, to: &mut At<'_, '_, W>) {
        let state = &mut self.rows[to.row];
        if state.ended || !state.begun {
            return;
        }
        state.close_all(to);
        state.counts(to);
        if std::mem::take(&mut state.tracing) {
            to.put(TRACING, 0);
        }
        if to.main {
            to.put(APPLICATION, 0);
        }
        state.ended = true;
    }

    fn lost<W: Write>(&mut self, to: &mut At<'_, '_, W>, process: usize, event: &Event<'_>) {
        let Payload::Lost { task, region, .. } = event.payload else {
            return;
        };
        let state = &mut self.rows[to.row];
        state.close_all(to);
        let tasks = &mut self.tasks[process];
        state.current.event(event.thread, &event.payload, |parent| {
            end_task(tasks, parent)
        });
        if let Some(region) = region {
            self.implicit(to, process, region);
        }
        if let Some(task) = task {
            self.task_begin(to, process, task);
        }
    }

    fn implicit<W: Write>(&mut self, to: &mut At<'_, '_, W>, process: usize, region: RegionId) {
        let record = self.regions.get_mut(&(process, region));
        let function = record
            .as_ref()
            .map_or(Code::default(), |record| record.function);
        if let Some(record) = record {
            record.members.push(to.row);
        }
        let (function, line) = self.names.code(process, function, CodeRole::Parallel);
        self.rows[to.row].push(Open::Implicit);
        to.put(PARALLEL_FUNCTION, u64::from(function));
        to.put(PARALLEL_LINE, u64::from(line));
    }

    fn region<W: Write>(&mut self, to: &mut At<'_, '_, W>, process: usize, event: &Event<'_>) {
        let state = &mut self.rows[to.row];
        let tasks = &mut self.tasks[process];
        state.current.event(event.thread, &event.payload, |parent| {
            end_task(tasks, parent)
        });
        match event.payload {
            Payload::ParallelBegin {
                seq,
                function,
                kind,
                call_site,
                ..
            } => {
                let region = RegionId {
                    thread: event.thread,
                    seq,
                };
                self.regions.insert(
                    (process, region),
                    RegionRecord {
                        function: Code::new(function, call_site),
                        members: Vec::new(),
                    },
                );
                state.push(Open::Parallel(seq));
                let value = match kind {
                    ParallelKind::Loop => 1,
                    ParallelKind::Sections => 2,
                    ParallelKind::Region | ParallelKind::Teams | ParallelKind::Other(_) => 3,
                };
                to.put(PARALLEL, value);
            }
            Payload::ImplicitBegin { region, .. } => self.implicit(to, process, region),
            Payload::ImplicitEnd => state.close(to, Reach::Anywhere, |open| open == Open::Implicit),
            Payload::ParallelEnd { seq } => {
                state.close(to, Reach::Anywhere, |open| open == Open::Parallel(seq));
                let region = RegionId {
                    thread: event.thread,
                    seq,
                };
                let Some(record) = self.regions.remove(&(process, region)) else {
                    return;
                };
                let own = to.row;
                for row in record.members {
                    if !self.rows[row].ended {
                        to.row = row;
                        self.rows[row].counts(to);
                    }
                }
                to.row = own;
            }
            _ => {}
        }
    }

    fn task_begin<W: Write>(&mut self, to: &mut At<'_, '_, W>, process: usize, task: TaskId) {
        self.rows[to.row].executed += 1;
        self.task_body(to, process, task);
    }

    /// The body runs from now on.
    fn task_body<W: Write>(&mut self, to: &mut At<'_, '_, W>, process: usize, task: TaskId) {
        let record = self.tasks[process].begin(task);
        let (function, line) = self.names.code(process, record.function, CodeRole::Task);
        self.rows[to.row].push(Open::Task);
        to.put(TASK_FUNCTION, u64::from(function));
        to.put(TASK_LINE, u64::from(line));
        to.put(TASK_ID, record.number);
    }

    fn task<W: Write>(&mut self, to: &mut At<'_, '_, W>, process: usize, event: &Event<'_>) {
        let tasks = &mut self.tasks[process];
        let state = &mut self.rows[to.row];
        match event.payload {
            Payload::TaskCreate {
                seq,
                function,
                flags,
                ..
            } => {
                let function = Code::new(function, flags & task_flags::CALL_SITE != 0);
                let record = tasks.create(
                    TaskId {
                        thread: event.thread,
                        seq,
                    },
                    function,
                );
                let (function, line) = self.names.code(process, function, CodeRole::Task);
                state.push(Open::Create);
                state.created += 1;
                to.put(CREATED_FUNCTION, u64::from(function));
                to.put(CREATED_LINE, u64::from(line));
                to.put(TASK_ID, record.number);
            }
            Payload::TaskCreated => state.close(to, Reach::Body, |open| open == Open::Create),
            Payload::TaskBegin { task } => {
                state.current.event(event.thread, &event.payload, |_| {});
                self.task_begin(to, process, task);
            }
            Payload::TaskEnd => {
                state.current.event(event.thread, &event.payload, |parent| {
                    end_task(tasks, parent)
                });
                state.close(to, Reach::NextBody, |open| open == Open::Task);
            }
            Payload::TaskloopBegin {
                seq,
                function,
                flags,
                ..
            } => {
                let function = Code::new(function, flags & task_flags::CALL_SITE != 0);
                let taskloop = TaskId {
                    thread: event.thread,
                    seq,
                };
                let record = tasks.create(taskloop, function);
                tasks.end(taskloop);
                self.taskloops.insert((process, taskloop), function);
                state.push(Open::Taskloop);
                to.put(TASKLOOP, 1);
                to.put(TASKLOOP_ID, record.number);
            }
            Payload::TaskloopEnd => state.close(to, Reach::Body, |open| open == Open::Taskloop),
            Payload::TaskloopTask { taskloop, seq, .. } => {
                let function = self
                    .taskloops
                    .get(&(process, taskloop))
                    .copied()
                    .unwrap_or_default();
                tasks.create(
                    TaskId {
                        thread: event.thread,
                        seq,
                    },
                    function,
                );
                state.created += 1;
            }
            _ => {}
        }
    }
}

impl Events<'_> {
    /// An empty task; it is shown from its construct to the end of its wait.
    fn taskwait_depend<W: Write>(
        &mut self,
        to: &mut At<'_, '_, W>,
        process: usize,
        event: &Event<'_>,
    ) {
        let Payload::TaskwaitDepend { seq, nowait, .. } = event.payload else {
            return;
        };
        let task = TaskId {
            thread: event.thread,
            seq,
        };
        let record = self.tasks[process].create(task, Code::default());
        self.tasks[process].end(task);
        let function = self.names.taskwait_depend();
        let state = &mut self.rows[to.row];
        state.push(Open::WaitDepend);
        to.put(CREATED_FUNCTION, u64::from(function));
        to.put(CREATED_LINE, 1);
        to.put(TASK_ID, record.number);
        if nowait {
            state.close(to, Reach::Body, |open| open == Open::WaitDepend);
        }
    }

    /// A task leaves its thread before its end, or goes on on one: what is open in it goes with it.
    fn leave_or_return<W: Write>(
        &mut self,
        to: &mut At<'_, '_, W>,
        process: usize,
        event: &Event<'_>,
    ) {
        let state = &mut self.rows[to.row];
        let running = state.current.parent(event.thread);
        state.current.event(event.thread, &event.payload, |_| {});
        match event.payload {
            Payload::TaskSuspend => {
                if let Some(open) = state.leave(to)
                    && let Parent::Explicit(task) = running
                {
                    self.suspended.insert((process, task), open);
                }
            }
            Payload::TaskResume { task } => {
                self.task_body(to, process, task);
                let state = &mut self.rows[to.row];
                for open in self.suspended.remove(&(process, task)).unwrap_or_default() {
                    if let Some(value) = open.value_again() {
                        state.open(to, open, value);
                    }
                }
            }
            _ => {}
        }
    }
}

pub(super) fn end_task(tasks: &mut Tasks, parent: Parent) {
    if let Parent::Explicit(task) = parent {
        tasks.end(task);
    }
}

/// How far out a construct may lie that an end event ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Inside the running body.
    Body,
    /// The running body itself.
    NextBody,
    Anywhere,
}

impl RowState {
    fn push(&mut self, open: Open) {
        if self.open.len() < MAX_DEPTH {
            self.open.push(open);
        }
    }

    /// Ends the innermost construct that `is` says, and all inside it; nothing if there is none within reach.
    fn close<W: Write>(&mut self, to: &mut At<'_, '_, W>, reach: Reach, is: impl Fn(Open) -> bool) {
        let body = self.open.iter().rposition(|open| open.is_body());
        let from = match reach {
            Reach::Body => body.map_or(0, |at| at + 1),
            Reach::NextBody => body.unwrap_or(self.open.len()),
            Reach::Anywhere => 0,
        };
        let Some(at) = self.open[from..].iter().rposition(|open| is(*open)) else {
            return;
        };
        self.close_to(to, from + at);
    }

    /// Ends the running task's body on this row; what was open in it, outermost first.
    fn leave<W: Write>(&mut self, to: &mut At<'_, '_, W>) -> Option<Vec<Open>> {
        let at = self.open.iter().rposition(|open| open.is_body())?;
        if self.open[at] != Open::Task {
            return None;
        }
        let inner = self.open[at + 1..].to_vec();
        self.close_to(to, at);
        Some(inner)
    }

    fn close_to<W: Write>(&mut self, to: &mut At<'_, '_, W>, depth: usize) {
        while self.open.len() > depth
            && let Some(open) = self.open.pop()
        {
            for kind in open.types() {
                to.put(*kind, 0);
            }
        }
    }

    fn close_all<W: Write>(&mut self, to: &mut At<'_, '_, W>) {
        for lock in self.locks.drain(..).rev() {
            unlock(to, lock);
        }
        self.close_to(to, 0);
        for (count, kind) in [(&mut self.calls, CALL), (&mut self.regions, REGION)] {
            for _ in 0..std::mem::take(count) {
                to.put(kind, 0);
            }
        }
        for _ in 0..std::mem::take(&mut self.taskgroups) {
            to.put(IN_TASKGROUP, 0);
        }
    }

    fn counts<W: Write>(&mut self, to: &mut At<'_, '_, W>) {
        let (created, executed) = (
            std::mem::take(&mut self.created),
            std::mem::take(&mut self.executed),
        );
        if created + executed > 0 {
            to.put(TASKS_CREATED, created);
            to.put(TASKS_EXECUTED, executed);
        }
    }

    fn mutex<W: Write>(&mut self, to: &mut At<'_, '_, W>, payload: &Payload<'_>) {
        let find = |locks: &[HeldLock], kind: MutexKind, object: u64, held: bool| {
            let kind = lock_type(kind);
            locks
                .iter()
                .rposition(|lock| lock.kind == kind && lock.object == object && lock.held == held)
        };
        match *payload {
            Payload::MutexAcquire { kind, object } if self.locks.len() < MAX_DEPTH => {
                let kind = lock_type(kind);
                self.locks.push(HeldLock {
                    kind,
                    object,
                    held: false,
                });
                to.put(kind, LOCK_WAIT);
            }
            Payload::MutexAcquired { kind, object } => {
                let Some(at) = find(&self.locks, kind, object, false) else {
                    return;
                };
                // What is waited for is the innermost; a lost event may have left another wait behind.
                for lock in self.locks.drain(at + 1..).rev() {
                    unlock(to, lock);
                }
                self.locks[at].held = true;
                to.put(lock_type(kind), LOCK_HELD);
                if lock_type(kind) == NAMED_LOCK {
                    to.put(LOCK_NAME, object);
                }
            }
            Payload::MutexFailed { kind, object } => {
                if let Some(at) = find(&self.locks, kind, object, false) {
                    unlock(to, self.locks.remove(at));
                }
            }
            Payload::MutexReleased { kind, object } => {
                if let Some(at) = find(&self.locks, kind, object, true) {
                    unlock(to, self.locks.remove(at));
                }
            }
            _ => {}
        }
    }

    fn other<W: Write>(&mut self, to: &mut At<'_, '_, W>, payload: &Payload<'_>) {
        match *payload {
            Payload::FlushBegin => self.open(to, Open::Flush, 1),
            Payload::Flush { .. } => self.close(to, Reach::Body, |open| open == Open::Flush),
            Payload::TracingOff if self.tracing => {
                self.tracing = false;
                to.put(TRACING, 0);
            }
            Payload::TracingOn if !self.tracing => {
                self.tracing = true;
                to.put(TRACING, 1);
            }
            Payload::RegionEnd if self.regions > 0 => {
                self.regions -= 1;
                to.put(REGION, 0);
            }
            Payload::CallEnd { .. } if self.calls > 0 => {
                self.calls -= 1;
                to.put(CALL, 0);
            }
            Payload::TaskgroupBegin => {
                self.taskgroups += 1;
                to.put(IN_TASKGROUP, 1);
            }
            Payload::SyncBegin { kind } => {
                self.end_single(to);
                let (open, value) = sync(kind);
                self.open(to, open, value);
            }
            Payload::SyncEnd { kind } => {
                let (ends, _) = sync(kind);
                self.close(to, Reach::Body, |open| open == ends);
                if kind == SyncKind::TaskwaitDepend {
                    self.close(to, Reach::Body, |open| open == Open::WaitDepend);
                }
                if ends == Open::TaskgroupEnd && self.taskgroups > 0 {
                    self.taskgroups -= 1;
                    to.put(IN_TASKGROUP, 0);
                }
            }
            _ => self.work(to, payload),
        }
    }

    /// Work-sharing constructs.
    fn work<W: Write>(&mut self, to: &mut At<'_, '_, W>, payload: &Payload<'_>) {
        match *payload {
            Payload::LoopBegin { .. } => {
                self.end_single(to);
                self.open(to, Open::Work, 4);
            }
            Payload::SectionsBegin { .. } => {
                self.end_single(to);
                self.open(to, Open::Work, 5);
            }
            Payload::Single { executor } => {
                self.end_single(to);
                if executor {
                    self.open(to, Open::Single, 6);
                }
            }
            Payload::SingleEnd => self.end_single(to),
            Payload::MaskedBegin => {
                self.end_single(to);
                self.open(to, Open::Masked, 7);
            }
            Payload::MaskedEnd => self.close(to, Reach::Body, |open| open == Open::Masked),
            Payload::ScopeBegin => {
                self.end_single(to);
                self.open(to, Open::Work, 8);
            }
            Payload::TargetEnd { .. } => self.close(to, Reach::Body, |open| open == Open::Target),
            Payload::Dispatch => {
                self.close(to, Reach::Body, |open| open == Open::Dispatch);
                let body = self
                    .open
                    .iter()
                    .rposition(|open| open.is_body())
                    .map_or(0, |at| at + 1);
                if !self.open[body..].contains(&Open::Work) {
                    self.open(to, Open::Work, 4);
                }
                self.open(to, Open::Dispatch, 1);
            }
            Payload::ChunkBegin { .. } | Payload::SectionBegin { .. } => {
                self.close(to, Reach::Body, |open| open == Open::Dispatch);
            }
            Payload::WorkEnd { .. } => self.close(to, Reach::Body, |open| open == Open::Work),
            _ => {}
        }
    }

    /// The end of a single block is not always recorded: it then lasts until the next construct of the team.
    fn end_single<W: Write>(&mut self, to: &mut At<'_, '_, W>) {
        self.close(to, Reach::Body, |open| open == Open::Single);
    }

    fn open<W: Write>(&mut self, to: &mut At<'_, '_, W>, open: Open, value: u64) {
        if self.open.len() < MAX_DEPTH {
            self.open.push(open);
            for kind in open.types() {
                to.put(*kind, value);
            }
        }
    }
}

fn unlock<W: Write>(to: &mut At<'_, '_, W>, lock: HeldLock) {
    if lock.held {
        to.put(lock.kind, LOCK_LEAVE);
    }
    to.put(lock.kind, 0);
    if lock.held && lock.kind == NAMED_LOCK {
        to.put(LOCK_NAME, 0);
    }
}

/// Where and when an event is written.
pub(super) struct At<'o, 'r, W: Write> {
    pub(super) records: &'o mut Records<'r, W>,
    pub(super) row: usize,
    pub(super) time: u64,
    /// Whether the row is the first of its process, which carries the application's begin and end.
    pub(super) main: bool,
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
