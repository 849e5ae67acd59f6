//! All processes of a session, one after the other, with their progress.

use instr_trace::Trace;

use crate::error::Error;
use crate::format::{Input, Progress};

/// Spans and samples between two calls of the progress function.
const STEP: u64 = 1 << 16;

/// Tells how far the trace of a process is.
pub(crate) struct Steps<'p> {
    count: u64,
    at: &'p mut dyn FnMut(u64),
}

impl Steps<'_> {
    /// Something has been taken of this time of the process.
    #[inline]
    pub(crate) fn step(&mut self, time: u64) {
        self.count += 1;
        if self.count.is_multiple_of(STEP) {
            (self.at)(time);
        }
    }
}

/// Calls `each` with the position of every process and its trace.
pub(crate) fn processes(
    input: &Input<'_>,
    progress: &mut Progress<'_>,
    mut each: impl FnMut(usize, &Trace, Steps<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let traces = input.traces();
    let total = traces
        .iter()
        .map(Trace::end_time)
        .fold(0, u64::saturating_add);
    let mut done: u64 = 0;
    for (number, trace) in traces.iter().enumerate() {
        let mut at = |time: u64| progress(time.saturating_add(done).min(total), total);
        let steps = Steps {
            count: 0,
            at: &mut at,
        };
        each(number, trace, steps)?;
        done = done.saturating_add(trace.end_time());
    }
    Ok(())
}
