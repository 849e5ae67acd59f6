//! What a thread's first event brings along.

use crate::event::{Event, MutexKind, Payload, SyncKind};
use crate::trace::ThreadInfo;

use super::{At, End, Interpreter, Scheduled, Since, Sink, Span};

#[derive(Default)]
struct Told {
    begins: Vec<u64>,
    processors: Vec<Option<u32>>,
    scheduled: Vec<(u64, Scheduled)>,
    ends: Vec<(Span, End, u64)>,
}

impl Sink for Told {
    const PROCESSORS: bool = true;

    fn thread_begin(&mut self, at: At) {
        self.begins.push(at.time);
    }

    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        self.ends.push((*span, how, at.time - since.here));
    }

    fn on_cpu(&mut self, _at: At, processor: Option<u32>) {
        self.processors.push(processor);
    }

    fn scheduled(&mut self, at: At, state: Scheduled, _lost: u32) {
        self.scheduled.push((at.time, state));
    }
}

fn thread() -> ThreadInfo {
    ThreadInfo {
        index: 0,
        os_tid: 7,
        name: String::new(),
        initial: true,
        worker: false,
        first_time: 50,
        last_time: 90,
        discarded: 0,
        truncated: false,
        packets: 1,
        bytes: 0,
    }
}

/// A wait lasts until the end of its thread where that is recorded, and is not counted where the trace only stops.
#[test]
fn a_wait_ends_with_its_thread() {
    let (kind, object) = (MutexKind::Mutex, 0x10);
    let wait = Payload::Wait {
        kind: SyncKind::Condition,
        object,
        site: 0,
    };
    let ask = Payload::LockWait {
        kind,
        object,
        site: 0,
    };
    let (condition, lock) = (
        Span::Sync(SyncKind::Condition),
        Span::Acquire { kind, object },
    );
    for (begin, span, how) in [(wait, condition, End::Told), (ask, lock, End::Refused)] {
        for (told, how) in [(true, how), (false, End::Cut)] {
            let thread = thread();
            let mut model = Interpreter::new(std::slice::from_ref(&thread));
            let mut sink = Told::default();
            let last = match told {
                true => Payload::ThreadEnd,
                false => Payload::UserEvent { kind: 1, value: 2 },
            };
            for (time, payload) in [(50, begin), (90, last)] {
                let event = Event {
                    thread: 0,
                    time,
                    ticks: time,
                    payload,
                };
                model.event(0, &event, &mut sink);
            }
            model.finish(&mut sink);
            assert_eq!(sink.ends, [(span, how, 40)], "{told}");
        }
    }
}

/// The system says where a thread is before its first event: that is told with the event, if the thread runs.
#[test]
fn where_a_thread_is_before_its_first_event_is_told_with_that() {
    let thread = thread();
    for (state, expected) in [
        (Scheduled::Running, &[(50, Scheduled::Running)][..]),
        (Scheduled::Blocked, &[]),
    ] {
        let mut model = Interpreter::new(std::slice::from_ref(&thread));
        let mut told = Told::default();
        model.scheduled(0, 20, (state, Some(3), 0), &mut told);
        assert!(told.begins.is_empty() && told.scheduled.is_empty());
        let event = Event {
            thread: 0,
            time: 50,
            ticks: 50,
            payload: Payload::UserEvent { kind: 1, value: 2 },
        };
        model.event(0, &event, &mut told);
        assert_eq!(told.begins, [50]);
        assert_eq!(told.processors, [Some(3)]);
        assert_eq!(told.scheduled, expected);
    }
}
