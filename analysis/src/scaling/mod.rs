//! How times change with threads, problem sizes and frequencies: what `instr sweep` derives from the runs that it made.
//!
//! Nothing here reads a trace or a file: numbers in, numbers out. Times are in seconds, energies in joules.
//!
//! | module | what for | source |
//! |---|---|---|
//! | [`metrics`] | speedup, efficiency, serial fraction, weak scaling, products of energy and delay, Pareto fronts | Karp & Flatt 1990; Gustafson 1988 |
//! | [`regression`] | coefficients with intervals, for errors in proportion and wild values | Huber 1981 |
//! | [`law`] | the laws of Amdahl, Gustafson and Gunther with their parameters | Amdahl 1967; Gustafson 1988; Gunther 2007 |
//! | [`normal_form`] | terms of powers and logarithms, found by search | Calotoiu et al. 2013 |

pub mod law;
pub mod metrics;
pub mod normal_form;
pub mod regression;

/// Probability with which the intervals of this module hold the true value.
pub const LEVEL: f64 = 0.95;

/// One run, or one execution of a region in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Threads, at least 1.
    pub threads: f64,
    /// The size of its input, where that is a number above 0.
    pub size: Option<f64>,
    /// What it took; above 0.
    pub seconds: f64,
}

/// A number with the interval that holds it with probability [`LEVEL`].
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// From a standard error and the quantile of its distribution, cut to what the number can be.
    fn new(value: f64, error: f64, quantile: f64, least: f64) -> Self {
        Self {
            value,
            low: (value - quantile * error).max(least),
            high: value + quantile * error,
        }
    }

    /// Half of the interval as a share of the value.
    pub fn relative(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.value.abs()
    }
}

/// Why nothing is predicted.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Too few different measurements for the parameters of a model.
    #[error(
        "{has} different measurements for {parameters} parameters: at least {needs} are needed"
    )]
    TooFew {
        /// Different points that were measured.
        has: usize,
        /// Parameters of the model.
        parameters: usize,
        /// Points that it needs.
        needs: usize,
    },
    /// As many measurements as parameters, or one more.
    #[error("{has} runs: at least {needs} are needed")]
    TooFewRuns {
        /// Runs.
        has: usize,
        /// Runs that the model needs.
        needs: usize,
    },
    /// The measurements do not separate the parameters.
    #[error("the measurements do not separate the parameters of the model")]
    Dependent,
    /// The point is too far from everything that was measured.
    #[error("{asked} lies more than {most} times beyond the largest that was measured, {largest}")]
    TooFar {
        /// What was asked for.
        asked: f64,
        /// The largest that was measured.
        largest: f64,
        /// The factor that is allowed.
        most: f64,
    },
    /// The law is not that of the measurements.
    #[error("the law misses what was measured on {threads} threads by {percent:.0} %")]
    Misses {
        /// Where it is off most, of their intervals or of their values.
        threads: f64,
        /// By how much, as a share of what was measured, in percent.
        percent: f64,
    },
    /// The interval would be wider than the value.
    #[error("its interval would be ± {percent:.0} %")]
    TooVague {
        /// Half of the interval as a share of the value, in percent.
        percent: f64,
    },
}

/// Predictions further out than this many times what was measured are refused.
pub const REACH: f64 = 8.0;

/// Predictions whose interval is wider to one side than this share of their value are refused.
const VAGUE: f64 = 0.5;

/// Different values, in order.
fn distinct(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}
