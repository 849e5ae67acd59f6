//! How much the mean of values that follow each other differs from run to run, as far as one run shows it.
//!
//! Work that others do on the machine makes stretches of a run slower: neighbours are slow together, and the standard error of independent values is too
//! small. Means of batches of neighbours have what stretches differ by (method of batch means: A. M. Law, *Simulation Modeling and Analysis*, chapter 9).

/// Most batches.
const BATCHES: usize = 32;
/// Fewest from which a spread follows.
const FEWEST: usize = 8;

/// Sums of batches of as many values each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spread {
    sums: Vec<f64>,
    /// Values of a batch, 0: one.
    size: u64,
    open: f64,
    in_open: u64,
}

impl Spread {
    /// One more value.
    pub(super) fn add(&mut self, value: f64) {
        self.open += value;
        self.in_open += 1;
        if self.in_open < self.size.max(1) {
            return;
        }
        self.sums.push(self.open);
        (self.open, self.in_open) = (0.0, 0);
        if self.sums.len() == BATCHES {
            self.sums = in_pairs(&self.sums);
            self.size = 2 * self.size.max(1);
        }
    }

    /// The variance of the mean, as a share of its square; `None`: too few values.
    ///
    /// Where slow stretches are as long as batches, longer batches say more, and the growth from one length to the next goes on (D. Vats and J. M. Flegal,
    /// *Lugsail lag windows for estimating time-average covariance matrices*, 2022). Of all lengths the largest is taken: too much is a lesser fault than too little.
    pub(super) fn variance(&self) -> Option<f64> {
        if self.sums.len() < FEWEST {
            return None;
        }
        let twice = in_pairs(&self.sums);
        let (one, two) = (of_mean(&self.sums)?, of_mean(&twice)?);
        let four = of_mean(&in_pairs(&twice))?;
        Some(one.max(two).max(four).max(2.0 * two - one))
    }
}

fn in_pairs(sums: &[f64]) -> Vec<f64> {
    let pairs = sums.chunks_exact(2);
    pairs.map(|pair| pair.iter().sum()).collect()
}

/// The variance of the mean of independent values, as a share of its square.
fn of_mean(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    let of_mean = squares.sum::<f64>() / (count - 1.0) / count;
    (mean > 0.0).then(|| of_mean / (mean * mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard deviation of the means of runs, and what single runs say of it, as its mean.
    fn compare(value: impl Fn(&mut fastrand::Rng, &mut f64) -> f64) -> (f64, f64) {
        let mut random = fastrand::Rng::with_seed(4);
        let (mut means, mut said) = (Vec::new(), 0.0);
        for _ in 0..300 {
            let (mut spread, mut state, mut sum) = (Spread::default(), 0.0, 0.0);
            for _ in 0..2_000 {
                let value = value(&mut random, &mut state);
                spread.add(value);
                sum += value;
            }
            means.push(sum / 2_000.0);
            said += spread.variance().unwrap() / 300.0;
        }
        let mean = means.iter().sum::<f64>() / 300.0;
        let squares = means.iter().map(|of| (of - mean).powi(2)).sum::<f64>();
        ((squares / 299.0).sqrt() / mean, said.sqrt())
    }

    #[test]
    fn values_that_are_slow_together_differ_more_from_run_to_run() {
        let independent = |random: &mut fastrand::Rng, _: &mut f64| 100.0 + 50.0 * random.f64();
        let (true_one, said) = compare(independent);
        // The largest of several is too large by a sixth.
        assert!(
            (0.95..1.3).contains(&(said / true_one)),
            "{said} {true_one}"
        );
        // Stretches of some forty values that are half as long again.
        let stretches = |random: &mut fastrand::Rng, slow: &mut f64| {
            if random.f64() < 0.025 {
                *slow = if random.f64() < 0.3 { 50.0 } else { 0.0 };
            }
            100.0 + *slow + 50.0 * random.f64()
        };
        let (true_one, said) = compare(stretches);
        assert!(true_one > 0.01, "{true_one}");
        assert!((0.9..1.3).contains(&(said / true_one)), "{said} {true_one}");
    }

    #[test]
    fn few_values_say_nothing() {
        let mut spread = Spread::default();
        (0..7).for_each(|value| spread.add(f64::from(value)));
        assert_eq!(spread.variance(), None);
        spread.add(7.0);
        assert!(spread.variance().is_some());
    }
}
