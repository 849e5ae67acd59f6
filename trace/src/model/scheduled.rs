//! What the system does with each thread, where threads have records of their own context switches (Linux).

use crate::error::Error;
use crate::event::{Payload, ScheduledKind};
use crate::merge::Merge;
use crate::trace::Trace;

use super::Interpreter;
use super::launched::Launched;
use super::sink::Sink;

/// What the system does with a thread. At first nothing is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheduled {
    /// Not recorded; also where records are missing.
    #[default]
    Unknown,
    /// On a processor.
    Running,
    /// It could run, and waits for a processor: it was preempted, or gave the processor away; behind [`Scheduled::Blocked`], it was woken.
    Ready,
    /// It sleeps or waits for something. Where the records do not have who was woken when, the end of that time, when it is ready again and has no
    /// processor yet, is not told apart.
    Blocked,
}

/// A change of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) time: u64,
    pub(super) position: usize,
    pub(super) state: Scheduled,
    pub(super) processor: Option<u32>,
    /// Records that the system lost up to the next one.
    pub(super) lost: u32,
}

/// The threads' own records, or the launcher's, in order of time.
#[derive(Debug)]
pub(super) struct Switches<'t> {
    launched: Option<Launched>,
    merge: Merge<'t>,
    /// Of the streams' threads.
    positions: Vec<Option<usize>>,
    next: Option<Step>,
}

impl<'t> Switches<'t> {
    pub(super) fn of(trace: &'t Trace) -> Result<Self, Error> {
        let infos = trace.switch_infos().iter();
        let mut switches = Self {
            launched: Launched::of(trace)?,
            merge: trace.thread_switches(),
            positions: infos.map(|info| trace.position(info.index)).collect(),
            next: None,
        };
        switches.fetch()?;
        Ok(switches)
    }

    /// Time of the next change; `u64::MAX`: there is none.
    #[inline]
    pub(super) fn next_time(&self) -> u64 {
        self.next.as_ref().map_or(u64::MAX, |step| step.time)
    }

    /// Takes the next change; false: there is none.
    pub(super) fn step<S: Sink>(
        &mut self,
        model: &mut Interpreter,
        sink: &mut S,
    ) -> Result<bool, Error> {
        let Some(step) = self.next else {
            return Ok(false);
        };
        let Step {
            time, processor, ..
        } = step;
        model.scheduled(
            step.position,
            time,
            (step.state, processor, step.lost),
            sink,
        );
        self.fetch()?;
        Ok(true)
    }

    fn fetch(&mut self) -> Result<(), Error> {
        self.next = match &mut self.launched {
            Some(launched) => launched.next()?,
            None => None,
        };
        while self.next.is_none() {
            let Some(event) = self.merge.next()? else {
                break;
            };
            let (time, change) = (event.time, change(&event.payload));
            let position = self
                .merge
                .position()
                .and_then(|at| *self.positions.get(at)?);
            if let (Some(position), Some((state, processor, lost))) = (position, change) {
                self.next = Some(Step {
                    time,
                    position,
                    state,
                    processor,
                    lost,
                });
            }
        }
        Ok(())
    }
}

/// State, processor and records lost that an event tells.
fn change(payload: &Payload<'_>) -> Option<(Scheduled, Option<u32>, u32)> {
    Some(match *payload {
        Payload::Scheduled { state, number } => match state {
            ScheduledKind::Running => {
                let processor = Some(number).filter(|number| *number != u32::MAX);
                (Scheduled::Running, processor, 0)
            }
            ScheduledKind::Ready => (Scheduled::Ready, None, 0),
            ScheduledKind::Blocked => (Scheduled::Blocked, None, 0),
            _ => (Scheduled::Unknown, None, number),
        },
        Payload::Lost { .. } => (Scheduled::Unknown, None, 0),
        _ => return None,
    })
}
