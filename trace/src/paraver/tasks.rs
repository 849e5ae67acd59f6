//! Running numbers of tasks, and what is known of those that have not ended.

use crate::event::TaskId;
use crate::model::Code;
use crate::task_map::{TaskMap, Value};

/// A task that was created or begun and has not ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskRecord {
    /// From 1 in order of creation within its process; the value of the task identifier events.
    pub(super) number: u64,
    pub(super) function: Code,
}

impl Value for TaskRecord {
    fn clear(&mut self) {}
}

/// The live tasks of one process. Two passes that feed the same events give the same numbers.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    live: TaskMap<TaskRecord>,
    last: u64,
}

impl Tasks {
    pub(super) fn create(&mut self, task: TaskId, function: Code) -> TaskRecord {
        self.last += 1;
        let record = TaskRecord {
            number: self.last,
            function,
        };
        let key = self.live.insert(task);
        if let Some(live) = self.live.get_mut(key) {
            *live = record;
        }
        record
    }

    /// The record of a task that begins; a task whose creation was lost gets its number now.
    pub(super) fn begin(&mut self, task: TaskId) -> TaskRecord {
        let known = self.live.find(task).and_then(|key| self.live.get(key));
        match known.copied() {
            Some(record) => record,
            None => self.create(task, Code::default()),
        }
    }

    /// An empty task, which ends at once: its number.
    pub(super) fn pass(&mut self, task: TaskId, function: Code) -> u64 {
        let number = self.create(task, function).number;
        self.end(task);
        number
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
