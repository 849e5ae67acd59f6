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

/// The same thing measured twice in turn (`A/A`), with the thing to compare in between.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// Without the change.
    pub(crate) plain: Series,
    /// Without the change, once more.
    pub(crate) again: Series,
    /// With the change.
    pub(crate) changed: Series,
    ratios: Series,
    spreads: Series,
}

impl Compared {
    /// Runs the three in turn, `rounds` times; every second round in the opposite order.
    pub(crate) fn measure<E>(
        rounds: usize,
        mut plain: impl FnMut() -> Result<f64, E>,
        mut changed: impl FnMut() -> Result<f64, E>,
    ) -> Result<Self, E> {
        let mut all = Self::default();
        for round in 0..rounds {
            let (a, b, c);
            if round % 2 == 0 {
                a = plain()?;
                b = changed()?;
                c = plain()?;
            } else {
                c = plain()?;
                b = changed()?;
                a = plain()?;
            }
            all.plain.push(a);
            all.changed.push(b);
            all.again.push(c);
            all.ratios.push(b / f64::midpoint(a, c));
            all.spreads.push(c / a);
        }
        Ok(all)
    }

    /// Median of the rounds' ratios changed ÷ plain; a drift of the machine's speed cancels out within a round.
    pub(crate) fn ratio(&self) -> f64 {
        self.ratios.median()
    }

    /// The same ratio of plain to plain: what the measurement cannot tell from 1.
    pub(crate) fn spread(&self) -> f64 {
        self.spreads.median()
    }

    /// Least changed ÷ least plain: less disturbed by other work of the machine.
    pub(crate) fn best_ratio(&self) -> f64 {
        self.changed.min() / self.plain.min().min(self.again.min())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_even_and_odd_counts() {
        let series = |values: &[f64]| Series(values.to_vec());
        assert_eq!(series(&[3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(series(&[4.0, 1.0, 2.0, 3.0]).median(), 2.5);
        assert!(series(&[]).median().is_nan());
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
    }
}
