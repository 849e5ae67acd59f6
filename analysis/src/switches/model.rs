//! The section `context_switches` (`docs/summary-json.md`).

use serde::Serialize;

/// Who ran where.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct ContextSwitches {
    /// `switches`: the system told them all; `threads`: those of the program's threads; `events`: known only at the threads' own events.
    pub source: &'static str,
    /// Switches of all processors; `threads`: times that a thread left its processor.
    pub count: u64,
    /// By number.
    pub processors: Vec<Processor>,
    /// The threads of the trace by index, then others by the system's id.
    pub threads: Vec<ScheduledThread>,
}

/// One processor.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Processor {
    /// Its number.
    pub processor: u32,
    /// From one thread to another.
    pub switches: u64,
    /// Time of its record, the sum of the next three, ns.
    pub recorded_ns: u64,
    /// Threads other than idle ones ran.
    pub busy_ns: u64,
    /// The system's idle threads ran.
    pub idle_ns: u64,
    /// Switches are missing there.
    pub unknown_ns: u64,
}

/// A thread as the scheduler sees it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct ScheduledThread {
    /// The system's id.
    pub os_tid: u32,
    /// Number in the trace; null for a thread that recorded nothing.
    pub index: Option<u32>,
    /// `main`, `thread INDEX`; `idle N` or the id for others.
    pub name: String,
    /// Time on any processor, ns; null when switches were not recorded.
    pub running_ns: Option<u64>,
    /// Times that it began to run; null when switches were not recorded.
    pub runs: Option<u64>,
    /// Times that it went on on another processor than before.
    pub migrations: u64,
    /// Where it ran.
    pub by_processor: Vec<OnProcessor>,
}

/// A thread on one processor.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OnProcessor {
    /// The processor's number.
    pub processor: u32,
    /// Time there, ns; null when switches were not recorded.
    pub running_ns: Option<u64>,
}
