//! From task and region records to nodes and numbers, region by region.

use std::collections::BTreeMap;
use std::io;

use hashbrown::HashMap;
use instr_trace::event::task_flags;
use instr_trace::tasks::{
    CriticalPath, Parent, RegionRecord, Segments, TaskKind, TaskRecord, TaskSink, Totals,
};
use instr_trace::{RegionId, TaskId};

use super::model::{Analysis, Function, Node, Region, TaskTimes, kind_name, region_name};
use super::{GraphSink, Places};
use crate::summary::model::Place;

/// Label of what the critical paths have outside of explicit tasks.
const OUTSIDE: &str = "outside of tasks";

/// Takes records and writes nodes when a region is complete. The records of running regions, and four times of each task, are kept.
pub struct Collector<'a, 'n> {
    sink: &'a mut dyn GraphSink,
    places: Places<'n>,
    pending: HashMap<Option<RegionId>, Vec<TaskRecord>>,
    regions: Vec<Region>,
    functions: BTreeMap<(String, u64), Function>,
    totals: Totals,
    times: TaskTimes,
    error: Option<io::Error>,
}

/// Slack and critical path by task.
pub(crate) struct Paths {
    at: HashMap<TaskId, usize>,
    pub(crate) path: CriticalPath,
}

impl Paths {
    pub(crate) fn new(segments: &Segments) -> Self {
        let tasks = segments.tasks().iter().enumerate();
        Self {
            at: tasks.map(|(at, task)| (*task, at)).collect(),
            path: segments.critical_path(),
        }
    }

    /// Slack of a task, and what it contributes to the critical path.
    pub(crate) fn of(&self, task: TaskId) -> (Option<u64>, Option<u64>) {
        match self.at.get(&task) {
            Some(at) => (Some(self.path.slack[*at]), self.path.critical[*at]),
            None => (None, None),
        }
    }
}

impl<'a, 'n> Collector<'a, 'n> {
    /// Writes to `sink`.
    pub fn new(places: Places<'n>, sink: &'a mut dyn GraphSink) -> Self {
        Self {
            sink,
            places,
            pending: HashMap::new(),
            regions: Vec::new(),
            functions: BTreeMap::new(),
            totals: Totals::default(),
            times: TaskTimes::default(),
            error: None,
        }
    }

    /// The first failure to write since the last call.
    ///
    /// # Errors
    ///
    /// That failure.
    pub fn check(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Writes the tasks of no region, and gives the numbers.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn finish(mut self) -> io::Result<Analysis> {
        let mut left: Vec<_> = self.pending.drain().flat_map(|(_, tasks)| tasks).collect();
        left.sort_unstable_by_key(|task| task.number);
        self.nodes(left, None);
        self.check()?;
        Ok(Analysis::new(
            &self.totals,
            self.regions,
            self.functions,
            self.times,
        ))
    }

    fn nodes(&mut self, tasks: Vec<TaskRecord>, paths: Option<&Paths>) {
        for task in tasks {
            let (slack, critical) = paths.map_or((None, None), |paths| paths.of(task.id));
            let place = self.places.task(&task);
            if task.begin.is_some() {
                self.times.slack.extend(slack);
                let function = function(&mut self.functions, place);
                function.tasks += 1;
                function.work_ns += task.work;
                function.critical_tasks += u64::from(critical.is_some());
                function.span_ns += critical.unwrap_or(0);
            }
            let node = node(&task, place, slack, critical.is_some());
            if let Err(error) = self.sink.node(&node) {
                self.error.get_or_insert(error);
            }
        }
    }
}

fn function<'f>(
    functions: &'f mut BTreeMap<(String, u64), Function>,
    place: &Place,
) -> &'f mut Function {
    let key = (place.label.clone(), place.address.unwrap_or(0));
    functions.entry(key).or_insert_with(|| Function {
        function: place.function.clone(),
        file: place.file.clone(),
        line: place.line,
        label: place.label.clone(),
        ..Function::default()
    })
}

fn node(task: &TaskRecord, place: &Place, slack: Option<u64>, critical: bool) -> Node {
    let parent = match task.parent {
        Some(Parent::Explicit(parent)) => Some(parent),
        _ => None,
    };
    Node {
        id: task.id,
        number: task.number,
        kind: kind_name(task.kind),
        function: place.function.clone(),
        file: place.file.clone(),
        line: place.line,
        label: place.label.clone(),
        parent,
        region: task.region.map(region_name),
        thread: task.thread,
        created_ns: task.created,
        ready_ns: task.ready,
        begin_ns: task.begin,
        end_ns: task.end,
        complete_ns: task.complete,
        duration_ns: task.begin.and(task.end).map(|_| task.duration),
        work_ns: task.work,
        dependency_wait_ns: task.dependency_wait(),
        ready_wait_ns: task.ready_wait(),
        level: task.level,
        slack_ns: slack,
        critical,
        undeferred: task.undeferred,
        cancelled: task.cancelled,
    }
}

impl TaskSink for Collector<'_, '_> {
    fn edge(&mut self, from: TaskId, to: TaskId) {
        self.totals.edge(from, to);
        if let Err(error) = self.sink.edge(from, to) {
            self.error.get_or_insert(error);
        }
    }

    fn task(&mut self, task: &TaskRecord) {
        self.totals.task(task);
        if task.begin.is_some() {
            self.times.ready_wait.extend(task.ready_wait());
            self.times.dependency_wait.extend(task.dependency_wait());
            if !without_body(task) {
                self.times.work.push(task.work);
            }
        }
        let pending = self.pending.entry(task.region).or_default();
        pending.push(task.clone());
    }

    fn region(&mut self, region: RegionRecord) {
        self.totals.add(&region);
        let mut tasks = self.pending.remove(&region.id).unwrap_or_default();
        tasks.sort_unstable_by_key(|task| task.number);
        let paths = region
            .segments
            .as_ref()
            .filter(|segments| !segments.is_full());
        let paths = paths.map(Paths::new);
        self.nodes(tasks, paths.as_ref());
        if let Some(paths) = &paths {
            let outside = Place {
                label: OUTSIDE.to_owned(),
                ..Place::default()
            };
            function(&mut self.functions, &outside).span_ns += paths.path.outside_ns;
        }
        let place = self
            .places
            .region(region.function, region.call_site)
            .clone();
        let region = Region::new(&region, place);
        if let Err(error) = self.sink.region(&region) {
            self.error.get_or_insert(error);
        }
        self.regions.push(region);
    }

    fn violations(&mut self, edges: u64, overlaps: u64) {
        self.totals.violations(edges, overlaps);
    }
}

/// What stands for the body of a `taskwait` with dependences.
pub(super) fn without_body(task: &TaskRecord) -> bool {
    task.kind == TaskKind::Taskwait
}

/// Whether the function of a task is a place in the creating function.
pub(super) fn call_site(task: &TaskRecord) -> bool {
    task.flags & task_flags::CALL_SITE != 0
}
