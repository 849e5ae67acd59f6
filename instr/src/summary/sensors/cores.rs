//! How many processors are busy, from the context switches of a system.

use instr_trace::switches::{Runs, is_idle};
use instr_trace::{Error, Merge, Payload, Trace};

/// A processor whose record leaves more than this share of it open is not known.
const MOST_UNKNOWN: f64 = 0.01;

/// A switch that is not yet over: time, processor, and whether the thread that it leads to is no idle one.
type Next = (u64, usize, bool);

/// Tells over time on how many processors a thread other than the system's idle ones runs.
#[derive(Debug)]
pub struct Cores<'t> {
    merge: Merge<'t>,
    target: String,
    busy: Vec<bool>,
    next: Option<Next>,
}

impl<'t> Cores<'t> {
    /// Of a trace; `None` where switches were not recorded, or not so that it is always known who runs.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn of(trace: &'t Trace) -> Result<Option<Self>, Error> {
        let (infos, target) = (trace.processor_infos(), &trace.metadata().target);
        let mut first: Vec<Option<bool>> = vec![None; infos.len()];
        let mut known = vec![0u64; infos.len()];
        let mut runs = Runs::of(trace);
        while let Some(run) = runs.next()? {
            first[run.processor].get_or_insert(!is_idle(target, run.os_tid));
            known[run.processor] += run.end - run.begin;
        }
        let is_known = |(info, known): (&instr_trace::ThreadInfo, &u64)| {
            let recorded = (info.last_time - info.first_time) as f64;
            *known > 0 && recorded - *known as f64 <= recorded * MOST_UNKNOWN
        };
        if infos.is_empty() || !infos.iter().zip(&known).all(is_known) {
            return Ok(None);
        }
        let mut cores = Self {
            merge: trace.switches(),
            target: target.clone(),
            busy: first.iter().map(|busy| *busy == Some(true)).collect(),
            next: None,
        };
        cores.fetch()?;
        Ok(Some(cores))
    }

    /// How many are busy now.
    pub fn count(&self) -> usize {
        self.busy.iter().filter(|busy| **busy).count()
    }

    /// The next switch that is not after `time`, ns: when it was. [`Cores::count`] is the number from then on.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn step(&mut self, time: u64) -> Result<Option<u64>, Error> {
        let Some((when, processor, busy)) = self.next.filter(|(when, ..)| *when <= time) else {
            return Ok(None);
        };
        self.busy[processor] = busy;
        self.fetch()?;
        Ok(Some(when))
    }

    fn fetch(&mut self) -> Result<(), Error> {
        self.next = None;
        while let Some((time, to)) = self.merge.next()?.map(|event| {
            let to = match event.payload {
                Payload::ThreadSwitch { to, .. } => Some(to),
                _ => None,
            };
            (event.time, to)
        }) {
            if let (Some(to), Some(at)) = (to, self.merge.position())
                && at < self.busy.len()
            {
                self.next = Some((time, at, !is_idle(&self.target, to)));
                break;
            }
        }
        Ok(())
    }
}
