//! Sums to sections.

use instr_analysis::sensors::{Readings, Region, ValueCount};
use instr_trace::Names;
use instr_trace::energy::{ModelMeter, Part, Zone};
use instr_trace::names::CodeRole;
use instr_trace::sensors::{SensorDef, SensorKind};

use super::super::model::{Counter, Place, Summary};

use super::model::{Power, RegionEnergy, Sensor, ThreadCount, ThreadEnergy, Trouble, ZoneEnergy};

/// Fills the sections; `summary` has its threads, duration and counters of the program already. `target`: what the power model is of.
pub fn fill(summary: &mut Summary, readings: &Readings, names: &dyn Names, target: &str) {
    summary.sensors = sensors(readings);
    counters(summary, readings);
    let zones = readings.zones();
    let added = readings.added();
    summary.energy = (0..)
        .zip(&zones)
        .map(|(at, zone)| zone_energy(readings, at, zone, &added))
        .collect();
    summary.energy_regions = regions(readings, &added, names);
    summary.power = match added.is_empty() {
        false => Some(measured(summary, readings)),
        true => {
            let model = readings.model.as_ref();
            model.and_then(|model| modelled(summary, readings, model, target))
        }
    };
    summary.sensor_troubles = readings
        .definitions
        .troubles
        .iter()
        .map(|trouble| Trouble {
            name: trouble.name.clone(),
            why: trouble.why.clone(),
        })
        .collect();
}

/// What a total of this unit grows by in a second.
fn rate_unit(unit: &str) -> String {
    match unit {
        "J" => "W".to_owned(),
        "s" => "s/s".to_owned(),
        "" => "1/s".to_owned(),
        other => format!("{other}/s"),
    }
}

fn sensors(readings: &Readings) -> Vec<Sensor> {
    let mut found = Vec::new();
    for (at, sensor) in readings.definitions.sensors.iter().enumerate() {
        for (index, value) in readings.values[at].iter().enumerate() {
            found.push(one(sensor, index, value, readings.lost[at]));
        }
    }
    found
}

fn one(sensor: &SensorDef, index: usize, value: &ValueCount, lost_ns: Option<u64>) -> Sensor {
    let is_total = sensor.kind == SensorKind::Total;
    let any = |number: f64| (value.values > 0).then_some(number);
    let mean = if is_total {
        value.grown / value.span_s()
    } else {
        value.sum / value.values as f64
    };
    Sensor {
        name: sensor.value_name(index),
        unit: if is_total {
            rate_unit(&sensor.unit)
        } else {
            sensor.unit.clone()
        },
        kind: if is_total { "total" } else { "level" },
        samples: value.samples,
        min: any(value.min),
        mean: any(mean),
        max: any(value.max),
        total: (is_total && value.samples > 0).then_some(value.grown),
        total_unit: is_total.then(|| sensor.unit.clone()),
        wraps_at: (is_total && sensor.wrap > 0).then_some(sensor.wrap as f64 * sensor.scale),
        longest_gap_ns: value.longest_gap,
        missed: sensor.missed + value.impossible,
        lost_ns,
        cost_ns: sensor.cost_ns,
        source: sensor.source.clone(),
    }
}

fn counters(summary: &mut Summary, readings: &Readings) {
    for (at, counter) in readings.definitions.counters.iter().enumerate() {
        let per_thread: Vec<ThreadCount> = readings
            .counted(at)
            .map(|(index, value)| ThreadCount { index, value })
            .collect();
        let values = || per_thread.iter().map(|count| count.value);
        let total = values().fold(0, i64::saturating_add);
        summary.counters.push(Counter {
            name: counter.name.clone(),
            source: "thread",
            unit: Some(counter.unit.clone()),
            count: readings.counter_readings,
            min: values().min().unwrap_or(0),
            max: values().max().unwrap_or(0),
            last: total,
            total: (!per_thread.is_empty()).then_some(total),
            scaled: readings.scaled,
            per_thread,
        });
    }
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Platform => "platform",
        Part::Package => "package",
        Part::Memory => "memory",
        Part::Inside => "inside",
        Part::Other => "other",
    }
}

fn to_ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn zone_energy(readings: &Readings, at: usize, zone: &Zone, added: &[usize]) -> ZoneEnergy {
    let ((sensor, value), energies) = &readings.energy[at];
    let run = energies.first().copied().unwrap_or_default();
    ZoneEnergy {
        zone: readings.definitions.sensors[*sensor].value_name(*value),
        joules: run.joules,
        error_joules: run.error_joules,
        covered_ns: to_ns(run.covered_s),
        part: part_name(zone.part),
        in_total: added.contains(&at),
    }
}

fn regions(readings: &Readings, added: &[usize], names: &dyn Names) -> Vec<RegionEnergy> {
    let energy: Box<dyn Fn(usize, u64) -> RegionEnergy> = match (added, &readings.model) {
        ([], None) => return Vec::new(),
        ([], Some(model)) => Box::new(|id, open_ns| RegionEnergy {
            source: "model",
            joules: model.region_joules(id),
            covered_ns: open_ns,
            ..RegionEnergy::default()
        }),
        _ => Box::new(|id, _| {
            let energy = readings.sum(added, id);
            RegionEnergy {
                source: "measured",
                joules: energy.joules,
                error_joules: Some(energy.error_joules),
                covered_ns: to_ns(energy.covered_s),
                ..RegionEnergy::default()
            }
        }),
    };
    let mut found = Vec::new();
    for (id, (region, open_ns)) in readings.regions.iter().enumerate() {
        let (kind, name) = match region {
            Region::Run | Region::Place(_) => continue,
            Region::Parallel(code) => (
                "parallel region",
                Place::of(names, Some(*code), CodeRole::Parallel).label,
            ),
            Region::User(name) => ("user region", name.clone()),
        };
        found.push(RegionEnergy {
            kind,
            name,
            open_ns: *open_ns,
            ..energy(id, *open_ns)
        });
    }
    found.sort_by(|a, b| {
        b.joules
            .total_cmp(&a.joules)
            .then_with(|| (a.kind, &a.name).cmp(&(b.kind, &b.name)))
    });
    found
}

fn measured(summary: &Summary, readings: &Readings) -> Power {
    let zones = || summary.energy.iter().filter(|zone| zone.in_total);
    let joules: f64 = zones().map(|zone| zone.joules).sum();
    let covered = zones().map(|zone| zone.covered_ns).min().unwrap_or(0);
    let (shared_by, threads) = shares(summary, readings, joules);
    Power {
        source: "measured",
        target: None,
        busy_from: None,
        average_mw: if covered > 0 {
            joules / (covered as f64 * 1e-9) * 1e3
        } else {
            0.0
        },
        joules,
        zones: zones().map(|zone| zone.zone.clone()).collect(),
        shared_by,
        threads,
    }
}

/// The average number of busy cores from the processor time of threads, where each that worked has it counted; and the counter's name.
fn busy_by_clock(
    summary: &Summary,
    readings: &Readings,
    seconds: f64,
) -> Option<(&'static str, f64)> {
    CLOCKS.into_iter().find_map(|clock| {
        let counted = counted_clock(readings, clock)?;
        let has = |thread: &super::super::model::Thread| {
            thread.useful_ns == 0 || counted.contains_key(&thread.index)
        };
        let busy: f64 = counted.values().map(|ns| (*ns).max(0) as f64 * 1e-9).sum();
        (summary.threads.iter().all(has) && seconds > 0.0).then_some((clock, busy / seconds))
    })
}

/// Counters of a thread's processor time, ns, in the order in which they are believed.
const CLOCKS: [&str; 2] = ["task-clock", "schedstat-run"];

/// The counter's last value of each thread; user code only (`:u`) is the same for a clock.
fn counted_clock(readings: &Readings, clock: &str) -> Option<std::collections::BTreeMap<u32, i64>> {
    let is_it = |name: &str| name.strip_suffix(":u").unwrap_or(name) == clock;
    let counters = &readings.definitions.counters;
    let at = counters.iter().position(|counter| is_it(&counter.name))?;
    let counted: std::collections::BTreeMap<u32, i64> = readings.counted(at).collect();
    (!counted.is_empty()).then_some(counted)
}

/// Power from the number of busy cores: processors that did not idle where the system told its switches; else, for the run as a whole, the
/// threads' processor time where it was counted; else each thread in user code stands for a busy core.
fn modelled(
    summary: &Summary,
    readings: &Readings,
    model: &ModelMeter,
    target: &str,
) -> Option<Power> {
    let by_clock = busy_by_clock(summary, readings, model.seconds());
    let (busy_from, average_mw) = match by_clock {
        _ if readings.by_switches => ("context switches", model.average_mw()?),
        Some((clock, busy)) => (clock, model.model().power_mw(busy)),
        None => ("states of threads", model.average_mw()?),
    };
    let joules = average_mw * 1e-3 * model.seconds();
    let (shared_by, threads) = shares(summary, readings, joules);
    Some(Power {
        source: "model",
        target: Some(target.to_owned()),
        busy_from: Some(busy_from),
        average_mw,
        joules,
        zones: Vec::new(),
        shared_by,
        threads,
    })
}

/// The energy in proportion to the time each thread had a core, or to its useful time when that was not counted.
fn shares(
    summary: &Summary,
    readings: &Readings,
    joules: f64,
) -> (&'static str, Vec<ThreadEnergy>) {
    let (shared_by, counted) = CLOCKS
        .into_iter()
        .find_map(|clock| Some((clock, Some(counted_clock(readings, clock)?))))
        .unwrap_or(("useful time", None));
    let time = |thread: &super::super::model::Thread| match &counted {
        Some(counted) => counted.get(&thread.index).copied().unwrap_or(0).max(0) as f64,
        None => thread.useful_ns as f64,
    };
    let whole: f64 = summary.threads.iter().map(time).sum();
    let threads = summary.threads.iter().map(|thread| ThreadEnergy {
        index: thread.index,
        joules: if whole > 0.0 {
            joules * time(thread) / whole
        } else {
            0.0
        },
    });
    let mut threads: Vec<ThreadEnergy> = threads.collect();
    threads.sort_by_key(|thread| thread.index);
    (shared_by, threads)
}
