//! Task graphs of the longest regions: every task and dependence of small ones, sums by function and level of large ones. The numbers are those of
//! `instr graph`: its records, its critical path.
//!
//! Memory is bounded. Tasks of a running region wait for its end, for only then the critical path is known; a region with more than
//! [`MOST_TASKS`] has sums alone.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::model::Code;
use instr_trace::tasks::{RegionRecord, TaskKind, TaskRecord, TaskSink};
use instr_trace::{RegionId, TaskId};

use super::model::LeftOut;
use super::task_levels::{TaskLevels, code_of};
use crate::graph::collect::Paths;

/// Tasks of a region whose critical path is looked for; twice that are kept until a region ends.
const MOST_TASKS: usize = 1 << 17;
/// Parts of tasks for that: a creation or a wait makes a new one.
pub(super) const MOST_SEGMENTS: usize = 1 << 20;
/// Tasks and dependences of all regions in the page.
const SHOWN_TASKS: usize = 1 << 16;
const SHOWN_EDGES: usize = 1 << 18;
/// Dependences that wait for the end of their regions.
const WAITING_EDGES: usize = 1 << 20;
/// Regions in the page.
const REGIONS: usize = 64;

/// A task, and where it is in its graph.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) record: TaskRecord,
    /// How much longer it could take without making the span longer, ns.
    pub(super) slack: Option<u64>,
    pub(super) critical: bool,
}

/// A function's part of the critical path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OnPath {
    pub(super) tasks: u64,
    pub(super) ns: u64,
}

/// A region that has ended.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) record: RegionRecord,
    /// By function and band of levels.
    pub(super) levels: TaskLevels,
    /// By function; none where the critical path is not known.
    pub(super) path: Option<BTreeMap<Code, OnPath>>,
    /// The part of implicit tasks.
    pub(super) outside_ns: u64,
    /// By creation; none where there are too many.
    pub(super) tasks: Option<Vec<Task>>,
    /// Places of two tasks in `tasks`: the second depends on the first. By the second.
    pub(super) edges: Vec<(u32, u32)>,
}

/// A region that runs.
#[derive(Debug)]
enum Running {
    Few(Vec<TaskRecord>),
    Many(TaskLevels),
}

/// The task graphs of one process, and its tasks by level.
#[derive(Debug, Default)]
pub(super) struct TaskGraphs {
    pub(super) levels: TaskLevels,
    running: HashMap<Option<RegionId>, Running>,
    edges: Vec<(TaskId, TaskId)>,
    /// Dependences were too many to be kept.
    edges_lost: bool,
    /// The longest first.
    pub(super) graphs: Vec<Graph>,
    pub(super) left_out: LeftOut,
}

impl TaskSink for TaskGraphs {
    fn edge(&mut self, from: TaskId, to: TaskId) {
        if self.edges.len() < WAITING_EDGES {
            self.edges.push((from, to));
        } else {
            self.edges_lost = true;
        }
    }

    fn task(&mut self, task: &TaskRecord) {
        self.levels.task(task);
        // Tasks outside of regions run at once: they have no graph.
        if task.region.is_none() {
            return;
        }
        let few = || Running::Few(Vec::new());
        let running = self.running.entry(task.region).or_insert_with(few);
        match running {
            Running::Many(levels) => levels.task(task),
            Running::Few(tasks) if tasks.len() < MOST_TASKS => tasks.push(task.clone()),
            Running::Few(tasks) => {
                let mut levels = TaskLevels::new();
                tasks.iter().for_each(|task| levels.task(task));
                levels.task(task);
                *running = Running::Many(levels);
            }
        }
    }

    fn region(&mut self, region: RegionRecord) {
        let running = self.running.remove(&region.id);
        let graph = match running.unwrap_or_else(|| Running::Few(Vec::new())) {
            Running::Few(tasks) => self.small(region, tasks),
            Running::Many(levels) => Graph {
                record: RegionRecord {
                    segments: None,
                    ..region
                },
                levels,
                path: None,
                outside_ns: 0,
                tasks: None,
                edges: Vec::new(),
            },
        };
        if self.running.is_empty() {
            // What is left belongs to regions with too many tasks.
            self.edges.clear();
            self.edges_lost = false;
        }
        self.add(graph);
    }
}

impl TaskGraphs {
    /// A region of which all tasks are known.
    fn small(&mut self, mut record: RegionRecord, mut tasks: Vec<TaskRecord>) -> Graph {
        tasks.sort_unstable_by_key(|task| task.number);
        let segments = record.segments.take();
        let paths = segments.as_ref().filter(|segments| !segments.is_full());
        let paths = paths.map(Paths::new);
        let mut levels = TaskLevels::new();
        let mut path = BTreeMap::<Code, OnPath>::new();
        let mut places = HashMap::with_capacity(tasks.len());
        let mut all = Vec::with_capacity(tasks.len());
        for (at, task) in (0u32..).zip(tasks) {
            levels.task(&task);
            places.insert(task.id, at);
            let (slack, critical) = match &paths {
                Some(paths) => paths.of(task.id),
                None => (None, None),
            };
            if let Some(ns) = critical.filter(|_| task.begin.is_some()) {
                let on_path = path.entry(code_of(&task)).or_default();
                on_path.tasks += u64::from(task.kind != TaskKind::Taskwait);
                on_path.ns = on_path.ns.saturating_add(ns);
            }
            all.push(Task {
                slack,
                critical: critical.is_some(),
                record: task,
            });
        }
        let mut edges = Vec::new();
        self.edges.retain(|(from, to)| {
            let Some(to) = places.get(to) else {
                return true;
            };
            // A dependence on a task of another region is none of this graph.
            edges.extend(places.get(from).map(|from| (*from, *to)));
            false
        });
        edges.sort_unstable_by_key(|(from, to)| (*to, *from));
        let whole = !self.edges_lost;
        Graph {
            record,
            levels,
            outside_ns: paths.as_ref().map_or(0, |paths| paths.path.outside_ns),
            path: paths.map(|_| path),
            tasks: Some(all).filter(|_| whole),
            edges,
        }
    }

    fn add(&mut self, graph: Graph) {
        let key = |graph: &Graph| (Reverse(graph.record.elapsed), graph.record.begin);
        let own = key(&graph);
        let at = self.graphs.partition_point(|other| key(other) <= own);
        self.graphs.insert(at, graph);
        bounded(&mut self.graphs, &mut self.left_out);
    }
}

/// Leaves out the shortest regions, and the tasks of those that have no room any more. The longest is first.
pub(super) fn bounded(graphs: &mut Vec<Graph>, left_out: &mut LeftOut) {
    for graph in graphs.drain(graphs.len().min(REGIONS)..) {
        left_out.regions += 1;
        let elapsed = graph.record.elapsed;
        left_out.elapsed_ns = left_out.elapsed_ns.saturating_add(elapsed);
    }
    let (mut tasks, mut edges) = (0, 0);
    for graph in graphs {
        let own = (graph.tasks.as_ref().map_or(0, Vec::len), graph.edges.len());
        if tasks + own.0 > SHOWN_TASKS || edges + own.1 > SHOWN_EDGES {
            graph.tasks = None;
            graph.edges = Vec::new();
            continue;
        }
        (tasks, edges) = (tasks + own.0, edges + own.1);
    }
}

#[cfg(test)]
mod tests {
    use instr_trace::{Session, Trace, synth};

    use super::super::tests::collected;
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn the_graph_of_the_fixture_has_its_tasks_and_its_dependence() {
        let fixture = Fixture::new(synth::layouts()[0]);
        let session = Session::of(vec![fixture.open()]);
        let timeline = collected(&session).timeline;
        let [graph] = &timeline.graphs[..] else {
            panic!("one region has tasks")
        };
        assert_eq!((graph.begin_ns, graph.end_ns), (100, 1500));
        assert_eq!((graph.region.tasks, graph.region.edges), (4, 1));
        let rows = |table: &Option<super::super::super::columns::Stored>| {
            table.as_ref().map(|table| table.rows)
        };
        assert_eq!((rows(&graph.tasks), rows(&graph.edges)), (Some(4), Some(1)));
        let path = graph.path.as_ref().unwrap();
        let sum: u64 = path.iter().map(|part| part.ns).sum();
        assert_eq!(sum, graph.region.span_ns);
        // 1 with its child 4 inside, and 2 behind it.
        assert_eq!(path.iter().map(|part| part.tasks).sum::<u64>(), 3);
    }

    #[test]
    fn a_region_with_too_many_tasks_has_sums_alone() {
        let dir = tempfile::tempdir().unwrap();
        let events = 4 * (MOST_TASKS as u64 + 10);
        let tasks = synth::tasks(dir.path(), synth::layouts()[0], 1, events).unwrap();
        let session = Session::of(vec![Trace::open(dir.path()).unwrap()]);
        let timeline = collected(&session).timeline;
        let graph = &timeline.graphs[0];
        assert!(graph.path.is_none() && graph.tasks.is_none() && graph.edges.is_none());
        assert_eq!(graph.region.tasks, tasks);
        assert!(graph.cells.rows > 0);
        // A task follows the one that was created 64 before it.
        assert_eq!(graph.region.edges, tasks - 64);
    }

    fn graph(elapsed: u64, tasks: usize) -> Graph {
        let id = TaskId { thread: 0, seq: 0 };
        let fixture = Fixture::new(synth::layouts()[0]);
        let mut task = super::super::task_levels::tests::record(&fixture);
        task.id = id;
        Graph {
            record: RegionRecord {
                elapsed,
                ..RegionRecord::default()
            },
            levels: TaskLevels::new(),
            path: None,
            outside_ns: 0,
            tasks: Some(vec![
                Task {
                    record: task,
                    slack: None,
                    critical: false
                };
                tasks
            ]),
            edges: vec![(0, 0)],
        }
    }

    #[test]
    fn the_longest_regions_have_the_room() {
        let mut graphs = vec![
            graph(9, 10),
            graph(8, SHOWN_TASKS - 9),
            graph(7, SHOWN_TASKS - 10),
            graph(6, 1),
        ];
        let mut left_out = LeftOut::default();
        bounded(&mut graphs, &mut left_out);
        let kept = |graph: &Graph| graph.tasks.is_some() && !graph.edges.is_empty();
        let kept: Vec<_> = graphs.iter().map(kept).collect();
        assert_eq!(kept, [true, false, true, false]);
        assert_eq!(left_out, LeftOut::default());
        let mut graphs: Vec<_> = (0..REGIONS as u64 + 3).map(|at| graph(at, 1)).collect();
        bounded(&mut graphs, &mut left_out);
        let last = REGIONS as u64;
        let elapsed_ns = last + (last + 1) + (last + 2);
        assert_eq!(
            left_out,
            LeftOut {
                regions: 3,
                elapsed_ns
            }
        );
    }
}
