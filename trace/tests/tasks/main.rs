//! Task states, paths and the accounts of regions, against a direct interpretation of small programs.
//!
//! A program is a tree of tasks with steps. [`run`] executes it on simulated threads and writes the trace; [`model`] computes edges, work,
//! levels and paths from the program alone.

mod closed_forms;
mod model;
mod random;
mod run;
mod states;

use instr_trace::model::{Interpreter, Sink, relayed};
use instr_trace::tasks::{RegionRecord, TaskRecord, TaskSink, TaskStates, Totals, follows};
use instr_trace::{TaskId, Trace};

/// Everything a sink is given.
#[derive(Default)]
struct Collected {
    tasks: Vec<TaskRecord>,
    edges: Vec<(TaskId, TaskId)>,
    regions: Vec<RegionRecord>,
    totals: Totals,
    /// When tasks became ready (1), and when they no longer were (-1).
    ready: Vec<(u64, i64)>,
}

impl TaskSink for Collected {
    fn edge(&mut self, from: TaskId, to: TaskId) {
        self.edges.push((from, to));
        self.totals.edge(from, to);
    }

    fn ready(&mut self, time: u64, more: bool) {
        let last = self.ready.last().map_or(0, |last| last.0);
        assert!(last <= time, "times do not go back");
        self.ready.push((time, if more { 1 } else { -1 }));
    }

    fn task(&mut self, task: &TaskRecord) {
        self.tasks.push(task.clone());
        self.totals.task(task);
    }

    fn region(&mut self, region: RegionRecord) {
        self.totals.add(&region);
        self.regions.push(region);
    }

    fn violations(&mut self, edges: u64, overlaps: u64) {
        self.totals.violations(edges, overlaps);
    }
}

/// What the tasks of a trace do; it is the same when they get only the calls that they follow.
fn collect(trace: &Trace) -> Collected {
    let states = || TaskStates::new(trace.threads(), Collected::default());
    let collected = collect_by(trace, states());
    let mut others = states();
    relayed(&mut others, false, follows, |sink| feed(trace, sink));
    let others = sorted(others);
    assert_eq!(others.tasks, collected.tasks);
    assert_eq!(others.edges, collected.edges);
    assert_eq!(others.totals, collected.totals);
    collected
}

fn collect_by(trace: &Trace, mut states: TaskStates<Collected>) -> Collected {
    feed(trace, &mut states);
    sorted(states)
}

fn feed(trace: &Trace, sink: &mut impl Sink) {
    let mut model = Interpreter::new(trace.threads());
    let mut merge = trace.merge();
    while let Some(event) = merge.next().unwrap() {
        let position = trace.position(event.thread).unwrap();
        model.event(position, &event, sink);
    }
    model.finish(sink);
}

fn sorted(states: TaskStates<Collected>) -> Collected {
    let mut collected = states.finish();
    collected.tasks.sort_by_key(|task| task.number);
    collected
}
