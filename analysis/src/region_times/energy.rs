//! Energy of the regions of the tree: by meters that add up to the machine's, or by the power model of its chip.

use instr_trace::energy::{Energy, PowerModel};
use instr_trace::model::{At, Begin, End, Mark, Reading, Since, Sink, Span, State, Switch};
use instr_trace::{Error, Trace};

use super::{Collector, Regions};
use crate::sensors::{self, Readings, Region};

/// The number of the place that is any region at all.
const ANY: usize = usize::MAX;

/// Energy of a process and of its regions. The machine's meters do not see processes: it is what the whole machine took meanwhile.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Energies {
    /// By a power model, not by meters.
    pub is_modelled: bool,
    /// From the first event to the last.
    pub run: Energy,
    /// While no region was open.
    pub outside: Energy,
    /// While at least one thread was in the region, in the order of [`Regions::nodes`].
    pub nodes: Vec<Energy>,
}

/// Collects [`Regions`] with their [`Energies`].
#[derive(Debug)]
pub struct Metered {
    times: Collector,
    sensors: sensors::Collector,
}

impl Metered {
    /// For a trace; `model`: of its chip, for want of meters.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn new(trace: &Trace, model: Option<PowerModel>) -> Result<Self, Error> {
        let mut times = Collector::new(trace.threads().len());
        times.changes = Some(Vec::new());
        Ok(Self {
            times,
            sensors: sensors::Collector::of_places(trace, model)?,
        })
    }

    /// See [`Collector::keep_intervals`].
    pub fn keep_intervals(&mut self) {
        self.times.keep_intervals();
    }

    /// Gives the energy what the times have found.
    fn pass_on(&mut self) {
        for change in self.times.changes.iter_mut().flat_map(|all| all.drain(..)) {
            let place = change.place.unwrap_or(ANY);
            match change.entered {
                true => self.sensors.enter_place(change.time, place),
                false => self.sensors.leave_place(change.time, place),
            }
        }
    }

    /// What was collected; no energies where there was neither a meter nor a model.
    #[must_use]
    pub fn finish(self) -> (Regions, Option<Energies>) {
        let regions = self.times.finish();
        let energies = energies(&self.sensors.finish(), regions.nodes.len());
        (regions, energies)
    }
}

fn energies(readings: &Readings, nodes: usize) -> Option<Energies> {
    let added = readings.added();
    let model = readings.model.as_ref();
    let of = |at: usize| match model {
        Some(model) if added.is_empty() => Energy {
            joules: model.region_joules(at),
            error_joules: 0.0,
            covered_s: readings.regions[at].1 as f64 * 1e-9,
        },
        _ => readings.sum(&added, at),
    };
    if added.is_empty() && model.is_none() {
        return None;
    }
    let mut found = Energies {
        is_modelled: added.is_empty(),
        nodes: vec![Energy::default(); nodes],
        ..Energies::default()
    };
    let mut inside = Energy::default();
    for (at, (region, _)) in readings.regions.iter().enumerate() {
        match region {
            Region::Run => found.run = of(at),
            Region::Place(ANY) => inside = of(at),
            Region::Place(place) => found.nodes[*place] = of(at),
            Region::Parallel(_) | Region::User(_) => {}
        }
    }
    // The model counts the run by itself.
    if let Some(model) = model.filter(|_| found.is_modelled) {
        found.run.joules = model.joules();
    }
    found.outside = Energy {
        joules: (found.run.joules - inside.joules).max(0.0),
        error_joules: found.run.error_joules + inside.error_joules,
        covered_s: (found.run.covered_s - inside.covered_s).max(0.0),
    };
    Some(found)
}

impl Sink for Metered {
    const TASK_CODES: bool = false;
    const READINGS: bool = true;

    fn thread_begin(&mut self, at: At) {
        self.times.thread_begin(at);
        self.sensors.thread_begin(at);
    }

    fn thread_end(&mut self, at: At) {
        self.times.thread_end(at);
        self.pass_on();
    }

    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.times.begin(at, span, how);
        self.pass_on();
    }

    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        self.times.end(at, span, how, since);
        self.pass_on();
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        self.sensors.mark(at, mark);
    }

    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        self.times.reading(at, reading);
        self.sensors.reading(at, reading);
    }

    fn state(&mut self, at: At, state: State) {
        self.sensors.state(at, state);
    }

    fn switch(&mut self, switch: &Switch) {
        self.sensors.switch(switch);
    }
}
