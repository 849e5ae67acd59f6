//! Tracks of a thread: its slices nest on its own, the others have further ones.

use instr_trace::model::{At, Span};
use instr_trace::words::mutex_name;

use super::writer::{FlowsHere, SliceWriter};
use super::{Slices, Thread};

/// Slices below the innermost one among which one that ends is looked for: deeper it is in damaged traces only.
const LOOK_BACK: usize = 64;

/// A track below that of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Below {
    State,
    Dependences,
    Regions,
    Calls,
    Functions,
    Locks,
    Taskgroups,
}

impl Below {
    /// How many there are.
    pub(super) const COUNT: usize = 7;

    /// The name of the track.
    fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Dependences => "dependences",
            Self::Regions => "regions",
            Self::Calls => "calls",
            Self::Functions => "functions",
            Self::Locks => "locks held",
            Self::Taskgroups => "taskgroups",
        }
    }
}

/// A slice that does not nest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loose {
    position: usize,
    track: u64,
    begin: u64,
}

impl<W: SliceWriter> Slices<'_, W> {
    /// A further track of a thread.
    #[inline]
    pub(super) fn own_track(&mut self, position: usize, below: Below) -> u64 {
        let thread = &mut self.threads[position];
        let writer = &mut *self.writer;
        let make = || writer.track(thread.track, below.name());
        *thread.tracks[below as usize].get_or_insert_with(make)
    }

    pub(super) fn begin_loose(
        &mut self,
        at: At,
        span: &Span,
        key: (&'static str, u64),
        below: Below,
    ) {
        let thread = &mut self.threads[at.position];
        let parent = thread.track;
        let free = thread.free[below as usize].pop();
        let track = free.unwrap_or_else(|| self.writer.track(parent, below.name()));
        self.slice(at, track, span, FlowsHere::default());
        let loose = Loose {
            position: at.position,
            track,
            begin: self.threads[at.position].last,
        };
        let key = (at.body, key.0, key.1);
        self.loose.entry(key).or_default().push(loose);
    }

    pub(super) fn end_loose(&mut self, at: At, key: (&'static str, u64), below: Below) {
        let key = (at.body, key.0, key.1);
        let Some(open) = self.loose.get_mut(&key) else {
            return;
        };
        let loose = open.pop();
        if open.is_empty() {
            self.loose.remove(&key);
        }
        if let Some(loose) = loose {
            let time = (self.place)(at.time.max(loose.begin));
            self.writer.end(time, loose.track, FlowsHere::default());
            self.threads[loose.position].free[below as usize].push(loose.track);
        }
    }

    /// Ends a slice of the thread's own track, if it is open, and what lies on top of it.
    pub(super) fn end_nested(&mut self, at: At, span: &Span, flows: FlowsHere<'_>) {
        let time = self.time(at);
        let Thread { track, open, .. } = &self.threads[at.position];
        let (track, depth) = (*track, open.len());
        let lowest = depth.saturating_sub(LOOK_BACK);
        let is = |(body, other): &(u32, Span)| *body == at.body && other == span;
        let Some(found) = open[lowest..].iter().rposition(is) else {
            return;
        };
        for _ in lowest + found + 1..depth {
            self.writer.end(time, track, FlowsHere::default());
        }
        self.writer.end(time, track, flows);
        self.threads[at.position].open.truncate(lowest + found);
    }
}

/// Where a span that need not nest is found again, and its tracks.
pub(super) fn loose(span: &Span) -> Option<((&'static str, u64), Below)> {
    match *span {
        Span::Hold { kind, object } => Some(((mutex_name(kind), object), Below::Locks)),
        Span::Taskgroup => Some((("taskgroup", 0), Below::Taskgroups)),
        _ => None,
    }
}

/// The track of spans that nest among themselves only.
pub(super) fn own_track(span: &Span) -> Option<Below> {
    match span {
        Span::User { .. } => Some(Below::Regions),
        Span::Call { .. } => Some(Below::Calls),
        Span::Function { .. } => Some(Below::Functions),
        _ => None,
    }
}
