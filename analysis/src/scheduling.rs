//! What the system did with the threads while they were in user code: of each thread, and of the code that they ran.

use std::collections::BTreeMap;

use instr_trace::Trace;
use instr_trace::model::{At, Code, Scheduled, Sink, Span, State};
use serde::Serialize;

/// A time by what the system did with the thread in it, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Split {
    /// On a processor.
    pub running_ns: u64,
    /// It could run, and waited for a processor: it was preempted, had given the processor away, or, where wake-ups were recorded, had been woken.
    pub ready_ns: u64,
    /// It slept or waited for something; where wake-ups were not recorded, also for a processor after that.
    pub blocked_ns: u64,
    /// Not recorded.
    pub unknown_ns: u64,
}

impl Split {
    /// The whole time, ns.
    pub fn total_ns(&self) -> u64 {
        let parts = [
            self.running_ns,
            self.ready_ns,
            self.blocked_ns,
            self.unknown_ns,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    fn add(&mut self, state: Scheduled, ns: u64) {
        let part = match state {
            Scheduled::Running => &mut self.running_ns,
            Scheduled::Ready => &mut self.ready_ns,
            Scheduled::Blocked => &mut self.blocked_ns,
            Scheduled::Unknown => &mut self.unknown_ns,
        };
        *part = part.saturating_add(ns);
    }
}

/// Of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ThreadScheduling {
    /// Its useful time.
    pub useful: Split,
    /// The time of all its states.
    pub whole: Split,
    /// Times that it was preempted, or gave its processor away.
    pub preempted: u64,
    /// Times that it slept or waited.
    pub blocked: u64,
    /// Records that the system lost.
    pub lost: u64,
}

/// Of the code of a region or a task, or of what lies outside of both: useful time of all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceScheduling {
    /// The time.
    pub useful: Split,
    /// Times that a thread was preempted in it.
    pub preempted: u64,
    /// Times that a thread slept or waited in it.
    pub blocked: u64,
    /// It is the code of explicit tasks.
    pub is_task: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// By position of the thread; `None` where its switches were not recorded.
    pub threads: Vec<Option<ThreadScheduling>>,
    /// By code; `None`: outside of regions and tasks.
    pub places: BTreeMap<Option<Code>, PlaceScheduling>,
}

#[derive(Clone, Debug)]
struct Thread {
    since: u64,
    state: State,
    scheduled: Scheduled,
    /// Code of the running body.
    code: Option<Code>,
    is_task: bool,
    /// It has a record of its switches.
    recorded: bool,
    own: ThreadScheduling,
}

/// Follows the threads of one trace.
#[derive(Clone, Debug)]
pub struct Collector {
    threads: Vec<Thread>,
    places: BTreeMap<Option<Code>, PlaceScheduling>,
}

impl Collector {
    /// For the threads of a trace.
    pub fn new(trace: &Trace) -> Self {
        let thread = Thread {
            since: 0,
            state: State::Idle,
            scheduled: Scheduled::Unknown,
            code: None,
            is_task: false,
            recorded: false,
            own: ThreadScheduling::default(),
        };
        let mut threads = vec![thread; trace.threads().len()];
        for position in trace.scheduled_threads() {
            if let Some(thread) = threads.get_mut(position) {
                thread.recorded = true;
            }
        }
        Self {
            threads,
            places: BTreeMap::new(),
        }
    }

    /// The numbers, once the interpreter has [finished](instr_trace::model::Interpreter::finish).
    pub fn finish(self) -> Report {
        let threads = self.threads.iter();
        Report {
            threads: threads
                .map(|thread| thread.recorded.then_some(thread.own))
                .collect(),
            places: self.places,
        }
    }

    /// Counts the time since the thread's last change, and gives the thread.
    #[inline]
    fn settle(&mut self, at: At) -> Option<&mut Thread> {
        let thread = self.threads.get_mut(at.position)?;
        let ns = at.time.saturating_sub(thread.since);
        thread.since = thread.since.max(at.time);
        if ns > 0 {
            thread.own.whole.add(thread.scheduled, ns);
            if thread.state == State::Useful {
                thread.own.useful.add(thread.scheduled, ns);
                if thread.recorded {
                    let place = self.places.entry(thread.code).or_default();
                    place.useful.add(thread.scheduled, ns);
                    place.is_task = thread.is_task;
                }
            }
        }
        Some(thread)
    }
}

impl Sink for Collector {
    const MARKS: bool = false;

    fn thread_begin(&mut self, at: At) {
        if let Some(thread) = self.threads.get_mut(at.position) {
            thread.since = at.time;
        }
    }

    fn thread_end(&mut self, at: At) {
        if let Some(thread) = self.settle(at) {
            (thread.state, thread.scheduled) = (State::Idle, Scheduled::Unknown);
        }
    }

    #[inline]
    fn state(&mut self, at: At, state: State) {
        if let Some(thread) = self.settle(at) {
            thread.state = state;
        }
    }

    #[inline]
    fn body(&mut self, at: At, body: Option<&Span>) {
        let (code, is_task) = match body {
            Some(Span::Implicit { code, .. }) => (Some(*code), false),
            Some(Span::Task { code, .. }) => (Some(*code), true),
            _ => (None, false),
        };
        if let Some(thread) = self.settle(at) {
            (thread.code, thread.is_task) = (code, is_task);
        }
    }

    #[inline]
    fn scheduled(&mut self, at: At, state: Scheduled, lost: u32) {
        let Some(thread) = self.settle(at) else {
            return;
        };
        thread.own.lost += u64::from(lost);
        let before = std::mem::replace(&mut thread.scheduled, state);
        let counts = match state {
            Scheduled::Ready if before == Scheduled::Blocked => return, // it was woken
            Scheduled::Ready => (1, 0),
            Scheduled::Blocked => (0, 1),
            _ => return,
        };
        thread.own.preempted += counts.0;
        thread.own.blocked += counts.1;
        if thread.state == State::Useful {
            let (code, is_task) = (thread.code, thread.is_task);
            let place = self.places.entry(code).or_default();
            place.preempted += counts.0;
            place.blocked += counts.1;
            place.is_task = is_task;
        }
    }
}
