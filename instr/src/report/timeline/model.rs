//! The time line as data: what the page has beside the columns. `report/src/schema.ts` is generated from these types.

use serde::Serialize;

use super::super::columns::Stored;

/// The time line of all processes. Times are ns since the session's begin.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(in super::super) struct Timeline {
    /// The end of the last process.
    pub(in super::super) end_ns: u64,
    /// The begin, ns since 1970; 0: the traces do not have it.
    pub(in super::super) realtime_ns: u64,
    pub(in super::super) processes: Vec<Process>,
    /// The threads of all processes.
    pub(in super::super) tracks: Vec<Track>,
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
pub(in super::super) struct CodeLabel {
    /// A number of `processes`.
    pub(in super::super) process: usize,
    pub(in super::super) label: String,
    /// Whether it is an explicit task's; else it is a region's.
    pub(in super::super) task: bool,
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
    pub(in super::super) table: Stored,
}

/// How long the executions of a body took, by thread.
#[derive(Debug)]
pub(in super::super) struct Histogram {
    /// A number of `codes`.
    pub(in super::super) code: u16,
    /// The shortest duration of each class; a class ends where the next one begins.
    pub(in super::super) begins_ns: Vec<u64>,
    pub(in super::super) rows: Vec<Duration>,
}

/// Executions on one thread: of an explicit task without those that ran inside of it, of an implicit task from begin to end.
#[derive(Debug)]
pub(in super::super) struct Duration {
    /// A number of `tracks`.
    pub(in super::super) track: usize,
    pub(in super::super) count: u64,
    pub(in super::super) total_ns: u64,
    pub(in super::super) mean_ns: f64,
    pub(in super::super) min_ns: u64,
    pub(in super::super) max_ns: u64,
    /// Of the population.
    pub(in super::super) stdev_ns: f64,
    /// Mean / maximum: 1 where all took equally long.
    pub(in super::super) mean_of_max: f64,
    /// Executions of each class.
    pub(in super::super) classes: Vec<u32>,
}
