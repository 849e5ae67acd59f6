//! The comparison as data: what `instr diff --json` writes. `docs/diff-json.md` describes every field.

use serde::Serialize;

use super::matching::Matched;
use super::run::Kind;

/// Version of the JSON form; raised when a field changes its meaning or goes away.
pub(crate) const FORMAT: u32 = 1;

/// Two groups of runs.
#[derive(Debug, Serialize)]
pub(crate) struct Diff {
    /// [`FORMAT`].
    pub(crate) format: u32,
    pub(crate) before: Side,
    pub(crate) after: Side,
    pub(crate) order: Order,
    /// Largest probability that any construct is called slower or faster although none is; null without repeats.
    pub(crate) level: Option<f64>,
    /// Whether there are enough runs for a difference to be more than noise.
    #[serde(skip)]
    pub(crate) decides: bool,
    /// Smaller differences, as shares, are not called one.
    pub(crate) noticeable: f64,
    /// Differences that were tested.
    pub(crate) tested: usize,
    /// What makes the comparison weaker than it looks.
    pub(crate) notes: Vec<String>,
    /// The run as a whole first, then constructs, the largest difference of the whole time first.
    pub(crate) rows: Vec<Row>,
    /// What `--fail-if-slower` found; null without it.
    pub(crate) limit: Option<Limit>,
}

/// The runs of one group.
#[derive(Debug, Serialize)]
pub(crate) struct Side {
    pub(crate) program: String,
    /// Such as `x86_64-linux`.
    pub(crate) target: String,
    /// Median over the runs.
    pub(crate) threads: u64,
    /// Folders of the traces.
    pub(crate) runs: Vec<String>,
}

/// In which order runs were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// One run, or none, of a group: there is no order.
    Single,
    /// Of both groups in turn: drifts of the machine are in both.
    InTurn,
    /// One group before the other, or nearly so.
    OneBlock,
    /// Traces do not tell when they began.
    Unknown,
}

/// A construct, or a part of the whole run.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) kind: Kind,
    /// Name and place, of the runs after where they have it.
    pub(crate) label: String,
    /// Its label before, where that was another one.
    pub(crate) label_before: Option<String>,
    pub(crate) matched: Matched,
    /// Share of the run's time, of all runs together, 0 to 1.
    pub(crate) share: f64,
    /// How many runs of each group have it.
    pub(crate) runs: [usize; 2],
    /// Executions, medians over runs; null where no run has it.
    pub(crate) count: [Option<u64>; 2],
    /// Time of one execution; null for the whole run and for waiting.
    pub(crate) each: Option<Measure>,
    /// Time of all executions of a run; null where a run was cut off.
    pub(crate) total: Option<Measure>,
    /// What follows; null without repeats, and where it was not tested.
    pub(crate) verdict: Option<Verdict>,
}

/// A time before and after.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Measure {
    /// Median over runs; null where the group has none.
    pub(crate) before_ns: Option<f64>,
    pub(crate) after_ns: Option<f64>,
    /// With probability 0.95; null with fewer than two runs.
    pub(crate) before_range_ns: Option<[f64; 2]>,
    pub(crate) after_range_ns: Option<[f64; 2]>,
    /// The difference as a share of what was before: 0.05 is 5 % more. Null where a time is 0.
    pub(crate) change: Option<f64>,
    /// Limits of `change`, probability 0.95; null where the runs are too few.
    pub(crate) range: Option<[f64; 2]>,
    /// How much runs of one group differ, as a share: a robust standard deviation. Null without repeats.
    pub(crate) noise: Option<f64>,
    /// Probability of such a difference where there is none; null where it was not tested.
    pub(crate) p: Option<f64>,
    /// The same for all that was tested together (Holm).
    pub(crate) p_adjusted: Option<f64>,
    /// It is significant and noticeable.
    pub(crate) is_different: bool,
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// Takes longer.
    Slower,
    /// Takes less time.
    Faster,
    /// No difference that is more than noise, or none that is noticeable.
    Same,
}

/// What `--fail-if-slower` found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Limit {
    /// The limit as a share.
    pub(crate) share: f64,
    /// Labels of what is slower by that or more, and by how much.
    pub(crate) slower: Vec<(String, f64)>,
}

impl Measure {
    /// What it is longer after than before, ns; what a group does not have counts as 0.
    pub(crate) fn difference_ns(&self) -> f64 {
        self.after_ns.unwrap_or(0.0) - self.before_ns.unwrap_or(0.0)
    }

    /// Whether it is longer after than before.
    pub(crate) fn is_longer(&self) -> bool {
        match self.change {
            Some(change) => change > 0.0,
            None => self.after_ns > self.before_ns, // nothing is less than any time
        }
    }
}

impl Row {
    /// The measure that its verdict is about: of one execution, unless only the time of all of them differs, or differs the other way: there are more of them,
    /// or fewer.
    pub(crate) fn telling(&self) -> Option<(&Measure, bool)> {
        let (each, total) = (self.each.as_ref(), self.total.as_ref());
        match (each, total) {
            (Some(each), Some(total))
                if total.is_different
                    && (!each.is_different || each.is_longer() != total.is_longer()) =>
            {
                Some((total, true))
            }
            (Some(each), _) => Some((each, false)),
            (None, Some(total)) => Some((total, true)),
            (None, None) => None,
        }
    }
}
