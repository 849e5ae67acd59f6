//! Follows the explicit tasks of a merged trace from creation to end.

use std::collections::BTreeMap;
use std::io;

use hashbrown::HashMap;
use instr_trace::current::{CurrentTask, Parent};
use instr_trace::{Event, Payload, TaskId};

use super::{GraphSink, Node, Places};

/// A task on its way.
#[derive(Debug, Clone, Copy, Default)]
struct Life {
    function: u64,
    parent: Option<TaskId>,
    created: Option<u64>,
    thread: Option<u32>,
    begin: Option<u64>,
    inner_ns: u64,
    undeferred: bool,
}

#[derive(Debug, Default)]
struct ThreadState {
    current: CurrentTask,
    running: Vec<(TaskId, Life)>,
    creating: Vec<u32>,
}

/// The tasks that live.
#[derive(Debug, Default)]
pub struct Tasks {
    waiting: HashMap<TaskId, Life>,
    taskloops: HashMap<TaskId, (u64, Option<TaskId>)>,
    threads: BTreeMap<u32, ThreadState>,
}

impl Tasks {
    /// Takes the next event and writes the tasks that are complete.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn event(
        &mut self,
        event: &Event<'_>,
        places: &mut Places<'_>,
        sink: &mut dyn GraphSink,
    ) -> io::Result<()> {
        let thread = self.threads.entry(event.thread).or_default();
        let parent = match thread.current.parent(event.thread) {
            Parent::Explicit(task) => Some(task),
            Parent::Implicit { .. } | Parent::Initial { .. } => None,
        };
        thread.current.event(event.thread, &event.payload, |_| {});
        let own = |seq| TaskId {
            thread: event.thread,
            seq,
        };
        let created = Some(event.time);
        match event.payload {
            Payload::TaskCreate { seq, function, .. } => {
                thread.creating.push(seq);
                self.waiting.insert(
                    own(seq),
                    Life {
                        function,
                        parent,
                        created,
                        ..Life::default()
                    },
                );
            }
            Payload::TaskCreated => drop(thread.creating.pop()),
            Payload::TaskloopBegin { seq, function, .. } => {
                self.taskloops.insert(own(seq), (function, parent));
            }
            Payload::TaskloopTask { taskloop, seq, .. } => {
                let (function, parent) = self.taskloops.get(&taskloop).copied().unwrap_or_default();
                self.waiting.insert(
                    own(seq),
                    Life {
                        function,
                        parent,
                        created,
                        ..Life::default()
                    },
                );
            }
            Payload::TaskBegin { task } => {
                let mut life = self.waiting.remove(&task).unwrap_or_default();
                life.thread = Some(event.thread);
                life.begin = Some(event.time);
                life.undeferred =
                    task.thread == event.thread && thread.creating.contains(&task.seq);
                thread.running.push((task, life));
            }
            Payload::TaskEnd => {
                if let Some((task, life)) = thread.running.pop() {
                    let whole = life
                        .begin
                        .map_or(0, |begin| event.time.saturating_sub(begin));
                    if let Some((_, outer)) = thread.running.last_mut() {
                        outer.inner_ns = outer.inner_ns.saturating_add(whole);
                    }
                    sink.node(&node(task, &life, Some(event.time), places))?;
                }
            }
            Payload::Lost { task, .. } => {
                let keep = thread
                    .running
                    .iter()
                    .rposition(|(open, _)| Some(*open) == task)
                    .map_or(0, |at| at + 1);
                for (task, life) in thread.running.drain(keep..).rev() {
                    sink.node(&node(task, &life, None, places))?;
                }
                if let Some(task) = task
                    && keep == 0
                {
                    let mut life = self.waiting.remove(&task).unwrap_or_default();
                    life.thread = Some(event.thread);
                    thread.running.push((task, life));
                }
                thread.creating.clear();
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes the tasks that never ended or never ran, by id.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn finish(self, places: &mut Places<'_>, sink: &mut dyn GraphSink) -> io::Result<()> {
        let mut left: Vec<(TaskId, Life)> = self.waiting.into_iter().collect();
        left.extend(self.threads.into_values().flat_map(|thread| thread.running));
        left.sort_by_key(|(task, _)| *task);
        left.iter()
            .try_for_each(|(task, life)| sink.node(&node(*task, life, None, places)))
    }
}

fn node(id: TaskId, life: &Life, end: Option<u64>, places: &mut Places<'_>) -> Node {
    let whole = life
        .begin
        .zip(end)
        .map(|(begin, end)| end.saturating_sub(begin));
    Node {
        id,
        place: places.get(life.function).clone(),
        parent: life.parent,
        thread: life.thread,
        created_ns: life.created,
        begin_ns: life.begin,
        end_ns: end,
        own_ns: whole.map(|whole| whole.saturating_sub(life.inner_ns)),
        undeferred: life.undeferred,
    }
}
