//! Series that `instr run --config` read beside the time line, to rows of `sensors` of the process in whose trace they are.

use instr_trace::kernel::series::{Events, Nature, Unit, What};
use instr_trace::{Error, Session};

use crate::batch::Gathered;
use crate::tables::sensors;
use crate::texts::Text;

use super::words::int;

/// A series: what columns say of it, and its last value.
struct Known {
    name: Text,
    unit: Text,
    kind: Text,
    is_total: bool,
    last: Option<(i64, u64)>,
}

pub(super) fn add(
    session: &Session,
    number: usize,
    gathered: &mut Gathered<'_>,
) -> Result<(), Error> {
    let trace = &session.traces()[number];
    if !gathered.wants::<sensors::Row>() {
        return Ok(());
    }
    let Some(mut events) = Events::of_trace(trace.dir())? else {
        return Ok(());
    };
    let start = int(trace.metadata().start_monotonic_ns);
    let shift = super::shift(session, number).wrapping_sub(start);
    let source = gathered.texts.number("series");
    let mut series = Vec::new();
    while let Some(event) = events.next()? {
        let (of, value) = match event.what {
            What::Series(_, of) => {
                let texts = &mut gathered.texts;
                let unit = match of.unit {
                    Unit::Count => "",
                    other => other.sign(),
                };
                let is_total = of.nature == Nature::Total;
                series.push(Known {
                    name: texts.number(&of.described(false)),
                    unit: texts.number(unit),
                    kind: texts.number(if is_total { "total" } else { "level" }),
                    is_total,
                    last: None,
                });
                continue;
            }
            What::Value(of, value)
            | What::Estimate {
                series: of, value, ..
            } => (of, value),
            What::Refused(..) | What::Readings { .. } => continue,
        };
        let Some(known) = series.get_mut(of as usize) else {
            continue;
        };
        let time_ns = int(event.time).wrapping_add(shift);
        let before = known.last.replace((time_ns, value));
        let before = before.filter(|_| known.is_total);
        let row = sensors::Row {
            process: number as i32,
            thread: None,
            time_ns,
            source,
            sensor: known.name,
            unit: known.unit,
            kind: known.kind,
            value: Some(value as f64),
            since_ns: before.map(|(time, _)| time),
            grown: before.map(|(_, last)| value.saturating_sub(last) as f64),
        };
        gathered.add(row);
    }
    Ok(())
}
