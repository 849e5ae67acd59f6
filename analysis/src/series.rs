//! Series that `instr run` read beside the time line: the least, mean and greatest of each, and its total.

use std::path::Path;

use instr_trace::Error;
use instr_trace::kernel::series::{Definition, Events, Module, Nature, What};
use serde::Serialize;

/// All series of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SeriesSection {
    /// Modules that were read, in the order of their numbers.
    pub modules: Vec<ModuleReadings>,
    /// What modules did not have.
    pub refused: Vec<Refused>,
    /// Each series, in the order in which they began.
    pub series: Vec<Series>,
    /// Whether the stream is damaged or cut: what is behind the damage is missing.
    pub damaged: bool,
}

/// How a module was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleReadings {
    /// Its name.
    pub module: &'static str,
    /// What lay between two readings, ns.
    pub period_ns: u64,
    /// How many there were.
    pub readings: u64,
    /// Readings that were left out because those before took too long.
    pub late: u64,
    /// What a reading took, ns.
    pub ns_per_reading: u64,
}

/// Something that a module did not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The module's name.
    pub module: &'static str,
    /// What, and why.
    pub why: String,
}

/// A series in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The name of what read it.
    pub module: &'static str,
    /// What is measured.
    pub name: String,
    /// `machine`, `node`, `processor`, `tree` (the program and all that it started), `process` or `thread`.
    pub scope: &'static str,
    /// The process; null where it is of none.
    pub pid: Option<u32>,
    /// Number of the node, processor or thread; null elsewhere.
    pub number: Option<u32>,
    /// `-`: a number; `ns`, `bytes`, `uJ`, `Hz`, `ppm`.
    pub unit: &'static str,
    /// Values that were read.
    pub values: u64,
    /// The least value; of a total its growth in a second between two readings. Null where there is none.
    pub min: Option<f64>,
    /// The mean over time, of a total as growth in a second.
    pub mean: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
    /// The last value of a total; null for levels.
    pub total: Option<u64>,
    /// Whether values were not counted all the time, but follow from what was.
    pub estimated: bool,
}

/// What a total grew by in a second from one reading to the next; `None`: they lie too close together.
fn growth((before, old): (u64, u64), (time, value): (u64, u64)) -> Option<f64> {
    let ns = time.saturating_sub(before);
    (ns >= LEAST_NS).then(|| value.saturating_sub(old) as f64 * 1e9 / ns as f64)
}

/// A value of a series as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// From when on it holds, until the next one: ns by the monotonic clock.
    pub from: u64,
    /// When it was read.
    pub read: u64,
    /// A level, or what a total grew by in a second.
    pub value: f64,
    /// It is growth.
    pub growth: bool,
}

/// Calls `each` with the number of a series, what it is, and a value: levels from their reading on, growth from the reading before.
///
/// # Errors
///
/// A stream that cannot be read.
pub fn each(dir: &Path, each: &mut dyn FnMut(usize, &Definition, Shown)) -> Result<(), Error> {
    let Some(mut events) = Events::of_trace(dir)? else {
        return Ok(());
    };
    let mut known: Vec<(Definition, Option<(u64, u64)>)> = Vec::new();
    while let Some(event) = events.next()? {
        let (series, value) = match event.what {
            What::Series(_, definition) => {
                known.push((definition, None));
                continue;
            }
            What::Value(series, value) | What::Estimate { series, value, .. } => (series, value),
            What::Refused(..) | What::Readings { .. } => continue,
        };
        let at = usize::try_from(series).unwrap_or(usize::MAX);
        let Some((definition, last)) = known.get_mut(at) else {
            continue;
        };
        let now = (event.time, value);
        if definition.nature == Nature::Level {
            let shown = Shown {
                from: event.time,
                read: event.time,
                value: value as f64,
                growth: false,
            };
            each(at, definition, shown);
            continue;
        }
        let Some(before) = *last else {
            *last = Some(now);
            continue;
        };
        if let Some(value) = growth(before, now) {
            let shown = Shown {
                from: before.0,
                read: event.time,
                value,
                growth: true,
            };
            each(at, definition, shown);
            *last = Some(now);
        }
    }
    Ok(())
}

/// A series while it is read.
#[derive(Debug)]
struct Open {
    definition: Definition,
    values: u64,
    first: Option<(u64, u64)>,
    last: (u64, u64),
    min: f64,
    max: f64,
    /// Of values times ns.
    area: f64,
    estimated: bool,
}

/// Readings of totals that lie closer together say nothing of growth, ns.
const LEAST_NS: u64 = 500_000;

impl Open {
    fn new(definition: Definition) -> Self {
        Self {
            definition,
            values: 0,
            first: None,
            last: (0, 0),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            area: 0.0,
            estimated: false,
        }
    }

    fn add(&mut self, time: u64, value: u64) {
        self.values += 1;
        let level = self.definition.nature == Nature::Level;
        let extremes = |own: &mut Self, value: f64| {
            own.min = own.min.min(value);
            own.max = own.max.max(value);
        };
        if level {
            extremes(self, value as f64);
        }
        if self.first.is_none() {
            self.first = Some((time, value));
            self.last = (time, value);
            return;
        }
        let (before, old) = self.last;
        let ns = time.saturating_sub(before);
        if level {
            // A level holds until the next one.
            self.area += old as f64 * ns as f64;
        } else if let Some(growth) = growth(self.last, (time, value)) {
            extremes(self, growth);
        } else if value == old {
            return;
        }
        self.last = (time, value);
    }

    fn finish(self) -> Series {
        let of = self.definition;
        let level = of.nature == Nature::Level;
        let first = self.first.unwrap_or_default();
        let ns = self.last.0.saturating_sub(first.0) as f64;
        let mean = match level {
            true if ns > 0.0 => Some(self.area / ns),
            true => Some(self.last.1 as f64),
            false if ns > 0.0 => Some(self.last.1.saturating_sub(first.1) as f64 * 1e9 / ns),
            false => None,
        };
        let has_number = !matches!(of.scope.word(), "machine" | "tree" | "process");
        Series {
            module: of.module.word(),
            name: of.name,
            scope: of.scope.word(),
            pid: Some(of.pid).filter(|pid| *pid != 0),
            number: Some(of.number).filter(|_| has_number),
            unit: of.unit.sign(),
            values: self.values,
            min: Some(self.min).filter(|min| min.is_finite()),
            mean: mean.filter(|_| self.values > 0),
            max: Some(self.max).filter(|max| max.is_finite()),
            total: (!level && self.values > 0).then_some(self.last.1),
            estimated: self.estimated,
        }
    }
}

/// The series of the trace in `dir`; `None`: it has none.
///
/// # Errors
///
/// A stream that cannot be read.
pub fn series(dir: &Path) -> Result<Option<SeriesSection>, Error> {
    let Some(mut events) = Events::of_trace(dir)? else {
        return Ok(None);
    };
    let mut found = SeriesSection::default();
    let mut open: Vec<Open> = Vec::new();
    let add = |open: &mut Vec<Open>, series: u32, time, value, estimated| {
        let at = usize::try_from(series).unwrap_or(usize::MAX);
        if let Some(series) = open.get_mut(at) {
            series.add(time, value);
            series.estimated |= estimated;
        }
    };
    while let Some(event) = events.next()? {
        match event.what {
            What::Series(_, definition) => open.push(Open::new(definition)),
            What::Value(series, value) => add(&mut open, series, event.time, value, false),
            What::Estimate { series, value, .. } => add(&mut open, series, event.time, value, true),
            What::Refused(module, why) => found.refused.push(Refused {
                module: module.word(),
                why,
            }),
            What::Readings {
                module,
                late,
                period_ns,
                readings,
                ns,
            } => found.modules.push(ModuleReadings {
                module: Module::word(module),
                period_ns,
                readings,
                late: late.into(),
                ns_per_reading: ns.checked_div(readings).unwrap_or(0),
            }),
        }
    }
    found.damaged = events.is_damaged();
    found.series = open.into_iter().map(Open::finish).collect();
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use instr_trace::kernel::series::{Scope, Unit};

    fn of(nature: Nature, values: &[(u64, u64)]) -> Series {
        let mut open = Open::new(Definition {
            module: Module::Energy,
            scope: Scope::Machine,
            pid: 0,
            number: 0,
            nature,
            unit: Unit::Microjoules,
            name: "package-0".into(),
        });
        for (ms, value) in values {
            open.add(ms * 1_000_000, *value);
        }
        open.finish()
    }

    #[test]
    fn a_level_is_weighted_by_time() {
        // 10 for 100 ms, 40 for 300 ms.
        let series = of(Nature::Level, &[(0, 10), (100, 40), (400, 7)]);
        assert_eq!(
            (series.min, series.mean, series.max),
            (Some(7.0), Some(32.5), Some(40.0))
        );
        assert_eq!((series.total, series.values), (None, 3));
        assert_eq!(of(Nature::Level, &[(5, 9)]).mean, Some(9.0));
        assert_eq!(of(Nature::Level, &[]).mean, None);
    }

    #[test]
    fn a_total_has_its_growth_in_a_second() {
        // 5 in 100 ms, nothing in 100 ms, 15 in 200 ms.
        let series = of(Nature::Total, &[(0, 0), (100, 5), (200, 5), (400, 20)]);
        assert_eq!(
            (series.min, series.mean, series.max),
            (Some(0.0), Some(50.0), Some(75.0))
        );
        assert_eq!(series.total, Some(20));
        let ended = of(Nature::Total, &[(3, 8)]);
        assert_eq!((ended.min, ended.mean, ended.total), (None, None, Some(8)));
    }
}
