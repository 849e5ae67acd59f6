//! Explicit tasks: creation, begin, suspension.

use crate::event::{Deps, Payload, TaskId, task_flags};

use super::body::MAX_CARRIED;
use super::sink::{At, Mark, Sink};
use super::span::{Begin, Code, End, Span};
use super::stack::Tag;
use super::{MAX_DEPTH, Shared, Thread};

impl Thread {
    /// Whether the task is among the innermost ones here.
    fn runs(&self, task: TaskId) -> bool {
        let innermost = self.bodies.iter().rev().take(MAX_CARRIED);
        innermost
            .filter_map(|body| body.task())
            .any(|other| other == task)
    }

    /// The span of an explicit task that is met for the first time.
    pub(super) fn task_span<S: Sink>(&self, task: TaskId, shared: &mut Shared) -> Span {
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

    pub(super) fn task_begin<S: Sink>(
        &mut self,
        at: At,
        task: TaskId,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        if shared.begins(task) {
            let span = self.task_span::<S>(task, shared);
            self.push_body(at, span, Begin::Told, shared, sink);
        }
    }

    pub(super) fn task_end<S: Sink>(&mut self, at: At, shared: &mut Shared, sink: &mut S) {
        if self.top().task().is_some() {
            let last = self.bodies.len() - 1;
            self.end_bodies(at, last, End::Told, shared, sink);
        }
    }

    /// The running task leaves: what is open in it goes with it.
    pub(super) fn suspend<S: Sink>(&mut self, at: At, shared: &mut Shared, sink: &mut S) {
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

    pub(super) fn resume<S: Sink>(
        &mut self,
        at: At,
        task: TaskId,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        let Some(mut body) = shared.suspended.remove(&task) else {
            if !shared.ended.contains(task) && !self.runs(task) {
                shared.begins(task);
                let span = self.task_span::<S>(task, shared);
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
