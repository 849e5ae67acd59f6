//! What the run-time library's work costs, as the trace shows it.

use serde::Serialize;

/// Values of a kind that are kept for quantiles.
const KEPT: usize = 1 << 13;
/// Values above the third quartile by more than so many times the distance of the quartiles are far out (Tukey, Exploratory Data Analysis, 1977): threads that
/// lost their processor in between.
const FAR_OUT: f64 = 3.0;

/// What a cost that no trace shows is taken to be at most, ns: starting threads, and any other. A thread that is started on a processor where another one works
/// waits for the next tick of the scheduler, of which Linux has 250 a second or more; other costs were less in 95 % of all cases (`docs/predict.md`). It is part of the error alone.
pub const UNKNOWN_START_NS: f64 = 4_000_000.0;
/// See [`UNKNOWN_START_NS`].
pub const UNKNOWN_NS: f64 = 100_000.0;

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
    /// The same on the other threads, which were there before.
    Fork,
    /// The same on any thread, where a thread is made for the region.
    Start,
    /// Each further thread that is made for a region.
    Make,
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
pub const COSTS: [Cost; 12] = [
    Cost::Create,
    Cost::Dispatch,
    Cost::Wake,
    Cost::Enter,
    Cost::Fork,
    Cost::Start,
    Cost::Make,
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
            foreign_ns: 0.0,
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
    /// How much the mean of another program may differ, if this is from other programs: a standard deviation. 0: it is the program's own.
    #[serde(skip)]
    pub foreign_ns: f64,
}

impl Measure {
    /// How much a single one differs from the mean: a standard deviation, or as much as the mean where there is one value alone.
    #[must_use]
    pub fn spread_ns(&self) -> f64 {
        match self.count {
            0 | 1 => self.mean_ns,
            _ => self.deviation_ns,
        }
    }

    /// Standard error of the mean.
    #[must_use]
    pub fn error_ns(&self) -> f64 {
        self.deviation_ns / (self.count.max(1) as f64).sqrt()
    }

    /// How much the mean of another run differs from this one: both have their standard errors, and a program's own costs may differ from those of others.
    #[must_use]
    pub fn between_runs_ns(&self) -> f64 {
        (2.0 * self.error_ns().powi(2) + self.foreign_ns.powi(2)).sqrt()
    }

    /// Both together. Quantiles are those of the one with more values.
    fn and(&self, other: &Self) -> Self {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { *other } else { *self };
        }
        let (own, more) = (self.count as f64, other.count as f64);
        let all = own + more;
        let mean = (own * self.mean_ns + more * other.mean_ns) / all;
        let squares = |measure: &Self, count: f64| {
            let variance = (count - 1.0) * measure.deviation_ns.powi(2);
            variance + count * (measure.mean_ns - mean).powi(2)
        };
        let larger = if other.count > self.count {
            other
        } else {
            self
        };
        Self {
            count: self.count + other.count,
            mean_ns: mean,
            deviation_ns: ((squares(self, own) + squares(other, more)) / (all - 1.0)).sqrt(),
            ..*larger
        }
    }

    /// By as much as `several` is above `one`. The error has those of all three.
    fn dearer(&self, one: &Self, several: &Self) -> Self {
        let more = (several.mean_ns - one.mean_ns).max(0.0);
        let errors = [self, one, several].map(|measure| measure.error_ns().powi(2));
        Self {
            mean_ns: self.mean_ns + more,
            median_ns: self.median_ns + more,
            p95_ns: self.p95_ns + more,
            deviation_ns: (errors.iter().sum::<f64>() * self.count as f64).sqrt(),
            foreign_ns: several.foreign_ns.min(more),
            ..*self
        }
    }
}

/// What was measured in a trace of so many threads.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'m> {
    /// Threads of its regions.
    pub team: usize,
    /// By kind.
    pub measures: &'m [Measure; COSTS.len()],
}

/// What each kind costs with several threads.
///
/// * Where the run itself had several threads, what it shows; else what runs of the same program with several threads show.
/// * What neither shows: what `others` do, which may be of any program.
/// * Where the run had one thread: creating tasks, beginning them, asking for chunks and taking free locks cost more with several threads by as much as in
///   `others`, if these have runs with one thread and with several.
#[must_use]
pub fn with_several(
    own: Measured<'_>,
    same: &[Measured<'_>],
    others: &[Measured<'_>],
) -> [Measure; COSTS.len()] {
    std::array::from_fn(|at| {
        let mine = own.measures[at];
        if own.team > 1 && mine.count > 0 {
            return mine;
        }
        let same = pooled(same, at, true);
        if same.count > 0 {
            return same;
        }
        let (one, mut several) = (pooled(others, at, false), pooled(others, at, true));
        several.foreign_ns = apart(others, at, &several);
        let is_of_teams = matches!(COSTS[at], Cost::Enter | Cost::Barrier | Cost::Join);
        match (mine.count > 0 && !is_of_teams, one.count > 0) {
            _ if several.count == 0 => mine,
            (true, true) => mine.dearer(&one, &several),
            (true, false) => mine,
            _ => several,
        }
    })
}

/// All that traces with one thread, or with several, show of a kind.
fn pooled(traces: &[Measured<'_>], at: usize, several: bool) -> Measure {
    let of = traces.iter().filter(|trace| (trace.team > 1) == several);
    of.fold(Measure::default(), |sum, trace| {
        sum.and(&trace.measures[at])
    })
}

/// How much the means of traces with several threads differ, ns; of a single one nobody knows it: as much as single values do, but no more than the mean.
fn apart(traces: &[Measured<'_>], at: usize, all: &Measure) -> f64 {
    let of = traces.iter().filter(|trace| trace.team > 1);
    let of = of.map(|trace| trace.measures[at]);
    let means: Vec<f64> = of
        .filter(|measure| measure.count > 0)
        .map(|measure| measure.mean_ns)
        .collect();
    if means.len() < 2 {
        return all.deviation_ns.min(all.mean_ns);
    }
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let squares = means.iter().map(|of| (of - mean).powi(2));
    (squares.sum::<f64>() / (count - 1.0)).sqrt()
}

/// For how long a thread had no processor, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Off {
    /// It had something to do: others had its processor.
    pub ready: u64,
    /// In all, with what it waited for anything else.
    pub all: u64,
}

impl Off {
    /// Since it was as much as this.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            ready: self.ready.saturating_sub(before.ready),
            all: self.all.saturating_sub(before.all),
        }
    }
}

/// Samples of all kinds: as they were, without the time in which others had the thread's processor, and without that in which it had none.
#[derive(Clone, Debug)]
pub struct Samples {
    all: [Sample; COSTS.len()],
    without_others: [Sample; COSTS.len()],
    on_processor: [Sample; COSTS.len()],
    random: fastrand::Rng,
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            all: Default::default(),
            without_others: Default::default(),
            on_processor: Default::default(),
            // The output is reproducible.
            random: fastrand::Rng::with_seed(16),
        }
    }
}

impl Samples {
    /// One more value of a kind, ns, in which the thread had no processor for a part.
    pub fn add(&mut self, cost: Cost, ns: u64, off: Off) {
        let at = cost as usize;
        let random = &mut self.random;
        self.all[at].add(ns, random);
        self.without_others[at].add(ns.saturating_sub(off.ready), random);
        self.on_processor[at].add(ns.saturating_sub(off.all), random);
    }

    /// What was measured, by kind.
    #[must_use]
    pub fn measures(&self) -> [Measure; COSTS.len()] {
        std::array::from_fn(|at| self.all[at].measure())
    }

    /// The same without the time in which others had the processor.
    #[must_use]
    pub fn without_others(&self) -> [Measure; COSTS.len()] {
        std::array::from_fn(|at| self.without_others[at].measure())
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

    fn measured(mean_ns: f64, count: u64) -> Measure {
        Measure {
            count,
            mean_ns,
            deviation_ns: 10.0,
            ..Measure::default()
        }
    }

    /// Costs of a trace by kind; the other kinds were not measured.
    fn trace(of: &[(Cost, f64)]) -> [Measure; COSTS.len()] {
        let mut all = [Measure::default(); COSTS.len()];
        for (cost, ns) in of {
            all[*cost as usize] = measured(*ns, 100);
        }
        all
    }

    #[test]
    fn other_traces_show_what_several_threads_cost() {
        let own = trace(&[(Cost::Create, 300.0), (Cost::Join, 10.0)]);
        let (one, two) = (
            trace(&[(Cost::Create, 200.0), (Cost::Join, 5.0)]),
            trace(&[
                (Cost::Create, 700.0),
                (Cost::Join, 4000.0),
                (Cost::Wake, 9000.0),
            ]),
        );
        let of = |team, measures| Measured { team, measures };
        let mean = |costs: &[Measure; COSTS.len()], cost: Cost| costs[cost as usize].mean_ns;
        let found = with_several(of(1, &own), &[], &[of(1, &one), of(2, &two)]);
        // The program's own tasks are dearer by as much as the others' are.
        assert_eq!(mean(&found, Cost::Create), 800.0);
        // The end of a region of one thread says nothing about that of two.
        assert_eq!(mean(&found, Cost::Join), 4000.0);
        assert_eq!(mean(&found, Cost::Wake), 9000.0);
        assert_eq!(found[Cost::Fork as usize].count, 0);
        // Without a run of theirs with one thread, it is not known by how much.
        let found = with_several(of(1, &own), &[], &[of(2, &two)]);
        assert_eq!(mean(&found, Cost::Create), 300.0);
        // The program's own runs come first.
        let found = with_several(of(1, &own), &[of(2, &two)], &[of(2, &one)]);
        assert_eq!(
            (mean(&found, Cost::Create), mean(&found, Cost::Join)),
            (700.0, 4000.0)
        );
        let found = with_several(of(2, &own), &[of(4, &one)], &[of(2, &two)]);
        assert_eq!(
            (mean(&found, Cost::Create), mean(&found, Cost::Wake)),
            (300.0, 9000.0)
        );
    }

    #[test]
    fn costs_of_other_programs_are_known_as_well_as_these_agree() {
        let own = trace(&[(Cost::Create, 300.0)]);
        let others = [4000.0, 6000.0, 8000.0].map(|ns| trace(&[(Cost::Wake, ns)]));
        let of = |team, measures| Measured { team, measures };
        let all: Vec<_> = others.iter().map(|costs| of(2, costs)).collect();
        let found = with_several(of(1, &own), &[], &all);
        let wake = found[Cost::Wake as usize];
        assert_eq!((wake.mean_ns, wake.foreign_ns), (6000.0, 2000.0));
        assert!(wake.between_runs_ns() > 2000.0);
        // Of one program, a value is as far off as others are from each other there.
        let found = with_several(of(1, &own), &[], &all[..1]);
        assert_eq!(found[Cost::Wake as usize].foreign_ns, 10.0);
        // What runs of the program itself show is its own.
        let found = with_several(of(1, &own), &all, &all);
        assert_eq!(found[Cost::Wake as usize].foreign_ns, 0.0);
    }

    #[test]
    fn what_two_traces_show_is_one_sample() {
        let values = |range: std::ops::Range<u64>| {
            let (mut sample, mut random) = (Sample::default(), fastrand::Rng::with_seed(1));
            range.for_each(|ns| sample.add(ns, &mut random));
            sample.measure()
        };
        let (both, whole) = (values(0..300).and(&values(300..1000)), values(0..1000));
        assert_eq!(both.count, 1000);
        assert!((both.mean_ns - whole.mean_ns).abs() < 1e-6);
        assert!((both.deviation_ns - whole.deviation_ns).abs() < 1e-6);
    }

    #[test]
    fn nothing_was_measured() {
        assert_eq!(Sample::default().measure(), Measure::default());
    }
}
