//! What the parts of a run found.

use crate::table::Row;
use crate::{
    constructs, installed, memory, programs, sampling, sensors, series, switches, symbolize,
};

/// All results of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Rows of `table.md`.
    pub(crate) rows: Vec<Row>,
    /// One event against the least that a tracer can do.
    pub(crate) event: Option<EventCost>,
    /// Whole programs.
    pub(crate) programs: Vec<programs::Figures>,
    /// Installed programs, as they are.
    pub(crate) installed: Vec<installed::Figures>,
    /// Single constructs.
    pub(crate) constructs: Vec<constructs::Figures>,
    /// Readings of sensors and counters.
    pub(crate) sensors: Vec<sensors::Cost>,
    /// Readings of modules of `instr run --config`.
    pub(crate) series: Vec<series::Cost>,
    /// Context switches.
    pub(crate) switches: Vec<switches::Cost>,
    /// Pairs of `malloc` and `free`.
    pub(crate) memory: Vec<memory::Cost>,
    /// Samples.
    pub(crate) sampling: Vec<sampling::Cost>,
    /// Addresses to names.
    pub(crate) symbolize: Option<symbolize::Figures>,
}

/// Cost of a user event that is written to a file, ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventCost {
    /// Reading the clock and storing 16 bytes.
    pub(crate) floor: f64,
    /// The event.
    pub(crate) event: f64,
}
