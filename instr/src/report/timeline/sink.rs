//! Spans and states of one process to the time line.

use hashbrown::HashMap;

use instr_trace::model::{
    At, Begin, End, HeapCall, Mark, Memory, Ran, Reading, Since, Sink, Span as Model, State,
};
use instr_trace::words::{function_label, mutex_name};

use super::Collector;
use super::lanes::Shape;
use super::longest::{What, Where};
use super::loop_tasks::LoopTasks;
use super::spans::Span;

/// Calls between two looks at the progress.
const PROGRESS_STEP: u64 = 1 << 16;

/// What a thread does since a time.
#[derive(Clone, Copy, Debug, Default)]
struct Now {
    since: u64,
    state: Option<State>,
    code: u16,
    wait: u8,
    task: bool,
}

/// The sink of one process.
pub(super) struct Process<'c> {
    collector: &'c mut Collector,
    number: usize,
    /// Track of its first thread.
    first: usize,
    /// A time of the process as one of the session.
    place: &'c dyn Fn(u64) -> u64,
    progress: &'c mut dyn FnMut(u64),
    calls: u64,
    threads: Vec<Now>,
    /// By body: what it waits for.
    waits: Vec<u8>,
    /// Outermost regions that are open, and the end of the last one, or the process's begin.
    regions: u32,
    joined: u64,
    running: Option<usize>,
    pending: Option<usize>,
    heap: Option<usize>,
    has_heap: bool,
    /// Lanes of sensors and their values, and of counters of the program by address of their names.
    sensors: HashMap<(usize, usize), Option<usize>>,
    counters: HashMap<u64, Option<usize>>,
    texts: HashMap<u64, String>,
    loop_tasks: LoopTasks,
}

impl<'c> Process<'c> {
    pub(super) fn new(
        collector: &'c mut Collector,
        (number, first, threads): (usize, usize, usize),
        place: &'c dyn Fn(u64) -> u64,
        progress: &'c mut dyn FnMut(u64),
    ) -> Self {
        Self {
            collector,
            number,
            first,
            place,
            progress,
            calls: 0,
            threads: vec![Now::default(); threads],
            waits: Vec::new(),
            regions: 0,
            joined: place(0),
            running: None,
            pending: None,
            heap: None,
            has_heap: false,
            sensors: HashMap::new(),
            counters: HashMap::new(),
            texts: HashMap::new(),
            loop_tasks: LoopTasks::default(),
        }
    }

    /// The span of a thread up to a time, which begins the next one.
    #[inline]
    fn cut(&mut self, position: usize, time: u64) {
        let now = &mut self.threads[position];
        if let Some(state) = now.state
            && now.since < time
        {
            let span = Span {
                begin: (self.place)(now.since),
                end: (self.place)(time),
                state: state_number(state),
                wait: now.wait,
                code: now.code,
            };
            self.collector.add(self.first + position, span);
        }
        now.since = now.since.max(time);
    }

    /// Times on the time line of something that ends.
    fn place_of(&self, at: At, since: Since) -> Option<Where> {
        Some(Where {
            begin: (self.place)(since.first?),
            end: (self.place)(at.time),
            track: self.first + at.position,
        })
    }

    fn wait_of(&self, body: u32) -> u8 {
        self.waits.get(body as usize).copied().unwrap_or(0)
    }

    fn set_wait(&mut self, body: u32, wait: u8) {
        let body = body as usize;
        if self.waits.len() <= body {
            self.waits.resize(body + 1, 0);
        }
        self.waits[body] = wait;
    }

    /// Counts tasks that run, or that were created and have not begun.
    fn count(&mut self, time: u64, running: bool, more: f64) {
        let lanes = &mut self.collector.lanes;
        let (lane, name) = match running {
            true => (&mut self.running, "tasks running"),
            false => (&mut self.pending, "tasks not begun"),
        };
        if lane.is_none() {
            *lane = lanes.open(self.number, name, "", Shape::Step);
        }
        if let Some(lane) = lanes.get(*lane) {
            lane.add((self.place)(time), more);
        }
    }

    /// Another body runs on a thread.
    fn runs(&mut self, position: usize, time: u64, body: Option<&Model>) {
        let (code, task) = match body {
            Some(Model::Task { code, .. }) => (Some(*code), true),
            Some(Model::Implicit { code, .. }) => (Some(*code), false),
            _ => (None, false),
        };
        let number = match code {
            Some(code) => self.collector.codes.number(self.number, code, task),
            None => 0,
        };
        let before = std::mem::replace(&mut self.threads[position].task, task);
        self.threads[position].code = number;
        if before != task {
            self.count(time, true, if task { 1.0 } else { -1.0 });
        }
    }

    fn sensor(&mut self, time: u64, reading: &Reading<'_>) {
        let Reading::Sensor {
            sensor,
            def,
            values,
        } = *reading
        else {
            return;
        };
        let now = (self.place)(time);
        for (index, value) in values.iter().enumerate() {
            // Of a meter of energy the power is shown.
            let (unit, shown) = match def.is_meter() {
                true => ("W", value.power_mw(def, time).map(|mw| mw as f64 / 1e3)),
                false => (
                    def.unit.as_str(),
                    value.raw.map(|raw| raw as f64 * def.scale),
                ),
            };
            let Some(shown) = shown else {
                continue;
            };
            let lanes = &mut self.collector.lanes;
            let open = || lanes.open(self.number, &def.value_name(index), unit, Shape::Reading);
            let lane = *self.sensors.entry((sensor, index)).or_insert_with(open);
            if let Some(lane) = lanes.get(lane) {
                lane.set(now, shown);
            }
        }
    }
}

/// The number of a state: a place in [`super::STATE_NAMES`].
fn state_number(state: State) -> u8 {
    match state {
        State::Useful => 0,
        State::Synchronization => 1,
        State::Scheduling => 2,
        State::Idle => 3,
        State::Flush => 4,
    }
}

impl Sink for Process<'_> {
    const MEMORY: bool = true;
    const READINGS: bool = true;

    fn thread_begin(&mut self, at: At) {
        self.threads[at.position] = Now {
            since: at.time,
            ..Now::default()
        };
    }

    fn thread_end(&mut self, at: At) {
        self.cut(at.position, at.time);
        // What the first thread does behind the last region.
        if at.position == 0 && self.regions == 0 {
            let place = Where {
                begin: self.joined.min((self.place)(at.time)),
                end: (self.place)(at.time),
                track: self.first,
            };
            self.collector.longest.add(self.number, What::Serial, place);
        }
        self.runs(at.position, at.time, None);
        self.threads[at.position].state = None;
    }

    fn state(&mut self, at: At, state: State) {
        self.cut(at.position, at.time);
        let wait = match state {
            State::Useful | State::Idle => 0,
            _ => self.wait_of(at.body),
        };
        let now = &mut self.threads[at.position];
        (now.state, now.wait) = (Some(state), wait);
    }

    fn body(&mut self, at: At, body: Option<&Model>) {
        self.cut(at.position, at.time);
        self.runs(at.position, at.time, body);
    }

    fn begin(&mut self, at: At, span: &Model, how: Begin) {
        self.calls += 1;
        if self.calls.is_multiple_of(PROGRESS_STEP) {
            (self.progress)(at.time);
        }
        match span {
            Model::Parallel { .. } => {
                if self.regions == 0 {
                    let place = Where {
                        begin: self.joined.min((self.place)(at.time)),
                        end: (self.place)(at.time),
                        track: self.first + at.position,
                    };
                    self.collector.longest.add(self.number, What::Serial, place);
                }
                self.regions += 1;
            }
            Model::Create { .. } if how == Begin::Told => self.count(at.time, false, 1.0),
            Model::Task { .. } if how == Begin::Told => self.count(at.time, false, -1.0),
            Model::Function { name } => {
                if let Some(text) = self.texts.get(name) {
                    let lanes = (self.number, &mut self.collector.lanes);
                    let time = (self.place)(at.time);
                    self.loop_tasks.begin(lanes, (*name, text), time, how);
                }
            }
            _ => {}
        }
        if !span.is_body() && span.state().is_some_and(|state| state != State::Useful) {
            let wait = self.collector.waits.of(span);
            self.set_wait(at.body, wait);
        }
    }

    fn end(&mut self, at: At, span: &Model, how: End, since: Since) {
        if let Model::Function { name } = span {
            let time = (self.place)(at.time);
            let lanes = &mut self.collector.lanes;
            self.loop_tasks.end(lanes, *name, time, how);
        }
        if let (Model::User { name } | Model::Function { name }, true) = (span, how.is_final()) {
            if let Some(place) = self.place_of(at, since) {
                let longest = &mut self.collector.longest;
                longest.add(self.number, What::User(*name), place);
                if let Some(text) = self.texts.get(name) {
                    let names = &mut self.collector.user_names;
                    names
                        .entry((self.number, *name))
                        .or_insert_with(|| function_label(text));
                }
            }
            return;
        }
        if span.is_body() {
            if let (Model::Implicit { code, .. }, true) = (span, how.is_final())
                && let Some(place) = self.place_of(at, since)
                && self.collector.takes(place.end)
            {
                let code = self.collector.codes.number(self.number, *code, false);
                let ns = place.end - place.begin;
                self.collector.durations.add(code, place.track, ns);
            }
            return;
        }
        let waited = span.state().is_some_and(|state| state != State::Useful);
        if !waited {
            return;
        }
        let wait = self.wait_of(at.body);
        self.set_wait(at.body, 0);
        if matches!(span, Model::Parallel { .. }) {
            self.regions = self.regions.saturating_sub(1);
            if self.regions == 0 {
                self.joined = (self.place)(at.time);
            }
        }
        let what = match span {
            Model::Parallel { code, .. } => What::Region(*code),
            Model::Acquire { kind, object } => What::Lock(mutex_name(*kind), *object),
            Model::Sync(_) | Model::Closing { .. } => What::Wait(wait),
            _ => return,
        };
        if let Some(place) = self.place_of(at, since).filter(|_| how.is_final()) {
            self.collector.longest.add(self.number, what, place);
        }
    }

    fn task_ran(&mut self, at: At, task: &Model, ran: Ran) {
        let Model::Task { code, .. } = task else {
            return;
        };
        let number = self.collector.codes.number(self.number, *code, true);
        let track = self.first + at.position;
        if self.collector.takes((self.place)(at.time)) {
            self.collector.durations.add(number, track, ran.own);
        }
        let place = Where {
            begin: (self.place)(at.time.saturating_sub(ran.whole)),
            end: (self.place)(at.time),
            track,
        };
        let longest = &mut self.collector.longest;
        longest.add(self.number, What::Task(*code), place);
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        match mark {
            Mark::Piece { .. } => self.count(at.time, false, 1.0),
            Mark::Text { address, text } => {
                let text = String::from_utf8_lossy(text).into_owned();
                self.texts.insert(address, text);
            }
            Mark::Counter { name, value } => {
                let lanes = &mut self.collector.lanes;
                let text = self.texts.get(&name).map_or("counter", String::as_str);
                let open = || lanes.open(self.number, text, "", Shape::Step);
                let lane = *self.counters.entry(name).or_insert_with(open);
                if let Some(lane) = lanes.get(lane) {
                    lane.set((self.place)(at.time), value as f64);
                }
            }
            _ => {}
        }
    }

    fn memory(&mut self, at: At, memory: &Memory) {
        let Memory::Heap(HeapCall { bytes_in_use, .. }) = memory else {
            return;
        };
        let lanes = &mut self.collector.lanes;
        if !std::mem::replace(&mut self.has_heap, true) {
            self.heap = lanes.open(self.number, "heap in use", "B", Shape::Step);
        }
        if let Some(lane) = lanes.get(self.heap) {
            lane.set((self.place)(at.time), *bytes_in_use as f64);
        }
    }

    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        self.sensor(at.time, reading);
    }
}
