//! Load of parallel regions of one function.

use std::collections::BTreeMap;

/// What a thread number did in all executions of a region. A thread's useful time holds that of inner regions it leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadLoad {
    /// Executions in which it took part.
    pub executions: u64,
    /// Useful time, ns.
    pub useful_ns: u64,
    /// Waiting in barriers, the closing one too, less tasks that ran meanwhile, ns.
    pub barrier_ns: u64,
    /// From the region's begin to that of the thread's implicit task, ns.
    pub start_ns: u64,
}

/// All executions of one region's code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegionLoad {
    /// Executions that ended, or were open at the end of the trace.
    pub executions: u64,
    /// Sum of their times on the encountering thread, ns.
    pub elapsed_ns: u64,
    /// Largest team.
    pub threads: u64,
    /// By thread number.
    pub by_thread: BTreeMap<u32, ThreadLoad>,
    /// Sum over executions of the longest useful time of a thread, ns.
    pub longest_useful_ns: u64,
    /// Sum over executions of the shortest, ns.
    pub shortest_useful_ns: u64,
    /// Sum over executions of the mean, ns.
    pub mean_useful_ns: f64,
    /// Executions that were outermost regions; the fields below are about them, inner regions included.
    pub outermost: u64,
    /// Sum of their times, ns.
    pub outermost_elapsed_ns: u64,
    /// Sum of time × threads, ns.
    pub allotted_ns: u64,
    /// Useful time of all their threads, ns.
    pub useful_ns: u64,
    /// Sum over executions, over threads: longest useful time − own, ns.
    pub imbalance_ns: u64,
    /// Sum over executions: threads × (time − longest useful time), ns.
    pub scheduling_ns: u64,
    /// The part of `scheduling_ns` that is explained by the thread that came last: sum over executions of threads × its `start_ns`, at
    /// most the execution's scheduling, ns.
    pub starting_ns: u64,
}

impl RegionLoad {
    /// Σ (max − mean of useful time) over executions, ns.
    pub fn imbalance_loss_ns(&self) -> f64 {
        (self.longest_useful_ns as f64 - self.mean_useful_ns).max(0.0)
    }

    /// Σ max / Σ mean of useful time: 1 = balanced; `None` when nothing useful was done.
    pub fn imbalance_ratio(&self) -> Option<f64> {
        (self.mean_useful_ns > 0.0).then(|| self.longest_useful_ns as f64 / self.mean_useful_ns)
    }

    /// Useful share of the time allotted to the outermost executions: load balance × scheduling.
    pub fn parallel_efficiency(&self) -> f64 {
        super::ratio(self.useful_ns as f64, self.allotted_ns as f64)
    }

    /// A / (A + L) in outermost executions.
    pub fn load_balance(&self) -> f64 {
        let useful = self.useful_ns as f64;
        super::ratio(useful, useful + self.imbalance_ns as f64)
    }

    /// (A + L) / (A + L + D) in outermost executions.
    pub fn scheduling(&self) -> f64 {
        let balanced = self.useful_ns as f64 + self.imbalance_ns as f64;
        super::ratio(balanced, self.allotted_ns as f64)
    }

    pub(super) fn execution(&mut self, elapsed: u64, threads: &[(u32, ThreadLoad)]) {
        self.executions += 1;
        self.elapsed_ns = self.elapsed_ns.saturating_add(elapsed);
        self.threads = self.threads.max(threads.len() as u64);
        let (mut longest, mut shortest, mut sum) = (0, u64::MAX, 0_u64);
        for (number, load) in threads {
            longest = longest.max(load.useful_ns);
            shortest = shortest.min(load.useful_ns);
            sum = sum.saturating_add(load.useful_ns);
            let all = self.by_thread.entry(*number).or_default();
            all.executions += load.executions;
            all.useful_ns = all.useful_ns.saturating_add(load.useful_ns);
            all.barrier_ns = all.barrier_ns.saturating_add(load.barrier_ns);
            all.start_ns = all.start_ns.saturating_add(load.start_ns);
        }
        if !threads.is_empty() {
            self.longest_useful_ns = self.longest_useful_ns.saturating_add(longest);
            self.shortest_useful_ns = self.shortest_useful_ns.saturating_add(shortest);
            self.mean_useful_ns += sum as f64 / threads.len() as f64;
        }
    }

    /// An outermost execution: `useful` of each of its threads; the last one began its implicit task after `latest_start`.
    pub(super) fn outermost(&mut self, elapsed: u64, useful: &[u64], latest_start: u64) {
        let threads = useful.len() as u64;
        let longest = useful.iter().copied().max().unwrap_or(0);
        let sum = useful.iter().copied().fold(0, u64::saturating_add);
        self.outermost += 1;
        let add = |to: &mut u64, ns: u64| *to = to.saturating_add(ns);
        add(&mut self.outermost_elapsed_ns, elapsed);
        add(&mut self.allotted_ns, threads.saturating_mul(elapsed));
        add(&mut self.useful_ns, sum);
        add(
            &mut self.imbalance_ns,
            threads.saturating_mul(longest).saturating_sub(sum),
        );
        let scheduling = threads.saturating_mul(elapsed.saturating_sub(longest));
        add(&mut self.scheduling_ns, scheduling);
        let starting = threads.saturating_mul(latest_start);
        add(&mut self.starting_ns, starting.min(scheduling));
    }
}
