//! Locks, critical sections and ordered blocks.

use crate::event::{MutexKind, Payload};

use super::Thread;
use super::sink::{At, Found, Mark, Sink};
use super::span::{Begin, End, Span};
use super::stack::Tag;

impl Thread {
    pub(super) fn lock<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        let (Payload::MutexAcquire { kind, object }
        | Payload::MutexAcquired { kind, object }
        | Payload::MutexFailed { kind, object }
        | Payload::MutexReleased { kind, object }
        | Payload::LockTaken { kind, object, .. }
        | Payload::LockWait { kind, object, .. }
        | Payload::LockWaited { kind, object }
        | Payload::LockBusy { kind, object, .. }) = *payload
        else {
            return;
        };
        let wanted = Span::Acquire { kind, object };
        let body = self.top();
        let mut wait = body.stack.find(Tag::Acquire);
        let answers = matches!(
            payload,
            Payload::MutexAcquired { .. }
                | Payload::MutexFailed { .. }
                | Payload::LockWaited { .. }
        );
        if let Some(to) = wait
            && !(answers && body.stack.get(to) == Some(&wanted))
        {
            // A thread that waits for a lock does nothing else with locks.
            self.close(at, to, End::Implied, sink);
            wait = None;
        }
        if S::MARKS
            && let Some((found, site)) = call(payload)
        {
            let mark = Mark::Lock {
                kind,
                object,
                site,
                found,
            };
            sink.mark(at, mark);
        }
        match *payload {
            Payload::MutexAcquire { .. } | Payload::LockWait { .. } => self.open(at, wanted, sink),
            Payload::LockTaken { .. } => self.acquired(at, None, (kind, object), sink),
            Payload::LockWaited { .. } => {
                self.acquired(at, wait, (kind, object), sink);
                self.hold_ends(at, End::Implied, (kind, object), sink);
            }
            Payload::LockBusy { .. } => {}
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
        let ended = self.hold_ends(at, End::Told, (kind, object), sink);
        // The call that gives a read-write lock back does not tell for what it was held.
        if !ended && kind == MutexKind::ReadLock {
            self.hold_ends(at, End::Told, (MutexKind::WriteLock, object), sink);
        }
    }

    /// Whether the lock was held.
    fn hold_ends<S: Sink>(
        &mut self,
        at: At,
        how: End,
        (kind, object): (MutexKind, u64),
        sink: &mut S,
    ) -> bool {
        let Some(since) = self.top_mut().holds.remove((kind, object)) else {
            return false;
        };
        let since = self.top().since(since);
        sink.end(at, &Span::Hold { kind, object }, how, since);
        true
    }
}

/// What a call of threads found the lock to be, and where it returns to.
fn call(payload: &Payload<'_>) -> Option<(Found, u64)> {
    match *payload {
        Payload::LockTaken { site, .. } => Some((Found::Free, site)),
        Payload::LockWait { site, .. } => Some((Found::Held, site)),
        Payload::LockBusy { site, .. } => Some((Found::Refused, site)),
        _ => None,
    }
}
