//! Ticks to nanoseconds, from the clock pairs in the trace alone.

use std::path::Path;

use super::babel::Event;
use crate::outcome::{Check, Stop};

/// A straight line through two pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    start: u64,
    ns_per_tick: f64,
}

impl Clock {
    /// The clock of a trace: the line through its first and last `clock_sync`; one tick is one nanosecond when there are not two.
    ///
    /// # Errors
    ///
    /// When the metadata do not tell the start.
    pub fn of(trace: &Path, events: &[Event]) -> Check<Self> {
        let metadata = std::fs::read_to_string(trace.join("metadata"))?;
        let start = metadata
            .split_once("start_ticks = ")
            .and_then(|(_, rest)| rest.split(';').next()?.trim().parse().ok())
            .ok_or_else(|| Stop::Fail("metadata: no start_ticks".into()))?;
        let mut pairs = Vec::new();
        for sync in events.iter().filter(|event| event.name == "clock_sync") {
            pairs.push((sync.get("ticks")?, sync.get("monotonic_ns")?));
        }
        pairs.sort_unstable();
        let slope = |first: (u64, u64), last: (u64, u64)| {
            (last.1 - first.1) as f64 / (last.0 - first.0) as f64
        };
        let ns_per_tick = match (pairs.first(), pairs.last()) {
            (Some(&first), Some(&last)) if last.0 > first.0 => slope(first, last),
            _ => 1.0,
        };
        Ok(Self { start, ns_per_tick })
    }

    /// Nanoseconds since the trace's start.
    #[must_use]
    pub fn ns(&self, ticks: u64) -> u64 {
        (ticks.saturating_sub(self.start) as f64 * self.ns_per_tick).round() as u64
    }
}
