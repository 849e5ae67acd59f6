//! Spans, marks and readings of a process as slices, instants and counters on tracks, with flows between tasks: what formats with a time line of
//! tracks have in common. Each has a [`SliceWriter`].
//!
//! Slices of a track nest. What need not nest with OpenMP's constructs (held locks, taskgroups, regions of the program's own, calls) is on tracks
//! of its own below the thread's; tasks of event loops have tracks below the process. All comes in order of time but for states, which are given when they end, and for dependences on tasks that
//! have ended. Series come last.

mod asynchronous;
mod counters;
mod flows;
mod names;
mod series;
mod tracks;
mod writer;

use hashbrown::HashMap;
use instr_trace::model::{
    At, Begin, Call, Code, End, Interval, Mark, Memory, Reading, Scheduled, Since, Sink, Span,
    State, Switch, is_idle, pays_apart, replay_ahead,
};
use instr_trace::names::{CodeRole, Names};
use instr_trace::sensors::Definitions;
use instr_trace::words::cancel_name;
use instr_trace::{TaskId, Trace};

use crate::describe::Category;
use crate::error::Error;
use crate::format::{Input, Progress};

pub(crate) use writer::{FlowsHere, Label, Note, Number, SliceWriter};

use asynchronous::Asynchronicity;
use counters::Counter;
use flows::Flows;
use names::Word;
use tracks::{Below, Loose, loose, own_track};

/// Spans between two calls of the progress function.
const PROGRESS_STEP: u64 = 1 << 16;

/// Gives all processes to `writer`, one after the other, and then their series. Times are those of [`instr_trace::Session::begin`] and later.
pub(crate) fn write<W: SliceWriter>(
    input: &Input<'_>,
    writer: &mut W,
    progress: &mut Progress<'_>,
) -> Result<(), Error> {
    let (session, traces) = (input.session(), input.traces());
    let total = traces.iter().map(Trace::end_time).sum();
    let mut done: u64 = 0;
    let mut processes = Vec::new();
    for (number, trace) in traces.iter().enumerate() {
        let names = input.names(number);
        let place = |time| session.begin().saturating_add(session.time(number, time));
        let mut at = |time: u64| progress(time.saturating_add(done).min(total), total);
        let mut slices = Slices::new(number, trace, names, &place, writer, &mut at);
        processes.push(slices.track);
        replay_ahead(trace, &mut slices, pays_apart(trace.bytes()), wants)?;
        slices.finish(trace.end_time());
        done = done.saturating_add(trace.end_time());
        check(writer)?;
    }
    series::write(session, &processes, writer)?;
    check(writer)
}

/// What [`Slices`] makes something of.
fn wants(call: &Call) -> bool {
    !matches!(
        call,
        Call::State(..) | Call::Activity(..) | Call::Body(..) | Call::RegionEnd(..)
    )
}

/// The error of an output that refused something.
fn check<W: SliceWriter>(writer: &mut W) -> Result<(), Error> {
    writer
        .failure()
        .map_or(Ok(()), |error| Err(Error::Output(error)))
}

/// One thread.
#[derive(Debug)]
struct Thread {
    track: u64,
    /// Time of what was written last.
    last: u64,
    /// Slices that are open on its track, with the numbers of their bodies.
    open: Vec<(u32, Span)>,
    /// Its further tracks, in the order of [`Below`].
    tracks: [Option<u64>; Below::COUNT],
    /// Those for what does not nest that are not in use.
    free: [Vec<u64>; Below::COUNT],
    /// The processor that it was on last.
    processor: Option<u32>,
}

/// The sink of one process.
struct Slices<'p, W> {
    names: &'p dyn Names,
    /// A time of the process in the output.
    place: &'p dyn Fn(u64) -> u64,
    writer: &'p mut W,
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
    labels: HashMap<(Code, Word), u64>,
    words: HashMap<Word, u64>,
    user_events: HashMap<u32, u64>,
    flows: Flows,
    asynchronous: Asynchronicity,
    /// Numbers of the processors, and the system that they run.
    processors: Vec<u32>,
    target: String,
}

impl<'p, W: SliceWriter> Slices<'p, W> {
    fn new(
        number: usize,
        trace: &Trace,
        names: &'p dyn Names,
        place: &'p dyn Fn(u64) -> u64,
        writer: &'p mut W,
        progress: &'p mut dyn FnMut(u64),
    ) -> Self {
        let metadata = trace.metadata();
        let track = writer.process(metadata.pid, &metadata.program);
        let threads = trace.threads().iter().map(|info| Thread {
            track: writer.thread(info.os_tid, &info.name),
            last: 0,
            open: Vec::new(),
            tracks: Default::default(),
            free: Default::default(),
            processor: None,
        });
        let threads = threads.collect();
        let counters = Definitions::of(metadata).counters.into_iter();
        Self {
            threads,
            names,
            place,
            writer,
            progress,
            spans: 0,
            track,
            definitions: counters.map(|def| (def.name, def.unit)).collect(),
            loose: HashMap::new(),
            counters: HashMap::new(),
            texts: HashMap::new(),
            labels: HashMap::new(),
            words: HashMap::new(),
            user_events: HashMap::new(),
            flows: Flows::new(number),
            asynchronous: Asynchronicity::default(),
            processors: trace
                .processor_infos()
                .iter()
                .map(|info| info.os_tid)
                .collect(),
            target: metadata.target.clone(),
        }
    }

    /// The time in the output; no earlier than what was written of the thread.
    fn time(&mut self, at: At) -> u64 {
        let last = &mut self.threads[at.position].last;
        *last = (*last).max(at.time);
        (self.place)(*last)
    }

    fn slice(&mut self, at: At, track: u64, span: &Span, flows: FlowsHere<'_>) {
        let label = self.describe(at, span);
        let time = self.time(at);
        self.writer.begin(time, track, label, flows);
    }

    /// Dependences on tasks that have ended.
    fn late(&mut self) {
        for index in 0..self.flows.late.len() {
            let late = self.flows.late[index];
            let track = self.own_track(late.position, Below::Dependences);
            let label = Label::new(Category::Dependence, self.word("end of a task"));
            let flows = FlowsHere {
                begin: &[late.flow],
                end: &[],
            };
            self.writer
                .instant((self.place)(late.time), track, label, flows);
        }
        self.flows.late.clear();
    }

    /// A span on the thread's own track.
    fn begin_nested(&mut self, at: At, span: &Span, told: bool) {
        let (mut created, mut ending) = (None, Vec::new());
        match *span {
            Span::Create { task, .. } if told => {
                self.flows.create(at, task, false);
                self.late();
                created = Some(self.flows.created(task));
            }
            Span::WaitDepend { task, nowait } if told => {
                self.flows.create(at, task, nowait);
                self.late();
            }
            Span::Task { task, .. } if told => ending = self.flows.begin(task),
            _ => {}
        }
        let track = self.threads[at.position].track;
        let flows = FlowsHere {
            begin: created.as_slice(),
            end: &ending,
        };
        self.slice(at, track, span, flows);
        self.threads[at.position].open.push((at.body, *span));
        match *span {
            Span::Create { task, code, .. } if told => self.live(at, task, code),
            Span::Task { task, code, .. } => self.live(at, task, code),
            _ => {}
        }
    }

    /// A task is created, or begins though its creation was lost.
    fn live(&mut self, at: At, task: TaskId, code: Code) {
        if !W::LIVES {
            return;
        }
        let name = self.label(code, "", CodeRole::Task);
        if self.flows.live(task, name) {
            let number = self.flows.number(task);
            let (time, track) = (self.time(at), self.threads[at.position].track);
            self.writer.task_begin(time, track, number, name);
        }
    }

    /// It has ended.
    fn die(&mut self, at: At, task: TaskId) {
        if W::LIVES
            && let Some((number, name)) = self.flows.die(task)
        {
            let (time, track) = (self.time(at), self.threads[at.position].track);
            self.writer.task_end(time, track, number, name);
        }
    }

    /// Ends what is not over in the trace: awaits of event loops' tasks, lives of tasks.
    fn finish(&mut self, end: u64) {
        self.finish_asynchronous(end);
        if W::LIVES {
            for (number, name) in self.flows.survivors() {
                self.writer
                    .task_end((self.place)(end), self.track, number, name);
            }
        }
    }
}

impl<W: SliceWriter> Sink for Slices<'_, W> {
    const TIMES: bool = false;
    const MEMORY: bool = true;
    const READINGS: bool = true;

    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.spans += 1;
        if self.spans.is_multiple_of(PROGRESS_STEP) {
            (self.progress)(at.time);
        }
        if let Some((key, below)) = loose(span) {
            return self.begin_loose(at, span, key, below);
        }
        if let Some(below) = own_track(span) {
            if let Span::Function { name } = *span {
                self.begin_asynchronous(at, name);
            }
            let track = self.own_track(at.position, below);
            return self.slice(at, track, span, FlowsHere::default());
        }
        self.begin_nested(at, span, how == Begin::Told);
    }

    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        if let Some((key, below)) = loose(span) {
            return self.end_loose(at, key, below);
        }
        if let Some(below) = own_track(span) {
            if let Span::Function { name } = *span {
                self.end_asynchronous(at, name, how);
            }
            let (time, track) = (self.time(at), self.own_track(at.position, below));
            return self.writer.end(time, track, FlowsHere::default());
        }
        let (mut outgoing, mut ending) = (Vec::new(), Vec::new());
        match *span {
            Span::Task { task, .. } if how.is_final() => {
                self.die(at, task);
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
        let flows = FlowsHere {
            begin: &outgoing,
            end: &ending,
        };
        self.end_nested(at, span, flows);
    }

    fn thread_end(&mut self, at: At) {
        let time = self.time(at);
        let Thread { track, open, .. } = &mut self.threads[at.position];
        let (track, open) = (*track, std::mem::take(open));
        for _ in open {
            self.writer.end(time, track, FlowsHere::default());
        }
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        let track = self.threads[at.position].track;
        match mark {
            Mark::Depend { task, entries } => self.flows.depend(at.position, task, entries),
            Mark::Text { address, text } => {
                let text = String::from_utf8_lossy(text).into_owned();
                self.asynchronous.text(at.position, address, &text);
                self.texts.insert((at.position, address), text);
            }
            Mark::User { kind, value } => {
                let writer = &mut *self.writer;
                let name = || writer.name(&format!("event {kind}"));
                let name = *self.user_events.entry(kind).or_insert_with(name);
                let label = Label {
                    note: Some(Note::Value(value)),
                    ..Label::new(Category::UserEvent, name)
                };
                let time = self.time(at);
                self.writer
                    .instant(time, track, label, FlowsHere::default());
            }
            Mark::Counter { name, value } => {
                let counter = Counter::User(at.position, name);
                self.count(at, counter, value, 1.0, |own| {
                    let text = own.texts.get(&(at.position, name)).cloned();
                    (track, text.unwrap_or(format!("{name:#x}")), String::new())
                });
            }
            Mark::Cancel { kind, .. } => {
                let name = format!("cancel {}", cancel_name(kind));
                let label = Label::new(Category::Cancel, self.writer.name(&name));
                let time = self.time(at);
                self.writer
                    .instant(time, track, label, FlowsHere::default());
            }
            Mark::Piece { task, code, .. } => {
                let flow = self.flows.created(task);
                let label = Label {
                    note: Some(Note::Task(self.flows.number(task))),
                    ..Label::new(Category::Create, self.word("task of taskloop"))
                };
                let flows = FlowsHere {
                    begin: &[flow],
                    end: &[],
                };
                let time = self.time(at);
                self.writer.instant(time, track, label, flows);
                self.live(at, task, code);
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
        let track = self.own_track(interval.position, Below::State);
        let label = Label::new(Category::State, self.word(name));
        let (begin, end) = ((self.place)(interval.begin), (self.place)(interval.end));
        self.writer.whole(begin, end, track, label);
    }

    fn on_cpu(&mut self, at: At, processor: Option<u32>) {
        let last = &mut self.threads[at.position].processor;
        *last = processor.or(*last);
    }

    fn scheduled(&mut self, at: At, state: Scheduled, _lost: u32) {
        let thread = &self.threads[at.position];
        if let Some(processor) = thread.processor {
            let time = (self.place)(at.time);
            self.writer.scheduled(time, thread.track, processor, state);
        }
    }

    fn switch(&mut self, switch: &Switch) {
        let Some(number) = self.processors.get(switch.processor) else {
            return;
        };
        let thread = |tid: u32| if is_idle(&self.target, tid) { 0 } else { tid };
        let (from, to) = (switch.from.map(thread), thread(switch.to));
        self.writer
            .switch((self.place)(switch.time), *number, from, to);
    }

    fn memory(&mut self, at: At, memory: &Memory) {
        self.count_memory(at, memory);
    }

    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        self.count_reading(at, reading);
    }
}
