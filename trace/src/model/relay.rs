//! A sink that works on a thread of its own: what it is called with is kept in blocks, and given to it there.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Builder};

use crate::event::{Deps, RegionId, TaskId};
use crate::layout::Layout;

use super::sink::{At, Mark, Sink};
use super::span::{Activity, Begin, End, Interval, Since, Span, State};

/// Calls of a block, and bytes of what they borrowed, at most (but for one call). Blocks are large because two threads that work equally fast
/// wait for each other at each of them, and to wake one takes long on virtual machines.
const CALLS: usize = 1 << 14;
const BYTES: usize = 1 << 18;
/// Blocks on their way at most.
const BLOCKS: usize = 2;

/// An [`At`] in 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    time: u64,
    position: u32,
    body: u32,
}

impl From<At> for Place {
    #[inline]
    fn from(at: At) -> Self {
        Self {
            time: at.time,
            position: at.position as u32,
            body: at.body,
        }
    }
}

impl From<Place> for At {
    #[inline]
    fn from(place: Place) -> Self {
        Self {
            time: place.time,
            position: place.position as usize,
            body: place.body,
        }
    }
}

/// A call of a [`Sink`], with all it needs but what it borrowed, and without [`Sink::TIMES`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variants are the functions of the trait")]
pub enum Call {
    Process(usize),
    ThreadBegin(Place),
    ThreadEnd(Place),
    Begin(Place, Span, Begin),
    End(Place, Span, End),
    Body(Place, Option<Span>),
    /// The members follow in the block.
    RegionEnd(Place, RegionId),
    /// Neither [`Mark::Depend`] nor [`Mark::Text`].
    Mark(Place, Mark<'static>),
    /// The entries follow in the block.
    Depend(Place, TaskId),
    /// The text follows in the block.
    Text(Place, u64),
    State(Place, State),
    Activity(Place, Activity),
    Interval(Interval),
    OnCpu(Place, Option<u32>),
    TraceEnd,
}

// Moving calls from one processor to another is what a relay costs.
const _: () = assert!(size_of::<Call>() <= 64);

/// What a sink gets that does not want [`Sink::TIMES`].
const NO_TIMES: Since = Since {
    here: 0,
    first: None,
};

/// Calls in their order.
#[derive(Debug, Default)]
struct Block {
    calls: Vec<Call>,
    bytes: Vec<u8>,
    /// Of each call with bytes: how many, and of what layout.
    parts: Vec<(usize, Layout)>,
    members: Vec<usize>,
    /// Of each region that ends: how many.
    teams: Vec<usize>,
}

impl Block {
    /// Makes the calls.
    fn give<S: Sink>(&mut self, sink: &mut S) {
        let (mut bytes, mut members) = (self.bytes.as_slice(), self.members.as_slice());
        let (mut parts, mut teams) = (self.parts.drain(..), self.teams.drain(..));
        let mut next = || {
            let (length, layout) = parts.next().unwrap_or_default();
            let (part, rest) = bytes.split_at(length.min(bytes.len()));
            bytes = rest;
            (part, layout)
        };
        for call in self.calls.drain(..) {
            match call {
                Call::Process(process) => sink.process(process),
                Call::ThreadBegin(at) => sink.thread_begin(at.into()),
                Call::ThreadEnd(at) => sink.thread_end(at.into()),
                Call::Begin(at, span, how) => sink.begin(at.into(), &span, how),
                Call::End(at, span, how) => sink.end(at.into(), &span, how, NO_TIMES),
                Call::Body(at, span) => sink.body(at.into(), span.as_ref()),
                Call::RegionEnd(at, region) => {
                    let length = teams.next().unwrap_or_default().min(members.len());
                    let (team, rest) = members.split_at(length);
                    members = rest;
                    sink.region_end(at.into(), region, team);
                }
                Call::Mark(at, mark) => sink.mark(at.into(), mark),
                Call::Depend(at, task) => {
                    let (part, layout) = next();
                    let entries = Deps::new(part, layout);
                    sink.mark(at.into(), Mark::Depend { task, entries });
                }
                Call::Text(at, address) => {
                    let (text, _) = next();
                    sink.mark(at.into(), Mark::Text { address, text });
                }
                Call::State(at, state) => sink.state(at.into(), state),
                Call::Activity(at, activity) => sink.activity(at.into(), activity),
                Call::Interval(interval) => sink.interval(interval),
                Call::OnCpu(at, processor) => sink.on_cpu(at.into(), processor),
                Call::TraceEnd => sink.trace_end(),
            }
        }
        drop((parts, teams));
        self.bytes.clear();
        self.members.clear();
    }
}

/// Where the calls are made.
#[derive(Debug)]
enum To<'s, S> {
    /// Here, when a block is full.
    Sink(&'s mut S),
    /// By a thread, which gives the blocks back.
    Thread(SyncSender<Block>, Receiver<Block>),
}

/// Bytes of traces from which on a sink pays for a thread of its own. Below, that takes longer than it saves.
const LARGE: u64 = 1 << 20;

/// Whether a sink for traces of so many bytes is better called on a thread of its own: there is another processor, and enough to do.
#[must_use]
pub fn pays_apart(bytes: u64) -> bool {
    bytes >= LARGE && thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
}

/// Stands for a sink `S`, which is called later. Calls that `wants` refuses are not made. See [`relayed`].
#[derive(Debug)]
pub struct Relay<'s, S: Sink, W> {
    to: To<'s, S>,
    wants: W,
    block: Block,
}

/// Calls `work` with a sink that stands for `sink`. That one is called on a thread of its own if `apart` says so and the system has a
/// thread to spare. In any case all its calls have been made, in the same order, when this returns.
pub fn relayed<S, W, R>(
    sink: &mut S,
    apart: bool,
    wants: W,
    work: impl FnOnce(&mut Relay<'_, S, W>) -> R,
) -> R
where
    S: Sink + Send,
    W: Fn(&Call) -> bool,
{
    const {
        let more = S::TIMES || S::MEMORY || S::READINGS || S::SAMPLES;
        assert!(!more, "the sink wants more than is kept");
    }
    thread::scope(|scope| {
        let (full, blocks) = sync_channel::<Block>(BLOCKS);
        let (back, empty) = sync_channel(BLOCKS + 2);
        let (start, begin) = sync_channel::<&mut S>(1);
        let follow = move || {
            let Ok(sink) = begin.recv() else { return };
            for mut block in blocks {
                block.give(sink);
                // At the end nobody wants it any more.
                let _ = back.try_send(block);
            }
        };
        let thread = apart.then(|| Builder::new().spawn_scoped(scope, follow).ok());
        let thread = thread.flatten();
        let to = match thread {
            Some(_) => {
                // A thread that has just begun takes it.
                let _ = start.send(sink);
                To::Thread(full, empty)
            }
            None => To::Sink(sink),
        };
        let block = Block::default();
        let mut relay = Relay { to, wants, block };
        let result = work(&mut relay);
        relay.hand_over();
        drop(relay);
        if let Some(Err(panic)) = thread.map(thread::ScopedJoinHandle::join) {
            resume_unwind(panic);
        }
        result
    })
}

impl<S: Sink, W: Fn(&Call) -> bool> Relay<'_, S, W> {
    #[inline]
    fn push(&mut self, call: Call) -> bool {
        let wanted = (self.wants)(&call);
        if wanted {
            if self.block.calls.len() >= CALLS || self.block.bytes.len() >= BYTES {
                self.hand_over();
            }
            self.block.calls.push(call);
        }
        wanted
    }

    #[inline]
    fn push_with(&mut self, call: Call, bytes: &[u8], layout: Layout) {
        if self.push(call) {
            self.block.bytes.extend_from_slice(bytes);
            self.block.parts.push((bytes.len(), layout));
        }
    }

    fn hand_over(&mut self) {
        match &mut self.to {
            To::Sink(sink) => self.block.give(*sink),
            To::Thread(full, empty) => {
                let next = empty.try_recv().unwrap_or_default();
                // A thread that is gone has panicked: that is told when it is joined.
                let _ = full.send(std::mem::replace(&mut self.block, next));
            }
        }
    }
}

impl<S: Sink, W: Fn(&Call) -> bool> Sink for Relay<'_, S, W> {
    const MARKS: bool = S::MARKS;
    const TASK_CODES: bool = S::TASK_CODES;
    const STATES: bool = S::STATES;
    const TIMES: bool = false;
    const PROCESSORS: bool = S::PROCESSORS;

    #[inline]
    fn process(&mut self, process: usize) {
        self.push(Call::Process(process));
    }

    fn thread_begin(&mut self, at: At) {
        self.push(Call::ThreadBegin(at.into()));
    }

    fn thread_end(&mut self, at: At) {
        self.push(Call::ThreadEnd(at.into()));
    }

    #[inline]
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.push(Call::Begin(at.into(), *span, how));
    }

    #[inline]
    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        self.push(Call::End(at.into(), *span, how));
    }

    #[inline]
    fn body(&mut self, at: At, body: Option<&Span>) {
        self.push(Call::Body(at.into(), body.copied()));
    }

    fn region_end(&mut self, at: At, region: RegionId, members: &[usize]) {
        if self.push(Call::RegionEnd(at.into(), region)) {
            self.block.members.extend_from_slice(members);
            self.block.teams.push(members.len());
        }
    }

    #[inline]
    fn mark(&mut self, at: At, mark: Mark<'_>) {
        match mark {
            Mark::Depend { task, entries } => {
                let (bytes, layout) = entries.raw();
                self.push_with(Call::Depend(at.into(), task), bytes, layout);
            }
            Mark::Text { address, text } => {
                self.push_with(Call::Text(at.into(), address), text, Layout::default());
            }
            other => {
                if let Some(mark) = other.unborrowed() {
                    self.push(Call::Mark(at.into(), mark));
                }
            }
        }
    }

    #[inline]
    fn state(&mut self, at: At, state: State) {
        self.push(Call::State(at.into(), state));
    }

    #[inline]
    fn activity(&mut self, at: At, activity: Activity) {
        self.push(Call::Activity(at.into(), activity));
    }

    #[inline]
    fn interval(&mut self, interval: Interval) {
        self.push(Call::Interval(interval));
    }

    fn on_cpu(&mut self, at: At, processor: Option<u32>) {
        self.push(Call::OnCpu(at.into(), processor));
    }

    fn trace_end(&mut self) {
        self.push(Call::TraceEnd);
    }
}
