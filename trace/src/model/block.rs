//! Calls of a sink on their way to another thread.

use crate::event::{Addresses, Deps, RegionId, SamplingClock, TaskId};
use crate::layout::Layout;
use crate::sensors::Definitions;

use super::memory::Memory;
use super::sample::{Frames, Sample};
use super::sched::{Run, Switch};
use super::scheduled::Scheduled;
use super::sensor::{Count, Reading, Value};
use super::sink::{At, Mark, Sink};
use super::span::{Activity, Begin, End, Interval, Ran, Since, Span, State};

/// Calls of a block, and bytes of what they borrowed, at most (but for one call). Blocks are large because two threads that work equally fast
/// wait for each other at each of them, and to wake one takes long on virtual machines.
const CALLS: usize = 1 << 14;
const BYTES: usize = 1 << 18;

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

/// A call of a [`Sink`], with all it needs but what it borrowed, and what is large or seldom wanted: that follows in the block.
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
    TaskRan(Place, Span),
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
    Memory(Place),
    Reading(Place),
    Sample(Place),
    OnCpu(Place, Option<u32>),
    Scheduled(Place, Scheduled, u32),
    Switch,
    Ran,
    TraceEnd,
}

/// What follows a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum More {
    Times(Ran),
    Memory(Memory),
    /// A sensor, and how many values it has.
    Sensor(usize, usize),
    SensorLost(usize),
    /// Whether they are scaled, and how many there are.
    Counters(bool, usize),
    ThreadTime(u64, u64),
    SampleBegins(SamplingClock, u64),
    /// `pc`, `sp`, registers, periods; the words follow as bytes.
    Sampled(u64, u64, Option<u32>, u32),
    SampleLost(u32),
    Switch(Switch),
    Ran(Run),
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
pub(super) struct Block {
    pub(super) calls: Vec<Call>,
    /// Of each [`Call::End`], if the sink wants [`Sink::TIMES`].
    pub(super) since: Vec<Since>,
    pub(super) bytes: Vec<u8>,
    /// Of each call with bytes: how many, and of what layout.
    pub(super) parts: Vec<(usize, Layout)>,
    pub(super) members: Vec<usize>,
    /// Of each region that ends: how many.
    pub(super) teams: Vec<usize>,
    pub(super) more: Vec<More>,
    pub(super) values: Vec<Value>,
    pub(super) counts: Vec<Count>,
}

/// What follows the calls of a block, and has not been given yet.
struct Rest<'b> {
    since: std::slice::Iter<'b, Since>,
    bytes: &'b [u8],
    parts: std::slice::Iter<'b, (usize, Layout)>,
    members: &'b [usize],
    teams: std::slice::Iter<'b, usize>,
    more: std::slice::Iter<'b, More>,
    values: &'b [Value],
    counts: &'b [Count],
}

/// The first so many, which are taken away.
fn take<'b, T>(list: &mut &'b [T], count: usize) -> &'b [T] {
    let (first, rest) = list.split_at(count.min(list.len()));
    *list = rest;
    first
}

impl<'b> Rest<'b> {
    fn of(block: &'b Block) -> Self {
        Self {
            since: block.since.iter(),
            bytes: &block.bytes,
            parts: block.parts.iter(),
            members: &block.members,
            teams: block.teams.iter(),
            more: block.more.iter(),
            values: &block.values,
            counts: &block.counts,
        }
    }

    fn part(&mut self) -> (&'b [u8], Layout) {
        let (length, layout) = self.parts.next().copied().unwrap_or_default();
        (take(&mut self.bytes, length), layout)
    }

    /// Makes a call for which something large follows. `definitions` are those of the trace's sensors.
    fn give_more<S: Sink>(&mut self, at: At, definitions: &Definitions, sink: &mut S) {
        let Some(more) = self.more.next() else { return };
        match *more {
            More::Times(_) => {}
            More::Memory(memory) => sink.memory(at, &memory),
            More::Sensor(sensor, count) => {
                let values = take(&mut self.values, count);
                if let Some(def) = definitions.sensors.get(sensor) {
                    let reading = Reading::Sensor {
                        sensor,
                        def,
                        values,
                    };
                    sink.reading(at, &reading);
                }
            }
            More::SensorLost(sensor) => sink.reading(at, &Reading::Lost { sensor }),
            More::Counters(scaled, count) => {
                let values = take(&mut self.counts, count);
                sink.reading(at, &Reading::Counters { scaled, values });
            }
            More::ThreadTime(run_ns, wait_ns) => {
                sink.reading(at, &Reading::ThreadTime { run_ns, wait_ns });
            }
            More::SampleBegins(clock, period_ns) => {
                sink.sample(at, &Sample::Begins { clock, period_ns });
            }
            More::Sampled(pc, sp, registers, periods) => {
                let (bytes, layout) = self.part();
                let frames = Frames {
                    pc,
                    sp,
                    registers,
                    words: Addresses::new(bytes, layout),
                };
                sink.sample(at, &Sample::Taken { frames, periods });
            }
            More::SampleLost(periods) => sink.sample(at, &Sample::Lost { periods }),
            More::Switch(switch) => sink.switch(&switch),
            More::Ran(run) => sink.ran(&run),
        }
    }
}

impl Block {
    /// Makes the calls. `definitions` are those of the sensors that are read.
    pub(super) fn give<S: Sink>(&mut self, definitions: &Definitions, sink: &mut S) {
        let mut rest = Rest::of(self);
        for call in &self.calls {
            match *call {
                Call::Process(process) => sink.process(process),
                Call::ThreadBegin(at) => sink.thread_begin(at.into()),
                Call::ThreadEnd(at) => sink.thread_end(at.into()),
                Call::Begin(at, ref span, how) => sink.begin(at.into(), span, how),
                Call::End(at, ref span, how) => {
                    let since = match S::TIMES {
                        true => rest.since.next().copied().unwrap_or(NO_TIMES),
                        false => NO_TIMES,
                    };
                    sink.end(at.into(), span, how, since);
                }
                Call::Body(at, ref span) => sink.body(at.into(), span.as_ref()),
                Call::TaskRan(at, ref span) => {
                    if let Some(More::Times(ran)) = rest.more.next() {
                        sink.task_ran(at.into(), span, *ran);
                    }
                }
                Call::RegionEnd(at, region) => {
                    let count = rest.teams.next().copied().unwrap_or_default();
                    sink.region_end(at.into(), region, take(&mut rest.members, count));
                }
                Call::Mark(at, mark) => sink.mark(at.into(), mark),
                Call::Depend(at, task) => {
                    let (part, layout) = rest.part();
                    let entries = Deps::new(part, layout);
                    sink.mark(at.into(), Mark::Depend { task, entries });
                }
                Call::Text(at, address) => {
                    let (text, _) = rest.part();
                    sink.mark(at.into(), Mark::Text { address, text });
                }
                Call::State(at, state) => sink.state(at.into(), state),
                Call::Activity(at, activity) => sink.activity(at.into(), activity),
                Call::Interval(interval) => sink.interval(interval),
                Call::Memory(at) | Call::Reading(at) | Call::Sample(at) => {
                    rest.give_more(at.into(), definitions, sink);
                }
                Call::OnCpu(at, processor) => sink.on_cpu(at.into(), processor),
                Call::Scheduled(at, state, lost) => sink.scheduled(at.into(), state, lost),
                Call::Switch | Call::Ran => rest.give_more(NOWHERE, definitions, sink),
                Call::TraceEnd => sink.trace_end(),
            }
        }
        self.clear();
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        let values = self.values.len() + self.counts.len();
        self.calls.len() >= CALLS || self.bytes.len() >= BYTES || values >= CALLS
    }

    fn clear(&mut self) {
        self.calls.clear();
        self.since.clear();
        self.bytes.clear();
        self.parts.clear();
        self.members.clear();
        self.teams.clear();
        self.more.clear();
        self.values.clear();
        self.counts.clear();
    }
}

/// Of calls that have no place.
const NOWHERE: At = At {
    time: 0,
    position: 0,
    body: 0,
};
