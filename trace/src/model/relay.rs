//! A sink that works on a thread of its own: what it is called with is kept in blocks, and given to it there. Or it stays where it is, and the
//! trace is read on another thread.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Builder};

use crate::error::Error;
use crate::event::RegionId;
use crate::layout::Layout;
use crate::sensors::Definitions;
use crate::trace::Trace;

use super::block::{Block, Call, More};
use super::memory::Memory;
use super::replay::replay;
use super::sample::{Frames, Sample};
use super::sched::{Run, Switch};
use super::scheduled::Scheduled;
use super::sensor::Reading;
use super::sink::{At, Mark, Sink};
use super::span::{Activity, Begin, End, Interval, Ran, Since, Span, State};

/// Blocks on their way at most.
const BLOCKS: usize = 2;

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
        assert!(!S::READINGS, "what sensors are is not known here");
    }
    thread::scope(|scope| {
        let (full, blocks) = sync_channel::<Block>(BLOCKS);
        let (back, empty) = sync_channel(BLOCKS + 2);
        let (start, begin) = sync_channel::<&mut S>(1);
        let follow = move || {
            let Ok(sink) = begin.recv() else { return };
            for mut block in blocks {
                block.give(&Definitions::default(), sink);
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

/// As [`replay`]. If `apart` says so, and the system has a thread to spare, that one reads the trace and finds what its events mean, and `sink` is called
/// here: with the same calls, in the same order. Calls that `wants` refuses need not be made: those that the sink does nothing with.
///
/// # Errors
///
/// Stream files that cannot be read any more.
pub fn replay_ahead<S: Sink>(
    trace: &Trace,
    sink: &mut S,
    apart: bool,
    wants: impl Fn(&Call) -> bool + Send,
) -> Result<(), Error> {
    if !apart {
        return replay(trace, sink);
    }
    thread::scope(|scope| {
        let (full, blocks) = sync_channel::<Block>(BLOCKS);
        let (back, empty) = sync_channel(BLOCKS + 2);
        let read = move || {
            let mut relay = Relay::<'_, S, _> {
                to: To::Thread(full, empty),
                wants,
                block: Block::default(),
            };
            let result = replay(trace, &mut relay);
            relay.hand_over();
            result
        };
        let Ok(reader) = Builder::new().spawn_scoped(scope, read) else {
            return replay(trace, sink);
        };
        let definitions = Definitions::of(trace.metadata());
        for mut block in blocks {
            block.give(&definitions, sink);
            // At the end nobody wants it any more.
            let _ = back.try_send(block);
        }
        reader.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

impl<S: Sink, W: Fn(&Call) -> bool> Relay<'_, S, W> {
    #[inline]
    fn push(&mut self, call: Call) -> bool {
        let wanted = (self.wants)(&call);
        if wanted {
            if self.block.is_full() {
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

    fn push_more(&mut self, call: Call, more: More) -> bool {
        let wanted = self.push(call);
        if wanted {
            self.block.more.push(more);
        }
        wanted
    }

    fn hand_over(&mut self) {
        match &mut self.to {
            To::Sink(sink) => self.block.give(&Definitions::default(), *sink),
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
    const TIMES: bool = S::TIMES;
    const MEMORY: bool = S::MEMORY;
    const READINGS: bool = S::READINGS;
    const SAMPLES: bool = S::SAMPLES;
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
    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        if self.push(Call::End(at.into(), *span, how)) && S::TIMES {
            self.block.since.push(since);
        }
    }

    #[inline]
    fn task_ran(&mut self, at: At, task: &Span, ran: Ran) {
        if S::TIMES {
            self.push_more(Call::TaskRan(at.into(), *task), More::Times(ran));
        }
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

    fn memory(&mut self, at: At, memory: &Memory) {
        self.push_more(Call::Memory(at.into()), More::Memory(*memory));
    }

    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        let call = Call::Reading(at.into());
        match *reading {
            Reading::Sensor { sensor, values, .. } => {
                if self.push_more(call, More::Sensor(sensor, values.len())) {
                    self.block.values.extend_from_slice(values);
                }
            }
            Reading::Lost { sensor } => _ = self.push_more(call, More::SensorLost(sensor)),
            Reading::Counters { scaled, values } => {
                if self.push_more(call, More::Counters(scaled, values.len())) {
                    self.block.counts.extend_from_slice(values);
                }
            }
            Reading::ThreadTime { run_ns, wait_ns } => {
                self.push_more(call, More::ThreadTime(run_ns, wait_ns));
            }
        }
    }

    fn sample(&mut self, at: At, sample: &Sample<'_>) {
        let call = Call::Sample(at.into());
        match *sample {
            Sample::Begins { clock, period_ns } => {
                self.push_more(call, More::SampleBegins(clock, period_ns));
            }
            Sample::Taken { frames, periods } => {
                let Frames {
                    pc,
                    sp,
                    registers,
                    words,
                } = frames;
                if self.push_more(call, More::Sampled(pc, sp, registers, periods)) {
                    let (bytes, layout) = words.raw();
                    self.block.bytes.extend_from_slice(bytes);
                    self.block.parts.push((bytes.len(), layout));
                }
            }
            Sample::Lost { periods } => _ = self.push_more(call, More::SampleLost(periods)),
        }
    }

    fn scheduled(&mut self, at: At, state: Scheduled, lost: u32) {
        self.push(Call::Scheduled(at.into(), state, lost));
    }

    fn switch(&mut self, switch: &Switch) {
        self.push_more(Call::Switch, More::Switch(*switch));
    }

    fn ran(&mut self, run: &Run) {
        self.push_more(Call::Ran, More::Ran(*run));
    }

    fn trace_end(&mut self) {
        self.push(Call::TraceEnd);
    }
}
