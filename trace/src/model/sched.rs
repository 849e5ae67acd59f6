//! Which thread runs on which processor: from the context switches that a system recorded (RTEMS), and from what threads record
//! about themselves.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::event::Payload;
use crate::merge::Merge;
use crate::trace::{ThreadInfo, Trace};

use super::Interpreter;
use super::scheduled::Switches;
use super::sink::Sink;

/// A processor leaves one thread for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// When, ns since the trace's start.
    pub time: u64,
    /// Position of the processor in [`Trace::processor_infos`].
    pub processor: usize,
    /// The system's id of the thread that it leaves; `None`: no switch, `to` runs where the record begins.
    pub from: Option<u32>,
    /// The system's id of the thread that runs then.
    pub to: u32,
}

/// A thread ran on a processor, as far as it is known without a gap.
///
/// The thread that runs where the record begins, or that a processor's first switch leaves, has run since then; the one its last
/// switch leads to runs until the record ends. Where a switch leaves another thread than the one before led to, one is missing: that
/// time is nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Position of the processor in [`Trace::processor_infos`].
    pub processor: usize,
    /// The system's id of the thread.
    pub os_tid: u32,
    /// Its position in [`Trace::threads`]; `None`: it recorded nothing.
    pub thread: Option<usize>,
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
    number: u32,
    /// The thread that runs, where a switch to it was seen.
    running: Option<u32>,
    /// Since then: the last switch, or where the record begins or goes on after a gap.
    since: u64,
    /// The last event.
    last: u64,
}

/// An event of a processor's record.
#[derive(Clone, Copy, Debug)]
enum Step {
    Switch(Switch),
    Gap { time: u64, processor: usize },
    Other { time: u64, processor: usize },
}

impl Step {
    fn time(&self) -> u64 {
        match *self {
            Self::Switch(Switch { time, .. })
            | Self::Gap { time, .. }
            | Self::Other { time, .. } => time,
        }
    }
}

/// Takes the context switches of one trace, in order of time.
#[derive(Debug)]
pub struct Scheduler<'t> {
    merge: Merge<'t>,
    next: Option<Step>,
    processors: Vec<Processor>,
    threads: Finder,
    switches: Switches<'t>,
}

impl<'t> Scheduler<'t> {
    /// Of a trace; without records of switches it gives nothing.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn of(trace: &'t Trace) -> Result<Self, Error> {
        let processor = |info: &ThreadInfo| Processor {
            number: info.os_tid,
            running: None,
            since: info.first_time,
            last: info.first_time,
        };
        let mut scheduler = Self {
            merge: trace.switches(),
            next: None,
            processors: trace.processor_infos().iter().map(processor).collect(),
            threads: Finder::new(trace.threads()),
            switches: Switches::of(trace)?,
        };
        scheduler.fetch()?;
        Ok(scheduler)
    }

    /// Time of the next event of a processor, ns since the trace's start; `u64::MAX`: there is none.
    #[inline]
    pub fn next_time(&self) -> u64 {
        let next = self.next.as_ref().map_or(u64::MAX, Step::time);
        next.min(self.switches.next_time())
    }

    /// Takes what processors, and threads of their own switches, recorded up to `time`. `model` is the interpreter of the same trace.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    #[inline]
    pub fn advance<S: Sink>(
        &mut self,
        time: u64,
        model: &mut Interpreter,
        sink: &mut S,
    ) -> Result<(), Error> {
        while self.next_time() <= time && self.step(model, sink)? {}
        Ok(())
    }

    /// Takes the rest of the record and ends the runs that are still open.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn finish<S: Sink>(mut self, model: &mut Interpreter, sink: &mut S) -> Result<(), Error> {
        self.advance(u64::MAX, model, sink)?;
        for processor in 0..self.processors.len() {
            let Processor {
                running,
                since,
                last,
                ..
            } = self.processors[processor];
            if let Some(os_tid) = running {
                self.ran(processor, os_tid, last.max(since), false, sink);
            }
        }
        Ok(())
    }

    /// Gives the whole record to a sink that wants nothing of threads.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn replay<S: Sink>(trace: &'t Trace, sink: &mut S) -> Result<(), Error> {
        Self::of(trace)?.finish(&mut Interpreter::new(&[]), sink)
    }

    /// Takes the next event of all; false: there is none.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn step<S: Sink>(&mut self, model: &mut Interpreter, sink: &mut S) -> Result<bool, Error> {
        let Some(step) = self
            .next
            .filter(|next| next.time() <= self.switches.next_time())
        else {
            return self.switches.step(model, sink);
        };
        match step {
            Step::Switch(switch) => self.switch(switch, model, sink),
            Step::Gap { time, processor } => self.gap(time, processor, model, sink),
            Step::Other { time, processor } => self.processors[processor].last = time,
        }
        self.fetch()?;
        Ok(true)
    }

    fn switch<S: Sink>(&mut self, switch: Switch, model: &mut Interpreter, sink: &mut S) {
        let Switch {
            time,
            processor,
            from,
            to,
        } = switch;
        let before = self.processors[processor];
        if let Some(from) = from
            && before.running.is_none_or(|running| running == from)
        {
            self.ran(processor, from, time, true, sink);
        }
        let at = &mut self.processors[processor];
        // Who runs where the record begins has run since then.
        if from.is_some() || before.running.is_some() {
            at.since = time;
        }
        (at.running, at.last) = (Some(to), time);
        let number = at.number;
        for left in [from, before.running].into_iter().flatten() {
            self.leaves(left, number, time, model, sink);
        }
        if let Some(position) = self.threads.find(to, time) {
            model.runs_on(position, time, Some(number), sink);
        }
        sink.switch(&switch);
    }

    fn gap<S: Sink>(&mut self, time: u64, processor: usize, model: &mut Interpreter, sink: &mut S) {
        let Processor {
            number,
            running,
            last,
            ..
        } = self.processors[processor];
        if let Some(os_tid) = running {
            self.ran(processor, os_tid, last, false, sink);
            self.leaves(os_tid, number, time, model, sink);
        }
        let at = &mut self.processors[processor];
        (at.running, at.since, at.last) = (None, time, time);
    }

    /// The thread may have gone on elsewhere before this processor's record comes to that.
    fn leaves<S: Sink>(
        &self,
        os_tid: u32,
        number: u32,
        time: u64,
        model: &mut Interpreter,
        sink: &mut S,
    ) {
        if let Some(position) = self.threads.find(os_tid, time)
            && model.processor(position) == Some(number)
        {
            model.runs_on(position, time, None, sink);
        }
    }

    /// The thread has run since the processor's last switch.
    fn ran<S: Sink>(&self, processor: usize, os_tid: u32, end: u64, switched: bool, sink: &mut S) {
        let begin = self.processors[processor].since.min(end);
        sink.ran(&Run {
            processor,
            os_tid,
            thread: self.threads.find(os_tid, begin),
            begin,
            end,
            switched,
        });
    }

    fn fetch(&mut self) -> Result<(), Error> {
        self.next = None;
        while self.next.is_none() {
            let Some(event) = self.merge.next()? else {
                break;
            };
            let (time, payload) = (event.time, event.payload);
            let switch = match payload {
                Payload::ThreadSwitch { from, to, .. } => Some((from, to)),
                _ => None,
            };
            let gap = matches!(payload, Payload::Lost { .. });
            let processor = self.merge.position();
            let Some(processor) = processor.filter(|at| *at < self.processors.len()) else {
                continue;
            };
            self.next = Some(match switch {
                Some((from, to)) => Step::Switch(Switch {
                    time,
                    processor,
                    from: Some(from).filter(|from| *from != to),
                    to,
                }),
                None if gap => Step::Gap { time, processor },
                None => Step::Other { time, processor },
            });
        }
        Ok(())
    }
}

/// Finds threads by the system's id, which it may give again after a thread's end.
#[derive(Debug)]
struct Finder {
    /// Ends and positions, by id.
    by_id: BTreeMap<u32, Vec<(u64, usize)>>,
}

impl Finder {
    fn new(threads: &[ThreadInfo]) -> Self {
        let mut by_id: BTreeMap<u32, Vec<(u64, usize)>> = BTreeMap::new();
        for (position, info) in threads.iter().enumerate() {
            by_id
                .entry(info.os_tid)
                .or_default()
                .push((info.last_time, position));
        }
        for known in by_id.values_mut() {
            known.sort_unstable();
        }
        Self { by_id }
    }

    /// The one that had not ended at `time`; a thread may run before its first event, and after its last.
    fn find(&self, os_tid: u32, time: u64) -> Option<usize> {
        let known = self.by_id.get(&os_tid)?;
        let at = known.partition_point(|(end, _)| *end < time);
        let found = known.get(at).or(known.last());
        found.map(|(_, position)| *position)
    }
}

/// What the system calls a thread that is not in the trace, from its id alone: the threads of RTEMS' own interface (`OBJECTS_INTERNAL_API`,
/// in bits 24 to 26 of an object's id) are its idle threads, one for each processor.
pub fn is_idle(target: &str, os_tid: u32) -> bool {
    target.ends_with("-rtems") && os_tid >> 24 == 0x09
}
