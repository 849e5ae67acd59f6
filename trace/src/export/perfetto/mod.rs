//! Perfetto output: one file of packets for `ui.perfetto.dev` and `trace_processor`. `docs/export.md` has what is in it.
//!
//! Times are those of `CLOCK_MONOTONIC`, by the clock snapshot at the file's begin. Slices of a track nest, as Perfetto asks: what need not nest with
//! OpenMP's constructs (held locks, taskgroups, regions of the program's own, calls) is on tracks of its own below the thread's. Packets of a
//! process come in order of time but for states, which are written when they end, and for dependences on tasks that have ended. Series come last.

mod flows;
mod packets;
mod proto;
mod series;
mod sink;

use std::io::Write;

use crate::error::Error;
use crate::model::replay;
use crate::names::{Names, NoNames};
use crate::session::Session;
use crate::trace::Trace;

use super::Stats;
use packets::Packets;
use sink::Process;

/// Writes one sequence of packets for each process.
pub(super) fn write<'a>(
    session: &'a Session,
    names: &'a [Box<dyn Names + 'a>],
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Stats, Error> {
    let traces = session.traces();
    let total = traces.iter().map(Trace::end_time).sum();
    let mut done = 0;
    let mut packets = Packets::new(out, session.begin(), session.realtime());
    for (number, trace) in traces.iter().enumerate() {
        let names = names.get(number);
        let names = names.map_or(&NoNames as &dyn Names, |names| names.as_ref());
        let place = |time| session.begin().saturating_add(session.time(number, time));
        let mut at = |time: u64| progress(time.saturating_add(done).min(total), total);
        let mut process = Process::new(number, trace, names, &place, &mut packets, &mut at);
        replay(trace, &mut process)?;
        done = done.saturating_add(trace.end_time());
        if let Some(error) = packets.failed.take() {
            return Err(Error::Output(error));
        }
    }
    series::write(session, &mut packets)?;
    packets.flush();
    match packets.failed.take() {
        Some(error) => Err(Error::Output(error)),
        None => Ok(Stats {
            events: packets.events,
            flows: packets.flows,
        }),
    }
}
