//! A trace in, its parallel regions out, one after the other: a sink of the interpreter.
//!
//! Each body that runs has a list of steps that grows with what it meets. When an outermost region ends, its bodies become a [`Region`], which is given to a
//! [`Receiver`], and is forgotten. So memory holds one region at a time, and [`MAX_TASKS`] and [`MAX_STEPS`] bound it.

mod body;
mod open;
mod times;

use hashbrown::HashMap;
use instr_trace::RegionId;
use instr_trace::TaskId;
use instr_trace::ThreadInfo;
use instr_trace::event::{MutexKind, SyncKind, task_flags};
use instr_trace::model::{At, Begin, End, Mark, Scheduled, Since, Sink, Span, State, Work};
use instr_trace::tasks::{RegionRecord, TaskRecord, TaskSink, TaskStates};

use super::costs::{Cost, Measure, Off, Samples};
use super::model::{Lock, Region, Spot, Spots, Step};
use body::{Body, Kind};
use open::Open;
use times::Times;

/// Most tasks of one region.
pub const MAX_TASKS: usize = 1 << 22;
/// Most steps of one region: a task has two or three.
pub const MAX_STEPS: usize = 1 << 25;
/// The share of waiting for a processor, of user code, from which on processors were contended.
const CONTENDED: f64 = 0.02;
/// Texts that are kept.
const MAX_TEXTS: usize = 1 << 16;

/// Takes regions.
pub trait Receiver {
    /// A region has ended.
    fn region(&mut self, region: Region, spots: &Spots);
}

/// Why a part of the run is taken as it was recorded, however many threads there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// It has more tasks or steps than are kept.
    TooLarge,
    /// The trace does not hold its begin, its end, or the creation of a task.
    Cut,
    /// Its threads did not meet the same constructs: a construct was cancelled, or events are missing.
    Different,
    /// A region inside of a region, with several threads.
    Nested,
    /// A league of teams.
    Teams,
    /// The order of locks and waits cannot be kept.
    Stuck,
    /// Loops with `ordered`, whose order is not kept. Their work is modelled.
    Ordered,
    /// Tasks that a `detach` event completes, or that run on a device. What runs on the host is modelled.
    Detached,
    /// Tasks with a priority, which is not recorded. They are modelled, in order of creation.
    Priority,
    /// Locks for reading. They are left out.
    ReadLocks,
}

impl Why {
    /// Whether a whole region is not modelled.
    #[must_use]
    pub fn is_region(self) -> bool {
        matches!(
            self,
            Self::TooLarge | Self::Cut | Self::Different | Self::Teams | Self::Stuck
        )
    }
}

/// What is known of the run beside its regions.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// From the first event to the last, ns.
    pub elapsed: u64,
    /// In outermost regions, ns.
    pub in_regions: u64,
    /// Waiting for a processor outside of regions, on the thread that encounters them, and in user code of regions, on all threads, ns.
    pub ready_outside: u64,
    /// See `ready_outside`.
    pub ready_inside: u64,
    /// Whether what the system did with threads was recorded.
    pub has_switches: bool,
    /// Regions that were given.
    pub regions: u64,
    /// Most threads of a region.
    pub team: usize,
    /// What is not modelled, or only in part: how often, and how long the threads that encountered it took, ns.
    pub gaps: Vec<(Why, u64, u64)>,
    /// Regions of several threads at the same time.
    pub overlapping: bool,
    /// User code of threads that belong to no region, at least 1 us each, ns.
    pub elsewhere: u64,
    /// Texts behind addresses: names of the program's own regions.
    pub texts: HashMap<u64, String>,
    /// Threads waited for processors for more than a small part of their time.
    pub is_contended: bool,
    /// Costs by kind, without the time in which others had the thread's processor; where processors were contended, of the time on processors alone.
    pub costs: [Measure; super::costs::COSTS.len()],
    /// Costs as they were.
    pub recorded_costs: [Measure; super::costs::COSTS.len()],
}

impl Survey {
    /// Notes a part that is not modelled.
    pub fn note(&mut self, why: Why, ns: u64) {
        match self.gaps.iter_mut().find(|(known, ..)| *known == why) {
            Some((_, count, sum)) => {
                *count += 1;
                *sum += ns;
            }
            None => self.gaps.push((why, 1, ns)),
        }
    }
}

/// Edges of the task graph as they are found.
#[derive(Debug, Default)]
struct Edges(Vec<(TaskId, TaskId)>);

impl TaskSink for Edges {
    fn edge(&mut self, from: TaskId, to: TaskId) {
        self.0.push((from, to));
    }

    fn task(&mut self, _task: &TaskRecord) {}

    fn region(&mut self, _region: RegionRecord) {}
}

/// A thread.
#[derive(Clone, Debug, Default)]
struct Line {
    body: u32,
    last: u64,
    useful: bool,
    /// It waits for a processor.
    ready: bool,
    /// It has no processor, and how long it had none.
    away: bool,
    off: Off,
    /// The same when the region began.
    off_before: Off,
    /// Since when it looks for a task, and `off` by then.
    free: (u64, Off),
    /// User code that belongs to no body of a region.
    elsewhere: u64,
    initial: bool,
}

/// Receives what an interpreter finds in one trace.
#[derive(Debug)]
pub struct Collector<R> {
    out: R,
    tasks: TaskStates<Edges>,
    lines: Vec<Line>,
    bodies: Vec<Option<Box<Body>>>,
    open: Option<Open>,
    spots: Spots,
    samples: Samples,
    times: Times,
    survey: Survey,
    /// Threads of most regions: others have as many as they had.
    usual: Option<usize>,
    span: Option<(u64, u64)>,
    now: u64,
    /// User code of regions.
    useful: u64,
}

/// The body of this number, if it is followed.
fn running(bodies: &mut [Option<Box<Body>>], number: u32) -> Option<&mut Box<Body>> {
    bodies.get_mut(number as usize)?.as_mut()
}

impl<R: Receiver> Collector<R> {
    /// For the threads of one trace, as [`instr_trace::Trace::threads`] gives them; `usual`: threads of a region that has as many as the program may use.
    pub fn new(threads: &[ThreadInfo], usual: Option<usize>, out: R) -> Self {
        let line = |info: &ThreadInfo| Line {
            initial: info.initial,
            body: u32::MAX,
            ..Line::default()
        };
        let mut spots = Spots::default();
        let first = spots.number(Spot::NoProcessor);
        debug_assert_eq!(first, body::NO_PROCESSOR);
        Self {
            out,
            tasks: TaskStates::new(threads, Edges::default()),
            lines: threads.iter().map(line).collect(),
            bodies: Vec::new(),
            open: None,
            spots,
            samples: Samples::default(),
            times: Times::default(),
            survey: Survey::default(),
            usual,
            span: None,
            now: 0,
            useful: 0,
        }
    }

    /// What was found, once the interpreter has [finished](instr_trace::model::Interpreter::finish).
    pub fn finish(mut self) -> (R, Spots, Survey) {
        if let Some(open) = self.open.take() {
            let ns = self.now.saturating_sub(open.begin);
            self.survey.note(Why::Cut, ns);
            self.survey.in_regions += ns;
        }
        let (first, last) = self.span.unwrap_or((0, 0));
        self.survey.elapsed = last - first;
        self.survey.recorded_costs = self.samples.measures();
        // Where others used the processors, threads that were woken up did not run at once.
        self.survey.is_contended = self.survey.ready_inside as f64 > CONTENDED * self.useful as f64;
        self.survey.costs = match self.survey.is_contended {
            true => self.samples.on_processor(),
            false => self.samples.without_others(),
        };
        let others = self.lines.iter().filter(|line| !line.initial);
        self.survey.elsewhere = others.map(|line| line.elsewhere).sum();
        (self.out, self.spots, self.survey)
    }

    /// Adds the time since the thread's last change.
    #[inline]
    fn account(&mut self, at: At) {
        self.now = self.now.max(at.time);
        let Some(line) = self.lines.get_mut(at.position) else {
            return;
        };
        let passed = at.time.saturating_sub(line.last);
        line.last = line.last.max(at.time);
        if line.away {
            line.off.all += passed;
        }
        if line.ready {
            line.off.ready += passed;
        }
        if passed == 0 || !line.useful {
            return;
        }
        let body = running(&mut self.bodies, line.body);
        match body {
            Some(body) if line.ready => {
                self.survey.ready_inside += passed;
                body.waited += passed;
            }
            Some(body) => {
                body.work += passed;
                self.useful += passed;
            }
            None if self.open.is_none() && line.initial && line.ready => {
                self.survey.ready_outside += passed;
            }
            None => line.elsewhere += passed,
        }
    }

    /// The thread has nothing of its own to do any more.
    fn is_free(&mut self, at: At) {
        let line = &mut self.lines[at.position];
        line.free = (at.time, line.off);
    }

    fn body(&mut self, at: At) -> Option<&mut Box<Body>> {
        running(&mut self.bodies, at.body)
    }

    fn set_body(&mut self, number: u32, body: Body) {
        let number = number as usize;
        if number >= self.bodies.len() {
            self.bodies.resize_with(number + 1, || None);
        }
        self.bodies[number] = Some(Box::new(body));
    }

    fn parallel(
        &mut self,
        at: At,
        region: RegionId,
        code: instr_trace::model::Code,
        is_teams: bool,
    ) {
        if let Some(body) = running(&mut self.bodies, at.body) {
            if let Some(open) = &mut self.open {
                body.flush();
                open.nested.insert(region, (at.time, 0));
            }
            return;
        }
        match &mut self.open {
            Some(_) => self.survey.overlapping = true,
            None => {
                let open = Open::new(region, code, at.time, is_teams);
                self.open = Some(open);
                for position in 0..self.lines.len() {
                    self.account(At { position, ..at });
                    let line = &mut self.lines[position];
                    line.off_before = line.off;
                }
            }
        }
    }

    fn implicit(&mut self, at: At, region: RegionId, number: u32, how: Begin) {
        let Some(open) = &mut self.open else {
            return;
        };
        if let Some((_, members)) = open.nested.get_mut(&region) {
            *members += 1;
            return self.set_body(at.body, Body::ignored());
        }
        if open.id != region {
            return;
        }
        if how == Begin::Found {
            open.fail(Why::Cut);
        }
        let line = &self.lines[at.position];
        let off = line.off.since(line.off_before);
        let took = at.time - open.begin.min(at.time);
        self.times.joins_team(number, took, off);
        let member = open.member(number);
        let spot = self.spots.number(Spot::Region(open.code));
        self.set_body(at.body, Body::new(Kind::Implicit(member), spot));
    }

    /// A nested region is over for the body that encountered it.
    fn nested_end(&mut self, at: At, region: RegionId) {
        let Some(open) = &mut self.open else { return };
        let Some((begin, members)) = open.nested.remove(&region) else {
            return;
        };
        let ns = at.time.saturating_sub(begin);
        if members > 1 {
            self.survey.note(Why::Nested, ns);
        }
        if let Some(body) = self.body(at) {
            // What the thread did in it has bodies of its own.
            body.work += ns;
        }
    }

    fn task_begins(&mut self, at: At, task: TaskId, undeferred: bool) {
        let Some(open) = &mut self.open else { return };
        let Some(number) = open.number(task) else {
            // A task of a nested region, or one whose creation is not in the trace.
            let own = self.bodies.get(self.lines[at.position].body as usize);
            let nested = matches!(own, Some(Some(below)) if below.kind == Kind::Ignored);
            if !nested {
                open.fail(Why::Cut);
            }
            return self.set_body(at.body, Body::ignored());
        };
        let spot = open.spots[number as usize];
        let is_final = open.is_final(number);
        if !undeferred {
            let line = &self.lines[at.position];
            let (free, off) = (line.free.0, line.off.since(line.free.1));
            self.times
                .begins(number, free, (at.time, off), &mut self.samples);
        }
        let mut body = Body::new(Kind::Task(number), spot);
        body.is_final = is_final;
        self.set_body(at.body, body);
    }

    fn body_ends(&mut self, at: At, told: bool) {
        let Some(mut body) = self.bodies.get_mut(at.body as usize).and_then(Option::take) else {
            return;
        };
        self.is_free(at);
        let Some(open) = &mut self.open else { return };
        if body.kind == Kind::Ignored {
            return;
        }
        if !told {
            open.fail(Why::Cut);
        }
        open.ends(&mut body);
        match body.kind {
            Kind::Task(number) => self.times.ends(number, at.time),
            _ => self.times.arrive(u32::MAX, at.time),
        }
    }

    fn create(&mut self, at: At, task: TaskId, spot: Spot, flags: u32) {
        let spot = self.spots.number(spot);
        let Some(body) = running(&mut self.bodies, at.body) else {
            return;
        };
        let (Some(open), false) = (&mut self.open, body.kind == Kind::Ignored) else {
            return;
        };
        let undeferred = flags & task_flags::IF_FALSE != 0
            || body.is_final
            || flags & task_flags::UNDEFERRED != 0 && open.members() > 1;
        let Some(number) = open.create(task, spot, flags, undeferred) else {
            return;
        };
        body.push(Step::Create(number));
        body.create = Some((number, at.time, self.lines[at.position].off));
        let waits = open.edges(&mut self.tasks.out().0);
        self.times.create(number, at.time, waits);
    }

    fn created(&mut self, at: At, task: TaskId) {
        let Some(body) = running(&mut self.bodies, at.body) else {
            return;
        };
        let Some((number, begin, off)) = body.create.take() else {
            return;
        };
        let known = self.open.as_ref().and_then(|open| open.number(task));
        if known == Some(number) {
            let off = self.lines[at.position].off.since(off);
            let took = (at.time.saturating_sub(begin), off);
            self.times.created(number, took, at.time, &mut self.samples);
        }
    }

    fn end_region(&mut self, at: At, region: RegionId) {
        let Some(open) = self.open.take_if(|open| open.id == region) else {
            return self.nested_end(at, region);
        };
        let elapsed = at.time.saturating_sub(open.begin);
        self.survey.in_regions += elapsed;
        let line = &self.lines[at.position];
        let off = line.off.since(line.free.1);
        self.times.join(at.time, off, &mut self.samples);
        self.times.team(&mut self.samples);
        self.bodies.clear();
        self.times = Times::default();
        for (why, ns) in open.notes() {
            self.survey.note(why, ns);
        }
        match open.finish(elapsed, self.usual, &mut self.spots) {
            Ok(region) => {
                self.survey.regions += 1;
                self.survey.team = self.survey.team.max(region.team);
                self.out.region(region, &self.spots);
            }
            Err(why) => self.survey.note(why, elapsed),
        }
    }
}

fn is_barrier(kind: SyncKind) -> bool {
    matches!(
        kind,
        SyncKind::ExplicitBarrier | SyncKind::ImplicitBarrier | SyncKind::Copyprivate
    )
}

impl<R: Receiver> Sink for Collector<R> {
    fn thread_begin(&mut self, at: At) {
        self.tasks.thread_begin(at);
        let line = &mut self.lines[at.position];
        (line.body, line.last) = (at.body, at.time);
        if let Some(open) = &self.open {
            // It was made for the region, and had no processor before.
            line.off.all = at.time.saturating_sub(open.begin);
            self.times.is_made(at.time);
        }
        let span = self.span.get_or_insert((at.time, at.time));
        span.1 = span.1.max(at.time);
    }

    fn thread_end(&mut self, at: At) {
        self.tasks.thread_end(at);
        self.account(at);
        self.lines[at.position].useful = false;
        if let Some(span) = &mut self.span {
            span.1 = span.1.max(at.time);
        }
    }

    fn trace_end(&mut self) {
        self.tasks.trace_end();
    }

    fn body(&mut self, at: At, _body: Option<&Span>) {
        self.account(at);
        self.lines[at.position].body = at.body;
    }

    fn state(&mut self, at: At, state: State) {
        self.tasks.state(at, state);
        self.account(at);
        self.lines[at.position].useful = state == State::Useful;
    }

    fn scheduled(&mut self, at: At, state: Scheduled, _lost: u32) {
        self.account(at);
        self.survey.has_switches = true;
        let line = &mut self.lines[at.position];
        line.ready = state == Scheduled::Ready;
        line.away = matches!(state, Scheduled::Ready | Scheduled::Blocked);
    }

    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.tasks.out().0.clear();
        self.tasks.begin(at, span, how);
        self.account(at);
        if let Span::Parallel { region, code, kind } = *span {
            if how == Begin::Told {
                let is_teams = kind == instr_trace::event::ParallelKind::Teams;
                self.parallel(at, region, code, is_teams);
            }
            return;
        }
        if self.open.is_none() {
            return;
        }
        let told = how == Begin::Told;
        match *span {
            Span::Implicit {
                region, thread_num, ..
            } => self.implicit(at, region, thread_num, how),
            Span::Task {
                task, undeferred, ..
            } if told => self.task_begins(at, task, undeferred),
            Span::Create { task, code, flags } => self.create(at, task, Spot::Task(code), flags),
            Span::WaitDepend { task, nowait } => {
                let flags = if nowait { 0 } else { task_flags::IF_FALSE };
                self.create(at, task, Spot::Task(0.into()), flags);
            }
            _ if told => self.construct(at, span),
            // A lock that was not asked for.
            Span::Hold { kind, object } if how == Begin::Found => self.wants(at, kind, object),
            _ => {}
        }
    }

    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        self.tasks.end(at, span, how, since);
        self.account(at);
        if self.open.is_none() {
            return;
        }
        match *span {
            Span::Implicit { .. } | Span::Task { .. } if how.is_final() => {
                self.body_ends(at, matches!(how, End::Told | End::Unseen { told: true }));
            }
            Span::Implicit { .. } | Span::Task { .. } if how == End::Kept => {
                if let Some(open) = &mut self.open {
                    open.fail(Why::Cut);
                }
            }
            Span::Create { task, .. } => self.created(at, task),
            _ if how.is_final() => self.construct_ends(at, span, how),
            _ => {}
        }
    }

    fn region_end(&mut self, at: At, region: RegionId, members: &[usize]) {
        self.tasks.region_end(at, region, members);
        self.account(at);
        self.end_region(at, region);
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        self.tasks.mark(at, mark);
        if let Mark::Text { address, text } = mark
            && self.survey.texts.len() < MAX_TEXTS
        {
            let text = String::from_utf8_lossy(text).into_owned();
            self.survey.texts.insert(address, text);
        }
        if self.open.is_none() {
            return;
        }
        match mark {
            Mark::Chunk { begin, end } => {
                self.account(at);
                if let Some(body) = self.body(at) {
                    body.chunk(begin, end);
                }
            }
            Mark::Section { number } => {
                self.account(at);
                if let Some(body) = self.body(at) {
                    body.chunk(i64::from(number), i64::from(number) + 1);
                }
            }
            Mark::StaticLoop { .. } => {
                self.account(at);
                let Self { bodies, open, .. } = self;
                let body = running(bodies, at.body);
                if let (Some(body), Some(open)) = (body, open) {
                    open.static_loop(body);
                }
            }
            Mark::Piece {
                taskloop,
                task,
                code,
            } => {
                let spot = self.spots.number(Spot::Task(code));
                if let Some(open) = &mut self.open {
                    open.piece(taskloop, task, spot);
                }
            }
            Mark::Post | Mark::Await => self.ordered(at),
            Mark::Detach { .. } => {
                if let Some(open) = &mut self.open {
                    open.detached = true;
                }
            }
            _ => {}
        }
    }
}

impl<R: Receiver> Collector<R> {
    fn ordered(&mut self, at: At) {
        if let (Some(open), Some(_)) = (&mut self.open, self.bodies.get(at.body as usize)) {
            open.ordered = true;
        }
    }

    fn wants(&mut self, at: At, kind: MutexKind, object: u64) {
        let Self { bodies, open, .. } = self;
        let body = running(bodies, at.body);
        let (Some(body), Some(open)) = (body, open) else {
            return;
        };
        match kind {
            MutexKind::Ordered => open.ordered = true,
            MutexKind::ReadLock => open.read_locks = true,
            _ => {
                let lock = open.lock(Lock { kind, object });
                body.push(Step::Acquire(lock));
                body.held.push(lock);
            }
        }
    }

    /// Other constructs than bodies and regions.
    fn construct(&mut self, at: At, span: &Span) {
        if let Span::Acquire { kind, object } = *span {
            let off = self.lines[at.position].off;
            self.times.asks(at.body, at.time, off);
            return self.wants(at, kind, object);
        }
        let Self { bodies, open, .. } = self;
        let body = running(bodies, at.body);
        let (Some(body), Some(open)) = (body, open) else {
            return;
        };
        match *span {
            Span::Taskloop { task, flags, .. } => {
                if flags & Span::NOGROUP == 0 {
                    body.push(Step::GroupBegin);
                }
                let number = open.taskloop(task, flags);
                body.push(Step::Pieces(number));
            }
            Span::Taskgroup => body.push(Step::GroupBegin),
            Span::Work(Work::Scope) => {}
            Span::Work(work) => {
                let spot = open.share(body, work);
                let spot = self.spots.number(spot);
                body.enter(spot);
            }
            Span::Single | Span::Masked => {
                let spot = self.spots.number(Spot::Single(open.code));
                open.own(body);
                body.enter(spot);
            }
            Span::User { name } => {
                let spot = self.spots.number(Spot::User(name));
                body.enter(spot);
            }
            Span::Asking { called } => {
                body.chunk_ends();
                body.asks = called.then_some((at.time, self.lines[at.position].off));
            }
            Span::Sync(SyncKind::Taskwait) => body.push(Step::Taskwait),
            Span::Sync(SyncKind::TaskgroupEnd) => body.push(Step::GroupEnd),
            Span::Sync(SyncKind::DoacrossSink) => open.ordered = true,
            Span::Sync(kind) if is_barrier(kind) && body.is_implicit() => {
                let number = open.barrier(body);
                self.times.arrive(number, at.time);
            }
            _ => {}
        }
        if matches!(span, Span::Sync(_)) {
            self.is_free(at);
        }
    }

    fn construct_ends(&mut self, at: At, span: &Span, how: End) {
        let Self { bodies, open, .. } = self;
        let body = running(bodies, at.body);
        let (Some(body), Some(open)) = (body, open) else {
            return;
        };
        match *span {
            Span::Taskloop { flags, .. } if flags & Span::NOGROUP == 0 => {
                body.push(Step::GroupEnd);
            }
            Span::Work(Work::Scope) => {}
            Span::Work(_) => {
                open.share_ends(body);
                body.leave();
            }
            Span::Single => {
                body.leave();
                open.once(body);
            }
            Span::Masked => {
                body.leave();
                open.masked(body);
            }
            Span::User { .. } => body.leave(),
            Span::Asking { .. } => {
                if let Some((since, off)) = body.asks.take() {
                    let off = self.lines[at.position].off.since(off);
                    let took = at.time.saturating_sub(since);
                    self.samples.add(Cost::Ask, took, off);
                }
            }
            Span::Acquire { kind, object } => {
                let lock = Lock { kind, object };
                if how == End::Refused {
                    let number = open.lock(lock);
                    body.refused(number);
                } else {
                    let now = (at.time, self.lines[at.position].off);
                    self.times.has(at.body, lock, now, &mut self.samples);
                }
            }
            Span::Hold { kind, object } => {
                let lock = Lock { kind, object };
                self.times.gives(lock, at.time);
                let number = open.lock(lock);
                body.gives(number);
            }
            Span::Sync(kind) if is_barrier(kind) && body.is_implicit() => {
                let number = open.last_barrier(body);
                let line = &self.lines[at.position];
                let off = line.off.since(line.free.1);
                self.times.leave(number, at.time, off, &mut self.samples);
            }
            _ => {}
        }
    }
}
