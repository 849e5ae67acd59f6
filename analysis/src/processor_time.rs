//! How long each thread was on a processor, and how long it waited for one, by the system's account.

use instr_trace::model::{At, Reading, Sink};

/// A reading so early in a thread's record is what the thread had before it, ns: the runtime reads no other before 10 ms.
const BEFORE: u64 = 5_000_000;

/// Of one thread, while it was recorded, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTime {
    /// On a processor.
    pub run_ns: u64,
    /// Ready to run, and waiting for a processor.
    pub wait_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    begin: u64,
    before: ProcessorTime,
    last: Option<(ProcessorTime, u64)>, // and when it was read
}

/// Keeps the readings of the threads of one trace.
#[derive(Clone, Debug)]
pub struct Collector {
    by_position: Vec<Thread>,
}

impl Collector {
    /// For so many threads.
    pub fn new(threads: usize) -> Self {
        Self {
            by_position: vec![Thread::default(); threads],
        }
    }

    /// What the thread at `position` had; `None` where it was not read at the thread's end.
    ///
    /// What a new thread waited before its record began is not known, and can be long on a busy machine: no thread waits longer than its record
    /// lasts, less the time that it ran.
    pub fn of(&self, position: usize) -> Option<ProcessorTime> {
        let thread = self.by_position.get(position)?;
        let (last, read) = thread.last?;
        let run_ns = last.run_ns.saturating_sub(thread.before.run_ns);
        let wait_ns = last.wait_ns.saturating_sub(thread.before.wait_ns);
        let not_run = read.saturating_sub(thread.begin).saturating_sub(run_ns);
        Some(ProcessorTime {
            run_ns,
            wait_ns: wait_ns.min(not_run),
        })
    }
}

impl Sink for Collector {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;
    const STATES: bool = false;
    const TIMES: bool = false;
    const READINGS: bool = true;

    fn thread_begin(&mut self, at: At) {
        if let Some(thread) = self.by_position.get_mut(at.position) {
            thread.begin = at.time;
        }
    }

    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        let Reading::ThreadTime { run_ns, wait_ns } = *reading else {
            return;
        };
        let Some(thread) = self.by_position.get_mut(at.position) else {
            return;
        };
        let time = ProcessorTime { run_ns, wait_ns };
        if at.time.saturating_sub(thread.begin) < BEFORE {
            thread.before = time;
        } else {
            thread.last = Some((time, at.time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn read(collector: &mut Collector, time: u64, run_ms: u64, wait_ms: u64) {
        let at = At {
            time,
            position: 0,
            body: u32::MAX,
        };
        collector.reading(
            at,
            &Reading::ThreadTime {
                run_ns: run_ms * MS,
                wait_ns: wait_ms * MS,
            },
        );
    }

    #[test]
    fn what_a_thread_had_before_its_record_is_not_counted() {
        let mut collector = Collector::new(1);
        collector.thread_begin(At {
            time: 7 * MS,
            position: 0,
            body: u32::MAX,
        });
        read(&mut collector, 7 * MS + 20, 30, 4);
        assert_eq!(collector.of(0), None, "its end was not seen");
        read(&mut collector, 107 * MS, 90, 14);
        let found = collector.of(0).expect("both ends");
        assert_eq!((found.run_ns, found.wait_ns), (60 * MS, 10 * MS));
        assert_eq!(collector.of(1), None);
    }

    #[test]
    fn a_thread_waits_no_longer_than_its_record_lasts() {
        let mut collector = Collector::new(1);
        collector.thread_begin(At {
            time: 50 * MS,
            position: 0,
            body: u32::MAX,
        });
        read(&mut collector, 70 * MS, 4, 54); // most of the waiting was before
        let found = collector.of(0).expect("its end");
        assert_eq!((found.run_ns, found.wait_ns), (4 * MS, 16 * MS));
    }

    #[test]
    fn a_new_thread_is_read_at_its_end_alone() {
        let mut collector = Collector::new(1);
        read(&mut collector, 20 * MS, 15, 2);
        let found = collector.of(0).expect("its end");
        assert_eq!((found.run_ns, found.wait_ns), (15 * MS, 2 * MS));
    }
}
