//! What `instr summary --json` writes about samples. `docs/summary-json.md` describes every field.

use serde::Serialize;

/// Samples of a process. Shares are of all periods that have a sample, 0 to 1.
#[derive(Debug, Default, Serialize)]
pub struct Samples {
    /// Samples.
    pub taken: u64,
    /// Periods that they stand for: a period that ended too late to be sampled alone counts with the next sample.
    pub periods: u64,
    /// Periods without a sample.
    pub lost: u64,
    /// Length of a period, ns.
    pub period_ns: u64,
    /// `cpu`: of the threads' processor time; `real`.
    pub clock: &'static str,
    /// Whether periods were ended exactly; else at the kernel's own ticks, so that a sample stands for several.
    pub exact: bool,
    /// By function, largest share first.
    pub functions: Vec<FunctionShare>,
    /// The most frequent calls, largest share first.
    pub paths: Vec<Path>,
}

/// A function's part.
#[derive(Debug, Default, Serialize)]
pub struct FunctionShare {
    /// Its name; the file that holds it, `[libgomp.so.1.0.0]`, where that tells no names; `(unknown)` in code of no file.
    pub function: String,
    /// Part of the periods that ended in it.
    pub share: f64,
    /// Part that ended in it or in what it called, each counted once.
    pub inclusive_share: f64,
    /// Periods that ended in it.
    pub periods: u64,
}

/// A chain of calls.
#[derive(Debug, Default, Serialize)]
pub struct Path {
    /// Functions, innermost first.
    pub functions: Vec<String>,
    /// Part of the periods.
    pub share: f64,
    /// Periods.
    pub periods: u64,
}
