//! What the interpreter finds, taken one by one.

use hashbrown::HashMap;

use super::contexts::{Bodies, Taskloop, Team, Thread};
use super::live::{Live, Predecessor};
use super::path::{Joins, Point, add};
use super::region::{Unit, UnitKey};
use super::slab::{Key, Slab};
use super::{Parent, TaskKind, TaskSink};
use crate::depend::Graph;
use crate::event::{RegionId, SyncKind, TaskId, task_flags};
use crate::model::{At, Begin, Call, End, Mark, Since, Sink, Span, State};
use crate::recent::Recent;
use crate::task_map::{self, TaskMap};
use crate::task_set::TaskSet;
use crate::trace::ThreadInfo;

/// Follows all tasks of one trace: see [the module](super).
#[derive(Debug)]
pub struct TaskStates<S> {
    pub(super) out: S,
    /// Segments of a region that are kept; 0: none.
    pub(super) keep_segments: usize,
    pub(super) graph: Graph,
    pub(super) threads: Vec<Thread>,
    pub(super) bodies: Bodies,
    pub(super) groups: Slab<Joins>,
    pub(super) units: Slab<Unit>,
    pub(super) teams: Slab<Team>,
    pub(super) regions: HashMap<RegionId, Key>,
    pub(super) taskloops: Recent<Taskloop>,
    pub(super) live: TaskMap<Live>,
    /// Tasks that may become predecessors, by the numbers they have in `graph`.
    pub(super) predecessors: TaskMap<Predecessor>,
    /// Tasks whose records were given.
    pub(super) given: TaskSet,
    /// Tasks that complete now.
    pub(super) completing: Vec<task_map::Key>,
    pub(super) number: u64,
    /// The task of each event handle, and fulfilments of handles that no task is known of.
    pub(super) handles: HashMap<u64, TaskId>,
    pub(super) early: HashMap<u64, u64>,
    /// Running tasks with `mutexinoutset` entries.
    pub(super) exclusive: HashMap<(Parent, u64), Running>,
    /// Outermost regions that end at a time which is not over yet.
    pub(super) ending: Vec<(u64, RegionId, Key)>,
    now: u64,
    /// The last event of all threads: regions that nothing ends are counted up to there.
    last_time: u64,
    /// The trace has ended: regions that are left are cut by its end.
    pub(super) is_over: bool,
    pub(super) order_violations: u64,
    pub(super) overlaps: u64,
}

/// Tasks that exclude each other and run nevertheless.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Running {
    pub(super) count: u64,
    /// The latest begin, and how many of them began then.
    pub(super) latest: u64,
    pub(super) at_latest: u64,
}

impl<S: TaskSink> TaskStates<S> {
    /// For the threads of one trace, as [`crate::Trace::threads`] gives them. Keeps what is live.
    pub fn new(threads: &[ThreadInfo], out: S) -> Self {
        let thread = |info: &ThreadInfo| Thread {
            index: info.index,
            runs: 0,
            unit: None,
            useful: false,
            last: 0,
        };
        Self {
            out,
            keep_segments: 0,
            graph: Graph::default(),
            threads: threads.iter().map(thread).collect(),
            bodies: Bodies::default(),
            groups: Slab::default(),
            units: Slab::default(),
            teams: Slab::default(),
            regions: HashMap::new(),
            taskloops: Recent::default(),
            live: TaskMap::default(),
            predecessors: TaskMap::default(),
            given: TaskSet::default(),
            completing: Vec::new(),
            number: 0,
            handles: HashMap::new(),
            early: HashMap::new(),
            exclusive: HashMap::new(),
            ending: Vec::new(),
            now: 0,
            is_over: false,
            last_time: threads.iter().map(|info| info.last_time).max().unwrap_or(0),
            order_violations: 0,
            overlaps: 0,
        }
    }

    /// Keeps the segments of running regions too, for [`super::RegionRecord::segments`].
    pub fn with_segments(threads: &[ThreadInfo], out: S) -> Self {
        Self {
            keep_segments: usize::MAX,
            ..Self::new(threads, out)
        }
    }

    /// The same, for regions with no more than `most` of them: memory is bounded.
    pub fn with_segments_up_to(most: usize, threads: &[ThreadInfo], out: S) -> Self {
        Self {
            keep_segments: most,
            ..Self::new(threads, out)
        }
    }

    /// Who takes the records.
    pub fn out(&mut self) -> &mut S {
        &mut self.out
    }

    /// Gives what is left, behind [`crate::model::Interpreter::finish`].
    pub fn finish(mut self) -> S {
        let end = self.now;
        self.end_regions(u64::MAX);
        self.is_over = true;
        for unit in self.units.keys() {
            if let Some(id) = self.units.get(unit).and_then(|unit| unit.record.id) {
                self.ending.push((end, id, unit));
            }
        }
        self.end_regions(u64::MAX);
        let left = self.live.iter().filter(|(_, live)| !live.given);
        let mut left: Vec<_> = left.map(|(key, live)| (live.record.number, key)).collect();
        left.sort_unstable_by_key(|(number, _)| *number);
        for (_, task) in left {
            self.give(task);
        }
        self.out.violations(self.order_violations, self.overlaps);
        self.out
    }

    #[inline]
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    pub(super) fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// Regions whose end is in the past end: what has the same time as an end may still belong to it.
    #[inline]
    fn advance(&mut self, time: u64) {
        if time > self.now {
            if let Some((end, ..)) = self.ending.first()
                && *end < time
            {
                self.end_regions(time);
            }
            self.now = time;
        }
    }

    /// Adds the time up to `now`, since the last call, to what the thread runs.
    #[inline]
    pub(super) fn account(&mut self, position: usize, now: u64) {
        let thread = &mut self.threads[position];
        let time = now.saturating_sub(thread.last);
        if time == 0 {
            return;
        }
        thread.last = now;
        let Some(context) = self.bodies.at_mut(thread.runs) else {
            return;
        };
        add(&mut context.duration, time);
        if thread.useful {
            add(&mut context.work, time);
            add(&mut context.point.ns, time);
            if self.keep_segments > 0
                && let Some(unit) = context.unit.and_then(|unit| self.units.get_mut(unit))
                && let Some(segments) = &mut unit.segments
            {
                segments.work(context.point.segment, time);
            }
        }
    }

    /// The thread runs another body from now on.
    #[inline]
    pub(super) fn switch(&mut self, at: At) {
        self.account(at.position, at.time);
        self.threads[at.position].runs = at.body;
    }

    /// A new segment behind `from` in the region `unit`.
    pub(super) fn open(&mut self, unit: UnitKey, owner: u32, from: &Joins) -> Point {
        open(&mut self.units, unit, owner, from)
    }

    /// The task behind `key` goes on behind its past and `joins`.
    pub(super) fn join(&mut self, key: Key, mut joins: Joins) {
        let Some(context) = self.bodies.get_mut(key) else {
            return;
        };
        joins.add(context.point);
        context.point = open(&mut self.units, context.unit, context.owner, &joins);
    }

    /// Something was forked off the task behind `key`: what it does from now on is not before that.
    #[inline]
    pub(super) fn fork(&mut self, key: Key) {
        if self.keep_segments > 0 {
            self.join(key, Joins::default());
        }
    }

    pub(super) fn set_unit(&mut self, position: usize, unit: UnitKey) {
        let thread = &mut self.threads[position];
        if thread.unit == unit {
            return;
        }
        if thread.useful
            && let Some(old) = thread.unit.and_then(|old| self.units.get_mut(old))
        {
            old.working(self.now, false);
        }
        thread.unit = unit;
        if let Some(new) = unit.and_then(|new| self.units.get_mut(new)) {
            new.add_thread(position as u32);
            if thread.useful {
                new.working(self.now, true);
            }
        }
    }

    /// A wait is over.
    fn waited(&mut self, at: At, kind: SyncKind) {
        let Some(key) = self.bodies.key(at.body) else {
            return;
        };
        match kind {
            SyncKind::Taskwait => {
                if let Some(context) = self.bodies.get_mut(key) {
                    let children = std::mem::take(&mut context.children);
                    self.join(key, children);
                }
            }
            SyncKind::TaskwaitDepend => self.taskwait_end(key),
            kind if is_barrier(kind) => self.leave_barrier(key),
            _ => {}
        }
    }

    fn taskgroup_begin(&mut self, at: At) {
        if let Some(context) = self.bodies.at_mut(at.body) {
            context.groups.push(self.groups.insert(Joins::default()));
        }
    }

    fn taskgroup_end(&mut self, at: At) {
        let Some(key) = self.bodies.key(at.body) else {
            return;
        };
        let context = self.bodies.get_mut(key);
        let group = context.and_then(|context| context.groups.pop());
        if let Some(joins) = group.and_then(|group| self.groups.remove(group)) {
            self.join(key, joins);
        }
    }

    fn taskloop_begin(&mut self, at: At, id: TaskId, function: u64, flags: u32) {
        let is_group = flags & Span::NOGROUP == 0;
        if is_group {
            self.taskgroup_begin(at);
        }
        let Some(key) = self.bodies.key(at.body) else {
            return;
        };
        let Some(context) = self.bodies.get(key) else {
            return;
        };
        let taskloop = Taskloop {
            function,
            flags,
            parent: context.parent,
            creator: key,
            start: context.point,
            group: context.innermost_group(),
            is_group,
            unit: context.unit,
            team: context.team,
        };
        self.taskloops.insert(id, taskloop);
        self.fork(key);
    }

    fn taskloop_end(&mut self, id: TaskId) {
        if let Some(taskloop) = self.taskloops.get(id)
            && taskloop.is_group
        {
            let (key, group) = (taskloop.creator, taskloop.group);
            if let Some(context) = self.bodies.get_mut(key) {
                context.groups.retain(|open| Some(*open) != group);
            }
            if let Some(joins) = group.and_then(|group| self.groups.remove(group)) {
                self.join(key, joins);
            }
        }
    }

    /// A task of any kind that is not followed any more leaves its taskgroups.
    pub(super) fn end_body(&mut self, body: u32) {
        if let Some(context) = self.bodies.at_mut(body) {
            for group in context.groups.drain(..) {
                self.groups.remove(group);
            }
        }
        self.bodies.end(body);
        self.graph.end(body);
        self.forget_released();
    }
}

pub(super) fn open(units: &mut Slab<Unit>, unit: UnitKey, owner: u32, from: &Joins) -> Point {
    let unit = unit.and_then(|unit| units.get_mut(unit));
    match unit.and_then(|unit| unit.segments.as_mut()) {
        Some(segments) => segments.open(owner, from),
        None => Point {
            ns: from.ns,
            hops: from.hops,
            ..Point::START
        },
    }
}

impl<S: TaskSink> Sink for TaskStates<S> {
    const TASK_CODES: bool = false;
    const TIMES: bool = false;

    fn thread_begin(&mut self, at: At) {
        self.advance(at.time);
        let thread = &mut self.threads[at.position];
        (thread.runs, thread.last) = (at.body, self.now);
        let parent = Parent::Initial {
            thread: thread.index,
        };
        self.bodies.begin(at.body, parent, Point::START);
    }

    /// What is open now ends with the trace, though its threads are ended one by one, each at the time of its last event.
    fn trace_end(&mut self) {
        self.advance(self.last_time);
        // Threads that have not ended went on doing what they did, as far as is known: as work of their regions and as a part of their paths.
        for position in 0..self.threads.len() {
            self.account(position, self.last_time);
        }
    }

    fn thread_end(&mut self, at: At) {
        self.advance(at.time);
        self.account(at.position, at.time);
        self.set_unit(at.position, None);
        self.threads[at.position].useful = false;
    }

    #[inline]
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        let told = how == Begin::Told;
        if !is_followed(span) || !told && !span.is_body() {
            return;
        }
        self.advance(at.time);
        match *span {
            Span::Create { task, code, flags } => {
                let kind = match flags & task_flags::TARGET {
                    0 => TaskKind::Task,
                    _ => TaskKind::Target,
                };
                self.create(at, task, (kind, code.address, flags), false);
            }
            Span::WaitDepend { task, nowait } => {
                let made = (TaskKind::Taskwait, 0, task_flags::DEPEND);
                self.create(at, task, made, nowait);
            }
            Span::Task {
                task, undeferred, ..
            } if told => self.task_begin(at, task, undeferred),
            Span::Task { task, .. } => self.resume(at, task),
            Span::Implicit { region, .. } => self.implicit_begin(at, region),
            Span::Parallel { region, code, .. } => self.parallel_begin(at, region, code),
            Span::Taskgroup => self.taskgroup_begin(at),
            Span::Taskloop { task, code, flags } => {
                self.account(at.position, at.time);
                self.taskloop_begin(at, task, code.address, flags);
            }
            Span::Sync(kind) if is_barrier(kind) => self.enter_barrier(at),
            _ => {}
        }
    }

    #[inline]
    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        let told = matches!(how, End::Told | End::Unseen { told: true });
        let over = told || how == End::Implied;
        match *span {
            Span::Task { .. } | Span::Implicit { .. } if !how.is_final() => return,
            Span::Task { .. } | Span::Implicit { .. } => {}
            Span::Sync(_) | Span::Taskgroup | Span::Taskloop { .. } if over => {}
            _ => return,
        }
        self.advance(at.time);
        self.account(at.position, at.time);
        match *span {
            Span::Task { .. } if told => self.task_end(at),
            Span::Task { .. } => self.task_cut(at),
            Span::Implicit { .. } => self.implicit_end(at),
            Span::Sync(kind) => self.waited(at, kind),
            Span::Taskgroup => self.taskgroup_end(at),
            Span::Taskloop { task, .. } => self.taskloop_end(task),
            _ => {}
        }
    }

    fn region_end(&mut self, at: At, region: RegionId, _members: &[usize]) {
        self.advance(at.time);
        self.account(at.position, at.time);
        self.parallel_end(at, region);
    }

    #[inline]
    fn mark(&mut self, at: At, mark: Mark<'_>) {
        match mark {
            Mark::Depend { task, entries } => self.graph.depend(at.position, task, entries),
            Mark::Piece { taskloop, task, .. } => {
                self.advance(at.time);
                self.create_piece(task, taskloop);
            }
            Mark::Detach { task, handle } => {
                self.advance(at.time);
                self.tell_handle(task, handle);
            }
            Mark::Fulfill { task, handle } => {
                self.advance(at.time);
                self.fulfill(task, handle);
            }
            _ => {}
        }
    }

    #[inline]
    fn body(&mut self, at: At, _body: Option<&Span>) {
        self.advance(at.time);
        self.switch(at);
    }

    #[inline]
    fn state(&mut self, at: At, state: State) {
        self.advance(at.time);
        let useful = state == State::Useful;
        if self.threads[at.position].useful == useful {
            return;
        }
        self.account(at.position, at.time);
        let thread = &mut self.threads[at.position];
        thread.useful = useful;
        if let Some(unit) = thread.unit.and_then(|unit| self.units.get_mut(unit)) {
            unit.working(self.now, useful);
        }
    }
}

/// Whether the begin of a span changes anything here.
#[inline]
fn is_followed(span: &Span) -> bool {
    matches!(
        span,
        Span::Create { .. }
            | Span::WaitDepend { .. }
            | Span::Task { .. }
            | Span::Implicit { .. }
            | Span::Parallel { .. }
            | Span::Taskgroup
            | Span::Taskloop { .. }
            | Span::Sync(_)
    )
}

/// Whether a [`TaskStates`] does anything when it is called so. It may be left out else.
#[inline]
pub fn follows(call: &Call) -> bool {
    match call {
        Call::Begin(_, span, _) => is_followed(span),
        Call::End(_, span, _) => matches!(
            span,
            Span::Task { .. }
                | Span::Implicit { .. }
                | Span::Taskgroup
                | Span::Taskloop { .. }
                | Span::Sync(_)
        ),
        Call::Mark(_, mark) => matches!(
            mark,
            Mark::Piece { .. } | Mark::Detach { .. } | Mark::Fulfill { .. }
        ),
        Call::ThreadBegin(_)
        | Call::ThreadEnd(_)
        | Call::RegionEnd(..)
        | Call::Depend(..)
        | Call::Body(..)
        | Call::State(..)
        | Call::TraceEnd => true,
        _ => false,
    }
}

pub(super) fn is_barrier(kind: SyncKind) -> bool {
    matches!(kind, SyncKind::ExplicitBarrier | SyncKind::ImplicitBarrier)
}
