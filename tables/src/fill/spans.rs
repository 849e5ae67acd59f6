//! The sink of a process: spans, states, regions and waits. What else happens is in the files beside this one.

use std::sync::mpsc::Receiver;

use hashbrown::HashMap;
use instr_trace::event::{RegionId, SyncKind};
use instr_trace::kernel::Part;
use instr_trace::model::{
    At, Begin, Code, End, Found, Interval, Mark, Memory, Reading, Run, Sample, Scheduled, Since,
    Sink, Span, Work,
};
use instr_trace::names::CodeRole;
use instr_trace::samples::Chain;
use instr_trace::words::{function_parts, mutex_name, sync_name, target_name};
use instr_trace::{Names, ThreadInfo, Trace};

use crate::batch::Gathered;
use crate::places::{Place, Places};
use crate::tables::{
    events, memory, regions, samples, sensors, spans, states, switches, sync, tasks,
};
use crate::texts::{Text, Texts};

use super::tasks::Block;
use super::values::Meters;
use super::words::{self, int};

/// Ends of spans between two looks whether tasks have come.
const LOOK: u32 = 1 << 10;

/// The tables that are wanted.
#[derive(Clone, Copy)]
pub(super) struct Wants {
    pub(super) spans: bool,
    pub(super) states: bool,
    pub(super) regions: bool,
    pub(super) sync: bool,
    pub(super) events: bool,
    pub(super) tasks: bool,
    pub(super) memory: bool,
    pub(super) sensors: bool,
    pub(super) samples: bool,
    pub(super) stacks: bool,
    pub(super) switches: bool,
}

/// What is known of a thread.
pub(super) struct Thread {
    pub(super) index: i32,
    pub(super) name: Text,
    /// The code of the running body, and its kind; nothing in the initial task.
    body: Option<(Code, CodeRole)>,
    /// The region whose implicit task ended last, and its code.
    ended: Option<(RegionId, Code)>,
    /// Regions in whose closing barriers it is, and their code: in one, a task may have others.
    closing: Vec<(RegionId, Code)>,
    /// Texts by address.
    pub(super) texts: HashMap<u64, Text>,
    /// What the last call of threads for a lock found, where it returns to, and the lock. OpenMP's critical sections have no such call.
    lock: Option<(Found, u64, u64)>,
    /// Where the last call that waits returns to, and what it waits for.
    wait: (u64, u64),
    /// Locks that it holds, and what it found them to be.
    found: HashMap<u64, Found>,
    /// Since when it runs on which processor.
    pub(super) running: Option<i64>,
    pub(super) processor: Option<i32>,
    /// Length of its sampling periods.
    pub(super) period_ns: Option<i64>,
    /// When its counters were read last.
    pub(super) counted: Option<i64>,
}

impl Thread {
    fn new(info: &ThreadInfo, texts: &mut Texts) -> Self {
        Self {
            index: info.index as i32,
            name: texts.number(&info.name),
            body: None,
            ended: None,
            closing: Vec::new(),
            texts: HashMap::new(),
            lock: None,
            wait: (0, 0),
            found: HashMap::new(),
            running: None,
            processor: None,
            period_ns: None,
            counted: None,
        }
    }
}

/// Makes rows of one process.
pub(super) struct Rows<'r, 'o, const ALL: bool> {
    pub(super) process: i32,
    pub(super) shift: i64,
    pub(super) out: &'r mut Gathered<'o>,
    pub(super) places: Places<'r>,
    pub(super) threads: Vec<Thread>,
    pub(super) wants: Wants,
    pub(super) records: Receiver<Block>,
    pub(super) chain: Chain,
    pub(super) meters: Meters,
    pub(super) os_tids: Vec<u32>,
    pub(super) processors: Vec<i32>,
    pub(super) pid: i64,
    /// Regions that have ended, and whose teams are told next.
    ended: Vec<(RegionId, regions::Row)>,
    looked: u32,
}

impl Gathered<'_> {
    /// Which tables are wanted.
    fn tables(&mut self) -> Wants {
        Wants {
            spans: self.wants::<spans::Row>(),
            states: self.wants::<states::Row>(),
            regions: self.wants::<regions::Row>(),
            sync: self.wants::<sync::Row>(),
            events: self.wants::<events::Row>(),
            tasks: self.wants::<tasks::Row>(),
            memory: self.wants::<memory::Row>(),
            sensors: self.wants::<sensors::Row>(),
            samples: self.wants::<samples::Row>(),
            stacks: self.wants_column::<samples::Row>("stack"),
            switches: self.wants::<switches::Row>(),
        }
    }

    /// Whether something is wanted that only events tell.
    pub(super) fn needs_events(&mut self) -> bool {
        let wants = self.tables();
        wants.spans
            || wants.regions
            || wants.sync
            || wants.events
            || self.wants_column::<crate::tables::threads::Row>("events")
            || self.wants_column::<crate::tables::processes::Row>("events")
    }
}

impl<'r, 'o, const ALL: bool> Rows<'r, 'o, ALL> {
    pub(super) fn new(
        trace: &Trace,
        shift: i64,
        names: &'r dyn Names,
        out: &'r mut Gathered<'o>,
        records: Receiver<Block>,
    ) -> Self {
        let texts = &mut out.texts;
        let threads = trace.threads();
        let known = threads.iter().map(|info| Thread::new(info, texts));
        let known = known.collect();
        let mut wants = out.tables();
        // Otherwise the launcher's record has them. Where it recorded sums only, the threads had their own.
        wants.switches &= !trace.kernel_part().is_some_and(Part::has_switches);
        let processors = trace.processor_infos().iter();
        Self {
            process: out.process as i32,
            shift,
            places: Places::new(names),
            threads: known,
            wants,
            records,
            chain: Chain::default(),
            meters: Meters::of(trace.metadata(), &mut out.texts),
            os_tids: threads.iter().map(|info| info.os_tid).collect(),
            processors: processors.map(|info| info.os_tid as i32).collect(),
            pid: int(trace.metadata().pid),
            ended: Vec::new(),
            looked: 0,
            out,
        }
    }

    /// Gives the rows that waited for something.
    pub(super) fn finish(mut self) {
        self.take_tasks();
        self.add_ended();
    }

    /// A time in the tables.
    #[inline]
    pub(super) fn time(&self, time: u64) -> i64 {
        int(time).wrapping_add(self.shift)
    }

    #[inline]
    pub(super) fn word(&mut self, word: &'static str) -> Text {
        self.out.texts.word(word)
    }

    pub(super) fn named(&mut self, position: usize, address: u64) -> Text {
        let known = self.threads[position].texts.get(&address);
        match known {
            Some(text) => *text,
            None => self.out.texts.number(&format!("{address:#x}")),
        }
    }

    fn span(&mut self, at: At, span: &Span, how: End, since: Since) {
        let Some(kind) = words::span(span) else {
            return;
        };
        let shown = self.describe(at.position, span);
        let (begin_ns, end_ns) = (self.time(since.here), self.time(at.time));
        // The stretch before a gap has a row of its own.
        let begin_ns = match how {
            End::Unseen { .. } => end_ns,
            _ => begin_ns,
        };
        let row = spans::Row {
            process: self.process,
            thread: self.threads[at.position].index,
            begin_ns,
            end_ns,
            duration_ns: end_ns.saturating_sub(begin_ns),
            first_ns: since.first.map(|first| self.time(first)),
            kind: self.word(kind),
            ended: self.word(words::ended(how)),
            name: shown.name,
            function: shown.place.and_then(|place| place.function),
            file: shown.place.and_then(|place| place.file),
            line: shown.place.and_then(|place| place.line),
            address: shown.address,
            task: shown.task,
            region: shown.region,
            object: shown.object,
        };
        self.out.add(row);
    }

    fn describe(&mut self, position: usize, span: &Span) -> Shown {
        let texts = &mut self.out.texts;
        match *span {
            Span::Parallel { region, code, .. } => Shown {
                region: Some(words::region(region)),
                ..Shown::code(code, CodeRole::Parallel, &mut self.places, texts)
            },
            Span::Implicit { region, code, .. } => Shown {
                region: Some(words::region(region)),
                ..Shown::code(code, CodeRole::Parallel, &mut self.places, texts)
            },
            Span::Closing { region } => Shown {
                region: Some(words::region(region)),
                ..Shown::default()
            },
            Span::Task { task, code, .. }
            | Span::Create { task, code, .. }
            | Span::Taskloop { task, code, .. } => Shown {
                task: Some(words::task(task)),
                ..Shown::code(code, CodeRole::Task, &mut self.places, texts)
            },
            Span::WaitDepend { task, .. } => Shown {
                task: Some(words::task(task)),
                ..Shown::default()
            },
            Span::Work(Work::Loop { schedule, .. }) => Shown::named(texts.word(schedule.name())),
            Span::Sync(kind) => Shown::named(texts.word(sync_name(kind))),
            Span::Acquire { kind, object } | Span::Hold { kind, object } => Shown {
                object: Some(int(object)),
                ..Shown::named(self.places.lock(kind, object, texts))
            },
            Span::Target(target) => {
                let name = texts.word(target_name(target.kind));
                let code = Code::from(target.function);
                let known = target.function != 0;
                let shown =
                    known.then(|| Shown::code(code, CodeRole::Target, &mut self.places, texts));
                Shown {
                    name: Some(name),
                    ..shown.unwrap_or_default()
                }
            }
            Span::User { name } | Span::Call { name } => Shown::named(self.named(position, name)),
            Span::Function { name } => self.function(position, name),
            _ => Shown::default(),
        }
    }

    /// A function of a language: its text has its name and place.
    fn function(&mut self, position: usize, address: u64) -> Shown {
        let text = self.named(position, address);
        let text = self.out.texts.get(text.0).to_owned();
        let (name, place) = function_parts(&text);
        let name = self.out.texts.number(name);
        let place = place.and_then(|place| place.rsplit_once(':'));
        Shown {
            name: Some(name),
            place: Some(Place {
                name,
                function: Some(name),
                file: place.map(|(file, _)| self.out.texts.number(file)),
                line: place.and_then(|(_, line)| line.parse().ok()),
            }),
            ..Shown::default()
        }
    }

    fn region(&mut self, at: At, (region, code): (RegionId, Code), how: End, since: Since) {
        let place = self
            .places
            .code(code, CodeRole::Parallel, &mut self.out.texts);
        let begin_ns = self.time(since.first.unwrap_or(since.here));
        let end_ns = self.time(at.time);
        let row = regions::Row {
            process: self.process,
            region: words::region(region),
            thread: self.threads[at.position].index,
            begin_ns,
            end_ns,
            duration_ns: end_ns.saturating_sub(begin_ns),
            name: place.name,
            function: place.function,
            file: place.file,
            line: place.line,
            address: Some(int(code.address)).filter(|address| *address != 0),
            team: None,
            ended: self.word(words::ended(how)),
        };
        // Of those before, nothing was told.
        self.add_ended();
        self.ended.push((region, row));
    }

    fn add_ended(&mut self) {
        for (_, row) in std::mem::take(&mut self.ended) {
            self.out.add(row);
        }
    }

    fn sync(&mut self, at: At, span: &Span, how: End, since: Since) {
        let texts = &mut self.out.texts;
        let thread = &mut self.threads[at.position];
        let mut site = 0;
        let mut found = None;
        let mut holder = None;
        let (what, kind, object) = match *span {
            Span::Sync(kind) => {
                let object;
                (site, object) = std::mem::take(&mut thread.wait);
                holder = Some(object).filter(|_| kind == SyncKind::Interpreter);
                ("wait", sync_name(kind), None)
            }
            Span::Closing { .. } => ("wait", "closing barrier", None),
            Span::Acquire { kind, object } => {
                let lock = thread.lock.take_if(|(_, _, of)| *of == object);
                (found, site) = lock.map_or((None, 0), |(found, site, _)| (Some(found), site));
                ("acquire", mutex_name(kind), Some((kind, object)))
            }
            Span::Hold { kind, object } => {
                found = thread.found.remove(&object);
                ("hold", mutex_name(kind), Some((kind, object)))
            }
            _ => return,
        };
        // The closing barrier lies behind the body that it closes.
        let closed = match *span {
            // Others on top were cut off.
            Span::Closing { region } => thread.closing.iter().rposition(|(of, _)| *of == region),
            _ => None,
        };
        let around = match closed.and_then(|at| thread.closing.drain(at..).next()) {
            Some((_, code)) => Some((code, CodeRole::Parallel)),
            None => thread.body,
        };
        let body = around.map(|(code, role)| self.places.code(code, role, texts));
        let place = self.places.site(site, texts).or(body);
        let object_name = object.map(|(kind, object)| self.places.lock(kind, object, texts));
        let found = found.and_then(|found| match found {
            Found::Free => Some("free"),
            Found::Held => Some("held"),
            Found::Refused => None,
        });
        let begin_ns = self.time(since.first.unwrap_or(since.here));
        let end_ns = self.time(at.time);
        let row = sync::Row {
            process: self.process,
            thread: self.threads[at.position].index,
            begin_ns,
            end_ns,
            duration_ns: end_ns.saturating_sub(begin_ns),
            what: self.word(what),
            kind: self.word(kind),
            ended: self.word(words::ended(how)),
            found: found.map(|found| self.word(found)),
            object: object.map(|(_, object)| object).or(holder).map(int),
            object_name,
            name: body.map(|place| place.name),
            function: place.and_then(|place| place.function),
            file: place.and_then(|place| place.file),
            line: place.and_then(|place| place.line),
        };
        self.out.add(row);
    }
}

/// What a row says of a span.
#[derive(Default)]
struct Shown {
    name: Option<Text>,
    place: Option<Place>,
    address: Option<i64>,
    task: Option<i64>,
    region: Option<i64>,
    object: Option<i64>,
}

impl Shown {
    fn named(name: Text) -> Self {
        Self {
            name: Some(name),
            ..Self::default()
        }
    }

    fn code(code: Code, role: CodeRole, places: &mut Places<'_>, texts: &mut Texts) -> Self {
        let place = places.code(code, role, texts);
        Self {
            name: Some(place.name),
            place: Some(place),
            address: Some(int(code.address)).filter(|address| *address != 0),
            ..Self::default()
        }
    }
}

impl<const ALL: bool> Sink for Rows<'_, '_, ALL> {
    const STATES: bool = ALL;
    const MEMORY: bool = ALL;
    const READINGS: bool = ALL;
    const SAMPLES: bool = ALL;
    const PROCESSORS: bool = ALL;

    #[inline]
    fn body(&mut self, at: At, body: Option<&Span>) {
        let role = |span: &Span| match span {
            Span::Task { .. } => CodeRole::Task,
            _ => CodeRole::Parallel,
        };
        let known = body.and_then(|span| Some((span.body()?, role(span))));
        self.threads[at.position].body = known.filter(|(code, _)| code.address != 0);
    }

    #[inline]
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        let thread = &mut self.threads[at.position];
        if let Span::Closing { region } = *span
            && self.wants.sync
            && let Some((known, code)) = thread.ended.take()
            && known == region
        {
            thread.closing.push((region, code));
        }
        if let Span::Hold { object, .. } = *span
            && how == Begin::Found
            && let Some((found, _, of)) = self.threads[at.position].lock
            && of == object
        {
            self.threads[at.position].found.insert(object, found);
        }
    }

    #[inline]
    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        if self.wants.spans {
            self.span(at, span, how, since);
        }
        if let Span::Implicit { region, code, .. } = *span {
            self.threads[at.position].ended = Some((region, code));
        }
        if how.is_final() {
            match *span {
                Span::Parallel { region, code, .. } if self.wants.regions => {
                    self.region(at, (region, code), how, since);
                }
                Span::Sync(_) | Span::Closing { .. } | Span::Acquire { .. } | Span::Hold { .. }
                    if self.wants.sync =>
                {
                    self.sync(at, span, how, since);
                }
                _ => {}
            }
        }
        self.looked += 1;
        if self.looked >= LOOK {
            self.looked = 0;
            self.take_tasks();
        }
    }

    fn region_end(&mut self, _at: At, region: RegionId, members: &[usize]) {
        let of = self.ended.iter_mut().find(|(ended, _)| *ended == region);
        if let Some((_, row)) = of {
            row.team = i32::try_from(members.len()).ok();
        }
        self.add_ended();
    }

    #[inline]
    fn interval(&mut self, interval: Interval) {
        if !self.wants.states {
            return;
        }
        let (begin_ns, end_ns) = (self.time(interval.begin), self.time(interval.end));
        let row = states::Row {
            process: self.process,
            thread: self.threads[interval.position].index,
            begin_ns,
            end_ns,
            duration_ns: end_ns.saturating_sub(begin_ns),
            state: self.word(words::state(interval.state)),
        };
        self.out.add(row);
    }

    #[inline]
    fn mark(&mut self, at: At, mark: Mark<'_>) {
        match mark {
            Mark::Text { address, text } => {
                let text = self.out.texts.number(&String::from_utf8_lossy(text));
                self.threads[at.position].texts.insert(address, text);
            }
            Mark::Lock {
                site,
                found,
                object,
                ..
            } => {
                self.threads[at.position].lock = Some((found, site, object));
            }
            Mark::Wait { site, object, .. } => self.threads[at.position].wait = (site, object),
            _ => self.moment(at, mark),
        }
    }

    fn memory(&mut self, at: At, memory: &Memory) {
        if self.wants.memory {
            self.add_memory(at, memory);
        }
    }

    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        if self.wants.sensors {
            self.add_reading(at, reading);
        }
    }

    fn sample(&mut self, at: At, sample: &Sample<'_>) {
        if self.wants.samples {
            self.add_sample(at, sample);
        }
    }

    fn on_cpu(&mut self, at: At, processor: Option<u32>) {
        if processor.is_some() {
            self.threads[at.position].processor = processor.map(|number| number as i32);
        }
    }

    fn scheduled(&mut self, at: At, state: Scheduled, _lost: u32) {
        if self.wants.switches {
            self.add_scheduled(at, state);
        }
    }

    fn ran(&mut self, run: &Run) {
        if self.wants.switches {
            self.add_run(run);
        }
    }

    fn thread_end(&mut self, at: At) {
        if self.wants.switches {
            self.add_scheduled(at, Scheduled::Unknown);
        }
    }
}
