//! The merged events of a trace, one by one.

use hashbrown::HashMap;

use super::Sink;
use super::contexts::{Context, Taskloop, Team, Thread};
use super::life::Live;
use super::path::{Joins, Point, add};
use super::region::{Unit, UnitKey};
use super::slab::{Key, Slab};
use crate::current::{MAX_LOST, Parent};
use crate::depend::DependGraph;
use crate::event::{Event, Payload, RegionId, SyncKind, TaskId};

/// Deeper nesting is damage: it is not followed.
pub(super) const MAX_DEPTH: usize = 1 << 16;
/// The bit of `taskloop_begin.flags` for the `nogroup` clause.
const NOGROUP: u32 = 0x800;

/// Follows all tasks of one trace: see [the module](super).
#[derive(Debug, Default)]
pub struct TaskStates {
    keep_segments: bool,
    pub(super) graph: DependGraph,
    /// What the task being created depends on.
    pub(super) predecessors: Vec<TaskId>,
    slots: HashMap<u32, usize>,
    latest: Option<(u32, usize)>,
    pub(super) threads: Vec<Thread>,
    pub(super) contexts: Slab<Context>,
    pub(super) groups: Slab<Joins>,
    pub(super) units: Slab<Unit>,
    pub(super) teams: HashMap<RegionId, Team>,
    pub(super) taskloops: HashMap<TaskId, Taskloop>,
    pub(super) live: HashMap<TaskId, Live>,
    /// Tasks that complete now.
    pub(super) completing: Vec<TaskId>,
    pub(super) number: u64,
    /// The task of each event handle, and fulfilments of handles that no task is known of.
    pub(super) handles: HashMap<u64, TaskId>,
    pub(super) early: HashMap<u64, u64>,
    /// Running tasks with `mutexinoutset` entries, and their begins.
    pub(super) exclusive: HashMap<(Parent, u64), Vec<(TaskId, u64)>>,
    /// Outermost regions that end at a time which is not over yet.
    ending: Vec<(u64, RegionId, Key)>,
    now: u64,
    /// The `taskwait` with dependences that was completed last.
    pub(super) passed: Option<(TaskId, Point)>,
    pub(super) order_violations: u64,
    pub(super) overlaps: u64,
}

impl TaskStates {
    /// Keeps what is live.
    pub fn new() -> Self {
        Self {
            graph: DependGraph::with_releases(),
            ..Self::default()
        }
    }

    /// Keeps the segments of running regions too, for [`super::RegionRecord::segments`].
    pub fn with_segments() -> Self {
        Self {
            keep_segments: true,
            ..Self::new()
        }
    }

    /// Takes the next event of the merged trace. `useful`: whether its thread is in user code behind it
    /// ([`crate::model::Interpreter::state`] is [`crate::model::State::Useful`]).
    #[inline]
    pub fn event(&mut self, event: &Event<'_>, useful: bool, sink: &mut dyn Sink) {
        if let Some((time, ..)) = self.ending.first()
            && *time < event.time
        {
            self.end_regions(event.time, sink);
        }
        self.now = event.time;
        let slot = self.slot(event.thread);
        self.account(slot);
        self.apply(slot, event, sink);
        let thread = &mut self.threads[slot];
        if thread.useful != useful {
            thread.useful = useful;
            if let Some(unit) = thread.unit.and_then(|unit| self.units.get_mut(unit)) {
                unit.working(self.now, useful);
            }
        }
    }

    /// Ends everything at the time of the last event.
    pub fn finish(mut self, sink: &mut dyn Sink) {
        let end = self.now;
        self.end_regions(u64::MAX, sink);
        for unit in self.units.keys() {
            if let Some(id) = self.units.get(unit).and_then(|unit| unit.record.id) {
                self.ending.push((end, id, unit));
            }
        }
        self.end_regions(u64::MAX, sink);
        let mut left: Vec<(u64, TaskId)> = self.left(|_| true);
        left.sort_unstable();
        for (_, task) in left {
            self.give(task, sink);
        }
        sink.violations(self.order_violations, self.overlaps);
    }

    /// Tasks whose record was not given.
    fn left(&self, which: impl Fn(&Live) -> bool) -> Vec<(u64, TaskId)> {
        let open = |(id, live): (&TaskId, &Live)| {
            (!live.given && which(live)).then_some((live.record.number, *id))
        };
        self.live.iter().filter_map(open).collect()
    }

    pub(super) fn now(&self) -> u64 {
        self.now
    }

    #[inline]
    fn slot(&mut self, thread: u32) -> usize {
        if let Some((latest, slot)) = self.latest
            && latest == thread
        {
            return slot;
        }
        // Threads mostly come in the order of their numbers.
        let direct = self.threads.get(thread as usize);
        if direct.is_some_and(|direct| direct.index == thread) {
            return thread as usize;
        }
        let slot = match self.slots.get(&thread) {
            Some(slot) => *slot,
            None => {
                let initial = Context::new(Parent::Initial { thread }, Point::START);
                self.threads.push(Thread {
                    index: thread,
                    frames: vec![self.contexts.insert(initial)],
                    last: self.now,
                    ..Thread::default()
                });
                let slot = self.threads.len() - 1;
                self.slots.insert(thread, slot);
                slot
            }
        };
        self.latest = Some((thread, slot));
        slot
    }

    /// Adds the time since the thread's last event to what it runs.
    #[inline]
    fn account(&mut self, slot: usize) {
        let thread = &mut self.threads[slot];
        let time = self.now.saturating_sub(thread.last);
        thread.last = self.now;
        if time == 0 {
            return;
        }
        let Some(context) = thread
            .frames
            .last()
            .and_then(|key| self.contexts.get_mut(*key))
        else {
            return;
        };
        add(&mut context.duration, time);
        if thread.useful {
            add(&mut context.work, time);
            add(&mut context.point.ns, time);
            if self.keep_segments
                && let Some(unit) = context.unit.and_then(|unit| self.units.get_mut(unit))
                && let Some(segments) = &mut unit.segments
            {
                segments.work(context.point.segment, time);
            }
        }
    }

    #[inline]
    fn apply(&mut self, slot: usize, event: &Event<'_>, sink: &mut dyn Sink) {
        let predecessors = &mut self.predecessors;
        predecessors.clear();
        self.graph.event(event, |from, _| predecessors.push(from));
        self.apply_tasks(slot, event, sink);
        match event.payload {
            Payload::ParallelBegin {
                seq,
                function,
                call_site,
                ..
            } => {
                self.parallel_begin(slot, seq, function, call_site);
            }
            Payload::ImplicitBegin { region, .. } => self.implicit_begin(slot, region),
            Payload::ImplicitEnd => {
                self.close_implicit(slot, None);
            }
            Payload::ParallelEnd { seq } => self.parallel_end(slot, seq),
            Payload::SyncBegin { kind } => self.sync_begin(slot, kind),
            Payload::SyncEnd { kind } => self.sync_end(slot, kind, sink),
            Payload::TaskgroupBegin => self.taskgroup_begin(slot),
            Payload::TaskloopBegin {
                seq,
                function,
                flags,
                ..
            } => self.taskloop_begin(slot, seq, function, flags),
            Payload::TaskloopEnd => self.taskloop_end(slot),
            Payload::ThreadEnd => {
                self.truncate(slot, 1);
                self.set_unit(slot, None);
            }
            Payload::Lost { task, region, .. } => self.lost(slot, region, task),
            _ => {}
        }
        self.forget_released();
    }

    pub(super) fn top(&self, slot: usize) -> Option<Key> {
        self.threads[slot].frames.last().copied()
    }

    /// A new segment behind `from` in the region `unit`.
    pub(super) fn open(&mut self, unit: UnitKey, owner: u32, from: &Joins) -> Point {
        let unit = unit.and_then(|unit| self.units.get_mut(unit));
        match unit.and_then(|unit| unit.segments.as_mut()) {
            Some(segments) => segments.open(owner, from),
            None => Point {
                ns: from.ns,
                hops: from.hops,
                ..Point::START
            },
        }
    }

    /// The task behind `key` goes on behind its past and `joins`.
    pub(super) fn join(&mut self, key: Key, mut joins: Joins) {
        let Some(context) = self.contexts.get(key) else {
            return;
        };
        joins.add(context.point);
        let (unit, owner) = (context.unit, context.owner);
        let point = self.open(unit, owner, &joins);
        if let Some(context) = self.contexts.get_mut(key) {
            context.point = point;
        }
    }

    /// Something was forked off the task behind `key`: what it does from now on is not before that.
    pub(super) fn fork(&mut self, key: Key) {
        if self.keep_segments {
            self.join(key, Joins::default());
        }
    }

    pub(super) fn set_unit(&mut self, slot: usize, unit: UnitKey) {
        let thread = &mut self.threads[slot];
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
            new.add_thread(thread.index);
            if thread.useful {
                new.working(self.now, true);
            }
        }
    }

    fn new_unit(&mut self, id: RegionId) -> Key {
        let unit = Unit::new(id, self.now, self.keep_segments);
        self.units.insert(unit)
    }

    fn parallel_begin(&mut self, slot: usize, seq: u32, function: u64, call_site: bool) {
        let id = RegionId {
            thread: self.threads[slot].index,
            seq,
        };
        let Some(key) = self.top(slot) else { return };
        let outermost = self.threads[slot].unit.is_none();
        let team = match outermost {
            true => {
                let key = self.new_unit(id);
                if let Some(unit) = self.units.get_mut(key) {
                    (unit.record.function, unit.record.call_site) = (function, call_site);
                }
                let unit = Some(key);
                self.set_unit(slot, unit);
                let start = self.open(unit, super::OUTSIDE, &Joins::default());
                Team::new(unit, true, start)
            }
            false => {
                let start = self
                    .contexts
                    .get(key)
                    .map_or(Point::START, |context| context.point);
                self.fork(key);
                Team::new(self.threads[slot].unit, false, start)
            }
        };
        self.teams.insert(id, team);
    }

    fn implicit_begin(&mut self, slot: usize, region: RegionId) {
        let thread = self.threads[slot].index;
        if !self.teams.contains_key(&region) {
            // Its begin was lost.
            let unit = Some(self.new_unit(region));
            self.teams
                .insert(region, Team::new(unit, true, Point::START));
        }
        let Some((unit, start)) = self.teams.get(&region).map(|team| (team.unit, team.start))
        else {
            return;
        };
        self.set_unit(slot, unit);
        if self.threads[slot].frames.len() >= MAX_DEPTH {
            return;
        }
        let point = self.open(unit, super::OUTSIDE, &Joins::of(start));
        let mut context = Context::new(Parent::Implicit { thread, region }, point);
        (context.unit, context.region) = (unit, Some(region));
        let key = self.contexts.insert(context);
        let thread = &mut self.threads[slot];
        thread.implicit.push((thread.frames.len(), region));
        thread.frames.push(key);
    }

    /// Ends the innermost implicit task, or that of `region`, and all on top of it.
    fn close_implicit(&mut self, slot: usize, region: Option<RegionId>) {
        let mut within = self.threads[slot].implicit.iter().rev().take(MAX_LOST);
        let found = within.find(|(_, of)| region.is_none_or(|region| region == *of));
        if let Some((keep, _)) = found {
            self.truncate(slot, *keep);
        }
    }

    /// Takes frames off a thread, innermost first. Explicit tasks among them have lost their end.
    fn truncate(&mut self, slot: usize, keep: usize) {
        while self.threads[slot].frames.len() > keep {
            let Some(context) = self.threads[slot]
                .frames
                .pop()
                .and_then(|key| self.contexts.remove(key))
            else {
                continue;
            };
            let thread = &mut self.threads[slot];
            let len = thread.frames.len();
            thread.implicit.pop_if(|(place, _)| *place >= len);
            for group in &context.groups {
                self.groups.remove(*group);
            }
            match context.parent {
                Parent::Implicit { region, .. } => {
                    if let Some(team) = self.teams.get_mut(&region) {
                        team.ends.add(context.point);
                    }
                }
                Parent::Explicit(task) => self.cut(task, &context),
                Parent::Initial { .. } => {}
            }
        }
    }

    fn parallel_end(&mut self, slot: usize, seq: u32) {
        let id = RegionId {
            thread: self.threads[slot].index,
            seq,
        };
        self.close_implicit(slot, Some(id));
        let Some(team) = self.teams.get_mut(&id) else {
            return;
        };
        if !team.outermost {
            let mut joins = std::mem::take(&mut team.ends);
            joins.append(&mut team.tasks);
            self.teams.remove(&id);
            if let Some(key) = self.top(slot) {
                self.join(key, joins);
            }
            return;
        }
        if let Some(unit) = team.unit {
            self.ending.push((self.now, id, unit));
        }
        self.set_unit(slot, None);
    }

    /// Ends the regions whose end is in the past: what has the same time as an end may still belong to it.
    fn end_regions(&mut self, now: u64, sink: &mut dyn Sink) {
        let over = self.ending.partition_point(|(time, ..)| *time < now);
        for (time, id, key) in self.ending.drain(..over).collect::<Vec<_>>() {
            self.now = time;
            for slot in 0..self.threads.len() {
                if self.threads[slot].unit == Some(key) {
                    self.set_unit(slot, None);
                }
            }
            let Some(unit) = self.units.get(key) else {
                continue;
            };
            if unit.open > 0 {
                let mut left = self.left(|live| live.unit == Some(key));
                left.sort_unstable();
                for (_, task) in left {
                    self.abandon(task, sink);
                }
            }
            let mut joins = Joins::default();
            if let Some(mut team) = self.teams.remove(&id) {
                joins.append(&mut team.ends);
                joins.append(&mut team.tasks);
            }
            self.taskloops
                .retain(|_, taskloop| taskloop.unit != Some(key));
            self.teams.retain(|_, team| team.unit != Some(key));
            if let Some(unit) = self.units.remove(key)
                && unit.created > 0
            {
                sink.region(unit.finish(time, joins.ns));
            }
        }
    }

    fn sync_begin(&mut self, slot: usize, kind: SyncKind) {
        if !is_barrier(kind) {
            return;
        }
        let Some(context) = self.top(slot).and_then(|key| self.contexts.get_mut(key)) else {
            return;
        };
        if let Parent::Implicit { region, .. } = context.parent
            && let Some(team) = self.teams.get_mut(&region)
        {
            context.arrived = team.arrive(context.barriers, context.point);
        }
    }

    fn sync_end(&mut self, slot: usize, kind: SyncKind, sink: &mut dyn Sink) {
        let Some(key) = self.top(slot) else { return };
        match kind {
            SyncKind::Taskwait => {
                if let Some(context) = self.contexts.get_mut(key) {
                    let children = std::mem::take(&mut context.children);
                    self.join(key, children);
                }
            }
            SyncKind::TaskwaitDepend => self.taskwait_end(key, sink),
            SyncKind::TaskgroupEnd => {
                let group = self
                    .contexts
                    .get_mut(key)
                    .and_then(|context| context.groups.pop());
                if let Some(joins) = group.and_then(|group| self.groups.remove(group)) {
                    self.join(key, joins);
                }
            }
            kind if is_barrier(kind) => self.leave_barrier(key),
            _ => {}
        }
    }

    fn leave_barrier(&mut self, key: Key) {
        let Some(context) = self.contexts.get_mut(key).filter(|context| context.arrived) else {
            return;
        };
        context.arrived = false;
        let number = context.barriers;
        context.barriers += 1;
        let Some(region) = context.region else { return };
        let Some(mut team) = self.teams.remove(&region) else {
            return;
        };
        let unit = team.unit;
        let end = team.leave(number, |joins| self.open(unit, super::OUTSIDE, joins));
        self.teams.insert(region, team);
        if let Some(end) = end {
            self.join(key, Joins::of(end));
        }
    }

    fn taskgroup_begin(&mut self, slot: usize) {
        if let Some(context) = self.top(slot).and_then(|key| self.contexts.get_mut(key)) {
            context.groups.push(self.groups.insert(Joins::default()));
        }
    }

    fn taskloop_begin(&mut self, slot: usize, seq: u32, function: u64, flags: u32) {
        let id = TaskId {
            thread: self.threads[slot].index,
            seq,
        };
        let is_group = flags & NOGROUP == 0;
        if is_group {
            self.taskgroup_begin(slot);
        }
        let Some((key, context)) = self
            .top(slot)
            .and_then(|key| Some((key, self.contexts.get(key)?)))
        else {
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
            region: context.region,
        };
        self.taskloops.insert(id, taskloop);
        self.threads[slot].taskloops.push(id);
        self.fork(key);
    }

    fn taskloop_end(&mut self, slot: usize) {
        let Some(id) = self.threads[slot].taskloops.pop() else {
            return;
        };
        // Without a group its tasks may still begin.
        if let Some(taskloop) = self.taskloops.get(&id)
            && taskloop.is_group
        {
            let (key, group) = (taskloop.creator, taskloop.group);
            self.taskloops.remove(&id);
            if let Some(context) = self.contexts.get_mut(key) {
                context.groups.retain(|open| Some(*open) != group);
            }
            if let Some(joins) = group.and_then(|group| self.groups.remove(group)) {
                self.join(key, joins);
            }
        }
    }

    /// Behind a gap: what lies below the region or the task that is known to run goes on.
    fn lost(&mut self, slot: usize, region: Option<RegionId>, task: Option<TaskId>) {
        let thread = self.threads[slot].index;
        let region = region.map(|region| Parent::Implicit { thread, region });
        let task = task.map(Parent::Explicit);
        let parents = |states: &Self| -> Vec<Option<Parent>> {
            let frames = states.threads[slot].frames.iter();
            frames
                .map(|key| states.contexts.get(*key).map(|context| context.parent))
                .collect()
        };
        let running = parents(self);
        let goes_on =
            |parent: &Option<Parent>| parent.is_some() && (*parent == region || *parent == task);
        // The initial task stays in any case.
        self.truncate(slot, running.iter().rposition(goes_on).unwrap_or(0) + 1);
        let running = parents(self);
        let state = &mut self.threads[slot];
        state.creating.clear();
        state.taskloops.clear();
        if let Some(Parent::Implicit { region, .. }) = region
            && !running.contains(&Some(Parent::Implicit { thread, region }))
        {
            self.implicit_begin(slot, region);
        }
        if let Some(Parent::Explicit(task)) = task
            && !running.contains(&Some(Parent::Explicit(task)))
        {
            self.resume(slot, task);
        }
    }
}

fn is_barrier(kind: SyncKind) -> bool {
    matches!(kind, SyncKind::ExplicitBarrier | SyncKind::ImplicitBarrier)
}
