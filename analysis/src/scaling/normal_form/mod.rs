//! The performance model normal form: a time as a sum of few terms, each a power of the threads and of the size, times powers of their logarithms. Which terms, a search finds.
//!
//! Calotoiu, Hoefler, Poke, Wolf: "Using automated performance modeling to find scalability bugs in complex codes", SC 2013; for several parameters Calotoiu et al., CLUSTER 2016. Each
//! model is judged by how well it gives the points that it was not fitted to (leave one out, by the diagonal of its projection), and a term is added only if that pays.

mod least_squares;
mod points;
mod products;
mod table;
mod term;

use self::points::{Enough, points};
use self::table::{Table, Terms};
use self::term::candidates;
pub use self::term::{Power, Term};
use super::law::certain;
use super::regression::{self, Regression};
use super::{Estimate, Observation, REACH, Refusal, distinct};

/// A model: a constant (where it is not 0) and terms.
#[derive(Debug, Clone)]
pub struct Model {
    terms: Vec<Term>,
    regression: Regression,
    /// Mean error at points that were left out, as a share.
    pub error: f64,
    largest: (f64, f64),
}

/// Finds the model of runs that differ in threads, size, or both.
///
/// # Errors
///
/// Fewer than four different points.
pub fn search(runs: &[Observation]) -> Result<Model, Refusal> {
    let points = points(runs);
    let threads = distinct(points.iter().map(|point| point.threads));
    let sizes = distinct(points.iter().map(|point| point.size));
    if points.len() < 4 || threads.len() < 4 && sizes.len() < 4 {
        return Err(Refusal::TooFew {
            has: points.len(),
            parameters: 2,
            needs: 4,
        });
    }
    let terms = candidates(threads.len() >= 3, sizes.len() >= 3);
    let table = Table::of(&terms, &points);
    let enough = Enough::of(&points);
    let mut best = table.judge(Terms::new()).ok_or(Refusal::Dependent)?;
    let singles = table.singles();
    if !enough.is(&table, &best.terms) {
        let found = table.simplest(&singles, &terms);
        best = found
            .filter(|it| enough.pays(it.error, best.error))
            .unwrap_or(best);
    }
    if points.len() >= 5 && !enough.is(&table, &best.terms) {
        let found = table.simplest(&table.pairs(&singles), &terms);
        best = found
            .filter(|it| enough.pays(it.error, best.error))
            .unwrap_or(best);
    }
    let terms: Vec<Term> = best.terms.iter().map(|at| terms[*at]).collect();
    let same_point = runs.chunk_by(|a, b| (a.threads, a.size) == (b.threads, b.size));
    let rows = same_point.map(|same| {
        let size = same[0].size.unwrap_or(1.0);
        (row(&terms, same[0].threads, size), same.len())
    });
    let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    let regression = match terms.is_empty() {
        true => regression::constant(&seconds).ok_or(Refusal::Dependent)?,
        false => regression::fit(rows, &seconds)?,
    };
    let last = |values: &[f64]| values.last().copied().unwrap_or(1.0);
    Ok(Model {
        terms,
        regression,
        error: best.error,
        largest: (last(&threads), last(&sizes)),
    })
}

fn row(terms: &[Term], threads: f64, size: f64) -> Vec<f64> {
    let terms = terms.iter().map(|term| term.of(threads, size));
    std::iter::once(1.0).chain(terms).collect()
}

impl Model {
    /// Its terms without the constant.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The term that is the largest at the end of what was measured and grows fastest beyond it; none of a constant.
    pub fn leading(&self) -> Option<Term> {
        let far = |term: &Term| {
            let at = |x: f64, largest: f64| if largest > 1.0 { x * largest } else { 1.0 };
            term.of(at(1e6, self.largest.0), at(1e6, self.largest.1))
        };
        let present = self
            .terms
            .iter()
            .zip(&self.regression.coefficients[1..])
            .filter(|(_, c)| **c > 0.0);
        let growing = present
            .filter(|(term, _)| term.threads.grows() || term.size.grows() || self.terms.len() == 1);
        growing
            .max_by(|a, b| (far(a.0) * a.1).total_cmp(&(far(b.0) * b.1)))
            .map(|(term, _)| *term)
    }

    /// For people: `0.5 + 2e-6 * n * log2(n) * p^-1`.
    pub fn text(&self) -> String {
        let c = &self.regression.coefficients;
        let constant = (c[0] > 0.0 || self.terms.is_empty()).then(|| number(c[0]));
        let terms = self.terms.iter().zip(&c[1..]).filter(|(_, c)| **c > 0.0);
        let terms = terms.map(|(term, c)| format!("{} * {}", number(*c), term.text()));
        constant
            .into_iter()
            .chain(terms)
            .collect::<Vec<_>>()
            .join(" + ")
    }

    /// The coefficients: the constant, then those of the terms.
    pub fn coefficients(&self) -> Vec<Estimate> {
        let count = self.regression.coefficients.len();
        let unit = |at: usize| {
            (0..count)
                .map(|i| f64::from(u8::from(i == at)))
                .collect::<Vec<_>>()
        };
        (0..count)
            .map(|at| self.regression.expect(&unit(at)))
            .collect()
    }

    /// The time of a run.
    ///
    /// # Errors
    ///
    /// More than [`REACH`] times the threads or the size that were measured, and runs that vary too much.
    pub fn predict(&self, threads: f64, size: Option<f64>) -> Result<Estimate, Refusal> {
        for (asked, largest) in [
            (threads, self.largest.0),
            (size.unwrap_or(1.0), self.largest.1),
        ] {
            if asked > REACH * largest {
                return Err(Refusal::TooFar {
                    asked,
                    largest,
                    most: REACH,
                });
            }
        }
        certain(
            self.regression
                .run(&row(&self.terms, threads, size.unwrap_or(1.0))),
        )
    }
}

/// Three significant digits.
fn number(value: f64) -> String {
    let text = format!("{value:.2e}");
    match value == 0.0 || (1e-3..1e5).contains(&value) {
        true => text.parse::<f64>().map_or(text, |short| short.to_string()),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(
        threads: &[f64],
        sizes: &[f64],
        repeats: usize,
        mut time: impl FnMut(f64, f64) -> f64,
    ) -> Vec<Observation> {
        let mut runs = Vec::new();
        for threads in threads {
            for size in sizes {
                for _ in 0..repeats {
                    runs.push(Observation {
                        threads: *threads,
                        size: Some(*size),
                        seconds: time(*threads, *size),
                    });
                }
            }
        }
        runs
    }

    const COUNTS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

    #[test]
    fn one_variable_without_noise() {
        for (law, text) in [
            (
                Box::new(|p: f64| 3.0 + 0.5 * p) as Box<dyn Fn(f64) -> f64>,
                "3 + 0.5 * p",
            ),
            (
                Box::new(|p: f64| 2.0 + 0.25 * p.log2()),
                "2 + 0.25 * log2(p)",
            ),
            (Box::new(|p: f64| 1.0 + 7.0 / p), "1 + 7 * p^-1"),
            (Box::new(|p: f64| 0.5 * p * p), "0.5 * p^2"),
            (Box::new(|p: f64| 4.0 + 0.1 * p.sqrt()), "4 + 0.1 * p^(1/2)"),
            (Box::new(|_| 2.0), "2"),
        ] {
            let model = search(&runs(&COUNTS, &[64.0], 1, |p, _| law(p))).unwrap();
            assert_eq!(model.text(), text);
        }
    }

    /// c n log2 n / p + d p, recovered from runs with 2 % of noise; each coefficient within 5 %, as the intervals say.
    #[test]
    fn two_variables_with_noise() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut normal = move || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let sizes: Vec<f64> = (12..=18).map(|at| 2.0_f64.powi(at)).collect();
        let (c, d) = (2e-6, 4e-3);
        let noisy = runs(&COUNTS, &sizes, 5, |p, n| {
            (c * n * n.log2() / p + d * p) * (1.0 + 0.02 * normal())
        });
        let model = search(&noisy).unwrap();
        let n_log_n = Term {
            threads: Power {
                twelfths: -12,
                logarithm: 0,
            },
            size: Power {
                twelfths: 12,
                logarithm: 1,
            },
        };
        let p = Term {
            threads: Power {
                twelfths: 12,
                logarithm: 0,
            },
            size: Power::default(),
        };
        let mut terms = model.terms().to_vec();
        terms.sort_unstable();
        assert_eq!(terms, [n_log_n, p], "{}", model.text());
        let coefficient = |term| {
            model.coefficients()[1 + model.terms().iter().position(|it| *it == term).unwrap()].value
        };
        assert!(
            (coefficient(n_log_n) / c - 1.0).abs() < 0.05
                && (coefficient(p) / d - 1.0).abs() < 0.05
        );
        let far = model.predict(64.0, Some(2.0_f64.powi(20))).unwrap();
        let truth = c * 20.0 * 2.0_f64.powi(20) / 64.0 + d * 64.0;
        assert!((far.value / truth - 1.0).abs() < 0.05, "{far:?} {truth}");
    }

    #[test]
    fn noise_alone_is_a_constant() {
        let mut random = fastrand::Rng::with_seed(17);
        let mut constants = 0;
        for _ in 0..100 {
            let noisy = runs(&COUNTS, &[1.0], 5, |_, _| {
                3.0 * (1.0 + 0.05 * (random.f64() - 0.5))
            });
            constants += usize::from(search(&noisy).unwrap().terms().is_empty());
        }
        assert!(constants >= 90, "{constants}");
    }

    #[test]
    fn few_points_are_refused() {
        assert!(search(&runs(&COUNTS[..3], &[1.0], 9, |p, _| p)).is_err());
        let model = search(&runs(&COUNTS, &[1.0], 2, |p, _| p)).unwrap();
        assert!(matches!(
            model.predict(1024.0, None),
            Err(Refusal::TooFar { .. })
        ));
    }
}
