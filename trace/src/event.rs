//! The event model: one [`Payload`] variant per row of the event table in `docs/trace-format.md`.
//!
//! Nothing here allocates: strings, arguments and dependence lists borrow the stream's buffer.

use crate::layout::Layout;

/// Identity of an explicit task: the thread that created it and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// Index of the creating thread.
    pub thread: u32,
    /// Number of the task on that thread.
    pub seq: u32,
}

/// Identity of a parallel region: the thread that encountered it and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionId {
    /// Index of the encountering thread.
    pub thread: u32,
    /// Number of the region on that thread.
    pub seq: u32,
}

/// What a parallel construct combines (low byte of `parallel_begin.kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParallelKind {
    /// A plain `parallel`.
    Region,
    /// `parallel for` with a runtime call of its own.
    Loop,
    /// `parallel sections`.
    Sections,
    /// `teams`.
    Teams,
    /// A number this version does not know.
    Other(u32),
}

impl From<u32> for ParallelKind {
    fn from(raw: u32) -> Self {
        match raw & 0xff {
            0 => Self::Region,
            1 => Self::Loop,
            2 => Self::Sections,
            3 => Self::Teams,
            other => Self::Other(other),
        }
    }
}

/// What a thread waits for between `sync_begin` and `sync_end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncKind {
    /// `#pragma omp barrier`.
    ExplicitBarrier,
    /// The barrier that ends a work-sharing construct.
    ImplicitBarrier,
    /// `taskwait`.
    Taskwait,
    /// `taskwait depend`.
    TaskwaitDepend,
    /// The end of a `taskgroup`.
    TaskgroupEnd,
    /// `taskyield`.
    Taskyield,
    /// The wait of `copyprivate`.
    Copyprivate,
    /// `ordered depend(sink)` of a doacross loop.
    DoacrossSink,
    /// A reduction.
    Reduction,
    /// The end of a league of teams.
    TeamsEnd,
    /// A number this version does not know.
    Other(u32),
}

impl From<u32> for SyncKind {
    fn from(raw: u32) -> Self {
        match raw {
            1 => Self::ExplicitBarrier,
            2 => Self::ImplicitBarrier,
            3 => Self::Taskwait,
            4 => Self::TaskwaitDepend,
            5 => Self::TaskgroupEnd,
            6 => Self::Taskyield,
            7 => Self::Copyprivate,
            8 => Self::DoacrossSink,
            9 => Self::Reduction,
            10 => Self::TeamsEnd,
            other => Self::Other(other),
        }
    }
}

/// Kind of mutual exclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MutexKind {
    /// The unnamed `critical`.
    Critical,
    /// A named `critical`.
    NamedCritical,
    /// An atomic update that takes a lock.
    Atomic,
    /// An `ordered` block.
    Ordered,
    /// `omp_lock_t`.
    Lock,
    /// `omp_nest_lock_t`.
    NestLock,
    /// A number this version does not know.
    Other(u32),
}

impl From<u32> for MutexKind {
    fn from(raw: u32) -> Self {
        match raw {
            1 => Self::Critical,
            2 => Self::NamedCritical,
            3 => Self::Atomic,
            4 => Self::Ordered,
            5 => Self::Lock,
            6 => Self::NestLock,
            other => Self::Other(other),
        }
    }
}

/// Kind of one `depend` entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependKind {
    /// `in`.
    In,
    /// `out` or `inout`; libgomp does not tell them apart.
    Out,
    /// `mutexinoutset`.
    MutexInOutSet,
    /// `inoutset`.
    InOutSet,
    /// `omp_all_memory`; the address means nothing.
    AllMemory,
    /// A number this version does not know.
    Other(u32),
}

impl From<u32> for DependKind {
    fn from(raw: u32) -> Self {
        match raw {
            1 => Self::In,
            2 => Self::Out,
            4 => Self::MutexInOutSet,
            5 => Self::InOutSet,
            6 => Self::AllMemory,
            other => Self::Other(other),
        }
    }
}

/// One entry of a `depend` list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dep {
    /// Start address of the storage.
    pub address: u64,
    /// How the task uses it.
    pub kind: DependKind,
}

/// A `depend` list: an iterator over the raw bytes of the event, copied at will.
#[derive(Clone, Copy, Debug)]
pub struct Deps<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> Deps<'a> {
    pub(crate) fn new(bytes: &'a [u8], layout: Layout) -> Self {
        Self { bytes, layout }
    }

    /// A list without entries.
    pub fn empty() -> Self {
        Self {
            bytes: &[],
            layout: Layout::default(),
        }
    }
}

impl Iterator for Deps<'_> {
    type Item = Dep;

    #[inline]
    fn next(&mut self) -> Option<Dep> {
        let word = self.layout.word_bytes();
        if self.bytes.len() < word + 4 {
            return None;
        }
        let dep = Dep {
            address: self.layout.addr(self.bytes, 0),
            kind: self.layout.u32(self.bytes, word).into(),
        };
        self.bytes = &self.bytes[word + 4..];
        Some(dep)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.bytes.len() / (self.layout.word_bytes() + 4);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Deps<'_> {}

/// The 64-bit arguments of a `call_begin`: an iterator over the raw bytes.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> Args<'a> {
    pub(crate) fn new(bytes: &'a [u8], layout: Layout) -> Self {
        Self { bytes, layout }
    }
}

impl Iterator for Args<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.bytes.len() < 8 {
            return None;
        }
        let value = self.layout.u64(self.bytes, 0);
        self.bytes = &self.bytes[8..];
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.bytes.len() / 8, Some(self.bytes.len() / 8))
    }
}

impl ExactSizeIterator for Args<'_> {}

/// A list of addresses of the target's width: an iterator over the raw bytes.
#[derive(Clone, Copy, Debug)]
pub struct Addresses<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> Addresses<'a> {
    pub(crate) fn new(bytes: &'a [u8], layout: Layout) -> Self {
        Self { bytes, layout }
    }

    /// The first `count` (or all, if there are not as many), and the rest.
    #[must_use]
    pub fn split_at(self, count: usize) -> (Self, Self) {
        let at = count.saturating_mul(self.layout.word_bytes());
        let (first, rest) = self.bytes.split_at(at.min(self.bytes.len()));
        let part = |bytes| Self { bytes, ..self };
        (part(first), part(rest))
    }
}

impl Iterator for Addresses<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let word = self.layout.word_bytes();
        if self.bytes.len() < word {
            return None;
        }
        let value = self.layout.addr(self.bytes, 0);
        self.bytes = &self.bytes[word..];
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.bytes.len() / self.layout.word_bytes();
        (left, Some(left))
    }
}

impl ExactSizeIterator for Addresses<'_> {}

/// Schedule of a work-sharing loop as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schedule(pub u32);

impl Schedule {
    /// The loop has an `ordered` clause.
    pub const ORDERED: u32 = 0x100;
    /// The `monotonic` modifier.
    pub const MONOTONIC: u32 = 0x200;
    /// The `nonmonotonic` modifier.
    pub const NONMONOTONIC: u32 = 0x400;
    /// The bounds are unsigned 64-bit numbers.
    pub const UNSIGNED: u32 = 0x800;
    /// `ordered(n)` with doacross dependences.
    pub const DOACROSS: u32 = 0x1000;
    /// Combined with the parallel construct.
    pub const COMBINED: u32 = 0x2000;
    /// The bounds are not known: `end` is the number of iterations.
    pub const COUNTED: u32 = 0x4000;
    /// A `distribute` construct.
    pub const DISTRIBUTE: u32 = 0x8000;

    /// The schedule's name as in the `schedule` clause.
    pub fn name(self) -> &'static str {
        match self.0 & 0xff {
            0 => "runtime",
            1 => "static",
            2 => "dynamic",
            3 => "guided",
            4 => "auto",
            _ => "unknown",
        }
    }

    /// Whether one of the flag constants is set.
    pub fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
}

/// Bits of `task_create.flags`: those of libgomp's `GOMP_task`, and some of ours.
pub mod task_flags {
    /// `untied`.
    pub const UNTIED: u32 = 1;
    /// `final` holds.
    pub const FINAL: u32 = 2;
    /// `mergeable`.
    pub const MERGEABLE: u32 = 4;
    /// The construct has a `depend` clause.
    pub const DEPEND: u32 = 8;
    /// The construct has a `priority` clause.
    pub const PRIORITY: u32 = 0x10;
    /// The construct has a `detach` clause.
    pub const DETACH: u32 = 0x2000;
    /// The `if` clause was false: the task is undeferred.
    pub const IF_FALSE: u32 = 0x8000;
    /// A target task.
    pub const TARGET: u32 = 0x1_0000;
    /// `function` is a return address into the creating function, not the outlined body.
    pub const CALL_SITE: u32 = 0x4_0000;
    /// The run-time library says that the task is undeferred.
    pub const UNDEFERRED: u32 = 0x8_0000;
}

/// Bits of `thread_begin.flags`.
pub mod thread_flags {
    /// The thread that runs `main`.
    pub const INITIAL: u32 = 1;
    /// A thread of the runtime's own, none of the program's.
    pub const OWN: u32 = 2;
    /// No thread: what the system told about one processor, whose number stands for the thread id.
    pub const PROCESSOR: u32 = 4;
}

/// Bits of `thread_counters.flags`.
pub mod counter_flags {
    /// Some of the values are estimates: the event was counted part of the time.
    pub const SCALED: u32 = 1;
    /// The last reading of its thread.
    pub const LAST: u32 = 2;
}

/// Bits of `cancel.flags`.
pub mod cancel_flags {
    /// A `cancel` construct whose if clause holds.
    pub const ACTIVATED: u32 = 1;
    /// The thread goes on at the end of the construct.
    pub const DETECTED: u32 = 2;
    /// A task that had not begun was discarded.
    pub const DISCARDED_TASK: u32 = 4;
}

/// What happened. Times inside payloads are nanoseconds since the trace's start, like [`Event::time`], unless said otherwise.
#[derive(Clone, Copy, Debug)]
#[allow(
    missing_docs,
    reason = "the fields are those of the event table in docs/trace-format.md"
)]
pub enum Payload<'a> {
    ThreadBegin {
        os_tid: u32,
        flags: u32,
    },
    ThreadEnd,
    /// `ticks` is the raw clock.
    ClockSync {
        ticks: u64,
        monotonic_ns: u64,
        realtime_ns: u64,
    },
    /// `begin` is in nanoseconds since the trace's start (converted from ticks).
    Flush {
        begin: u64,
        bytes: u32,
    },
    TracingOff,
    TracingOn,
    /// `text` is without its NUL; usually UTF-8, but nobody promises.
    String {
        address: u64,
        text: &'a [u8],
    },
    UserEvent {
        kind: u32,
        value: u64,
    },
    RegionBegin {
        name: u64,
    },
    RegionEnd,
    Counter {
        name: u64,
        value: i64,
    },
    CallBegin {
        name: u64,
        args: Args<'a>,
    },
    CallEnd {
        result: u64,
    },
    /// The region's id is (this event's thread, `seq`).
    ParallelBegin {
        seq: u32,
        function: u64,
        requested: u32,
        kind: ParallelKind,
        /// `function` is a return address into the encountering function.
        call_site: bool,
    },
    ParallelEnd {
        seq: u32,
    },
    /// `team_size` is told by the encountering thread only, 0 on the others.
    ImplicitBegin {
        region: RegionId,
        thread_num: u32,
        team_size: u32,
    },
    ImplicitEnd,
    LoopBegin {
        schedule: Schedule,
        start: i64,
        end: i64,
        incr: i64,
        chunk: i64,
    },
    SectionsBegin {
        count: u32,
    },
    Single {
        executor: bool,
    },
    ChunkBegin {
        begin: i64,
        end: i64,
    },
    SectionBegin {
        number: u32,
    },
    Dispatch,
    WorkEnd {
        nowait: bool,
    },
    /// Inferred from the calls with which GCC begins a static loop; `site` is a return address.
    StaticLoop {
        site: u64,
    },
    MaskedBegin,
    MaskedEnd,
    ScopeBegin,
    SingleEnd,
    SyncBegin {
        kind: SyncKind,
    },
    SyncEnd {
        kind: SyncKind,
    },
    MutexAcquire {
        kind: MutexKind,
        object: u64,
    },
    MutexAcquired {
        kind: MutexKind,
        object: u64,
    },
    MutexReleased {
        kind: MutexKind,
        object: u64,
    },
    MutexFailed {
        kind: MutexKind,
        object: u64,
    },
    /// `kind`: 1 parallel, 2 loop, 4 sections, 8 taskgroup. See [`cancel_flags`].
    Cancel {
        kind: u32,
        flags: u32,
    },
    /// An iteration of a doacross loop is posted (`source`) or about to be waited for; the vector's numbers are signed.
    Doacross {
        source: bool,
        vector: Args<'a>,
    },
    /// The task's id is (this event's thread, `seq`). See [`task_flags`].
    TaskCreate {
        seq: u32,
        function: u64,
        flags: u32,
        deps: Deps<'a>,
    },
    TaskCreated,
    TaskBegin {
        task: TaskId,
    },
    TaskEnd,
    /// More entries of the `TaskCreate` with the same `seq` that follows on this thread.
    TaskDepend {
        seq: u32,
        deps: Deps<'a>,
    },
    /// An empty included task (this event's thread, `seq`).
    TaskwaitDepend {
        seq: u32,
        nowait: bool,
        deps: Deps<'a>,
    },
    TaskloopBegin {
        seq: u32,
        function: u64,
        flags: u32,
        num_tasks: u64,
        start: i64,
        end: i64,
        step: i64,
    },
    TaskloopEnd,
    TaskgroupBegin,
    /// Stands for the creation of task (this event's thread, `seq`) by `taskloop`; its `TaskBegin` follows.
    TaskloopTask {
        taskloop: TaskId,
        seq: u32,
        start: i64,
        end: i64,
    },
    /// The innermost running explicit task leaves this thread before its end.
    TaskSuspend,
    TaskResume {
        task: TaskId,
    },
    /// `task` is complete when its body has ended and `handle` is fulfilled.
    TaskEvent {
        task: TaskId,
        handle: u64,
    },
    /// Without a `task` it is the last one told with that handle.
    TaskFulfill {
        task: Option<TaskId>,
        handle: u64,
    },
    /// `kind`: 0 target, 1 target data, 2 its end, 3 target update, 4 target enter/exit data.
    TargetBegin {
        kind: u32,
        function: u64,
        device: i32,
        flags: u32,
    },
    TargetEnd {
        kind: u32,
    },
    OmpAlloc {
        kind: u32,
        address: u64,
        bytes: u64,
        allocator: u64,
    },
    OmpFree {
        kind: u32,
        address: u64,
    },
    /// A reading of a sensor of [`crate::sensors::Definitions`]; the numbers are signed.
    Sensor {
        sensor: u32,
        values: Args<'a>,
    },
    /// The sensor is not read any more; `error` is the traced system's number.
    SensorLost {
        sensor: u32,
        error: u32,
    },
    /// The counters of this thread, since it was attached; the numbers are signed. See [`counter_flags`].
    ThreadCounters {
        flags: u32,
        values: Args<'a>,
    },
    /// A block of the heap; `address` 0: refused. `site` is a return address. `kind`: 1 `malloc`, 2 `calloc`, 4 aligned, 5 whole pages,
    /// 6 `new`, 7 `new[]`.
    MemAlloc {
        kind: u32,
        address: u64,
        bytes: u64,
        site: u64,
    },
    /// About to be given back. `kind`: 1 `free`, 6 `delete`, 7 `delete[]`.
    MemFree {
        kind: u32,
        address: u64,
    },
    /// Told after the call, so another thread may be told before it to have `old`. `address` 0: refused, or freed when `bytes` is 0 too.
    MemRealloc {
        old: u64,
        address: u64,
        bytes: u64,
        site: u64,
    },
    /// Pages of the system; `address` 0: refused.
    MemMap {
        address: u64,
        bytes: u64,
        site: u64,
    },
    /// About to be given back.
    MemUnmap {
        address: u64,
        bytes: u64,
    },
    /// Told after the call; `address` 0: refused.
    MemRemap {
        old: u64,
        old_bytes: u64,
        address: u64,
        bytes: u64,
        site: u64,
    },
    /// The C library's heap, bytes: got from the system, handed out, free, mapped block by block.
    MemHeap {
        arena: u64,
        used: u64,
        free: u64,
        mapped: u64,
    },
    /// The thread's stack [`low`, `high`). `kind`: 1 its bounds, `mark` is the stack pointer; 2 its lowest address in use; 3 the lowest
    /// stack pointer of an event, where 2 cannot be told.
    Stack {
        kind: u32,
        low: u64,
        high: u64,
        mark: u64,
    },
    /// Sampling of this thread begins. `clock`: 1 its processor time, at the kernel's ticks; 2 real time; 3 its processor time, exactly.
    Sampling {
        clock: u32,
        signal: u32,
        period_ns: u64,
    },
    /// Where the thread was: program counter, stack pointer, return addresses, innermost first. `weight`: periods it stands for.
    Sample {
        pc: u64,
        sp: u64,
        weight: u32,
        stack: Addresses<'a>,
    },
    /// The same with registers and a copy of the stack from `sp` on, as words; the host finds the return addresses.
    SampleStack {
        pc: u64,
        sp: u64,
        weight: u32,
        registers: Addresses<'a>,
        stack: Addresses<'a>,
    },
    /// Periods without a sample.
    SampleLost {
        count: u32,
    },
    /// A processor leaves one thread (by the system's id) for another; in the stream of the processor.
    ThreadSwitch {
        processor: u32,
        from: u32,
        to: u32,
    },
    /// What follows in this stream was recorded on that processor.
    Processor {
        processor: u32,
    },
    /// Not in the table: made by the reader, at the time a flush began (the `Flush` that ends it follows).
    FlushBegin,
    /// Not in the table: made by the reader where events of this thread are missing before the packet that begins here.
    /// All that was open on the thread is to be taken as closed, then `region`'s implicit task and `task` as running.
    Lost {
        /// Events known to be lost here; 0 when nobody counted them.
        events: u64,
        /// Explicit task that runs when the packet begins.
        task: Option<TaskId>,
        /// Region whose implicit task runs when the packet begins.
        region: Option<RegionId>,
    },
}

impl Payload<'_> {
    /// The event's id in the raw format, 0 for what the reader made itself.
    pub fn id(&self) -> u8 {
        match self {
            Self::ThreadBegin { .. } => 1,
            Self::ThreadEnd => 2,
            Self::ClockSync { .. } => 3,
            Self::Flush { .. } => 4,
            Self::TracingOff => 5,
            Self::TracingOn => 6,
            Self::String { .. } => 7,
            Self::UserEvent { .. } => 8,
            Self::RegionBegin { .. } => 9,
            Self::RegionEnd => 10,
            Self::Counter { .. } => 11,
            Self::CallBegin { .. } => 12,
            Self::CallEnd { .. } => 13,
            Self::ParallelBegin { .. } => 16,
            Self::ParallelEnd { .. } => 17,
            Self::ImplicitBegin { .. } => 18,
            Self::ImplicitEnd => 19,
            Self::LoopBegin { .. } => 20,
            Self::SectionsBegin { .. } => 21,
            Self::Single { .. } => 22,
            Self::ChunkBegin { .. } => 23,
            Self::SectionBegin { .. } => 24,
            Self::Dispatch => 25,
            Self::WorkEnd { .. } => 26,
            Self::StaticLoop { .. } => 27,
            Self::MaskedBegin => 28,
            Self::MaskedEnd => 29,
            Self::ScopeBegin => 30,
            Self::SingleEnd => 31,
            Self::SyncBegin { .. } => 32,
            Self::SyncEnd { .. } => 33,
            Self::MutexAcquire { .. } => 34,
            Self::MutexAcquired { .. } => 35,
            Self::MutexReleased { .. } => 36,
            Self::MutexFailed { .. } => 37,
            Self::Cancel { .. } => 38,
            Self::Doacross { .. } => 39,
            Self::TaskCreate { .. } => 40,
            Self::TaskCreated => 41,
            Self::TaskBegin { .. } => 42,
            Self::TaskEnd => 43,
            Self::TaskDepend { .. } => 44,
            Self::TaskwaitDepend { .. } => 45,
            Self::TaskloopBegin { .. } => 46,
            Self::TaskloopEnd => 47,
            Self::TaskgroupBegin => 48,
            Self::TaskloopTask { .. } => 49,
            Self::TaskSuspend => 50,
            Self::TaskResume { .. } => 51,
            Self::TaskEvent { .. } => 52,
            Self::TaskFulfill { .. } => 53,
            Self::TargetBegin { .. } => 54,
            Self::TargetEnd { .. } => 55,
            Self::OmpAlloc { .. } => 56,
            Self::OmpFree { .. } => 57,
            Self::Sensor { .. } => 64,
            Self::SensorLost { .. } => 65,
            Self::ThreadCounters { .. } => 66,
            Self::MemAlloc { .. } => 72,
            Self::MemFree { .. } => 73,
            Self::MemRealloc { .. } => 74,
            Self::MemMap { .. } => 75,
            Self::MemUnmap { .. } => 76,
            Self::MemRemap { .. } => 77,
            Self::MemHeap { .. } => 78,
            Self::Stack { .. } => 79,
            Self::Sampling { .. } => 80,
            Self::Sample { .. } => 81,
            Self::SampleStack { .. } => 82,
            Self::SampleLost { .. } => 83,
            Self::ThreadSwitch { .. } => 88,
            Self::Processor { .. } => 89,
            Self::FlushBegin | Self::Lost { .. } => 0,
        }
    }
}

/// One event of one thread.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Nanoseconds since the trace's start; never decreases within a stream nor within a merge.
    pub time: u64,
    /// The raw 64-bit clock value.
    pub ticks: u64,
    /// Index of the thread in [`crate::Trace::threads`] order's `index` field (the number in the stream file's name).
    pub thread: u32,
    /// What happened.
    pub payload: Payload<'a>,
}
