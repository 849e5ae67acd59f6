//! Numbers by address or name, before anything is named.

use std::collections::BTreeMap;

use instr_trace::event::{MutexKind, SyncKind};

use super::model::Times;

/// Everything counted, by address or name. What is missing in [`Times`] (bodies that began before a gap) was not timed.
#[derive(Debug, Default)]
pub struct Collected {
    /// Parallel constructs by body.
    pub regions: BTreeMap<u64, Times>,
    /// Task bodies.
    pub tasks: BTreeMap<u64, TaskCount>,
    /// Bodies run inside the construct that created them.
    pub undeferred: u64,
    /// Loops by enclosing body and name of the schedule.
    pub loops: BTreeMap<(Option<u64>, &'static str), WorkCount>,
    /// Sections constructs by enclosing body.
    pub sections: BTreeMap<Option<u64>, WorkCount>,
    /// Single blocks executed.
    pub singles: u64,
    /// Waiting by kind name.
    pub syncs: BTreeMap<&'static str, Times>,
    /// Mutual exclusion by kind and object.
    pub mutexes: BTreeMap<(MutexKind, u64), MutexCount>,
    /// User events by type.
    pub user_events: BTreeMap<u32, u64>,
    /// User regions by name.
    pub user_regions: BTreeMap<String, Times>,
    /// Calls of described functions by name.
    pub calls: BTreeMap<String, Times>,
    /// Counters by name.
    pub counters: BTreeMap<String, CounterCount>,
    /// Events by thread index.
    pub events: BTreeMap<u32, u64>,
    /// First and last time, if there was any event.
    pub span: Option<(u64, u64)>,
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

/// Loops or sections of one place.
#[derive(Debug, Default)]
pub struct WorkCount {
    /// Executions by a team.
    pub instances: u64,
    /// Chunks or sections handed out.
    pub pieces: u64,
    /// Per thread and execution.
    pub times: Times,
}

/// One object of mutual exclusion.
#[derive(Debug, Default)]
pub struct MutexCount {
    /// Acquisitions.
    pub count: u64,
    /// Failed tries.
    pub failed: u64,
    /// ns.
    pub wait_ns: u64,
    /// ns.
    pub held_ns: u64,
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

/// What a thread waits for, in the words of the OpenMP specification.
pub fn sync_name(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::ExplicitBarrier => "barrier",
        SyncKind::ImplicitBarrier => "work-sharing barrier",
        SyncKind::Taskwait => "taskwait",
        SyncKind::TaskwaitDepend => "taskwait depend",
        SyncKind::TaskgroupEnd => "taskgroup",
        SyncKind::Taskyield => "taskyield",
        SyncKind::Copyprivate => "copyprivate",
        SyncKind::DoacrossSink => "doacross sink",
        SyncKind::Reduction => "reduction",
        SyncKind::TeamsEnd => "end of teams",
        SyncKind::Other(_) => "unknown",
    }
}

/// The kind of a critical section or lock, for people.
pub fn mutex_name(kind: MutexKind) -> &'static str {
    match kind {
        MutexKind::Critical => "critical",
        MutexKind::NamedCritical => "named critical",
        MutexKind::Atomic => "atomic",
        MutexKind::Ordered => "ordered",
        MutexKind::Lock => "lock",
        MutexKind::NestLock => "nest lock",
        MutexKind::Other(_) => "unknown",
    }
}
