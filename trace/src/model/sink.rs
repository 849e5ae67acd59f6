//! What outputs are: receivers of spans, states and marks.

use crate::event::{AllocatorKind, CancelKind, Deps, MutexKind, RegionId, SyncKind, TaskId};

use super::memory::Memory;
use super::sample::Sample;
use super::sched::{Run, Switch};
use super::scheduled::Scheduled;
use super::sensor::Reading;
use super::span::{Activity, Begin, Code, End, Interval, Ran, Since, Span, State};

/// Where and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Nanoseconds since the trace's start.
    pub time: u64,
    /// Position of the thread in [`crate::Trace::threads`].
    pub position: usize,
    /// Number of the body (initial task, implicit or explicit task) in which it happens; for spans that are bodies, of that body.
    /// Numbers are small, but [`u32::MAX`] where the runtime's own threads read sensors. A body keeps its own also while it is suspended, and the next one gets it after its end.
    pub body: u32,
}

/// Something at a moment.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are those of the event")]
pub enum Mark<'a> {
    /// A user event.
    User { kind: u32, value: u64 },
    /// A user counter; `name` is the address of its name.
    Counter { name: u64, value: i64 },
    /// The text behind an address.
    Text { address: u64, text: &'a [u8] },
    /// Recording is switched off or on by the program.
    Tracing(bool),
    /// A static loop begins before this return address; its end is not known.
    StaticLoop { site: u64 },
    /// See [`crate::event::cancel_flags`].
    Cancel { kind: CancelKind, flags: u32 },
    /// An iteration of a doacross loop is posted.
    Post,
    /// An iteration of a doacross loop is to be waited for.
    Await,
    /// A chunk [begin, end) of the innermost loop begins (bounds of unsigned loops: the same bits). It ends with the next call for
    /// one, with the next chunk, or with the loop.
    Chunk { begin: i64, end: i64 },
    /// A section of the innermost `sections` begins; it ends as chunks do.
    Section { number: u32 },
    /// A piece of a taskloop becomes a task, whose body has this code.
    Piece {
        taskloop: TaskId,
        task: TaskId,
        code: Code,
    },
    /// Entries of the `depend` clauses of the task, or `taskwait`, that is created next on this thread; long lists come in parts.
    Depend { task: TaskId, entries: Deps<'a> },
    /// The event of a task with a `detach` clause.
    Detach { task: TaskId, handle: u64 },
    /// An event is fulfilled; `task`: whose it is, where the event says so.
    Fulfill { task: Option<TaskId>, handle: u64 },
    /// Memory of an OpenMP allocator.
    Alloc {
        kind: AllocatorKind,
        address: u64,
        bytes: u64,
    },
    /// It is given back.
    Free { kind: AllocatorKind, address: u64 },
    /// A call that returns to `site` asks for a lock of threads, and finds it so. Its [`Span::Hold`], or [`Span::Acquire`], begins next.
    Lock {
        kind: MutexKind,
        object: u64,
        site: u64,
        found: Found,
    },
    /// A call that returns to `site` waits for something of threads: its [`Span::Sync`] begins next.
    Wait {
        kind: SyncKind,
        object: u64,
        site: u64,
    },
    /// A thread is about to make another one, that begins with `function`; `seq` is its number among those that it makes.
    CreateThread { seq: u32, function: u64, site: u64 },
    /// The call has returned; not 0: in vain.
    CreatedThread { error: u32 },
    /// A thread begins that the thread with the index `creator` made; `handle` is its `pthread_t`.
    StartThread {
        creator: u32,
        seq: u32,
        function: u64,
        handle: u64,
    },
}

/// What a thread finds a lock to be that it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Free: it has it now.
    Free,
    /// Held: it waits.
    Held,
    /// Held, and it does not wait.
    Refused,
}

impl Mark<'_> {
    /// The same, if it borrows nothing.
    pub(super) fn unborrowed(self) -> Option<Mark<'static>> {
        Some(match self {
            Self::Text { .. } | Self::Depend { .. } => return None,
            Self::User { kind, value } => Mark::User { kind, value },
            Self::Counter { name, value } => Mark::Counter { name, value },
            Self::Tracing(on) => Mark::Tracing(on),
            Self::StaticLoop { site } => Mark::StaticLoop { site },
            Self::Cancel { kind, flags } => Mark::Cancel { kind, flags },
            Self::Post => Mark::Post,
            Self::Await => Mark::Await,
            Self::Chunk { begin, end } => Mark::Chunk { begin, end },
            Self::Section { number } => Mark::Section { number },
            Self::Piece {
                taskloop,
                task,
                code,
            } => Mark::Piece {
                taskloop,
                task,
                code,
            },
            Self::Detach { task, handle } => Mark::Detach { task, handle },
            Self::Fulfill { task, handle } => Mark::Fulfill { task, handle },
            Self::Alloc {
                kind,
                address,
                bytes,
            } => Mark::Alloc {
                kind,
                address,
                bytes,
            },
            Self::Free { kind, address } => Mark::Free { kind, address },
            Self::Lock {
                kind,
                object,
                site,
                found,
            } => Mark::Lock {
                kind,
                object,
                site,
                found,
            },
            Self::Wait { kind, object, site } => Mark::Wait { kind, object, site },
            Self::CreateThread {
                seq,
                function,
                site,
            } => Mark::CreateThread {
                seq,
                function,
                site,
            },
            Self::CreatedThread { error } => Mark::CreatedThread { error },
            Self::StartThread {
                creator,
                seq,
                function,
                handle,
            } => Mark::StartThread {
                creator,
                seq,
                function,
                handle,
            },
        })
    }
}

/// Receives what an [`Interpreter`](super::Interpreter) finds, in time order. Calls of one event come together; whatever a sink
/// does not implement costs nothing. A pair of sinks is a sink, and so are a reference to one and one that
/// may be absent.
pub trait Sink {
    /// Whether [`Sink::mark`], and spans of the program's own regions and calls, are wanted.
    const MARKS: bool = true;
    /// Whether the code of [`Span::Task`] is wanted. Otherwise it is left out, which saves time.
    const TASK_CODES: bool = true;
    /// Whether [`Sink::state`], [`Sink::activity`] and [`Sink::interval`] are wanted. Without them, nothing of a thread's state is
    /// looked at.
    const STATES: bool = true;
    /// Whether [`Sink::task_ran`], and the begins that [`Sink::end`] gives, are wanted. They come in any case but behind a
    /// [`Relay`](super::Relay), which moves less without them.
    const TIMES: bool = true;
    /// Whether [`Sink::memory`] is wanted. Callers that are tasks have their code with [`Sink::TASK_CODES`].
    const MEMORY: bool = false;
    /// Whether [`Sink::reading`] is wanted.
    const READINGS: bool = false;
    /// Whether [`Sink::sample`] is wanted.
    const SAMPLES: bool = false;
    /// Whether [`Sink::on_cpu`] is wanted of what threads record about themselves. A [`Scheduler`](super::Scheduler) gives all in any case.
    const PROCESSORS: bool = false;

    /// What follows is of this process of a session. Whoever replays one trace alone does not call it.
    fn process(&mut self, _process: usize) {}
    /// The first event of a thread.
    fn thread_begin(&mut self, _at: At) {}
    /// The end of a thread: all its spans have ended.
    fn thread_end(&mut self, _at: At) {}
    /// A span begins.
    fn begin(&mut self, _at: At, _span: &Span, _how: Begin) {}
    /// A span ends, which began at the time `since`.
    fn end(&mut self, _at: At, _span: &Span, _how: End, _since: Since) {}
    /// The thread runs this body from now on, `None`: its initial task. That may be one whose begin is not given again: see
    /// [`End::Kept`]. Behind the begins and ends that lead to it; the first body of a thread is that of [`Sink::thread_begin`].
    fn body(&mut self, _at: At, _body: Option<&Span>) {}
    /// The explicit task `task` ends by its event, and its begin was not lost. Its [`Sink::end`] comes next.
    fn task_ran(&mut self, _at: At, _task: &Span, _ran: Ran) {}
    /// A region is over for the thread that encountered it; `members` are the positions of those that took part.
    fn region_end(&mut self, _at: At, _region: RegionId, _members: &[usize]) {}
    /// Something happens.
    fn mark(&mut self, _at: At, _mark: Mark<'_>) {}
    /// A thread is in this state from now on.
    fn state(&mut self, _at: At, _state: State) {}
    /// A thread does this from now on; at first [`Activity::Other`].
    fn activity(&mut self, _at: At, _activity: Activity) {}
    /// A thread was in one state for a time that is over.
    fn interval(&mut self, _interval: Interval) {}
    /// All events have been given. What follows ends the threads that have not ended, each at the time of its last event.
    fn trace_end(&mut self) {}
    /// A thread gets memory or gives it back, or its stack is looked at.
    fn memory(&mut self, _at: At, _memory: &Memory) {}
    /// A sensor or the counters of a thread are read. Sensors are also read by threads of the runtime's own, whose positions lie behind
    /// those of the program's threads.
    fn reading(&mut self, _at: At, _reading: &Reading<'_>) {}
    /// A thread is sampled.
    fn sample(&mut self, _at: At, _sample: &Sample<'_>) {}
    /// A thread that has begun runs on this processor from now on; `None`: on none. It leaves it when it ends without a further call.
    fn on_cpu(&mut self, _at: At, _processor: Option<u32>) {}
    /// The system does this with a thread from now on, where that is recorded; so many records of it are lost up to the next one. Behind its
    /// [`Sink::thread_begin`], before its [`Sink::thread_end`].
    fn scheduled(&mut self, _at: At, _state: Scheduled, _lost: u32) {}
    /// A processor turns to another thread.
    fn switch(&mut self, _switch: &Switch) {}
    /// A thread has run on a processor. The runs of one processor come in order, those of all in order of their ends, but the last ones.
    fn ran(&mut self, _run: &Run) {}
}

/// Wants nothing.
impl Sink for () {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;
    const STATES: bool = false;
    const TIMES: bool = false;
}

/// Gives the calls of [`Sink`] to a macro that writes them for what holds other sinks.
macro_rules! all_calls {
    ($write:ident) => {
        $write! {
            process(process: usize);
            thread_begin(at: At);
            thread_end(at: At);
            begin(at: At, span: &Span, how: Begin);
            end(at: At, span: &Span, how: End, since: Since);
            body(at: At, body: Option<&Span>);
            task_ran(at: At, task: &Span, ran: Ran);
            region_end(at: At, region: RegionId, members: &[usize]);
            mark(at: At, mark: Mark<'_>);
            state(at: At, state: State);
            activity(at: At, activity: Activity);
            interval(interval: Interval);
            trace_end();
            memory(at: At, memory: &Memory);
            reading(at: At, reading: &Reading<'_>);
            sample(at: At, sample: &Sample<'_>);
            on_cpu(at: At, processor: Option<u32>);
            scheduled(at: At, state: Scheduled, lost: u32);
            switch(switch: &Switch);
            ran(run: &Run);
        }
    };
}

/// Wants what another sink wants.
macro_rules! wants_of {
    ($sink:ident) => {
        const MARKS: bool = $sink::MARKS;
        const TASK_CODES: bool = $sink::TASK_CODES;
        const STATES: bool = $sink::STATES;
        const TIMES: bool = $sink::TIMES;
        const MEMORY: bool = $sink::MEMORY;
        const READINGS: bool = $sink::READINGS;
        const SAMPLES: bool = $sink::SAMPLES;
        const PROCESSORS: bool = $sink::PROCESSORS;
    };
}

macro_rules! to_referenced {
    ($($call:ident($($name:ident: $type:ty),*);)*) => {
        $(#[inline] fn $call(&mut self, $($name: $type),*) {
            (**self).$call($($name),*);
        })*
    };
}

macro_rules! to_both {
    ($($call:ident($($name:ident: $type:ty),*);)*) => {
        $(#[inline] fn $call(&mut self, $($name: $type),*) {
            self.0.$call($($name),*);
            self.1.$call($($name),*);
        })*
    };
}

macro_rules! to_present {
    ($($call:ident($($name:ident: $type:ty),*);)*) => {
        $(#[inline] fn $call(&mut self, $($name: $type),*) {
            if let Some(sink) = self {
                sink.$call($($name),*);
            }
        })*
    };
}

impl<S: Sink> Sink for &mut S {
    wants_of! { S }

    all_calls! { to_referenced }
}

impl<A: Sink, B: Sink> Sink for (A, B) {
    const MARKS: bool = A::MARKS || B::MARKS;
    const TASK_CODES: bool = A::TASK_CODES || B::TASK_CODES;
    const STATES: bool = A::STATES || B::STATES;
    const TIMES: bool = A::TIMES || B::TIMES;
    const MEMORY: bool = A::MEMORY || B::MEMORY;
    const READINGS: bool = A::READINGS || B::READINGS;
    const SAMPLES: bool = A::SAMPLES || B::SAMPLES;
    const PROCESSORS: bool = A::PROCESSORS || B::PROCESSORS;

    all_calls! { to_both }
}

/// Without the sink nothing is done; what it would want is prepared nevertheless.
impl<S: Sink> Sink for Option<S> {
    wants_of! { S }

    all_calls! { to_present }
}

/// Wants the intervals alone.
#[derive(Debug)]
pub struct Intervals<F>(pub F);

impl<F: FnMut(Interval)> Sink for Intervals<F> {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;

    fn interval(&mut self, interval: Interval) {
        (self.0)(interval);
    }
}
