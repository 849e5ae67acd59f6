//! Readings in, sums out.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::energy::{
    Energy, Meter, ModelMeter, PowerModel, Quantity, Unions, Zone, total, zone,
};
use instr_trace::model::{
    At, Begin, Count, End, Mark, Reading, Since, Sink, Span, State, Switch, Value,
};
use instr_trace::sensors::{Definitions, MISSING, SensorDef, SensorKind};
use instr_trace::{Error, ThreadInfo, Trace};

use crate::counts::Code;

use super::cores::Cores;

/// Texts of user regions that are kept.
const MAX_TEXTS: usize = 1 << 16;

/// Meters whose energy is given to regions: more are damage.
const MAX_METERS: usize = 1 << 8;
/// Regions that are open at a time, and regions in all: more are damage, whose energy is not given.
const MAX_OPEN: usize = 1 << 8;
const MAX_REGIONS: usize = 1 << 16;

/// A region whose energy is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// From the first event to the last.
    Run,
    /// A parallel region by its code.
    Parallel(Code),
    /// A user region by its name.
    User(String),
    /// Any other intervals, by a number that means something to whoever gives them: see [`Collector::of_places`].
    Place(usize),
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
    /// Times of the first and the last reading, ns.
    first: u64,
    last: u64,
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
        self.last.saturating_sub(self.first) as f64 * 1e-9
    }

    fn reading(&mut self, sensor: &SensorDef, time: u64, value: &Value, unions: &Unions) {
        let Some(raw) = value.raw else {
            self.impossible += 1;
            return;
        };
        if self.samples == 0 {
            self.first = time;
        }
        self.samples += 1;
        let ns = value.since.map_or(0, |since| time.saturating_sub(since));
        self.longest_gap = self.longest_gap.max(ns);
        let mut metered = raw as f64 * sensor.scale;
        match (sensor.kind, value.grown) {
            (SensorKind::Level, _) => {
                self.value(metered);
                self.sum += metered;
            }
            (SensorKind::Total, None) => metered = 0.0,
            (SensorKind::Total, Some(grown)) => {
                metered = grown as f64 * sensor.scale;
                self.grown += metered;
                if ns > 0 {
                    self.value(metered / (ns as f64 * 1e-9));
                }
            }
        }
        self.last = time;
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

/// Folds what an interpreter gives, and a scheduler beside it.
#[derive(Debug)]
pub struct Collector {
    out: Readings,
    unions: Unions,
    ids: HashMap<Region, usize>,
    names: Vec<Region>,
    /// Numbers of threads by position, those of the runtime's own last.
    threads: Vec<u32>,
    /// Open user regions by position.
    user: HashMap<usize, Vec<Option<usize>>>,
    texts: HashMap<(usize, u64), String>,
    /// A thread of the program has begun.
    begun: bool,
    /// The last event of all, ns.
    last: u64,
    has_meters: bool,
    /// Regions are those of the trace, not given from outside.
    follows: bool,
    busy: Busy,
    cores: Option<Cores>,
}

/// Which threads are in user code: each stands for a busy core.
#[derive(Debug, Default)]
struct Busy {
    /// By position of the thread: whether it is, and its last event, ns.
    threads: Vec<(bool, u64)>,
    /// Times and positions of threads' last events, the first of them last.
    ends: Vec<(u64, usize)>,
    count: usize,
}

impl Busy {
    fn new(threads: &[ThreadInfo]) -> Self {
        let ends = threads.iter().map(|info| info.last_time).zip(0..);
        let mut ends: Vec<(u64, usize)> = ends.collect();
        ends.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            threads: threads.iter().map(|info| (false, info.last_time)).collect(),
            ends,
            count: 0,
        }
    }

    /// A thread does nothing after its last event.
    fn set(&mut self, position: usize, time: u64, useful: bool) {
        if let Some((was, last)) = self.threads.get_mut(position) {
            let now = useful && time < *last;
            self.count = self.count + usize::from(now) - usize::from(*was);
            *was = now;
        }
    }

    /// The next thread whose last event was not after `time`: when that was.
    fn end(&mut self, time: u64) -> Option<u64> {
        let (last, position) = self.ends.pop_if(|(last, _)| *last <= time)?;
        self.set(position, last, false);
        Some(last)
    }
}

impl Collector {
    /// For the sensors and counters that the trace defines, and a power model if there is one.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn new(trace: &Trace, model: Option<PowerModel>) -> Result<Self, Error> {
        let metadata = trace.metadata();
        let definitions = Definitions::of(metadata);
        let period = metadata
            .other
            .iter()
            .find(|(key, _)| key == "sensors_period_ns")
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(0);
        let mut meters = 0;
        let count = |sensor: &SensorDef| {
            let quantity = match (sensor.kind, sensor.unit.as_str()) {
                (SensorKind::Total, "J") => Some(Quantity::Energy),
                (SensorKind::Level, "W") => Some(Quantity::Power),
                _ => None,
            };
            meters += quantity.map_or(0, |_| sensor.values as usize);
            let quantity = quantity.filter(|_| meters <= MAX_METERS);
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
        let all = || trace.threads().iter().chain(trace.own_threads());
        let mut unions = Unions::new();
        unions.enter(0, all().map(|info| info.first_time).min().unwrap_or(0));
        Ok(Self {
            has_meters: model.is_some()
                || values.iter().flatten().any(|value| value.meter.is_some()),
            follows: true,
            busy: Busy::new(trace.threads()),
            out: Readings {
                by_switches: cores.is_some(),
                model: model.map(ModelMeter::new),
                lost: vec![None; definitions.sensors.len()],
                values,
                definitions,
                ..Readings::default()
            },
            unions,
            ids: HashMap::new(),
            names: vec![Region::Run],
            threads: all().map(|info| info.index).collect(),
            user: HashMap::new(),
            texts: HashMap::new(),
            begun: false,
            last: all().map(|info| info.last_time).max().unwrap_or(0),
            cores,
        })
    }

    /// The same, but for regions that are given by [`Collector::enter_place`] and [`Collector::leave_place`] instead of those of the trace.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn of_places(trace: &Trace, model: Option<PowerModel>) -> Result<Self, Error> {
        Ok(Self {
            follows: false,
            ..Self::new(trace, model)?
        })
    }

    /// Someone enters the place at `time` (ns).
    pub fn enter_place(&mut self, time: u64, place: usize) {
        if self.has_meters {
            self.enter(time, Region::Place(place));
        }
    }

    /// Someone leaves it.
    pub fn leave_place(&mut self, time: u64, place: usize) {
        if let Some(&id) = self.ids.get(&Region::Place(place)) {
            self.leave(id, time);
        }
    }

    fn sensor(&mut self, time: u64, sensor: usize, def: &SensorDef, values: &[Value]) {
        for (count, value) in self.out.values[sensor].iter_mut().zip(values) {
            count.reading(def, time, value, &self.unions);
        }
    }

    fn count(&mut self, position: usize, scaled: bool, values: &[Count]) {
        let count = self.out.definitions.counters.len();
        let thread = self.threads.get(position).copied().unwrap_or(u32::MAX);
        let known = self.out.counters.entry(thread).or_default();
        known.resize(count, MISSING);
        for (known, count) in known.iter_mut().zip(values) {
            // Not read: the program closed its descriptor. What was counted before stays.
            *known = count.value.unwrap_or(*known);
        }
        self.out.counter_readings += 1;
        self.out.scaled |= scaled;
    }

    /// Threads whose last event was not after `time` are not in user code any more.
    fn end_threads(&mut self, time: u64) {
        if let Some(model) = self.out.model.as_mut().filter(|_| self.cores.is_none()) {
            while let Some(end) = self.busy.end(time) {
                model.busy(end, self.busy.count);
            }
        }
    }

    /// The number of the region; nothing when there are too many.
    fn enter(&mut self, time: u64, region: Region) -> Option<usize> {
        self.end_threads(time);
        if self.names.len() >= MAX_REGIONS && !self.ids.contains_key(&region) {
            return None;
        }
        let id = *self.ids.entry(region).or_insert_with_key(|region| {
            self.names.push(region.clone());
            self.names.len() - 1
        });
        if self.unions.count() >= MAX_OPEN && !self.unions.is_open(id) {
            return None;
        }
        self.unions.enter(id, time);
        if let Some(model) = &mut self.out.model {
            model.enter(id, time);
        }
        Some(id)
    }

    fn leave(&mut self, region: usize, time: u64) {
        self.end_threads(time);
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

    /// The sums, once the interpreter has ended all threads.
    #[must_use]
    pub fn finish(mut self) -> Readings {
        self.leave(0, self.last);
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

impl Sink for Collector {
    const TASK_CODES: bool = false;
    const READINGS: bool = true;

    #[inline]
    fn thread_begin(&mut self, at: At) {
        if !std::mem::replace(&mut self.begun, true)
            && let (Some(cores), Some(model)) = (&self.cores, &mut self.out.model)
        {
            model.busy(at.time, cores.count());
        }
    }

    #[inline]
    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        match *reading {
            Reading::Sensor {
                sensor,
                def,
                values,
            } => self.sensor(at.time, sensor, def, values),
            Reading::Lost { sensor } => _ = self.out.lost[sensor].get_or_insert(at.time),
            Reading::Counters { scaled, values } => self.count(at.position, scaled, values),
            _ => {}
        }
    }

    #[inline]
    fn mark(&mut self, at: At, mark: Mark<'_>) {
        if let Mark::Text { address, text } = mark
            && self.has_meters
            && self.follows
            && self.texts.len() < MAX_TEXTS
        {
            let text = String::from_utf8_lossy(text).into_owned();
            self.texts.insert((at.position, address), text);
        }
    }

    /// A region in a task that leaves its thread is not open meanwhile.
    #[inline]
    fn begin(&mut self, at: At, span: &Span, _how: Begin) {
        match *span {
            _ if !self.has_meters || !self.follows => {}
            Span::Parallel { code, .. } => {
                _ = self.enter(at.time, Region::Parallel(code));
            }
            Span::User { name } => {
                let known = self.texts.get(&(at.position, name)).cloned();
                let name = known.unwrap_or_else(|| format!("{name:#x}"));
                let id = self.enter(at.time, Region::User(name));
                self.user.entry(at.position).or_default().push(id);
            }
            _ => {}
        }
    }

    #[inline]
    fn end(&mut self, at: At, span: &Span, _how: End, _since: Since) {
        match *span {
            _ if !self.has_meters || !self.follows => {}
            Span::Parallel { code, .. } => {
                if let Some(&id) = self.ids.get(&Region::Parallel(code)) {
                    self.leave(id, at.time);
                }
            }
            Span::User { .. } => {
                let open = self.user.get_mut(&at.position).and_then(Vec::pop);
                if let Some(id) = open.flatten() {
                    self.leave(id, at.time);
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn state(&mut self, at: At, state: State) {
        if self.cores.is_none() && self.out.model.is_some() {
            self.end_threads(at.time);
            self.busy.set(at.position, at.time, state == State::Useful);
            if let Some(model) = &mut self.out.model {
                model.busy(at.time, self.busy.count);
            }
        }
    }

    /// Switches before the program's first event and after its last one are not of the run.
    #[inline]
    fn switch(&mut self, switch: &Switch) {
        if let (Some(cores), Some(model)) = (&mut self.cores, &mut self.out.model) {
            cores.switch(switch);
            if self.begun && switch.time <= self.last {
                model.busy(switch.time, cores.count());
            }
        }
    }
}

impl Readings {
    /// Which meters add up to the machine's energy: positions in [`Readings::energy`], see [`total`].
    #[must_use]
    pub fn added(&self) -> Vec<usize> {
        total(&self.zones())
    }

    /// Where each meter of [`Readings::energy`] belongs.
    #[must_use]
    pub fn zones(&self) -> Vec<Zone> {
        let zone_of = |((sensor, value), _): &((usize, usize), _)| {
            let sensor = &self.definitions.sensors[*sensor];
            let label = sensor.labels.get(*value).map_or("", String::as_str);
            zone(&sensor.name, label)
        };
        self.energy.iter().map(zone_of).collect()
    }

    /// The sum of a region's energies (a position in [`Readings::regions`]) over the meters `added`; the time that all of them cover.
    #[must_use]
    pub fn sum(&self, added: &[usize], region: usize) -> Energy {
        let of = |at: &usize| self.energy[*at].1.get(region).copied().unwrap_or_default();
        let mut sum = Energy {
            covered_s: f64::INFINITY,
            ..Energy::default()
        };
        for energy in added.iter().map(of) {
            sum.joules += energy.joules;
            sum.error_joules += energy.error_joules;
            sum.covered_s = sum.covered_s.min(energy.covered_s);
        }
        if !sum.covered_s.is_finite() {
            sum.covered_s = 0.0;
        }
        sum
    }

    /// Counter `at` of each thread that counted it.
    pub fn counted(&self, at: usize) -> impl Iterator<Item = (u32, i64)> + '_ {
        self.counters.iter().filter_map(move |(thread, values)| {
            let value = *values.get(at)?;
            (value != MISSING).then_some((*thread, value))
        })
    }
}
