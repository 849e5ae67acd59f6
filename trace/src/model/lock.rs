//! Locks, critical sections and ordered blocks.

use crate::event::{MutexKind, Payload};

use super::Thread;
use super::sink::{At, Sink};
use super::span::{Begin, End, Since, Span};

impl Thread {
    pub(super) fn lock<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        match *payload {
            Payload::MutexAcquire { kind, object } => {
                self.open(at, Span::Acquire { kind, object }, sink)
            }
            Payload::MutexAcquired { kind, object } => {
                let asked = self.top().stack.find_acquire((kind, object));
                if let Some(to) = asked {
                    self.close(at, to, End::Told, sink);
                }
                if self.top_mut().holds.add((kind, object), at.time) {
                    let how = asked.map_or(Begin::Found, |_| Begin::Told);
                    sink.begin(at, &Span::Hold { kind, object }, how);
                }
            }
            Payload::MutexFailed { kind, object } => {
                if let Some(to) = self.top().stack.find_acquire((kind, object)) {
                    self.close(at, to, End::Refused, sink);
                }
            }
            Payload::MutexReleased { kind, object } => self.release(at, kind, object, sink),
            _ => {}
        }
    }

    fn release<S: Sink>(&mut self, at: At, kind: MutexKind, object: u64, sink: &mut S) {
        if let Some(since) = self.top_mut().holds.remove((kind, object)) {
            let span = Span::Hold { kind, object };
            sink.end(at, &span, End::Told, Since::told(since));
        }
    }
}
