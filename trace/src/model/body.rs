//! Bodies of tasks, implicit and explicit: regions, creation, suspension, gaps.

use crate::event::{Deps, Payload, RegionId, TaskId, task_flags};

use super::sink::{At, Mark, Sink};
use super::span::{Begin, Code, End, NO_NUMBER, Ran, Since, Span};
use super::stack::{Holds, Stack, Tag};
use super::{Interpreter, MAX_DEPTH, Shared, Thread};

/// Locks, and taskgroups, that a suspended task takes along, and tasks below the running one among which one is looked for: more are
/// damage.
const MAX_CARRIED: usize = 16;

/// A running task of any kind.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// See [`At::body`].
    pub(super) number: u32,
    /// Nothing for the initial task.
    span: Option<Span>,
    pub(super) stack: Stack,
    pub(super) holds: Holds,
    /// Begins of open taskgroups.
    pub(super) taskgroups: Vec<u64>,
    /// Places of the next implicit and of the next explicit task outwards on the thread.
    implicit: u32,
    explicit: u32,
    /// Its begin has been given, and not its end: see [`End::Kept`].
    seen: bool,
    /// Of a suspended task: the innermost region on the thread that it left.
    region: Option<RegionId>,
    times: Times,
}

/// Of a body.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    /// Its begin; `None`: lost.
    first: Option<u64>,
    /// When its begin was given last.
    here: u64,
    /// It has been on its thread since then.
    since: u64,
    /// How long it was on threads before that.
    before: u64,
    /// How long other explicit tasks ran on top of it.
    inner: u64,
}

impl Times {
    /// Of a body that begins.
    fn new(now: u64, how: Begin) -> Self {
        Self {
            first: (how == Begin::Told).then_some(now),
            here: now,
            since: now,
            ..Self::default()
        }
    }

    fn here(&self) -> Since {
        Since {
            here: self.here,
            first: self.first,
        }
    }

    /// Time on its thread since it begun or was resumed.
    fn stay(&self, now: u64) -> u64 {
        now.saturating_sub(self.since)
    }

    fn ran(&self, now: u64) -> Ran {
        let whole = self.before.saturating_add(self.stay(now));
        Ran {
            whole,
            own: whole.saturating_sub(self.inner),
        }
    }
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

impl Shared {
    /// A body with nothing in it.
    fn body(&mut self) -> Box<Body> {
        self.spare.pop().unwrap_or_else(|| {
            self.bodies += 1;
            Body::new(self.bodies - 1)
        })
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

    fn is_of(&self, id: RegionId) -> bool {
        matches!(self.span, Some(Span::Implicit { region, .. }) if region == id)
    }

    fn task(&self) -> Option<TaskId> {
        match self.span {
            Some(Span::Task { task, .. }) => Some(task),
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

    /// Ends the bodies from the place `from` on, innermost first; that one as `how` says.
    fn end_bodies<S: Sink>(
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
    fn left(&mut self, body: &Body, now: u64) {
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
        let (calls, user) = (self.calls.drain(..), self.user.drain(..));
        for (span, begin) in calls.rev().chain(user.rev()) {
            sink.end(at, &span, End::Cut, Since::told(begin));
        }
        for (at, since) in taskgroups {
            sink.end(at, &Span::Taskgroup, End::Cut, since);
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
            let mut body = shared.body();
            (body.span, body.seen) = (Some(span), true);
            body.times = Times::new(at.time, how);
            let at = body.at(at);
            self.enter(body);
            sink.begin(at, &span, how);
            sink.body(at, Some(&span));
        }
    }

    fn enter(&mut self, mut body: Box<Body>) {
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

    /// Whether the task is among the innermost ones here.
    fn runs(&self, task: TaskId) -> bool {
        let innermost = self.bodies.iter().rev().take(MAX_CARRIED);
        innermost
            .filter_map(|body| body.task())
            .any(|other| other == task)
    }

    /// The span of an explicit task that is met for the first time.
    fn task<S: Sink>(&self, task: TaskId, shared: &mut Shared) -> Span {
        let code = match S::TASK_CODES {
            true => shared.take_code(task),
            false => Code::default(),
        };
        let stack = &self.top().stack;
        let creating = stack.find(Tag::Create).and_then(|at| stack.get(at));
        Span::Task {
            task,
            code,
            undeferred: matches!(creating, Some(Span::Create { task: own, .. }) if *own == task),
        }
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
            Payload::ImplicitBegin {
                region, thread_num, ..
            } => {
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
            Payload::ImplicitEnd => self.implicit_end(at, shared, sink),
            Payload::TaskBegin { task } if shared.begins(task) => {
                let span = self.task::<S>(task, shared);
                self.push_body(at, span, Begin::Told, shared, sink);
            }
            Payload::TaskEnd if self.top().task().is_some() => {
                let last = self.bodies.len() - 1;
                self.end_bodies(at, last, End::Told, shared, sink);
            }
            Payload::TaskSuspend => self.suspend(at, shared, sink),
            Payload::TaskResume { task } => self.resume(at, task, shared, sink),
            Payload::Lost { task, region, .. } => self.lost(at, region, task, shared, sink),
            _ => {}
        }
    }

    /// The span of an implicit task that begins, which is entered into the record of its region.
    fn implicit_task(
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

    fn implicit_end<S: Sink>(&mut self, at: At, shared: &mut Shared, sink: &mut S) {
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

    /// The running task leaves: what is open in it goes with it.
    fn suspend<S: Sink>(&mut self, at: At, shared: &mut Shared, sink: &mut S) {
        let Some(task) = self.top().task() else {
            return;
        };
        let Some(mut body) = self.bodies.pop() else {
            return;
        };
        body.suspend(at, sink);
        self.left(&body, at.time);
        let stay = body.times.stay(at.time);
        body.times.before = body.times.before.saturating_add(stay);
        if std::mem::take(&mut body.seen)
            && let Some(span) = body.span
        {
            sink.end(at, &span, End::Suspended, body.times.here());
        }
        sink.body(self.here(at), self.top().span());
        body.region = match self.bodies[self.implicit as usize].span {
            Some(Span::Implicit { region, .. }) => Some(region),
            _ => None,
        };
        shared.suspended.insert(task, body);
    }

    fn resume<S: Sink>(&mut self, at: At, task: TaskId, shared: &mut Shared, sink: &mut S) {
        let Some(mut body) = shared.suspended.remove(&task) else {
            if !shared.ended.contains(task) && !self.runs(task) {
                shared.begins(task);
                let span = self.task::<S>(task, shared);
                self.push_body(at, span, Begin::Resumed, shared, sink);
            }
            return;
        };
        let is_over = |region| !shared.regions.contains_key(&region);
        if self.bodies.len() >= MAX_DEPTH || body.region.is_some_and(is_over) {
            shared.ended.insert(task);
            return;
        }
        (body.seen, body.times.here, body.times.since) = (true, at.time, at.time);
        let at = body.at(at);
        if let Some(span) = &body.span {
            sink.begin(at, span, Begin::Resumed);
        }
        body.resume(at, sink);
        sink.body(at, body.span());
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
                    let span = self.task::<S>(task, shared);
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
            Payload::TaskDepend { seq, deps } => depend(at, own(seq), deps, sink),
            Payload::TaskCreate {
                seq,
                function,
                flags,
                deps,
            } if shared.created.insert(own(seq)) => {
                depend(at, own(seq), deps, sink);
                let (task, code) = (own(seq), code(function, flags));
                if S::TASK_CODES {
                    shared.set_code(task, code);
                }
                self.open(at, Span::Create { task, code, flags }, sink);
            }
            Payload::TaskCreated => self.close_tag(at, Tag::Create, sink),
            Payload::TaskwaitDepend { seq, nowait, deps } if shared.created.insert(own(seq)) => {
                let task = own(seq);
                depend(at, task, deps, sink);
                self.open(at, Span::WaitDepend { task, nowait }, sink);
                if nowait {
                    self.close_tag(at, Tag::WaitDepend, sink);
                }
            }
            Payload::TaskloopBegin {
                seq,
                function,
                flags,
                ..
            } if shared.created.insert(own(seq)) => {
                let (task, code) = (own(seq), code(function, flags));
                shared.taskloops.insert(task, code);
                self.open(at, Span::Taskloop { task, code, flags }, sink);
            }
            Payload::TaskloopTask { taskloop, seq, .. } if shared.created.insert(own(seq)) => {
                let task = own(seq);
                let code = shared.taskloops.get(taskloop).copied().unwrap_or_default();
                if S::TASK_CODES {
                    shared.set_code(task, code);
                }
                if S::MARKS {
                    let mark = Mark::Piece {
                        taskloop,
                        task,
                        code,
                    };
                    sink.mark(at, mark);
                }
            }
            Payload::TaskloopEnd => self.close_tag(at, Tag::Taskloop, sink),
            _ => {}
        }
    }
}

fn depend<S: Sink>(at: At, task: TaskId, entries: Deps<'_>, sink: &mut S) {
    if S::MARKS && entries.len() > 0 {
        sink.mark(at, Mark::Depend { task, entries });
    }
}

impl Body {
    /// Gives all locks back. A wait for a further one is over before that.
    fn release<S: Sink>(&mut self, at: At, how: End, sink: &mut S) {
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
    fn suspend<S: Sink>(&mut self, at: At, sink: &mut S) {
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
    fn resume<S: Sink>(&mut self, at: At, sink: &mut S) {
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
    fn clear<S: Sink>(&mut self, at: At, how: End, sink: &mut S) {
        self.release(at, how, sink);
        while let Some((span, begin)) = self.stack.pop() {
            sink.end(at, &span, how, self.since(begin));
        }
    }
}
