//! Parallel regions: the construct, its implicit tasks, and the barrier that closes it.

use crate::event::RegionId;

use super::sink::{At, Sink};
use super::span::{Begin, Code, End, Span};
use super::stack::Tag;
use super::{Interpreter, Shared, Thread};

/// A parallel region that runs.
#[derive(Debug, Default)]
pub(super) struct Region {
    pub(super) code: Code,
    /// Places of the construct and of its implicit task on the encountering thread.
    construct: Option<Place>,
    implicit: Option<usize>,
    /// Workers in its closing barrier.
    waiting: Vec<(usize, Place)>,
    /// Threads that took part, and the places of the bodies of their implicit tasks.
    members: Vec<usize>,
    bodies: Vec<usize>,
}

/// Number of a body on its thread, and of an entry in it.
#[derive(Clone, Copy, Debug)]
struct Place {
    body: usize,
    entry: usize,
}

impl Interpreter {
    /// `parallel_end`: the closing barrier ends on all threads of the region.
    pub(super) fn join<S: Sink>(&mut self, at: At, seq: u32, sink: &mut S) {
        let thread = &mut self.threads[at.position];
        let id = RegionId {
            thread: thread.index,
            seq,
        };
        let Some(region) = self.shared.regions.remove(&id) else {
            return;
        };
        let shared = &mut self.shared;
        let is_construct =
            |span: &Span| matches!(span, Span::Parallel { region, .. } if *region == id);
        let is_closing = |span: &Span| *span == Span::Closing { region: id };
        if !thread.end_at(at, region.construct, is_construct, shared, sink) {
            // The construct's begin was lost.
            if let Some(body) = region.implicit
                && thread.bodies.get(body).is_some_and(|body| body.is_of(id))
            {
                thread.end_bodies(at, body, End::Implied, shared, sink);
            }
            let closing = thread.top().stack.find(Tag::Closing);
            if let Some(entry) = closing
                && thread.top().stack.get(entry).is_some_and(is_closing)
            {
                thread.close(at, entry, End::Told, sink);
            }
        }
        let here = thread.here(at);
        for (&position, &body) in region.members.iter().zip(&region.bodies) {
            let member = &mut self.threads[position];
            let lives = !member.ended && at.time <= self.last[position];
            if lives && member.bodies.get(body).is_some_and(|body| body.is_of(id)) {
                // The end of its implicit task was lost.
                member.worker |= id.thread != member.index;
                member.end_bodies(At { position, ..at }, body, End::Implied, shared, sink);
                self.joined.push(position);
            }
        }
        sink.region_end(here, id, &region.members);
        for (position, place) in region.waiting {
            let worker = &mut self.threads[position];
            let at = At { position, ..at };
            // It is not known how long a thread lives behind its last event.
            let lives = !worker.ended && at.time <= self.last[position];
            if lives && worker.end_at(at, Some(place), is_closing, shared, sink) {
                self.joined.push(position);
            }
        }
    }
}

impl Thread {
    pub(super) fn parallel_begin<S: Sink>(
        &mut self,
        at: At,
        span: Span,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        let Span::Parallel { region, code, .. } = span else {
            return;
        };
        let place = Place {
            body: self.bodies.len() - 1,
            entry: self.top().stack.len(),
        };
        self.open(at, span, sink);
        let record = Region {
            code,
            construct: Some(place),
            ..Region::default()
        };
        shared.regions.insert(region, record);
    }

    pub(super) fn implicit_begin<S: Sink>(
        &mut self,
        at: At,
        region: RegionId,
        thread_num: u32,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        // A worker that is in a new region has left the closing barrier of the last one.
        if region.thread != self.index {
            while let Some(Span::Closing { .. }) = self.top().stack.last() {
                let last = self.top().stack.len() - 1;
                self.close(at, last, End::Implied, sink);
            }
        }
        let span = self.implicit_task(at.position, region, thread_num, shared);
        self.push_body(at, span, Begin::Told, shared, sink);
    }

    /// Ends the entry at `place`, if it is there and `is` knows it, and all that lies on top of it.
    fn end_at<S: Sink>(
        &mut self,
        at: At,
        place: Option<Place>,
        is: impl Fn(&Span) -> bool,
        shared: &mut Shared,
        sink: &mut S,
    ) -> bool {
        let Some(Place { body, entry }) = place else {
            return false;
        };
        let found = self.bodies.get(body).and_then(|body| body.stack.get(entry));
        if !found.is_some_and(is) {
            return false;
        }
        self.end_bodies(at, body + 1, End::Implied, shared, sink);
        self.close(at, entry, End::Told, sink);
        true
    }

    /// The span of an implicit task that begins, which is entered into the record of its region.
    pub(super) fn implicit_task(
        &self,
        position: usize,
        region: RegionId,
        thread_num: u32,
        shared: &mut Shared,
    ) -> Span {
        let record = shared.regions.entry(region).or_default();
        record.members.push(position);
        record.bodies.push(self.bodies.len());
        if region.thread == self.index {
            record.implicit = Some(self.bodies.len());
        }
        Span::Implicit {
            region,
            code: record.code,
            thread_num,
        }
    }

    pub(super) fn implicit_end<S: Sink>(&mut self, at: At, shared: &mut Shared, sink: &mut S) {
        let from = self.implicit as usize;
        let Some(Span::Implicit { region, .. }) = self.bodies[from].span else {
            return;
        };
        self.end_bodies(at, from, End::Told, shared, sink);
        let place = Place {
            body: self.bodies.len() - 1,
            entry: self.top().stack.len(),
        };
        self.open(at, Span::Closing { region }, sink);
        if region.thread != self.index {
            self.worker = true;
            let record = shared.regions.entry(region).or_default();
            record.waiting.push((at.position, place));
        }
    }
}
