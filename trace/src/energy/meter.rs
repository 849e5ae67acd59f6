//! The energy of regions by one meter.
//!
//! Between two readings power is taken as linear (a meter of power: the trapezoid rule, clipped to the region with interpolated borders)
//! or as constant (a meter of energy: what it grew by, in proportion to time). Before the first and after the last reading the nearest
//! power is held, for one period at most; what lies beyond is not covered. With the moments of a region's part of a segment,
//! L = Σ ∫dt and M = Σ ∫(t − t₀)dt, its energy is P₀L + (P₁ − P₀)/(t₁ − t₀)·M, so that a region needs two numbers however often it runs.

use super::Unions;

/// Pieces before the first reading that are remembered.
const MAX_EARLY: usize = 1 << 16;

/// What the meter's readings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Power, W.
    Power,
    /// Energy since the reading before, J. The first reading only tells the time.
    Energy,
}

/// The energy of one region.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// The estimate, J.
    pub joules: f64,
    /// The true value is no further away, J: as long as power is monotone between two readings (a meter of power), wherever between
    /// two readings the energy was used (a meter of energy). What was held at the edges counts in full. The meter's own error is not in it.
    pub error_joules: f64,
    /// Seconds of the region that readings cover.
    pub covered_s: f64,
}

/// What a region has of the segment since the last reading, and of all before.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    energy: Energy,
    /// L: seconds.
    length: f64,
    /// M: seconds², from the segment's beginning.
    moment: f64,
    /// Seconds within one period of the last reading.
    held: f64,
    /// Seconds within one period before the first reading.
    early: f64,
    touched: bool,
}

/// One meter: takes its readings and the regions' intervals in order of time.
#[derive(Clone, Debug)]
pub struct Meter {
    quantity: Quantity,
    period: u64,
    last: Option<(u64, f64)>,
    /// Power of the last segment, W.
    power: f64,
    readings: u64,
    /// Energy read at the same time as the reading before, J.
    pending: f64,
    parts: Vec<Part>,
    touched: Vec<usize>,
    early: Vec<(usize, u64, u64)>,
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

impl Meter {
    /// A meter that is read every `period` ns (0: not on a period; then nothing is held at the edges).
    #[must_use]
    pub fn new(quantity: Quantity, period: u64) -> Self {
        Self {
            quantity,
            period,
            last: None,
            power: 0.0,
            readings: 0,
            pending: 0.0,
            parts: Vec::new(),
            touched: Vec::new(),
            early: Vec::new(),
        }
    }

    /// `region` was open from `begin` to `end` (ns), as [`Unions::leave`] says.
    pub fn piece(&mut self, region: usize, begin: u64, end: u64) {
        let Some((start, _)) = self.last else {
            if self.early.len() < MAX_EARLY {
                self.early.push((region, begin, end));
            }
            return;
        };
        let begin = begin.max(start);
        if end <= begin {
            return;
        }
        let limit = start.saturating_add(self.period);
        let (from, to) = (seconds(begin - start), seconds(end - start));
        let part = self.part(region);
        part.length += to - from;
        part.moment += (to * to - from * from) / 2.0;
        part.held += seconds(end.min(limit).saturating_sub(begin.min(limit)));
    }

    fn part(&mut self, region: usize) -> &mut Part {
        if region >= self.parts.len() {
            self.parts.resize(region + 1, Part::default());
        }
        let part = &mut self.parts[region];
        if !part.touched {
            part.touched = true;
            self.touched.push(region);
        }
        part
    }

    /// A reading at `time` (ns): watts, or joules since the reading before. Readings that step back in time are left out.
    pub fn reading(&mut self, time: u64, value: f64, unions: &Unions) {
        if !value.is_finite() || self.last.is_some_and(|(last, _)| time < last) {
            return;
        }
        for (region, since) in unions.open() {
            self.piece(region, since, time);
        }
        match self.last {
            None => self.first(time),
            Some((start, _)) if start == time => {
                if self.quantity == Quantity::Energy {
                    self.pending += value; // the next segment has it
                }
            }
            Some((start, before)) => {
                let value = value + std::mem::take(&mut self.pending);
                self.segment(seconds(time - start), before, value);
            }
        }
        self.readings += 1;
        self.last = Some((time, value));
    }

    /// Power is held before the first reading.
    fn first(&mut self, time: u64) {
        let limit = time.saturating_sub(self.period);
        for (region, begin, end) in std::mem::take(&mut self.early) {
            let length = seconds(end.min(time).saturating_sub(begin.max(limit)));
            if length > 0.0 {
                self.part(region).early += length;
            }
        }
    }

    /// `value` is the new power, or the energy of the segment that it ends.
    fn segment(&mut self, length: f64, before: f64, value: f64) {
        let (start, slope) = match self.quantity {
            Quantity::Power => (before, (value - before) / length),
            Quantity::Energy => (value / length, 0.0),
        };
        for region in std::mem::take(&mut self.touched) {
            let part = &mut self.parts[region];
            let joules = start * part.length + slope * part.moment;
            let error = match self.quantity {
                // Worst where power jumps at the piece's border: |ΔP|·L·(1 − L/2T), |ΔP|·T/2 for a whole segment.
                Quantity::Power => {
                    (value - before).abs() * part.length * (1.0 - part.length / (2.0 * length))
                }
                // All of it or nothing, unless the region has the whole segment.
                Quantity::Energy if part.length < length * (1.0 - 1e-9) => {
                    joules.abs().max((value - joules).abs())
                }
                Quantity::Energy => 0.0,
            };
            let held = start * part.early;
            part.energy.joules += joules + held;
            part.energy.error_joules += error.max(0.0) + held.abs();
            part.energy.covered_s += part.length + part.early;
            (part.length, part.moment, part.held, part.early) = (0.0, 0.0, 0.0, 0.0);
            part.touched = false;
        }
        self.power = match self.quantity {
            Quantity::Power => value,
            Quantity::Energy => start,
        };
    }

    /// How many readings there were.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.readings
    }

    /// The energy of each region, after the last reading and interval. Regions that were never open, or never covered, have none.
    #[must_use]
    pub fn finish(mut self) -> Vec<Energy> {
        let power = match (self.quantity, self.last) {
            (Quantity::Power, Some((_, value))) => value,
            _ => self.power,
        };
        let usable = match self.quantity {
            Quantity::Power => self.readings > 0,
            Quantity::Energy => self.readings > 1,
        };
        for region in std::mem::take(&mut self.touched) {
            let part = &mut self.parts[region];
            let covered = part.held + part.early;
            if usable {
                part.energy.joules += power * covered;
                part.energy.error_joules += (power * covered).abs();
                part.energy.covered_s += covered;
            }
        }
        self.parts.into_iter().map(|part| part.energy).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The energy of `regions` (begin, end, ms) when `power` (W at s) is read every `period` ms from 0 to `end` ms.
    fn measured(
        power: impl Fn(f64) -> f64,
        period: u64,
        end: u64,
        regions: &[(u64, u64)],
    ) -> Energy {
        let (mut meter, mut unions) = (Meter::new(Quantity::Power, period * MS), Unions::new());
        let mut moments: Vec<(u64, u8)> =
            (0..=end / period).map(|n| (n * period * MS, 1)).collect();
        moments.extend(
            regions
                .iter()
                .flat_map(|(from, to)| [(from * MS, 0), (to * MS, 2)]),
        );
        moments.sort_unstable();
        for (time, what) in moments {
            match what {
                0 => unions.enter(0, time),
                1 => meter.reading(time, power(seconds(time)), &unions),
                _ => {
                    if let Some((from, to)) = unions.leave(0, time) {
                        meter.piece(0, from, to);
                    }
                }
            }
        }
        meter.finish().first().copied().unwrap_or_default()
    }

    fn close(measured: f64, exact: f64, share: f64) {
        let error = (measured - exact).abs();
        assert!(
            error <= exact * share + 1e-9,
            "{measured} J, exactly {exact} J: off by {error}"
        );
    }

    #[test]
    fn linear_power_is_exact_wherever_the_region_lies() {
        // ∫ 5 + 20t over [0.123, 0.777]
        let exact = 5.0 * 0.654 + 10.0 * (0.777f64.powi(2) - 0.123f64.powi(2));
        let found = measured(|t| 5.0 + 20.0 * t, 10, 1000, &[(123, 777)]);
        close(found.joules, exact, 1e-9);
        assert!((found.covered_s - 0.654).abs() < 1e-9);
        assert!(found.error_joules < 0.01 * exact);
    }

    #[test]
    fn at_ten_milliseconds_regions_of_two_hundred_are_within_one_percent() {
        // Power that swings by half, 1.7 times a second, as a chip between phases does: ∫ 30 + 15 sin(ωt).
        let omega = 2.0 * std::f64::consts::PI * 1.7;
        let exact = |a: f64, b: f64| {
            30.0 * (b - a) + 15.0 / omega * ((omega * a).cos() - (omega * b).cos())
        };
        for begin in (0..700).step_by(37) {
            let (from, to) = (begin as f64 / 1e3, (begin + 200) as f64 / 1e3);
            let found = measured(
                |t| 30.0 + 15.0 * (omega * t).sin(),
                10,
                1000,
                &[(begin, begin + 200)],
            );
            close(found.joules, exact(from, to), 0.01);
            assert!(
                (found.joules - exact(from, to)).abs() <= found.error_joules,
                "the stated error holds"
            );
        }
        // A step from 10 W to 50 W at 0.503 s, between two readings; the region ends there or lies around it.
        let step = |t: f64| if t < 0.503 { 10.0 } else { 50.0 };
        for (from, to, exact) in [(303, 503, 2.0), (400, 600, 1.03 + 4.85), (503, 703, 10.0)] {
            let found = measured(step, 10, 1000, &[(from, to)]);
            assert!(
                (found.joules - exact).abs() <= found.error_joules + 1e-9,
                "{found:?}"
            );
            close(found.joules, exact, 0.05);
        }
    }

    #[test]
    fn intervals_that_overlap_are_counted_once() {
        // Threads inside from 100 to 300, 200 to 450 and 400 to 420, later 600 to 700: the union is 450 ms of 20 W.
        let found = measured(
            |_| 20.0,
            10,
            1000,
            &[(100, 300), (200, 450), (400, 420), (600, 700)],
        );
        close(found.joules, 20.0 * 0.45, 1e-9);
        assert_eq!(found.error_joules, 0.0);
    }

    #[test]
    fn the_edge_is_held_for_one_period_and_no_longer() {
        // Readings from 0 to 500 ms; the region goes on to 800 ms: 10 ms are held, the rest is not covered.
        let found = measured(|_| 40.0, 10, 500, &[(400, 800)]);
        close(found.joules, 40.0 * 0.110, 1e-9);
        assert!((found.covered_s - 0.110).abs() < 1e-9);
        close(found.error_joules, 40.0 * 0.010, 1e-9);
        let (mut meter, unions) = (Meter::new(Quantity::Power, 10 * MS), Unions::new());
        meter.piece(0, 0, 95 * MS);
        meter.reading(100 * MS, 40.0, &unions);
        close(meter.finish()[0].joules, 40.0 * 0.005, 1e-9);
    }

    #[test]
    fn a_meter_of_energy_gives_each_region_its_share_of_time() {
        let (mut meter, mut unions) = (Meter::new(Quantity::Energy, 0), Unions::new());
        unions.enter(0, 0);
        meter.reading(0, 0.0, &unions);
        unions.enter(1, 25 * MS);
        meter.reading(100 * MS, 4.0, &unions);
        let (from, to) = unions.leave(1, 150 * MS).unwrap();
        meter.piece(1, from, to);
        meter.reading(200 * MS, 8.0, &unions);
        let found = meter.finish();
        close(found[0].joules, 12.0, 1e-9);
        assert_eq!(found[0].error_joules, 0.0, "the whole run has all of it");
        close(found[1].joules, 3.0 + 4.0, 1e-9);
        close(found[1].error_joules, 3.0 + 4.0, 1e-9);
    }

    #[test]
    fn readings_at_one_time_or_out_of_order_do_no_harm() {
        let (mut meter, mut unions) = (Meter::new(Quantity::Power, 0), Unions::new());
        unions.enter(0, 0);
        for (time, watts) in [
            (0, 1.0),
            (0, 10.0),
            (50 * MS, f64::NAN),
            (100 * MS, 10.0),
            (90 * MS, 99.0),
        ] {
            meter.reading(time, watts, &unions);
        }
        close(meter.finish()[0].joules, 1.0, 1e-9);
    }
}
