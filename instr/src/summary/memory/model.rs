//! What `instr summary --json` writes about memory. `docs/summary-json.md` describes every field.

use instr_analysis::memory::{Heap, LivePoint, Mapped, Stack};
use serde::Serialize;

use super::super::model::Place;

/// Memory of a process; sizes are bytes as the program asked for them.
#[derive(Debug, Default, Serialize)]
pub struct Memory {
    /// Blocks got: `malloc` and its family, `new`; a `realloc` that succeeds counts as one.
    pub allocations: u64,
    /// Blocks given back (not NULL); a `realloc` that succeeds counts as one.
    pub frees: u64,
    /// Sum of the sizes of `allocations`.
    pub allocated_bytes: u64,
    /// The largest sum of blocks in use at any time.
    pub live_high_water_bytes: u64,
    /// When that was first reached, from the first event, ns.
    pub live_high_water_ns: u64,
    /// In use at the end.
    pub live_bytes: u64,
    /// Blocks in use at the end.
    pub live_blocks: u64,
    /// Requests that got nothing.
    pub refused: u64,
    /// Calls of `realloc` and `reallocarray` with an old block that succeeded; each is in `allocations` and `frees` too.
    pub reallocations: u64,
    /// Blocks given back that nobody was seen to get: from libraries that are not instrumented, or before a gap in the trace.
    pub unknown_frees: u64,
    /// Blocks of `allocations` that are in no sum of blocks in use: there were 16,777,216 already.
    pub unfollowed: u64,
    /// Pages of the system.
    pub mapped: Mapped,
    /// The C library's own account of its heap: at the start and the end.
    pub heap: Vec<Heap>,
    /// In use over time: the most in each of at most 128 equal intervals.
    pub live_over_time: Vec<LivePoint>,
    /// By the call that got the block, most bytes first.
    pub sites: Vec<Site>,
    /// By the body (parallel region, task) that got the block, most bytes first.
    pub bodies: Vec<BodyMemory>,
    /// By parallel region: the most in use while it ran, largest first.
    pub regions: Vec<RegionMemory>,
    /// How deep stacks were used, by thread.
    pub stack_high_water: Vec<Stack>,
}

/// A call that gets memory.
#[derive(Debug, Default, Serialize)]
pub struct Site {
    /// The call.
    #[serde(flatten)]
    pub place: Place,
    /// Blocks got.
    pub allocations: u64,
    /// Their sizes.
    pub allocated_bytes: u64,
    /// The most of them in use at any time.
    pub live_high_water_bytes: u64,
    /// In use at the end.
    pub live_bytes: u64,
    /// Blocks in use at the end.
    pub live_blocks: u64,
}

/// What a body got.
#[derive(Debug, Default, Serialize)]
pub struct BodyMemory {
    /// The body.
    #[serde(flatten)]
    pub place: Place,
    /// Whether it is an explicit task's.
    pub task: bool,
    /// Blocks got.
    pub allocations: u64,
    /// Their sizes.
    pub allocated_bytes: u64,
    /// The most of them in use at any time.
    pub live_high_water_bytes: u64,
}

/// Memory while a parallel region ran.
#[derive(Debug, Default, Serialize)]
pub struct RegionMemory {
    /// Its body.
    #[serde(flatten)]
    pub place: Place,
    /// Executions.
    pub count: u64,
    /// The most in use in the whole process at any time of any execution.
    pub live_high_water_bytes: u64,
}
