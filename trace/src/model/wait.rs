//! Waits, taskgroups, and the time that the tracer itself takes.

use crate::event::{Payload, SyncKind};

use super::sink::{At, Mark, Sink};
use super::span::{Begin, End, Span};
use super::stack::Tag;
use super::{MAX_DEPTH, Thread};

impl Thread {
    pub(super) fn wait<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        match *payload {
            Payload::SyncBegin { kind } => {
                if !is_for_tasks(kind) {
                    self.end_single(at, End::Implied, sink);
                }
                self.open(at, Span::Sync(kind), sink);
            }
            Payload::Wait { kind, object, site } => {
                if S::MARKS {
                    sink.mark(at, Mark::Wait { kind, object, site });
                }
                self.open(at, Span::Sync(kind), sink);
            }
            Payload::SyncEnd { kind } => self.end_sync(at, kind, sink),
            Payload::TaskgroupBegin => {
                let taskgroups = &mut self.top_mut().taskgroups;
                if taskgroups.len() < MAX_DEPTH {
                    taskgroups.push(at.time);
                    sink.begin(at, &Span::Taskgroup, Begin::Told);
                }
            }
            Payload::FlushBegin => self.open(at, Span::Flush, sink),
            Payload::Flush { .. } => self.close_tag(at, Tag::Flush, sink),
            _ => {}
        }
    }

    /// The thread ends, by an event, in what it waits for.
    pub(super) fn waited_to_the_end<S: Sink>(&mut self, at: At, sink: &mut S) {
        for body in self.bodies.iter_mut().rev() {
            let at = body.at(at);
            loop {
                let how = match body.stack.last() {
                    Some(Span::Sync(_)) => End::Told,
                    Some(Span::Acquire { .. }) => End::Refused,
                    _ => break,
                };
                if let Some((span, begin)) = body.stack.pop() {
                    sink.end(at, &span, how, body.since(begin));
                }
            }
        }
    }

    fn end_sync<S: Sink>(&mut self, at: At, kind: SyncKind, sink: &mut S) {
        if let Some(to) = self.top().stack.find_sync(kind) {
            self.close(at, to, End::Told, sink);
        }
        match kind {
            SyncKind::TaskwaitDepend => self.close_tag(at, Tag::WaitDepend, sink),
            SyncKind::TaskgroupEnd => {
                if let Some(since) = self.top_mut().taskgroups.pop() {
                    let since = self.top().since(since);
                    sink.end(at, &Span::Taskgroup, End::Told, since);
                }
            }
            _ => {}
        }
    }
}

/// Waits that a thread of a team meets by itself.
fn is_for_tasks(kind: SyncKind) -> bool {
    use SyncKind::{DoacrossSink, TaskgroupEnd, Taskwait, TaskwaitDepend, Taskyield};
    matches!(
        kind,
        Taskwait | TaskwaitDepend | TaskgroupEnd | Taskyield | DoacrossSink
    )
}
