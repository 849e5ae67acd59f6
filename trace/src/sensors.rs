//! Sensors and counters as the metadata defines them (docs/trace-format.md, "Sensors and counters").

use crate::metadata::Metadata;

/// The value of a counter that was not counted on a thread.
pub const MISSING: i64 = i64::MIN;
/// Most definitions that are read: the runtime writes at most 1024.
const MOST: usize = 4096;

/// What the numbers of a sensor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SensorKind {
    /// How much there is at the time.
    Level,
    /// A sum that only grows, and may wrap to zero.
    Total,
}

/// A sensor: what its readings mean.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorDef {
    /// The number in the events.
    pub number: u32,
    /// `family/device/…`, as `INSTR_SENSORS` selects it.
    pub name: String,
    /// Of value × scale: `J`, `W`, `degC` …; empty for a plain number.
    pub unit: String,
    /// What a value is multiplied by.
    pub scale: f64,
    /// Values of one reading.
    pub values: u32,
    /// Level or total.
    pub kind: SensorKind,
    /// A total counts modulo this; 0: it does not wrap.
    pub wrap: u64,
    /// Time of one reading on the traced machine, ns.
    pub cost_ns: u64,
    /// Names of the values; fewer than `values` when they have none.
    pub labels: Vec<String>,
    /// Where it comes from, for people.
    pub source: String,
    /// Readings that gave no value.
    pub missed: u64,
}

impl SensorDef {
    /// Name of value `index`: the sensor's, with the value's label when there are several.
    #[must_use]
    pub fn value_name(&self, index: usize) -> String {
        match self.labels.get(index) {
            Some(label) if self.values > 1 => format!("{}:{label}", self.name),
            _ if self.values > 1 => format!("{}:{index}", self.name),
            _ => self.name.clone(),
        }
    }

    /// Whether it measures energy.
    #[must_use]
    pub fn is_meter(&self) -> bool {
        self.kind == SensorKind::Total && self.unit == "J"
    }

    /// Whether it can be a reading: a total that wraps is never negative, nor beyond its range.
    #[must_use]
    pub fn is_possible(&self, raw: i64) -> bool {
        self.kind == SensorKind::Level
            || self.wrap == 0
            || u64::try_from(raw).is_ok_and(|raw| raw <= self.wrap)
    }

    /// What a total grew by from one reading to the next, in raw numbers. One wrap between them is put right, more cannot be seen.
    #[must_use]
    pub fn growth(&self, before: i64, after: i64) -> u64 {
        if after >= before {
            return after.wrapping_sub(before) as u64;
        }
        match u64::try_from(after) {
            Ok(after) if self.wrap > 0 => self
                .wrap
                .saturating_sub(before as u64)
                .saturating_add(after),
            _ => 0, // it was set back: what it grew by is not known
        }
    }
}

/// A counter of each thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterDef {
    /// The event as perf spells it.
    pub name: String,
    /// `ns`, or empty for a plain number.
    pub unit: String,
}

/// Something that was asked for and is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Sensor, family or counter.
    pub name: String,
    /// Why, in the runtime's words.
    pub why: String,
}

/// All that the metadata says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    /// Sensors by number.
    pub sensors: Vec<SensorDef>,
    /// Counters in the order of the values of `thread_counters`.
    pub counters: Vec<CounterDef>,
    /// Counters are read where functions of languages begin, go on, and leave their thread.
    pub counts_functions: bool,
    /// What is missing.
    pub troubles: Vec<Trouble>,
}

impl Definitions {
    /// Reads the definitions. Lines that are not understood are left out, and so are their readings.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let mut found = Self::default();
        let mut missed = Vec::new();
        for (key, text) in &metadata.other {
            if key == "counted_functions" {
                found.counts_functions = text == "1";
            }
            let Some((kind, number)) = key
                .rsplit_once('_')
                .and_then(|(kind, number)| Some((kind, number.parse::<u32>().ok()?)))
            else {
                continue;
            };
            match kind {
                "sensor" if found.sensors.len() < MOST => {
                    found.sensors.extend(sensor(number, text));
                }
                "sensor_missed" => missed.push((number, text.parse().unwrap_or(0))),
                "counter" if found.counters.len() == number as usize && number < 64 => {
                    let (name, unit) = text.split_once(' ').unwrap_or((text, "-"));
                    found.counters.push(CounterDef {
                        name: name.to_owned(),
                        unit: dash(unit).to_owned(),
                    });
                }
                "sensor_trouble" | "counter_trouble" if found.troubles.len() < MOST => {
                    let (name, why) = text.split_once(' ').unwrap_or((text, "no reason is given"));
                    found.troubles.push(Trouble {
                        name: name.to_owned(),
                        why: why.to_owned(),
                    });
                }
                _ => {}
            }
        }
        found.sensors.sort_by_key(|sensor| sensor.number);
        found.sensors.dedup_by_key(|sensor| sensor.number);
        for (number, count) in missed {
            if let Some(sensor) = found.sensors.iter_mut().find(|s| s.number == number) {
                sensor.missed = count;
            }
        }
        found
    }

    /// The sensor with this number.
    #[must_use]
    pub fn sensor(&self, number: u32) -> Option<&SensorDef> {
        self.position(number).map(|at| &self.sensors[at])
    }

    /// Position in `sensors` of the sensor with this number.
    #[must_use]
    pub fn position(&self, number: u32) -> Option<usize> {
        self.sensors
            .binary_search_by_key(&number, |sensor| sensor.number)
            .ok()
    }

    /// Whether there is nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sensors.is_empty() && self.counters.is_empty() && self.troubles.is_empty()
    }
}

/// `-` stands for nothing.
fn dash(text: &str) -> &str {
    if text == "-" { "" } else { text }
}

/// `NAME UNIT SCALE VALUES KIND WRAP COST LABELS SOURCE…`
fn sensor(number: u32, text: &str) -> Option<SensorDef> {
    let mut words = text.splitn(9, ' ');
    let mut word = || words.next();
    Some(SensorDef {
        number,
        name: word()?.to_owned(),
        unit: dash(word()?).to_owned(),
        scale: word()?
            .parse()
            .ok()
            .filter(|scale: &f64| scale.is_finite())?,
        values: word()?
            .parse()
            .ok()
            .filter(|count| (1..=64).contains(count))?,
        kind: match word()? {
            "level" => SensorKind::Level,
            "total" => SensorKind::Total,
            _ => return None,
        },
        wrap: word()?.parse().ok()?,
        cost_ns: word()?.parse().ok()?,
        labels: dash(word()?)
            .split(',')
            .filter(|label| !label.is_empty())
            .map(str::to_owned)
            .collect(),
        source: dash(word().unwrap_or("-")).to_owned(),
        missed: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definitions(lines: &[(&str, &str)]) -> Definitions {
        let other = lines
            .iter()
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        Definitions::of(&Metadata {
            other: other.collect(),
            ..Metadata::default()
        })
    }

    #[test]
    fn definitions_are_read_as_the_runtime_writes_them() {
        let found = definitions(&[
            (
                "sensor_1",
                "psi/cpu s 1e-6 2 total 0 2100 some,full /proc/pressure/cpu",
            ),
            (
                "sensor_0",
                "rapl/package-0 J 1e-6 1 total 262143328850 900 - /sys/a b/energy_uj",
            ),
            ("sensor_missed_1", "3"),
            ("sensor_trouble_0", "hwmon no device under /sys/class/hwmon"),
            ("counter_0", "task-clock ns"),
            ("counter_1", "page-faults -"),
            ("counted_functions", "1"),
            ("sensor_x", "no number"),
            ("setting_trouble", "something else"),
        ]);
        assert_eq!(found.sensors.len(), 2);
        assert!(found.counts_functions);
        let rapl = found.sensor(0).unwrap();
        assert_eq!((rapl.unit.as_str(), rapl.wrap), ("J", 262_143_328_850));
        assert_eq!(rapl.source, "/sys/a b/energy_uj");
        assert_eq!(rapl.value_name(0), "rapl/package-0");
        let psi = found.sensor(1).unwrap();
        assert_eq!(
            (psi.value_name(0), psi.value_name(1)),
            ("psi/cpu:some".into(), "psi/cpu:full".into())
        );
        assert_eq!(psi.missed, 3);
        assert_eq!(found.counters[1].name, "page-faults");
        assert_eq!(found.counters[1].unit, "");
        assert_eq!(found.troubles[0].why, "no device under /sys/class/hwmon");
    }

    #[test]
    fn what_is_not_understood_is_left_out() {
        let found = definitions(&[
            ("sensor_0", "a J inf 1 total 0 0 - -"),
            ("sensor_1", "a J 1 0 total 0 0 - -"),
            ("sensor_2", "a J 1 1 sum 0 0 - -"),
            ("sensor_3", "a J"),
            ("counter_5", "cycles -"),
        ]);
        assert_eq!(found, Definitions::default());
    }

    #[test]
    fn a_total_that_wraps_grows_by_the_rest_and_the_new_value() {
        let mut sensor = definitions(&[("sensor_0", "a J 1 1 total 1000 0 - -")])
            .sensors
            .remove(0);
        assert_eq!(sensor.growth(100, 350), 250);
        assert_eq!(sensor.growth(990, 15), 25);
        assert_eq!(sensor.growth(5, 5), 0);
        sensor.wrap = 0;
        assert_eq!(
            sensor.growth(990, 15),
            0,
            "without a range a step back is no growth"
        );
    }
}
