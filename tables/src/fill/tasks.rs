//! Explicit tasks and their dependences: records come from what follows tasks, perhaps on a thread of its own, and become rows where names are known.

use std::sync::mpsc::Sender;

use instr_trace::TaskId;
use instr_trace::event::task_flags;
use instr_trace::model::Code;
use instr_trace::names::CodeRole;
use instr_trace::tasks::{Parent, RegionRecord, TaskRecord, TaskSink};

use crate::tables::{edges, tasks};

use super::spans::Rows;
use super::words::{self, int};

/// Records of a block.
const BLOCK: usize = 1 << 12;

/// What goes from one thread to the other.
#[derive(Default)]
pub(super) struct Block {
    tasks: Vec<TaskRecord>,
    edges: Vec<(TaskId, TaskId)>,
}

/// Gathers records.
pub(super) struct Records {
    block: Block,
    sender: Sender<Block>,
}

impl Records {
    pub(super) fn new(sender: Sender<Block>) -> Self {
        Self {
            block: Block::default(),
            sender,
        }
    }

    /// Sends what is there.
    pub(super) fn send(&mut self) {
        // Who takes it lives as long as the trace is replayed.
        let _ = self.sender.send(std::mem::take(&mut self.block));
    }

    fn send_if_full(&mut self) {
        if self.block.tasks.len() + self.block.edges.len() >= BLOCK {
            self.send();
        }
    }
}

impl TaskSink for Records {
    fn edge(&mut self, from: TaskId, to: TaskId) {
        self.block.edges.push((from, to));
        self.send_if_full();
    }

    fn task(&mut self, task: &TaskRecord) {
        self.block.tasks.push(task.clone());
        self.send_if_full();
    }

    fn region(&mut self, _region: RegionRecord) {}
}

impl<const ALL: bool> Rows<'_, '_, ALL> {
    /// Takes the records that have come.
    pub(super) fn take_tasks(&mut self) {
        while let Ok(block) = self.records.try_recv() {
            for (from, to) in block.edges {
                let row = edges::Row {
                    process: self.process,
                    from_task: words::task(from),
                    to_task: words::task(to),
                };
                self.out.add(row);
            }
            for task in block.tasks {
                self.add_task(&task);
            }
        }
    }

    fn add_task(&mut self, task: &TaskRecord) {
        if !self.wants.tasks {
            return;
        }
        let code = Code::new(task.function, task.flags & task_flags::CALL_SITE != 0);
        let place = self.places.code(code, CodeRole::Task, &mut self.out.texts);
        let time = |time: Option<u64>| Some(int(time?).wrapping_add(self.shift));
        let row = tasks::Row {
            process: self.process,
            task: words::task(task.id),
            number: int(task.number),
            kind: self.out.texts.word(words::task_kind(task.kind)),
            name: place.name,
            function: place.function,
            file: place.file,
            line: place.line,
            address: Some(int(task.function)).filter(|address| *address != 0),
            creator: task.id.thread as i32,
            parent: match task.parent {
                Some(Parent::Explicit(parent)) => Some(words::task(parent)),
                _ => None,
            },
            region: task.region.map(words::region),
            thread: task.thread.map(|thread| thread as i32),
            created_ns: time(task.created),
            ready_ns: time(task.ready),
            begin_ns: time(task.begin),
            end_ns: time(task.end),
            complete_ns: time(task.complete),
            duration_ns: task.begin.and(task.end).map(|_| int(task.duration)),
            work_ns: int(task.work),
            dependency_wait_ns: task.dependency_wait().map(int),
            ready_wait_ns: task.ready_wait().map(int),
            level: task.level.map(|level| level as i32),
            undeferred: task.undeferred,
            cancelled: task.cancelled,
        };
        self.out.add(row);
    }
}
