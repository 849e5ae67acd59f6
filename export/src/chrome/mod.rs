//! Chrome's JSON of trace events, for `chrome://tracing`, ui.perfetto.dev, Firefox' profiler and whatever else reads it. `docs/export.md` has what is in
//! it.
//!
//! The format has tracks of threads alone, so that a track below a thread is a thread with a number that the system has not given. Times are
//! microseconds there: they are written with three decimals, from whole nanoseconds, so that nothing is rounded.

mod events;

use std::io::Write;

use crate::error::Error;
use crate::format::{Input, Progress, Stats};
use crate::slices::{self, SliceWriter as _};

use events::Events;

/// Writes one array of events, and what the times are.
pub(crate) fn write(
    input: &Input<'_>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
) -> Result<Stats, Error> {
    let session = input.session();
    let mut events = Events::new(out, session.begin());
    slices::write(input, &mut events, progress)?;
    let stats = events.finish(session.realtime());
    match events.failure() {
        Some(error) => Err(Error::Output(error)),
        None => Ok(stats),
    }
}
