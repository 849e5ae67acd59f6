//! Which thread ran on which processor, from the context switches that a system told (RTEMS).

use crate::error::Error;
use crate::event::Payload;
use crate::merge::Merge;
use crate::trace::Trace;

/// A thread ran on a processor, as far as it is known without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Position in [`Trace::processor_infos`].
    pub processor: usize,
    /// The system's id of the thread.
    pub os_tid: u32,
    /// From, ns since the start.
    pub begin: u64,
    /// Until, ns since the start.
    pub end: u64,
    /// Whether it ended with a switch, and not with the record or at a gap in it.
    pub switched: bool,
}

/// What is known of a processor.
#[derive(Clone, Copy, Debug)]
struct Processor {
    /// The thread that runs, where a switch to it was seen.
    running: Option<u32>,
    /// Since then: the last switch, or where the record begins or goes on after a gap.
    since: u64,
    /// The last event.
    last: u64,
}

/// What an event says about its processor.
enum Told {
    Switch {
        from: u32,
        to: u32,
    },
    /// No switch: who runs where the record begins.
    Runs(u32),
    Gap,
    Nothing,
}

impl Told {
    fn by(payload: &Payload<'_>) -> Self {
        match *payload {
            Payload::ThreadSwitch { from, to, .. } if from == to => Self::Runs(to),
            Payload::ThreadSwitch { from, to, .. } => Self::Switch { from, to },
            Payload::Lost { .. } => Self::Gap,
            _ => Self::Nothing,
        }
    }
}

/// Folds the switches of a trace into runs, which come in order of their end; those of one thread follow each other.
///
/// The thread that is told to run where the record begins, or that a processor's first switch leaves, has run since then; the one its last
/// switch leads to runs until the record ends. Where a switch leaves another thread than the one before led to, one is missing: that time is nobody's.
#[derive(Debug)]
pub struct Runs<'t> {
    merge: Merge<'t>,
    processors: Vec<Processor>,
    /// Processors whose last run was given out, once all events were read.
    closed: Option<usize>,
}

impl<'t> Runs<'t> {
    /// Of a trace.
    pub fn of(trace: &'t Trace) -> Self {
        let processors = trace.processor_infos().iter().map(|info| Processor {
            running: None,
            since: info.first_time,
            last: info.first_time,
        });
        Self {
            merge: trace.switches(),
            processors: processors.collect(),
            closed: None,
        }
    }

    /// The next run; `None` at the end.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    #[allow(clippy::should_implement_trait, reason = "it may fail")]
    pub fn next(&mut self) -> Result<Option<Run>, Error> {
        while self.closed.is_none() {
            let Some((time, told)) = self
                .merge
                .next()?
                .map(|event| (event.time, Told::by(&event.payload)))
            else {
                self.closed = Some(0);
                break;
            };
            let Some(number) = self.merge.position() else {
                continue;
            };
            let Some(processor) = self.processors.get_mut(number) else {
                continue;
            };
            let before = *processor;
            let (running, run) = match told {
                Told::Switch { from, to } => {
                    let known = before.running.is_none_or(|running| running == from);
                    (Some(to), known.then_some((from, time, true)))
                }
                Told::Runs(os_tid) => {
                    processor.since = match before.running {
                        None => before.since,
                        Some(_) => time,
                    };
                    processor.running = Some(os_tid);
                    processor.last = time;
                    continue;
                }
                Told::Gap => {
                    let run = before.running.map(|os_tid| (os_tid, before.last, false));
                    (None, run)
                }
                Told::Nothing => {
                    processor.last = time;
                    continue;
                }
            };
            *processor = Processor {
                running,
                since: time,
                last: time,
            };
            if let Some((os_tid, end, switched)) = run {
                return Ok(Some(Run {
                    processor: number,
                    os_tid,
                    begin: before.since.min(end),
                    end,
                    switched,
                }));
            }
        }
        Ok(self.last_run())
    }

    fn last_run(&mut self) -> Option<Run> {
        loop {
            let number = self.closed?;
            let processor = self.processors.get(number)?;
            self.closed = Some(number + 1);
            if let Some(os_tid) = processor.running {
                return Some(Run {
                    processor: number,
                    os_tid,
                    begin: processor.since,
                    end: processor.last.max(processor.since),
                    switched: false,
                });
            }
        }
    }
}

/// What the system calls a thread that is not in the trace, from its id alone: the threads of RTEMS' own interface (`OBJECTS_INTERNAL_API`,
/// in bits 24 to 26 of an object's id) are its idle threads, one for each processor.
pub fn is_idle(target: &str, os_tid: u32) -> bool {
    target.ends_with("-rtems") && os_tid >> 24 == 0x09
}
