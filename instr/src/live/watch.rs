//! What one process did so far, event by event: counts, and what each thread does now.

use hashbrown::HashMap;

use instr_trace::model::{
    At, Begin, Code, End, HeapCall, Interval, Mark, Memory, Ran, Since, Sink, Span, State,
};

use crate::report::timeline::STATES;

/// Regions and tasks, and threads, that are followed one by one. Of more, only the sums are counted.
const MOST_BODIES: usize = 1 << 14;

/// A thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    /// What it does since when, ns since the trace's start; `None`: it has not begun, or has ended.
    pub(super) now: Option<(State, u64)>,
    /// The region or task that it runs.
    pub(super) body: Option<(Code, bool)>,
    /// Time in each state up to the last change, ns, in order of [`crate::report::timeline::STATE_NAMES`].
    pub(super) ns: [u64; STATES],
    pub(super) events: u64,
    pub(super) ended: bool,
}

/// A region or task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Body {
    /// Executions that have ended.
    pub(super) executions: u64,
    /// Their time, ns: of a region that of the thread that met it, of a task its own.
    pub(super) ns: u64,
}

/// A process.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) threads: Vec<Thread>,
    /// Parallel regions that have ended, and that go on.
    pub(super) regions: u64,
    pub(super) open_regions: u64,
    /// Explicit tasks that were created, that have begun, and that run.
    pub(super) created: u64,
    pub(super) executed: u64,
    pub(super) running: u64,
    /// Bytes of the heap in use, where that is recorded.
    pub(super) heap: Option<u64>,
    pub(super) bodies: HashMap<(Code, bool), Body>,
}

pub(super) fn number(state: State) -> usize {
    match state {
        State::Useful => 0,
        State::Synchronization => 1,
        State::Scheduling => 2,
        State::Idle => 3,
        State::Flush => 4,
    }
}

impl Watch {
    fn ended(&mut self, code: Code, task: bool, ns: u64) {
        let key = (code, task);
        if self.bodies.len() >= MOST_BODIES && !self.bodies.contains_key(&key) {
            return;
        }
        let body = self.bodies.entry(key).or_default();
        body.executions += 1;
        body.ns = body.ns.saturating_add(ns);
    }
}

impl Sink for Watch {
    const MEMORY: bool = true;

    fn thread_end(&mut self, at: At) {
        let thread = &mut self.threads[at.position];
        (thread.now, thread.ended) = (None, true);
        if matches!(thread.body.take(), Some((_, true))) {
            self.running = self.running.saturating_sub(1);
        }
    }

    fn state(&mut self, at: At, state: State) {
        self.threads[at.position].now = Some((state, at.time));
    }

    fn interval(&mut self, interval: Interval) {
        let sum = &mut self.threads[interval.position].ns[number(interval.state)];
        *sum = sum.saturating_add(interval.end.saturating_sub(interval.begin));
    }

    fn body(&mut self, at: At, body: Option<&Span>) {
        let thread = &mut self.threads[at.position];
        let now = match body {
            Some(Span::Task { code, .. }) => Some((*code, true)),
            Some(Span::Implicit { code, .. }) => Some((*code, false)),
            _ => None,
        };
        let runs = |body: &Option<(Code, bool)>| u64::from(matches!(body, Some((_, true))));
        self.running = (self.running + runs(&now)).saturating_sub(runs(&thread.body));
        thread.body = now;
    }

    fn begin(&mut self, _: At, span: &Span, how: Begin) {
        match span {
            Span::Parallel { .. } if how == Begin::Told => self.open_regions += 1,
            Span::Create { .. } if how == Begin::Told => self.created += 1,
            Span::Task { .. } if how == Begin::Told => self.executed += 1,
            _ => {}
        }
    }

    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        let Span::Parallel { code, .. } = span else {
            return;
        };
        if how != End::Suspended {
            self.open_regions = self.open_regions.saturating_sub(1);
            self.regions += 1;
            let begin = since.first.unwrap_or(since.here);
            self.ended(*code, false, at.time.saturating_sub(begin));
        }
    }

    fn task_ran(&mut self, _: At, task: &Span, ran: Ran) {
        if let Span::Task { code, .. } = task {
            self.ended(*code, true, ran.own);
        }
    }

    fn mark(&mut self, _: At, mark: Mark<'_>) {
        if let Mark::Piece { .. } = mark {
            self.created += 1;
        }
    }

    fn memory(&mut self, _: At, memory: &Memory) {
        if let Memory::Heap(HeapCall { bytes_in_use, .. }) = memory {
            self.heap = Some(*bytes_in_use);
        }
    }
}
