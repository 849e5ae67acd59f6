//! Spans, marks and readings of one process to packets.

use hashbrown::HashMap;

use crate::model::{
    At, Begin, Code, End, Interval, Mark, Memory, Reading, Since, Sink, Span, State, Work,
};
use crate::names::{CodeRole, Names, code_label};
use crate::trace::Trace;
use crate::words::{cancel_name, mutex_name, sync_name, target_name};

use super::flows::Flows;
use super::packets::{Category, Note, Packets};
use super::proto::{COUNTER, INSTANT, SLICE_BEGIN, SLICE_END, TrackEvent};

/// Spans between two calls of the progress function.
const PROGRESS_STEP: u64 = 1 << 16;
/// Slices below the innermost one among which one that ends is looked for: deeper it is in damaged traces only.
const LOOK_BACK: usize = 64;

/// One thread.
#[derive(Debug)]
struct Thread {
    track: u64,
    /// Time of what was written last.
    last: u64,
    /// Slices that are open on its track, with the numbers of their bodies.
    open: Vec<(u32, Span)>,
    /// Its further tracks by name.
    tracks: HashMap<&'static str, u64>,
    /// Those for what does not nest that are not in use.
    free: HashMap<&'static str, Vec<u64>>,
}

/// A slice that does not nest.
#[derive(Clone, Copy, Debug)]
struct Loose {
    position: usize,
    track: u64,
    begin: u64,
}

/// What has a counter track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Counter {
    HeapInUse,
    Mapped,
    /// A value of a sensor.
    Sensor(usize, usize),
    /// A counter of a thread.
    Thread(usize, usize),
    /// Of the program's own, by thread and address of its name.
    User(usize, u64),
}

/// The sink of one process.
pub(super) struct Process<'p, 'w> {
    names: &'p dyn Names,
    /// A time of the process in the output.
    place: &'p dyn Fn(u64) -> u64,
    packets: &'p mut Packets<'w>,
    progress: &'p mut dyn FnMut(u64),
    spans: u64,
    track: u64,
    threads: Vec<Thread>,
    /// Names and units of the counters of threads.
    definitions: Vec<(String, String)>,
    /// By body and lock; [`Span::Taskgroup`] counts as one.
    loose: HashMap<(u32, &'static str, u64), Vec<Loose>>,
    counters: HashMap<Counter, u64>,
    /// Texts by thread and address.
    texts: HashMap<(usize, u64), String>,
    /// Names of code, with what is put before it, and of types of user events.
    labels: HashMap<(Code, &'static str), u64>,
    user_events: HashMap<u32, u64>,
    flows: Flows,
}

impl<'p, 'w> Process<'p, 'w> {
    pub(super) fn new(
        number: usize,
        trace: &Trace,
        names: &'p dyn Names,
        place: &'p dyn Fn(u64) -> u64,
        packets: &'p mut Packets<'w>,
        progress: &'p mut dyn FnMut(u64),
    ) -> Self {
        let metadata = trace.metadata();
        let track = packets.process(metadata.pid, &metadata.program);
        let threads = trace.threads().iter().map(|info| Thread {
            track: packets.thread(info.os_tid, &info.name),
            last: 0,
            open: Vec::new(),
            tracks: HashMap::new(),
            free: HashMap::new(),
        });
        let definitions = crate::sensors::Definitions::of(metadata);
        let counters = definitions.counters.into_iter();
        Self {
            threads: threads.collect(),
            names,
            place,
            packets,
            progress,
            spans: 0,
            track,
            definitions: counters.map(|def| (def.name, def.unit)).collect(),
            loose: HashMap::new(),
            counters: HashMap::new(),
            texts: HashMap::new(),
            labels: HashMap::new(),
            user_events: HashMap::new(),
            flows: Flows::new(number),
        }
    }

    /// The time in the output; no earlier than what was written of the thread.
    fn time(&mut self, at: At) -> u64 {
        let last = &mut self.threads[at.position].last;
        *last = (*last).max(at.time);
        (self.place)(*last)
    }

    /// A further track of a thread.
    fn own_track(&mut self, position: usize, name: &'static str) -> u64 {
        let thread = &mut self.threads[position];
        let packets = &mut *self.packets;
        let make = || packets.track(thread.track, name);
        *thread.tracks.entry(name).or_insert_with(make)
    }

    fn label(&mut self, code: Code, word: &'static str, role: CodeRole) -> u64 {
        if let Some(iid) = self.labels.get(&(code, word)) {
            return *iid;
        }
        let label = match code.address {
            0 => "unknown".to_owned(),
            _ => code_label(self.names, code, role),
        };
        let iid = self.packets.name(&format!("{word}{label}"));
        self.labels.insert((code, word), iid);
        iid
    }

    fn text(&mut self, position: usize, address: u64) -> u64 {
        match self.texts.get(&(position, address)) {
            Some(text) => self.packets.name(text),
            None => self.packets.name(&format!("{address:#x}")),
        }
    }

    /// Category, name and number of a slice.
    fn describe(&mut self, at: At, span: &Span) -> (Category, u64, Option<Note>) {
        use CodeRole::{Parallel, Task};
        let mut task = |task| Some(Note::Task(self.flows.number(task)));
        let (category, text, note) = match *span {
            Span::Parallel { code, .. } => {
                return (Category::Parallel, self.label(code, "", Parallel), None);
            }
            Span::Implicit { code, .. } => {
                let name = self.label(code, "implicit task: ", Parallel);
                return (Category::Implicit, name, None);
            }
            Span::Task { code, task: id, .. } => {
                let note = task(id);
                return (Category::Task, self.label(code, "", Task), note);
            }
            Span::Create { code, task: id, .. } => {
                let note = task(id);
                return (Category::Create, self.label(code, "create: ", Task), note);
            }
            Span::Taskloop { code, .. } => {
                let name = self.label(code, "taskloop: ", Task);
                return (Category::Taskloop, name, None);
            }
            Span::User { name } => {
                return (Category::Region, self.text(at.position, name), None);
            }
            Span::Call { name } => return (Category::Call, self.text(at.position, name), None),
            Span::WaitDepend { task: id, .. } => (Category::Block, "taskwait depend", task(id)),
            Span::Taskgroup => (Category::Taskgroup, "taskgroup", None),
            Span::Work(Work::Loop { .. } | Work::Combined) => (Category::Work, "loop", None),
            Span::Work(Work::Sections) => (Category::Work, "sections", None),
            Span::Work(Work::Scope) => (Category::Work, "scope", None),
            Span::Asking { .. } => (Category::Schedule, "next chunk", None),
            Span::Single => (Category::Block, "single", None),
            Span::Masked => (Category::Block, "masked", None),
            Span::Sync(kind) => (Category::Wait, sync_name(kind), None),
            Span::Closing { .. } => (Category::Wait, "closing barrier", None),
            Span::Acquire { kind, object } => {
                let note = Some(Note::Object(object));
                (Category::LockWait, mutex_name(kind), note)
            }
            Span::Hold { kind, object } => {
                let note = Some(Note::Object(object));
                (Category::LockHeld, mutex_name(kind), note)
            }
            Span::Target(target) => (Category::Target, target_name(target.kind), None),
            Span::Flush => (Category::Flush, "flush", None),
        };
        (category, self.packets.name(text), note)
    }

    fn slice(&mut self, at: At, track: u64, span: &Span, flow: Option<u64>, ending: Vec<u64>) {
        let (category, name, note) = self.describe(at, span);
        let time = self.time(at);
        let event = TrackEvent {
            r#type: Some(SLICE_BEGIN),
            track_uuid: Some(track),
            category_iids: category.iid(),
            name_iid: Some(name),
            debug_annotations: note.map(Into::into),
            flow_ids: flow.into_iter().collect(),
            terminating_flow_ids: ending,
            ..TrackEvent::default()
        };
        self.packets.event(time, event);
    }

    /// Ends the innermost slice of a track.
    fn pop(&mut self, time: u64, track: u64, flow_ids: Vec<u64>, terminating_flow_ids: Vec<u64>) {
        let event = TrackEvent {
            r#type: Some(SLICE_END),
            track_uuid: Some(track),
            flow_ids,
            terminating_flow_ids,
            ..TrackEvent::default()
        };
        self.packets.event(time, event);
    }

    fn instant(
        &mut self,
        time: u64,
        track: u64,
        category: Category,
        name: u64,
        note: Option<Note>,
        flow: Option<u64>,
    ) {
        let event = TrackEvent {
            r#type: Some(INSTANT),
            track_uuid: Some(track),
            category_iids: category.iid(),
            name_iid: Some(name),
            debug_annotations: note.map(Into::into),
            flow_ids: flow.into_iter().collect(),
            ..TrackEvent::default()
        };
        self.packets.event(time, event);
    }

    /// A value of a counter: a whole number, or one with its scale.
    fn count(
        &mut self,
        at: At,
        counter: Counter,
        value: i64,
        scale: f64,
        name: impl FnOnce(&mut Self) -> (u64, String, String),
    ) {
        let track = match self.counters.get(&counter) {
            Some(track) => *track,
            None => {
                let (parent, name, unit) = name(self);
                let track = self.packets.counter(parent, &name, &unit);
                self.counters.insert(counter, track);
                track
            }
        };
        let whole = scale == 1.0;
        let event = TrackEvent {
            r#type: Some(COUNTER),
            track_uuid: Some(track),
            counter_value: whole.then_some(value),
            double_counter_value: (!whole).then_some(value as f64 * scale),
            ..TrackEvent::default()
        };
        self.packets.event((self.place)(at.time), event);
    }

    fn begin_loose(&mut self, at: At, span: &Span, key: (&'static str, u64), name: &'static str) {
        let thread = &mut self.threads[at.position];
        let parent = thread.track;
        let free = thread.free.get_mut(name).and_then(Vec::pop);
        let track = free.unwrap_or_else(|| self.packets.track(parent, name));
        self.slice(at, track, span, None, Vec::new());
        let loose = Loose {
            position: at.position,
            track,
            begin: self.threads[at.position].last,
        };
        let key = (at.body, key.0, key.1);
        self.loose.entry(key).or_default().push(loose);
    }

    fn end_loose(&mut self, at: At, key: (&'static str, u64), name: &'static str) {
        let key = (at.body, key.0, key.1);
        let Some(open) = self.loose.get_mut(&key) else {
            return;
        };
        let loose = open.pop();
        if open.is_empty() {
            self.loose.remove(&key);
        }
        if let Some(loose) = loose {
            let time = (self.place)(at.time.max(loose.begin));
            self.pop(time, loose.track, Vec::new(), Vec::new());
            let free = &mut self.threads[loose.position].free;
            free.entry(name).or_default().push(loose.track);
        }
    }

    /// Ends a slice of the thread's own track, if it is open, and what lies on top of it.
    fn end_nested(&mut self, at: At, span: &Span, flow_ids: Vec<u64>, ending: Vec<u64>) {
        let time = self.time(at);
        let Thread { track, open, .. } = &self.threads[at.position];
        let (track, depth) = (*track, open.len());
        let lowest = depth.saturating_sub(LOOK_BACK);
        let is = |(body, other): &(u32, Span)| *body == at.body && other == span;
        let Some(found) = open[lowest..].iter().rposition(is) else {
            return;
        };
        for _ in lowest + found + 1..depth {
            self.pop(time, track, Vec::new(), Vec::new());
        }
        self.pop(time, track, flow_ids, ending);
        self.threads[at.position].open.truncate(lowest + found);
    }

    /// Dependences on tasks that have ended.
    fn late(&mut self) {
        for index in 0..self.flows.late.len() {
            let late = self.flows.late[index];
            let track = self.own_track(late.position, "dependences");
            let (time, name) = ((self.place)(late.time), self.packets.name("end of a task"));
            self.instant(
                time,
                track,
                Category::Dependence,
                name,
                None,
                Some(late.flow),
            );
        }
        self.flows.late.clear();
    }
}

/// Where a span that need not nest is found again, and the name of its tracks.
fn loose(span: &Span) -> Option<((&'static str, u64), &'static str)> {
    match *span {
        Span::Hold { kind, object } => Some(((mutex_name(kind), object), "locks held")),
        Span::Taskgroup => Some((("taskgroup", 0), "taskgroups")),
        _ => None,
    }
}

/// The track of spans that nest among themselves only.
fn own_track(span: &Span) -> Option<&'static str> {
    match span {
        Span::User { .. } => Some("regions"),
        Span::Call { .. } => Some("calls"),
        _ => None,
    }
}

impl Sink for Process<'_, '_> {
    const MEMORY: bool = true;
    const READINGS: bool = true;

    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.spans += 1;
        if self.spans.is_multiple_of(PROGRESS_STEP) {
            (self.progress)(at.time);
        }
        if let Some((key, name)) = loose(span) {
            return self.begin_loose(at, span, key, name);
        }
        if let Some(name) = own_track(span) {
            let track = self.own_track(at.position, name);
            return self.slice(at, track, span, None, Vec::new());
        }
        let told = how == Begin::Told;
        let (mut flow, mut ending) = (None, Vec::new());
        match *span {
            Span::Create { task, .. } if told => {
                self.flows.create(at, task, false);
                self.late();
                flow = Some(self.flows.created(task));
            }
            Span::WaitDepend { task, nowait } if told => {
                self.flows.create(at, task, nowait);
                self.late();
            }
            Span::Task { task, .. } if told => ending = self.flows.begin(task),
            _ => {}
        }
        let track = self.threads[at.position].track;
        self.slice(at, track, span, flow, ending);
        self.threads[at.position].open.push((at.body, *span));
    }

    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        if let Some((key, name)) = loose(span) {
            return self.end_loose(at, key, name);
        }
        if let Some(name) = own_track(span) {
            let (time, track) = (self.time(at), self.own_track(at.position, name));
            return self.pop(time, track, Vec::new(), Vec::new());
        }
        let (mut outgoing, mut ending) = (Vec::new(), Vec::new());
        match *span {
            Span::Task { task, .. } if how.is_final() => {
                outgoing = self.flows.end(at, task, false);
                self.flows.end_body(at.body);
            }
            Span::Implicit { .. } if how.is_final() => self.flows.end_body(at.body),
            // What it waits for has ended when it ends itself.
            Span::WaitDepend {
                task,
                nowait: false,
            } if how.is_final() => {
                let hidden = !matches!(how, End::Told | End::Implied);
                let incoming = self.flows.begin(task);
                if !hidden {
                    ending = incoming;
                }
                outgoing = self.flows.end(at, task, hidden);
            }
            _ => {}
        }
        self.end_nested(at, span, outgoing, ending);
    }

    fn thread_end(&mut self, at: At) {
        let time = self.time(at);
        let Thread { track, open, .. } = &mut self.threads[at.position];
        let (track, open) = (*track, std::mem::take(open));
        for _ in open {
            self.pop(time, track, Vec::new(), Vec::new());
        }
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        let track = self.threads[at.position].track;
        match mark {
            Mark::Depend { task, entries } => self.flows.depend(at.position, task, entries),
            Mark::Text { address, text } => {
                let text = String::from_utf8_lossy(text).into_owned();
                self.texts.insert((at.position, address), text);
            }
            Mark::User { kind, value } => {
                let packets = &mut *self.packets;
                let name = || packets.name(&format!("event {kind}"));
                let name = *self.user_events.entry(kind).or_insert_with(name);
                let (time, note) = (self.time(at), Some(Note::Value(value)));
                self.instant(time, track, Category::UserEvent, name, note, None);
            }
            Mark::Counter { name, value } => {
                let counter = Counter::User(at.position, name);
                self.count(at, counter, value, 1.0, |own| {
                    let text = own.texts.get(&(at.position, name)).cloned();
                    (track, text.unwrap_or(format!("{name:#x}")), String::new())
                });
            }
            Mark::Cancel { kind, .. } => {
                let name = self.packets.name(&format!("cancel {}", cancel_name(kind)));
                let time = self.time(at);
                self.instant(time, track, Category::Cancel, name, None, None);
            }
            Mark::Piece { task, .. } => {
                let (flow, name) = (
                    self.flows.created(task),
                    self.packets.name("task of taskloop"),
                );
                let note = Some(Note::Task(self.flows.number(task)));
                let time = self.time(at);
                self.instant(time, track, Category::Create, name, note, Some(flow));
            }
            _ => {}
        }
    }

    fn interval(&mut self, interval: Interval) {
        let name = match interval.state {
            State::Useful => "useful",
            State::Synchronization => "synchronization",
            State::Scheduling => "scheduling",
            State::Flush => "flush",
            State::Idle => "idle",
        };
        let track = self.own_track(interval.position, "state");
        let event = TrackEvent {
            r#type: Some(SLICE_BEGIN),
            track_uuid: Some(track),
            category_iids: Category::State.iid(),
            name_iid: Some(self.packets.name(name)),
            ..TrackEvent::default()
        };
        self.packets.event((self.place)(interval.begin), event);
        self.pop((self.place)(interval.end), track, Vec::new(), Vec::new());
    }

    fn memory(&mut self, at: At, memory: &Memory) {
        let (counter, value, name) = match memory {
            Memory::Heap(call) => (Counter::HeapInUse, call.bytes_in_use, "heap in use"),
            Memory::Pages(call) => (Counter::Mapped, call.mapped, "mapped pages"),
            _ => return,
        };
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.count(at, counter, value, 1.0, |own| {
            (own.track, name.into(), "bytes".into())
        });
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
                    self.count(at, Counter::Sensor(sensor, index), raw, def.scale, |own| {
                        (own.track, def.value_name(index), def.unit.clone())
                    });
                }
            }
            Reading::Counters { values, .. } => {
                for (index, count) in values.iter().enumerate() {
                    let Some(value) = count.value else { continue };
                    let counter = Counter::Thread(at.position, index);
                    self.count(at, counter, value, 1.0, |own| {
                        let (name, unit) = own.definitions[index].clone();
                        (own.threads[at.position].track, name, unit)
                    });
                }
            }
            Reading::Lost { .. } => {}
        }
    }
}
