//! Spans, marks and readings of one process to packets.

mod counters;
mod names;
mod tracks;

use hashbrown::HashMap;

use crate::model::{
    At, Begin, Code, End, Interval, Mark, Memory, Reading, Since, Sink, Span, State,
};
use crate::names::Names;
use crate::trace::Trace;
use crate::words::cancel_name;

use super::flows::Flows;
use super::packets::{Category, Note, Packets};
use super::proto::{INSTANT, SLICE_BEGIN, SLICE_END, TrackEvent};
use counters::Counter;
use tracks::{Loose, loose, own_track};

/// Spans between two calls of the progress function.
const PROGRESS_STEP: u64 = 1 << 16;

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
        self.count_memory(at, memory);
    }

    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        self.count_reading(at, reading);
    }
}
