//! Medians and spreads.

/// Repeated measurements of one quantity.
#[derive(Debug, Default, Clone)]
pub(crate) struct Series(Vec<f64>);

impl Series {
    /// Adds one measurement.
    pub(crate) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    fn sorted(&self) -> Vec<f64> {
        let mut values = self.0.clone();
        values.sort_by(f64::total_cmp);
        values
    }

    /// The median; NaN of nothing.
    pub(crate) fn median(&self) -> f64 {
        let values = self.sorted();
        match values.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => values[n / 2],
            n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
        }
    }

    /// The least; NaN of nothing.
    pub(crate) fn min(&self) -> f64 {
        self.sorted().first().copied().unwrap_or(f64::NAN)
    }
}

impl FromIterator<f64> for Series {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// One round: the same thing twice (`A/A`), and the thing to compare in between.
#[derive(Debug, Clone, Copy)]
struct Round {
    plain: f64,
    changed: f64,
    again: f64,
}

impl Round {
    /// What the changed one is compared with: a linear drift of the machine's speed cancels out.
    fn reference(self) -> f64 {
        f64::midpoint(self.plain, self.again)
    }
}

/// The same thing measured twice in turn (`A/A`), with the thing to compare in between.
#[derive(Debug, Default)]
pub(crate) struct Compared(Vec<Round>);

impl Compared {
    /// Runs the three in turn, `rounds` times; every second round in the opposite order.
    pub(crate) fn measure<E>(
        rounds: usize,
        plain: impl FnMut() -> Result<f64, E>,
        mut changed: impl FnMut() -> Result<f64, E>,
    ) -> Result<Self, E> {
        let [compared] = Self::measure_many(rounds, plain, |_| changed())?;
        Ok(compared)
    }

    /// The same with several changes, numbered from 0, between plain and plain again.
    pub(crate) fn measure_many<E, const N: usize>(
        rounds: usize,
        mut plain: impl FnMut() -> Result<f64, E>,
        mut changed: impl FnMut(usize) -> Result<f64, E>,
    ) -> Result<[Self; N], E> {
        let mut all: [Self; N] = std::array::from_fn(|_| Self::default());
        for round in 0..rounds {
            let backwards = round % 2 == 1;
            let first = plain()?;
            let mut times = [0.0; N];
            for turn in 0..N {
                let change = if backwards { N - 1 - turn } else { turn };
                times[change] = changed(change)?;
            }
            let last = plain()?;
            let (plain, again) = if backwards {
                (last, first)
            } else {
                (first, last)
            };
            for (compared, changed) in all.iter_mut().zip(times) {
                compared.0.push(Round {
                    plain,
                    changed,
                    again,
                });
            }
        }
        Ok(all)
    }

    fn over_rounds(&self, of: impl Fn(Round) -> f64) -> Series {
        self.0.iter().copied().map(of).collect()
    }

    /// Without the change: median over the rounds.
    pub(crate) fn plain(&self) -> f64 {
        self.over_rounds(Round::reference).median()
    }

    /// With the change: median over the rounds.
    pub(crate) fn changed(&self) -> f64 {
        self.over_rounds(|round| round.changed).median()
    }

    /// Median of the rounds' ratios changed ÷ plain.
    pub(crate) fn ratio(&self) -> f64 {
        self.over_rounds(|round| round.changed / round.reference())
            .median()
    }

    /// Where the median of the ratios is with 95 % certainty, whatever their distribution: the ranks between which it lies with less than 2.5 % on
    /// either side by the binomial law. With fewer than six rounds, the least and the greatest ratio.
    pub(crate) fn ratio_interval(&self) -> (f64, f64) {
        let ratios = self.over_rounds(|round| round.changed / round.reference());
        let sorted = ratios.sorted();
        let count = sorted.len();
        let (mut rank, mut below) = (0, 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX)));
        let mut term = below;
        while below <= 0.025 {
            rank += 1;
            term *= (count + 1 - rank) as f64 / rank as f64;
            below += term;
        }
        let rank = rank.saturating_sub(1);
        let at = |index: Option<usize>| index.and_then(|index| sorted.get(index)).copied();
        let nothing = f64::NAN;
        (
            at(Some(rank)).unwrap_or(nothing),
            at(count.checked_sub(rank + 1)).unwrap_or(nothing),
        )
    }

    /// How far plain and plain again are typically apart, as a share of the time: a ratio within it of 1 means nothing.
    pub(crate) fn ratio_noise(&self) -> f64 {
        self.over_rounds(|round| (round.again / round.plain - 1.0).abs())
            .median()
    }

    /// Median of the rounds' differences changed − plain.
    pub(crate) fn difference(&self) -> f64 {
        self.over_rounds(|round| round.changed - round.reference())
            .median()
    }

    /// How far plain and plain again are typically apart: a difference within it means nothing.
    pub(crate) fn difference_noise(&self) -> f64 {
        self.over_rounds(|round| (round.again - round.plain).abs())
            .median()
    }

    /// Least changed ÷ least plain: less disturbed by other work of the machine.
    pub(crate) fn best_ratio(&self) -> f64 {
        self.over_rounds(|round| round.changed).min()
            / self.over_rounds(|round| round.plain.min(round.again)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of (first, changed, last) in the order in which they were run.
    fn rounds(rounds: &[[f64; 3]]) -> Compared {
        let plain: Vec<f64> = rounds
            .iter()
            .flat_map(|round| [round[0], round[2]])
            .collect();
        let (mut plain, mut changed) = (plain.into_iter(), rounds.iter().map(|round| round[1]));
        Compared::measure(
            rounds.len(),
            || plain.next().ok_or(()),
            || changed.next().ok_or(()),
        )
        .unwrap()
    }

    #[test]
    fn median_of_even_and_odd_counts() {
        let series = |values: &[f64]| Series(values.to_vec());
        assert_eq!(series(&[3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(series(&[4.0, 1.0, 2.0, 3.0]).median(), 2.5);
        assert!(series(&[]).median().is_nan());
        assert!(series(&[]).min().is_nan());
    }

    #[test]
    fn the_interval_of_a_median_has_the_ranks_of_the_tables() {
        // Ranks of the 95 % interval of a median: tables of the sign test.
        for (count, low) in [(2, 1), (5, 1), (6, 1), (9, 2), (12, 3), (15, 4), (20, 6)] {
            let ratios: Vec<_> = (1..=count).map(|i| [1.0, f64::from(i), 1.0]).collect();
            let high = f64::from(count + 1 - low);
            assert_eq!(
                rounds(&ratios).ratio_interval(),
                (f64::from(low), high),
                "{count}"
            );
        }
    }

    #[test]
    fn a_linear_drift_cancels_out() {
        let clock = std::cell::Cell::new(100.0);
        let tick = |factor: f64| {
            clock.set(clock.get() + 10.0);
            Ok::<_, ()>(clock.get() * factor)
        };
        let compared = Compared::measure(6, || tick(1.0), || tick(1.5)).unwrap();
        assert!((compared.ratio() - 1.5).abs() < 1e-9);

        let drift = rounds(&[[10.0, 16.0, 12.0], [12.0, 18.0, 14.0], [14.0, 20.0, 16.0]]);
        assert_eq!(drift.difference(), 5.0);
        assert_eq!(drift.difference_noise(), 2.0);
    }

    #[test]
    fn a_disturbed_round_does_not_change_the_result() {
        let calm = [[10.0, 15.0, 10.0], [20.0, 30.0, 20.0], [10.0, 15.0, 10.0]];
        let mut disturbed = calm.to_vec();
        disturbed.extend([[10.0, 500.0, 10.0], [10.0, 15.0, 10.0]]);
        assert_eq!(rounds(&calm).ratio(), 1.5);
        assert_eq!(rounds(&disturbed).ratio(), 1.5);
        assert_eq!(rounds(&disturbed).difference(), 5.0);
        assert_eq!(rounds(&disturbed).best_ratio(), 1.5);
    }

    #[test]
    fn noise_counts_in_both_directions() {
        let noisy = rounds(&[[10.0, 10.0, 12.0], [10.0, 10.0, 12.0], [12.0, 10.0, 10.0]]);
        assert_eq!(noisy.difference_noise(), 2.0);
        assert!(noisy.ratio_noise() > 0.16, "{}", noisy.ratio_noise());
        assert_eq!(rounds(&[[7.0, 9.0, 7.0]]).ratio_noise(), 0.0);
    }

    #[test]
    fn order_alternates_between_rounds() {
        let compared = rounds(&[[1.0, 5.0, 3.0], [1.0, 5.0, 3.0]]);
        assert_eq!((compared.0[0].plain, compared.0[0].again), (1.0, 3.0));
        assert_eq!((compared.0[1].plain, compared.0[1].again), (3.0, 1.0));
        assert_eq!((compared.plain(), compared.changed()), (2.0, 5.0));
    }

    #[test]
    fn several_changes_share_their_plain_runs() {
        let order = std::cell::RefCell::new(String::new());
        let run = |name: char, time: f64| {
            order.borrow_mut().push(name);
            Ok::<_, ()>(time)
        };
        let [slow, fast] = Compared::measure_many(
            2,
            || run('p', 10.0),
            |change| run(['s', 'f'][change], [30.0, 20.0][change]),
        )
        .unwrap();
        assert_eq!(*order.borrow(), "psfppfsp");
        assert_eq!((slow.ratio(), fast.ratio()), (3.0, 2.0));
    }

    #[test]
    fn an_error_ends_the_measurement() {
        assert!(Compared::measure(3, || Ok(1.0), || Err("no")).is_err());
    }
}
