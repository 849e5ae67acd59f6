//! Paraver output: `.prv` (records), `.pcf` (labels), `.row` (objects), with the numbers and labels of Extrae.
//!
//! Event types of our own are in a range nobody else uses: 20000000 user regions, 20000001 calls of described functions,
//! 20000002 inferred static loops, 20000003 and 20000004 cancellation, 20000005 doacross loops, 20000006 waits that Extrae has no
//! type for, 20000007 and 20000008 detach events, 20000009 functions of `target` regions, 20000030 the processor of
//! a thread, 20000031 what the system does with it, 20000100 + n the n-th counter,
//! 22000000 + n sensors, and counters of threads without a number of PAPI. Communications have the tag [`TAG_CREATE`] (creation of a task to its execution, as Extrae
//! writes it) or [`TAG_DEPEND`] (end of a task to the begin of a task that depends on it); the size is the number of the task
//! that begins, which is also the value of its task identifier events. State 2 is a thread before its first and after its last
//! event. Where context switches are known, a record's processor is the one that ran the thread then, 0 while none did; else each thread
//! has one of its own, as in Extrae's files.
//!
//! The records are written in one pass over the merged events, in bounded memory: a state that is open for long is split.
//! Communications take a cheaper pass before.

mod background;
mod comm_lines;
mod communications;
mod constructs;
mod events;
mod heap;
mod line;
mod names;
mod out;
mod pcf;
mod processors;
mod readings;
mod rows;
mod samples;
mod series;
mod sorter;
mod tasks;
mod types;

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::thread;

use crate::error::Error;
use crate::event::Event;
use crate::model::{Interpreter, Sink, pays_apart, relayed};
use crate::names::Names;
use crate::new_file::NewFile;
use crate::session::{Session, SessionMerge};
use crate::trace::Trace;

pub use types::{TAG_CREATE, TAG_DEPEND};

use background::Background;
use comm_lines::CommLines;
use communications::Collector;
use events::{Events, Output};
use names::NameTables;
use out::Records;
use processors::Processors;
use readings::Readings;
use rows::Rows;
use series::AllSeries;

/// Which communications are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Comms {
    /// None.
    None,
    /// Creation of a task to its execution.
    Create,
    /// End of a task to the begin of its successors.
    Depend,
    /// Both.
    #[default]
    All,
}

impl Comms {
    fn create(self) -> bool {
        matches!(self, Self::Create | Self::All)
    }

    fn depend(self) -> bool {
        matches!(self, Self::Depend | Self::All)
    }
}

/// How to write.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Which communications are written.
    pub comms: Comms,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The three files: `.prv`, `.pcf`, `.row`.
    pub files: Vec<PathBuf>,
    /// Raw events read.
    pub raw_events: u64,
    /// State records.
    pub states: u64,
    /// Pairs of event type and value.
    pub events: u64,
    /// Communications from creation to execution.
    pub creations: u64,
    /// Communications along dependences.
    pub depends: u64,
    /// Tasks seen, taskloops among them.
    pub tasks: u64,
    /// Packets that ended in damage.
    pub damaged_packets: u64,
}

/// Raw events between two calls of the progress function.
const PROGRESS_STEP: u64 = 1 << 16;

/// Writes `session` (a Paraver task for each process) to `out_base` with `.prv`, `.pcf` and `.row` appended. `names` are the symbols of
/// each process; missing ones leave addresses. `progress` is called now and then with (done, total), in bytes of raw
/// trace. The files appear under their names only when all is written.
pub fn write<'a>(
    session: &'a Session,
    names: &'a [Box<dyn Names + 'a>],
    options: &Options,
    out_base: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Stats, Error> {
    let traces = session.traces();
    let rows = Rows::new(session);
    let outputs = Outputs::create(out_base)?;
    if rows.rows.is_empty() {
        return Err(Error::no_events(traces));
    }
    let with_comms = options.comms != Comms::None && traces.iter().any(Trace::has_tasks);
    let mut progress = Progress::new(traces, if with_comms { 2 } else { 1 }, progress);
    let mut stats = Stats {
        files: outputs.paths(),
        ..Stats::default()
    };
    let mut sorted = None;
    if with_comms {
        let mut collector = Collector::new(options.comms, &outputs.dir, &rows);
        let apart = pays_apart(traces.iter().map(Trace::bytes).sum());
        relayed(&mut collector, apart, Collector::wants, |sink| {
            communicate(session, sink, &mut progress)
        })?;
        let found = collector.finish()?;
        (stats.creations, stats.depends) = (found.0, found.1);
        sorted = Some(found.2);
        progress.next_pass();
    }
    let (events, labels, processors) = thread::scope(|scope| {
        let prv = &outputs.files[0].1;
        let communications = sorted.map(|sorted| CommLines::new(scope, sorted, &rows.rows, prv));
        let communications = communications.transpose()?;
        let out = (&outputs, &rows, communications);
        write_records(session, names, out, &mut stats, &mut progress)
    })?;
    stats.tasks = events.tasks.iter().map(tasks::Tasks::count).sum();
    outputs.write(1, |out| {
        pcf::write(out, &events.names, &labels, (&processors, events.scheduled))
    })?;
    outputs.write(2, |out| rows.names(out))?;
    outputs.publish()?;
    progress.finish();
    Ok(stats)
}

/// The pass that finds communications.
fn communicate<S: Sink>(
    session: &Session,
    sink: &mut S,
    progress: &mut Progress<'_>,
) -> Result<(), Error> {
    let mut models: Vec<_> = session.traces().iter().map(Interpreter::of).collect();
    let mut all = session.merge()?;
    let mut last = None;
    while let Some((process, _)) = all.advance()? {
        if let (Some(position), Some(event)) = (all.position(), &all.current()) {
            if last.replace(process) != Some(process) {
                sink.process(process);
            }
            models[process].event(position, event, sink);
        }
        progress.event(&all);
    }
    Ok(())
}

/// Numbers and their labels.
type Labels = Vec<(u32, String)>;

/// Writes the `.prv` file; gives what its numbers mean, of readings and processors apart.
fn write_records<'n>(
    session: &Session,
    names: &'n [Box<dyn Names + 'n>],
    (outputs, rows, communications): (&Outputs, &Rows, Option<CommLines>),
    stats: &mut Stats,
    progress: &mut Progress<'_>,
) -> Result<(Events<'n>, Labels, Labels), Error> {
    let traces = session.traces();
    let prv = &outputs.files[0].1;
    let failed = |error| Error::io("write", prv)(error);
    let mut file = Background::new(outputs.files[0].0.file().try_clone().map_err(failed)?);
    rows.header(&mut file).map_err(failed)?;
    let mut readings = Readings::new(traces);
    let mut writer = Writer {
        rows,
        series: AllSeries::new(session, rows, &mut readings)?,
        events: Events::new(NameTables::new(names), readings, &rows.rows, traces.len()),
        models: traces.iter().map(Interpreter::of).collect(),
        records: Records::new(file, &rows.rows),
        processors: Processors::new(traces, rows)?,
        threads: traces.iter().map(|trace| trace.threads().len()).collect(),
        ends: Ends::new(rows),
        communications,
    };
    let mut all = session.merge()?;
    while let Some((process, time)) = all.advance()? {
        if let (Some(position), Some(event)) = (all.position(), &all.current()) {
            writer.event(process, position, time, event)?;
        }
        writer
            .records
            .drain(time)
            .map_err(|error| Error::io("write", prv)(error))?;
        progress.event(&all);
    }
    stats.raw_events = all.events();
    stats.damaged_packets = all.damaged();
    let (states, events, found) = writer.finish(prv)?;
    (stats.states, stats.events) = (states, events);
    let (labels, processors) = (found.readings.labels(), found.processor_labels());
    Ok((found, labels, processors))
}

/// The pass that writes records.
struct Writer<'r, 'n> {
    rows: &'r Rows,
    events: Events<'n>,
    models: Vec<Interpreter>,
    records: Records<'r, Background>,
    processors: Processors<'r>,
    series: AllSeries,
    /// Threads of each process.
    threads: Vec<usize>,
    ends: Ends,
    communications: Option<CommLines>,
}

impl<'r, 'n> Writer<'r, 'n> {
    #[inline]
    fn event(
        &mut self,
        process: usize,
        position: usize,
        time: u64,
        event: &Event<'_>,
    ) -> Result<(), Error> {
        if self.ends.next < time || self.processors.next <= time || self.series.next <= time {
            self.catch_up(time)?;
        }
        self.communicate(time)?;
        let (model, mut output) = self.output(process);
        model.event(position, event, &mut output);
        Ok(())
    }

    /// The interpreter of a process, and what it fills.
    #[inline]
    fn output(&mut self, process: usize) -> (&mut Interpreter, Output<'_, 'r, 'n, Background>) {
        let output = Output {
            events: &mut self.events,
            records: &mut self.records,
            process,
            first: self.rows.first[process],
            threads: self.threads[process],
            shift: self.rows.shift[process],
        };
        (&mut self.models[process], output)
    }

    /// Ends of rows before `time`, context switches and series up to it, in their order; communications between them.
    fn catch_up(&mut self, time: u64) -> Result<(), Error> {
        loop {
            let (end, switch) = (self.ends.next, self.processors.next);
            let series = self.series.next;
            if series != u64::MAX && series <= time && series <= end && series <= switch {
                self.communicate(series)?;
                let (readings, records) = (&mut self.events.readings, &mut self.records);
                self.series.step(self.rows, readings, records)?;
            } else if switch != u64::MAX && switch <= time && switch <= end {
                self.communicate(switch)?;
                self.switch(switch)?;
            } else if end < time {
                self.communicate(end)?;
                self.end_rows(end.saturating_add(1));
            } else {
                return Ok(());
            }
        }
    }

    /// Takes the context switches up to `time`.
    fn switch(&mut self, time: u64) -> Result<(), Error> {
        while self.processors.next <= time
            && let Some(process) = self.processors.process()
        {
            let mut output = Output {
                events: &mut self.events,
                records: &mut self.records,
                process,
                first: self.rows.first[process],
                threads: self.threads[process],
                shift: self.rows.shift[process],
            };
            self.processors
                .step(&mut self.models[process], &mut output)?;
        }
        Ok(())
    }

    #[inline]
    fn communicate(&mut self, time: u64) -> Result<(), Error> {
        match &mut self.communications {
            Some(lines) if lines.next <= time => lines.take_until(time, self.records.lines()),
            _ => Ok(()),
        }
    }

    /// Ends the rows whose last event was before `time`.
    fn end_rows(&mut self, time: u64) {
        while let Some((last, row)) = self.ends.pop(time) {
            let Row {
                process, position, ..
            } = self.rows.rows[row];
            let shift = self.rows.shift[process];
            let (model, mut output) = self.output(process);
            model.end(position, shift.process(last), &mut output);
            self.records.state(row, last, types::NOT_CREATED);
        }
    }

    /// How many states and events there are, and what the events mean.
    fn finish(mut self, path: &Path) -> Result<(u64, u64, Events<'n>), Error> {
        self.catch_up(self.rows.end)?;
        self.end_rows(u64::MAX);
        self.communicate(u64::MAX)?;
        let (out, states, events) = self
            .records
            .finish(self.rows.end)
            .map_err(Error::io("write", path))?;
        out.finish().map_err(Error::io("write", path))?;
        Ok((states, events, self.events))
    }
}

use rows::Row;

/// Ends of rows in order of time.
struct Ends {
    /// (time, row), last first.
    sorted: Vec<(u64, usize)>,
    /// Time of the next one.
    next: u64,
}

impl Ends {
    fn new(rows: &Rows) -> Self {
        let mut sorted: Vec<(u64, usize)> = rows
            .rows
            .iter()
            .enumerate()
            .map(|(row, info)| (info.last, row))
            .collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let next = sorted.last().map_or(u64::MAX, |(time, _)| *time);
        Self { sorted, next }
    }

    /// The next row that ended before `time`.
    fn pop(&mut self, time: u64) -> Option<(u64, usize)> {
        let end = self.sorted.pop_if(|(end, _)| *end < time);
        self.next = self.sorted.last().map_or(u64::MAX, |(time, _)| *time);
        end
    }
}

/// Tells how far the work is.
struct Progress<'p> {
    call: &'p mut dyn FnMut(u64, u64),
    bytes: u64,
    passes: u64,
    pass: u64,
    events: u64,
}

impl<'p> Progress<'p> {
    fn new(traces: &[Trace], passes: u64, call: &'p mut dyn FnMut(u64, u64)) -> Self {
        let bytes = traces.iter().map(Trace::bytes).sum();
        Self {
            call,
            bytes,
            passes,
            pass: 0,
            events: 0,
        }
    }

    #[inline]
    fn event(&mut self, all: &SessionMerge<'_>) {
        self.events += 1;
        if self.events.is_multiple_of(PROGRESS_STEP) {
            (self.call)(
                self.pass * self.bytes + all.read_bytes(),
                self.passes * self.bytes,
            );
        }
    }

    fn next_pass(&mut self) {
        self.pass += 1;
    }

    fn finish(self) {
        (self.call)(self.passes * self.bytes, self.passes * self.bytes);
    }
}

/// The files that are written for a base name.
#[must_use]
pub fn outputs(base: &Path) -> [PathBuf; 3] {
    [".prv", ".pcf", ".row"].map(|extension| {
        let mut path = OsString::from(base);
        path.push(extension);
        path.into()
    })
}

/// The three files under temporary names.
struct Outputs {
    dir: PathBuf,
    files: Vec<(NewFile, PathBuf)>,
}

impl Outputs {
    fn create(base: &Path) -> Result<Self, Error> {
        let dir = match base.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir.to_owned(),
            _ => PathBuf::from("."),
        };
        let mut files = Vec::new();
        for path in outputs(base) {
            let file = NewFile::create(&path).map_err(Error::io("create", &path))?;
            files.push((file, path));
        }
        Ok(Self { dir, files })
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(_, path)| path.clone()).collect()
    }

    fn write(
        &self,
        file: usize,
        body: impl FnOnce(&mut BufWriter<&File>) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        let (file, path) = &self.files[file];
        let mut out = BufWriter::new(file.file());
        body(&mut out)
            .and_then(|()| out.flush())
            .map_err(Error::io("write", path))
    }

    /// Gives the files their names, the `.prv` last.
    fn publish(self) -> Result<(), Error> {
        for (file, path) in self.files.into_iter().rev() {
            file.publish().map_err(Error::io("create", &path))?;
        }
        Ok(())
    }
}
