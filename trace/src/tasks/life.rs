//! A task from its creation to its last change.

use super::contexts::{Context, Taskloop};
use super::path::{Joins, Point, add};
use super::region::{Level, UnitKey};
use super::slab::Key;
use super::states::{MAX_DEPTH, TaskStates};
use super::{Sink, TaskKind, TaskRecord};
use crate::current::Parent;
use crate::event::{DependKind, Event, Payload, RegionId, TaskId, task_flags};

/// What is kept of a task that can still change, or be a predecessor.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) record: TaskRecord,
    /// Its record was given.
    pub(super) given: bool,
    creator: Option<Key>,
    group: Option<Key>,
    pub(super) unit: UnitKey,
    region: Option<RegionId>,
    /// What its path begins behind; then where it ends.
    start: Joins,
    end: Point,
    /// Heaviest and longest chain of edges that ends before it, then with it.
    chain: (u64, u32),
    /// Creation or the latest completion of a predecessor so far.
    latest: u64,
    /// Predecessors that are not complete, and who waits for this one.
    waiting: u32,
    successors: Vec<TaskId>,
    context: Option<Key>,
    /// It counts among the ready tasks of its region.
    counted: bool,
    nowait: bool,
    /// The program, not only the library's load, has the creator wait for its end: `if(0)`, or a child of a final task.
    suspends_creator: bool,
    /// It and its descendants are final.
    is_final: bool,
    /// It is complete only when its event is fulfilled; and whether that was.
    detached: bool,
    fulfilled: Option<u64>,
    /// Addresses of `mutexinoutset` entries.
    exclusive: Vec<u64>,
}

impl Live {
    fn new(record: TaskRecord) -> Self {
        Self {
            latest: record.created.unwrap_or(0),
            detached: record.flags & task_flags::DETACH != 0,
            record,
            given: false,
            creator: None,
            group: None,
            unit: None,
            region: None,
            start: Joins::default(),
            end: Point::START,
            chain: (0, 0),
            waiting: 0,
            successors: Vec::new(),
            context: None,
            counted: false,
            nowait: false,
            suspends_creator: false,
            is_final: false,
            fulfilled: None,
            exclusive: Vec::new(),
        }
    }

    fn follow(&mut self, chain: (u64, u32), time: u64) {
        self.chain = (self.chain.0.max(chain.0), self.chain.1.max(chain.1));
        self.latest = self.latest.max(time);
    }
}

impl TaskStates {
    #[inline]
    pub(super) fn apply_tasks(&mut self, slot: usize, event: &Event<'_>, sink: &mut dyn Sink) {
        let own = |seq| TaskId {
            thread: event.thread,
            seq,
        };
        match event.payload {
            Payload::TaskCreate {
                seq,
                function,
                flags,
                ..
            } => {
                self.threads[slot].creating.push(seq);
                let kind = match flags & task_flags::TARGET {
                    0 => TaskKind::Task,
                    _ => TaskKind::Target,
                };
                self.create(slot, own(seq), kind, function, flags, false, sink);
            }
            Payload::TaskCreated => drop(self.threads[slot].creating.pop()),
            Payload::TaskwaitDepend { seq, nowait, .. } => {
                let flags = task_flags::DEPEND;
                self.create(slot, own(seq), TaskKind::Taskwait, 0, flags, nowait, sink);
                let top = self.top(slot).filter(|_| !nowait);
                if let Some(context) = top.and_then(|key| self.contexts.get_mut(key)) {
                    context.waiting = Some(own(seq));
                }
            }
            Payload::TaskloopTask { taskloop, seq, .. } => {
                self.create_piece(own(seq), taskloop, sink)
            }
            Payload::TaskBegin { task } => self.begin(slot, task),
            Payload::TaskEnd => self.end(slot, sink),
            Payload::TaskSuspend => {
                let explicit = |context: &Context| context.task().is_some();
                let top = self.top(slot).and_then(|key| self.contexts.get(key));
                if top.is_some_and(explicit) {
                    self.threads[slot].frames.pop();
                }
            }
            Payload::TaskResume { task } => self.resume(slot, task),
            Payload::TaskEvent { task, handle } => self.tell_handle(task, handle, sink),
            Payload::TaskFulfill { task, handle } => self.fulfill(task, handle, sink),
            _ => {}
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of one event")]
    fn create(
        &mut self,
        slot: usize,
        id: TaskId,
        kind: TaskKind,
        function: u64,
        flags: u32,
        nowait: bool,
        sink: &mut dyn Sink,
    ) {
        let Some((key, creator)) = self
            .top(slot)
            .and_then(|key| Some((key, self.contexts.get(key)?)))
        else {
            return;
        };
        let mut record = TaskRecord::new(id, 0);
        (record.kind, record.function, record.flags) = (kind, function, flags);
        (record.parent, record.created) = (Some(creator.parent), Some(self.now()));
        let mut live = Live::new(record);
        live.nowait = nowait;
        live.creator = Some(key);
        live.group = creator.innermost_group();
        (live.unit, live.region) = (creator.unit, creator.region);
        live.is_final = creator.is_final || flags & task_flags::FINAL != 0;
        // Outside of parallel regions nobody else could take it.
        live.suspends_creator = creator.is_final
            || creator.region.is_none()
            || flags & (task_flags::IF_FALSE | task_flags::UNDEFERRED) != 0;
        live.start = Joins::of(creator.point);
        let exclusive = self.graph.entries().iter();
        let exclusive = exclusive.filter(|entry| entry.kind == DependKind::MutexInOutSet);
        live.exclusive = exclusive.map(|entry| entry.address).collect();
        self.register(live, sink);
        self.fork(key);
        self.complete_all(sink);
    }

    /// A piece of a taskloop begins: nothing told of its creation.
    fn create_piece(&mut self, id: TaskId, taskloop: TaskId, sink: &mut dyn Sink) {
        if self.live.get(&id).is_some_and(|live| !live.given) {
            return;
        }
        self.predecessors.clear();
        let mut record = TaskRecord::new(id, 0);
        (record.kind, record.created) = (TaskKind::Taskloop, Some(self.now()));
        let Some(from) = self.taskloops.get(&taskloop) else {
            self.register(Live::new(record), sink);
            return;
        };
        let Taskloop {
            function,
            flags,
            parent,
            ..
        } = *from;
        (record.function, record.flags, record.parent) = (function, flags & 7, Some(parent));
        let mut live = Live::new(record);
        live.creator = Some(from.creator);
        live.group = from.group;
        (live.unit, live.region) = (from.unit, from.region);
        live.is_final = flags & task_flags::FINAL != 0;
        live.start = Joins::of(from.start);
        self.register(live, sink);
    }

    fn register(&mut self, mut live: Live, sink: &mut dyn Sink) {
        let id = live.record.id;
        if self.live.get(&id).is_some_and(|old| !old.given) {
            return; // damage: there is such a task
        }
        live.record.number = self.number;
        self.number += 1;
        let predecessors = std::mem::take(&mut self.predecessors);
        for from in &predecessors {
            sink.edge(*from, id);
            let Some(predecessor) = self.live.get_mut(from) else {
                continue;
            };
            match predecessor.record.complete {
                Some(time) => {
                    live.start.add(predecessor.end);
                    live.follow(predecessor.chain, time);
                }
                None => {
                    predecessor.successors.push(id);
                    live.waiting += 1;
                }
            }
        }
        if let Some(unit) = live.unit.and_then(|unit| self.units.get_mut(unit)) {
            live.record.region = unit.record.id;
            unit.created += 1;
            unit.open += 1;
            unit.record.edges += predecessors.len() as u64;
        }
        self.predecessors = predecessors;
        let ready = live.waiting == 0;
        self.live.insert(id, live);
        if ready {
            self.becomes_ready(id);
        }
    }

    fn becomes_ready(&mut self, id: TaskId) {
        let now = self.now();
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        if live.record.created.is_some() {
            live.record.ready = Some(live.latest);
        }
        match live.record.kind {
            TaskKind::Taskwait => {
                if live.nowait {
                    self.completing.push(id);
                }
            }
            // The one begins at once, of the other nobody tells.
            TaskKind::Taskloop | TaskKind::Target => {}
            TaskKind::Task => {
                if live.record.begin.is_none()
                    && let Some(unit) = live.unit.and_then(|unit| self.units.get_mut(unit))
                {
                    live.counted = true;
                    unit.ready(now, true);
                }
            }
        }
    }

    fn begin(&mut self, slot: usize, id: TaskId) {
        if self.live.get(&id).is_none_or(|live| live.given) {
            self.create_unknown(slot, id);
        }
        let now = self.now();
        let undeferred = id.thread == self.threads[slot].index
            && self.threads[slot].creating.last() == Some(&id.seq);
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        if live.record.begin.is_none() {
            live.record.begin = Some(now);
            live.record.thread = Some(self.threads[slot].index);
            live.record.undeferred = undeferred;
            let level = live.start.hops;
            live.record.level = Some(level);
            if let Some(unit) = live.unit.and_then(|unit| self.units.get_mut(unit)) {
                if std::mem::take(&mut live.counted) {
                    unit.ready(now, false);
                }
                unit.body_begins(now);
                unit.record.tasks += 1;
                count_level(&mut unit.record.levels, level, 1, 0);
            }
            self.begin_exclusive(id);
        }
        self.resume(slot, id);
    }

    /// A task whose creation is not in the trace.
    fn create_unknown(&mut self, slot: usize, id: TaskId) {
        let top = self.top(slot).and_then(|key| self.contexts.get(key));
        let region = top.and_then(|context| context.region);
        let mut live = Live::new(TaskRecord::new(id, self.number));
        self.number += 1;
        (live.unit, live.region) = (self.threads[slot].unit, region);
        if let Some(unit) = live.unit.and_then(|unit| self.units.get_mut(unit)) {
            live.record.region = unit.record.id;
            unit.created += 1;
            unit.open += 1;
        }
        self.live.insert(id, live);
    }

    /// The task runs on this thread from now on.
    pub(super) fn resume(&mut self, slot: usize, id: TaskId) {
        if self.live.get(&id).is_none_or(|live| live.given) {
            self.create_unknown(slot, id);
        }
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        let (unit, is_final) = (live.unit, live.is_final);
        let known = live.context.filter(|key| self.contexts.get(*key).is_some());
        let key = match known {
            Some(key) => key,
            None => {
                let (start, group, region) =
                    (std::mem::take(&mut live.start), live.group, live.region);
                let mut owner = super::OUTSIDE;
                if let Some(unit) = unit.and_then(|unit| self.units.get_mut(unit))
                    && let Some(segments) = &mut unit.segments
                {
                    owner = segments.add_task(id);
                }
                let mut point = self.open(unit, owner, &start);
                point.hops += 1;
                let mut context = Context::new(Parent::Explicit(id), point);
                (context.owner, context.group, context.unit, context.region) =
                    (owner, group, unit, region);
                context.is_final = is_final;
                self.contexts.insert(context)
            }
        };
        if let Some(live) = self.live.get_mut(&id) {
            live.context = Some(key);
        }
        if unit.is_some() {
            self.set_unit(slot, unit);
        }
        if self.threads[slot].frames.len() < MAX_DEPTH {
            self.threads[slot].frames.push(key);
        }
    }

    fn end(&mut self, slot: usize, sink: &mut dyn Sink) {
        let Some(key) = self.top(slot) else { return };
        let Some(id) = self.contexts.get(key).and_then(Context::task) else {
            return;
        };
        self.threads[slot].frames.pop();
        let Some(context) = self.contexts.remove(key) else {
            return;
        };
        for group in &context.groups {
            self.groups.remove(*group);
        }
        let now = self.now();
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        live.context = None;
        live.end = context.point;
        live.record.end = Some(now);
        (live.record.duration, live.record.work) = (context.duration, context.work);
        if let Some(unit) = live.unit.and_then(|unit| self.units.get_mut(unit)) {
            unit.body_ends(now);
            add(&mut unit.record.task_work, context.work);
            if let Some(level) = live.record.level {
                count_level(&mut unit.record.levels, level, 0, context.work);
            }
        }
        let undeferred = live.record.undeferred && live.suspends_creator;
        let creator = live.creator;
        let complete = !live.detached || live.fulfilled.is_some();
        self.end_exclusive(id);
        if complete {
            self.completing.push(id);
            self.complete_all(sink);
        }
        if let Some(below) = self.top(slot)
            && undeferred
            && creator == Some(below)
        {
            self.join(below, Joins::of(context.point));
        }
    }

    /// A `taskwait` with dependences is over.
    pub(super) fn taskwait_end(&mut self, key: Key, sink: &mut dyn Sink) {
        let Some(id) = self
            .contexts
            .get_mut(key)
            .and_then(|context| context.waiting.take())
        else {
            return;
        };
        self.passed = None;
        self.complete(id, sink);
        // What follows may pass others.
        let passed = self.passed.take();
        self.complete_all(sink);
        if let Some((last, end)) = passed
            && last == id
        {
            self.join(key, Joins::of(end));
        }
    }

    /// Completes what is to be, and what that makes ready.
    fn complete_all(&mut self, sink: &mut dyn Sink) {
        while let Some(id) = self.completing.pop() {
            self.complete(id, sink);
        }
    }

    fn complete(&mut self, id: TaskId, sink: &mut dyn Sink) {
        let Some(live) = self.live.get(&id) else {
            return;
        };
        if live.record.complete.is_some() {
            return;
        }
        if live.record.kind == TaskKind::Taskwait {
            self.pass_taskwait(id);
        }
        let now = self.now();
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        let time = match (live.nowait, live.record.end, live.fulfilled) {
            (true, ..) => live.latest,
            (_, Some(end), Some(fulfilled)) => end.max(fulfilled),
            _ => now,
        };
        live.record.complete = Some(time);
        live.chain.0 = live.chain.0.saturating_add(live.record.work);
        live.chain.1 += 1;
        let (end, chain) = (live.end, live.chain);
        let (creator, group, region, unit) = (live.creator, live.group, live.region, live.unit);
        let successors = std::mem::take(&mut live.successors);
        if let Some(creator) = creator.and_then(|creator| self.contexts.get_mut(creator)) {
            creator.children.add(end);
        }
        if let Some(group) = group.and_then(|group| self.groups.get_mut(group)) {
            group.add(end);
        }
        if let Some(team) = region.and_then(|region| self.teams.get_mut(&region)) {
            team.tasks.add(end);
        }
        if let Some(unit) = unit.and_then(|unit| self.units.get_mut(unit)) {
            unit.record.chain = unit.record.chain.max(chain.0);
            unit.record.chain_hops = unit.record.chain_hops.max(chain.1);
        }
        for successor in successors {
            self.predecessor_done(successor, end, chain, time, sink);
        }
        self.give_if_final(id, sink);
    }

    fn predecessor_done(
        &mut self,
        id: TaskId,
        end: Point,
        chain: (u64, u32),
        time: u64,
        sink: &mut dyn Sink,
    ) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        live.follow(chain, time);
        live.waiting = live.waiting.saturating_sub(1);
        match live.record.begin {
            None => live.start.add(end),
            Some(begin) if begin < time => self.order_violations += 1,
            Some(_) => self.join_at_begin(id, end),
        }
        let Some(live) = self.live.get(&id) else {
            return;
        };
        if live.waiting == 0 {
            self.becomes_ready(id);
            self.give_if_final(id, sink);
        }
    }

    /// A predecessor ended at the very time the task began, and the merge gives the begin first.
    fn join_at_begin(&mut self, id: TaskId, end: Point) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        let Some(key) = live.context else { return };
        if let (Some(level), Some(unit)) = (live.record.level, live.unit)
            && level < end.hops
            && let Some(unit) = self.units.get_mut(unit)
        {
            live.record.level = Some(end.hops);
            let levels = &mut unit.record.levels;
            levels[level as usize].tasks -= 1;
            count_level(levels, end.hops, 1, 0);
        }
        let mut end = end;
        end.hops += 1;
        self.join(key, Joins::of(end));
    }

    /// The empty body of a `taskwait` with dependences.
    fn pass_taskwait(&mut self, id: TaskId) {
        let now = self.now();
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        let time = match live.nowait {
            true => live.latest,
            false => now,
        };
        let (start, unit) = (std::mem::take(&mut live.start), live.unit);
        live.record.level = Some(start.hops);
        (live.record.begin, live.record.end) = (Some(time), Some(time));
        live.record.thread = Some(id.thread);
        let mut owner = super::OUTSIDE;
        if let Some(unit) = unit.and_then(|unit| self.units.get_mut(unit)) {
            unit.record.tasks += 1;
            count_level(&mut unit.record.levels, start.hops, 1, 0);
            if let Some(segments) = &mut unit.segments {
                owner = segments.add_task(id);
            }
        }
        let mut end = self.open(unit, owner, &start);
        end.hops += 1;
        if let Some(live) = self.live.get_mut(&id) {
            live.end = end;
        }
        self.passed = Some((id, end));
    }

    fn give_if_final(&mut self, id: TaskId, sink: &mut dyn Sink) {
        if let Some(live) = self.live.get(&id)
            && live.record.complete.is_some()
            && live.waiting == 0
        {
            self.give(id, sink);
        }
    }

    /// Gives the record of a task and drops what nobody needs of it.
    pub(super) fn give(&mut self, id: TaskId, sink: &mut dyn Sink) {
        let Some(live) = self.live.get_mut(&id).filter(|live| !live.given) else {
            return;
        };
        live.given = true;
        if live.record.begin.is_some() && live.record.created.is_some() {
            live.record.ready = Some(live.latest);
        }
        sink.task(&live.record);
        if let Some(unit) = live.unit.and_then(|unit| self.units.get_mut(unit)) {
            unit.open = unit.open.saturating_sub(1);
        }
        if !self.graph.is_live(id) {
            self.live.remove(&id);
        }
    }

    /// The region of a task has ended, the task has not.
    pub(super) fn abandon(&mut self, id: TaskId, sink: &mut dyn Sink) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        let kind = live.record.kind;
        live.record.cancelled =
            live.record.begin.is_none() && matches!(kind, TaskKind::Task | TaskKind::Taskloop);
        if live.record.end.is_some()
            && live.record.complete.is_none()
            && let Some(team) = live.region.and_then(|region| self.teams.get_mut(&region))
        {
            team.tasks.add(live.end);
        }
        if let Some(context) = live.context.and_then(|key| self.contexts.get(key)) {
            (live.record.duration, live.record.work) = (context.duration, context.work);
        }
        self.end_exclusive(id);
        self.give(id, sink);
    }

    /// The end of a running task was lost.
    pub(super) fn cut(&mut self, id: TaskId, context: &Context) {
        if let Some(live) = self.live.get_mut(&id) {
            live.context = None;
            (live.record.duration, live.record.work) = (context.duration, context.work);
            // Should it go on nevertheless, then behind what it has done.
            live.start = Joins::of(context.point);
        }
        self.end_exclusive(id);
    }

    pub(super) fn forget_released(&mut self) {
        for task in self.graph.released() {
            if self.live.get(&task).is_some_and(|live| live.given) {
                self.live.remove(&task);
            }
        }
    }

    /// The event of a task with a `detach` clause has this handle.
    fn tell_handle(&mut self, id: TaskId, handle: u64, sink: &mut dyn Sink) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        if live.fulfilled.is_some() || live.record.complete.is_some() {
            return;
        }
        live.detached = true;
        if let Some(time) = self.early.remove(&handle) {
            self.fulfilled(id, time, sink);
        } else {
            self.handles.insert(handle, id);
        }
    }

    fn fulfill(&mut self, task: Option<TaskId>, handle: u64, sink: &mut dyn Sink) {
        let told = self.handles.get(&handle).copied();
        if task.is_none() || task == told {
            self.handles.remove(&handle);
        }
        let now = self.now();
        match task.or(told) {
            Some(id) => self.fulfilled(id, now, sink),
            // The construct that tells whose handle it is has not returned.
            None => _ = self.early.insert(handle, now),
        }
    }

    fn fulfilled(&mut self, id: TaskId, time: u64, sink: &mut dyn Sink) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        live.fulfilled = Some(time);
        if live.record.end.is_some() {
            self.completing.push(id);
            self.complete_all(sink);
        }
    }

    fn begin_exclusive(&mut self, id: TaskId) {
        let now = self.now();
        let Some(live) = self.live.get(&id) else {
            return;
        };
        let Some(parent) = live.record.parent else {
            return;
        };
        for address in &live.exclusive {
            let running = self.exclusive.entry((parent, *address)).or_default();
            running.push((id, now));
        }
    }

    /// Counts those that began before this one's end and run on.
    fn end_exclusive(&mut self, id: TaskId) {
        let now = self.now();
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        let Some(parent) = live.record.parent else {
            return;
        };
        for address in std::mem::take(&mut live.exclusive) {
            let key = (parent, address);
            let Some(running) = self.exclusive.get_mut(&key) else {
                continue;
            };
            let before = running.len();
            running.retain(|(other, _)| *other != id);
            if running.len() < before {
                let overlaps = running.iter().filter(|(_, begin)| *begin < now).count();
                self.overlaps += overlaps as u64;
            }
            if running.is_empty() {
                self.exclusive.remove(&key);
            }
        }
    }
}

fn count_level(levels: &mut Vec<Level>, level: u32, tasks: u64, work: u64) {
    let at = level as usize;
    if levels.len() <= at {
        levels.resize(at + 1, Level::default());
    }
    levels[at].tasks += tasks;
    add(&mut levels[at].work, work);
}
