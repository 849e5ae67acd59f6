//! What every trace of a conformance program must satisfy, worked out from what babeltrace2 prints: nothing here shares code with the
//! host tools.
//!
//! [`edges`] applies the rules of OpenMP's `depend` clauses by brute force, [`sound`] demands that constructs nest and that tasks are
//! created before they run, [`pieces`] that chunks and taskloops' tasks are every iteration once, [`Tally`] counts what `instr summary` must count too, [`pairs`] compares compilers and libraries, [`linkages`] ways to link, [`matrix`] is the table of what is seen where.

pub mod constructs;
mod edges;
mod kept;
pub mod linkages;
pub mod matrix;
pub mod pairs;
mod pieces;
mod sound;

pub use edges::edges;
pub use pieces::pieces;
pub use sound::sound;

use crate::ctf::Event;

/// Numbers that the summary tells as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Explicit tasks created: by `task`, `taskloop`, `target`.
    pub created: i128,
    /// Explicit tasks whose body began.
    pub executed: i128,
    /// `taskwait` constructs with `depend`, empty tasks.
    pub waits: i128,
    /// Edges of the task graph.
    pub edges: i128,
}

impl Tally {
    /// Counts `events`.
    ///
    /// # Errors
    ///
    /// When an event lacks a field.
    pub fn of(events: &[Event]) -> Result<Self, String> {
        let named = |name: &str| events.iter().filter(|event| event.name == name).count() as i128;
        Ok(Self {
            created: named("task_create") + named("taskloop_task"),
            executed: named("task_begin"),
            waits: named("taskwait_depend"),
            edges: edges(events)?,
        })
    }
}
