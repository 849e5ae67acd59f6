//! As data: what `instr predict --json` writes (`docs/predict.md`), and what the report carries.

use serde::Serialize;

/// Version of the JSON.
pub const FORMAT: u32 = 1;

/// A prediction. Times are ns.
#[derive(Debug, Clone, Serialize)]
pub struct Prediction {
    /// Version of this format.
    pub format: u32,
    /// The program.
    pub program: String,
    /// Threads of the recorded regions.
    pub recorded_threads: u64,
    /// Time of the recorded run.
    pub recorded_ns: u64,
    /// The same run, simulated.
    pub simulated_ns: u64,
    /// What is assumed to be otherwise than recorded, as sentences.
    pub changes: Vec<String>,
    /// Time with one thread: what speedups are relative to.
    pub alone_ns: u64,
    /// By number of threads, ascending.
    pub points: Vec<Point>,
    /// The shortest time with any number of threads.
    pub limit: Point,
    /// What would help most, with the most threads that were asked for; the most helpful first.
    pub gains: Vec<Gain>,
    /// What the run-time library's work costs.
    pub costs: Vec<CostRow>,
    /// What is not modelled, or in part only.
    pub unmodelled: Vec<Unmodelled>,
    /// What else to know of the error, as sentences.
    pub notes: Vec<String>,
}

/// A prediction for a number of threads.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// How many.
    pub threads: u64,
    /// The time.
    pub time_ns: u64,
    /// Its error: not less than this.
    pub low_ns: u64,
    /// Not more than this.
    pub high_ns: u64,
    /// The time if nothing is changed.
    pub unchanged_ns: u64,
    /// How many times as fast as with one thread.
    pub speedup: f64,
    /// Share of the threads' time in user code.
    pub efficiency: f64,
    /// What most of the other time goes to, such as `serial code` or `unequal chunks`; null: nothing.
    pub loss: Option<&'static str>,
    /// Where: a region, loop or lock; empty: the whole run.
    pub loss_place: String,
    /// Its share of the threads' time.
    pub loss_share: f64,
    /// Times that other traces have with so many threads.
    pub measured_ns: Vec<u64>,
}

/// Something that would help.
#[derive(Debug, Clone, Serialize)]
pub struct Gain {
    /// What.
    pub what: String,
    /// `code`, `lock` or `tasks` (creating and beginning them).
    pub kind: &'static str,
    /// The time of the run if it takes half as long; of a lock: without it.
    pub half_ns: u64,
    /// The time if it takes none.
    pub gone_ns: u64,
    /// By what share `half_ns` is shorter than the time without.
    pub saved: f64,
}

/// A measured cost.
#[derive(Debug, Clone, Serialize)]
pub struct CostRow {
    /// Of what.
    pub what: &'static str,
    /// How often it was measured in this trace.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub median_ns: f64,
    /// 95 %.
    pub p95_ns: f64,
    /// The mean that predictions for several threads have, from this trace or others; `null`: no trace has it, and predictions count nothing.
    pub several_ns: Option<f64>,
}

/// A part that is not modelled.
#[derive(Debug, Clone, Serialize)]
pub struct Unmodelled {
    /// What, and what is assumed.
    pub what: String,
    /// How often.
    pub count: u64,
    /// Its time; 0: not known.
    pub ns: u64,
}
