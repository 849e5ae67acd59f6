//! Tracks of a thread: its slices nest on its own, the others have further ones.

use instr_trace::model::{At, Span};
use instr_trace::words::mutex_name;

use super::writer::{FlowsHere, SliceWriter};
use super::{Slices, Thread};

/// Slices below the innermost one among which one that ends is looked for: deeper it is in damaged traces only.
const LOOK_BACK: usize = 64;

/// A slice that does not nest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loose {
    position: usize,
    track: u64,
    begin: u64,
}

impl<W: SliceWriter> Slices<'_, W> {
    /// A further track of a thread.
    pub(super) fn own_track(&mut self, position: usize, name: &'static str) -> u64 {
        let thread = &mut self.threads[position];
        let writer = &mut *self.writer;
        let make = || writer.track(thread.track, name);
        *thread.tracks.entry(name).or_insert_with(make)
    }

    pub(super) fn begin_loose(
        &mut self,
        at: At,
        span: &Span,
        key: (&'static str, u64),
        name: &'static str,
    ) {
        let thread = &mut self.threads[at.position];
        let parent = thread.track;
        let free = thread.free.get_mut(name).and_then(Vec::pop);
        let track = free.unwrap_or_else(|| self.writer.track(parent, name));
        self.slice(at, track, span, FlowsHere::default());
        let loose = Loose {
            position: at.position,
            track,
            begin: self.threads[at.position].last,
        };
        let key = (at.body, key.0, key.1);
        self.loose.entry(key).or_default().push(loose);
    }

    pub(super) fn end_loose(&mut self, at: At, key: (&'static str, u64), name: &'static str) {
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
            let free = &mut self.threads[loose.position].free;
            free.entry(name).or_default().push(loose.track);
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

/// Where a span that need not nest is found again, and the name of its tracks.
pub(super) fn loose(span: &Span) -> Option<((&'static str, u64), &'static str)> {
    match *span {
        Span::Hold { kind, object } => Some(((mutex_name(kind), object), "locks held")),
        Span::Taskgroup => Some((("taskgroup", 0), "taskgroups")),
        _ => None,
    }
}

/// The track of spans that nest among themselves only.
pub(super) fn own_track(span: &Span) -> Option<&'static str> {
    match span {
        Span::User { .. } => Some("regions"),
        Span::Call { .. } => Some("calls"),
        Span::Function { .. } => Some("functions"),
        _ => None,
    }
}
