//! Energy by a power model: power is known at every moment from the number of busy cores, so that nothing is sampled.

use super::PowerModel;

/// Power over time by a model, and the energy of regions in it. Takes what happens in order of time.
#[derive(Clone, Debug)]
pub struct ModelMeter {
    model: PowerModel,
    busy: usize,
    /// First and last time, ns.
    span: Option<(u64, u64)>,
    /// Energy up to the last time, J.
    joules: f64,
    regions: Vec<Region>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Region {
    inside: u32,
    /// [`ModelMeter::joules`] when it was opened.
    opened: f64,
    joules: f64,
}

impl ModelMeter {
    /// No core is busy.
    #[must_use]
    pub fn new(model: PowerModel) -> Self {
        Self {
            model,
            busy: 0,
            span: None,
            joules: 0.0,
            regions: Vec::new(),
        }
    }

    /// Time goes on to `time` (ns); steps back are left out.
    pub fn advance(&mut self, time: u64) {
        let (_, last) = self.span.get_or_insert((time, time));
        if time > *last {
            let power = self.model.power_mw(self.busy as f64) * 1e-3;
            self.joules += power * ((time - *last) as f64 * 1e-9);
            *last = time;
        }
    }

    /// From `time` on that many cores are busy.
    pub fn busy(&mut self, time: u64, cores: usize) {
        self.advance(time);
        self.busy = cores;
    }

    /// Someone enters `region` at `time`.
    pub fn enter(&mut self, region: usize, time: u64) {
        self.advance(time);
        if region >= self.regions.len() {
            self.regions.resize(region + 1, Region::default());
        }
        let joules = self.joules;
        let region = &mut self.regions[region];
        if region.inside == 0 {
            region.opened = joules;
        }
        region.inside = region.inside.saturating_add(1);
    }

    /// Someone leaves; the region's intervals that overlap count once.
    pub fn leave(&mut self, region: usize, time: u64) {
        self.advance(time);
        let joules = self.joules;
        let Some(region) = self.regions.get_mut(region) else {
            return;
        };
        if region.inside == 1 {
            region.joules += joules - region.opened;
        }
        region.inside = region.inside.saturating_sub(1);
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &PowerModel {
        &self.model
    }

    /// Energy so far, J.
    #[must_use]
    pub fn joules(&self) -> f64 {
        self.joules
    }

    /// Seconds so far.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let (first, last) = self.span.unwrap_or_default();
        (last - first) as f64 * 1e-9
    }

    /// Average power so far, mW; nothing before time has passed.
    #[must_use]
    pub fn average_mw(&self) -> Option<f64> {
        let seconds = self.seconds();
        (seconds > 0.0).then(|| self.joules / seconds * 1e3)
    }

    /// Energy of the closed intervals of a region, J.
    #[must_use]
    pub fn region_joules(&self, region: usize) -> f64 {
        self.regions.get(region).map_or(0.0, |region| region.joules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn close(found: f64, exact: f64) {
        assert!(
            (found - exact).abs() <= 1e-9 * exact.abs().max(1e-6),
            "{found}, exactly {exact}"
        );
    }

    fn meter() -> ModelMeter {
        ModelMeter::new(PowerModel::new(Some(100.0), &[200.0, 300.0, 500.0]).unwrap())
    }

    #[test]
    fn energy_is_power_times_time_at_each_number_of_cores() {
        let mut meter = meter();
        for (ms, cores) in [(1000, 1), (1010, 3), (1030, 0), (1070, 2)] {
            meter.busy(ms * MS, cores);
        }
        meter.advance(1100 * MS);
        // 10 ms at 200 mW, 20 at 500, 40 at 100, 30 at 300.
        close(
            meter.joules(),
            1e-6 * (2_000.0 + 10_000.0 + 4_000.0 + 9_000.0),
        );
        close(meter.average_mw().unwrap(), 250.0);
    }

    #[test]
    fn a_region_has_the_energy_of_the_time_it_was_open_once() {
        let mut meter = meter();
        meter.busy(0, 1);
        meter.enter(2, 10 * MS);
        meter.enter(2, 15 * MS);
        meter.busy(20 * MS, 3);
        meter.leave(2, 25 * MS);
        meter.leave(2, 30 * MS);
        meter.leave(2, 35 * MS);
        meter.leave(7, 35 * MS);
        meter.enter(2, 40 * MS);
        meter.leave(2, 50 * MS);
        // 10 ms at 200 mW and 10 + 10 at 500; an end too many changes nothing.
        close(meter.region_joules(2), 1e-6 * (2_000.0 + 10_000.0));
        close(meter.region_joules(7), 0.0);
    }

    #[test]
    fn time_that_stands_still_or_steps_back_has_no_energy() {
        let mut meter = meter();
        assert_eq!(meter.average_mw(), None);
        meter.busy(5 * MS, 1);
        meter.busy(5 * MS, 2);
        assert_eq!((meter.average_mw(), meter.joules()), (None, 0.0));
        meter.busy(15 * MS, 1);
        meter.busy(10 * MS, 3);
        close(meter.joules(), 3e-3);
    }
}
