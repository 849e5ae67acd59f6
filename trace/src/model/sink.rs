//! What outputs are: receivers of spans, states and marks.

use crate::event::{AllocatorKind, CancelKind, RegionId, TaskId};

use super::span::{Begin, Code, End, Interval, Span, State};

/// Where and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Nanoseconds since the trace's start.
    pub time: u64,
    /// Position of the thread in [`crate::Trace::threads`].
    pub position: usize,
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
    /// A piece of a taskloop becomes a task, whose body has this code.
    Piece { task: TaskId, code: Code },
    /// The event of a task with a `detach` clause.
    Detach { handle: u64 },
    /// An event is fulfilled.
    Fulfill { handle: u64 },
    /// Memory of an OpenMP allocator.
    Alloc {
        kind: AllocatorKind,
        address: u64,
        bytes: u64,
    },
    /// It is given back.
    Free { kind: AllocatorKind, address: u64 },
    /// The thread runs on this processor.
    Processor(u32),
}

/// Receives what an [`Interpreter`](super::Interpreter) finds, in time order. Calls of one event come together; whatever a sink
/// does not implement costs nothing. A pair of sinks is a sink.
pub trait Sink {
    /// Whether [`Sink::mark`], and spans of the program's own regions and calls, are wanted.
    const MARKS: bool = true;

    /// The first event of a thread.
    fn thread_begin(&mut self, _at: At) {}
    /// The end of a thread: all its spans have ended.
    fn thread_end(&mut self, _at: At) {}
    /// A span begins.
    fn begin(&mut self, _at: At, _span: &Span, _how: Begin) {}
    /// A span ends.
    fn end(&mut self, _at: At, _span: &Span, _how: End) {}
    /// A region is over for the thread that encountered it; `members` are the positions of those that took part.
    fn region_end(&mut self, _at: At, _region: RegionId, _members: &[usize]) {}
    /// Something happens.
    fn mark(&mut self, _at: At, _mark: Mark<'_>) {}
    /// A thread is in this state from now on.
    fn state(&mut self, _at: At, _state: State) {}
    /// A thread was in one state for a time that is over.
    fn interval(&mut self, _interval: Interval) {}
}

/// Wants nothing.
impl Sink for () {
    const MARKS: bool = false;
}

impl<A: Sink, B: Sink> Sink for (A, B) {
    const MARKS: bool = A::MARKS || B::MARKS;

    fn thread_begin(&mut self, at: At) {
        self.0.thread_begin(at);
        self.1.thread_begin(at);
    }

    fn thread_end(&mut self, at: At) {
        self.0.thread_end(at);
        self.1.thread_end(at);
    }

    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.0.begin(at, span, how);
        self.1.begin(at, span, how);
    }

    fn end(&mut self, at: At, span: &Span, how: End) {
        self.0.end(at, span, how);
        self.1.end(at, span, how);
    }

    fn region_end(&mut self, at: At, region: RegionId, members: &[usize]) {
        self.0.region_end(at, region, members);
        self.1.region_end(at, region, members);
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        self.0.mark(at, mark);
        self.1.mark(at, mark);
    }

    fn state(&mut self, at: At, state: State) {
        self.0.state(at, state);
        self.1.state(at, state);
    }

    fn interval(&mut self, interval: Interval) {
        self.0.interval(interval);
        self.1.interval(interval);
    }
}

/// Wants the intervals alone.
#[derive(Debug)]
pub struct Intervals<F>(pub F);

impl<F: FnMut(Interval)> Sink for Intervals<F> {
    const MARKS: bool = false;

    fn interval(&mut self, interval: Interval) {
        (self.0)(interval);
    }
}
