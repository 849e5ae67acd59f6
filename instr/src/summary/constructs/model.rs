//! As data: part of what `instr summary --json` writes.

use serde::Serialize;

use super::super::model::{Place, Times};

/// A static loop of GCC, of which only the begin is visible, and that only by inference: the compiler asks for the number of
/// threads and the thread's number, one right after the other, and a program may do the same.
#[derive(Debug, Default, Serialize)]
pub struct StaticLoop {
    /// Where the two calls stand: the directive.
    #[serde(flatten)]
    pub place: Place,
    /// Label of the enclosing region or task.
    pub inside: String,
    /// Always true: see `evidence`.
    pub inferred: bool,
    /// `same place` (the debug information gives both calls one place, as the compiler's own have), `different places` (calls of
    /// the program: no loop), `none` (no debug information).
    pub evidence: &'static str,
    /// Executions of the construct, however many threads took part.
    pub instances: u64,
    /// One for each thread and execution.
    pub count: u64,
}

/// A `scope` construct. The time of one is that of one thread.
#[derive(Debug, Default, Serialize)]
pub struct Scope {
    /// The body of the enclosing region or task.
    #[serde(flatten)]
    pub place: Place,
    /// Executions of the construct, however many threads took part.
    pub instances: u64,
    /// One for each thread and execution.
    #[serde(flatten)]
    pub times: Times,
}

/// `masked` blocks of one place.
#[derive(Debug, Default, Serialize)]
pub struct Masked {
    /// The body of the enclosing region or task.
    #[serde(flatten)]
    pub place: Place,
    /// Executions.
    #[serde(flatten)]
    pub times: Times,
}

/// Cancellation of one kind of construct.
#[derive(Debug, Default, Serialize)]
pub struct Cancellation {
    /// `parallel`, `for`, `sections` or `taskgroup`.
    pub construct: &'static str,
    /// `cancel` constructs whose if clause held.
    pub cancels: u64,
    /// Cancellation points met, and `cancel` constructs whose if clause did not hold.
    pub points: u64,
    /// Times a thread went on at the end of the construct.
    pub left: u64,
    /// Tasks that had not begun and were discarded.
    pub discarded_tasks: u64,
}

/// Doacross loops of one place. The times are those of the waits.
#[derive(Debug, Default, Serialize)]
pub struct Doacross {
    /// The body of the enclosing region or task.
    #[serde(flatten)]
    pub place: Place,
    /// Iterations posted (`ordered depend(source)`).
    pub posts: u64,
    /// Iterations waited for (`ordered depend(sink)`).
    pub waits: u64,
    /// Waits that ended.
    #[serde(flatten)]
    pub times: Times,
}

/// Device constructs of one kind and function. The time of one is that of the run-time call; on the host fallback it holds the body.
#[derive(Debug, Default, Serialize)]
pub struct Target {
    /// `target`, `target data`, `end of target data`, `target update` or `target enter/exit data`.
    pub kind: &'static str,
    /// The body, or the call.
    #[serde(flatten)]
    pub place: Place,
    /// Executions.
    #[serde(flatten)]
    pub times: Times,
}

/// Memory of OpenMP allocators.
#[derive(Debug, Default, Serialize)]
pub struct Allocation {
    /// `omp_alloc` (the family of calls) or `allocate clause`.
    pub kind: &'static str,
    /// Allocations that succeeded.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Allocations that were refused.
    pub refused: u64,
    /// Given back.
    pub freed: u64,
    /// Most bytes at a time.
    pub peak_bytes: u64,
    /// Bytes not given back.
    pub live_bytes: u64,
}
