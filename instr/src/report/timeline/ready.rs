//! Tasks that are ready and have not begun, as a lane.

use instr_trace::TaskId;
use instr_trace::tasks::{RegionRecord, TaskRecord, TaskSink};

use super::lanes::{Lane, Shape};
use super::task_graph::TaskGraphs;

/// Takes tasks for their graphs, and counts those that are ready. It may be on another processor than what makes the other lanes.
pub(super) struct Ready<'p> {
    pub(super) graphs: TaskGraphs,
    /// None where no task was ready.
    pub(super) lane: Option<Lane>,
    process: usize,
    /// The end of the session.
    end: u64,
    /// A time of the process as one of the session.
    place: &'p (dyn Fn(u64) -> u64 + Sync),
}

impl<'p> Ready<'p> {
    pub(super) fn new(process: usize, end: u64, place: &'p (dyn Fn(u64) -> u64 + Sync)) -> Self {
        Self {
            graphs: TaskGraphs::default(),
            lane: None,
            process,
            end,
            place,
        }
    }
}

impl TaskSink for Ready<'_> {
    fn edge(&mut self, from: TaskId, to: TaskId) {
        self.graphs.edge(from, to);
    }

    fn ready(&mut self, time: u64, more: bool) {
        let (process, end) = (self.process, self.end);
        let open = || Lane::new(process, "tasks ready", "", Shape::Step, (0, end));
        let lane = self.lane.get_or_insert_with(open);
        lane.add((self.place)(time), if more { 1.0 } else { -1.0 });
    }

    fn task(&mut self, task: &TaskRecord) {
        self.graphs.task(task);
    }

    fn region(&mut self, region: RegionRecord) {
        self.graphs.region(region);
    }
}
