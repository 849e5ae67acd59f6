//! What the events of a trace mean, derived once: spans, states and marks, given to a [`Sink`].
//!
//! A thread runs bodies: its initial task, implicit tasks and explicit tasks, each with a stack of its own of what is open in it
//! (`stack`), so that a task that leaves its thread takes that along. Every end finds its begin in a constant time.
//!
//! One policy holds for events that were lost, and for those that contradict what came before them, because they were given twice, have
//! changed places, or were never recorded. Outputs have none of their own, so that they agree whatever a trace says.
//!
//! * An end whose begin is not open in the running body is passed over. Ends of implicit tasks and of regions end what lies on top of
//!   them, on the same thread.
//! * What is inside of something that ends, ends with it ([`End::Implied`]).
//! * Behind a gap that the reader knows of, everything on the thread has ended ([`End::Cut`]); the region and the task that are then
//!   known to run begin ([`Begin::Found`]). Bodies that lie below them go on ([`End::Kept`]).
//! * A task is created, begins and ends once. A second creation is passed over, and one that comes behind the task's begin; so is a second
//!   begin, whatever begins or resumes a task that has ended, and what resumes one that runs on the same thread. Of a task that runs on
//!   two threads (its suspension was lost) the first end counts. A task that a gap has cut may go on.
//! * The end of a region ends the implicit tasks of all its threads ([`End::Implied`]), and its suspended tasks do not go on.
//! * A task that leaves its thread takes along the innermost span of each kind, and 16 locks and taskgroups; what else is open in it ends
//!   ([`End::Implied`]).
//! * A thread lives up to its last event. That no event ends it says nothing of the time behind that.
//! * What a thread waits for when its end is recorded (it was cancelled, or the process ended), it waited for until then ([`End::Told`]);
//!   a lock it asked for in vain ([`End::Refused`]).
//! * A thread that waits for a lock does nothing else with locks: what it does instead ends the wait ([`End::Implied`]).
//! * A lock that a thread gets without having asked for it (that event was lost) is held from then on ([`Begin::Found`]). A lock that it
//!   gives back without having it, or asked for in vain without having asked, is passed over.
//! * A lock that was free when a thread asked for it is held from then on ([`Begin::Found`], behind [`Mark::Lock`]). One whose release is
//!   not recorded ends at once ([`End::Implied`]).
//! * Where the program switches recording off, its own regions and calls end, on all threads ([`End::Cut`]): what ends them later is
//!   recorded no more, or taken for the end of something else.
//! * The end of a function that is not open on its thread is passed over; that of one which is open ends what lies on top of it
//!   ([`End::Implied`]). A function that is suspended leaves its thread; whichever goes on is a begin of its own ([`Begin::Resumed`]).
//! * A single block whose end is not recorded (libgomp before GCC 17) ends with the next construct of its team ([`End::Implied`]): not
//!   with a wait for tasks.
//!
//! | file | events |
//! |---|---|
//! | `region`, `task` | regions, explicit tasks |
//! | `body`, `nesting`, `stack`, `shared` | what these share: what is open in a task, the tasks of a thread, gaps |
//! | `work` | work-sharing, single and masked blocks, device constructs |
//! | `wait` | waits, taskgroups, flushes |
//! | `lock` | locks |
//! | `user` | the program's own events and regions, calls, marks |
//! | `function` | functions of languages |
//! | `heap`, `blocks`, `pages`, `memory` | the heap, pages, stacks |
//! | `sensor` | readings of sensors and counters |
//! | `sample` | samples |
//! | `sched` | processors and context switches |
//! | `scheduled` | what the system does with a thread |
//!
//! `replay` gives a trace to a sink, `relay` gives the calls of a sink to another one, on a thread of its own; `block` has what is on its way.

#![allow(
    clippy::vec_box,
    reason = "a body moves between threads and lists by its address"
)]

mod block;
mod blocks;
mod body;
mod function;
mod heap;
mod launched;
mod lock;
mod memory;
mod nesting;
mod pages;
mod region;
mod relay;
mod replay;
mod sample;
mod sched;
mod scheduled;
mod sensor;
mod shared;
mod sink;
mod span;
mod stack;
mod task;
#[cfg(test)]
mod tests;
mod user;
mod wait;
mod work;

use crate::event::{Event, Payload, RegionId};
use crate::sensors::Definitions;
use crate::trace::{ThreadInfo, Trace};

pub use block::Call;
pub(crate) use launched::threads as launched_threads;
pub use memory::{
    Caller, Gone, Got, HeapBegin, HeapCall, HeapFunction, Memory, PagesCall, PagesFunction, Place,
};
pub use relay::{Relay, pays_apart, relayed, replay_ahead};
pub use replay::{replay, replay_with};
pub use sample::{Frames, Sample};
pub use sched::{Run, Scheduler, Switch, is_idle};
pub use scheduled::Scheduled;
pub use sensor::{Count, Reading, Value};
pub use sink::{At, Found, Intervals, Mark, Sink};
pub use span::{
    Activity, Begin, Code, End, Interval, NO_NUMBER, Ran, Since, Span, State, Target, Work,
};

use body::Body;
use function::Functions;
use heap::HeapCalls;
use sensor::Sensors;
use shared::Shared;
use stack::MAX_DEPTH;

/// One thread.
#[derive(Debug)]
struct Thread {
    index: u32,
    /// The initial task's first, the running one last.
    bodies: Vec<Box<Body>>,
    /// Places of the innermost implicit and explicit task among them; 0: none.
    implicit: u32,
    explicit: u32,
    /// A worker is idle outside of regions: from its begin, or once it has been in another thread's region.
    worker: bool,
    /// The run-time library gives no event for the begin of a section.
    whole_sections: bool,
    /// Regions of the program's own, and calls, with the times of their begins.
    user: Vec<(Span, u64)>,
    calls: Vec<(Span, u64)>,
    functions: Functions,
    /// Begin and kind of the running interval; `None` before the first event and after the end.
    running: Option<(u64, State)>,
    /// The system ran it before its first event, and has told nothing since.
    runs: bool,
    activity: Activity,
    ended: bool,
    /// Processor on which it runs, and the one that was given to the sink.
    processor: Option<u32>,
    told_processor: Option<u32>,
    heap_calls: HeapCalls,
}

/// Follows the threads of one trace. Feed it the merged events in time order.
#[derive(Debug)]
pub struct Interpreter {
    threads: Vec<Thread>,
    /// Times of the threads' last events.
    last: Vec<u64>,
    shared: Shared,
    /// Threads that the last event let out of a closing barrier.
    joined: Vec<usize>,
}

impl Interpreter {
    /// For a trace, with what its run-time library leaves out: libomp gives no event for the begin of a section.
    pub fn of(trace: &Trace) -> Self {
        let mut model = Self::new(trace.threads());
        let whole_sections = trace.metadata().openmp.starts_with("libomp");
        for thread in &mut model.threads {
            thread.whole_sections = whole_sections;
        }
        model.shared.sensors = Sensors::new(Definitions::of(trace.metadata()));
        model
    }

    /// For the threads of one trace of libgomp without sensors, as [`Trace::threads`] gives them.
    pub fn new(threads: &[ThreadInfo]) -> Self {
        let thread = |(number, info): (u32, &ThreadInfo)| Thread {
            index: info.index,
            bodies: vec![Body::new(number)],
            implicit: 0,
            explicit: 0,
            worker: info.worker,
            whole_sections: false,
            user: Vec::new(),
            calls: Vec::new(),
            functions: Functions::default(),
            running: None,
            runs: false,
            activity: Activity::Other,
            ended: false,
            processor: None,
            told_processor: None,
            heap_calls: HeapCalls::default(),
        };
        Self {
            threads: (0..).zip(threads).map(thread).collect(),
            last: threads.iter().map(|info| info.last_time).collect(),
            shared: Shared {
                bodies: threads.len() as u32,
                ..Shared::default()
            },
            joined: Vec::new(),
        }
    }

    /// Takes in the threads that came since: `threads` begin with those that it has, in their order. For traces that are followed while they are written.
    pub fn extend(&mut self, threads: &[ThreadInfo]) {
        for info in threads.iter().skip(self.threads.len()) {
            let mut thread = Self::new(std::slice::from_ref(info)).threads;
            if let Some(thread) = thread.first_mut() {
                thread.bodies = vec![Body::new(self.shared.bodies)];
                thread.whole_sections = self
                    .threads
                    .first()
                    .is_some_and(|first| first.whole_sections);
            }
            self.shared.bodies += 1;
            self.last.push(info.last_time);
            self.threads.append(&mut thread);
        }
        for (thread, info) in self.threads.iter_mut().zip(threads) {
            thread.worker |= info.worker;
        }
        for (last, info) in self.last.iter_mut().zip(threads) {
            *last = info.last_time.max(*last);
        }
    }

    /// The processor on which the thread is known to run.
    pub fn processor(&self, position: usize) -> Option<u32> {
        self.threads.get(position)?.processor
    }

    /// A thread runs on this processor from now on, or on none.
    pub(crate) fn runs_on<S: Sink>(
        &mut self,
        position: usize,
        time: u64,
        processor: Option<u32>,
        sink: &mut S,
    ) {
        if let Some(thread) = self.threads.get_mut(position) {
            let body = thread.top().number;
            let at = At {
                time,
                position,
                body,
            };
            thread.processor = processor.filter(|number| *number != u32::MAX);
            thread.tell_processor(at, sink);
        }
    }

    /// The system does this with a thread from now on, on this processor; so many records of that are lost up to the next one.
    pub(crate) fn scheduled<S: Sink>(
        &mut self,
        position: usize,
        time: u64,
        (state, processor, lost): (Scheduled, Option<u32>, u32),
        sink: &mut S,
    ) {
        let last = self.last.get(position).copied();
        let Some(thread) = self.threads.get_mut(position) else {
            return;
        };
        if thread.running.is_none() {
            // Nothing of the thread is known yet: it is given with its first event.
            thread.processor = processor;
            thread.runs = state == Scheduled::Running;
            return;
        }
        if last.is_some_and(|last| time <= last) {
            let body = thread.top().number;
            let at = At {
                time,
                position,
                body,
            };
            thread.processor = processor;
            thread.tell_processor(at, sink);
            sink.scheduled(at, state, lost);
        }
    }

    /// Takes an event of the thread at `position` into account. Threads of the runtime's own have positions behind
    /// [`Trace::threads`]; of their events those of sensors count.
    #[inline]
    pub fn event<S: Sink>(&mut self, position: usize, event: &Event<'_>, sink: &mut S) {
        self.joined.clear();
        let time = event.time;
        let Some(thread) = self.threads.get_mut(position) else {
            let of_thread = matches!(
                event.payload,
                Payload::ThreadCounters { .. } | Payload::ThreadTime { .. }
            );
            if S::READINGS && !of_thread {
                let at = At {
                    time,
                    position,
                    body: u32::MAX,
                };
                self.shared.sensors.event(at, &event.payload, sink);
            }
            return;
        };
        if thread.ended {
            return;
        }
        let body = thread.top().number;
        let at = At {
            time,
            position,
            body,
        };
        let first = thread.running.is_none();
        if first {
            thread.running = Some((time, thread.state().0));
            sink.thread_begin(at);
            thread.tell_processor(at, sink);
            if thread.runs {
                sink.scheduled(at, Scheduled::Running, 0);
            }
        }
        match event.payload {
            // The most frequent ones change no state.
            Payload::UserEvent { kind, value } => {
                if S::MARKS {
                    sink.mark(at, Mark::User { kind, value });
                }
                if !first {
                    return;
                }
            }
            Payload::MemGet { .. }
            | Payload::MemMove { .. }
            | Payload::MemGot { .. }
            | Payload::MemGive { .. }
            | Payload::MemGiven
            | Payload::MemAlloc { .. }
            | Payload::MemFree { .. }
            | Payload::MemRealloc { .. }
                if !first =>
            {
                return thread.apply(at, &event.payload, &mut self.shared, sink);
            }
            Payload::ThreadEnd => {
                thread.waited_to_the_end(at, sink);
                return thread.end(at, &mut self.shared, sink);
            }
            Payload::ParallelEnd { seq } => self.join(at, seq, sink),
            Payload::TracingOff if S::MARKS => self.stop(at, sink),
            ref payload => thread.apply(at, payload, &mut self.shared, sink),
        }
        if S::STATES {
            for &position in &self.joined {
                self.threads[position].change(At { position, ..at }, false, sink);
            }
            self.threads[position].change(at, first, sink);
        }
    }

    /// Ends the thread at `time` (no earlier than its last event), unless it has ended.
    pub fn end<S: Sink>(&mut self, position: usize, time: u64, sink: &mut S) {
        if let Some(thread) = self.threads.get_mut(position)
            && !thread.ended
        {
            let body = thread.top().number;
            let at = At {
                time,
                position,
                body,
            };
            thread.end(at, &mut self.shared, sink);
        }
    }

    /// Ends all threads, each at the time of its last event.
    pub fn finish<S: Sink>(mut self, sink: &mut S) {
        sink.trace_end();
        for position in 0..self.threads.len() {
            self.end(position, self.last[position], sink);
        }
    }
}

impl Thread {
    fn top(&self) -> &Body {
        &self.bodies[self.bodies.len() - 1]
    }

    fn top_mut(&mut self) -> &mut Body {
        let last = self.bodies.len() - 1;
        &mut self.bodies[last]
    }

    /// In the running body.
    #[inline]
    fn here(&self, at: At) -> At {
        self.top().at(at)
    }

    /// And whether that is waiting in a barrier.
    #[inline]
    fn state(&self) -> (State, bool) {
        match self.top().stack.state() {
            Some(state) => state,
            None if self.worker && self.bodies.len() == 1 => (State::Idle, false),
            None => (State::Useful, false),
        }
    }

    /// Ends the running interval if the state has changed; a thread's first state is given in any case.
    #[inline]
    fn change<S: Sink>(&mut self, at: At, first: bool, sink: &mut S) {
        let ((now, is_barrier), at) = (self.state(), self.here(at));
        let Some((begin, state)) = &mut self.running else {
            return;
        };
        let activity = match now {
            State::Useful => Activity::Useful,
            _ if is_barrier => Activity::Barrier,
            _ => Activity::Other,
        };
        if self.activity != activity {
            self.activity = activity;
            sink.activity(at, activity);
        }
        if *state != now {
            if *begin < at.time {
                sink.interval(Interval {
                    position: at.position,
                    state: *state,
                    begin: *begin,
                    end: at.time,
                });
            }
            (*begin, *state) = (at.time.max(*begin), now);
            sink.state(at, now);
        } else if first {
            sink.state(at, now);
        }
    }

    fn end<S: Sink>(&mut self, at: At, shared: &mut Shared, sink: &mut S) {
        self.cut(at, 0, shared, sink);
        if let Some((begin, state)) = self.running.take() {
            if begin < at.time {
                sink.interval(Interval {
                    position: at.position,
                    state,
                    begin,
                    end: at.time,
                });
            }
            sink.thread_end(at);
        }
        self.activity = Activity::Other;
        self.ended = true;
    }

    /// Whatever concerns one thread.
    fn apply<S: Sink>(&mut self, at: At, payload: &Payload<'_>, shared: &mut Shared, sink: &mut S) {
        match *payload {
            Payload::ParallelBegin {
                seq,
                function,
                kind,
                call_site,
                ..
            } => {
                let region = RegionId {
                    thread: self.index,
                    seq,
                };
                let code = Code::new(function, call_site);
                let span = Span::Parallel { region, kind, code };
                self.parallel_begin(at, span, shared, sink);
            }
            Payload::ImplicitBegin {
                region, thread_num, ..
            } => self.implicit_begin(at, region, thread_num, shared, sink),
            Payload::ImplicitEnd => self.implicit_end(at, shared, sink),
            Payload::TaskBegin { task } => self.task_begin(at, task, shared, sink),
            Payload::TaskEnd => self.task_end(at, shared, sink),
            Payload::TaskSuspend => self.suspend(at, shared, sink),
            Payload::TaskResume { task } => self.resume(at, task, shared, sink),
            Payload::Lost { task, region, .. } => self.lost(at, region, task, shared, sink),
            Payload::TaskCreate { .. }
            | Payload::TaskCreated
            | Payload::TaskDepend { .. }
            | Payload::TaskwaitDepend { .. }
            | Payload::TaskloopBegin { .. }
            | Payload::TaskloopTask { .. }
            | Payload::TaskloopEnd => self.creation(at, payload, shared, sink),
            Payload::LoopBegin { .. }
            | Payload::SectionsBegin { .. }
            | Payload::ScopeBegin
            | Payload::Dispatch
            | Payload::ChunkBegin { .. }
            | Payload::SectionBegin { .. }
            | Payload::WorkEnd { .. }
            | Payload::Single { .. }
            | Payload::SingleEnd
            | Payload::MaskedBegin
            | Payload::MaskedEnd
            | Payload::TargetBegin { .. }
            | Payload::TargetEnd { .. } => self.work(at, payload, sink),
            Payload::SyncBegin { .. }
            | Payload::SyncEnd { .. }
            | Payload::Wait { .. }
            | Payload::TaskgroupBegin
            | Payload::FlushBegin
            | Payload::Flush { .. } => self.wait(at, payload, sink),
            Payload::MutexAcquire { .. }
            | Payload::MutexAcquired { .. }
            | Payload::MutexReleased { .. }
            | Payload::MutexFailed { .. }
            | Payload::LockTaken { .. }
            | Payload::LockWait { .. }
            | Payload::LockWaited { .. }
            | Payload::LockBusy { .. } => self.lock(at, payload, sink),
            Payload::MemGet { .. }
            | Payload::MemMove { .. }
            | Payload::MemGot { .. }
            | Payload::MemGive { .. }
            | Payload::MemGiven
            | Payload::MemAlloc { .. }
            | Payload::MemFree { .. }
            | Payload::MemRealloc { .. }
            | Payload::MemMap { .. }
            | Payload::MemUnmap { .. }
            | Payload::MemRemap { .. }
            | Payload::MemHeap { .. }
            | Payload::Stack { .. }
                if S::MEMORY =>
            {
                let caller = Caller::new(self.top().span());
                let calls = &mut self.heap_calls;
                shared.heap.event(at, payload, caller, calls, sink)
            }
            Payload::Sensor { .. }
            | Payload::SensorLost { .. }
            | Payload::ThreadCounters { .. }
            | Payload::ThreadTime { .. }
                if S::READINGS =>
            {
                shared.sensors.event(at, payload, sink)
            }
            Payload::Sampling { .. }
            | Payload::Sample { .. }
            | Payload::SampleStack { .. }
            | Payload::SampleLost { .. }
                if S::SAMPLES =>
            {
                sample::sample(at, payload, sink)
            }
            Payload::Processor { processor } if S::PROCESSORS => {
                self.processor = Some(processor).filter(|number| *number != u32::MAX);
                self.tell_processor(at, sink);
            }
            _ if S::MARKS => self.mark(at, payload, sink),
            _ => {}
        }
    }

    /// Gives the thread's processor, if that is news and the thread has begun.
    #[inline]
    fn tell_processor<S: Sink>(&mut self, at: At, sink: &mut S) {
        if self.told_processor != self.processor && self.running.is_some() {
            self.told_processor = self.processor;
            sink.on_cpu(at, self.processor);
        }
    }

    fn open<S: Sink>(&mut self, at: At, span: Span, sink: &mut S) {
        let body = self.top_mut();
        if body.stack.push(span, at.time) {
            sink.begin(body.at(at), &span, Begin::Told);
        }
    }

    /// Ends what is open in the running body down to the place `to`, and that one as `how` says.
    fn close<S: Sink>(&mut self, at: At, to: usize, how: End, sink: &mut S) {
        let body = self.top_mut();
        let at = body.at(at);
        while body.stack.len() > to
            && let Some((span, begin)) = body.stack.pop()
        {
            let innermost = body.stack.len() == to;
            let how = if innermost { how } else { End::Implied };
            sink.end(at, &span, how, body.since(begin));
        }
    }

    fn close_tag<S: Sink>(&mut self, at: At, tag: stack::Tag, sink: &mut S) {
        if let Some(to) = self.top().stack.find(tag) {
            self.close(at, to, End::Told, sink);
        }
    }
}
