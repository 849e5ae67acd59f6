//! Running numbers of tasks, and what is known of those that have not ended.

use hashbrown::HashMap;

use crate::event::TaskId;
use crate::model::Code;
use crate::task_map::{Key, TaskMap, Value};

/// The tasks of more taskloops do not have their numbers.
const MAX_TASKLOOPS: usize = 1 << 20;

/// A task that was created or begun and has not ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskRecord {
    /// From 1 in order of creation within its process; the value of the task identifier events.
    pub(super) number: u64,
    pub(super) function: Code,
    /// Number of the taskloop that it is a piece of; 0: none.
    pub(super) taskloop: u64,
    begun: bool,
}

impl Value for TaskRecord {
    fn clear(&mut self) {}
}

/// The live tasks of one process. Two passes that feed the same events give the same numbers.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    live: TaskMap<TaskRecord>,
    last: u64,
    /// Tasks that were created so far, and those of them that have begun. Empty ones and taskloops have numbers alone.
    pub(super) created: u64,
    pub(super) executed: u64,
    /// Numbers of taskloops, whose pieces may begin when they have returned.
    taskloops: HashMap<TaskId, u64>,
    /// Taskloops that create pieces now, by the body that runs them.
    open: HashMap<u32, u64>,
}

impl Tasks {
    /// The number of a new task.
    pub(super) fn create(&mut self, task: TaskId, function: Code) -> u64 {
        self.created += 1;
        let key = self.enter(task, function);
        self.live.get(key).map_or(0, |live| live.number)
    }

    fn enter(&mut self, task: TaskId, function: Code) -> Key {
        self.last += 1;
        let key = self.live.insert(task);
        if let Some(live) = self.live.get_mut(key) {
            *live = TaskRecord {
                number: self.last,
                function,
                taskloop: 0,
                begun: false,
            };
        }
        key
    }

    /// The record of a task that begins; a task whose creation was lost gets its number now.
    pub(super) fn begin(&mut self, task: TaskId) -> TaskRecord {
        let key = self.live.find(task).unwrap_or_else(|| {
            self.created += 1;
            self.enter(task, Code::default())
        });
        let Some(live) = self.live.get_mut(key) else {
            return TaskRecord::default();
        };
        self.executed += u64::from(!std::mem::replace(&mut live.begun, true));
        *live
    }

    /// An empty task, which ends at once: its number.
    pub(super) fn pass(&mut self, task: TaskId, function: Code) -> u64 {
        let key = self.enter(task, function);
        let number = self.live.get(key).map_or(0, |live| live.number);
        self.live.remove(key);
        number
    }

    /// The number of a task that has not ended.
    pub(super) fn number(&self, task: TaskId) -> Option<u64> {
        let key = self.live.find(task)?;
        self.live.get(key).map(|live| live.number)
    }

    /// A taskloop begins in a body: its number.
    pub(super) fn begin_taskloop(&mut self, task: TaskId, function: Code, body: u32) -> u64 {
        let number = self.pass(task, function);
        if self.taskloops.len() < MAX_TASKLOOPS {
            self.taskloops.insert(task, number);
        }
        self.open.insert(body, number);
        number
    }

    /// Number of the one that a body runs; 0: none.
    pub(super) fn taskloop_of(&self, body: u32) -> u64 {
        self.open.get(&body).copied().unwrap_or(0)
    }

    /// That one is over.
    pub(super) fn end_taskloop(&mut self, body: u32) {
        self.open.remove(&body);
    }

    /// The task is a piece of that taskloop, or of the one that `body` runs.
    pub(super) fn set_piece(&mut self, task: TaskId, taskloop: Option<TaskId>, body: u32) {
        if self.taskloops.is_empty() {
            return;
        }
        let number = match taskloop {
            Some(taskloop) => self.taskloops.get(&taskloop),
            None => self.open.get(&body),
        };
        if let (Some(number), Some(key)) = (number, self.live.find(task))
            && let Some(live) = self.live.get_mut(key)
        {
            live.taskloop = *number;
        }
    }

    pub(super) fn end(&mut self, task: TaskId) {
        if let Some(key) = self.live.find(task) {
            self.live.remove(key);
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.last
    }
}
