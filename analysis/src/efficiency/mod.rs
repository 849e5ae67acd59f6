//! Load balance of parallel regions and the thread-level efficiencies of POP and TALP: `docs/metrics.md` has the definitions.
//!
//! [`Collector`] is a sink of an [`Interpreter`](instr_trace::model::Interpreter); [`Report`] is what comes of it. Memory
//! grows with the threads, the regions that run and the region functions, not with the events.

mod collect;
mod open;
mod region;

use std::collections::BTreeMap;

pub use collect::Collector;
pub use region::{RegionLoad, ThreadLoad};

use instr_trace::model::Code;

/// Where the time of all threads went: what the efficiencies are made of. All times in ns.
///
/// *P* threads took part for *R* = `elapsed_ns`: `capacity` = P·R. It is `useful` + `serialization` + `imbalance` + `scheduling`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// P: the most threads alive at a time among those that led a region, ran an implicit task, or were initial. A thread that
    /// ended leaves its place to one that began later.
    pub threads: u64,
    /// R: from the first to the last event of the process.
    pub elapsed_ns: u64,
    /// Useful time of each of the P threads.
    pub useful_of_threads: Vec<u64>,
    /// Useful time outside of parallel regions, all threads.
    pub serial_useful_ns: u64,
    /// Useful time in outermost regions and all inside them, all threads.
    pub region_useful_ns: u64,
    /// Time in which at least one outermost region ran.
    pub parallel_ns: u64,
    /// Sum over the executions of outermost regions of time × threads that took part.
    pub allotted_ns: u64,
    /// L, sum over executions of outermost regions, over their threads: longest useful time − own useful time.
    pub imbalance_ns: u64,
    /// D, sum over executions of outermost regions: threads × (time − longest useful time).
    pub scheduling_ns: u64,
    /// Sum over executions of outermost regions: longest useful time.
    pub longest_useful_ns: u64,
    /// Sum over executions of outermost regions: mean useful time.
    pub mean_useful_ns: f64,
    /// Outermost regions of several initial threads ran at the same time.
    pub overlapping: bool,
}

impl Budget {
    /// P·R.
    pub fn capacity_ns(&self) -> u64 {
        self.threads.saturating_mul(self.elapsed_ns)
    }

    /// A: useful time of all threads.
    pub fn useful_ns(&self) -> u64 {
        self.serial_useful_ns.saturating_add(self.region_useful_ns)
    }

    /// S: time of threads outside of regions that is not useful: they wait for what runs serially, or their region uses fewer
    /// threads than took part.
    pub fn serialization_ns(&self) -> u64 {
        self.capacity_ns()
            .saturating_sub(self.allotted_ns)
            .saturating_sub(self.serial_useful_ns)
    }

    /// The part of [`Budget::serialization_ns`] that falls into regions with fewer than P threads.
    pub fn unused_ns(&self) -> u64 {
        self.threads
            .saturating_mul(self.parallel_ns)
            .saturating_sub(self.allotted_ns)
            .min(self.serialization_ns())
    }

    /// The efficiencies; `None` of a trace without duration.
    pub fn efficiencies(&self) -> Option<Efficiencies> {
        if self.elapsed_ns == 0 || self.threads == 0 {
            return None;
        }
        let (elapsed, threads) = (self.elapsed_ns as f64, self.threads as f64);
        let useful = self.useful_ns() as f64;
        let longest = self.useful_of_threads.iter().copied().max().unwrap_or(0) as f64;
        let mean = useful / threads;
        let serial = useful + self.serialization_ns() as f64;
        let balanced = serial + self.imbalance_ns as f64;
        let whole = balanced + self.scheduling_ns as f64;
        let region_mean = self.region_useful_ns as f64 / threads;
        let serial_total = elapsed - self.parallel_ns as f64;
        let loss = |ns: f64| 1.0 - ns / elapsed;
        let beside = self.serial_useful_ns as f64 > serial_total * threads; // threads of no region work while regions run
        let additive = if self.overlapping || beside {
            self.of_overlapping()
        } else {
            Additive {
                serial: loss(serial_total - self.serial_useful_ns as f64 / threads),
                region: loss(self.parallel_ns as f64 - region_mean),
                load_balance: loss(self.longest_useful_ns as f64 - self.mean_useful_ns),
                scheduling: loss(self.parallel_ns as f64 - self.longest_useful_ns as f64),
                team_size: loss(self.mean_useful_ns - region_mean),
            }
        };
        Some(Efficiencies {
            parallel_efficiency: mean / elapsed,
            load_balance: ratio(mean, longest),
            communication_efficiency: longest / elapsed,
            omp_serialization: ratio(useful, serial),
            omp_load_balance: ratio(serial, balanced),
            omp_scheduling: ratio(balanced, whole),
            region_efficiency: additive.region,
            region_load_balance: additive.load_balance,
            region_scheduling: additive.scheduling,
            region_team_size: additive.team_size,
            serial_efficiency: additive.serial,
        })
    }

    /// Regions at the same time take threads from each other, so that their times do not add up to the process's: what their own threads lose does.
    fn of_overlapping(&self) -> Additive {
        let capacity = self.capacity_ns() as f64;
        let loss = |ns: u64| 1.0 - ns as f64 / capacity;
        let (imbalance, scheduling) = (self.imbalance_ns, self.scheduling_ns);
        let unused = self.unused_ns();
        let inside = imbalance.saturating_add(scheduling).saturating_add(unused);
        Additive {
            serial: loss(self.serialization_ns() - unused),
            region: loss(inside),
            load_balance: loss(imbalance),
            scheduling: loss(scheduling),
            team_size: loss(unused),
        }
    }
}

/// POP's additive tree below the parallel efficiency.
struct Additive {
    serial: f64,
    region: f64,
    load_balance: f64,
    scheduling: f64,
    team_size: f64,
}

/// 0/0 is 1: nothing is lost of nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 1.0 } else { part / whole }
}

/// Efficiencies, 1 = nothing lost. `docs/metrics.md` says where each formula is from.
///
/// `parallel_efficiency` = `load_balance` × `communication_efficiency` (POP, multiplicative)
/// = `omp_serialization` × `omp_load_balance` × `omp_scheduling` (TALP)
/// = `region_efficiency` + `serial_efficiency` − 1 (POP, additive), and
/// `region_efficiency` − 1 = (`region_load_balance` − 1) + (`region_scheduling` − 1) + (`region_team_size` − 1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Efficiencies {
    /// mean(U) / R = A / (P·R); the additive tree calls it thread efficiency.
    pub parallel_efficiency: f64,
    /// mean(U) / max(U), over the P threads.
    pub load_balance: f64,
    /// max(U) / R.
    pub communication_efficiency: f64,
    /// A / (A + S).
    pub omp_serialization: f64,
    /// (A + S) / (A + S + L).
    pub omp_load_balance: f64,
    /// (A + S + L) / (A + S + L + D).
    pub omp_scheduling: f64,
    /// OpenMP region efficiency: 1 − (parallel time − region useful / P) / R.
    pub region_efficiency: f64,
    /// 1 − Σ (max − mean of useful time) / R over region executions.
    pub region_load_balance: f64,
    /// 1 − (parallel time − Σ max of useful time) / R.
    pub region_scheduling: f64,
    /// 1 − Σ (useful / threads of the region − useful / P) / R: what regions with fewer than P threads cost.
    pub region_team_size: f64,
    /// Serial region (Amdahl) efficiency: 1 − (serial time − serial useful / P) / R; where all serial time is useful,
    /// 1 − serial · (1 − 1/P) / R.
    pub serial_efficiency: f64,
}

/// What threads lose their time to: the leaves of POP's additive tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// Code outside of parallel regions: the others wait.
    Serial,
    /// Threads of a region that have less to do than its longest one.
    Imbalance,
    /// Regions take longer than their longest thread works.
    Scheduling,
    /// Regions have fewer threads than there are.
    TeamSize,
}

impl Efficiencies {
    /// What is lost of the threads' time, 0 to 1, by cause; the sum is 1 − `parallel_efficiency`.
    pub fn losses(&self) -> [(Loss, f64); 4] {
        [
            (Loss::Serial, 1.0 - self.serial_efficiency),
            (Loss::Imbalance, 1.0 - self.region_load_balance),
            (Loss::Scheduling, 1.0 - self.region_scheduling),
            (Loss::TeamSize, 1.0 - self.region_team_size),
        ]
    }

    /// The largest of [`Efficiencies::losses`]; of equal ones the first.
    pub fn largest_loss(&self) -> (Loss, f64) {
        let [first, rest @ ..] = self.losses();
        let larger = |a: (Loss, f64), b: (Loss, f64)| if b.1 > a.1 { b } else { a };
        rest.into_iter().fold(first, larger)
    }
}

/// What a [`Collector`] found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The whole process.
    pub budget: Budget,
    /// Parallel regions by their code (address 0: the begin was lost), nested ones too.
    pub regions: BTreeMap<Code, RegionLoad>,
    /// Code and begin of the outermost region that was open at the end of the trace; of several the one that began first.
    pub open: Option<(Code, u64)>,
}
