//! Locks, critical sections and ordered blocks.

use crate::event::{MutexKind, Payload};

use super::Thread;
use super::sink::{At, Sink};
use super::span::{Begin, End, Span};

impl Thread {
    pub(super) fn lock<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        match *payload {
            Payload::MutexAcquire { kind, object } => {
                self.open(at, Span::Acquire { kind, object }, sink)
            }
            Payload::MutexAcquired { kind, object } => {
                let Some(to) = self.top().stack.find_acquire((kind, object)) else {
                    return;
                };
                self.close(at, to, End::Told, sink);
                if self.top_mut().holds.add((kind, object)) {
                    sink.begin(at, &Span::Hold { kind, object }, Begin::Told);
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
        if self.top_mut().holds.remove((kind, object)) {
            sink.end(at, &Span::Hold { kind, object }, End::Told);
        }
    }
}
