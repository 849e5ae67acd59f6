//! Series that `instr run --config` read beside the time line, as counters: of their process where the trace has it, else of the run's first one.

use std::collections::HashMap;

use instr_trace::Session;
use instr_trace::kernel::series::{Definition, Events, Scope, Unit, What};

use super::check;
use super::writer::{Number, SliceWriter};
use crate::error::Error;

/// Writes the series of all traces, levels and totals as they were read. `tracks` are those of the processes.
pub(super) fn write<W: SliceWriter>(
    session: &Session,
    tracks: &[u64],
    writer: &mut W,
) -> Result<(), Error> {
    let traces = session.traces();
    // A number of a process is one of its run: on another host, or later, it is another process's.
    let mut processes = HashMap::new();
    for (number, (trace, track)) in traces.iter().zip(tracks).enumerate() {
        let pid = u32::try_from(trace.metadata().pid).unwrap_or(0);
        let key = (session.root(number), pid);
        processes.entry(key).or_insert(*track);
    }
    for (number, trace) in traces.iter().enumerate() {
        let Some(mut events) = Events::of_trace(trace.dir())? else {
            continue;
        };
        let first = tracks.get(number).copied().unwrap_or(0);
        let start = trace.metadata().start_monotonic_ns;
        let shift = i128::from(session.offset(number)) - i128::from(start);
        let run = session.root(number);
        let mut counters = Vec::new();
        while let Some(event) = events.next()? {
            let (series, value) = match event.what {
                What::Series(_, of) => {
                    counters.push(open(&of, (run, first), &processes, writer));
                    continue;
                }
                What::Value(series, value) | What::Estimate { series, value, .. } => {
                    (series, value)
                }
                What::Refused(..) | What::Readings { .. } => continue,
            };
            let Some(counter) = counters.get(series as usize) else {
                continue;
            };
            let time = u64::try_from(i128::from(event.time) + shift).unwrap_or(0);
            let value = Number::Whole(i64::try_from(value).unwrap_or(i64::MAX));
            writer.value(time, *counter, value);
        }
        check(writer)?;
    }
    Ok(())
}

/// Its track: that of its process, or of the first one of its run.
fn open<W: SliceWriter>(
    of: &Definition,
    (run, first): (usize, u64),
    processes: &HashMap<(usize, u32), u64>,
    writer: &mut W,
) -> u64 {
    let own = match of.scope {
        Scope::Process => processes.get(&(run, of.pid)).copied(),
        _ => None,
    };
    let unit = match of.unit {
        Unit::Count => "",
        Unit::Bytes => "bytes",
        other => other.sign(),
    };
    writer.counter(own.unwrap_or(first), &of.described(own.is_some()), unit)
}
