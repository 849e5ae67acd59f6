//! Readings of sensors and of the counters of threads: what each value was before and by how much it grew.

use hashbrown::HashMap;

use crate::event::{Payload, counter_flags};
use crate::sensors::{Definitions, MISSING, SensorDef, SensorKind};

use super::sink::{At, Sink};

/// A reading.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Reading<'a> {
    /// All values of a sensor.
    Sensor {
        /// Its place in [`Definitions::sensors`].
        sensor: usize,
        /// Its definition.
        def: &'a SensorDef,
        /// In the order of the definition; fewer where the event has fewer.
        values: &'a [Value],
    },
    /// The sensor cannot be read any more.
    Lost {
        /// Its place in [`Definitions::sensors`].
        sensor: usize,
    },
    /// The counters of the thread, in the order of [`Definitions::counters`].
    Counters {
        /// Some of them are estimates: the thread was counted for a part of its time.
        scaled: bool,
        /// What each has counted since the thread began.
        values: &'a [Count],
    },
    /// The system's account of the thread, since its beginning, which may be before its first event.
    ThreadTime {
        /// On a processor, ns.
        run_ns: u64,
        /// Ready to run, and waiting for a processor, ns.
        wait_ns: u64,
    },
}

/// One value of a sensor, in raw numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// What was read; `None`: a number that cannot be ([`SensorDef::is_possible`]).
    pub raw: Option<i64>,
    /// When the value was read before, ns since the trace's start, if it was.
    pub since: Option<u64>,
    /// What a total grew by since then, a wrap-around put right; nothing for a level and for the first reading.
    pub grown: Option<u64>,
}

impl Value {
    /// Mean power since the reading before, mW, if the sensor is a meter of energy and time has passed until `now`.
    #[must_use]
    pub fn power_mw(&self, def: &SensorDef, now: u64) -> Option<u64> {
        let ns = now.checked_sub(self.since?).filter(|ns| *ns > 0)?;
        let joules = self.grown.filter(|_| def.is_meter())? as f64 * def.scale;
        Some((joules * 1e12 / ns as f64).round() as u64)
    }
}

/// One counter of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Since the thread began; `None`: it was not counted.
    pub value: Option<i64>,
    /// Since the reading before; 0 where a scaled estimate is smaller than that.
    pub grown: u64,
}

/// The readings before, of one trace.
#[derive(Debug, Default)]
pub(super) struct Sensors {
    definitions: Definitions,
    /// Time and raw number of each value.
    last: Vec<Vec<Option<(u64, i64)>>>,
    /// Of each thread that counts.
    counted: HashMap<usize, Vec<i64>>,
    values: Vec<Value>,
    counts: Vec<Count>,
}

impl Sensors {
    pub(super) fn new(definitions: Definitions) -> Self {
        let none = |sensor: &SensorDef| vec![None; sensor.values as usize];
        Self {
            last: definitions.sensors.iter().map(none).collect(),
            definitions,
            ..Self::default()
        }
    }

    pub(super) fn event<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        match *payload {
            Payload::Sensor { sensor, values } => {
                let Some(sensor) = self.definitions.position(sensor) else {
                    return;
                };
                self.read(sensor, at.time, values.map(u64::cast_signed));
                let (def, values) = (&self.definitions.sensors[sensor], &self.values);
                sink.reading(
                    at,
                    &Reading::Sensor {
                        sensor,
                        def,
                        values,
                    },
                );
            }
            Payload::SensorLost { sensor, .. } => {
                if let Some(sensor) = self.definitions.position(sensor) {
                    sink.reading(at, &Reading::Lost { sensor });
                }
            }
            Payload::ThreadCounters { flags, values } => {
                self.count(at.position, values.map(u64::cast_signed));
                let scaled = flags & counter_flags::SCALED != 0;
                let values = &self.counts;
                sink.reading(at, &Reading::Counters { scaled, values });
            }
            Payload::ThreadTime { run_ns, wait_ns } => {
                sink.reading(at, &Reading::ThreadTime { run_ns, wait_ns });
            }
            _ => {}
        }
    }

    fn read(&mut self, sensor: usize, now: u64, raw: impl Iterator<Item = i64>) {
        let def = &self.definitions.sensors[sensor];
        self.values.clear();
        for (last, raw) in self.last[sensor].iter_mut().zip(raw) {
            let raw = Some(raw).filter(|raw| def.is_possible(*raw));
            let grown = raw.zip(*last).map(|(raw, (_, last))| def.growth(last, raw));
            self.values.push(Value {
                raw,
                since: last.map(|(time, _)| time),
                grown: grown.filter(|_| def.kind == SensorKind::Total),
            });
            if let Some(raw) = raw {
                *last = Some((now, raw));
            }
        }
    }

    fn count(&mut self, position: usize, values: impl Iterator<Item = i64>) {
        let last = self.counted.entry(position).or_default();
        last.resize(self.definitions.counters.len(), 0);
        self.counts.clear();
        for (last, value) in last.iter_mut().zip(values) {
            let value = Some(value).filter(|value| *value != MISSING);
            let grown = value.map_or(0, |value| value.saturating_sub(*last));
            self.counts.push(Count {
                value,
                grown: u64::try_from(grown).unwrap_or(0),
            });
            *last = value.unwrap_or(*last);
        }
    }
}
