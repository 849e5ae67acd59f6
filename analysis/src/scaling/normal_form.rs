//! The performance model normal form: a time as a sum of few terms, each a power of the threads and of the size, times powers of their logarithms. Which terms, a search finds.
//!
//! Calotoiu, Hoefler, Poke, Wolf: "Using automated performance modeling to find scalability bugs in complex codes", SC 2013; for several parameters Calotoiu et al., CLUSTER 2016. Each
//! model is judged by how well it gives the points that it was not fitted to (leave one out, by the diagonal of its projection), and a term is added only if that pays.

use hashbrown::HashMap;
use statrs::distribution::{ContinuousCDF as _, FisherSnedecor};

use super::law::certain;
use super::regression::{self, Regression};
use super::{Estimate, Observation, REACH, Refusal, distinct};
use crate::statistics::location;

/// Exponents in twelfths, as Extra-P has them, up to 3.
const POWERS: [i32; 19] = [
    0, 3, 4, 6, 8, 9, 12, 15, 16, 18, 20, 21, 24, 27, 28, 30, 32, 33, 36,
];
/// Exponents where size and threads both vary: there are many more terms.
const FEW: [i32; 8] = [0, 6, 8, 12, 16, 18, 24, 36];
/// Terms with which a second one is tried.
const FIRST: usize = 40;
/// Without repeats, a further term has to leave at most this part of the error.
const WORTH: f64 = 0.75;
/// A model whose points lie further from the medians than noise explains with this probability is not enough.
const ENOUGH: f64 = 0.95;
/// Up to so many values of terms of pairs, each pair is judged.
const MOST_EXACT: usize = 2_000_000;
/// Else so many pairs are.
const MOST_PAIRS: usize = 500;
/// Columns whose part that others do not explain is smaller than this are taken for dependent.
const DEPENDENT: f64 = 1e-9;
/// The best models that are looked at again, for a simpler one that is as good.
const FINALISTS: usize = 200;

/// A power of one variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Power {
    /// Exponent in twelfths.
    pub twelfths: i32,
    /// Exponent of the logarithm to base 2.
    pub logarithm: u32,
}

impl Power {
    fn of(self, x: f64) -> f64 {
        x.powf(f64::from(self.twelfths) / 12.0) * x.log2().powi(self.logarithm as i32)
    }

    /// Whether it grows with its variable.
    fn grows(self) -> bool {
        self.twelfths > 0 || self.twelfths == 0 && self.logarithm > 0
    }

    /// Whether algorithms have it: logarithms come with roots, whole and half powers, not with others (the terms that Extra-P tries by default are the same, but for n^(4/5)).
    fn is_usual(self) -> bool {
        let twelfths = self.twelfths.abs();
        match self.logarithm {
            0 => true,
            1 => [0, 3, 4, 6, 8, 9, 12, 15, 16, 18, 24, 30, 36].contains(&twelfths),
            _ => [0, 3, 4, 6, 8, 9, 12, 18, 24, 30].contains(&twelfths),
        }
    }

    /// How many things a reader has to take in.
    fn complexity(self) -> u32 {
        let whole = u32::from(self.twelfths % 12 != 0) + u32::from(self.twelfths % 6 != 0);
        u32::from(self.twelfths != 0) + whole + 2 * self.logarithm
    }

    fn text(self, name: &str) -> Option<String> {
        let power = match self.twelfths {
            0 => None,
            12 => Some(name.to_owned()),
            t if t % 12 == 0 => Some(format!("{name}^{}", t / 12)),
            t => {
                let common = [6, 4, 3, 2, 1]
                    .into_iter()
                    .find(|d| t % d == 0 && 12 % d == 0)
                    .unwrap_or(1);
                Some(format!("{name}^({}/{})", t / common, 12 / common))
            }
        };
        let logarithm = match self.logarithm {
            0 => None,
            1 => Some(format!("log2({name})")),
            n => Some(format!("log2({name})^{n}")),
        };
        match (power, logarithm) {
            (Some(a), Some(b)) => Some(format!("{a} * {b}")),
            (a, b) => a.or(b),
        }
    }
}

/// A product of powers of the threads and of the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Term {
    /// Of the threads.
    pub threads: Power,
    /// Of the size.
    pub size: Power,
}

impl Term {
    fn of(&self, threads: f64, size: f64) -> f64 {
        self.threads.of(threads) * self.size.of(size)
    }

    fn complexity(&self) -> u32 {
        self.threads.complexity() + self.size.complexity()
    }

    fn text(&self) -> String {
        let parts = [self.size.text("n"), self.threads.text("p")];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" * ")
    }
}

/// A model: a constant (where it is not 0) and terms.
#[derive(Debug, Clone)]
pub struct Model {
    terms: Vec<Term>,
    regression: Regression,
    /// Mean error at points that were left out, as a share.
    pub error: f64,
    largest: (f64, f64),
}

/// The median of the runs of one point.
struct Point {
    threads: f64,
    size: f64,
    seconds: f64,
    repeats: usize,
    /// Sum of the squares of the runs' distances from the median, as shares of it.
    squares: f64,
}

/// How much runs of the same point vary, as a share; and how many runs say so beyond the first of each point. [`None`] without repeats.
fn noise(points: &[Point]) -> Option<(f64, f64)> {
    let repeated = || points.iter().filter(|point| point.repeats > 1);
    let runs: usize = repeated().map(|point| point.repeats).sum();
    let freedom = runs as f64 - repeated().count() as f64;
    let squares: f64 = repeated().map(|point| point.squares).sum::<f64>() / runs as f64;
    (freedom >= 1.0).then(|| (squares.sqrt(), freedom))
}

fn points(runs: &[Observation]) -> Vec<Point> {
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

/// All terms but the constant. A variable with one value has none; the exponents of the threads may be negative.
fn candidates(by_threads: bool, by_size: bool) -> Vec<Term> {
    let powers: &[i32] = if by_threads && by_size { &FEW } else { &POWERS };
    let logarithms = if by_threads && by_size { 0..=1 } else { 0..=2 };
    let all = |is: bool, negative: bool| -> Vec<Power> {
        if !is {
            return vec![Power::default()];
        }
        let signs: &[i32] = if negative { &[1, -1] } else { &[1] };
        let mut found = Vec::new();
        for sign in signs {
            for power in powers {
                for logarithm in logarithms.clone() {
                    found.push(Power {
                        twelfths: sign * power,
                        logarithm,
                    });
                }
            }
        }
        found.retain(|power| power.is_usual());
        found.sort_unstable();
        found.dedup();
        found
    };
    let (threads, sizes) = (all(by_threads, true), all(by_size, false));
    let mut terms: Vec<Term> = threads
        .iter()
        .flat_map(|threads| {
            sizes.iter().map(|size| Term {
                threads: *threads,
                size: *size,
            })
        })
        .filter(|term| *term != Term::default())
        .collect();
    terms.sort_by_key(|term| (term.complexity(), *term));
    terms
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
    let singles = table.ranked((0..terms.len()).map(|at| vec![at]));
    let mut best = (table.judge(&[]).unwrap_or(f64::INFINITY), Vec::new());
    if !enough.is(&table, &[]) {
        best = table
            .simplest(&singles, &terms)
            .filter(|found| enough.pays(found.0, best.0))
            .unwrap_or(best);
    }
    if points.len() >= 5 && !enough.is(&table, &best.1) {
        let first: Vec<usize> = singles.iter().take(FIRST).map(|(_, at)| at[0]).collect();
        let pairs = table.pairs(&first);
        let found = table.simplest(&table.ranked(pairs.into_iter()), &terms);
        best = found
            .filter(|found| enough.pays(found.0, best.0))
            .unwrap_or(best);
    }
    let terms: Vec<Term> = best.1.iter().map(|at| terms[*at]).collect();
    let rows: Vec<Vec<f64>> = runs
        .iter()
        .map(|run| row(&terms, run.threads, run.size.unwrap_or(1.0)))
        .collect();
    let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    let regression = match terms.is_empty() {
        true => regression::constant(&seconds).ok_or(Refusal::Dependent)?,
        false => regression::fit(&rows, &seconds)?,
    };
    let last = |values: &[f64]| values.last().copied().unwrap_or(1.0);
    Ok(Model {
        terms,
        regression,
        error: best.0,
        largest: (last(&threads), last(&sizes)),
    })
}

fn row(terms: &[Term], threads: f64, size: f64) -> Vec<f64> {
    std::iter::once(1.0)
        .chain(terms.iter().map(|term| term.of(threads, size)))
        .collect()
}

/// Whether a model explains the points as well as noise allows.
struct Enough {
    /// Deviation of each point's median, as a share; and the runs behind it. None without repeats.
    known: Option<(Vec<f64>, f64)>,
}

impl Enough {
    fn of(points: &[Point]) -> Self {
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
    fn is(&self, table: &Table, terms: &[usize]) -> bool {
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
    fn pays(&self, error: f64, before: f64) -> bool {
        error
            < if self.known.is_some() {
                before
            } else {
                WORTH * before
            }
    }
}

/// Values of all terms at all points, as shares of what was measured there: errors are in proportion.
struct Table {
    /// By term; the constant is the last.
    values: Vec<Vec<f64>>,
}

impl Table {
    fn of(terms: &[Term], points: &[Point]) -> Self {
        // Each power of one variable once: terms are their products.
        let mut powers: HashMap<(bool, Power), Vec<f64>> = HashMap::new();
        for term in terms.iter().chain([&Term::default()]) {
            for (is_size, power) in [(false, term.threads), (true, term.size)] {
                powers.entry((is_size, power)).or_insert_with(|| {
                    let value = |it: &Point| if is_size { it.size } else { it.threads };
                    points.iter().map(|it| power.of(value(it))).collect()
                });
            }
        }
        let share = |term: &Term| {
            let columns = [&powers[&(false, term.threads)], &powers[&(true, term.size)]];
            let at = |(at, it): (usize, &Point)| columns[0][at] * columns[1][at] / it.seconds;
            points.iter().enumerate().map(at).collect()
        };
        let values = terms.iter().chain([&Term::default()]).map(share).collect();
        Self { values }
    }

    /// Pairs of one of `first` and any other term. Of very many pairs at many points, those that leave least: to leave one point out of many changes little.
    fn pairs(&self, first: &[usize]) -> Vec<Vec<usize>> {
        let terms = self.values.len() - 1;
        let count = self.values[0].len();
        let all = first.iter().flat_map(|a| {
            let others = (0..terms).filter(move |b| b != a);
            others.map(move |b| (*a, b))
        });
        if first.len() * terms * count <= MOST_EXACT {
            return all.map(|(a, b)| vec![a, b]).collect();
        }
        let units: Vec<Vec<f64>> = self.values.iter().map(|column| unit(column)).collect();
        let constant = &units[terms];
        let with_constant: Vec<f64> = units.iter().map(|it| dot(it, constant)).collect();
        let sums: Vec<f64> = units.iter().map(|it| it.iter().sum()).collect();
        let mut ranked: Vec<(f64, (usize, usize))> = all
            .filter_map(|(a, b)| {
                let gram = [
                    dot(&units[a], &units[b]),
                    with_constant[a],
                    with_constant[b],
                ];
                let left = left(gram, [sums[a], sums[b], sums[terms]], count as f64)?;
                Some((left, (a, b)))
            })
            .collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked.truncate(MOST_PAIRS);
        ranked.into_iter().map(|(_, (a, b))| vec![a, b]).collect()
    }

    /// Models by their error, the best first.
    fn ranked(&self, models: impl Iterator<Item = Vec<usize>>) -> Vec<(f64, Vec<usize>)> {
        let judged = models.filter_map(|at| Some((self.judge(&at)?, at)));
        let mut ranked: Vec<_> = judged.filter(|(error, _)| error.is_finite()).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked
    }

    /// The best model, or a simpler one that cannot be told from it: the mean difference of what both miss is within its standard error (Breiman et al. 1984, the rule of one standard error).
    fn simplest(&self, ranked: &[(f64, Vec<usize>)], terms: &[Term]) -> Option<(f64, Vec<usize>)> {
        let best = self.misses(&ranked.first()?.1)?;
        let complexity =
            |at: &[usize]| -> u32 { at.iter().map(|at| terms[*at].complexity()).sum() };
        let as_good = |at: &[usize]| {
            let Some(misses) = self.misses(at) else {
                return false;
            };
            let count = best.len() as f64;
            let differences: Vec<f64> = misses.iter().zip(&best).map(|(a, b)| a - b).collect();
            let mean = differences.iter().sum::<f64>() / count;
            let variance =
                differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (count - 1.0);
            mean <= (variance / count).sqrt() + 1e-18
        };
        let finalists = ranked.iter().take(FINALISTS).filter(|(_, at)| as_good(at));
        finalists.min_by_key(|(_, at)| complexity(at)).cloned()
    }

    /// The root mean square of [`Table::misses`].
    fn judge(&self, terms: &[usize]) -> Option<f64> {
        let misses = self.misses(terms)?;
        Some((misses.iter().sum::<f64>() / misses.len() as f64).sqrt())
    }

    /// Squares of what a model misses at each point when it is fitted to the others, as shares of the measurement: residual / (1 − leverage) (Allen 1974). None where a coefficient of a
    /// term would be negative, or cannot be found.
    fn misses(&self, terms: &[usize]) -> Option<Vec<f64>> {
        let fitted = self.fit(terms)?;
        Some(
            fitted
                .iter()
                .map(|(residual, leverage)| (residual / (1.0 - leverage).max(1e-3)).powi(2))
                .collect(),
        )
    }

    /// What is left at each point, as a share of the measurement.
    fn residuals(&self, terms: &[usize]) -> Option<Vec<f64>> {
        Some(
            self.fit(terms)?
                .into_iter()
                .map(|(residual, _)| residual)
                .collect(),
        )
    }

    /// Residual and leverage of each point; without the constant where that would be negative.
    fn fit(&self, terms: &[usize]) -> Option<Vec<(f64, f64)>> {
        let mut columns: Vec<&[f64]> = terms.iter().map(|at| self.values[*at].as_slice()).collect();
        columns.push(self.values.last()?);
        let found = least_squares(&columns)?;
        let positive = |fit: &Fit| fit.coefficients.iter().all(|c| *c >= 0.0);
        let constant = found.coefficients.last().copied().unwrap_or(0.0);
        if positive(&found) {
            return Some(found.points);
        }
        if constant >= 0.0 || terms.is_empty() {
            return None;
        }
        let found = least_squares(&columns[..terms.len()])?;
        positive(&found).then_some(found.points)
    }
}

/// A column of length 1.
fn unit(column: &[f64]) -> Vec<f64> {
    let length = norm(column);
    column.iter().map(|x| x / length).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Sums beside each other, which a processor makes at once.
    let mut sums = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(x, y)| x * y)
        .sum();
    for (x, y) in a.zip(b) {
        for at in 0..8 {
            sums[at] += x[at] * y[at];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// What the best fit of 1 at `count` points by two columns and a constant, all of length 1, leaves: the sum of squares. `gram`: products of the two, and of each with the constant; `sums`: of the two and of the
/// constant. Without the constant where it would be negative; none where a coefficient of the two would be, or the columns depend on each other.
fn left(gram: [f64; 3], sums: [f64; 3], count: f64) -> Option<f64> {
    let [ab, ac, bc] = gram;
    let [a, b, c] = sums;
    // Cramer's rule.
    let whole = 1.0 - ab * ab - ac * ac - bc * bc + 2.0 * ab * ac * bc;
    if whole > DEPENDENT {
        let x = (a * (1.0 - bc * bc) - b * (ab - ac * bc) + c * (ab * bc - ac)) / whole;
        let y = (b * (1.0 - ac * ac) - a * (ab - ac * bc) + c * (ab * ac - bc)) / whole;
        let z = (c * (1.0 - ab * ab) - a * (ac - ab * bc) - b * (bc - ab * ac)) / whole;
        if z >= 0.0 {
            return (x >= 0.0 && y >= 0.0).then(|| (count - x * a - y * b - z * c).max(0.0));
        }
    }
    let whole = 1.0 - ab * ab;
    let (x, y) = ((a - ab * b) / whole, (b - ab * a) / whole);
    (whole > DEPENDENT && x >= 0.0 && y >= 0.0).then(|| (count - x * a - y * b).max(0.0))
}

/// A fit of values that are all 1.
struct Fit {
    /// Residual and leverage of each point.
    points: Vec<(f64, f64)>,
    /// Of each column.
    coefficients: Vec<f64>,
}

/// The fit of 1 everywhere by the columns, and the coefficients. None where columns depend on each other.
fn least_squares(columns: &[&[f64]]) -> Option<Fit> {
    // Orthogonal columns by Gram and Schmidt, twice, so that nearly equal columns do not spoil it.
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
    let count = columns[0].len();
    for column in columns {
        let length = norm(column);
        let mut rest = column.to_vec();
        for _ in 0..2 {
            for known in &basis {
                let part = dot(known, &rest);
                rest.iter_mut().zip(known).for_each(|(r, k)| *r -= part * k);
            }
        }
        let left = norm(&rest);
        if !left.is_finite() || left < 1e-7 * length {
            return None;
        }
        rest.iter_mut().for_each(|r| *r /= left);
        basis.push(rest);
    }
    // What is fitted is 1 everywhere: each value as a share of itself.
    let parts: Vec<f64> = basis.iter().map(|column| column.iter().sum()).collect();
    // The triangle that Gram and Schmidt leave, solved from its end.
    let mut coefficients = vec![0.0; columns.len()];
    for i in (0..columns.len()).rev() {
        let later: f64 = (i + 1..columns.len())
            .map(|j| dot(&basis[i], columns[j]) * coefficients[j])
            .sum();
        coefficients[i] = (parts[i] - later) / dot(&basis[i], columns[i]);
    }
    let at = |at: usize| {
        let fitted: f64 = basis.iter().zip(&parts).map(|(b, part)| b[at] * part).sum();
        let leverage: f64 = basis.iter().map(|b| b[at] * b[at]).sum();
        (1.0 - fitted, leverage)
    };
    Some(Fit {
        points: (0..count).map(at).collect(),
        coefficients,
    })
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
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
