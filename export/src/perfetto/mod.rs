//! Perfetto output: one file of packets for `ui.perfetto.dev` and `trace_processor`. `docs/export.md` has what is in it.
//!
//! Times are those of `CLOCK_MONOTONIC`, by the clock snapshot at the file's begin. Packets of a process come in order of time but for states,
//! which are written when they end, and for dependences on tasks that have ended. Those of processors come last.

mod ftrace;
mod packets;
mod processors;
mod proto;
mod track_event;

use std::io::Write;

use crate::error::Error;
use crate::format::{Input, Progress, Stats};
use crate::slices::{self, SliceWriter as _};

use packets::Packets;

/// Writes one sequence of packets for each process.
pub(crate) fn write(
    input: &Input<'_>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
) -> Result<Stats, Error> {
    let session = input.session();
    let mut packets = Packets::new(out, session.begin(), session.realtime());
    // What threads recorded of themselves is of one process; those of several would have to be put in order.
    packets.own_processors = match session.traces() {
        [trace] => !processors::has_switches(trace),
        _ => false,
    };
    slices::write(input, &mut packets, progress)?;
    packets.end_processors();
    packets.of_no_process();
    let damaged_streams = processors::write(session, &mut packets)?;
    packets.flush();
    match packets.failure() {
        Some(error) => Err(Error::Output(error)),
        None => Ok(Stats {
            events: packets.events,
            flows: packets.flows,
            damaged_streams,
            ..Stats::default()
        }),
    }
}
