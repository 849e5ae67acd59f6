//! A running task of any kind: what is open in it, and how long it has run.

use crate::event::{RegionId, TaskId};

use super::sink::{At, Sink};
use super::span::{Begin, End, Ran, Since, Span};
use super::stack::{Holds, Stack, Tag};

/// Locks, and taskgroups, that a suspended task takes along, and tasks below the running one among which one is looked for: more are
/// damage.
pub(super) const MAX_CARRIED: usize = 16;

/// A running task of any kind.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// See [`At::body`].
    pub(super) number: u32,
    /// Nothing for the initial task.
    pub(super) span: Option<Span>,
    pub(super) stack: Stack,
    pub(super) holds: Holds,
    /// Begins of open taskgroups.
    pub(super) taskgroups: Vec<u64>,
    /// Places of the next implicit and of the next explicit task outwards on the thread.
    pub(super) implicit: u32,
    pub(super) explicit: u32,
    /// Its begin has been given, and not its end: see [`End::Kept`].
    pub(super) seen: bool,
    /// Of a suspended task: the innermost region on the thread that it left.
    pub(super) region: Option<RegionId>,
    pub(super) times: Times,
}

/// Of a body.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// Its begin; `None`: lost.
    pub(super) first: Option<u64>,
    /// When its begin was given last.
    pub(super) here: u64,
    /// It has been on its thread since then.
    pub(super) since: u64,
    /// How long it was on threads before that.
    pub(super) before: u64,
    /// How long other explicit tasks ran on top of it.
    pub(super) inner: u64,
}

impl Times {
    /// Of a body that begins.
    pub(super) fn new(now: u64, how: Begin) -> Self {
        Self {
            first: (how == Begin::Told).then_some(now),
            here: now,
            since: now,
            ..Self::default()
        }
    }

    pub(super) fn here(&self) -> Since {
        Since {
            here: self.here,
            first: self.first,
        }
    }

    /// Time on its thread since it begun or was resumed.
    pub(super) fn stay(&self, now: u64) -> u64 {
        now.saturating_sub(self.since)
    }

    pub(super) fn ran(&self, now: u64) -> Ran {
        let whole = self.before.saturating_add(self.stay(now));
        Ran {
            whole,
            own: whole.saturating_sub(self.inner),
        }
    }
}

impl Body {
    pub(super) fn new(number: u32) -> Box<Self> {
        Box::new(Self {
            number,
            ..Self::default()
        })
    }

    #[inline]
    pub(super) fn at(&self, at: At) -> At {
        At {
            body: self.number,
            ..at
        }
    }

    pub(super) fn span(&self) -> Option<&Span> {
        self.span.as_ref()
    }

    /// Of something in it that began at the time `begin`.
    pub(super) fn since(&self, begin: u64) -> Since {
        Since {
            here: begin.max(self.times.since),
            first: Some(begin),
        }
    }

    pub(super) fn is_of(&self, id: RegionId) -> bool {
        matches!(self.span, Some(Span::Implicit { region, .. }) if region == id)
    }

    pub(super) fn task(&self) -> Option<TaskId> {
        match self.span {
            Some(Span::Task { task, .. }) => Some(task),
            _ => None,
        }
    }

    /// Gives all locks back. A wait for a further one is over before that.
    pub(super) fn release<S: Sink>(&mut self, at: At, how: End, sink: &mut S) {
        if let Some(to) = self.stack.find(Tag::Acquire) {
            while self.stack.len() > to
                && let Some((span, begin)) = self.stack.pop()
            {
                sink.end(at, &span, how, self.since(begin));
            }
        }
        if self.holds.is_empty() {
            return;
        }
        for ((kind, object), since) in self.holds.take() {
            sink.end(at, &Span::Hold { kind, object }, how, self.since(since));
        }
    }

    /// The body leaves its thread with what is open in it: the innermost span of each kind, and a bounded number of locks and
    /// taskgroups. The rest has lost its end.
    pub(super) fn suspend<S: Sink>(&mut self, at: At, sink: &mut S) {
        let end = |goes_on| match goes_on {
            true => End::Suspended,
            false => End::Implied,
        };
        for (span, begin, goes_on) in self.stack.suspend() {
            sink.end(at, &span, end(goes_on), self.since(begin));
        }
        if !self.holds.is_empty() {
            let mut held = self.holds.take();
            for (number, ((kind, object), since)) in held.iter().enumerate() {
                let (span, how) = (
                    Span::Hold {
                        kind: *kind,
                        object: *object,
                    },
                    end(number < MAX_CARRIED),
                );
                sink.end(at, &span, how, self.since(*since));
            }
            held.truncate(MAX_CARRIED);
            for (lock, since) in held.into_iter().rev() {
                self.holds.add(lock, since);
            }
        }
        for (number, begin) in self.taskgroups.iter().rev().enumerate() {
            let how = end(number < MAX_CARRIED);
            sink.end(at, &Span::Taskgroup, how, self.since(*begin));
        }
        let rest = self.taskgroups.len().saturating_sub(MAX_CARRIED);
        self.taskgroups.drain(..rest);
    }

    /// And goes on on another one.
    pub(super) fn resume<S: Sink>(&mut self, at: At, sink: &mut S) {
        for _ in &self.taskgroups {
            sink.begin(at, &Span::Taskgroup, Begin::Resumed);
        }
        if !self.holds.is_empty() {
            let held = self.holds.take();
            for ((kind, object), since) in held.into_iter().rev() {
                sink.begin(at, &Span::Hold { kind, object }, Begin::Resumed);
                self.holds.add((kind, object), since);
            }
        }
        for span in self.stack.spans() {
            sink.begin(at, span, Begin::Resumed);
        }
    }

    /// Ends what is open in it.
    pub(super) fn clear<S: Sink>(&mut self, at: At, how: End, sink: &mut S) {
        self.release(at, how, sink);
        while let Some((span, begin)) = self.stack.pop() {
            sink.end(at, &span, how, self.since(begin));
        }
    }
}
