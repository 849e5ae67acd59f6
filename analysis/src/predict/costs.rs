//! What the run-time library's work costs, as the trace shows it.

use serde::Serialize;

/// Values of a kind that are kept for quantiles.
const KEPT: usize = 1 << 13;
/// Values above the third quartile by more than so many times the distance of the quartiles are far out (Tukey, Exploratory Data Analysis, 1977): threads that
/// lost their processor in between.
const FAR_OUT: f64 = 3.0;

/// Kinds of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// The call that creates a task.
    Create,
    /// From the end of a task, or the begin of a wait, to the begin of a task that was ready: on one thread.
    Dispatch,
    /// From a task's readiness to its begin on a thread that had nothing to do.
    Wake,
    /// From the begin of a region to that of its implicit task on the thread that encounters it.
    Enter,
    /// The same on the other threads.
    Fork,
    /// From the last arrival at a barrier, or the end of the last task in it, to its end on a thread.
    Barrier,
    /// The same for the barrier that ends a region.
    Join,
    /// Asking for a chunk.
    Ask,
    /// Taking a lock that is free.
    Lock,
    /// From the release of a lock to its next holder, who waited.
    HandOver,
}

/// All kinds, in the order of [`Costs`].
pub const COSTS: [Cost; 10] = [
    Cost::Create,
    Cost::Dispatch,
    Cost::Wake,
    Cost::Enter,
    Cost::Fork,
    Cost::Barrier,
    Cost::Join,
    Cost::Ask,
    Cost::Lock,
    Cost::HandOver,
];

/// A cost of each kind, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs(pub [f64; COSTS.len()]);

impl Costs {
    /// The cost of a kind, in whole ns.
    #[must_use]
    pub fn ns(&self, cost: Cost) -> u64 {
        self.0[cost as usize].round() as u64
    }
}

/// Values of one kind: how many, and a sample of them.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    count: u64,
    kept: Vec<u32>,
}

impl Sample {
    /// One more value, ns.
    pub fn add(&mut self, ns: u64, random: &mut fastrand::Rng) {
        self.count += 1;
        let ns = u32::try_from(ns).unwrap_or(u32::MAX);
        if self.kept.len() < KEPT {
            self.kept.push(ns);
        } else if let Ok(at) = usize::try_from(random.u64(..self.count))
            && let Some(place) = self.kept.get_mut(at)
        {
            *place = ns;
        }
    }

    /// What is known of them.
    #[must_use]
    pub fn measure(&self) -> Measure {
        let mut values = self.kept.clone();
        values.sort_unstable();
        let Some(last) = values.len().checked_sub(1) else {
            return Measure::default();
        };
        let at = |share: f64| f64::from(values[(last as f64 * share).round() as usize]);
        let most = at(0.75) + FAR_OUT * (at(0.75) - at(0.25));
        let count = values.len() as f64;
        let of = |value: &u32| f64::from(*value).min(most);
        let mean = values.iter().map(of).sum::<f64>() / count;
        let squares = values.iter().map(|value| (of(value) - mean).powi(2));
        let deviation = (squares.sum::<f64>() / (count - 1.0).max(1.0)).sqrt();
        Measure {
            count: self.count,
            mean_ns: mean,
            median_ns: at(0.5),
            p95_ns: at(0.95),
            deviation_ns: deviation,
        }
    }
}

/// What was measured of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measure {
    /// How often.
    pub count: u64,
    /// Mean, in which values that are far out count as the limit for that: the third quartile and three times the distance of the quartiles.
    pub mean_ns: f64,
    /// Median.
    pub median_ns: f64,
    /// 95 %.
    pub p95_ns: f64,
    /// Standard deviation.
    pub deviation_ns: f64,
}

impl Measure {
    /// Standard error of the mean.
    #[must_use]
    pub fn error_ns(&self) -> f64 {
        self.deviation_ns / (self.count.max(1) as f64).sqrt()
    }
}

/// Samples of all kinds: as they were, and without the time in which the thread had no processor.
#[derive(Clone, Debug)]
pub struct Samples {
    all: [Sample; COSTS.len()],
    on_processor: [Sample; COSTS.len()],
    random: fastrand::Rng,
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            all: Default::default(),
            on_processor: Default::default(),
            // The output is reproducible.
            random: fastrand::Rng::with_seed(16),
        }
    }
}

impl Samples {
    /// One more value of a kind, and the part of it in which the thread had no processor, ns.
    pub fn add(&mut self, cost: Cost, ns: u64, off: u64) {
        self.all[cost as usize].add(ns, &mut self.random);
        let on = ns.saturating_sub(off);
        self.on_processor[cost as usize].add(on, &mut self.random);
    }

    /// What was measured, by kind.
    #[must_use]
    pub fn measures(&self) -> [Measure; COSTS.len()] {
        std::array::from_fn(|at| self.all[at].measure())
    }

    /// The same of the time on processors alone.
    #[must_use]
    pub fn on_processor(&self) -> [Measure; COSTS.len()] {
        std::array::from_fn(|at| self.on_processor[at].measure())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_processor_is_no_cost() {
        let mut sample = Sample::default();
        let mut random = fastrand::Rng::with_seed(1);
        for at in 0..1000 {
            sample.add(if at % 200 == 7 { 4_000_000 } else { 100 }, &mut random);
        }
        let measure = sample.measure();
        assert_eq!((measure.count, measure.median_ns), (1000, 100.0));
        assert_eq!((measure.mean_ns, measure.deviation_ns), (100.0, 0.0));
    }

    #[test]
    fn a_sample_stands_for_all() {
        let mut sample = Sample::default();
        let mut random = fastrand::Rng::with_seed(2);
        for at in 0..100_000 {
            sample.add(at % 1000, &mut random);
        }
        let measure = sample.measure();
        assert_eq!(sample.kept.len(), KEPT);
        assert!((measure.mean_ns - 499.5).abs() < 15.0, "{measure:?}");
        // Of numbers 0 to 999, all alike.
        assert!((measure.deviation_ns - 288.7).abs() < 10.0, "{measure:?}");
    }

    #[test]
    fn nothing_was_measured() {
        assert_eq!(Sample::default().measure(), Measure::default());
    }
}
