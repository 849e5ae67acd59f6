//! Compares what a graph asks for, what its trace shows, and what `instr graph` says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::Path;

use serde_json::Value;

use super::babel;
use super::clock::Clock;
use super::replay::{Replay, Seen};
use super::report::{self, Report, TraceId};
use super::rules;
use super::script::{Graph, Op, Task};
use crate::outcome::{Check, ensure};

/// Edges between tasks of a trace.
pub type TraceEdges = BTreeSet<(TraceId, TraceId)>;

/// What else is known of how a trace came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// How far a time may be off, ns: 0 when a tick is a nanosecond.
    pub tolerance: u64,
    /// Whether the run-time library is expected to respect the order of every kind of dependence.
    pub ordered: bool,
    /// Whether each task must be undeferred just when the script says so.
    pub undeferred: bool,
}

/// All that is known about one trace.
#[derive(Debug)]
pub struct Case {
    /// What happened.
    pub replay: Replay,
    /// What `instr graph` says.
    pub report: Report,
    /// The edges by brute force.
    pub edges: TraceEdges,
    /// Pairs that must not overlap.
    pub exclusions: TraceEdges,
    /// The clock.
    pub clock: Clock,
    setting: Setting,
    script_ids: BTreeMap<u32, TraceId>,
}

/// Mistakes found; of each kind the first few are told.
#[derive(Debug, Default)]
pub struct Problems(Vec<String>);

impl Problems {
    const MOST: usize = 3;

    /// Notes a mistake unless `holds`.
    pub fn unless(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push(what());
        }
    }

    /// Notes a mistake unless two values are equal.
    pub fn equal<T: PartialEq + Debug>(&mut self, what: &str, expected: T, actual: T) {
        self.unless(expected == actual, || {
            format!("{what}: expected {expected:?}, got {actual:?}")
        });
    }

    /// # Errors
    ///
    /// When there are any.
    pub fn verdict(self, title: &str) -> Check {
        let count = self.0.len();
        ensure(count == 0, || {
            let mut kinds: BTreeMap<String, (usize, Vec<&str>)> = BTreeMap::new();
            for problem in &self.0 {
                let words = problem.split(' ');
                let kind = words
                    .filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
                    .take(4);
                let (count, told) = kinds.entry(kind.collect()).or_default();
                *count += 1;
                told.extend((told.len() < Self::MOST).then_some(problem.as_str()));
            }
            let kinds = kinds.values();
            let shown =
                kinds.map(|(count, told)| format!("{count} ×\n    {}", told.join("\n    ")));
            let shown: Vec<String> = shown.collect();
            format!("{title}: {count} problems\n  {}", shown.join("\n  "))
        })
    }
}

/// Reads a trace that holds `graphs` and judges it.
///
/// # Errors
///
/// The mistakes, or the first thing that could not be read.
pub fn judge(trace: &Path, graphs: &[Graph], setting: Setting) -> Check<Case> {
    let events = babel::read(trace)?;
    let clock = Clock::of(trace, &events)?;
    let replay = Replay::of(&events, &clock)?;
    let report = report::read(trace)?;
    let script_ids: BTreeMap<u32, TraceId> = replay
        .tasks
        .iter()
        .map(|(&id, seen)| (seen.script, id))
        .collect();
    let mut case = Case {
        edges: TraceEdges::new(),
        exclusions: TraceEdges::new(),
        replay,
        report,
        clock,
        setting,
        script_ids,
    };
    let mut problems = Problems::default();
    case.tasks(graphs, &mut problems);
    for graph in &as_families(graphs) {
        let named = |pairs: &rules::Edges| -> TraceEdges {
            let ids = &case.script_ids;
            let pair = |(from, to)| Some((*ids.get(from)?, *ids.get(to)?));
            pairs
                .iter()
                .filter_map(|(from, to)| pair((from, to)))
                .collect()
        };
        let (edges, exclusions) = (
            named(&rules::edges(graph)),
            named(&rules::exclusions(graph)),
        );
        case.edges.extend(edges);
        case.exclusions.extend(exclusions);
    }
    case.judge_edges(graphs, &mut problems);
    case.judge_order(&mut problems);
    case.judge_times(&mut problems);
    problems.verdict(&trace.display().to_string())?;
    Ok(case)
}

/// The graphs with one change: those outside of parallel regions have the same parent, the initial task, so they are one.
fn as_families(graphs: &[Graph]) -> Vec<Graph> {
    let (serial, parallel): (Vec<Graph>, Vec<Graph>) =
        graphs.iter().cloned().partition(|graph| graph.serial);
    let roots: Vec<Op> = serial
        .into_iter()
        .flat_map(|graph| graph.roots)
        .flatten()
        .collect();
    let joined = Graph {
        number: u32::MAX,
        serial: true,
        roots: vec![roots],
    };
    parallel.into_iter().chain([joined]).collect()
}

/// What a script says about one task.
struct Asked {
    parent: Option<u32>,
    undeferred: bool,
    wait: Option<bool>,
    detach: bool,
}

/// Every task of a graph.
fn asked(graph: &Graph) -> BTreeMap<u32, Asked> {
    let mut tasks = BTreeMap::new();
    for root in &graph.roots {
        collect(root, None, graph.serial, &mut tasks);
    }
    tasks
}

/// `included`: every child is undeferred, since the parent is final or there is no team.
fn collect(body: &[Op], parent: Option<u32>, included: bool, tasks: &mut BTreeMap<u32, Asked>) {
    for op in body {
        match op {
            Op::Task(task) => {
                let asked = Asked {
                    parent,
                    undeferred: included || task.undeferred,
                    wait: None,
                    detach: task.detach,
                };
                tasks.insert(task.id, asked);
                collect(
                    &task.body,
                    Some(task.id),
                    is_included(included, task),
                    tasks,
                );
            }
            Op::TaskwaitDepend { id, nowait, .. } => {
                let asked = Asked {
                    parent,
                    undeferred: false,
                    wait: Some(*nowait),
                    detach: false,
                };
                tasks.insert(*id, asked);
            }
            Op::Taskgroup(inner) => collect(inner, parent, included, tasks),
            Op::Work(_) | Op::Taskwait | Op::Yield => {}
        }
    }
}

/// Whether children of this task are undeferred: `final` goes on to all descendants.
fn is_included(included: bool, task: &Task) -> bool {
    included || task.final_
}

impl Case {
    /// How far a sum over `tasks` tasks may be off, ns.
    #[must_use]
    pub fn tolerance(&self, tasks: u64) -> u64 {
        self.setting.tolerance * (1 + tasks)
    }

    /// Tasks: each once, created by the right one, in the right order, run as asked; and the report has the same ones.
    fn tasks(&self, graphs: &[Graph], problems: &mut Problems) {
        let mut asked_for = 0;
        for graph in graphs {
            for (script, asked) in asked(graph) {
                asked_for += 1;
                let Some(id) = self.script_ids.get(&script) else {
                    problems.unless(false, || format!("task {script} was not created"));
                    continue;
                };
                let seen = &self.replay.tasks[id];
                self.task(*id, seen, &asked, problems);
            }
            graph.families(|_, family| {
                let created = family
                    .iter()
                    .filter_map(|child| self.script_ids.get(&child.id));
                let created: Vec<usize> = created.map(|id| self.replay.tasks[id].number).collect();
                problems.unless(created.is_sorted(), || {
                    format!("graph {}: creation out of order", graph.number)
                });
            });
        }
        problems.equal("tasks in the trace", asked_for, self.replay.tasks.len());
        problems.equal("nodes", asked_for, self.report.nodes.len());
        self.numbers(problems);
    }

    /// The nodes are numbered from 0 in the order of their creation. Two tasks of one nanosecond may have either order.
    fn numbers(&self, problems: &mut Problems) {
        let number = |(id, node): (&TraceId, &Value)| (node["number"].as_u64(), *id);
        let mut numbers: Vec<_> = self.report.nodes.iter().map(number).collect();
        numbers.sort_unstable();
        let all = (0..).map(Some).take(numbers.len());
        problems.unless(numbers.iter().map(|(number, _)| *number).eq(all), || {
            "the numbers of the nodes are not 0, 1, 2, …".into()
        });
        let created = |id: &TraceId| self.replay.tasks.get(id).map(|seen| seen.created);
        for pair in numbers.windows(2) {
            let (Some(first), Some(second)) = (created(&pair[0].1), created(&pair[1].1)) else {
                continue;
            };
            let ordered = first <= second || self.clock.ns(first) <= self.clock.ns(second) + 1;
            let exact = self.setting.tolerance > 0 || first <= second;
            problems.unless(ordered && exact, || {
                format!("node {:?} is numbered before {:?}", pair[0], pair[1])
            });
        }
    }

    fn task(&self, id: TraceId, seen: &Seen, asked: &Asked, problems: &mut Problems) {
        let script_of = |id: &TraceId| self.replay.tasks.get(id).map(|seen| seen.script);
        let name = format!("task {} ({}.{})", seen.script, id.0, id.1);
        let parent = seen.parent.as_ref().and_then(script_of);
        problems.equal(&format!("{name}: parent"), asked.parent, parent);
        problems.equal(&format!("{name}: taskwait"), asked.wait, seen.wait);
        if asked.wait.is_none() {
            let inside = seen.script_inside;
            problems.equal(&format!("{name}: body"), Some(seen.script), inside);
            problems.unless(seen.end.is_some(), || format!("{name} did not end"));
            problems.equal(&format!("{name}: detach"), asked.detach, seen.detach);
            if self.setting.undeferred {
                problems.equal(
                    &format!("{name}: undeferred"),
                    asked.undeferred,
                    seen.undeferred,
                );
            }
        }
        self.node(id, seen, &name, problems);
    }

    /// The report's node has the facts of the task.
    fn node(&self, id: TraceId, seen: &Seen, name: &str, problems: &mut Problems) {
        let Some(node) = self.report.nodes.get(&id) else {
            problems.unless(false, || format!("{name} is no node"));
            return;
        };
        let kind = if seen.wait.is_some() {
            "taskwait"
        } else {
            "task"
        };
        let mut facts = vec![
            ("parent", named(seen.parent)),
            ("kind", Value::from(kind)),
            ("region", named(seen.region)),
            ("cancelled", Value::from(false)),
        ];
        if seen.wait.is_none() {
            facts.push(("undeferred", Value::from(seen.undeferred)));
        }
        for (field, expected) in facts {
            problems.equal(&format!("{name}: node's {field}"), &expected, &node[field]);
        }
    }

    /// The edges are those of the brute force, each once.
    fn judge_edges(&self, graphs: &[Graph], problems: &mut Problems) {
        let told: TraceEdges = self.report.edges.iter().copied().collect();
        problems.equal(
            "edges listed twice",
            0,
            self.report.edges.len() - told.len(),
        );
        let script = |id: &TraceId| {
            self.replay
                .tasks
                .get(id)
                .map_or(u32::MAX, |seen| seen.script)
        };
        let graph_of = |id: u32| {
            let holds = |graph: &&Graph| asked(graph).contains_key(&id);
            graphs.iter().find(holds).map(|graph| graph.number)
        };
        for (what, pairs) in [
            ("missing", self.edges.difference(&told)),
            ("invented", told.difference(&self.edges)),
        ] {
            for (from, to) in pairs {
                let (from, to) = (script(from), script(to));
                problems.unless(false, || {
                    format!("graph {:?}: {what} edge {from} → {to}", graph_of(to))
                });
            }
        }
    }

    /// What ran respected the edges and the exclusions, and the report says so.
    fn judge_order(&self, problems: &mut Problems) {
        if !self.setting.ordered {
            return;
        }
        let script = |id: &TraceId| self.replay.tasks[id].script;
        for (from, to) in &self.edges {
            let (done, begin) = (
                self.replay.complete(*from, &self.edges),
                self.replay.tasks[to].begin,
            );
            let respected = begin.is_none_or(|begin| done.is_some_and(|done| done <= begin));
            problems.unless(respected, || {
                format!(
                    "{} → {}: complete {done:?}, begin {begin:?}",
                    script(from),
                    script(to)
                )
            });
        }
        // A `taskwait depend` is an empty task, which nothing can overlap.
        let body = |id: &TraceId| self.replay.tasks[id].wait.is_none();
        let bodies = self
            .exclusions
            .iter()
            .filter(|(first, second)| body(first) && body(second));
        for (first, second) in bodies {
            let life = |id: &TraceId| (self.replay.tasks[id].begin, self.replay.tasks[id].end);
            if let ((Some(a), Some(b)), (Some(c), Some(d))) = (life(first), life(second)) {
                problems.unless(b <= c || d <= a, || {
                    format!("{} and {} overlap", script(first), script(second))
                });
            }
        }
        for field in ["order_violations", "exclusion_violations"] {
            problems.equal(field, &Value::from(0), &self.report.json[field]);
        }
    }

    /// The times of every node are those of the trace.
    fn judge_times(&self, problems: &mut Problems) {
        for (&id, seen) in &self.replay.tasks {
            let Some(node) = self.report.nodes.get(&id) else {
                continue;
            };
            let ns = |ticks: Option<u64>| ticks.map(|ticks| self.clock.ns(ticks));
            let ready = ns(self.replay.ready(id, &self.edges));
            let created = Some(self.clock.ns(seen.created));
            let waits_not = seen.wait == Some(true);
            let (begin, end) = if waits_not {
                (ready, ready)
            } else {
                (ns(seen.begin), ns(seen.end))
            };
            let complete = ns(self.replay.complete(id, &self.edges));
            let since = |to: Option<u64>, from: Option<u64>| Some(to?.saturating_sub(from?));
            let mut expected = vec![
                ("created_ns", created),
                ("ready_ns", ready),
                ("begin_ns", begin),
                ("end_ns", end),
                ("complete_ns", complete),
                ("dependency_wait_ns", since(ready, created)),
                ("ready_wait_ns", since(begin, ready)),
                ("work_ns", Some(seen.work)),
            ];
            if seen.wait.is_none() {
                expected.push(("duration_ns", Some(seen.duration)));
                expected.push(("thread", seen.thread.map(u64::from)));
            }
            for (field, expected) in expected {
                let actual = node[field].as_u64();
                let near = match (expected, actual) {
                    (Some(expected), Some(actual)) => {
                        expected.abs_diff(actual) <= self.setting.tolerance
                    }
                    (expected, actual) => expected == actual,
                };
                problems.unless(near, || {
                    format!(
                        "task {}: {field} is {}, not {expected:?}",
                        seen.script, node[field]
                    )
                });
            }
        }
    }
}

fn named(id: Option<TraceId>) -> Value {
    id.map_or(Value::Null, |(thread, seq)| {
        Value::from(format!("{thread}.{seq}"))
    })
}
