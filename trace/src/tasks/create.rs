//! Tasks are created, and become ready.

use super::path::Joins;
use super::region::UnitKey;
use super::states::TaskStates;
use super::{TaskKind, TaskSink};
use crate::depend::Node;
use crate::event::{DependKind, TaskId, task_flags};
use crate::model::At;
use crate::task_map;

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
        let from = self.taskloops.get(taskloop).copied();
        // libomp's call returns before the taskgroup around it ends, and before the tasks begin.
        let group = from.and_then(|from| {
            let own = from.group.filter(|group| self.groups.get(*group).is_some());
            own.or_else(|| self.bodies.get(from.creator)?.innermost_group())
        });
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
            (live.group, live.team) = (group, from.team);
            live.is_final = from.flags & task_flags::FINAL != 0;
            live.start.add(from.start);
        }
        self.is_registered(key);
    }

    /// Gives a new task its number and its place, unless there is such a task, or its record has been given: that is damage.
    pub(super) fn register(&mut self, id: TaskId, unit: UnitKey) -> Option<task_map::Key> {
        let known = self.live.find(id).and_then(|key| self.live.get(key));
        if known.is_some_and(|known| !known.given) || self.given.contains(id) {
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
    pub(super) fn follow_predecessors(&mut self, at: At, key: task_map::Key) {
        let Some(live) = self.live.get(key) else {
            return;
        };
        let (task, unit) = (live.record.id, live.unit);
        let expected = self.graph.expects(at.position, task);
        let own = expected.then(|| self.predecessors.insert(task));
        if let Some(own) = own.and_then(|own| self.predecessors.get_mut(own)) {
            own.task = Some(key);
        }
        let node = Node {
            task,
            at: own.map_or(0, |own| own.place),
        };
        let (mut start, mut chain, mut latest) = (Joins::default(), (0, 0), 0);
        let (mut edges, mut waiting) = (0, 0);
        for from in self.graph.create(at, node) {
            self.out.edge(from.task, task);
            edges += 1;
            let Some(predecessor) = self.predecessors.at_mut(from.at) else {
                continue;
            };
            if let Some(done) = predecessor.done {
                start.add(done.end);
                chain.0 = done.chain.0.max(chain.0);
                chain.1 = done.chain.1.max(chain.1);
                latest = done.time.max(latest);
            } else if let Some(running) = predecessor.task
                && let Some(running) = self.live.get_mut(running)
            {
                running.successors.push(key);
                waiting += 1;
            }
        }
        for before in self.graph.excluded() {
            self.out.excludes(before.task, task);
        }
        if let Some(live) = self.live.get_mut(key) {
            live.node = own;
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

    pub(super) fn is_registered(&mut self, key: task_map::Key) {
        if self.live.get(key).is_some_and(|live| live.waiting == 0) {
            self.becomes_ready(key);
        }
    }

    pub(super) fn becomes_ready(&mut self, key: task_map::Key) {
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
                    self.out.ready(now, true);
                }
            }
        }
    }

    /// A task, also one whose creation is not in the trace.
    pub(super) fn known(&mut self, at: At, id: TaskId) -> Option<task_map::Key> {
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
}
