//! The sections as data. `docs/metrics.md` has the formulas.

use serde::Serialize;

use super::super::model::Place;

/// Where the time of the P threads went, and the efficiencies that follow; 1 = nothing lost.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Efficiency {
    /// P: threads that took part.
    pub threads: u64,
    /// R: from the first to the last event, ns.
    pub elapsed_ns: u64,
    /// P·R = useful + serialization + imbalance + scheduling, ns.
    pub capacity_ns: u64,
    /// A: user code, ns.
    pub useful_ns: u64,
    /// S: idle because code runs outside of parallel regions, or a region has fewer threads than P, ns.
    pub serialization_ns: u64,
    /// L: in regions, idle beyond the thread that is idle least, ns.
    pub imbalance_ns: u64,
    /// D: in regions, idle as long as the thread that is idle least, ns.
    pub scheduling_ns: u64,
    /// Useful time outside of parallel regions, ns.
    pub serial_useful_ns: u64,
    /// Useful time in parallel regions, ns.
    pub region_useful_ns: u64,
    /// Time in which at least one outermost region ran, ns.
    pub parallel_ns: u64,
    /// Useful time of each of the P threads, ns.
    pub useful_of_threads_ns: Vec<u64>,
    /// A / (P·R).
    pub parallel_efficiency: f64,
    /// POP's factors.
    pub multiplicative: Multiplicative,
    /// POP's additive tree.
    pub additive: Additive,
    /// TALP's factors.
    pub talp: Talp,
    /// The largest leaf of the additive tree.
    pub largest_loss: LargestLoss,
}

/// `load_balance` × `communication_efficiency` = `parallel_efficiency`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct Multiplicative {
    /// mean(U) / max(U).
    pub load_balance: f64,
    /// max(U) / R.
    pub communication_efficiency: f64,
}

/// (`openmp_region_efficiency` − 1) + (`serial_region_efficiency` − 1) = `parallel_efficiency` − 1, and the three below the first likewise.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct Additive {
    /// What remains beside the losses in regions.
    pub openmp_region_efficiency: f64,
    /// Σ (max − mean of useful time) of R is lost.
    pub load_balance: f64,
    /// Time of regions beyond their longest useful time.
    pub scheduling: f64,
    /// Regions with fewer than P threads.
    pub team_size: f64,
    /// Amdahl.
    pub serial_region_efficiency: f64,
}

/// The product is `parallel_efficiency`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct Talp {
    /// A / (A + S).
    pub serialization: f64,
    /// (A + S) / (A + S + L).
    pub load_balance: f64,
    /// (A + S + L) / (A + S + L + D).
    pub scheduling: f64,
}

/// What costs most.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct LargestLoss {
    /// `serial`, `imbalance`, `scheduling` or `team size`; `none` below half a percent.
    pub kind: &'static str,
    /// Why, as far as the events say: `serial`, `work`, `locks`, `starting`, `barriers`, `tasks`, `library`, `team size`, `unknown`, `none`.
    pub cause: &'static str,
    /// Of the threads' time, 0 to 1.
    pub share: f64,
    /// Label of the region with the largest part of it.
    pub region: Option<String>,
    /// One sentence.
    pub text: String,
}

/// The load of a parallel region over all its executions.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct RegionLoad {
    /// Largest team.
    pub threads: u64,
    /// Sum over executions of the longest useful time of a thread, ns.
    pub useful_max_ns: u64,
    /// Sum over executions of the mean, ns.
    pub useful_mean_ns: u64,
    /// Sum over executions of the shortest, ns.
    pub useful_min_ns: u64,
    /// `useful_max_ns / useful_mean_ns`: 1 = balanced; null when nothing useful was done.
    pub imbalance: Option<f64>,
    /// Sum over executions of longest − mean, ns.
    pub imbalance_loss_ns: u64,
    /// In barriers, all threads, ns.
    pub barrier_ns: u64,
    /// Part of TALP's D (in outermost executions) explained by the thread that began its implicit task last, ns.
    pub starting_ns: u64,
    /// Executions that were not inside another region; the three efficiencies are about them.
    pub outermost: u64,
    /// Useful share of the time of their threads; null without any.
    pub parallel_efficiency: Option<f64>,
    /// A / (A + L).
    pub load_balance: Option<f64>,
    /// (A + L) / (A + L + D).
    pub scheduling: Option<f64>,
    /// By number in the team.
    pub by_thread: Vec<ThreadLoad>,
}

/// One thread number of a region's teams.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ThreadLoad {
    /// `omp_get_thread_num()`; null for threads found in the region behind a gap.
    pub thread_num: Option<u32>,
    /// Executions in which it took part.
    pub executions: u64,
    /// User code, ns.
    pub useful_ns: u64,
    /// In barriers, ns.
    pub barrier_ns: u64,
    /// From the region's begin to that of its implicit task, ns.
    pub start_ns: u64,
}

/// The task graph of all outermost regions with explicit tasks. `docs/graph.md` has the definitions.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Graph {
    /// Regions.
    pub regions: u64,
    /// P: the largest number of threads of one.
    pub threads: u64,
    /// T1, ns.
    pub work_ns: u64,
    /// The part of it in explicit tasks, ns.
    pub task_work_ns: u64,
    /// T∞, ns.
    pub span_ns: u64,
    /// T1 / T∞; null when nothing took time.
    pub average_parallelism: Option<f64>,
    /// Most tasks on a path.
    pub span_hops: u64,
    /// Most tasks of a level.
    pub width: u64,
    /// Heaviest chain of dependences, ns.
    pub chain_ns: u64,
    /// Most tasks on a chain of dependences.
    pub chain_hops: u64,
    /// T_P, ns.
    pub elapsed_ns: u64,
    /// Σ P·T_P = work + delay + no work, ns.
    pub capacity_ns: u64,
    /// Threads outside of user code while a task was ready, ns.
    pub delay_ns: u64,
    /// Threads outside of user code while none was, ns.
    pub no_work_ns: u64,
    /// Σ max(T1/P, T∞), ns.
    pub lower_bound_ns: u64,
    /// Σ (T1/P + T∞), ns.
    pub upper_bound_ns: u64,
    /// Tasks, from readiness to begin, ns.
    pub ready_wait_ns: u64,
    /// Tasks, from creation to readiness, ns.
    pub dependency_wait_ns: u64,
    /// Tasks that began before a predecessor was complete.
    pub order_violations: u64,
    /// `mutexinoutset` siblings that ran at the same time.
    pub exclusion_violations: u64,
    /// Is the exposed parallelism exploited? One line; null when nothing took time.
    pub headline: Option<String>,
}

/// A region's place beside its load, for tables.
pub(super) type Loaded<'s> = (&'s Place, &'s RegionLoad);
