//! Sensors and counters of threads.
//!
//! Levels are written as they were read, totals and counters as what they grew by since the reading before, as Extrae writes hardware
//! counters. A meter of energy also gives the mean power since the reading before, in mW, so that a view of power needs no arithmetic. Counters
//! that Extrae knows have its numbers, those of PAPI's presets.

use std::io::Write;

use hashbrown::HashMap;

use crate::event::Payload;
use crate::sensors::{Definitions, MISSING, SensorDef, SensorKind};
use crate::trace::Trace;

use super::events::At;
use super::names::Table;
use super::types::{HARDWARE, READING, READINGS};

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

/// The types of a process's counters, and how its sensors are read.
struct Process {
    definitions: Definitions,
    counters: Vec<u32>,
    /// Type of the first value of each sensor, once it was met.
    sensors: Vec<Option<u32>>,
    last: Vec<Vec<i64>>,
    /// When that was, ns.
    times: Vec<u64>,
}

impl Process {
    /// Mean power since the reading before, mW: of value `index` of the sensor at position `at`, which is now `value`.
    fn power(&self, at: usize, index: usize, value: i64, time: u64) -> Option<u64> {
        let sensor = &self.definitions.sensors[at];
        let before = *self.last[at].get(index)?;
        let ns = time.checked_sub(self.times[at]).filter(|ns| *ns > 0)?;
        let joules = sensor.growth(before, value) as f64 * sensor.scale;
        Some((joules * 1e12 / ns as f64).round() as u64)
    }
}

/// Whether it measures energy.
fn is_meter(sensor: &SensorDef) -> bool {
    sensor.kind == SensorKind::Total && sensor.unit == "J"
}

/// Turns readings into events.
pub(super) struct Readings {
    processes: Vec<Process>,
    /// By row: the counters' last values.
    counted: HashMap<usize, Vec<i64>>,
    own: Table,
    presets: Vec<(u32, &'static str)>,
}

impl Readings {
    pub(super) fn new(traces: &[Trace]) -> Self {
        let mut readings = Self {
            processes: Vec::new(),
            counted: HashMap::new(),
            own: Table::new(0),
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
                last: vec![Vec::new(); definitions.sensors.len()],
                times: vec![0; definitions.sensors.len()],
                definitions,
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
            None => self.own_type(&label(name, unit, 1.0, true)),
        }
    }

    fn own_type(&mut self, text: &str) -> u32 {
        READING + self.own.id(text).min(READINGS - 1)
    }

    /// Writes a reading made by `process` on the row of `to`.
    pub(super) fn event<W: Write>(
        &mut self,
        to: &mut At<'_, '_, W>,
        process: usize,
        payload: &Payload<'_>,
    ) {
        match *payload {
            Payload::Sensor { sensor, values } => {
                self.sensor(to, process, sensor, values.map(|value| value as i64))
            }
            Payload::ThreadCounters { values, .. } => {
                let row = to.row;
                let last = self.counted.entry(row).or_default();
                let kinds = &self.processes[process].counters;
                last.resize(kinds.len(), 0);
                for ((kind, last), value) in
                    kinds.iter().zip(last).zip(values.map(|value| value as i64))
                {
                    if value != MISSING {
                        // A scaled estimate may be smaller than the one before.
                        to.put(
                            *kind,
                            u64::try_from(value.saturating_sub(*last)).unwrap_or(0),
                        );
                        *last = value;
                    }
                }
            }
            _ => {}
        }
    }

    fn sensor<W: Write>(
        &mut self,
        to: &mut At<'_, '_, W>,
        process: usize,
        number: u32,
        values: impl Iterator<Item = i64>,
    ) {
        let Some(at) = self.processes[process].definitions.position(number) else {
            return;
        };
        let kind = match self.processes[process].sensors[at] {
            Some(kind) => kind,
            None => {
                let sensor = self.processes[process].definitions.sensors[at].clone();
                let total = sensor.kind == SensorKind::Total;
                let names = || (0..sensor.values as usize).map(|index| sensor.value_name(index));
                let values = names().map(|name| label(&name, &sensor.unit, sensor.scale, total));
                let powers =
                    names().map(|name| format!("{name}: mean power since the reading before (mW)"));
                let texts = values.chain(powers.filter(|_| is_meter(&sensor)));
                let kinds: Vec<u32> = texts.map(|text| self.own_type(&text)).collect();
                let kind = kinds.first().copied().unwrap_or(READING);
                self.processes[process].sensors[at] = Some(kind);
                kind
            }
        };
        let process = &mut self.processes[process];
        let sensor = &process.definitions.sensors[at];
        let values: Vec<i64> = values.take(sensor.values as usize).collect();
        if values.iter().any(|value| !sensor.is_possible(*value)) {
            return;
        }
        for (index, value) in (0..).zip(&values) {
            match (sensor.kind, process.last[at].get(index as usize)) {
                (SensorKind::Level, _) => to.put_signed(kind + index, *value),
                (SensorKind::Total, Some(before)) => {
                    to.put(kind + index, sensor.growth(*before, *value))
                }
                (SensorKind::Total, None) => to.put(kind + index, 0),
            }
            if is_meter(sensor)
                && let Some(power) = process.power(at, index as usize, *value, to.time)
            {
                to.put(kind + sensor.values + index, power);
            }
        }
        process.last[at] = values;
        process.times[at] = to.time;
    }

    /// Types with their labels, for the `.pcf` file.
    pub(super) fn labels(&self) -> Vec<(u32, String)> {
        let presets = self
            .presets
            .iter()
            .map(|(kind, label)| (*kind, (*label).to_owned()));
        let mut labels: Vec<(u32, String)> = presets.collect();
        labels.extend((READING..READING + READINGS).zip(self.own.texts.iter().cloned()));
        labels.sort();
        labels.dedup_by_key(|label| label.0);
        labels
    }
}

/// `rapl/package-0 (1e-6 J), since the reading before`
fn label(name: &str, unit: &str, scale: f64, total: bool) -> String {
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
