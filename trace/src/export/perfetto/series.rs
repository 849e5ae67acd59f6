//! Series that `instr run --config` read beside the time line, as counters: of their process where the trace has it, else of the run's first one.

use std::collections::HashMap;

use crate::error::Error;
use crate::kernel::series::{Definition, Events, Scope, Unit, What};
use crate::session::Session;

use super::packets::Packets;
use super::proto::{COUNTER, TrackEvent};

/// Writes the series of all traces, levels and totals as they were read.
pub(super) fn write(session: &Session, packets: &mut Packets<'_>) -> Result<(), Error> {
    let traces = session.traces();
    let mut processes = HashMap::new();
    for (trace, track) in traces.iter().zip(&packets.processes) {
        let pid = u32::try_from(trace.metadata().pid).unwrap_or(0);
        processes.entry(pid).or_insert(*track);
    }
    for (number, trace) in traces.iter().enumerate() {
        let Some(mut events) = Events::of_trace(trace.dir())? else {
            continue;
        };
        let first = packets.processes.get(number).copied().unwrap_or(0);
        let start = trace.metadata().start_monotonic_ns;
        let mut tracks = Vec::new();
        while let Some(event) = events.next()? {
            let (series, value) = match event.what {
                What::Series(_, of) => {
                    tracks.push(open(&of, first, &processes, packets));
                    continue;
                }
                What::Value(series, value) | What::Estimate { series, value, .. } => {
                    (series, value)
                }
                What::Refused(..) | What::Readings { .. } => continue,
            };
            let Some(track) = tracks.get(series as usize) else {
                continue;
            };
            let time = session.time(number, event.time.saturating_sub(start));
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            let event = TrackEvent {
                r#type: Some(COUNTER),
                track_uuid: Some(*track),
                counter_value: Some(value),
                ..TrackEvent::default()
            };
            packets.event(session.begin().saturating_add(time), event);
        }
        if let Some(error) = packets.failed.take() {
            return Err(Error::Output(error));
        }
    }
    Ok(())
}

/// Its track.
fn open(
    of: &Definition,
    first: u64,
    processes: &HashMap<u32, u64>,
    packets: &mut Packets<'_>,
) -> u64 {
    let own = match of.scope {
        Scope::Process => processes.get(&of.pid).copied(),
        _ => None,
    };
    let unit = match of.unit {
        Unit::Count => "",
        Unit::Bytes => "bytes",
        other => other.sign(),
    };
    packets.counter(own.unwrap_or(first), &of.described(own.is_some()), unit)
}
