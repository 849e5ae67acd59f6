//! Series that `instr run --config` read beside the time line, as events: levels as they were read, totals as what they grew by since the reading before.
//!
//! Series of a process or of a thread are on its row where the trace has it; all others are on the first row of the run.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::Write;

use crate::error::Error;
use crate::kernel::series::{Definition, Events, Nature, Scope, Unit, What};
use crate::session::{Session, Shift};

use super::events::At;
use super::out::Records;
use super::readings::{Readings, label};
use super::rows::Rows;

/// A series that was defined.
struct Series {
    row: usize,
    kind: u32,
    is_total: bool,
    last: u64,
}

/// The series of a run.
struct Run {
    events: Events,
    all: Vec<Series>,
    /// The value that is written next: time in the output, number of the series, value.
    value: (u64, usize, u64),
    process: usize,
    /// The first process of its run.
    root: usize,
    /// `CLOCK_MONOTONIC` of the trace's start, ns.
    start: u64,
    shift: Shift,
}

/// Rows by the system's numbers: the first of each process, and that of each of its threads.
#[derive(Default)]
struct Places {
    /// By the first process of the run, and the number: on another host, or later, that is another one's.
    processes: HashMap<(usize, u32), usize>,
    threads: HashMap<(usize, u32, u32), usize>,
}

/// The series of all runs in order of time.
pub(super) struct AllSeries {
    runs: Vec<Run>,
    /// (time in the output, run) of the next value of each run that has one.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    places: Places,
    /// Behind it there are no records.
    end: u64,
    /// Time of the next value of all; `u64::MAX`: there is none.
    pub(super) next: u64,
}

impl AllSeries {
    pub(super) fn new(
        session: &Session,
        rows: &Rows,
        readings: &mut Readings,
    ) -> Result<Self, Error> {
        let mut all = Self {
            runs: Vec::new(),
            heap: BinaryHeap::new(),
            places: Places::default(),
            end: rows.end,
            next: u64::MAX,
        };
        let number = |wide: u64| u32::try_from(wide).unwrap_or(0);
        for (process, trace) in session.traces().iter().enumerate() {
            let pid = number(trace.metadata().pid);
            let (first, root) = (rows.first[process], session.root(process));
            // Of a process whose streams cannot be read there is no row.
            if !trace.threads().is_empty() {
                all.places.processes.entry((root, pid)).or_insert(first);
            }
            for (position, thread) in trace.threads().iter().enumerate() {
                let thread = (root, pid, number(thread.os_tid.into()));
                all.places.threads.entry(thread).or_insert(first + position);
            }
        }
        for (process, trace) in session.traces().iter().enumerate() {
            // A process without events has no row.
            let Some(events) = Events::of_trace(trace.dir())? else {
                continue;
            };
            all.runs.push(Run {
                events,
                all: Vec::new(),
                value: (0, 0, 0),
                process,
                root: session.root(process),
                start: trace.metadata().start_monotonic_ns,
                shift: rows.shift[process],
            });
            all.advance(all.runs.len() - 1, rows, readings)?;
        }
        Ok(all)
    }

    /// Takes the events of a run up to its next value.
    fn advance(&mut self, at: usize, rows: &Rows, readings: &mut Readings) -> Result<(), Error> {
        let run = &mut self.runs[at];
        while let Some(event) = run.events.next()? {
            let (series, value) = match event.what {
                What::Series(_, definition) => {
                    let found = self.places.of(run.root, &definition);
                    let first = rows.first[run.process].min(rows.rows.len().saturating_sub(1));
                    let text = text(&definition, found.is_some());
                    run.all.push(Series {
                        row: found.unwrap_or(first),
                        kind: readings.series_type(&text),
                        is_total: definition.nature == Nature::Total,
                        last: 0,
                    });
                    continue;
                }
                What::Value(series, value) | What::Estimate { series, value, .. } => {
                    (series as usize, value)
                }
                What::Refused(..) | What::Readings { .. } => continue,
            };
            let time = event.time.saturating_sub(run.start);
            let time = run.shift.output(time).min(self.end);
            run.value = (time, series, value);
            self.heap.push(Reverse((time, at)));
            break;
        }
        self.next = self.heap.peek().map_or(u64::MAX, |next| next.0.0);
        Ok(())
    }

    /// Writes the next value of all.
    pub(super) fn step<W: Write>(
        &mut self,
        rows: &Rows,
        readings: &mut Readings,
        records: &mut Records<'_, W>,
    ) -> Result<(), Error> {
        let Some(Reverse((time, at))) = self.heap.pop() else {
            return Ok(());
        };
        let (_, number, value) = self.runs[at].value;
        if let Some(series) = self.runs[at].all.get_mut(number) {
            let shown = match series.is_total {
                true => value.saturating_sub(series.last),
                false => value,
            };
            series.last = value;
            let mut to = At {
                records,
                row: series.row,
                time,
            };
            to.put(series.kind, shown);
        }
        self.advance(at, rows, readings)
    }
}

impl Places {
    /// The row of the process or the thread that a series is of.
    fn of(&self, root: usize, of: &Definition) -> Option<usize> {
        match of.scope {
            Scope::Process => self.processes.get(&(root, of.pid)).copied(),
            Scope::Thread => self.threads.get(&(root, of.pid, of.number)).copied(),
            Scope::Machine | Scope::Node | Scope::Processor | Scope::Tree => None,
        }
    }
}

/// The label of its type.
fn text(of: &Definition, own_row: bool) -> String {
    let unit = match of.unit {
        Unit::Count => "",
        other => other.sign(),
    };
    label(
        &of.described(own_row),
        unit,
        1.0,
        of.nature == Nature::Total,
    )
}
