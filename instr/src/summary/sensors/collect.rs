//! Readings in, sums out: one pass over a merged trace.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::energy::{Energy, Meter, ModelMeter, PowerModel, Quantity, Unions};
use instr_trace::event::counter_flags;
use instr_trace::sensors::{Definitions, MISSING, SensorDef, SensorKind};
use instr_trace::{Error, Event, Payload, Trace};

use super::super::counts::Code;
use super::cores::Cores;

/// Texts of user regions that are kept.
const MAX_TEXTS: usize = 1 << 16;

/// A region whose energy is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// From the first event to the last.
    Run,
    /// A parallel region by its code.
    Parallel(Code),
    /// A user region by its name.
    User(String),
}

/// What one value of a sensor did.
#[derive(Clone, Debug, Default)]
pub struct ValueCount {
    /// Readings.
    pub samples: u64,
    /// Values of a level, rates of a total.
    pub values: u64,
    /// Smallest of them, scaled.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Sum of a level's values.
    pub sum: f64,
    /// What a total grew by, scaled.
    pub grown: f64,
    /// Readings whose number cannot be.
    pub impossible: u64,
    /// Longest time from one reading to the next, ns.
    pub longest_gap: u64,
    first: u64,
    /// Time and raw number of the last reading, ns.
    last: Option<(u64, i64)>,
    meter: Option<Meter>,
}

impl ValueCount {
    fn value(&mut self, value: f64) {
        self.min = if self.values == 0 {
            value
        } else {
            self.min.min(value)
        };
        self.max = if self.values == 0 {
            value
        } else {
            self.max.max(value)
        };
        self.values += 1;
    }

    /// Seconds from the first reading to the last.
    #[must_use]
    pub fn span_s(&self) -> f64 {
        self.last.map_or(0.0, |(last, _)| {
            last.saturating_sub(self.first) as f64 * 1e-9
        })
    }

    fn reading(&mut self, sensor: &SensorDef, time: u64, raw: i64, unions: &Unions) {
        if !sensor.is_possible(raw) {
            self.impossible += 1;
            return;
        }
        if self.samples == 0 {
            self.first = time;
        }
        self.samples += 1;
        if let Some((before, _)) = self.last {
            self.longest_gap = self.longest_gap.max(time.saturating_sub(before));
        }
        let mut metered = raw as f64 * sensor.scale;
        match (sensor.kind, self.last) {
            (SensorKind::Level, _) => {
                self.value(metered);
                self.sum += metered;
            }
            (SensorKind::Total, None) => metered = 0.0,
            (SensorKind::Total, Some((before, last))) => {
                metered = sensor.growth(last, raw) as f64 * sensor.scale;
                self.grown += metered;
                if time > before {
                    self.value(metered / ((time - before) as f64 * 1e-9));
                }
            }
        }
        self.last = Some((time, raw));
        if let Some(meter) = &mut self.meter {
            meter.reading(time, metered, unions);
        }
    }
}

/// The sums of a whole trace.
#[derive(Debug, Default)]
pub struct Readings {
    /// What the metadata says.
    pub definitions: Definitions,
    /// By sensor and value, in the order of `definitions`.
    pub values: Vec<Vec<ValueCount>>,
    /// When each sensor was lost, ns.
    pub lost: Vec<Option<u64>>,
    /// Energy of each region by each meter: (sensor, value), and the regions in the order of `regions`.
    pub energy: Vec<((usize, usize), Vec<Energy>)>,
    /// Regions and the time each was open, ns.
    pub regions: Vec<(Region, u64)>,
    /// Last values of the counters, by thread index.
    pub counters: BTreeMap<u32, Vec<i64>>,
    /// Readings of the counters.
    pub counter_readings: u64,
    /// Whether some of them were scaled.
    pub scaled: bool,
    /// By the power model, if there is one; regions are those of `regions`.
    pub model: Option<ModelMeter>,
    /// Whether the model knows busy cores from context switches, not from the states of threads.
    pub by_switches: bool,
}

/// Open regions of a thread, innermost last: number of a parallel one (none: a user region), and the region.
type OpenRegions = Vec<(Option<u32>, usize)>;

/// Folds the events of a merged trace.
#[derive(Debug)]
pub struct Collector<'t> {
    out: Readings,
    unions: Unions,
    ids: HashMap<Region, usize>,
    names: Vec<Region>,
    /// Open regions of each thread: parallel ones by their number, user ones without.
    open: HashMap<u32, OpenRegions>,
    texts: HashMap<(u32, u64), String>,
    first: Option<u64>,
    last: u64,
    has_meters: bool,
    busy: Busy,
    cores: Option<Cores<'t>>,
}

/// Which threads are in user code: each stands for a busy core.
#[derive(Debug, Default)]
struct Busy {
    /// By position of the thread: whether it is, and its last event, ns.
    threads: Vec<(bool, u64)>,
    count: usize,
}

impl Busy {
    /// After an event at `time`; a thread does nothing after its last.
    fn set(&mut self, position: usize, time: u64, useful: bool) {
        if let Some((was, last)) = self.threads.get_mut(position) {
            let now = useful && time < *last;
            self.count = self.count + usize::from(now) - usize::from(*was);
            *was = now;
        }
    }
}

impl<'t> Collector<'t> {
    /// For the sensors and counters that the trace defines, and a power model if there is one.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn new(trace: &'t Trace, model: Option<PowerModel>) -> Result<Self, Error> {
        let metadata = trace.metadata();
        let definitions = Definitions::of(metadata);
        let period = metadata
            .other
            .iter()
            .find(|(key, _)| key == "sensors_period_ns")
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(0);
        let count = |sensor: &SensorDef| {
            let quantity = match (sensor.kind, sensor.unit.as_str()) {
                (SensorKind::Total, "J") => Some(Quantity::Energy),
                (SensorKind::Level, "W") => Some(Quantity::Power),
                _ => None,
            };
            let value = ValueCount {
                meter: quantity.map(|quantity| Meter::new(quantity, period)),
                ..ValueCount::default()
            };
            vec![value; sensor.values as usize]
        };
        let values: Vec<Vec<ValueCount>> = definitions.sensors.iter().map(count).collect();
        let cores = match model {
            Some(_) => Cores::of(trace)?,
            None => None,
        };
        Ok(Self {
            has_meters: model.is_some()
                || values.iter().flatten().any(|value| value.meter.is_some()),
            busy: Busy {
                threads: trace
                    .threads()
                    .iter()
                    .map(|t| (false, t.last_time))
                    .collect(),
                count: 0,
            },
            out: Readings {
                by_switches: cores.is_some(),
                model: model.map(ModelMeter::new),
                lost: vec![None; definitions.sensors.len()],
                values,
                definitions,
                ..Readings::default()
            },
            unions: Unions::new(),
            ids: HashMap::new(),
            names: vec![Region::Run],
            open: HashMap::new(),
            texts: HashMap::new(),
            first: None,
            last: 0,
            cores,
        })
    }

    /// Takes the context switches up to `time`, that of the next event.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    #[inline]
    pub fn switches(&mut self, time: u64) -> Result<(), Error> {
        let (Some(cores), Some(model)) = (&mut self.cores, &mut self.out.model) else {
            return Ok(());
        };
        if self.first.is_none() {
            while cores.step(time)?.is_some() {} // before the trace's first event
            model.busy(time, cores.count());
        }
        while let Some(when) = cores.step(time)? {
            model.busy(when, cores.count());
        }
        Ok(())
    }

    /// Takes the next event, in order of time; those of the runtime's own thread too.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>) {
        match event.payload {
            Payload::Sensor { sensor, values } => {
                self.span(event.time);
                self.sensor(event.time, sensor, values.map(|value| value as i64));
            }
            Payload::SensorLost { sensor, .. } => {
                if let Some(at) = self.out.definitions.position(sensor) {
                    self.out.lost[at].get_or_insert(event.time);
                }
            }
            Payload::ThreadCounters { flags, values } => {
                let count = self.out.definitions.counters.len();
                let values = values.map(|value| value as i64).take(count);
                let known = self.out.counters.entry(event.thread).or_default();
                known.resize(count, MISSING);
                for (known, value) in known.iter_mut().zip(values) {
                    // Not read: the program closed its descriptor. What was counted before stays.
                    if value != MISSING {
                        *known = value;
                    }
                }
                self.out.counter_readings += 1;
                self.out.scaled |= flags & counter_flags::SCALED != 0;
            }
            _ if self.has_meters => self.region(event),
            _ => {}
        }
    }

    /// Whether the thread at `position` of the trace is in user code after its event at `time`.
    #[inline]
    pub fn state(&mut self, position: usize, time: u64, useful: bool) {
        if let Some(model) = &mut self.out.model
            && self.cores.is_none()
        {
            self.busy.set(position, time, useful);
            model.busy(time, self.busy.count);
        }
    }

    fn span(&mut self, time: u64) {
        self.last = self.last.max(time);
        if self.first.is_none() {
            self.first = Some(time);
            self.unions.enter(0, time);
        }
    }

    fn sensor(&mut self, time: u64, number: u32, values: impl Iterator<Item = i64>) {
        let Some(at) = self.out.definitions.position(number) else {
            return;
        };
        let sensor = &self.out.definitions.sensors[at];
        for (count, raw) in self.out.values[at].iter_mut().zip(values) {
            count.reading(sensor, time, raw, &self.unions);
        }
    }

    fn region(&mut self, event: &Event<'_>) {
        self.span(event.time);
        match event.payload {
            Payload::String { address, text } if self.texts.len() < MAX_TEXTS => {
                let text = String::from_utf8_lossy(text).into_owned();
                self.texts.insert((event.thread, address), text);
            }
            Payload::ParallelBegin {
                seq,
                function,
                call_site,
                ..
            } => {
                self.enter(
                    event,
                    Some(seq),
                    Region::Parallel(Code::new(function, call_site)),
                );
            }
            Payload::RegionBegin { name } => {
                let known = self.texts.get(&(event.thread, name)).cloned();
                let name = known.unwrap_or_else(|| format!("{name:#x}"));
                self.enter(event, None, Region::User(name));
            }
            Payload::ParallelEnd { seq } => self.leave(event, Some(seq)),
            Payload::RegionEnd => self.leave(event, None),
            Payload::ThreadEnd | Payload::Lost { .. } => {
                for (_, region) in self.open.remove(&event.thread).unwrap_or_default() {
                    self.close(region, event.time);
                }
            }
            _ => {}
        }
    }

    fn enter(&mut self, event: &Event<'_>, seq: Option<u32>, region: Region) {
        let id = *self.ids.entry(region).or_insert_with_key(|region| {
            self.names.push(region.clone());
            self.names.len() - 1
        });
        self.unions.enter(id, event.time);
        if let Some(model) = &mut self.out.model {
            model.enter(id, event.time);
        }
        self.open.entry(event.thread).or_default().push((seq, id));
    }

    fn leave(&mut self, event: &Event<'_>, seq: Option<u32>) {
        let Some(open) = self.open.get_mut(&event.thread) else {
            return;
        };
        if let Some(at) = open.iter().rposition(|(number, _)| *number == seq) {
            let (_, region) = open.remove(at);
            self.close(region, event.time);
        }
    }

    fn close(&mut self, region: usize, time: u64) {
        if let Some(model) = &mut self.out.model {
            model.leave(region, time);
        }
        if let Some((begin, end)) = self.unions.leave(region, time) {
            let values = self.out.values.iter_mut().flatten();
            for meter in values.filter_map(|value| value.meter.as_mut()) {
                meter.piece(region, begin, end);
            }
        }
    }

    /// Ends what is open at the last event.
    #[must_use]
    pub fn finish(mut self) -> Readings {
        let mut open: Vec<(u32, OpenRegions)> = self.open.drain().collect();
        open.sort_unstable_by_key(|(thread, _)| *thread);
        for (_, region) in open.into_iter().flat_map(|(_, regions)| regions) {
            self.close(region, self.last);
        }
        self.close(0, self.last);
        for (at, values) in self.out.values.iter_mut().enumerate() {
            for (index, value) in values.iter_mut().enumerate() {
                if let Some(meter) = value.meter.take().filter(|meter| meter.readings() > 0) {
                    self.out.energy.push(((at, index), meter.finish()));
                }
            }
        }
        let unions = &self.unions;
        let regions = self.names.into_iter().enumerate();
        self.out.regions = regions
            .map(|(id, region)| (region, unions.total_ns(id)))
            .collect();
        self.out
    }
}

impl Readings {
    /// Counter `at` of each thread that counted it.
    pub fn counted(&self, at: usize) -> impl Iterator<Item = (u32, i64)> + '_ {
        self.counters.iter().filter_map(move |(thread, values)| {
            let value = *values.get(at)?;
            (value != MISSING).then_some((*thread, value))
        })
    }
}
