//! The sections `sensors`, `energy`, `energy_regions` and `power`, and the troubles (`docs/summary-json.md`).

use serde::Serialize;

/// One value of a sensor.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Sensor {
    /// `family/device/…`, with `:label` where a sensor has several values.
    pub name: String,
    /// Of `min`, `mean` and `max`. Of a total: growth in a second, `W` for `J`.
    pub unit: String,
    /// `level`, or `total`: a sum that only grows.
    pub kind: &'static str,
    /// Readings.
    pub samples: u64,
    /// Smallest value; null without one. A total has one value less than it has readings.
    pub min: Option<f64>,
    /// Mean of the values; of a total: what it grew by over the time.
    pub mean: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// What a total grew by, wrap-arounds put right; null for a level.
    pub total: Option<f64>,
    /// Unit of `total`.
    pub total_unit: Option<String>,
    /// Where a total begins again at 0, in `total_unit`; null where it does not, and for a level.
    pub wraps_at: Option<f64>,
    /// Longest time from one reading to the next, ns.
    pub longest_gap_ns: u64,
    /// Readings that gave no value, or one that cannot be.
    pub missed: u64,
    /// When it could not be read any more, ns; null when it always could.
    pub lost_ns: Option<u64>,
    /// Time of one reading on the traced machine, ns.
    pub cost_ns: u64,
    /// Where it comes from.
    pub source: String,
}

/// Energy of the run by one meter.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct ZoneEnergy {
    /// The sensor's name.
    pub zone: String,
    /// J.
    pub joules: f64,
    /// The meter's readings leave it uncertain by at most this, J.
    pub error_joules: f64,
    /// Time of the run that readings cover, ns.
    pub covered_ns: u64,
    /// `platform`, `package`, `memory` (of a package, not in its energy), `inside` (in a package's energy), `other`.
    pub part: &'static str,
    /// Whether it is one of those that add up to `power.joules`.
    pub in_total: bool,
}

/// Energy of a region while it was open on any thread: the sum over the zones that add up, or the model's.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct RegionEnergy {
    /// `parallel region` or `user region`.
    pub kind: &'static str,
    /// Label of the parallel region's place, name of the user region.
    pub name: String,
    /// `measured`, or `model`.
    pub source: &'static str,
    /// J.
    pub joules: f64,
    /// The readings leave it uncertain by at most this, J; null for a model, whose error is not known.
    pub error_joules: Option<f64>,
    /// Time it was open, intervals that overlap counted once, ns.
    pub open_ns: u64,
    /// The part of it that readings cover, ns; of a model all of it.
    pub covered_ns: u64,
}

/// A thread's part of the energy.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct ThreadEnergy {
    /// Number of the thread in the trace.
    pub index: u32,
    /// J; an estimate.
    pub joules: f64,
}

/// Power of the machine or chip over the run.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Power {
    /// `measured`, or `model`: computed from the number of busy cores.
    pub source: &'static str,
    /// The target whose description has the model; null when measured.
    pub target: Option<String>,
    /// What a model's number of busy cores is from: `context switches`, `task-clock` or `schedstat-run` (the run as a whole only; regions
    /// by the states of threads), `states of threads`; null when measured.
    pub busy_from: Option<&'static str>,
    /// mW.
    pub average_mw: f64,
    /// J.
    pub joules: f64,
    /// The zones that were added; empty for a model.
    pub zones: Vec<String>,
    /// What the parts of threads are in proportion to: `task-clock`, `schedstat-run` or `useful time`. They are estimates: a meter does not
    /// know threads, and what the chip takes without any is shared out too.
    pub shared_by: &'static str,
    /// The threads' parts.
    pub threads: Vec<ThreadEnergy>,
}

/// Something that was asked for and is not there.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Trouble {
    /// Sensor, family or counter.
    pub name: String,
    /// Why.
    pub why: String,
}

/// A counter of one thread.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ThreadCount {
    /// Number of the thread in the trace.
    pub index: u32,
    /// The counter's last value.
    pub value: i64,
}
