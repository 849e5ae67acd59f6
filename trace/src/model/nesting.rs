//! The bodies of a thread, one on top of the other: how they begin, end, and go on behind a gap.

use crate::event::{RegionId, TaskId};

use super::body::{Body, Times};
use super::sink::{At, Sink};
use super::span::{Begin, End, NO_NUMBER, Span};
use super::{MAX_DEPTH, Shared, Thread};

impl Thread {
    pub(super) fn push_body<S: Sink>(
        &mut self,
        at: At,
        span: Span,
        how: Begin,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        if self.bodies.len() < MAX_DEPTH {
            let mut body = shared.body();
            (body.span, body.seen) = (Some(span), true);
            body.times = Times::new(at.time, how);
            let at = body.at(at);
            self.enter(body);
            sink.begin(at, &span, how);
            sink.body(at, Some(&span));
        }
    }

    pub(super) fn enter(&mut self, mut body: Box<Body>) {
        let place = self.bodies.len() as u32;
        match body.span {
            Some(Span::Implicit { .. }) => {
                body.implicit = std::mem::replace(&mut self.implicit, place);
            }
            Some(Span::Task { .. }) => {
                body.explicit = std::mem::replace(&mut self.explicit, place);
            }
            _ => {}
        }
        self.bodies.push(body);
    }

    /// Ends the bodies from the place `from` on, innermost first; that one as `how` says.
    pub(super) fn end_bodies<S: Sink>(
        &mut self,
        at: At,
        from: usize,
        how: End,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        let from = from.max(1);
        if self.bodies.len() <= from {
            return;
        }
        while self.bodies.len() > from
            && let Some(mut body) = self.bodies.pop()
        {
            let ends_again = body.task().is_some_and(|task| !shared.ended.insert(task));
            let innermost = self.bodies.len() == from && !ends_again;
            let how = if innermost { how } else { End::Implied };
            let at = body.at(at);
            body.clear(at, End::Implied, sink);
            while let Some(begin) = body.taskgroups.pop() {
                sink.end(at, &Span::Taskgroup, End::Implied, body.since(begin));
            }
            self.left(&body, at.time);
            if let Some(span) = body.span {
                if how == End::Told && body.task().is_some() && body.times.first.is_some() {
                    sink.task_ran(at, &span, body.times.ran(at.time));
                }
                let told = how == End::Told;
                let how = if body.seen { how } else { End::Unseen { told } };
                sink.end(at, &span, how, body.times.here());
            }
            shared.spare.push(body);
        }
        sink.body(self.here(at), self.top().span());
    }

    /// A body has been taken off.
    pub(super) fn left(&mut self, body: &Body, now: u64) {
        match body.span {
            Some(Span::Implicit { .. }) => self.implicit = body.implicit,
            Some(Span::Task { .. }) => {
                self.explicit = body.explicit;
                let inner = &mut self.bodies[body.explicit as usize].times.inner;
                *inner = inner.saturating_add(body.times.stay(now));
            }
            _ => {}
        }
    }

    /// Ends everything. Bodies below the place `keep` go on unseen.
    pub(super) fn cut<S: Sink>(&mut self, at: At, keep: usize, shared: &mut Shared, sink: &mut S) {
        self.heap_calls.end(at, sink);
        for body in self.bodies.iter_mut().rev() {
            body.release(body.at(at), End::Cut, sink);
        }
        let mut taskgroups = Vec::new();
        for (place, body) in self.bodies.iter_mut().enumerate().rev() {
            let at = body.at(at);
            body.clear(at, End::Cut, sink);
            while let Some(begin) = body.taskgroups.pop() {
                taskgroups.push((at, body.since(begin)));
            }
            let (Some(span), since) = (body.span, body.times.here()) else {
                continue;
            };
            match (std::mem::take(&mut body.seen), place < keep) {
                (true, true) => sink.end(at, &span, End::Kept, since),
                (true, false) => sink.end(at, &span, End::Cut, since),
                (false, true) => {}
                (false, false) => sink.end(at, &span, End::Unseen { told: false }, since),
            }
        }
        let keep = keep.max(1);
        if self.bodies.len() > keep {
            while self.bodies.len() > keep
                && let Some(body) = self.bodies.pop()
            {
                self.left(&body, at.time);
                shared.spare.push(body);
            }
            sink.body(self.here(at), self.top().span());
        }
        self.cut_own(at, sink);
        for (at, since) in taskgroups {
            sink.end(at, &Span::Taskgroup, End::Cut, since);
        }
    }

    /// Behind a gap the innermost region and explicit task are known. What lies below either of them goes on.
    pub(super) fn lost<S: Sink>(
        &mut self,
        at: At,
        region: Option<RegionId>,
        task: Option<TaskId>,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        let is_region = |body: &Body| region.is_some_and(|region| body.is_of(region));
        let is_task = |body: &Body| task.is_some() && body.task() == task;
        let goes_on = |body: &Body| is_region(body) || is_task(body);
        let keep = self.bodies.iter().rposition(|body| goes_on(body));
        let keep = keep.map_or(1, |at| at + 1);
        self.cut(at, keep, shared, sink);
        let mut missing = [region.is_some(), task.is_some()];
        for place in 1..self.bodies.len() {
            let body = &self.bodies[place];
            missing[0] &= !is_region(body);
            missing[1] &= !is_task(body);
        }
        if let Some(region) = region {
            match missing[0] {
                true => {
                    let span = self.implicit_task(at.position, region, NO_NUMBER, shared);
                    self.push_body(at, span, Begin::Found, shared, sink);
                }
                false => self.find_again(at, is_region, sink),
            }
        }
        if let Some(task) = task {
            match missing[1] {
                true if shared.ended.contains(task) => {}
                true => {
                    shared.begins(task);
                    let span = self.task_span::<S>(task, shared);
                    self.push_body(at, span, Begin::Found, shared, sink);
                }
                false => self.find_again(at, is_task, sink),
            }
        }
    }

    /// A body that goes on behind a gap is seen again.
    fn find_again<S: Sink>(&mut self, at: At, is: impl Fn(&Body) -> bool, sink: &mut S) {
        if let Some(body) = self.bodies.iter_mut().rfind(|body| is(body))
            && let Some(span) = body.span
        {
            (body.seen, body.times.here) = (true, at.time);
            sink.begin(body.at(at), &span, Begin::Found);
        }
    }
}
