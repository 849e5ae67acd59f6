//! The time line as data: what the page has beside the columns. `report/src/schema.ts` is generated from these types.

use serde::Serialize;

use super::super::columns::Stored;
use crate::graph::model::Region;

/// The time line of all processes. Times are ns since the session's begin.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct Timeline {
    /// The end of the last process.
    pub(in super::super) end_ns: u64,
    /// The begin, ns since 1970; 0: the traces do not have it.
    pub(in super::super) realtime_ns: u64,
    /// Those of traces; behind them, where no trace has events, those that the kernel saw.
    pub(in super::super) processes: Vec<Process>,
    /// The threads of all processes.
    pub(in super::super) tracks: Vec<Track>,
    /// Threads without a row: there are too many.
    pub(in super::super) tracks_left_out: usize,
    /// Names of states.
    pub(in super::super) states: Vec<&'static str>,
    /// Names of what threads wait for.
    pub(in super::super) waits: Vec<&'static str>,
    /// Bodies of regions and tasks; the first one is none.
    pub(in super::super) codes: Vec<CodeLabel>,
    /// The finest first.
    pub(in super::super) levels: Vec<Level>,
    pub(in super::super) spans: Spans,
    pub(in super::super) lanes: Vec<Lane>,
    /// Lanes that are not here because there are too many.
    pub(in super::super) lanes_left_out: usize,
    /// Series that were 0 all the time: they have no lane.
    pub(in super::super) series_without_values: usize,
    /// Null where it was not recorded.
    pub(in super::super) processors: Option<Processors>,
    /// Why rows by processor are not here though it was recorded.
    pub(in super::super) processors_trouble: Option<String>,
    /// Regions with explicit tasks, the longest first.
    pub(in super::super) graphs: Vec<TaskGraph>,
    pub(in super::super) graphs_left_out: LeftOut,
}

/// Regions with tasks that are not in the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct LeftOut {
    pub(in super::super) regions: u64,
    pub(in super::super) elapsed_ns: u64,
}

/// The task graph of one execution of an outermost parallel region.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct TaskGraph {
    /// A number of `processes`.
    pub(in super::super) process: usize,
    /// Begin and end, ns since the session's begin.
    pub(in super::super) begin_ns: u64,
    pub(in super::super) end_ns: u64,
    /// What `instr graph --format json` says of it, but for the levels.
    pub(in super::super) region: Region,
    /// Parts of the critical path, the largest first; null where it is not known.
    pub(in super::super) path: Option<Vec<PathPart>>,
    /// Levels of a band, and bands.
    pub(in super::super) band_levels: u32,
    pub(in super::super) bands: u32,
    pub(in super::super) cells: Stored,
    /// Null where there are too many for the page.
    pub(in super::super) tasks: Option<Stored>,
    pub(in super::super) edges: Option<Stored>,
}

/// What a function has of a critical path.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct PathPart {
    /// A number of `codes`; 0: outside of explicit tasks.
    pub(in super::super) code: u16,
    pub(in super::super) tasks: u64,
    pub(in super::super) ns: u64,
}

/// A process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct Process {
    pub(in super::super) program: String,
    /// 0: the trace does not have it.
    pub(in super::super) pid: u64,
}

/// A thread.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct Track {
    /// A number of `processes`.
    pub(in super::super) process: usize,
    pub(in super::super) name: String,
    /// Spans of the table of spans.
    pub(in super::super) spans: usize,
    /// First and last event.
    pub(in super::super) begin_ns: u64,
    pub(in super::super) end_ns: u64,
}

/// A body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CodeLabel {
    /// A number of `processes`.
    pub(crate) process: usize,
    pub(crate) label: String,
    /// Whether it is an explicit task's; else it is a region's.
    pub(crate) task: bool,
}

/// A level of the time line.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct Level {
    /// Time of a bin.
    pub(in super::super) width_ns: u64,
    /// Bins of a track.
    pub(in super::super) bins: usize,
    /// What the numbers of the table are multiples of.
    pub(in super::super) unit_ns: u64,
    pub(in super::super) table: Stored,
}

/// The spans that are kept.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct Spans {
    /// Spans of at least this length are all there; 0: all are.
    pub(in super::super) exact_from_ns: u64,
    pub(in super::super) table: Stored,
}

/// Values over time.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct Lane {
    /// A number of `processes`.
    pub(in super::super) process: usize,
    pub(in super::super) name: String,
    pub(in super::super) unit: String,
    /// Whether a value holds until the next one.
    pub(in super::super) step: bool,
    /// Time of an interval.
    pub(in super::super) width_ns: u64,
    /// The smallest and the largest value of all.
    pub(in super::super) least: f64,
    pub(in super::super) most: f64,
    /// When the last value ceases to hold, ns.
    pub(in super::super) end_ns: u64,
    pub(in super::super) table: Stored,
    /// Every value; null where there are too many.
    pub(in super::super) points: Option<Stored>,
}

/// Who ran on which processor.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct Processors {
    /// Whose switches were recorded: `tree`, `system` or `sums`.
    pub(in super::super) recorded: &'static str,
    /// Events that were lost.
    pub(in super::super) lost: u64,
    /// The processors' numbers: they are the rows.
    pub(in super::super) numbers: Vec<u32>,
    /// Slices of each row.
    pub(in super::super) counts: Vec<usize>,
    /// Threads: `code` of a slice is a place here and one; 0: unknown.
    pub(in super::super) runners: Vec<Runner>,
    /// Names of applications, or of programs where there is one application.
    pub(in super::super) groups: Vec<String>,
    /// What a thread did behind a slice: `wait` of a slice is a place here.
    pub(in super::super) then: Vec<&'static str>,
    /// States 0: a thread of what was recorded runs; 1: one of another program.
    pub(in super::super) levels: Vec<Level>,
    pub(in super::super) spans: Spans,
}

/// A thread that ran on a processor.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct Runner {
    pub(in super::super) name: String,
    /// Name of its process.
    pub(in super::super) process: String,
    pub(in super::super) pid: u32,
    pub(in super::super) tid: u32,
    /// A number of `groups`.
    pub(in super::super) group: usize,
    /// A number of `tracks`; null: it is in no trace.
    pub(in super::super) track: Option<usize>,
}

/// How long the executions of a body took, by thread.
#[derive(Debug)]
pub(crate) struct Histogram {
    /// A number of `codes`.
    pub(crate) code: u16,
    /// The shortest duration of each class; a class ends where the next one begins.
    pub(crate) begins_ns: Vec<u64>,
    pub(crate) rows: Vec<Duration>,
}

/// Executions on one thread: of an explicit task without those that ran inside of it, of an implicit task from begin to end.
#[derive(Debug)]
pub(crate) struct Duration {
    /// A number of `tracks`.
    pub(crate) track: usize,
    pub(crate) count: u64,
    pub(crate) total_ns: u64,
    pub(crate) mean_ns: f64,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    /// Of the population.
    pub(crate) stdev_ns: f64,
    /// Mean / maximum: 1 where all took equally long.
    pub(crate) mean_of_max: f64,
    /// Executions of each class.
    pub(crate) classes: Vec<u32>,
}
