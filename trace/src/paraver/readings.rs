//! Sensors and counters of threads.
//!
//! Levels are written as they were read, totals and counters as what they grew by since the reading before, as Extrae writes hardware
//! counters. A meter of energy also gives the mean power since the reading before, in mW, so that a view of power needs no arithmetic. Counters
//! that Extrae knows have its numbers, those of PAPI's presets.

use std::io::Write;

use crate::model::Reading;
use crate::sensors::{Definitions, SensorDef, SensorKind};
use crate::trace::Trace;

use super::events::At;
use super::names::Table;
use super::types::{HARDWARE, POWER, READING, READINGS, TEMPERATURE};

/// PAPI's preset for an event of perf: type, label as Extrae writes it.
const PRESETS: &[(&str, u32, &str)] = &[
    (
        "instructions",
        HARDWARE + 50,
        "PAPI_TOT_INS [Instr completed]",
    ),
    ("cycles", HARDWARE + 59, "PAPI_TOT_CYC [Total cycles]"),
    ("cpu-cycles", HARDWARE + 59, "PAPI_TOT_CYC [Total cycles]"),
    ("branches", HARDWARE + 55, "PAPI_BR_INS [Branches]"),
    (
        "branch-instructions",
        HARDWARE + 55,
        "PAPI_BR_INS [Branches]",
    ),
    (
        "branch-misses",
        HARDWARE + 46,
        "PAPI_BR_MSP [Cond br mspredictd]",
    ),
    (
        "L1-dcache-load-misses",
        HARDWARE + 23,
        "PAPI_L1_LDM [L1D load misses]",
    ),
    (
        "L1-dcache-store-misses",
        HARDWARE + 24,
        "PAPI_L1_STM [L1D store misses]",
    ),
    (
        "cache-misses",
        HARDWARE + 8,
        "PAPI_L3_TCM [L3 cache misses]",
    ),
];

/// Types of a process's counters and sensors.
struct Process {
    counters: Vec<u32>,
    /// Type of the first value of each sensor and of its power, once it was met.
    sensors: Vec<Option<(u32, u32)>>,
}

/// Turns readings into events.
pub(super) struct Readings {
    processes: Vec<Process>,
    /// Labels of temperatures, of power and of anything else.
    temperatures: Table,
    powers: Table,
    others: Table,
    presets: Vec<(u32, &'static str)>,
}

impl Readings {
    pub(super) fn new(traces: &[Trace]) -> Self {
        let mut readings = Self {
            processes: Vec::new(),
            temperatures: Table::new(TEMPERATURE),
            powers: Table::new(POWER),
            others: Table::new(READING),
            presets: Vec::new(),
        };
        for trace in traces {
            let definitions = Definitions::of(trace.metadata());
            let counters = definitions
                .counters
                .iter()
                .map(|counter| readings.counter_type(&counter.name, &counter.unit))
                .collect();
            readings.processes.push(Process {
                counters,
                sensors: vec![None; definitions.sensors.len()],
            });
        }
        readings
    }

    fn counter_type(&mut self, name: &str, unit: &str) -> u32 {
        let plain = name.strip_suffix(":u").unwrap_or(name);
        match PRESETS.iter().find(|(event, ..)| *event == plain) {
            Some((_, kind, label)) => {
                self.presets.push((*kind, label));
                *kind
            }
            None => kind(&mut self.others, &label(name, unit, 1.0, true)),
        }
    }

    /// The type of a series that was read beside the time line.
    pub(super) fn series_type(&mut self, label: &str) -> u32 {
        kind(&mut self.others, label)
    }

    /// Writes a reading made by `process` on the row of `to`. `now`: its time in the process.
    pub(super) fn reading<W: Write>(
        &mut self,
        to: &mut At<'_, '_, W>,
        process: usize,
        now: u64,
        reading: &Reading<'_>,
    ) {
        match *reading {
            Reading::Sensor {
                sensor,
                def,
                values,
            } => {
                let (first, powers) = self.types(process, sensor, def);
                for (index, value) in (0..).zip(values) {
                    let Some(raw) = value.raw else { continue };
                    match def.kind {
                        SensorKind::Level => to.put_signed(first + index, raw),
                        SensorKind::Total => to.put(first + index, value.grown.unwrap_or(0)),
                    }
                    if let Some(power) = value.power_mw(def, now) {
                        to.put(powers + index, power);
                    }
                }
            }
            Reading::Counters { values, .. } => {
                let kinds = &self.processes[process].counters;
                for (kind, count) in kinds.iter().zip(values) {
                    if count.value.is_some() {
                        to.put(*kind, count.grown);
                    }
                }
            }
            Reading::Lost { .. } | Reading::ThreadTime { .. } => {}
        }
    }

    /// Types of the first value of a sensor and of its power; those of its other values follow.
    fn types(&mut self, process: usize, sensor: usize, def: &SensorDef) -> (u32, u32) {
        if let Some(types) = self.processes[process].sensors[sensor] {
            return types;
        }
        let table = match def.unit.as_str() {
            "degC" => &mut self.temperatures,
            "W" => &mut self.powers,
            _ => &mut self.others,
        };
        let total = def.kind == SensorKind::Total;
        let names = || (0..def.values as usize).map(|index| def.value_name(index));
        let values = names().map(|name| label(&name, &def.unit, def.scale, total));
        let values: Vec<u32> = values.map(|text| kind(table, &text)).collect();
        let power = |name| format!("{name}: mean power since the reading before (mW)");
        let powers = names().map(power).filter(|_| def.is_meter());
        let powers: Vec<u32> = powers.map(|text| kind(&mut self.powers, &text)).collect();
        let first = |types: &[u32], other| types.first().copied().unwrap_or(other);
        let types = (first(&values, READING), first(&powers, POWER));
        self.processes[process].sensors[sensor] = Some(types);
        types
    }

    /// Types with their labels, for the `.pcf` file.
    pub(super) fn labels(&self) -> Vec<(u32, String)> {
        let presets = self
            .presets
            .iter()
            .map(|(kind, label)| (*kind, (*label).to_owned()));
        let mut labels: Vec<(u32, String)> = presets.collect();
        for table in [&self.others, &self.temperatures, &self.powers] {
            let types = table.first()..table.first() + READINGS;
            labels.extend(types.zip(table.texts.iter().cloned()));
        }
        labels.sort();
        labels.dedup_by_key(|label| label.0);
        labels
    }
}

/// The type with this label.
fn kind(table: &mut Table, text: &str) -> u32 {
    table.id(text).min(table.first() + READINGS - 1)
}

/// `rapl/package-0 (1e-6 J), since the reading before`
pub(super) fn label(name: &str, unit: &str, scale: f64, total: bool) -> String {
    let scale = if scale == 1.0 {
        String::new()
    } else {
        format!("{scale:e} ")
    };
    let unit = format!("{scale}{unit}");
    let unit = if unit.is_empty() {
        unit
    } else {
        format!(" ({})", unit.trim_end())
    };
    format!(
        "{name}{unit}{}",
        if total {
            ", since the reading before"
        } else {
            ""
        }
    )
}
