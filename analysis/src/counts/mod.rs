//! Numbers by address or name, before anything is named.

use std::collections::BTreeMap;

use instr_trace::event::{AllocatorKind, CancelKind, MutexKind, SyncKind, TargetKind};
pub use instr_trace::model::Code;
use instr_trace::model::Work;
use instr_trace::sensors::CounterDef;

use crate::{Spread, Times};

mod collect;
mod contention;
mod functions;
mod marks;
mod work;

pub use collect::Collector;
pub use contention::MutexCount;
pub use functions::{Counted, FunctionCount};
pub use instr_trace::words::{allocation_name, cancel_name, mutex_name, sync_name, target_name};

/// Everything counted, by address or name. What is missing in [`Times`] (bodies that began before a gap) was not timed.
#[derive(Debug, Default)]
pub struct Collected {
    /// Parallel constructs by body.
    pub regions: BTreeMap<Code, Times>,
    /// Task bodies.
    pub tasks: BTreeMap<Code, TaskCount>,
    /// Bodies run inside the construct that created them.
    pub undeferred: u64,
    /// Events of tasks of special kinds.
    pub special_tasks: SpecialTasks,
    /// Loops by enclosing body and name of the schedule.
    pub loops: BTreeMap<(Option<Code>, &'static str), WorkCount>,
    /// Begins of static loops, inferred, by return address of the calls and enclosing body.
    pub static_loops: BTreeMap<(u64, Option<Code>), StaticCount>,
    /// Sections constructs by enclosing body.
    pub sections: BTreeMap<Option<Code>, WorkCount>,
    /// Scope constructs by enclosing body.
    pub scopes: BTreeMap<Option<Code>, WorkCount>,
    /// Masked blocks by enclosing body.
    pub masked: BTreeMap<Option<Code>, Times>,
    /// Single blocks whose end is known.
    pub single_times: Times,
    /// Cancellation by the construct's number.
    pub cancellations: BTreeMap<CancelKind, CancelCount>,
    /// Doacross loops by enclosing body.
    pub doacross: BTreeMap<Option<Code>, DoacrossCount>,
    /// Device constructs by kind and body.
    pub targets: BTreeMap<(TargetKind, u64), Times>,
    /// Memory of OpenMP allocators by kind.
    pub allocations: BTreeMap<AllocatorKind, AllocationCount>,
    /// Single blocks executed.
    pub singles: u64,
    /// Waiting by kind.
    pub syncs: BTreeMap<SyncKind, Times>,
    /// Mutual exclusion by kind and object.
    pub mutexes: BTreeMap<(MutexKind, u64), MutexCount>,
    /// User events by type.
    pub user_events: BTreeMap<u32, u64>,
    /// User regions by name.
    pub user_regions: BTreeMap<String, Times>,
    /// Calls of described functions by name.
    pub calls: BTreeMap<String, Times>,
    /// Functions of languages by their texts ([`instr_trace::words::function_parts`]), that with the most own time first.
    pub functions: Vec<(String, FunctionCount)>,
    /// Counters of [`FunctionCount::counted`].
    pub function_counters: Vec<CounterDef>,
    /// Counters by name.
    pub counters: BTreeMap<String, CounterCount>,
}

impl Collected {
    /// The count of a work-sharing construct in the body `around`; `None`: it is not counted, since its begin has no event.
    pub(super) fn work(&mut self, work: Work, around: Option<Code>) -> Option<&mut WorkCount> {
        Some(match work {
            Work::Loop { schedule, .. } => self.loops.entry((around, schedule.name())).or_default(),
            Work::Sections => self.sections.entry(around).or_default(),
            Work::Scope => self.scopes.entry(around).or_default(),
            Work::Combined => return None,
        })
    }
}

/// Task bodies of one function.
#[derive(Debug, Default)]
pub struct TaskCount {
    /// Constructs met.
    pub created: u64,
    /// Bodies begun.
    pub executed: u64,
    /// Own times.
    pub own: Times,
    /// Sum of begin-to-end times.
    pub inclusive_ns: u64,
}

/// Tasks of special kinds.
#[derive(Debug, Default)]
pub struct SpecialTasks {
    /// `taskwait` constructs with a `depend` clause.
    pub taskwaits_depend: u64,
    /// Tasks with a `detach` clause.
    pub detached: u64,
    /// Their handles fulfilled.
    pub fulfilled: u64,
    /// Times a task left its thread before its end.
    pub suspended: u64,
    /// Tasks discarded by cancellation.
    pub discarded: u64,
}

/// Loops, sections or scopes of one place.
#[derive(Debug, Default)]
pub struct WorkCount {
    /// Executions by a team.
    pub instances: u64,
    /// Chunks or sections handed out.
    pub pieces: u64,
    /// Iterations of a chunk.
    pub chunk_iterations: Spread,
    /// From a chunk's or section's begin to the next call of its thread.
    pub piece_times: Times,
    /// Per thread and execution.
    pub times: Times,
}

/// Begins of static loops at one place.
#[derive(Debug, Default)]
pub struct StaticCount {
    /// Threads that came by.
    pub count: u64,
    /// Executions by a team.
    pub instances: u64,
}

/// Cancellation of one kind of construct.
#[derive(Debug, Default)]
pub struct CancelCount {
    /// `cancel` constructs whose if clause held.
    pub cancels: u64,
    /// Cancellation points met, and `cancel` constructs whose if clause did not hold.
    pub points: u64,
    /// Times a thread went on at the end of the construct.
    pub left: u64,
    /// Tasks that had not begun and were discarded.
    pub discarded: u64,
}

/// Doacross loops of one place.
#[derive(Debug, Default)]
pub struct DoacrossCount {
    /// Iterations posted.
    pub posts: u64,
    /// Iterations waited for.
    pub waits: u64,
    /// Waiting.
    pub times: Times,
}

/// Memory of OpenMP allocators.
#[derive(Debug, Default)]
pub struct AllocationCount {
    /// Allocations that succeeded.
    pub count: u64,
    /// Their sum.
    pub bytes: u64,
    /// Allocations that were refused.
    pub refused: u64,
    /// Given back.
    pub freed: u64,
    /// Most bytes at a time.
    pub peak_bytes: u64,
    /// Bytes not given back at the end.
    pub live_bytes: u64,
}

/// Values of one counter.
#[derive(Debug, Default)]
pub struct CounterCount {
    /// Samples.
    pub count: u64,
    /// Smallest.
    pub min: i64,
    /// Largest.
    pub max: i64,
    /// Latest.
    pub last: i64,
}

impl CounterCount {
    /// Counts one more.
    pub fn add(&mut self, value: i64) {
        let first = self.count == 0;
        self.min = if first { value } else { self.min.min(value) };
        self.max = if first { value } else { self.max.max(value) };
        self.last = value;
        self.count += 1;
    }
}
