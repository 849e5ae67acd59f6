//! Events of the JSON array.

use std::fmt::Write as _;
use std::io::{Error, Write};

use hashbrown::{HashMap, HashSet};

use crate::describe::Category;
use crate::format::Stats;
use crate::slices::{FlowsHere, Label, Note, Number, SliceWriter};
use crate::text::json_string;

/// Bytes that are written at a time.
const CHUNK: usize = 1 << 16;
/// Thread numbers that the system did not give begin here: those of further tracks, unknown ones, and those that occur twice.
const MADE_UP: u64 = 1_000_000_000;
/// Tracks below a thread that can be ordered.
const BELOW: u64 = 1_000;

/// Where events of a track are.
#[derive(Clone, Debug)]
struct Track {
    pid: u64,
    tid: u64,
    /// Its text: the name of a thread, or of a counter in JSON.
    name: String,
    /// Place among the threads of the process, and how many tracks lie below it.
    order: u64,
    below: u64,
}

/// Writes the events of all processes.
pub(super) struct Events<'w> {
    out: &'w mut dyn Write,
    /// Time of the first event, ns by the clock of the tracks.
    begin: u64,
    text: String,
    failed: Option<Error>,
    first: bool,
    /// By number; that of the first is 1.
    tracks: Vec<Track>,
    pids: HashSet<u64>,
    pid: u64,
    threads: u64,
    tids: HashSet<u64>,
    /// Counters of processes.
    counters: HashSet<(u64, String)>,
    made_up: u64,
    /// Names of the process as JSON, and their numbers.
    names: Vec<String>,
    numbers: HashMap<String, u64>,
    stats: Stats,
}

impl<'w> Events<'w> {
    pub(super) fn new(out: &'w mut dyn Write, begin: u64) -> Self {
        Self {
            out,
            begin,
            text: String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"),
            failed: None,
            first: true,
            tracks: Vec::new(),
            pids: HashSet::new(),
            pid: 0,
            threads: 0,
            tids: HashSet::new(),
            counters: HashSet::new(),
            made_up: MADE_UP,
            names: Vec::new(),
            numbers: HashMap::new(),
            stats: Stats::default(),
        }
    }

    /// Writes the end of the file. `realtime`: the time of day of the first event, ns since 1970.
    pub(super) fn finish(&mut self, realtime: u64) -> Stats {
        let monotonic = self.begin;
        _ = write!(
            self.text,
            "\n],\"otherData\":{{\"clock\":\"CLOCK_MONOTONIC\",\"begin_monotonic_ns\":\"{monotonic}\",\"begin_realtime_ns\":\"{realtime}\"}}}}\n"
        );
        self.flush();
        self.stats
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(self.text.as_bytes()).err();
        }
        self.text.clear();
    }

    /// Begins an event up to its time.
    fn open(&mut self, phase: char, track: u64, time: u64) {
        if self.text.len() >= CHUNK {
            self.flush();
        }
        self.text.push_str(if self.first {
            "{\"ph\":\""
        } else {
            ",\n{\"ph\":\""
        });
        self.first = false;
        let (pid, tid) = self.place(track);
        _ = write!(self.text, "{phase}\",\"pid\":{pid},\"tid\":{tid},\"ts\":");
        self.time(time.saturating_sub(self.begin));
    }

    fn place(&self, track: u64) -> (u64, u64) {
        let at = usize::try_from(track).unwrap_or(usize::MAX).wrapping_sub(1);
        self.tracks
            .get(at)
            .map_or((0, 0), |track| (track.pid, track.tid))
    }

    /// Nanoseconds as microseconds.
    fn time(&mut self, ns: u64) {
        _ = write!(self.text, "{}.{:03}", ns / 1000, ns % 1000);
    }

    fn close(&mut self) {
        self.text.push('}');
    }

    fn labelled(&mut self, label: Label) {
        _ = write!(
            self.text,
            ",\"cat\":\"{}\",\"name\":",
            label.category.name()
        );
        self.named(label.name);
        let Some(note) = label.note else { return };
        self.text.push_str(",\"args\":{");
        _ = match note {
            Note::Task(number) => write!(self.text, "\"task\":{number}"),
            Note::Object(address) => write!(self.text, "\"object\":\"{address:#x}\""),
            // Numbers beyond 2^53 are rounded by readers: as text they stay.
            Note::Value(value) if value > 1 << 53 => write!(self.text, "\"value\":\"{value}\""),
            Note::Value(value) => write!(self.text, "\"value\":{value}"),
        };
        self.text.push('}');
    }

    fn named(&mut self, name: u64) {
        let at = usize::try_from(name).unwrap_or(usize::MAX);
        self.text
            .push_str(self.names.get(at).map_or("\"\"", String::as_str));
    }

    /// Flows that begin or end at a time, inside of the slice that is open there.
    fn flows(&mut self, time: u64, track: u64, flows: FlowsHere<'_>) {
        for (phase, ids) in [('s', flows.begin), ('f', flows.end)] {
            for id in ids {
                self.open(phase, track, time);
                _ = write!(
                    self.text,
                    ",\"id\":\"{id:#x}\",\"cat\":\"flow\",\"name\":\"flow\""
                );
                if phase == 'f' {
                    self.text.push_str(",\"bp\":\"e\"");
                }
                self.close();
            }
        }
        self.stats.flows += flows.begin.len() as u64;
    }

    fn metadata(&mut self, track: u64, what: &str, value: &str) {
        self.open('M', track, self.begin);
        _ = write!(self.text, ",\"name\":\"{what}\",\"args\":{{{value}}}");
        self.close();
    }

    /// A number of a thread that is not in use.
    fn made_up(&mut self) -> u64 {
        self.made_up += 1;
        self.made_up
    }

    /// A new track, whose thread is named.
    fn add(&mut self, tid: u64, name: &str, order: u64) -> u64 {
        self.tracks.push(Track {
            pid: self.pid,
            tid,
            name: name.to_owned(),
            order,
            below: 0,
        });
        let number = self.tracks.len() as u64;
        self.metadata(
            number,
            "thread_name",
            &format!("\"name\":{}", json_string(name)),
        );
        self.metadata(
            number,
            "thread_sort_index",
            &format!("\"sort_index\":{order}"),
        );
        number
    }

    fn life(&mut self, phase: char, (time, track): (u64, u64), task: u64, name: u64) {
        self.open(phase, track, time);
        let pid = self.pid;
        _ = write!(
            self.text,
            ",\"id2\":{{\"local\":\"{pid}:{task}\"}},\"cat\":\"task life\",\"name\":"
        );
        self.named(name);
        self.close();
    }
}

impl SliceWriter for Events<'_> {
    const LIVES: bool = true;

    fn process(&mut self, pid: u64, name: &str) -> u64 {
        self.pid = match self.pids.insert(pid) {
            true => pid,
            false => self.made_up(),
        };
        (self.threads, self.tids) = (0, HashSet::new());
        self.names.clear();
        self.numbers.clear();
        self.tracks.push(Track {
            pid: self.pid,
            tid: 0,
            name: String::new(),
            order: 0,
            below: 0,
        });
        let number = self.tracks.len() as u64;
        self.metadata(
            number,
            "process_name",
            &format!("\"name\":{}", json_string(name)),
        );
        number
    }

    fn thread(&mut self, tid: u32, name: &str) -> u64 {
        let tid = match tid != 0 && self.tids.insert(tid.into()) {
            true => tid.into(),
            false => self.made_up(),
        };
        self.threads += 1;
        self.add(tid, name, self.threads * BELOW)
    }

    fn track(&mut self, parent: u64, name: &str) -> u64 {
        let tid = self.made_up();
        let at = usize::try_from(parent)
            .unwrap_or(usize::MAX)
            .wrapping_sub(1);
        let (above, order) = match self.tracks.get_mut(at) {
            Some(track) => {
                track.below = (track.below + 1).min(BELOW - 1);
                (track.name.clone(), track.order + track.below)
            }
            None => (String::new(), 0),
        };
        self.add(tid, &format!("{above}: {name}"), order)
    }

    /// Counters are those of processes: one of a thread has its name.
    fn counter(&mut self, parent: u64, name: &str, unit: &str) -> u64 {
        let at = usize::try_from(parent)
            .unwrap_or(usize::MAX)
            .wrapping_sub(1);
        let (pid, tid, above) = match self.tracks.get(at) {
            Some(track) => (track.pid, track.tid, track.name.as_str()),
            None => (self.pid, 0, ""),
        };
        let mut name = match above {
            "" => name.to_owned(),
            above => format!("{name}, {above}"),
        };
        // Readers take counters of one name in a process for one, and threads may have the same name.
        if !self.counters.insert((pid, name.clone())) {
            name = format!("{name} {tid}");
            let mut number = 1;
            while !self.counters.insert((pid, name.clone())) {
                number += 1;
                name = format!("{name} {number}");
            }
        }
        let unit = if unit.is_empty() { "value" } else { unit };
        let name = format!("{},\"args\":{{{}:", json_string(&name), json_string(unit));
        self.tracks.push(Track {
            pid,
            tid,
            name,
            order: 0,
            below: 0,
        });
        self.tracks.len() as u64
    }

    fn name(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.names.len() as u64;
        self.names.push(json_string(text));
        self.numbers.insert(text.to_owned(), number);
        number
    }

    fn begin(&mut self, time: u64, track: u64, label: Label, flows: FlowsHere<'_>) {
        self.stats.events += 1;
        self.open('B', track, time);
        self.labelled(label);
        self.close();
        self.flows(time, track, flows);
    }

    fn end(&mut self, time: u64, track: u64, flows: FlowsHere<'_>) {
        self.flows(time, track, flows);
        self.open('E', track, time);
        self.close();
    }

    fn whole(&mut self, begin: u64, end: u64, track: u64, label: Label) {
        self.stats.events += 1;
        self.open('X', track, begin);
        self.text.push_str(",\"dur\":");
        self.time(end.saturating_sub(begin));
        self.labelled(label);
        self.close();
    }

    fn instant(&mut self, time: u64, track: u64, label: Label, flows: FlowsHere<'_>) {
        if label.category == Category::Dependence {
            // Flows go between slices.
            self.whole(time, time, track, label);
        } else {
            self.stats.events += 1;
            self.open('i', track, time);
            self.text.push_str(",\"s\":\"t\"");
            self.labelled(label);
            self.close();
        }
        self.flows(time, track, flows);
    }

    fn value(&mut self, time: u64, counter: u64, value: Number) {
        self.stats.events += 1;
        self.open('C', counter, time);
        self.text.push_str(",\"name\":");
        let at = usize::try_from(counter)
            .unwrap_or(usize::MAX)
            .wrapping_sub(1);
        if let Some(track) = self.tracks.get(at) {
            self.text.push_str(&track.name);
        }
        _ = match value {
            Number::Whole(value) => write!(self.text, "{value}"),
            Number::Real(value) if value.is_finite() => write!(self.text, "{value}"),
            Number::Real(_) => write!(self.text, "null"),
        };
        self.text.push('}');
        self.close();
    }

    fn task_begin(&mut self, time: u64, track: u64, task: u64, name: u64) {
        self.life('b', (time, track), task, name);
    }

    fn task_end(&mut self, time: u64, track: u64, task: u64, name: u64) {
        self.life('e', (time, track), task, name);
    }

    fn failure(&mut self) -> Option<Error> {
        self.failed.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readers take counters of one name in a process for one.
    #[test]
    fn counters_of_threads_with_one_name_are_apart() {
        let mut out = Vec::new();
        let mut events = Events::new(&mut out, 0);
        for pid in [10, 20] {
            events.process(pid, "app");
            for tid in [11, 12, 0] {
                let thread = events.thread(tid, "worker");
                let counter = events.counter(thread, "cycles", "");
                events.value(5, counter, Number::Whole(tid.into()));
            }
        }
        events.finish(0);
        let text = String::from_utf8(out).unwrap();
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        let all = found["traceEvents"].as_array().unwrap();
        let counters = all.iter().filter(|event| event["ph"] == "C");
        let mut names: Vec<_> = counters
            .map(|event| (event["pid"].clone(), event["name"].clone()))
            .map(|name| format!("{name:?}"))
            .collect();
        assert_eq!(names.len(), 6, "{names:?}");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 6, "{names:?}");
        assert!(text.contains("\"cycles, worker 12\""), "{text}");
    }
}
