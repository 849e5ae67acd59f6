//! Locks, critical sections and ordered blocks.

use crate::event::{MutexKind, Payload};

use super::Thread;
use super::sink::{At, Sink};
use super::span::{Begin, End, Span};
use super::stack::Tag;

impl Thread {
    pub(super) fn lock<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        let (Payload::MutexAcquire { kind, object }
        | Payload::MutexAcquired { kind, object }
        | Payload::MutexFailed { kind, object }
        | Payload::MutexReleased { kind, object }) = *payload
        else {
            return;
        };
        let wanted = Span::Acquire { kind, object };
        let body = self.top();
        let mut wait = body.stack.find(Tag::Acquire);
        let answers = matches!(
            payload,
            Payload::MutexAcquired { .. } | Payload::MutexFailed { .. }
        );
        if let Some(to) = wait
            && !(answers && body.stack.get(to) == Some(&wanted))
        {
            // A thread that waits for a lock does nothing else with locks.
            self.close(at, to, End::Implied, sink);
            wait = None;
        }
        match *payload {
            Payload::MutexAcquire { .. } => self.open(at, wanted, sink),
            Payload::MutexAcquired { .. } => self.acquired(at, wait, (kind, object), sink),
            Payload::MutexFailed { .. } => {
                if let Some(to) = wait {
                    self.close(at, to, End::Refused, sink);
                }
            }
            _ => self.release(at, kind, object, sink),
        }
    }

    /// A lock is got; `wait`: the wait for it.
    fn acquired<S: Sink>(
        &mut self,
        at: At,
        wait: Option<usize>,
        lock: (MutexKind, u64),
        sink: &mut S,
    ) {
        if !self.top().holds.has_room() {
            // What holds so many is not followed further.
            if let Some(to) = wait {
                self.close(at, to, End::Implied, sink);
            }
            return;
        }
        if let Some(to) = wait {
            self.close(at, to, End::Told, sink);
        }
        self.top_mut().holds.add(lock, at.time);
        let how = wait.map_or(Begin::Found, |_| Begin::Told);
        let (kind, object) = lock;
        sink.begin(at, &Span::Hold { kind, object }, how);
    }

    fn release<S: Sink>(&mut self, at: At, kind: MutexKind, object: u64, sink: &mut S) {
        if let Some(since) = self.top_mut().holds.remove((kind, object)) {
            let since = self.top().since(since);
            sink.end(at, &Span::Hold { kind, object }, End::Told, since);
        }
    }
}
