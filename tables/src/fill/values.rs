//! Memory, readings, samples and a thread's own record of its switches, to rows.

use instr_trace::Metadata;
use instr_trace::model::{At, Gone, Memory, Reading, Run, Sample, Scheduled};
use instr_trace::sensors::{Definitions, SensorKind};

use crate::tables::{memory, samples, sensors, switches};
use crate::texts::{Text, Texts};

use super::spans::Rows;
use super::words::{self, int};

/// Names and units of what is read, as columns have them.
pub(super) struct Meters {
    /// By sensor and value.
    sensors: Vec<Vec<Text>>,
    units: Vec<Text>,
    /// Name and unit of each counter.
    counters: Vec<(Text, Text)>,
}

impl Meters {
    pub(super) fn of(metadata: &Metadata, texts: &mut Texts) -> Self {
        let definitions = Definitions::of(metadata);
        let mut of = Self {
            sensors: Vec::new(),
            units: Vec::new(),
            counters: Vec::new(),
        };
        for sensor in &definitions.sensors {
            let values = 0..sensor.values as usize;
            let names = values.map(|value| texts.number(&sensor.value_name(value)));
            of.sensors.push(names.collect());
            of.units.push(texts.number(&sensor.unit));
        }
        for counter in &definitions.counters {
            let pair = (texts.number(&counter.name), texts.number(&counter.unit));
            of.counters.push(pair);
        }
        of
    }
}

impl<const ALL: bool> Rows<'_, '_, ALL> {
    /// The number of a thread of the program.
    fn index(&self, position: usize) -> Option<i32> {
        Some(self.threads.get(position)?.index)
    }

    pub(super) fn add_memory(&mut self, at: At, memory: &Memory) {
        let mut row = memory::Row {
            process: self.process,
            thread: self.threads[at.position].index,
            time_ns: self.time(at.time),
            call: Text(0),
            address: None,
            bytes: None,
            freed_bytes: None,
            refused: false,
            blocks_in_use: None,
            bytes_in_use: None,
            function: None,
            file: None,
            line: None,
        };
        match *memory {
            Memory::Heap(call) => {
                row.call = self.word(words::heap(call.function));
                row.bytes = call.got.map(|_| int(call.bytes));
                row.address = call.got.map(|_| int(call.address));
                row.freed_bytes = match call.gone {
                    Some(Gone::Block { bytes, .. }) => Some(int(bytes)),
                    _ => None,
                };
                row.refused = call.refused;
                row.blocks_in_use = Some(int(call.blocks_in_use));
                row.bytes_in_use = Some(int(call.bytes_in_use));
                self.call_of(call.got.map_or(0, |got| got.site.key), &mut row);
            }
            Memory::Pages(call) => {
                row.call = self.word(words::pages(call.function));
                row.refused = call.refused;
                if call.address != 0 {
                    (row.address, row.bytes) = (Some(int(call.address)), Some(int(call.bytes)));
                }
                row.freed_bytes = Some(int(call.gone)).filter(|bytes| *bytes > 0);
                row.bytes_in_use = Some(int(call.mapped));
                self.call_of(call.site, &mut row);
            }
            Memory::Library { used, .. } => {
                row.call = self.word("heap");
                row.bytes = Some(int(used));
            }
            Memory::Stack { high, mark, .. } => {
                row.call = self.word("stack");
                row.bytes = Some(int(high.saturating_sub(mark)));
            }
            _ => return,
        }
        self.out.add(row);
    }

    /// Where memory is asked for; 0: unknown.
    fn call_of(&mut self, site: u64, row: &mut memory::Row) {
        if let Some(place) = self.places.site(site, &mut self.out.texts) {
            (row.function, row.file, row.line) = (place.function, place.file, place.line);
        }
    }

    pub(super) fn add_reading(&mut self, at: At, reading: &Reading<'_>) {
        let now = self.time(at.time);
        match *reading {
            Reading::Sensor {
                sensor,
                def,
                values,
            } => {
                let kind = match def.kind {
                    SensorKind::Level => "level",
                    SensorKind::Total => "total",
                };
                for (number, value) in values.iter().enumerate() {
                    let (Some(names), Some(unit)) = (
                        self.meters.sensors.get(sensor),
                        self.meters.units.get(sensor),
                    ) else {
                        return;
                    };
                    let (Some(name), unit) = (names.get(number).copied(), *unit) else {
                        return;
                    };
                    let row = sensors::Row {
                        process: self.process,
                        thread: None,
                        time_ns: now,
                        source: self.word("sensor"),
                        sensor: name,
                        unit,
                        kind: self.word(kind),
                        value: value.raw.map(|raw| raw as f64 * def.scale),
                        since_ns: value.since.map(|since| self.time(since)),
                        grown: value.grown.map(|grown| grown as f64 * def.scale),
                    };
                    self.out.add(row);
                }
            }
            Reading::Counters { values, .. } => {
                let since = self.since(at.position, now);
                for (number, count) in values.iter().enumerate() {
                    let Some(&(name, unit)) = self.meters.counters.get(number) else {
                        return;
                    };
                    let value = count.value.map(|value| value as f64);
                    let grown = count.value.map(|_| count.grown as f64);
                    self.counter(at, (name, unit), value, since, grown);
                }
            }
            Reading::ThreadTime { run_ns, wait_ns } => {
                let unit = self.word("ns");
                for (name, ns) in [("time on a processor", run_ns), ("time ready", wait_ns)] {
                    let name = self.word(name);
                    self.counter(at, (name, unit), Some(ns as f64), None, None);
                }
            }
            _ => {}
        }
    }

    fn since(&mut self, position: usize, now: i64) -> Option<i64> {
        self.threads.get_mut(position)?.counted.replace(now)
    }

    fn counter(
        &mut self,
        at: At,
        (sensor, unit): (Text, Text),
        value: Option<f64>,
        since_ns: Option<i64>,
        grown: Option<f64>,
    ) {
        let row = sensors::Row {
            process: self.process,
            thread: self.index(at.position),
            time_ns: self.time(at.time),
            source: self.word("counter"),
            sensor,
            unit,
            kind: self.word("total"),
            value,
            since_ns,
            grown,
        };
        self.out.add(row);
    }

    pub(super) fn add_sample(&mut self, at: At, sample: &Sample<'_>) {
        match *sample {
            Sample::Begins { period_ns, .. } => {
                self.threads[at.position].period_ns = Some(int(period_ns));
            }
            Sample::Taken { frames, periods } => {
                let texts = &mut self.out.texts;
                let place = self.places.sampled(frames.pc, texts);
                let mut stack = None;
                if self.wants.stacks {
                    self.chain.read(self.places.names, &frames);
                    let mut functions = Vec::new();
                    functions.extend(place.map(|(function, _)| function));
                    for address in self.chain.callers() {
                        // A return address is behind the call. What is no code was no frame.
                        let caller = self.places.sampled(address.wrapping_sub(1), texts);
                        functions.extend(caller.map(|(function, _)| function));
                    }
                    // Names of Rust have it too: `<[u8; 4] as Debug>::fmt`.
                    let mut names = String::new();
                    for (at, function) in functions.iter().rev().enumerate() {
                        if at > 0 {
                            names.push(';');
                        }
                        let name = texts.get(function.0);
                        match name.contains(';') {
                            true => names.push_str(&name.replace(';', ":")),
                            false => names.push_str(name),
                        }
                    }
                    stack = Some(texts.number(&names)).filter(|_| !names.is_empty());
                }
                let row = samples::Row {
                    process: self.process,
                    thread: self.threads[at.position].index,
                    time_ns: self.time(at.time),
                    periods: periods.into(),
                    period_ns: self.threads[at.position].period_ns,
                    function: place.map(|(function, _)| function),
                    file: place.and_then(|(_, place)| place.file),
                    line: place.and_then(|(_, place)| place.line),
                    address: int(frames.pc),
                    stack,
                };
                self.out.add(row);
            }
            _ => {}
        }
    }

    /// What the system does with a thread, by the thread's own record.
    pub(super) fn add_scheduled(&mut self, at: At, state: Scheduled) {
        let now = self.time(at.time);
        let thread = &mut self.threads[at.position];
        if state == Scheduled::Running {
            thread.running.get_or_insert(now);
            return;
        }
        let Some(begin_ns) = thread.running.take() else {
            return;
        };
        let (thread, processor) = (thread.index, thread.processor);
        let tid = self.os_tids.get(at.position).copied().unwrap_or(0);
        self.add_switch(
            (begin_ns, now),
            processor,
            (Some(thread), tid),
            words::left(state),
        );
    }

    /// By the processors' record.
    pub(super) fn add_run(&mut self, run: &Run) {
        let times = (self.time(run.begin), self.time(run.end));
        let thread = run.thread.and_then(|position| self.index(position));
        let processor = self.processors.get(run.processor).copied();
        self.add_switch(times, processor, (thread, run.os_tid), "unknown");
    }

    fn add_switch(
        &mut self,
        (begin_ns, end_ns): (i64, i64),
        processor: Option<i32>,
        (thread, tid): (Option<i32>, u32),
        next: &'static str,
    ) {
        let known = self
            .threads
            .iter()
            .find(|known| Some(known.index) == thread);
        let name = known.map(|known| known.name);
        let row = switches::Row {
            process: self.process,
            thread,
            begin_ns,
            end_ns,
            duration_ns: end_ns.saturating_sub(begin_ns),
            processor,
            pid: self.pid,
            tid: tid.into(),
            name: match name {
                Some(name) => name,
                None => self.word(""),
            },
            next: self.word(next),
        };
        self.out.add(row);
    }
}
