//! Bodies of tasks, implicit and explicit: regions, creation, suspension, gaps.

use crate::event::{Payload, RegionId, TaskId, task_flags};

use super::sink::{At, Sink};
use super::span::{Begin, Code, End, Span};
use super::stack::{Holds, Stack, Tag};
use super::{Interpreter, MAX_DEPTH, Shared, Thread};

/// Bodies kept to be used again.
const MAX_SPARE: usize = 1 << 10;

/// A running task of any kind.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Nothing for the initial task.
    span: Option<Span>,
    pub(super) stack: Stack,
    pub(super) holds: Holds,
    pub(super) taskgroups: u32,
    /// Place of the next implicit task outwards on the thread.
    implicit: u32,
    /// Its begin has been given, and not its end: see [`End::Kept`].
    seen: bool,
}

/// A parallel region that runs.
#[derive(Debug, Default)]
pub(super) struct Region {
    code: Code,
    /// Places of the construct and of its implicit task on the encountering thread.
    construct: Option<Place>,
    implicit: Option<usize>,
    /// Workers in its closing barrier.
    waiting: Vec<(usize, Place)>,
    /// Threads that took part.
    members: Vec<usize>,
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
        let spare = &mut self.shared.spare;
        let is_construct =
            |span: &Span| matches!(span, Span::Parallel { region, .. } if *region == id);
        let is_closing = |span: &Span| *span == Span::Closing { region: id };
        if !thread.end_at(at, region.construct, is_construct, spare, sink) {
            // The construct's begin was lost.
            if let Some(body) = region.implicit
                && thread.bodies.get(body).is_some_and(|body| body.is_of(id))
            {
                thread.end_bodies(at, body, End::Implied, spare, sink);
            }
            let closing = thread.top().stack.find(Tag::Closing);
            if let Some(entry) = closing
                && thread.top().stack.get(entry).is_some_and(is_closing)
            {
                thread.close(at, entry, End::Told, sink);
            }
        }
        sink.region_end(at, id, &region.members);
        for (position, place) in region.waiting {
            let worker = &mut self.threads[position];
            let at = At { position, ..at };
            if !worker.ended && worker.end_at(at, Some(place), is_closing, spare, sink) {
                self.joined.push(position);
            }
        }
    }
}

impl Body {
    fn is_of(&self, id: RegionId) -> bool {
        matches!(self.span, Some(Span::Implicit { region, .. }) if region == id)
    }

    fn task(&self) -> Option<TaskId> {
        match self.span {
            Some(Span::Task { task }) => Some(task),
            _ => None,
        }
    }
}

impl Thread {
    /// Ends the entry at `place`, if it is there and `is` knows it, and all that lies on top of it.
    fn end_at<S: Sink>(
        &mut self,
        at: At,
        place: Option<Place>,
        is: impl Fn(&Span) -> bool,
        spare: &mut Vec<Box<Body>>,
        sink: &mut S,
    ) -> bool {
        let Some(Place { body, entry }) = place else {
            return false;
        };
        let found = self.bodies.get(body).and_then(|body| body.stack.get(entry));
        if !found.is_some_and(is) {
            return false;
        }
        self.end_bodies(at, body + 1, End::Implied, spare, sink);
        self.close(at, entry, End::Told, sink);
        true
    }

    /// Ends the bodies from the place `from` on, innermost first; that one as `how` says.
    fn end_bodies<S: Sink>(
        &mut self,
        at: At,
        from: usize,
        how: End,
        spare: &mut Vec<Box<Body>>,
        sink: &mut S,
    ) {
        let from = from.max(1);
        while self.bodies.len() > from
            && let Some(mut body) = self.bodies.pop()
        {
            let how = if self.bodies.len() == from {
                how
            } else {
                End::Implied
            };
            body.clear(at, End::Implied, sink);
            for _ in 0..std::mem::take(&mut body.taskgroups) {
                sink.end(at, &Span::Taskgroup, End::Implied);
            }
            if let Some(span) = body.span {
                if matches!(span, Span::Implicit { .. }) {
                    self.implicit = body.implicit;
                }
                sink.end(at, &span, if body.seen { how } else { End::Unseen });
            }
            if spare.len() < MAX_SPARE {
                spare.push(body);
            }
        }
    }

    /// Ends everything. Bodies below the place `keep` go on unseen.
    pub(super) fn cut<S: Sink>(&mut self, at: At, keep: usize, sink: &mut S) {
        for body in self.bodies.iter_mut().rev() {
            body.release(at, End::Cut, sink);
        }
        let mut taskgroups = 0;
        for (place, body) in self.bodies.iter_mut().enumerate().rev() {
            body.clear(at, End::Cut, sink);
            taskgroups += std::mem::take(&mut body.taskgroups);
            let Some(span) = body.span else { continue };
            match (std::mem::take(&mut body.seen), place < keep) {
                (true, true) => sink.end(at, &span, End::Kept),
                (true, false) => sink.end(at, &span, End::Cut),
                (false, true) => {}
                (false, false) => sink.end(at, &span, End::Unseen),
            }
        }
        self.bodies.truncate(keep.max(1));
        let is_implicit = |body: &Body| matches!(body.span, Some(Span::Implicit { .. }));
        let implicit = self.bodies.iter().rposition(|body| is_implicit(body));
        self.implicit = implicit.unwrap_or(0) as u32;
        for span in self.calls.drain(..).rev().chain(self.user.drain(..).rev()) {
            sink.end(at, &span, End::Cut);
        }
        for _ in 0..taskgroups {
            sink.end(at, &Span::Taskgroup, End::Cut);
        }
    }

    fn push_body<S: Sink>(
        &mut self,
        at: At,
        span: Span,
        how: Begin,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        if self.bodies.len() < MAX_DEPTH {
            let mut body = shared.spare.pop().unwrap_or_default();
            (body.span, body.seen) = (Some(span), true);
            self.enter(body);
            sink.begin(at, &span, how);
        }
    }

    fn enter(&mut self, mut body: Box<Body>) {
        if matches!(body.span, Some(Span::Implicit { .. })) {
            body.implicit = std::mem::replace(&mut self.implicit, self.bodies.len() as u32);
        }
        self.bodies.push(body);
    }

    pub(super) fn body<S: Sink>(
        &mut self,
        at: At,
        payload: &Payload<'_>,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        match *payload {
            Payload::ParallelBegin {
                seq,
                function,
                kind,
                call_site,
                ..
            } => {
                let code = Code::new(function, call_site);
                let region = RegionId {
                    thread: self.index,
                    seq,
                };
                let place = Place {
                    body: self.bodies.len() - 1,
                    entry: self.top().stack.len(),
                };
                self.open(at, Span::Parallel { region, kind, code }, sink);
                let record = Region {
                    code,
                    construct: Some(place),
                    ..Region::default()
                };
                shared.regions.insert(region, record);
            }
            Payload::ImplicitBegin { region, .. } => {
                // A worker that is in a new region has left the closing barrier of the last one.
                if region.thread != self.index {
                    while let Some(Span::Closing { .. }) = self.top().stack.last() {
                        let last = self.top().stack.len() - 1;
                        self.close(at, last, End::Implied, sink);
                    }
                }
                self.implicit_task(at, region, Begin::Told, shared, sink);
            }
            Payload::ImplicitEnd => self.implicit_end(at, shared, sink),
            Payload::TaskBegin { task } => {
                self.push_body(at, Span::Task { task }, Begin::Told, shared, sink)
            }
            Payload::TaskEnd if self.top().task().is_some() => {
                let last = self.bodies.len() - 1;
                self.end_bodies(at, last, End::Told, &mut shared.spare, sink);
            }
            Payload::TaskSuspend => self.suspend(at, shared, sink),
            Payload::TaskResume { task } => self.resume(at, task, shared, sink),
            Payload::Lost { task, region, .. } => self.lost(at, region, task, shared, sink),
            _ => {}
        }
    }

    fn implicit_task<S: Sink>(
        &mut self,
        at: At,
        region: RegionId,
        how: Begin,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        let mut code = Code::default();
        if let Some(record) = shared.regions.get_mut(&region) {
            code = record.code;
            record.members.push(at.position);
            if region.thread == self.index {
                record.implicit = Some(self.bodies.len());
            }
        }
        self.push_body(at, Span::Implicit { region, code }, how, shared, sink);
    }

    fn implicit_end<S: Sink>(&mut self, at: At, shared: &mut Shared, sink: &mut S) {
        let from = self.implicit as usize;
        let Some(Span::Implicit { region, .. }) = self.bodies[from].span else {
            return;
        };
        self.end_bodies(at, from, End::Told, &mut shared.spare, sink);
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

    /// The running task leaves: what is open in it goes with it.
    fn suspend<S: Sink>(&mut self, at: At, shared: &mut Shared, sink: &mut S) {
        let Some(task) = self.top().task() else {
            return;
        };
        let Some(mut body) = self.bodies.pop() else {
            return;
        };
        for span in body.stack.innermost().iter().rev() {
            sink.end(at, span, End::Suspended);
        }
        if std::mem::take(&mut body.seen) {
            sink.end(at, &Span::Task { task }, End::Suspended);
        }
        shared.suspended.insert(task, body);
    }

    fn resume<S: Sink>(&mut self, at: At, task: TaskId, shared: &mut Shared, sink: &mut S) {
        let span = Span::Task { task };
        let Some(mut body) = shared.suspended.remove(&task) else {
            return self.push_body(at, span, Begin::Resumed, shared, sink);
        };
        if self.bodies.len() >= MAX_DEPTH {
            return;
        }
        body.seen = true;
        sink.begin(at, &span, Begin::Resumed);
        for span in body.stack.innermost() {
            sink.begin(at, &span, Begin::Resumed);
        }
        self.enter(body);
    }

    /// Behind a gap the innermost region and explicit task are known. What lies below either of them goes on.
    fn lost<S: Sink>(
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
        self.cut(at, keep, sink);
        let mut missing = [region.is_some(), task.is_some()];
        for place in 1..self.bodies.len() {
            let body = &self.bodies[place];
            missing[0] &= !is_region(body);
            missing[1] &= !is_task(body);
        }
        if let Some(region) = region {
            match missing[0] {
                true => self.implicit_task(at, region, Begin::Found, shared, sink),
                false => self.find_again(at, is_region, sink),
            }
        }
        if let Some(task) = task {
            match missing[1] {
                true => self.push_body(at, Span::Task { task }, Begin::Found, shared, sink),
                false => self.find_again(at, is_task, sink),
            }
        }
    }

    /// A body that goes on behind a gap is seen again.
    fn find_again<S: Sink>(&mut self, at: At, is: impl Fn(&Body) -> bool, sink: &mut S) {
        if let Some(body) = self.bodies.iter_mut().rfind(|body| is(body))
            && let Some(span) = body.span
        {
            body.seen = true;
            sink.begin(at, &span, Begin::Found);
        }
    }

    /// Calls that create tasks.
    pub(super) fn creation<S: Sink>(
        &mut self,
        at: At,
        payload: &Payload<'_>,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        let own = |seq| TaskId {
            thread: self.index,
            seq,
        };
        let code = |function, flags: u32| Code::new(function, flags & task_flags::CALL_SITE != 0);
        match *payload {
            Payload::TaskCreate {
                seq,
                function,
                flags,
                ..
            } => {
                let (task, code) = (own(seq), code(function, flags));
                self.open(at, Span::Create { task, code, flags }, sink);
            }
            Payload::TaskCreated => self.close_tag(at, Tag::Create, sink),
            Payload::TaskwaitDepend { seq, nowait, .. } => {
                self.open(at, Span::WaitDepend { task: own(seq) }, sink);
                if nowait {
                    self.close_tag(at, Tag::WaitDepend, sink);
                }
            }
            Payload::TaskloopBegin {
                seq,
                function,
                flags,
                ..
            } => {
                let (task, code) = (own(seq), code(function, flags));
                shared.taskloops.insert(task, code);
                self.open(at, Span::Taskloop { task, code }, sink);
            }
            Payload::TaskloopEnd => self.close_tag(at, Tag::Taskloop, sink),
            _ => {}
        }
    }
}

impl Body {
    fn release<S: Sink>(&mut self, at: At, how: End, sink: &mut S) {
        if !self.holds.is_empty() {
            for (kind, object) in self.holds.take() {
                sink.end(at, &Span::Hold { kind, object }, how);
            }
        }
    }

    /// Ends what is open in it.
    fn clear<S: Sink>(&mut self, at: At, how: End, sink: &mut S) {
        self.release(at, how, sink);
        while let Some(span) = self.stack.pop() {
            sink.end(at, &span, how);
        }
    }
}
