//! Waits, taskgroups, and the time that the tracer itself takes.

use crate::event::{Payload, SyncKind};

use super::Thread;
use super::sink::{At, Sink};
use super::span::{Begin, End, Span};
use super::stack::Tag;

impl Thread {
    pub(super) fn wait<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        match *payload {
            Payload::SyncBegin { kind } => {
                self.end_single(at, sink);
                self.open(at, Span::Sync(kind), sink);
            }
            Payload::SyncEnd { kind } => self.end_sync(at, kind, sink),
            Payload::TaskgroupBegin => {
                self.top_mut().taskgroups += 1;
                sink.begin(at, &Span::Taskgroup, Begin::Told);
            }
            Payload::FlushBegin => self.open(at, Span::Flush, sink),
            Payload::Flush { .. } => self.close_tag(at, Tag::Flush, sink),
            _ => {}
        }
    }

    fn end_sync<S: Sink>(&mut self, at: At, kind: SyncKind, sink: &mut S) {
        if let Some(to) = self.top().stack.find_sync(kind) {
            self.close(at, to, End::Told, sink);
        }
        match kind {
            SyncKind::TaskwaitDepend => self.close_tag(at, Tag::WaitDepend, sink),
            SyncKind::TaskgroupEnd => {
                let body = self.top_mut();
                if let Some(rest) = body.taskgroups.checked_sub(1) {
                    body.taskgroups = rest;
                    sink.end(at, &Span::Taskgroup, End::Told);
                }
            }
            _ => {}
        }
    }
}
