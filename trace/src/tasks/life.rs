//! A task from its begin to its last change.

use super::live::Done;
use super::path::{Joins, Point, add};
use super::region::Level;
use super::slab::Key;
use super::states::TaskStates;
use super::{OUTSIDE, Parent, TaskKind, TaskSink};
use crate::event::TaskId;
use crate::model::At;
use crate::task_map;

impl<S: TaskSink> TaskStates<S> {
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
                    self.out.ready(now, false);
                }
                unit.body_begins(now);
                unit.record.tasks += 1;
                count_level(&mut unit.record.levels, level, 1, 0);
            }
            self.begin_exclusive(key);
        }
        self.go_on(at, key);
    }

    /// The task runs on this thread from now on.
    pub(super) fn resume(&mut self, at: At, id: TaskId) {
        if let Some(key) = self.known(at, id) {
            self.go_on(at, key);
        }
    }

    pub(super) fn go_on(&mut self, at: At, key: task_map::Key) {
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
    pub(super) fn complete_all(&mut self) {
        while let Some(key) = self.completing.pop() {
            self.complete(key);
        }
    }

    /// Where the task's path ends, unless it was complete.
    pub(super) fn complete(&mut self, key: task_map::Key) -> Option<Point> {
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
        let (end, chain, node) = (live.end, live.chain, live.node);
        let (creator, group, team, unit) = (live.creator, live.group, live.team, live.unit);
        let successors = std::mem::take(&mut live.successors);
        if let Some(node) = node.and_then(|node| self.predecessors.get_mut(node)) {
            node.done = Some(Done { time, end, chain });
        }
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

    pub(super) fn predecessor_done(
        &mut self,
        key: task_map::Key,
        end: Point,
        chain: (u64, u32),
        time: u64,
    ) {
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        live.follow(chain, time);
        live.waiting = live.waiting.saturating_sub(1);
        if let Some(node) = live.node
            && let Some(node) = self.predecessors.get_mut(node)
            && let Some(done) = &mut node.done
        {
            done.chain = live.chain;
        }
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
    pub(super) fn join_at_begin(&mut self, key: task_map::Key, end: Point) {
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
    pub(super) fn pass_taskwait(&mut self, key: task_map::Key) {
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

    pub(super) fn give_if_final(&mut self, key: task_map::Key) {
        if let Some(live) = self.live.get(key)
            && live.record.complete.is_some()
            && live.waiting == 0
        {
            self.give(key);
        }
    }

    /// Gives the record of a task and drops what nobody needs of it.
    pub(super) fn give(&mut self, key: task_map::Key) {
        let now = self.now();
        let Some(live) = self.live.get_mut(key).filter(|live| !live.given) else {
            return;
        };
        live.given = true;
        if live.record.begin.is_some() && live.record.created.is_some() {
            live.record.ready = Some(live.latest);
        }
        self.given.insert(live.record.id);
        if std::mem::take(&mut live.counted) {
            self.out.ready(now, false);
        }
        self.out.task(&live.record);
        let (unit, at, node) = (live.unit, live.open_at as usize, live.node);
        let is_complete = live.record.complete.is_some();
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
        // One that never became complete may still do so, and others wait for that.
        let waited_for = !is_complete && node.is_some_and(|node| self.graph.is_live(node.place));
        if !waited_for {
            self.live.remove(key);
        }
    }

    /// The region of a task has ended, the task has not.
    pub(super) fn abandon(&mut self, key: task_map::Key) {
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        let kind = live.record.kind;
        // Of a region that the trace cuts, nobody knows whether it would have begun.
        live.record.cancelled = !self.is_over
            && live.record.begin.is_none()
            && matches!(kind, TaskKind::Task | TaskKind::Taskloop);
        if let Some(team) = live.team.and_then(|team| self.teams.get_mut(team)) {
            match (live.record.begin, live.record.end, live.record.complete) {
                (_, Some(_), None) => team.tasks.add(live.end),
                // It was cut: what it has done is at the end of its path.
                (Some(_), None, _) => team.tasks.append(&mut live.start.clone()),
                _ => {}
            }
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
            let Some(node) = self.predecessors.at(place) else {
                continue;
            };
            let task = self.predecessors.get(node).and_then(|node| node.task);
            self.predecessors.remove(node);
            if let Some(task) = task
                && self.live.get(task).is_some_and(|live| live.given)
            {
                self.live.remove(task);
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
