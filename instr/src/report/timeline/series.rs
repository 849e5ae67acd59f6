//! What `instr run --config` read beside the time line, as lanes: levels, and the growth of totals in a second.

use instr_analysis::series::{Shown, each};
use instr_trace::kernel::series::{Definition, Scope, Unit};
use instr_trace::{Error, Session};

use super::lanes::{Lanes, Shape};

/// Adds the series of all traces, and gives how many were 0 all the time: they have no lane.
///
/// # Errors
///
/// Streams that cannot be read.
pub(super) fn add(session: &Session, lanes: &mut Lanes, end: u64) -> Result<usize, Error> {
    let mut without_values = 0;
    for (process, trace) in session.traces().iter().enumerate() {
        let mut numbers: Vec<Option<usize>> = Vec::new();
        let (mut opened, mut ends) = (Vec::new(), Vec::new());
        let start = trace.metadata().start_monotonic_ns;
        let place = |time: u64| session.time(process, time.saturating_sub(start)).min(end);
        each(trace.dir(), &mut |series, definition, value| {
            if numbers.len() <= series {
                numbers.resize(series + 1, None);
                opened.resize(series + 1, false);
                ends.resize(series + 1, 0);
            }
            if !std::mem::replace(&mut opened[series], true) {
                let unit = unit(definition, value.growth);
                numbers[series] = lanes.open(process, &name(definition), unit, Shape::Step);
            }
            if let Some(lane) = lanes.get(numbers[series]) {
                lane.set(place(value.from), scaled(definition, value));
                ends[series] = place(value.read);
            }
        })?;
        let some = numbers.iter().flatten().copied().min();
        // Nothing is known behind the last reading.
        for (lane, end) in numbers.into_iter().zip(ends) {
            if let Some(lane) = lanes.get(lane) {
                lane.finish(end);
            }
        }
        let Some(first) = some else { continue };
        let before = lanes.all.len();
        let mut number = 0;
        lanes.all.retain(|lane| {
            number += 1;
            number <= first || lane.range() != (0.0, 0.0)
        });
        without_values += before - lanes.all.len();
    }
    Ok(without_values)
}

/// As `instr summary --series` has it: what is measured, and of what.
fn name(definition: &Definition) -> String {
    let name = &definition.name;
    match definition.scope {
        Scope::Machine | Scope::Tree => format!("{}: {name}", definition.module.word()),
        Scope::Process => format!("{name} ({})", definition.pid),
        Scope::Node | Scope::Processor | Scope::Thread => {
            format!("{name}, {} {}", definition.scope.word(), definition.number)
        }
    }
}

pub(crate) fn unit(definition: &Definition, growth: bool) -> &'static str {
    match (definition.unit, growth) {
        (Unit::Count, false) => "",
        (Unit::Count, true) => "/s",
        (Unit::Ns, false) => "ns",
        (Unit::Ns, true) => "s/s",
        (Unit::Bytes, false) => "B",
        (Unit::Bytes, true) => "B/s",
        (Unit::Microjoules, false) => "uJ",
        (Unit::Microjoules, true) => "W",
        (Unit::Hertz, _) => "Hz",
        (Unit::Ppm, _) => "%",
    }
}

pub(crate) fn scaled(definition: &Definition, value: Shown) -> f64 {
    match (definition.unit, value.growth) {
        (Unit::Ns, true) => value.value / 1e9,
        (Unit::Microjoules, true) => value.value / 1e6,
        (Unit::Ppm, _) => value.value / 1e4,
        _ => value.value,
    }
}
