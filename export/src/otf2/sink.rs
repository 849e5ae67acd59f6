//! Records of one process.

use std::ptr::null_mut;

use hashbrown::HashMap;
use instr_trace::event::MutexKind;
use instr_trace::model::{At, Begin, End, Mark, Memory, Reading, Since, Sink, Span};
use instr_trace::names::Names;
use instr_trace::sensors::{CounterDef, Definitions, SensorKind};
use instr_trace::{TaskId, Trace};

use super::archive::Archive;
use super::definitions::{DOUBLE, INT64, Metric, Team};
use super::library::MetricValue;
use super::locks::Locks;
use super::{World, paradigm};
use crate::frames::Frames;
use crate::nesting::{Nesting, Step, is_frame};
use crate::replays::Steps;

/// `OTF2_MEASUREMENT_ON` and `_OFF`.
const ON: u8 = 1;
const OFF: u8 = 2;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Measured {
    HeapInUse,
    Mapped,
    /// A value of a sensor.
    Sensor(usize, usize),
    /// A counter of threads.
    Counter(usize),
}

/// A task as records name it: its team, the number of its creator in that, and its own number there. Implicit tasks have number 0.
type TaskName = (u32, u32, u32);

/// One thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// Time of its last record.
    last: u64,
    /// The teams it is in, the innermost last.
    teams: Vec<u32>,
    /// The task that it runs.
    runs: Option<TaskName>,
}

/// The sink of one process.
pub(super) struct Records<'p, 's> {
    trace: &'p Trace,
    frames: Frames<'p>,
    /// Number of its first region.
    regions: u32,
    nesting: Nesting<u32>,
    /// Location of its first thread, and of what is measured of the process.
    first: usize,
    whole: usize,
    /// Time of the last record there.
    last: u64,
    threads: Vec<Thread>,
    /// Teams by the position of the thread that makes them.
    teams: HashMap<usize, u32>,
    locks: Locks,
    metrics: HashMap<Measured, u32>,
    /// Metrics of the program's own, by name.
    own: HashMap<String, u32>,
    counters: Vec<CounterDef>,
    place: &'p dyn Fn(u64) -> u64,
    archive: &'p mut Archive,
    world: &'p mut World,
    steps: Steps<'s>,
}

impl<'p, 's> Records<'p, 's> {
    pub(super) fn new(
        (trace, names): (&'p Trace, &'p dyn Names),
        (first, whole): (usize, usize),
        place: &'p dyn Fn(u64) -> u64,
        (archive, world): (&'p mut Archive, &'p mut World),
        steps: Steps<'s>,
    ) -> Self {
        let threads = trace.threads().len();
        Self {
            trace,
            frames: Frames::new(names),
            regions: world.regions.len() as u32,
            nesting: Nesting::new(threads),
            first,
            whole,
            last: 0,
            threads: vec![Thread::default(); threads],
            teams: HashMap::new(),
            locks: Locks::default(),
            metrics: HashMap::new(),
            own: HashMap::new(),
            counters: Definitions::of(trace.metadata()).counters,
            place,
            archive,
            world,
            steps,
        }
    }

    /// Gives the regions of the process to the archive's.
    pub(super) fn finish(self) {
        self.world.regions.extend(self.frames.into_all());
    }

    /// The location and the time of a record of a thread.
    fn at(&mut self, at: At) -> (usize, u64) {
        let last = &mut self.threads[at.position].last;
        *last = (*last).max(at.time);
        let time = (self.place)(*last);
        self.world.last = self.world.last.max(time);
        (self.first + at.position, time)
    }

    fn enter(&mut self, at: At, frame: u32) {
        let ((location, time), region) = (self.at(at), self.regions + frame);
        self.archive.record(location, |library, writer| {
            // SAFETY: the writer is open.
            unsafe { (library.enter)(writer, null_mut(), time, region) }
        });
    }

    fn apply(&mut self, at: At, steps: &[Step<u32>]) {
        for step in steps {
            match *step {
                Step::Open(frame) => self.enter(at, frame),
                Step::Close(frame) => {
                    let ((location, time), region) = (self.at(at), self.regions + frame);
                    self.archive.record(location, |library, writer| {
                        // SAFETY: the writer is open.
                        unsafe { (library.leave)(writer, null_mut(), time, region) }
                    });
                }
            }
        }
    }

    /// The team of the regions of a thread, or of no region.
    fn team(&mut self, master: Option<usize>) -> u32 {
        let key = master.unwrap_or(usize::MAX);
        let Self { world, trace, .. } = self;
        *self.teams.entry(key).or_insert_with(|| {
            let name = master.and_then(|master| trace.threads().get(master));
            let name = match name {
                Some(thread) => format!("team of {}", thread.name),
                None => "outside of regions".to_owned(),
            };
            world.teams.push(Team {
                name,
                members: Vec::new(),
            });
            (world.teams.len() - 1) as u32
        })
    }

    fn rank(&mut self, team: u32, position: usize) -> u32 {
        let location = (self.first + position) as u64;
        self.world.teams[team as usize].rank(location)
    }

    /// The innermost team of a thread.
    fn team_of(&mut self, position: usize) -> u32 {
        match self.threads[position].teams.last() {
            Some(team) => *team,
            None => self.team(None),
        }
    }

    /// A task as the records of a thread name it.
    fn task(&mut self, position: usize, task: TaskId) -> TaskName {
        let team = self.team_of(position);
        let creator = self.trace.position(task.thread).unwrap_or(position);
        // 0 is the implicit task.
        (team, self.rank(team, creator), task.seq.saturating_add(1))
    }

    fn implicit(&mut self, position: usize) -> TaskName {
        let team = self.team_of(position);
        (team, self.rank(team, position), 0)
    }

    fn switch(&mut self, at: At, to: TaskName) {
        if self.threads[at.position].runs.replace(to) == Some(to) {
            return;
        }
        let ((location, time), (team, creator, number)) = (self.at(at), to);
        self.archive.record(location, |library, writer| {
            // SAFETY: the writer is open.
            unsafe { (library.task_switch)(writer, null_mut(), time, team, creator, number) }
        });
    }

    /// What comes before a span's region.
    fn before(&mut self, at: At, span: &Span) {
        match *span {
            Span::Implicit { region, .. } => {
                let master = self.trace.position(region.thread);
                let team = self.team(master);
                let (location, time) = self.at(at);
                self.rank(team, at.position);
                self.threads[at.position].teams.push(team);
                self.archive.record(location, |library, writer| {
                    // SAFETY: the writer is open.
                    unsafe { (library.team_begin)(writer, null_mut(), time, team) }
                });
                let implicit = self.implicit(at.position);
                self.switch(at, implicit);
            }
            Span::Task { task, .. } => {
                let task = self.task(at.position, task);
                self.switch(at, task);
            }
            _ => {}
        }
    }

    /// What comes behind its begin.
    fn behind(&mut self, at: At, span: &Span, told: bool) {
        match *span {
            Span::Parallel { .. } => {
                let (location, time) = self.at(at);
                self.archive.record(location, |library, writer| {
                    // SAFETY: the writer is open. How many threads were asked for is not recorded.
                    unsafe { (library.fork)(writer, null_mut(), time, paradigm::OPENMP, 0) }
                });
            }
            Span::Create { task, .. } if told => self.create(at, task),
            _ => {}
        }
    }

    fn create(&mut self, at: At, task: TaskId) {
        let (team, creator, number) = self.task(at.position, task);
        let (location, time) = self.at(at);
        self.archive.record(location, |library, writer| {
            // SAFETY: the writer is open.
            unsafe { (library.task_create)(writer, null_mut(), time, team, creator, number) }
        });
    }

    /// What comes behind a span's end.
    fn over(&mut self, at: At, span: &Span, how: End) {
        match *span {
            Span::Task { task, .. } if how.is_final() => {
                let (team, creator, number) = self.task(at.position, task);
                let (location, time) = self.at(at);
                self.archive.record(location, |library, writer| {
                    // SAFETY: the writer is open.
                    unsafe {
                        (library.task_complete)(writer, null_mut(), time, team, creator, number)
                    }
                });
                self.threads[at.position].runs = None;
            }
            Span::Implicit { .. } => {
                let Some(team) = self.threads[at.position].teams.pop() else {
                    return;
                };
                let (location, time) = self.at(at);
                self.archive.record(location, |library, writer| {
                    // SAFETY: the writer is open.
                    unsafe { (library.team_end)(writer, null_mut(), time, team) }
                });
                self.threads[at.position].runs = None;
            }
            _ => {}
        }
    }

    fn join(&mut self, at: At) {
        let (location, time) = self.at(at);
        self.archive.record(location, |library, writer| {
            // SAFETY: the writer is open.
            unsafe { (library.join)(writer, null_mut(), time, paradigm::OPENMP) }
        });
    }

    fn hold(&mut self, at: At, kind: MutexKind, object: u64, gets: bool) {
        let found = match gets {
            true => Some(self.locks.get(self.world, at.body, object)),
            false => self.locks.give(at.body, object),
        };
        let Some((lock, order)) = found else { return };
        let model = match kind {
            MutexKind::Mutex | MutexKind::ReadLock | MutexKind::WriteLock | MutexKind::SpinLock => {
                paradigm::PTHREAD
            }
            _ => paradigm::OPENMP,
        };
        let (location, time) = self.at(at);
        self.archive.record(location, |library, writer| {
            let write = if gets {
                library.acquire
            } else {
                library.release
            };
            // SAFETY: the writer is open.
            unsafe { write(writer, null_mut(), time, model, lock, order) }
        });
    }

    fn new_metric(
        &mut self,
        name: String,
        unit: String,
        (is_total, value_type): (bool, u8),
    ) -> u32 {
        self.world.metrics.push(Metric {
            name,
            unit,
            is_total,
            value_type,
        });
        (self.world.metrics.len() - 1) as u32
    }

    fn value(&mut self, (location, time): (usize, u64), metric: u32, kind: u8, value: MetricValue) {
        self.archive.record(location, |library, writer| {
            // SAFETY: the writer is open, and there is one value of this type.
            unsafe {
                (library.metric)(
                    writer,
                    null_mut(),
                    time,
                    metric,
                    1,
                    &raw const kind,
                    &raw const value,
                )
            }
        });
    }

    /// A value of the process.
    fn of_process(&mut self, at: At) -> (usize, u64) {
        self.last = self.last.max(at.time);
        let time = (self.place)(self.last);
        self.world.last = self.world.last.max(time);
        (self.whole, time)
    }
}

impl Sink for Records<'_, '_> {
    const STATES: bool = false;
    const MEMORY: bool = true;
    const READINGS: bool = true;

    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.steps.step(at.time);
        if let Span::Hold { kind, object } = *span {
            return self.hold(at, kind, object, true);
        }
        if is_frame(span) {
            self.before(at, span);
            let frame = self.frames.of(at, span);
            self.nesting.begin(at, span, frame);
            self.enter(at, frame);
            self.behind(at, span, how == Begin::Told);
        }
    }

    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        if let Span::Hold { kind, object } = *span {
            return self.hold(at, kind, object, false);
        }
        if is_frame(span) {
            let steps = self.nesting.end(at, span).to_vec();
            if steps.is_empty() {
                return;
            }
            if matches!(span, Span::Parallel { .. }) {
                self.join(at);
            }
            self.apply(at, &steps);
            self.over(at, span, how);
        }
    }

    fn body(&mut self, at: At, body: Option<&Span>) {
        let name = match body {
            Some(Span::Task { task, .. }) => self.task(at.position, *task),
            Some(_) => self.implicit(at.position),
            // Outside of regions there is no team.
            None => return,
        };
        self.switch(at, name);
    }

    fn thread_end(&mut self, at: At) {
        let steps = self.nesting.end_thread(at.position).to_vec();
        self.apply(at, &steps);
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        match mark {
            Mark::Text { address, text } => self.frames.text(at.position, address, text),
            Mark::Piece { task, .. } => self.create(at, task),
            Mark::Tracing(on) => {
                let (location, time) = self.at(at);
                let mode = if on { ON } else { OFF };
                self.archive.record(location, |library, writer| {
                    // SAFETY: the writer is open.
                    unsafe { (library.measurement)(writer, null_mut(), time, mode) }
                });
            }
            Mark::Counter { name, value } => {
                let name = self.frames.own_text(at.position, name);
                let metric = match self.own.get(&name) {
                    Some(metric) => *metric,
                    None => {
                        let metric = self.new_metric(name.clone(), String::new(), (false, INT64));
                        self.own.insert(name, metric);
                        metric
                    }
                };
                let place = self.at(at);
                self.value(place, metric, INT64, MetricValue { signed: value });
            }
            _ => {}
        }
    }

    fn memory(&mut self, at: At, memory: &Memory) {
        let (measured, value, name) = match memory {
            Memory::Heap(call) => (Measured::HeapInUse, call.bytes_in_use, "heap in use"),
            Memory::Pages(call) => (Measured::Mapped, call.mapped, "mapped pages"),
            _ => return,
        };
        let metric = match self.metrics.get(&measured) {
            Some(metric) => *metric,
            None => self.new_metric(name.into(), "bytes".into(), (false, INT64)),
        };
        self.metrics.insert(measured, metric);
        let signed = i64::try_from(value).unwrap_or(i64::MAX);
        let place = self.of_process(at);
        self.value(place, metric, INT64, MetricValue { signed });
    }

    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        match *reading {
            Reading::Sensor {
                sensor,
                def,
                values,
            } => {
                for (index, value) in values.iter().enumerate() {
                    let Some(raw) = value.raw else { continue };
                    let measured = Measured::Sensor(sensor, index);
                    let whole = def.scale == 1.0;
                    let kind = if whole { INT64 } else { DOUBLE };
                    let metric = match self.metrics.get(&measured) {
                        Some(metric) => *metric,
                        None => {
                            // Where a total begins is not known: it is a level for readers.
                            let name = match def.kind {
                                SensorKind::Level => def.value_name(index),
                                SensorKind::Total => format!("{}, total", def.value_name(index)),
                            };
                            self.new_metric(name, def.unit.clone(), (false, kind))
                        }
                    };
                    self.metrics.insert(measured, metric);
                    let value = match whole {
                        true => MetricValue { signed: raw },
                        false => MetricValue {
                            real: raw as f64 * def.scale,
                        },
                    };
                    let place = self.of_process(at);
                    self.value(place, metric, kind, value);
                }
            }
            Reading::Counters { values, .. } => {
                for (index, count) in values.iter().enumerate() {
                    let Some(signed) = count.value else { continue };
                    let measured = Measured::Counter(index);
                    let metric = match self.metrics.get(&measured) {
                        Some(metric) => *metric,
                        None => {
                            let def = self.counters.get(index);
                            let def = def.map(|def| (def.name.clone(), def.unit.clone()));
                            let (name, unit) = def.unwrap_or_default();
                            self.new_metric(name, unit, (true, INT64))
                        }
                    };
                    self.metrics.insert(measured, metric);
                    let place = self.at(at);
                    self.value(place, metric, INT64, MetricValue { signed });
                }
            }
            _ => {}
        }
    }
}
