//! On which processor each thread runs: from context switches, and from what threads tell at their own events.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use crate::error::Error;
use crate::event::Payload;
use crate::merge::Merge;
use crate::trace::Trace;

use super::events::At;
use super::rows::{Cpus, Rows};
use super::types::{EXECUTING_CPU, PROCESSOR};

/// Processors that get a label.
const MAX_LABELS: usize = 4096;

/// A switch to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch {
    pub(super) time: u64,
    process: usize,
    processor: u32,
    from: u32,
    to: u32,
}

/// The switches of one process, and the rows of its threads by the system's id.
struct Process<'t> {
    switches: Merge<'t>,
    shift: u64,
    rows: BTreeMap<u32, Vec<usize>>,
    next: Option<Switch>,
}

/// A row.
#[derive(Clone, Copy, Debug, Default)]
struct OnCpu {
    now: Option<u32>,
    /// What was written last, if anything was.
    written: Option<Option<u32>>,
    /// The processors in the numbers of the output, where they are known.
    cpus: Option<Cpus>,
}

/// Writes the events.
pub(super) struct Processors<'t> {
    processes: Vec<Process<'t>>,
    rows: Vec<OnCpu>,
    /// Time of the next switch of all.
    pub(super) next: u64,
    /// Numbers that were met.
    seen: BTreeSet<u32>,
}

impl<'t> Processors<'t> {
    pub(super) fn new(traces: &'t [Trace], rows: &Rows) -> Result<Self, Error> {
        let mut all = Self {
            processes: Vec::new(),
            rows: rows
                .rows
                .iter()
                .map(|row| OnCpu {
                    cpus: row.cpus,
                    ..OnCpu::default()
                })
                .collect(),
            next: u64::MAX,
            seen: BTreeSet::new(),
        };
        for (process, trace) in traces.iter().enumerate() {
            let mut by_id: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for (position, thread) in trace.threads().iter().enumerate() {
                let row = rows.first[process] + position;
                by_id.entry(thread.os_tid).or_default().push(row);
            }
            all.processes.push(Process {
                switches: trace.switches(),
                shift: rows.shift[process],
                rows: by_id,
                next: None,
            });
            all.advance(process)?;
        }
        Ok(all)
    }

    fn advance(&mut self, process: usize) -> Result<(), Error> {
        let of = &mut self.processes[process];
        of.next = None;
        while let Some(event) = of.switches.next()? {
            if let Payload::ThreadSwitch {
                processor,
                from,
                to,
            } = event.payload
            {
                of.next = Some(Switch {
                    time: event.time.saturating_add(of.shift),
                    process,
                    processor,
                    from,
                    to,
                });
                break;
            }
        }
        let times = self.processes.iter().filter_map(|of| Some(of.next?.time));
        self.next = times.min().unwrap_or(u64::MAX);
        Ok(())
    }

    /// Takes the next switch of all; its threads' rows are then to be [written](Self::write).
    pub(super) fn take(&mut self) -> Result<Option<(u64, Vec<usize>)>, Error> {
        let nexts = self.processes.iter().filter_map(|of| of.next);
        let Some(switch) = nexts.min_by_key(|next| next.time) else {
            return Ok(None);
        };
        let rows_of = |id| {
            let rows = &self.processes[switch.process].rows;
            rows.get(&id).cloned().unwrap_or_default()
        };
        let (left, entered) = (rows_of(switch.from), rows_of(switch.to));
        for row in &left {
            // It may have gone on elsewhere before this processor came to tell.
            if self.rows[*row].now == Some(switch.processor) {
                self.rows[*row].now = None;
            }
        }
        for row in &entered {
            self.set(*row, switch.processor);
        }
        self.advance(switch.process)?;
        Ok(Some((switch.time, [left, entered].concat())))
    }

    /// The row's thread tells its processor.
    pub(super) fn set(&mut self, row: usize, processor: u32) {
        self.rows[row].now = Some(processor);
        if self.seen.len() < MAX_LABELS {
            self.seen.insert(processor);
        }
    }

    /// Writes where the thread of `to` runs, if that is news.
    pub(super) fn write<W: Write>(&mut self, to: &mut At<'_, '_, W>) {
        let row = &mut self.rows[to.row];
        if row.written == Some(row.now) || (row.written.is_none() && row.now.is_none()) {
            return;
        }
        row.written = Some(row.now);
        if let Some(cpus) = row.cpus {
            let cpu = row.now.map_or(0, |processor| cpus.number(processor));
            to.records.processor(to.row, to.time, cpu);
        }
        match row.now {
            Some(processor) => {
                to.put(EXECUTING_CPU, u64::from(processor));
                to.put(PROCESSOR, u64::from(processor) + 1);
            }
            None => to.put(PROCESSOR, 0),
        }
    }

    /// The row ends.
    pub(super) fn end<W: Write>(&mut self, to: &mut At<'_, '_, W>) {
        if self.rows[to.row].written.is_some() {
            self.rows[to.row].now = None;
            self.write(to);
        }
    }

    /// Labels of the values of [`PROCESSOR`]; empty when nothing was told.
    pub(super) fn labels(&self) -> Vec<(u32, String)> {
        let names = self.seen.iter().filter_map(|number| {
            let value = number.checked_add(1)?;
            Some((value, format!("CPU {number}")))
        });
        names.collect()
    }
}
