//! A task from its creation to its last change.

use super::path::{Joins, Point, add};
use super::region::{Level, UnitKey};
use super::slab::Key;
use super::states::TaskStates;
use super::{OUTSIDE, Parent, TaskKind, TaskRecord, TaskSink};
use crate::depend::Node;
use crate::event::{DependKind, TaskId, task_flags};
use crate::model::At;
use crate::task_map::{self, Value};

/// Longer lists of successors are not kept to be used again.
const MAX_KEPT: usize = 1 << 4;

/// What is kept of a task that can still change, or be a predecessor.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) record: TaskRecord,
    /// Its record was given.
    pub(super) given: bool,
    creator: Option<Key>,
    group: Option<Key>,
    pub(super) unit: UnitKey,
    /// Its place among the open tasks of the unit.
    open_at: u32,
    team: Option<Key>,
    /// What its path begins behind; then where it ends.
    start: Joins,
    end: Point,
    /// Heaviest and longest chain of edges that ends before it, then with it.
    chain: (u64, u32),
    /// Creation or the latest completion of a predecessor so far.
    latest: u64,
    /// Predecessors that are not complete, and who waits for this one.
    waiting: u32,
    successors: Vec<task_map::Key>,
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

impl Default for Live {
    fn default() -> Self {
        let nobody = TaskId { thread: 0, seq: 0 };
        Self {
            record: TaskRecord::new(nobody, 0),
            given: false,
            creator: None,
            group: None,
            unit: None,
            open_at: 0,
            team: None,
            start: Joins::default(),
            end: Point::START,
            chain: (0, 0),
            latest: 0,
            waiting: 0,
            successors: Vec::new(),
            context: None,
            counted: false,
            nowait: false,
            suspends_creator: false,
            is_final: false,
            detached: false,
            fulfilled: None,
            exclusive: Vec::new(),
        }
    }
}

impl Value for Live {
    fn clear(&mut self) {
        let mut successors = std::mem::take(&mut self.successors);
        successors.clear();
        if successors.capacity() > MAX_KEPT {
            successors = Vec::new();
        }
        *self = Self {
            successors,
            ..Self::default()
        };
    }
}

impl Live {
    fn follow(&mut self, chain: (u64, u32), time: u64) {
        self.chain = (self.chain.0.max(chain.0), self.chain.1.max(chain.1));
        self.latest = self.latest.max(time);
    }
}

impl<S: TaskSink> TaskStates<S> {
    /// A task is created by the running one. `made`: its kind, body and flags.
    pub(super) fn create(&mut self, at: At, id: TaskId, made: (TaskKind, u64, u32), nowait: bool) {
        self.account(at.position, at.time);
        let Some(key) = self.bodies.key(at.body) else {
            return;
        };
        let Some(creator) = self.bodies.get(key) else {
            return;
        };
        let (kind, function, flags) = made;
        let (parent, point) = (creator.parent, creator.point);
        let (group, unit, team) = (creator.innermost_group(), creator.unit, creator.team);
        let was_final = creator.is_final;
        let now = self.now();
        if let Some(task) = self.register(id, unit)
            && let Some(live) = self.live.get_mut(task)
        {
            let record = &mut live.record;
            (record.kind, record.function, record.flags) = (kind, function, flags);
            (record.parent, record.created) = (Some(parent), Some(now));
            live.latest = now;
            live.detached = flags & task_flags::DETACH != 0;
            live.nowait = nowait;
            (live.creator, live.group, live.team) = (Some(key), group, team);
            live.is_final = was_final || flags & task_flags::FINAL != 0;
            // Outside of parallel regions nobody else could take it.
            live.suspends_creator = was_final
                || team.is_none()
                || flags & (task_flags::IF_FALSE | task_flags::UNDEFERRED) != 0;
            live.start.add(point);
            self.follow_predecessors(at, task);
            self.is_registered(task);
            if kind == TaskKind::Taskwait
                && !nowait
                && let Some(creator) = self.bodies.get_mut(key)
            {
                creator.waiting = Some(task);
            }
        }
        self.fork(key);
        self.complete_all();
    }

    /// A piece of a taskloop begins: nothing told of its creation.
    pub(super) fn create_piece(&mut self, id: TaskId, taskloop: TaskId) {
        let from = self.taskloops.get(&taskloop).copied();
        let now = self.now();
        let Some(key) = self.register(id, from.and_then(|from| from.unit)) else {
            return;
        };
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        let record = &mut live.record;
        (record.kind, record.created) = (TaskKind::Taskloop, Some(now));
        live.latest = now;
        if let Some(from) = from {
            (record.function, record.flags) = (from.function, from.flags & 7);
            record.parent = Some(from.parent);
            live.creator = Some(from.creator);
            (live.group, live.team) = (from.group, from.team);
            live.is_final = from.flags & task_flags::FINAL != 0;
            live.start.add(from.start);
        }
        self.is_registered(key);
    }

    /// Gives a new task its number and its place, unless there is such a task: that is damage.
    fn register(&mut self, id: TaskId, unit: UnitKey) -> Option<task_map::Key> {
        let known = self.live.find(id).and_then(|key| self.live.get(key));
        if known.is_some_and(|known| !known.given) {
            return None;
        }
        let key = self.live.insert(id);
        let live = self.live.get_mut(key)?;
        (live.record.id, live.record.number, live.unit) = (id, self.number, unit);
        self.number += 1;
        if let Some(unit) = unit.and_then(|unit| self.units.get_mut(unit)) {
            live.record.region = unit.record.id;
            live.open_at = unit.open.len() as u32;
            unit.created += 1;
            unit.open.push(key);
        }
        Some(key)
    }

    /// What a task that is created depends on.
    fn follow_predecessors(&mut self, at: At, key: task_map::Key) {
        let Some(live) = self.live.get(key) else {
            return;
        };
        let (task, unit) = (live.record.id, live.unit);
        let node = Node {
            task,
            at: key.place,
        };
        let (mut start, mut chain, mut latest) = (Joins::default(), (0, 0), 0);
        let (mut edges, mut waiting) = (0, 0);
        for from in self.graph.create(at, node) {
            self.out.edge(from.task, task);
            edges += 1;
            let Some(predecessor) = self.live.at_mut(from.at) else {
                continue;
            };
            match predecessor.record.complete {
                Some(time) => {
                    start.add(predecessor.end);
                    chain.0 = predecessor.chain.0.max(chain.0);
                    chain.1 = predecessor.chain.1.max(chain.1);
                    latest = time.max(latest);
                }
                None => {
                    predecessor.successors.push(key);
                    waiting += 1;
                }
            }
        }
        if let Some(live) = self.live.get_mut(key) {
            live.start.append(&mut start);
            live.follow(chain, latest);
            live.waiting = waiting;
            let exclusive = self.graph.entries().iter();
            let exclusive = exclusive.filter(|entry| entry.kind == DependKind::MutexInOutSet);
            live.exclusive.extend(exclusive.map(|entry| entry.address));
        }
        if edges > 0
            && let Some(unit) = unit.and_then(|unit| self.units.get_mut(unit))
        {
            unit.record.edges += edges;
        }
        self.forget_released();
    }

    fn is_registered(&mut self, key: task_map::Key) {
        if self.live.get(key).is_some_and(|live| live.waiting == 0) {
            self.becomes_ready(key);
        }
    }

    fn becomes_ready(&mut self, key: task_map::Key) {
        let now = self.now();
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        if live.record.created.is_some() {
            live.record.ready = Some(live.latest);
        }
        match live.record.kind {
            TaskKind::Taskwait => {
                if live.nowait {
                    self.completing.push(key);
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

    pub(super) fn task_begin(&mut self, at: At, id: TaskId, undeferred: bool) {
        let now = self.now();
        let Some(key) = self.known(at, id) else {
            return;
        };
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        if live.record.begin.is_none() {
            live.record.begin = Some(now);
            live.record.thread = Some(self.threads[at.position].index);
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
            self.begin_exclusive(key);
        }
        self.go_on(at, key);
    }

    /// A task, also one whose creation is not in the trace.
    fn known(&mut self, at: At, id: TaskId) -> Option<task_map::Key> {
        if let Some(key) = self.live.find(id)
            && self.live.get(key).is_some_and(|live| !live.given)
        {
            return Some(key);
        }
        let thread = &self.threads[at.position];
        let team = self.bodies.at(thread.runs).and_then(|below| below.team);
        let key = self.register(id, thread.unit)?;
        self.live.get_mut(key)?.team = team;
        Some(key)
    }

    /// The task runs on this thread from now on.
    pub(super) fn resume(&mut self, at: At, id: TaskId) {
        if let Some(key) = self.known(at, id) {
            self.go_on(at, key);
        }
    }

    fn go_on(&mut self, at: At, key: task_map::Key) {
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        let (id, unit) = (live.record.id, live.unit);
        let known = live.context.and_then(|known| self.bodies.get(known));
        if known.is_none_or(|_| live.context.is_some_and(|known| known.index != at.body)) {
            // A task that runs twice is damage: it goes on behind what it has done.
            let mut start = std::mem::take(&mut live.start);
            if let Some(known) = known {
                start.add(known.point);
            }
            let (group, team, is_final) = (live.group, live.team, live.is_final);
            let mut owner = OUTSIDE;
            if let Some(unit) = unit.and_then(|unit| self.units.get_mut(unit))
                && let Some(segments) = &mut unit.segments
            {
                owner = segments.add_task(id);
            }
            let mut point = self.open(unit, owner, &start);
            point.hops += 1;
            let context = self.bodies.begin(at.body, Parent::Explicit(id), point);
            (context.task, context.owner, context.group) = (Some(key), owner, group);
            (context.unit, context.team, context.is_final) = (unit, team, is_final);
            if let Some(live) = self.live.get_mut(key) {
                live.context = self.bodies.key(at.body);
            }
        }
        if unit.is_some() {
            self.set_unit(at.position, unit);
        }
        self.switch(at);
    }

    pub(super) fn task_end(&mut self, at: At) {
        let Some(context) = self.bodies.at(at.body) else {
            return;
        };
        let (point, duration, work) = (context.point, context.duration, context.work);
        let key = context.task;
        self.end_body(at.body);
        let now = self.now();
        let Some(key) = key else { return };
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        live.context = None;
        live.end = point;
        live.record.end = Some(now);
        (live.record.duration, live.record.work) = (duration, work);
        if let Some(unit) = live.unit.and_then(|unit| self.units.get_mut(unit)) {
            unit.body_ends(now);
            add(&mut unit.record.task_work, work);
            if let Some(level) = live.record.level {
                count_level(&mut unit.record.levels, level, 0, work);
            }
        }
        let undeferred = live.record.undeferred && live.suspends_creator;
        let creator = live.creator;
        let complete = !live.detached || live.fulfilled.is_some();
        self.end_exclusive(key);
        if complete {
            self.completing.push(key);
            self.complete_all();
        }
        if undeferred && let Some(creator) = creator {
            self.join(creator, Joins::of(point));
        }
    }

    /// A `taskwait` with dependences is over.
    pub(super) fn taskwait_end(&mut self, waits: Key) {
        let context = self.bodies.get_mut(waits);
        let Some(key) = context.and_then(|context| context.waiting.take()) else {
            return;
        };
        let end = self.complete(key);
        self.complete_all();
        if let Some(end) = end {
            self.join(waits, Joins::of(end));
        }
    }

    /// Completes what is to be, and what that makes ready.
    fn complete_all(&mut self) {
        while let Some(key) = self.completing.pop() {
            self.complete(key);
        }
    }

    /// Where the task's path ends, unless it was complete.
    fn complete(&mut self, key: task_map::Key) -> Option<Point> {
        let live = self.live.get(key)?;
        if live.record.complete.is_some() {
            return None;
        }
        if live.record.kind == TaskKind::Taskwait {
            self.pass_taskwait(key);
        }
        let now = self.now();
        let live = self.live.get_mut(key)?;
        let time = match (live.nowait, live.record.end, live.fulfilled) {
            (true, ..) => live.latest,
            (_, Some(end), Some(fulfilled)) => end.max(fulfilled),
            _ => now,
        };
        live.record.complete = Some(time);
        live.chain.0 = live.chain.0.saturating_add(live.record.work);
        live.chain.1 += 1;
        let (end, chain) = (live.end, live.chain);
        let (creator, group, team, unit) = (live.creator, live.group, live.team, live.unit);
        let successors = std::mem::take(&mut live.successors);
        if let Some(creator) = creator.and_then(|creator| self.bodies.get_mut(creator)) {
            creator.children.add(end);
        }
        if let Some(group) = group.and_then(|group| self.groups.get_mut(group)) {
            group.add(end);
        }
        if let Some(team) = team.and_then(|team| self.teams.get_mut(team)) {
            team.tasks.add(end);
        }
        if let Some(unit) = unit.and_then(|unit| self.units.get_mut(unit)) {
            unit.record.chain = unit.record.chain.max(chain.0);
            unit.record.chain_hops = unit.record.chain_hops.max(chain.1);
        }
        for successor in successors {
            self.predecessor_done(successor, end, chain, time);
        }
        self.give_if_final(key);
        Some(end)
    }

    fn predecessor_done(&mut self, key: task_map::Key, end: Point, chain: (u64, u32), time: u64) {
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        live.follow(chain, time);
        live.waiting = live.waiting.saturating_sub(1);
        match live.record.begin {
            None => live.start.add(end),
            Some(begin) if begin < time => self.order_violations += 1,
            Some(_) => self.join_at_begin(key, end),
        }
        if self.live.get(key).is_some_and(|live| live.waiting == 0) {
            self.becomes_ready(key);
            self.give_if_final(key);
        }
    }

    /// A predecessor ended at the very time the task began, and the merge gives the begin first.
    fn join_at_begin(&mut self, key: task_map::Key, end: Point) {
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        let Some(context) = live.context else { return };
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
        self.join(context, Joins::of(end));
    }

    /// The empty body of a `taskwait` with dependences.
    fn pass_taskwait(&mut self, key: task_map::Key) {
        let now = self.now();
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        let id = live.record.id;
        let time = match live.nowait {
            true => live.latest,
            false => now,
        };
        let (start, unit) = (std::mem::take(&mut live.start), live.unit);
        live.record.level = Some(start.hops);
        (live.record.begin, live.record.end) = (Some(time), Some(time));
        live.record.thread = Some(id.thread);
        let mut owner = OUTSIDE;
        if let Some(unit) = unit.and_then(|unit| self.units.get_mut(unit)) {
            unit.record.tasks += 1;
            count_level(&mut unit.record.levels, start.hops, 1, 0);
            if let Some(segments) = &mut unit.segments {
                owner = segments.add_task(id);
            }
        }
        let mut end = self.open(unit, owner, &start);
        end.hops += 1;
        if let Some(live) = self.live.get_mut(key) {
            live.end = end;
        }
    }

    fn give_if_final(&mut self, key: task_map::Key) {
        if let Some(live) = self.live.get(key)
            && live.record.complete.is_some()
            && live.waiting == 0
        {
            self.give(key);
        }
    }

    /// Gives the record of a task and drops what nobody needs of it.
    pub(super) fn give(&mut self, key: task_map::Key) {
        let Some(live) = self.live.get_mut(key).filter(|live| !live.given) else {
            return;
        };
        live.given = true;
        if live.record.begin.is_some() && live.record.created.is_some() {
            live.record.ready = Some(live.latest);
        }
        self.out.task(&live.record);
        let (unit, at) = (live.unit, live.open_at as usize);
        if let Some(unit) = unit.and_then(|unit| self.units.get_mut(unit))
            && unit.open.get(at) == Some(&key)
        {
            unit.open.swap_remove(at);
            let moved = unit
                .open
                .get(at)
                .and_then(|moved| self.live.get_mut(*moved));
            if let Some(moved) = moved {
                moved.open_at = at as u32;
            }
        }
        if !self.graph.is_live(key.place) {
            self.live.remove(key);
        }
    }

    /// The region of a task has ended, the task has not.
    pub(super) fn abandon(&mut self, key: task_map::Key) {
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        let kind = live.record.kind;
        live.record.cancelled =
            live.record.begin.is_none() && matches!(kind, TaskKind::Task | TaskKind::Taskloop);
        if live.record.end.is_some()
            && live.record.complete.is_none()
            && let Some(team) = live.team.and_then(|team| self.teams.get_mut(team))
        {
            team.tasks.add(live.end);
        }
        if let Some(context) = live.context.and_then(|key| self.bodies.get(key)) {
            (live.record.duration, live.record.work) = (context.duration, context.work);
        }
        self.end_exclusive(key);
        self.give(key);
    }

    /// The end of a running task was lost.
    pub(super) fn task_cut(&mut self, at: At) {
        let Some(context) = self.bodies.at(at.body) else {
            return;
        };
        let (point, duration, work) = (context.point, context.duration, context.work);
        let key = context.task;
        self.end_body(at.body);
        let Some(key) = key else { return };
        if let Some(live) = self.live.get_mut(key) {
            live.context = None;
            (live.record.duration, live.record.work) = (duration, work);
            // Should it go on nevertheless, then behind what it has done.
            live.start = Joins::of(point);
        }
        self.end_exclusive(key);
    }

    #[inline]
    pub(super) fn forget_released(&mut self) {
        while let Some(place) = self.graph.released() {
            if let Some(key) = self.live.at(place)
                && self.live.get(key).is_some_and(|live| live.given)
            {
                self.live.remove(key);
            }
        }
    }

    /// The event of a task with a `detach` clause has this handle.
    pub(super) fn tell_handle(&mut self, id: TaskId, handle: u64) {
        let Some(key) = self.live.find(id) else {
            return;
        };
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        if live.fulfilled.is_some() || live.record.complete.is_some() {
            return;
        }
        live.detached = true;
        if let Some(time) = self.early.remove(&handle) {
            self.fulfilled(key, time);
        } else {
            self.handles.insert(handle, id);
        }
    }

    pub(super) fn fulfill(&mut self, task: Option<TaskId>, handle: u64) {
        let told = self.handles.get(&handle).copied();
        if task.is_none() || task == told {
            self.handles.remove(&handle);
        }
        let now = self.now();
        match task.or(told) {
            Some(id) => {
                if let Some(key) = self.live.find(id) {
                    self.fulfilled(key, now);
                }
            }
            // The construct that tells whose handle it is has not returned.
            None => _ = self.early.insert(handle, now),
        }
    }

    fn fulfilled(&mut self, key: task_map::Key, time: u64) {
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        live.fulfilled = Some(time);
        if live.record.end.is_some() {
            self.completing.push(key);
            self.complete_all();
        }
    }

    fn begin_exclusive(&mut self, key: task_map::Key) {
        let now = self.now();
        let Some(live) = self.live.get(key) else {
            return;
        };
        let Some(parent) = live.record.parent else {
            return;
        };
        for address in &live.exclusive {
            let running = self.exclusive.entry((parent, *address)).or_default();
            if running.latest < now {
                (running.latest, running.at_latest) = (now, 0);
            }
            running.count += 1;
            running.at_latest += 1;
        }
    }

    /// Counts those that began before this one's end and run on.
    fn end_exclusive(&mut self, key: task_map::Key) {
        let now = self.now();
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        let (Some(parent), Some(begin)) = (live.record.parent, live.record.begin) else {
            return;
        };
        for address in std::mem::take(&mut live.exclusive) {
            let Some(running) = self.exclusive.get_mut(&(parent, address)) else {
                continue;
            };
            running.count -= 1;
            if begin == running.latest {
                running.at_latest -= 1;
            }
            let began_now = match running.latest == now {
                true => running.at_latest,
                false => 0,
            };
            self.overlaps += running.count - began_now;
            if running.count == 0 {
                self.exclusive.remove(&(parent, address));
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
