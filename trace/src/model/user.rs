//! The program's own events and regions, calls of described functions, functions of languages, and whatever marks a moment.

use crate::event::{DoacrossKind, Payload};

use super::sink::{At, Mark, Sink};
use super::span::{Begin, End, Since, Span};
use super::{Interpreter, MAX_DEPTH, Thread};

impl Interpreter {
    /// Recording is switched off. What is open on a thread behind its last event has ended there.
    pub(super) fn stop<S: Sink>(&mut self, at: At, sink: &mut S) {
        let lives = |last: &u64| at.time <= *last;
        for (position, thread) in self.threads.iter_mut().enumerate() {
            if self.last.get(position).is_some_and(lives) {
                let at = thread.here(At { position, ..at });
                thread.cut_own(at, sink);
            }
        }
        sink.mark(at, Mark::Tracing(false));
    }
}

impl Thread {
    /// Ends calls and the program's own regions.
    pub(super) fn cut_own<S: Sink>(&mut self, at: At, sink: &mut S) {
        let (calls, user) = (self.calls.drain(..), self.user.drain(..));
        for (span, begin) in calls.rev().chain(user.rev()) {
            sink.end(at, &span, End::Cut, Since::told(begin));
        }
        self.functions.cut(at, sink);
    }

    pub(super) fn mark<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        let mark = match *payload {
            Payload::Counter { name, value } => Mark::Counter { name, value },
            // What nobody could see names nothing: its address is shown.
            Payload::String { text, .. } if is_blank(text) => return,
            Payload::String { address, text } => Mark::Text { address, text },
            Payload::TracingOn => Mark::Tracing(true),
            Payload::StaticLoop { site } => Mark::StaticLoop { site },
            Payload::Cancel { kind, flags } => Mark::Cancel { kind, flags },
            Payload::Doacross {
                kind: DoacrossKind::Source,
                ..
            } => Mark::Post,
            Payload::Doacross { .. } => Mark::Await,
            Payload::TaskEvent { task, handle } => Mark::Detach { task, handle },
            Payload::TaskFulfill { task, handle } => Mark::Fulfill { task, handle },
            Payload::OmpAlloc {
                kind,
                address,
                bytes,
                ..
            } => Mark::Alloc {
                kind,
                address,
                bytes,
            },
            Payload::OmpFree { kind, address } => Mark::Free { kind, address },
            Payload::ThreadCreate {
                seq,
                function,
                site,
            } => Mark::CreateThread {
                seq,
                function,
                site,
            },
            Payload::ThreadCreated { error } => Mark::CreatedThread { error },
            Payload::ThreadStart {
                creator,
                seq,
                function,
                handle,
            } => Mark::StartThread {
                creator,
                seq,
                function,
                handle,
            },
            _ => return self.own_region(at, payload, sink),
        };
        sink.mark(at, mark);
    }

    fn own_region<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        let ended = match *payload {
            Payload::RegionBegin { name } => begin(at, &mut self.user, Span::User { name }, sink),
            Payload::CallBegin { name, .. } => {
                begin(at, &mut self.calls, Span::Call { name }, sink)
            }
            Payload::RegionEnd => self.user.pop(),
            Payload::CallEnd { .. } => self.calls.pop(),
            _ => {
                self.functions.event(at, payload, sink);
                None
            }
        };
        if let Some((span, since)) = ended {
            sink.end(at, &span, End::Told, Since::told(since));
        }
    }
}

fn is_blank(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control())
}

/// Ends nothing.
fn begin<S: Sink>(
    at: At,
    open: &mut Vec<(Span, u64)>,
    span: Span,
    sink: &mut S,
) -> Option<(Span, u64)> {
    if open.len() < MAX_DEPTH {
        open.push((span, at.time));
        sink.begin(at, &span, Begin::Told);
    }
    None
}
