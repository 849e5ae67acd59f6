//! The laws of Amdahl, Gustafson and Gunther, fitted to runs.

use super::regression::{self, Regression};
use super::{Estimate, Observation, REACH, Refusal, VAGUE, distinct};

/// A law that is off by more than this share does not fit.
const MISS: f64 = 0.05;
/// So many half widths of its interval a coherency must lie above 0. One is enough where the errors of runs grow with their times. What a start takes varies by as much on any number of
/// threads, so most in proportion on the largest, where a coherency shows: there one half width is passed by chance in every tenth sweep.
const SURE: f64 = 3.0;

/// Which law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// T(p) = T₁ (f + (1 − f) / p): a part f stays serial (Amdahl 1967).
    Amdahl,
    /// T(p) = T₁ (1 + σ (p − 1) + κ p (p − 1)) / p: contention σ and coherency κ (Gunther, *Guerrilla Capacity Planning*, 2007).
    Universal,
    /// S(p) = p − s (p − 1) for problems that grow with the threads (Gustafson 1988).
    Gustafson,
}

/// A parameter of a law.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Parameter {
    /// Its name in the field.
    pub name: &'static str,
    /// Its value, in seconds or without a unit.
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// The runs on one number of threads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Median {
    /// Threads.
    pub threads: f64,
    /// The median of their times with its interval, s.
    pub seconds: Estimate,
    /// How many they are: one has no interval.
    pub runs: usize,
}

/// A law with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    law: Law,
    regression: Regression,
    largest: f64,
}

impl Law {
    /// The columns of a time, or of what Gustafson's speedup misses.
    fn row(self, p: f64) -> Vec<f64> {
        match self {
            Self::Amdahl => vec![1.0, 1.0 / p],
            Self::Universal => vec![1.0 / p, (p - 1.0) / p, p - 1.0],
            Self::Gustafson => vec![1.0, p],
        }
    }

    /// Fits the law to run times of one input on several numbers of threads.
    ///
    /// # Errors
    ///
    /// Too few numbers of threads for the parameters, and [`Law::Gustafson`], which needs [`gustafson`].
    pub fn fit(self, runs: &[Observation]) -> Result<Fitted, Refusal> {
        if self == Self::Gustafson {
            return Err(Refusal::Dependent);
        }
        let same_threads = runs.chunk_by(|a, b| a.threads == b.threads);
        let rows = same_threads.map(|same| (self.row(same[0].threads), same.len()));
        let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
        let largest = distinct(runs.iter().map(|run| run.threads))
            .pop()
            .unwrap_or(1.0);
        Ok(Fitted {
            law: self,
            regression: regression::fit(rows, &seconds)?,
            largest,
        })
    }
}

/// Gustafson's law from scaled speedups: `(p, S)` with S the time on one thread over the time on p threads, for a problem p times as large. With S = (1 − s) p + s the columns are p and 1.
///
/// # Errors
///
/// Fewer than three numbers of threads.
pub fn gustafson(speedups: &[(f64, f64)]) -> Result<Fitted, Refusal> {
    let rows = speedups.iter().map(|(p, _)| (Law::Gustafson.row(*p), 1));
    let values: Vec<f64> = speedups.iter().map(|(_, speedup)| *speedup).collect();
    let largest = distinct(speedups.iter().map(|(p, _)| *p))
        .pop()
        .unwrap_or(1.0);
    Ok(Fitted {
        law: Law::Gustafson,
        regression: regression::fit(rows, &values)?,
        largest,
    })
}

impl Fitted {
    /// Which law it is.
    pub fn law(&self) -> Law {
        self.law
    }

    /// Deviation of runs from the law, as a share.
    pub fn deviation(&self) -> f64 {
        self.regression.scale
    }

    /// Its parameters: time on one thread and serial fraction (Amdahl), time, contention and coherency (Gunther), serial fraction (Gustafson).
    pub fn parameters(&self) -> Vec<Parameter> {
        let c = &self.regression.coefficients;
        let whole = c[0] + c[1];
        let named = |name, estimate| Parameter { name, estimate };
        // The share c[0] / (c[0] + c[1]).
        let share = || {
            let gradient = [c[1] / (whole * whole), -c[0] / (whole * whole)];
            self.regression
                .function(|c| c[0] / (c[0] + c[1]), &gradient, 0.0)
        };
        match self.law {
            Law::Amdahl => vec![
                named("time on one thread", self.regression.expect(&[1.0, 1.0])),
                named("serial fraction", share()),
            ],
            Law::Gustafson => vec![named("serial fraction", share())],
            Law::Universal => {
                let ratio = |at: usize| {
                    let mut gradient = [-c[at] / (c[0] * c[0]), 0.0, 0.0];
                    gradient[at] = 1.0 / c[0];
                    self.regression.function(|c| c[at] / c[0], &gradient, 0.0)
                };
                vec![
                    named(
                        "time on one thread",
                        self.regression.expect(&[1.0, 0.0, 0.0]),
                    ),
                    named("contention", ratio(1)),
                    named("coherency", ratio(2)),
                ]
            }
        }
    }

    /// Whether coherency is above 0 for sure: more than runs that follow Amdahl's law have by chance.
    pub fn is_coherent(&self) -> bool {
        let parameters = self.parameters();
        let coherency = match self.law {
            Law::Universal => parameters.get(2),
            Law::Amdahl | Law::Gustafson => None,
        };
        coherency.is_some_and(|it| it.estimate.value > SURE * (it.estimate.value - it.estimate.low))
    }

    /// The number of threads with the shortest time; none where more are always better.
    pub fn best_threads(&self) -> Option<f64> {
        let c = &self.regression.coefficients;
        match self.law {
            Law::Universal if c[2] > 0.0 => Some(((c[0] - c[1]).max(0.0) / c[2]).sqrt().max(1.0)),
            _ => None,
        }
    }

    /// What the law has on so many threads, without an interval: for its curve among the points that were measured.
    pub fn expect(&self, threads: f64) -> f64 {
        let row = self.law.row(threads);
        let terms = row.iter().zip(&self.regression.coefficients);
        terms.map(|(value, coefficient)| value * coefficient).sum()
    }

    /// Where the law is off most from the medians of the runs that it was fitted to: by more than a twentieth (a tenth where there is one run each), and outside of the
    /// median's interval. [`None`]: it fits.
    pub fn misses(&self, medians: &[Median]) -> Option<Refusal> {
        let off = |median: &Median| {
            let expected = self.expect(median.threads);
            let off = (expected / median.seconds.value - 1.0).abs();
            let interval = median.seconds.low..=median.seconds.high;
            let is_off = match median.runs {
                0 | 1 => off > 2.0 * MISS,
                _ => off > MISS && !interval.contains(&expected),
            };
            is_off.then_some((median.threads, off))
        };
        let worst = medians.iter().filter_map(off);
        let (threads, off) = worst.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let percent = 100.0 * off;
        Some(Refusal::Misses { threads, percent })
    }

    /// The time of a run on so many threads (Gustafson: the speedup).
    ///
    /// # Errors
    ///
    /// More than [`REACH`] times the threads that were measured, and runs that vary too much.
    pub fn predict(&self, threads: f64) -> Result<Estimate, Refusal> {
        if threads > REACH * self.largest {
            return Err(Refusal::TooFar {
                asked: threads,
                largest: self.largest,
                most: REACH,
            });
        }
        certain(self.regression.run(&self.law.row(threads)))
    }
}

/// An estimate that is good for something.
pub(super) fn certain(estimate: Estimate) -> Result<Estimate, Refusal> {
    match estimate.relative() > VAGUE {
        true => Err(Refusal::TooVague {
            percent: estimate.relative() * 100.0,
        }),
        false => Ok(estimate),
    }
}

#[cfg(test)]
mod tests {
    use super::super::LEVEL;
    use super::*;
    use crate::statistics::{limits, location};

    fn runs(threads: &[f64], mut time: impl FnMut(f64) -> f64) -> Vec<Observation> {
        let run = |p: &f64| Observation {
            threads: *p,
            size: None,
            seconds: time(*p),
        };
        threads.iter().map(run).collect()
    }

    const COUNTS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

    fn medians(runs: &[Observation]) -> Vec<Median> {
        let same_threads = runs.chunk_by(|a, b| a.threads == b.threads);
        let median = |same: &[Observation]| {
            let seconds: Vec<f64> = same.iter().map(|run| run.seconds).collect();
            let value = location::median(&seconds).unwrap();
            let (low, high) = limits::of_median(&seconds, LEVEL).unwrap_or((value, value));
            Median {
                threads: same[0].threads,
                seconds: Estimate { value, low, high },
                runs: same.len(),
            }
        };
        same_threads.map(median).collect()
    }

    /// A time of p^-0.5 is nobody's law; one that follows it with noise of a percent fits.
    #[test]
    fn a_law_that_does_not_fit_is_seen() {
        let counts = [1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 8.0, 8.0];
        let root = runs(&counts, |p| p.powf(-0.5));
        let misses = Law::Amdahl.fit(&root).unwrap().misses(&medians(&root));
        assert!(matches!(misses, Some(Refusal::Misses { .. })), "{misses:?}");
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..100 {
            let noisy = runs(&counts, |p| {
                (0.1 + 0.9 / p) * (1.0 + 0.02 * (random.f64() - 0.5))
            });
            let fitted = Law::Amdahl.fit(&noisy).unwrap();
            assert_eq!(fitted.misses(&medians(&noisy)), None);
        }
    }

    #[test]
    fn amdahl_finds_the_serial_fraction() {
        let fitted = Law::Amdahl
            .fit(&runs(&COUNTS, |p| 8.0 * (0.05 + 0.95 / p)))
            .unwrap();
        let [time, fraction] = &fitted.parameters()[..] else {
            panic!("two parameters")
        };
        assert!(
            (time.estimate.value - 8.0).abs() < 1e-9
                && (fraction.estimate.value - 0.05).abs() < 1e-9
        );
        assert!((fitted.predict(64.0).unwrap().value - 8.0 * (0.05 + 0.95 / 64.0)).abs() < 1e-9);
        assert!(matches!(fitted.predict(257.0), Err(Refusal::TooFar { .. })));
    }

    #[test]
    fn the_universal_law_finds_its_coefficients_and_its_best_count() {
        let (sigma, kappa) = (0.02, 0.0005);
        let law = |p: f64| 10.0 * (1.0 + sigma * (p - 1.0) + kappa * p * (p - 1.0)) / p;
        let fitted = Law::Universal.fit(&runs(&COUNTS, law)).unwrap();
        let values: Vec<f64> = fitted
            .parameters()
            .iter()
            .map(|it| it.estimate.value)
            .collect();
        for (value, truth) in values.iter().zip([10.0, sigma, kappa]) {
            assert!((value - truth).abs() < 1e-8, "{value} {truth}");
        }
        // Gunther: sqrt((1 - sigma) / kappa) = 44.3.
        assert!((fitted.best_threads().unwrap() - (0.98_f64 / 0.0005).sqrt()).abs() < 1e-6);
    }

    /// A tenth of 0.3 s is serial, a start takes 2 ms and more. Coherency is seen where it is, and in at most one of a hundred sweeps where it is not.
    #[test]
    fn a_coherency_is_no_chance() {
        let mut random = fastrand::Rng::with_seed(36);
        let counts = [1.0, 2.0, 4.0, 8.0, 16.0].map(|p| [p; 5]).concat();
        let mut seen = |kappa: f64| {
            let sweeps = 1000;
            let found = (0..sweeps).filter(|_| {
                let sweep = runs(&counts, |p| {
                    let start = 2e-3 - 3e-4 * random.f64().ln();
                    0.3 * (0.1 + 0.9 / p + kappa * (p - 1.0)) + start
                });
                Law::Universal.fit(&sweep).unwrap().is_coherent()
            });
            found.count() as f64 / f64::from(sweeps)
        };
        let (none, some) = (seen(0.0), seen(5e-4));
        assert!(none <= 0.01 && some >= 0.99, "{none} {some}");
    }

    #[test]
    fn gustafson_from_scaled_speedups() {
        let speedups: Vec<(f64, f64)> = COUNTS.iter().map(|p| (*p, p - 0.1 * (p - 1.0))).collect();
        let fitted = gustafson(&speedups).unwrap();
        assert!((fitted.parameters()[0].estimate.value - 0.1).abs() < 1e-9);
    }

    #[test]
    fn few_counts_carry_no_law() {
        let two = runs(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], |p| 1.0 / p);
        assert!(matches!(
            Law::Amdahl.fit(&two),
            Err(Refusal::TooFew { has: 2, .. })
        ));
        let three = Law::Amdahl.fit(&runs(&[1.0, 2.0, 4.0], |p| 1.0 / p));
        let why = three.unwrap_err().to_string();
        assert_eq!(why, "3 runs: at least 4 are needed");
        assert!(matches!(
            Law::Universal.fit(&runs(&[1.0, 2.0, 4.0], |p| 1.0 / p)),
            Err(Refusal::TooFew { .. })
        ));
    }

    /// 95 of 100 intervals hold the truth: 93 of 100 is what is asked for, on errors that are not normal (a tail to the right, as run times have it).
    #[test]
    fn intervals_of_laws_hold_under_tails() {
        let mut random = fastrand::Rng::with_seed(21);
        let mut held = 0;
        let trials = 500;
        for _ in 0..trials {
            let mut noisy = Vec::new();
            for p in COUNTS {
                for _ in 0..5 {
                    let tail = if random.u8(..10) == 0 {
                        0.10 * random.f64()
                    } else {
                        0.0
                    };
                    let noise =
                        1.0 + 0.02 * ((0..12).map(|_| random.f64()).sum::<f64>() - 6.0) + tail;
                    noisy.push(Observation {
                        threads: p,
                        size: None,
                        seconds: 8.0 * (0.05 + 0.95 / p) * noise,
                    });
                }
            }
            let fraction = Law::Amdahl.fit(&noisy).unwrap().parameters()[1].estimate;
            held += usize::from(fraction.low <= 0.05 && 0.05 <= fraction.high);
        }
        assert!(held * 100 >= 93 * trials, "{held} of {trials}");
    }
}
