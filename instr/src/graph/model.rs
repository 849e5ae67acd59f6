//! The analysed graph as data: what `docs/graph-json.md` describes.

use std::collections::BTreeMap;

use instr_trace::tasks::{Level, RegionRecord, TaskKind, Totals};
use instr_trace::{RegionId, TaskId};
use serde::Serialize;

use crate::summary::model::Place;

/// Version of the JSON form; raised when a field changes its meaning or goes away.
pub const FORMAT: u32 = 2;

/// An explicit task. Times are ns since the trace's start; what the trace does not hold is [`None`].
#[derive(Debug, Clone, Serialize)]
pub struct Node {
    /// Creating thread and number there.
    #[serde(serialize_with = "as_text")]
    pub id: TaskId,
    /// Place in the order of creation, from 0.
    pub number: u64,
    /// What made it.
    pub kind: &'static str,
    /// The body.
    pub function: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
    /// The body, for people.
    pub label: String,
    /// The explicit task that created it; none for tasks of an implicit task.
    #[serde(serialize_with = "as_optional_text")]
    pub parent: Option<TaskId>,
    /// The outermost parallel region.
    pub region: Option<String>,
    /// Thread that began it.
    pub thread: Option<u32>,
    /// Entry of the construct.
    pub created_ns: Option<u64>,
    /// When its last predecessor was complete, or it was created.
    pub ready_ns: Option<u64>,
    /// Begin of the body.
    pub begin_ns: Option<u64>,
    /// End of the body.
    pub end_ns: Option<u64>,
    /// When its successors might begin.
    pub complete_ns: Option<u64>,
    /// From begin to end without the tasks that ran on top.
    pub duration_ns: Option<u64>,
    /// User code.
    pub work_ns: u64,
    /// From creation to readiness.
    pub dependency_wait_ns: Option<u64>,
    /// From readiness to begin.
    pub ready_wait_ns: Option<u64>,
    /// Tasks on the longest path that ends just before it.
    pub level: Option<u32>,
    /// How much longer it could take without making the span longer.
    pub slack_ns: Option<u64>,
    /// Whether it is on the critical path.
    pub critical: bool,
    /// Whether it ran inside the construct that created it.
    pub undeferred: bool,
    /// Whether it never began though its region ended.
    pub cancelled: bool,
}

/// `THREAD.SEQ`.
pub fn name(task: TaskId) -> String {
    format!("{}.{}", task.thread, task.seq)
}

/// `THREAD.SEQ` of a region.
pub fn region_name(region: RegionId) -> String {
    format!("{}.{}", region.thread, region.seq)
}

fn as_text<S: serde::Serializer>(task: &TaskId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&name(*task))
}

fn as_optional_text<S: serde::Serializer>(
    task: &Option<TaskId>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    task.map(name).serialize(serializer)
}

/// The word for a kind of task.
pub fn kind_name(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Task => "task",
        TaskKind::Taskloop => "taskloop",
        TaskKind::Taskwait => "taskwait",
        TaskKind::Target => "target",
    }
}

/// Tasks of one level.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LevelCount {
    /// How many.
    pub tasks: u64,
    /// Their work.
    pub work_ns: u64,
}

impl From<&Level> for LevelCount {
    fn from(level: &Level) -> Self {
        Self {
            tasks: level.tasks,
            work_ns: level.work,
        }
    }
}

/// Threads in user code at one time.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Parallelism {
    /// Fewest, between the first and the last task body.
    pub min: u64,
    /// Work by time.
    pub mean: Option<f64>,
    /// Most.
    pub max: u64,
}

/// An outermost parallel region.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Region {
    /// Encountering thread and number there.
    pub id: Option<String>,
    /// Body.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line.
    pub line: Option<u32>,
    /// For people.
    pub label: String,
    /// P.
    pub threads: u64,
    /// Entry, since the trace's start.
    pub begin_ns: u64,
    /// T_P.
    pub elapsed_ns: u64,
    /// Explicit tasks that ran.
    pub tasks: u64,
    /// Dependences of tasks created in it.
    pub edges: u64,
    /// T1.
    pub work_ns: u64,
    /// In explicit tasks.
    pub task_work_ns: u64,
    /// T∞.
    pub span_ns: u64,
    /// Tasks on the longest path.
    pub span_hops: u64,
    /// Heaviest chain of dependences.
    pub chain_ns: u64,
    /// Tasks on the longest chain.
    pub chain_hops: u64,
    /// Tasks by level.
    pub levels: Vec<LevelCount>,
    /// Most tasks of one level.
    pub width: u64,
    /// T1 / T∞.
    pub average_parallelism: Option<f64>,
    /// max(T1/P, T∞).
    pub lower_bound_ns: u64,
    /// T1/P + T∞.
    pub upper_bound_ns: u64,
    /// Outside of user code while a task was ready.
    pub delay_ns: u64,
    /// Outside of user code while none was.
    pub no_work_ns: u64,
    /// Threads in user code.
    pub parallelism: Parallelism,
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Region {
    /// The region whose body is at `place`.
    pub fn new(region: &RegionRecord, place: Place) -> Self {
        Self {
            id: region.id.map(region_name),
            function: place.function,
            file: place.file,
            line: place.line,
            label: place.label,
            threads: region.threads,
            begin_ns: region.begin,
            elapsed_ns: region.elapsed,
            tasks: region.tasks,
            edges: region.edges,
            work_ns: region.work,
            task_work_ns: region.task_work,
            span_ns: region.span,
            span_hops: region.span_hops(),
            chain_ns: region.chain,
            chain_hops: u64::from(region.chain_hops),
            levels: region.levels.iter().map(LevelCount::from).collect(),
            width: region.width(),
            average_parallelism: ratio(region.work, region.span),
            lower_bound_ns: region.lower_bound(),
            upper_bound_ns: region.upper_bound(),
            delay_ns: region.delay,
            no_work_ns: region.no_work,
            parallelism: Parallelism {
                min: region.min_parallelism,
                mean: ratio(region.work, region.elapsed),
                max: region.max_parallelism,
            },
        }
    }
}

/// All regions together.
#[derive(Debug, Clone, Serialize)]
pub struct Total {
    threads: u64,
    elapsed_ns: u64,
    capacity_ns: u64,
    tasks: u64,
    edges: u64,
    work_ns: u64,
    task_work_ns: u64,
    span_ns: u64,
    span_hops: u64,
    chain_ns: u64,
    chain_hops: u64,
    width: u64,
    average_parallelism: Option<f64>,
    lower_bound_ns: u64,
    upper_bound_ns: u64,
    delay_ns: u64,
    no_work_ns: u64,
}

impl Total {
    fn new(totals: &Totals, regions: &[Region]) -> Self {
        Self {
            threads: totals.threads,
            elapsed_ns: totals.elapsed_ns,
            capacity_ns: totals.capacity_ns,
            tasks: regions.iter().map(|region| region.tasks).sum(),
            edges: regions.iter().map(|region| region.edges).sum(),
            work_ns: totals.work_ns,
            task_work_ns: totals.task_work_ns,
            span_ns: totals.span_ns,
            span_hops: totals.span_hops,
            chain_ns: totals.chain_ns,
            chain_hops: totals.chain_hops,
            width: totals.width,
            average_parallelism: totals.average_parallelism(),
            lower_bound_ns: totals.lower_bound_ns,
            upper_bound_ns: totals.upper_bound_ns,
            delay_ns: totals.delay_ns,
            no_work_ns: totals.no_work_ns,
        }
    }
}

/// A task body.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Function {
    /// Body.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line.
    pub line: Option<u32>,
    /// For people.
    pub label: String,
    /// Tasks that ran.
    pub tasks: u64,
    /// Their work.
    pub work_ns: u64,
    /// Those on a critical path.
    pub critical_tasks: u64,
    /// Their part of the critical paths.
    pub span_ns: u64,
    /// The same by T∞.
    pub span_share: f64,
}

/// A distribution of times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// The shortest.
    pub min_ns: Option<u64>,
    /// First quartile.
    pub q1_ns: Option<u64>,
    /// Median.
    pub median_ns: Option<u64>,
    /// Third quartile.
    pub q3_ns: Option<u64>,
    /// 95 %.
    pub p95_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
    /// All together.
    pub total_ns: u64,
}

impl Distribution {
    /// Of these times; the value at rank ⌈q·count⌉.
    pub fn new(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        let rank = |hundredths: usize| {
            let rank = (times.len() * hundredths).div_ceil(100).max(1);
            times.get(rank - 1).copied()
        };
        Self {
            count: times.len() as u64,
            min_ns: times.first().copied(),
            q1_ns: rank(25),
            median_ns: rank(50),
            q3_ns: rank(75),
            p95_ns: rank(95),
            max_ns: times.last().copied(),
            total_ns: times
                .iter()
                .fold(0, |sum: u64, time| sum.saturating_add(*time)),
        }
    }
}

/// Times of all tasks that began, ns.
#[derive(Debug, Default)]
pub struct TaskTimes {
    /// User code of those that have a body.
    pub work: Vec<u64>,
    /// Slack of those in regions.
    pub slack: Vec<u64>,
    /// From creation to readiness.
    pub dependency_wait: Vec<u64>,
    /// From readiness to begin.
    pub ready_wait: Vec<u64>,
}

/// What is known when all events are read.
#[derive(Debug, Clone, Serialize)]
pub struct Analysis {
    /// The answer in one line.
    pub headline: String,
    /// Regions in the order they ended.
    pub regions: Vec<Region>,
    /// All of them.
    pub total: Total,
    /// Task bodies.
    pub functions: Vec<Function>,
    /// From readiness to begin.
    pub ready_wait: Distribution,
    /// From creation to readiness.
    pub dependency_wait: Distribution,
    /// User code of a task.
    pub work: Distribution,
    /// How much longer a task could take without making the span longer.
    pub slack: Distribution,
    /// Edges that the run did not respect.
    pub order_violations: u64,
    /// Mutual exclusions that it did not respect.
    pub exclusion_violations: u64,
}

impl Analysis {
    /// Out of what was collected; `functions` by label and place.
    pub fn new(
        totals: &Totals,
        regions: Vec<Region>,
        functions: BTreeMap<(String, u64), Function>,
        times: TaskTimes,
    ) -> Self {
        let mut functions: Vec<Function> = functions.into_values().collect();
        for function in &mut functions {
            function.span_share = ratio(function.span_ns, totals.span_ns).unwrap_or(0.0);
        }
        functions.sort_by(|a, b| {
            let times = (b.span_ns, b.work_ns).cmp(&(a.span_ns, a.work_ns));
            times.then_with(|| a.label.cmp(&b.label))
        });
        let none = || match regions.iter().any(|region| region.tasks > 0) {
            true => "the tasks took no time".to_owned(),
            false if regions.is_empty() => "no parallel region with explicit tasks".to_owned(),
            false => "no task is known to have run".to_owned(),
        };
        Self {
            headline: totals.headline().unwrap_or_else(none),
            total: Total::new(totals, &regions),
            regions,
            functions,
            ready_wait: Distribution::new(times.ready_wait),
            dependency_wait: Distribution::new(times.dependency_wait),
            work: Distribution::new(times.work),
            slack: Distribution::new(times.slack),
            order_violations: totals.order_violations,
            exclusion_violations: totals.exclusion_violations,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_at_ranks() {
        let of = |times: &[u64]| {
            let all = Distribution::new(times.to_vec());
            [
                all.min_ns,
                all.q1_ns,
                all.median_ns,
                all.q3_ns,
                all.p95_ns,
                all.max_ns,
            ]
            .map(|time| time.unwrap_or(u64::MAX))
        };
        assert_eq!(of(&[]), [u64::MAX; 6]);
        assert_eq!(of(&[7]), [7; 6]);
        assert_eq!(of(&[4, 1, 3, 2]), [1, 1, 2, 3, 4, 4]);
        let hundred: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(of(&hundred), [1, 25, 50, 75, 95, 100]);
    }
}
