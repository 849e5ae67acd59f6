//! The headline numbers of all regions of a trace.

use hashbrown::HashMap;

use super::{RegionRecord, TaskRecord, TaskSink};
use crate::event::{TaskId, task_flags};
use crate::model::Code;

/// From this share on, what is possible counts as reached.
const WELL: f64 = 0.8;

/// Sums over a trace; feed it as the [`TaskSink`] of a [`super::TaskStates`]. Durations in ns. All but the counts of tasks and edges are
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
    /// Work by body, in the order in which they were first seen.
    functions: Vec<(Code, u64)>,
    /// Places in it.
    places: HashMap<Code, usize>,
    /// Place in it of the last task's body: the next one's is often the same.
    last: usize,
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

    /// How much of what the graph and the threads allow was reached: sum of max(T1/P, T∞) by T_P, 0 to 1.
    pub fn exploited(&self) -> Option<f64> {
        let share = self.lower_bound_ns as f64 / self.elapsed_ns as f64;
        (self.elapsed_ns > 0).then(|| share.min(1.0))
    }

    /// Is the exposed parallelism exploited? One line; [`None`] when no region has tasks, or no time.
    pub fn headline(&self) -> Option<String> {
        let (exposed, reached) = (self.average_parallelism()?, self.exploited()?);
        let percent = |ns| 100.0 * self.share(ns).unwrap_or(0.0);
        Some(format!(
            "exposed parallelism {exposed:.1}, exploited {:.1} on {} thread{} ({:.1}% of what they allow): {} (delay {:.1}%, no work {:.1}%)",
            self.work_ns as f64 / self.elapsed_ns as f64,
            self.threads,
            if self.threads == 1 { "" } else { "s" },
            100.0 * reached,
            self.answer(exposed, reached),
            percent(self.delay_ns),
            percent(self.no_work_ns),
        ))
    }

    /// The answer, and why.
    fn answer(&self, exposed: f64, reached: f64) -> String {
        let threads = self.threads as f64;
        if reached >= WELL {
            let more = match exposed {
                exposed if exposed >= 2.0 * threads => ", and there is work for more threads",
                exposed if exposed < WELL * threads => {
                    ", but the graph is too narrow to keep all threads busy"
                }
                _ => "",
            };
            return format!("yes{more}");
        }
        let answer = if reached >= 0.5 { "in part" } else { "no" };
        let why = if self.delay_ns < self.no_work_ns {
            "often no task was ready, too few were created in time or they waited for others"
        } else if self.delay_ns > self.task_work_ns {
            "creating, scheduling and waiting for locks takes longer than the tasks themselves"
        } else {
            "tasks that were ready had to wait for threads"
        };
        format!("{answer}, {why}")
    }
}

impl Totals {
    /// User code of the explicit tasks of one body, ns.
    #[must_use]
    pub fn work_of(&self, body: Code) -> u64 {
        let place = self
            .places
            .get(&body)
            .and_then(|at| self.functions.get(*at));
        place.map_or(0, |(_, work)| *work)
    }

    fn add_work(&mut self, task: &TaskRecord) {
        let body = Code {
            address: task.function,
            site: task.flags & task_flags::CALL_SITE != 0,
        };
        let known = self.functions.get(self.last);
        if known.is_none_or(|(code, _)| *code != body) {
            self.last = *self.places.entry(body).or_insert_with(|| {
                self.functions.push((body, 0));
                self.functions.len() - 1
            });
        }
        if let Some((_, work)) = self.functions.get_mut(self.last) {
            *work = work.saturating_add(task.work);
        }
    }
}

impl TaskSink for Totals {
    fn edge(&mut self, _: TaskId, _: TaskId) {
        self.edges += 1;
    }

    fn task(&mut self, task: &TaskRecord) {
        self.tasks += u64::from(task.begin.is_some());
        self.cancelled += u64::from(task.cancelled);
        self.add_work(task);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One region: P, T_P, work, span, delay; all work is that of tasks.
    fn region(threads: u64, elapsed: u64, work: u64, span: u64, delay: u64) -> Totals {
        let mut totals = Totals::default();
        totals.add(&RegionRecord {
            threads,
            elapsed,
            work,
            task_work: work,
            span,
            delay,
            no_work: threads * elapsed - work - delay,
            ..RegionRecord::default()
        });
        totals
    }

    #[test]
    fn the_answer_follows_from_bounds_and_losses() {
        for (totals, answer) in [
            // Two threads busy nearly all the time, ten could be.
            (
                region(2, 100, 190, 19, 5),
                "yes, and there is work for more threads",
            ),
            (region(2, 100, 190, 95, 5), "yes"),
            // A chain: one thread works, three have nothing.
            (
                region(4, 100, 100, 100, 0),
                "yes, but the graph is too narrow",
            ),
            (
                region(4, 100, 240, 10, 100),
                "in part, tasks that were ready",
            ),
            (
                region(4, 100, 100, 10, 200),
                "no, creating, scheduling and waiting",
            ),
            (region(4, 100, 100, 10, 100), "no, often no task was ready"),
        ] {
            let line = totals.headline().unwrap();
            assert!(line.contains(&format!("allow): {answer}")), "{line}");
        }
        assert_eq!(
            region(4, 100, 240, 10, 100).headline().unwrap(),
            "exposed parallelism 24.0, exploited 2.4 on 4 threads (60.0% of what they allow): in part, tasks that were ready had to \
             wait for threads (delay 25.0%, no work 15.0%)"
        );
        assert_eq!(Totals::default().headline(), None);
        assert_eq!(region(1, 0, 0, 0, 0).headline(), None);
    }
}
