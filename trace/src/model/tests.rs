//! What a thread's first event brings along.

use crate::event::{Event, Payload};
use crate::trace::ThreadInfo;

use super::{At, Interpreter, Scheduled, Sink};

#[derive(Default)]
struct Told {
    begins: Vec<u64>,
    processors: Vec<Option<u32>>,
    scheduled: Vec<(u64, Scheduled)>,
}

impl Sink for Told {
    const PROCESSORS: bool = true;

    fn thread_begin(&mut self, at: At) {
        self.begins.push(at.time);
    }

    fn on_cpu(&mut self, _at: At, processor: Option<u32>) {
        self.processors.push(processor);
    }

    fn scheduled(&mut self, at: At, state: Scheduled, _lost: u32) {
        self.scheduled.push((at.time, state));
    }
}

/// The system says where a thread is before its first event: that is told with the event, if the thread runs.
#[test]
fn where_a_thread_is_before_its_first_event_is_told_with_that() {
    let thread = ThreadInfo {
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
    };
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
