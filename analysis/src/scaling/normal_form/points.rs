//! What the runs of each point have in common, and whether a model explains the points as well as the variation of runs allows.

use statrs::distribution::{ContinuousCDF as _, FisherSnedecor};

use super::super::{Observation, distinct};
use super::table::Table;
use super::term::Power;
use crate::statistics::location;

/// Without repeats, a further term has to leave at most this part of the error.
const WORTH: f64 = 0.75;
/// A model whose points lie further from the medians than noise explains with this probability is not enough.
const ENOUGH: f64 = 0.95;

/// The median of the runs of one point.
pub(super) struct Point {
    pub(super) threads: f64,
    pub(super) size: f64,
    pub(super) seconds: f64,
    pub(super) repeats: usize,
    /// Sum of the squares of the runs' distances from the median, as shares of it.
    pub(super) squares: f64,
}

/// How much runs of the same point vary, as a share; and how many runs say so beyond the first of each point. [`None`] without repeats.
fn noise(points: &[Point]) -> Option<(f64, f64)> {
    let repeated = || points.iter().filter(|point| point.repeats > 1);
    let runs: usize = repeated().map(|point| point.repeats).sum();
    let freedom = runs as f64 - repeated().count() as f64;
    let squares: f64 = repeated().map(|point| point.squares).sum::<f64>() / runs as f64;
    (freedom >= 1.0).then(|| (squares.sqrt(), freedom))
}

pub(super) fn points(runs: &[Observation]) -> Vec<Point> {
    let mut order: Vec<&Observation> = runs.iter().collect();
    let key = |run: &Observation| (run.threads, run.size.unwrap_or(1.0));
    order.sort_by(|a, b| {
        key(a)
            .partial_cmp(&key(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    order
        .chunk_by(|a, b| key(a) == key(b))
        .filter_map(|same| {
            let seconds: Vec<f64> = same.iter().map(|run| run.seconds).collect();
            let (threads, size) = key(same[0]);
            let median = location::median(&seconds)?;
            let repeats = seconds.len() as f64;
            // Medians are nearer to their values than the true middle is.
            let wider = repeats / (repeats - 1.0).max(1.0);
            let squares = seconds.iter().map(|it| wider * (it / median - 1.0).powi(2));
            Some(Point {
                threads,
                size,
                seconds: median,
                repeats: seconds.len(),
                squares: squares.sum(),
            })
        })
        .collect()
}

/// Values of a variable at all points, of which many are the same.
pub(super) struct Variable {
    values: Vec<f64>,
    /// Of each point.
    places: Vec<usize>,
}

impl Variable {
    pub(super) fn of(points: impl Iterator<Item = f64> + Clone) -> Self {
        let values = distinct(points.clone());
        let place = |value: f64| values.partition_point(|it| *it < value);
        Self {
            places: points.map(place).collect(),
            values,
        }
    }

    /// A power of it at each point.
    pub(super) fn to(&self, power: Power) -> Vec<f64> {
        let powers: Vec<f64> = self.values.iter().map(|value| power.of(*value)).collect();
        self.places.iter().map(|at| powers[*at]).collect()
    }
}

/// Whether a model explains the points as well as noise allows.
pub(super) struct Enough {
    /// Deviation of each point's median, as a share; and the runs behind it. None without repeats.
    known: Option<(Vec<f64>, f64)>,
}

impl Enough {
    pub(super) fn of(points: &[Point]) -> Self {
        let known = noise(points).map(|(share, freedom)| {
            // Variance of a median of r normal values: pi / (2 r) for many, 1 for one, and this between (Kendall & Stuart 1969, 14.6).
            let half_pi = std::f64::consts::FRAC_PI_2;
            let of_median =
                |point: &Point| share * (half_pi / (point.repeats as f64 + half_pi - 1.0)).sqrt();
            (points.iter().map(of_median).collect(), freedom)
        });
        Self { known }
    }

    /// The test of lack of fit: distances of the medians from the model against the variation of repeats (Fisher 1922). Without repeats only what is exact is enough.
    pub(super) fn is(&self, table: &Table, terms: &[usize]) -> bool {
        let Some(residuals) = table.residuals(terms) else {
            return false;
        };
        let freedom = residuals.len() as f64 - terms.len() as f64 - 1.0;
        let Some((deviations, runs)) = &self.known else {
            return residuals.iter().all(|r| r.abs() < 1e-9);
        };
        let squares: f64 = residuals
            .iter()
            .zip(deviations)
            .map(|(r, d)| (r / d.max(1e-12)).powi(2))
            .sum();
        let most = FisherSnedecor::new(freedom.max(1.0), *runs)
            .map_or(f64::INFINITY, |f| f.inverse_cdf(ENOUGH));
        squares / freedom.max(1.0) <= most
    }

    /// Whether one error is so much smaller than another that a further term is worth it. With repeats, the test has said so.
    pub(super) fn pays(&self, error: f64, before: f64) -> bool {
        error
            < if self.known.is_some() {
                before
            } else {
                WORTH * before
            }
    }
}
