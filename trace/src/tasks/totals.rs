//! The headline numbers of all regions of a trace.

use super::{RegionRecord, Sink, TaskRecord};
use crate::event::TaskId;

/// Sums over a trace; feed it as the [`Sink`] of a [`super::TaskStates`]. Durations in ns. All but the counts of tasks and edges are
/// of the outermost parallel regions in which explicit tasks were created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Explicit tasks that began, in regions or not.
    pub tasks: u64,
    /// Tasks that were created and never began, though their region ended.
    pub cancelled: u64,
    /// Dependences between two tasks.
    pub edges: u64,
    /// From readiness to begin, all tasks.
    pub ready_wait_ns: u64,
    /// From creation to readiness, all tasks.
    pub dependency_wait_ns: u64,
    /// Regions.
    pub regions: u64,
    /// The largest P.
    pub threads: u64,
    /// T1.
    pub work_ns: u64,
    /// The part of T1 in explicit tasks.
    pub task_work_ns: u64,
    /// T∞: the regions one after the other.
    pub span_ns: u64,
    /// Most tasks on a path.
    pub span_hops: u64,
    /// Most tasks of one level.
    pub width: u64,
    /// Heaviest chain of dependences.
    pub chain_ns: u64,
    /// Most tasks on a chain of dependences.
    pub chain_hops: u64,
    /// T_P: time in the regions.
    pub elapsed_ns: u64,
    /// Sum of P × T_P.
    pub capacity_ns: u64,
    /// Threads outside of user code while a task was ready.
    pub delay_ns: u64,
    /// Threads outside of user code while none was.
    pub no_work_ns: u64,
    /// Sum of max(T1/P, T∞).
    pub lower_bound_ns: u64,
    /// Sum of T1/P + T∞.
    pub upper_bound_ns: u64,
    /// Tasks that began before a predecessor was complete (one for each edge).
    pub order_violations: u64,
    /// Pairs of `mutexinoutset` siblings that ran at the same time.
    pub exclusion_violations: u64,
}

impl Totals {
    /// Adds a region.
    pub fn add(&mut self, region: &RegionRecord) {
        let most = |value: &mut u64, other: u64| *value = other.max(*value);
        let more = |value: &mut u64, other: u64| *value = value.saturating_add(other);
        more(&mut self.regions, 1);
        most(&mut self.threads, region.threads);
        more(&mut self.work_ns, region.work);
        more(&mut self.task_work_ns, region.task_work);
        more(&mut self.span_ns, region.span);
        most(&mut self.span_hops, region.span_hops());
        most(&mut self.width, region.width());
        most(&mut self.chain_ns, region.chain);
        most(&mut self.chain_hops, u64::from(region.chain_hops));
        more(&mut self.elapsed_ns, region.elapsed);
        more(&mut self.capacity_ns, region.capacity());
        more(&mut self.delay_ns, region.delay);
        more(&mut self.no_work_ns, region.no_work);
        more(&mut self.lower_bound_ns, region.lower_bound());
        more(&mut self.upper_bound_ns, region.upper_bound());
    }

    /// T1 / T∞.
    pub fn average_parallelism(&self) -> Option<f64> {
        (self.span_ns > 0).then(|| self.work_ns as f64 / self.span_ns as f64)
    }

    /// Work by P × T_P, 0 to 1.
    pub fn utilization(&self) -> Option<f64> {
        self.share(self.work_ns)
    }

    fn share(&self, ns: u64) -> Option<f64> {
        (self.capacity_ns > 0).then(|| ns as f64 / self.capacity_ns as f64)
    }

    /// Is the exposed parallelism exploited? One line; [`None`] when no region has tasks, or no time.
    pub fn headline(&self) -> Option<String> {
        let (average, used) = (self.average_parallelism()?, self.utilization()?);
        let percent = |ns| 100.0 * self.share(ns).unwrap_or(0.0);
        let threads = self.threads as f64;
        let verdict = match (average >= 2.0 * threads, used >= 0.8) {
            (_, true) => "the threads are well used",
            (true, false) => {
                "there is parallelism enough, the tasks do not get to the threads in time"
            }
            (false, false) if average >= threads => "parallelism is scarce",
            (false, false) => "the graph is too narrow for the threads",
        };
        Some(format!(
            "average parallelism {average:.1} on {} thread{}, exploited {:.1} %: {verdict} (lost: delay {:.1} %, no work {:.1} %)",
            self.threads,
            if self.threads == 1 { "" } else { "s" },
            percent(self.work_ns),
            percent(self.delay_ns),
            percent(self.no_work_ns),
        ))
    }
}

impl Sink for Totals {
    fn edge(&mut self, _: TaskId, _: TaskId) {
        self.edges += 1;
    }

    fn task(&mut self, task: &TaskRecord) {
        self.tasks += u64::from(task.begin.is_some());
        self.cancelled += u64::from(task.cancelled);
        let wait = |sum: &mut u64, ns: Option<u64>| *sum = sum.saturating_add(ns.unwrap_or(0));
        wait(&mut self.ready_wait_ns, task.ready_wait());
        wait(
            &mut self.dependency_wait_ns,
            task.begin.and(task.dependency_wait()),
        );
    }

    fn region(&mut self, region: RegionRecord) {
        self.add(&region);
    }

    fn violations(&mut self, edges: u64, overlaps: u64) {
        (self.order_violations, self.exclusion_violations) = (edges, overlaps);
    }
}
