//! Models judged by how well they give the points that they were not fitted to.

use hashbrown::HashMap;
use smallvec::{SmallVec, smallvec};

use super::least_squares::{Fit, least_squares};
use super::points::{Point, Variable};
use super::products::{Close, Normal, Products};
use super::term::{Power, Term};

/// Terms with which a second one is tried.
const FIRST: usize = 40;
/// Up to so many values of terms of pairs, each model is judged.
const MOST_EXACT: usize = 2_000_000;
/// The best models that are looked at again, for a simpler one that is as good. Where there are too many to judge each, as many are judged.
const FINALISTS: usize = 200;

/// Values of all terms at all points, as shares of what was measured there: errors are in proportion.
pub(super) struct Table {
    /// By term; the constant is the last.
    values: Vec<Vec<f64>>,
    /// Where there are too many values to judge each model.
    products: Option<Products>,
}

/// The positions of a model's terms.
pub(super) type Terms = SmallVec<[usize; 2]>;

/// A model with its error: the root mean square of what it misses.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub(super) error: f64,
    pub(super) terms: Terms,
    /// Squares of what it misses at each point.
    misses: Vec<f64>,
}

impl Table {
    pub(super) fn of(terms: &[Term], points: &[Point]) -> Self {
        // Each power of one variable once for each of its values: terms are their products.
        let threads = Variable::of(points.iter().map(|it| it.threads));
        let sizes = Variable::of(points.iter().map(|it| it.size));
        let mut powers: HashMap<(bool, Power), Vec<f64>> = HashMap::new();
        for term in terms.iter().chain([&Term::default()]) {
            for (is_size, power) in [(false, term.threads), (true, term.size)] {
                let variable = if is_size { &sizes } else { &threads };
                powers
                    .entry((is_size, power))
                    .or_insert_with(|| variable.to(power));
            }
        }
        let shares: Vec<f64> = points.iter().map(|it| 1.0 / it.seconds).collect();
        let share = |term: &Term| {
            let threads = &powers[&(false, term.threads)];
            let both = threads.iter().zip(&powers[&(true, term.size)]).zip(&shares);
            both.map(|((p, n), share)| p * n * share).collect()
        };
        let is_large = FIRST * terms.len() * points.len() > MOST_EXACT;
        Self {
            values: terms.iter().chain([&Term::default()]).map(share).collect(),
            products: is_large.then(|| Products::of(terms, points)),
        }
    }

    /// Models of one term by their error, the best first. Of very many values, those that leave least: to leave one point out of many changes little.
    pub(super) fn singles(&self) -> Vec<Judged> {
        match &self.products {
            Some(products) => self.ranked(fewest(products.singles()).into_iter()),
            None => self.ranked((0..self.values.len() - 1).map(|at| smallvec![at])),
        }
    }

    /// The same of pairs of one of the first of `singles` and any other term.
    pub(super) fn pairs(&self, singles: &[Judged]) -> Vec<Judged> {
        let first: Vec<usize> = singles.iter().take(FIRST).map(|it| it.terms[0]).collect();
        if let Some(products) = &self.products {
            return self.ranked(fewest(products.pairs(&first)).into_iter());
        }
        let terms = self.values.len() - 1;
        self.ranked(first.iter().flat_map(|a| {
            let others = (0..terms).filter(move |b| b != a);
            others.map(move |b| smallvec![*a, b])
        }))
    }

    fn ranked(&self, models: impl Iterator<Item = Terms>) -> Vec<Judged> {
        let judged = models.filter_map(|terms| self.judge(terms));
        let mut ranked: Vec<_> = judged.filter(|model| model.error.is_finite()).collect();
        ranked.sort_by(|a, b| a.error.total_cmp(&b.error));
        ranked
    }

    /// The best model, or a simpler one that cannot be told from it: the mean difference of what both miss is within its standard error (Breiman et al. 1984, the rule of one standard error).
    pub(super) fn simplest(&self, ranked: &[Judged], terms: &[Term]) -> Option<Judged> {
        let best = &ranked.first()?.misses;
        let complexity =
            |it: &Judged| -> u32 { it.terms.iter().map(|at| terms[*at].complexity()).sum() };
        let as_good = |it: &&Judged| {
            let count = best.len() as f64;
            let both = it.misses.iter().zip(best);
            let differences: Vec<f64> = both.map(|(a, b)| a - b).collect();
            let mean = differences.iter().sum::<f64>() / count;
            let variance =
                differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (count - 1.0);
            mean <= (variance / count).sqrt() + 1e-18
        };
        let finalists = ranked.iter().take(FINALISTS).filter(as_good);
        finalists.min_by_key(|it| complexity(it)).cloned()
    }

    /// The error of a model by leaving one point out after the other: residual / (1 − leverage), as shares of the measurement (Allen 1974). None where a coefficient of a term would be negative, or cannot be found.
    pub(super) fn judge(&self, terms: Terms) -> Option<Judged> {
        let misses = match self.products.as_ref().map(|sums| sums.fit(&terms)) {
            Some(Ok(fit)) => self.misses(&fit?),
            Some(Err(Close)) | None => self.exact_misses(&terms)?,
        };
        Some(Judged {
            error: (misses.iter().sum::<f64>() / misses.len() as f64).sqrt(),
            terms,
            misses,
        })
    }

    /// What models miss at each point, by the sums over all points.
    pub(super) fn misses(&self, fit: &Normal) -> Vec<f64> {
        let [x, y, z] = fit.columns.map(|at| self.values[at].iter());
        x.zip(y)
            .zip(z)
            .map(|((x, y), z)| fit.miss([*x, *y, *z]))
            .collect()
    }

    #[cfg(test)]
    pub(super) fn points(&self) -> usize {
        self.values[0].len()
    }

    /// The same by a fit that looks at each point.
    fn exact_misses(&self, terms: &[usize]) -> Option<Vec<f64>> {
        let fit = self.fit(terms)?;
        let points = fit.residuals.iter().zip(&fit.leverages);
        let miss = points.map(|(residual, leverage)| residual / (1.0 - leverage).max(1e-3));
        Some(miss.map(|missed| missed * missed).collect())
    }

    /// What is left at each point, as a share of the measurement.
    pub(super) fn residuals(&self, terms: &[usize]) -> Option<Vec<f64>> {
        Some(self.fit(terms)?.residuals)
    }

    /// The fit by terms and the constant; without the constant where that would be negative.
    fn fit(&self, terms: &[usize]) -> Option<Fit> {
        let mut columns: Vec<&[f64]> = terms.iter().map(|at| self.values[*at].as_slice()).collect();
        columns.push(self.values.last()?);
        let found = least_squares(&columns)?;
        let positive = |fit: &Fit| fit.coefficients.iter().all(|c| *c >= 0.0);
        let constant = found.coefficients.last().copied().unwrap_or(0.0);
        if positive(&found) {
            return Some(found);
        }
        if constant >= 0.0 || terms.is_empty() {
            return None;
        }
        let found = least_squares(&columns[..terms.len()])?;
        positive(&found).then_some(found)
    }
}

/// The models that leave least, in this order.
fn fewest(mut models: Vec<(f64, Terms)>) -> Vec<Terms> {
    let by_left =
        |a: &(f64, Terms), b: &(f64, Terms)| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1));
    if models.len() > FINALISTS {
        models.select_nth_unstable_by(FINALISTS, by_left);
        models.truncate(FINALISTS);
    }
    models.sort_unstable_by(by_left);
    models.into_iter().map(|(_, terms)| terms).collect()
}
