//! The figures of a sweep: what `--json` writes.

use std::collections::{BTreeMap, BTreeSet};

use instr_analysis::scaling::law::{self, Law};
use instr_analysis::scaling::normal_form::Power;
use instr_analysis::scaling::{Estimate, Observation};
use serde::Serialize;

use super::super::plan::Point;
use super::super::run::Executions;

/// Everything.
#[derive(Debug, Serialize)]
pub(in super::super) struct Figures {
    /// Version of this form.
    pub(in super::super) format: u32,
    /// The command with its placeholders.
    pub(in super::super) command: Vec<String>,
    /// Runs that count.
    pub(in super::super) runs: usize,
    /// Runs that do not, by reason.
    pub(in super::super) failures: BTreeMap<String, usize>,
    /// The points of these, by the same reason.
    pub(in super::super) failed: BTreeMap<String, BTreeSet<String>>,
    /// Lines of the record that were damaged.
    pub(in super::super) damaged: usize,
    /// How much repeats of a point vary: the median over points of their robust deviation, as a share. [`None`] without repeats.
    pub(in super::super) deviation: Option<f64>,
    /// A/A: how far the medians of the even and of the odd repeats of a point are apart, the median over points, as a share.
    pub(in super::super) noise: Option<f64>,
    /// Energy is by the power model of a chip.
    pub(in super::super) energy_is_modelled: bool,
    /// Some counts are estimates: the processor counted them for a part of the time.
    pub(in super::super) counters_are_estimates: bool,
    /// Events that were asked for and not counted, or not wholly, and why.
    pub(in super::super) not_counted: BTreeMap<String, String>,
    /// The fewest threads of all runs: what has no run on them has no speedup.
    pub(in super::super) fewest: u32,
    /// Points that no other one beats in both time and energy; empty without energy.
    pub(in super::super) pareto: Vec<Pareto>,
    /// The program, then its regions.
    pub(in super::super) subjects: Vec<Subject>,
}

/// A point that is quickest for its energy.
#[derive(Debug, Serialize)]
pub(in super::super) struct Pareto {
    /// Its series.
    pub(in super::super) series: String,
    /// Threads.
    pub(in super::super) threads: u32,
    /// Its median, s.
    pub(in super::super) seconds: f64,
    /// Its median, J.
    pub(in super::super) joules: f64,
}

/// The whole program, or a region.
#[derive(Debug, Serialize)]
pub(in super::super) struct Subject {
    /// Names from the outermost region to this one; empty: the program.
    pub(in super::super) path: Vec<String>,
    /// What was measured, by series and threads.
    pub(in super::super) series: Vec<Series>,
    /// Larger inputs on more threads; nothing where no inputs fit.
    pub(in super::super) weak: Vec<Weak>,
    /// Gustafson's serial fraction from these.
    pub(in super::super) gustafson: Option<Estimate>,
    /// Terms of threads and size together, where both vary.
    pub(in super::super) model: Option<TermModel>,
}

/// Points that differ in threads alone.
#[derive(Debug, Serialize)]
pub(in super::super) struct Series {
    /// What they have in common, for people.
    pub(in super::super) name: String,
    /// Size of the input.
    pub(in super::super) size: Option<f64>,
    /// Ordered by threads.
    pub(in super::super) points: Vec<Figure>,
    /// The most threads that still gain at least half of what they could; [`None`]: all that were measured.
    pub(in super::super) stops: Option<f64>,
    /// The law that fits best, of Amdahl's and Gunther's.
    pub(in super::super) law: Option<LawFit>,
    /// Why there is no law.
    pub(in super::super) refused: Option<String>,
    /// All runs.
    #[serde(skip)]
    pub(in super::super) observations: Vec<Observation>,
}

/// One point.
#[derive(Debug, Serialize)]
pub(in super::super) struct Figure {
    /// What was run.
    #[serde(flatten)]
    pub(in super::super) point: Point,
    /// Runs.
    pub(in super::super) runs: usize,
    /// The median of their times, s; without an interval where there is one run.
    pub(in super::super) seconds: Estimate,
    /// Runs far from the others: repeat and seconds.
    pub(in super::super) outliers: Vec<(u32, f64)>,
    /// Median processor time of the whole program, s.
    pub(in super::super) processor_seconds: Option<f64>,
    /// The largest resident set of the whole program, bytes.
    pub(in super::super) resident_bytes: Option<u64>,
    /// What the machine took meanwhile.
    pub(in super::super) energy: Option<EnergyFigure>,
    /// What was counted in all of its runs, by the event's name: the median over runs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(in super::super) counters: BTreeMap<String, Estimate>,
    /// Executions of the region in a run.
    pub(in super::super) executions: Option<ExecutionFigure>,
    /// Against the fewest threads of the series, times these.
    pub(in super::super) speedup: Option<f64>,
    /// Speedup by threads.
    pub(in super::super) efficiency: Option<f64>,
    /// What is missing to the ideal speedup.
    pub(in super::super) speedup_loss: Option<f64>,
    /// The serial fraction of Karp and Flatt.
    pub(in super::super) serial_fraction: Option<f64>,
    /// Of the program's time, in this region.
    pub(in super::super) share: Option<f64>,
}

/// Energy of a point.
#[derive(Debug, Serialize)]
pub(in super::super) struct EnergyFigure {
    /// The median of its runs, J.
    pub(in super::super) joules: Estimate,
    /// The median of their average power, W.
    pub(in super::super) watts: f64,
    /// The median of energy times time, J s.
    pub(in super::super) energy_delay: f64,
}

/// Single executions of a region, each number the median over runs.
#[derive(Debug, Serialize)]
pub(in super::super) struct ExecutionFigure {
    /// In one run, on all threads.
    pub(in super::super) count: f64,
    /// Their times, s.
    pub(in super::super) seconds: Executions,
}

/// A law with its parameters.
#[derive(Debug, Serialize)]
pub(in super::super) struct LawFit {
    /// Which one.
    pub(in super::super) law: Law,
    /// Its parameters.
    pub(in super::super) parameters: Vec<law::Parameter>,
    /// How far runs are from it, as a share.
    pub(in super::super) deviation: f64,
    /// Where it does not fit the runs; then nothing is predicted.
    pub(in super::super) misses: Option<String>,
    /// Threads beyond which it gets slower.
    pub(in super::super) best_threads: Option<f64>,
    /// The law itself.
    #[serde(skip)]
    pub(in super::super) fitted: law::Fitted,
    /// Times at numbers of threads that were asked for.
    pub(in super::super) predictions: Vec<Prediction>,
}

/// A time that was not measured.
#[derive(Debug, Serialize)]
pub(in super::super) struct Prediction {
    /// Threads.
    pub(in super::super) threads: u32,
    /// The time of a run, s.
    pub(in super::super) seconds: Option<Estimate>,
    /// Why there is none.
    pub(in super::super) refused: Option<String>,
}

/// An input with as many times the work on as many times the threads.
#[derive(Debug, Serialize)]
pub(in super::super) struct Weak {
    /// Threads.
    pub(in super::super) threads: u32,
    /// The series of the input.
    pub(in super::super) series: String,
    /// Its work against the wanted one.
    pub(in super::super) work: f64,
    /// Its median, s.
    pub(in super::super) seconds: f64,
    /// Time of the first input on the fewest threads by this one.
    pub(in super::super) efficiency: f64,
}

/// A model of terms.
#[derive(Debug, Serialize)]
pub(in super::super) struct TermModel {
    /// For people: n is the size, p the threads.
    pub(in super::super) text: String,
    /// What it misses at points that it was not fitted to, as a share.
    pub(in super::super) error: f64,
    /// What a run takes at least, s; 0 where the terms alone say it.
    pub(in super::super) constant: Estimate,
    /// What is added to it.
    pub(in super::super) terms: Vec<Summand>,
}

/// A term of a model: coefficient × n^exponent × log2(n)^logarithm, times the same of the threads.
#[derive(Debug, Serialize)]
pub(in super::super) struct Summand {
    /// The coefficient, s.
    pub(in super::super) coefficient: Estimate,
    /// Of the size.
    pub(in super::super) size: Factor,
    /// Of the threads.
    pub(in super::super) threads: Factor,
}

/// A power of a variable and of its logarithm to base 2.
#[derive(Debug, Serialize)]
pub(in super::super) struct Factor {
    /// Exponent of the variable; 0 where it is not in the term.
    pub(in super::super) exponent: f64,
    /// Exponent of its logarithm.
    pub(in super::super) logarithm: u32,
}

impl From<Power> for Factor {
    fn from(power: Power) -> Self {
        Self {
            exponent: f64::from(power.twelfths) / 12.0,
            logarithm: power.logarithm,
        }
    }
}
