//! Linear regression for run times: errors in proportion to what is measured, wild values that cannot spoil the result, coefficients that are not negative.
//!
//! The estimate is Huber's: residuals beyond 1.345 deviations count in proportion to their size, not to its square, which costs 5 % of precision where errors are normal (Huber, *Robust
//! Statistics*, 1981, chapter 7). Covariances are those of his section 7.6, with Student's quantiles.

use std::ops::Range;
use std::sync::OnceLock;

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::{Estimate, LEVEL, Refusal};
use crate::statistics::location;

/// Deviations from which on a residual counts less.
const TUNING: f64 = 1.345;
/// Steps of the iteration; it has settled long before.
const STEPS: usize = 50;
/// A change of all fitted values below this share of them ends the iteration.
const SETTLED: f64 = 1e-8;
/// Columns whose part that others do not explain is smaller than this are taken for dependent.
const DEPENDENT: f64 = 1e-9;
/// Most columns: subsets of them are tried one by one.
const MOST: usize = 4;
/// Quantiles of up to so many degrees of freedom are computed once.
const QUANTILES: usize = 1024;

/// Coefficients of columns, and how sure they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    /// A coefficient for each column; 0 where it would be negative.
    pub coefficients: Vec<f64>,
    /// Their covariance.
    covariance: Vec<Vec<f64>>,
    /// Deviation of a measurement as a share of what is expected.
    pub scale: f64,
    /// Quantile of Student's distribution for [`LEVEL`].
    quantile: f64,
    /// What is left, in Huber's measure: smaller is better.
    objective: f64,
}

/// Fits `values` (above 0) by the columns of `rows`, with coefficients that are not negative. With each row stands how many values, one after the other, have it.
///
/// # Errors
///
/// Too few different rows for the columns, and columns that depend on each other.
pub fn fit(
    rows: impl Iterator<Item = (Vec<f64>, usize)>,
    values: &[f64],
) -> Result<Regression, Refusal> {
    let mut rows = rows.peekable();
    let columns = rows.peek().map_or(0, |(row, _)| row.len());
    if columns == 0 || columns > MOST {
        return Err(too_few(0, columns));
    }
    let groups = Group::of(rows);
    let has = different(&groups);
    if has < columns + 1 {
        return Err(too_few(has, columns));
    }
    // With as many measurements as that there is one degree of freedom, and no interval that is good for something.
    if values.len() < columns + 2 {
        return Err(Refusal::TooFewRuns {
            has: values.len(),
            needs: columns + 2,
        });
    }
    // The best of all subsets: with so few columns that is the solution under the constraint, not a search for it. Where some columns together keep the constraint, no subset of them fits better.
    let mut best: Option<Regression> = None;
    let mut kept: Vec<usize> = Vec::new();
    let mut subsets: Vec<usize> = (1..1 << columns).collect();
    subsets.sort_by_key(|subset| std::cmp::Reverse(subset.count_ones()));
    for subset in subsets {
        if kept.iter().any(|larger| larger & subset == subset) {
            continue;
        }
        let chosen: Vec<usize> = (0..columns).filter(|at| subset >> at & 1 == 1).collect();
        let part: Vec<Group> = groups.iter().map(|group| group.part(&chosen)).collect();
        let Some(found) = robust(&part, chosen.len(), values) else {
            continue;
        };
        kept.push(subset);
        if best
            .as_ref()
            .is_none_or(|best| found.objective < best.objective)
        {
            best = Some(found.spread_to(&chosen, columns));
        }
    }
    best.ok_or(Refusal::Dependent)
}

fn too_few(has: usize, columns: usize) -> Refusal {
    Refusal::TooFew {
        has,
        parameters: columns,
        needs: columns + 1,
    }
}

/// The same with a constant alone; [`None`] of fewer than three values.
pub(super) fn constant(values: &[f64]) -> Option<Regression> {
    let all = Group {
        row: [1.0, 0.0, 0.0, 0.0],
        values: 0..values.len(),
    };
    robust(&[all], 1, values).filter(|_| values.len() >= 3)
}

/// The first columns of a row; the others are 0.
type Row = [f64; MOST];

/// Values beside each other that have the same row: sums over them come first.
struct Group {
    row: Row,
    values: Range<usize>,
}

impl Group {
    /// Of rows of at most [`MOST`] columns, each with how many values have it.
    fn of(rows: impl Iterator<Item = (Vec<f64>, usize)>) -> Vec<Self> {
        let mut begin = 0;
        let group = |(columns, count): (Vec<f64>, usize)| {
            let mut row = Row::default();
            row[..columns.len()].copy_from_slice(&columns);
            let values = begin..begin + count;
            begin = values.end;
            Self { row, values }
        };
        rows.map(group).collect()
    }

    /// What these coefficients give.
    fn at(&self, coefficients: &Row) -> f64 {
        let both = self.row.iter().zip(coefficients);
        both.map(|(x, c)| x * c).sum()
    }

    /// With these columns alone.
    fn part(&self, chosen: &[usize]) -> Self {
        let mut row = Row::default();
        let columns = chosen.iter().zip(&mut row);
        columns.for_each(|(at, to)| *to = self.row[*at]);
        Self {
            row,
            values: self.values.clone(),
        }
    }
}

/// Rows that differ.
fn different(groups: &[Group]) -> usize {
    let mut rows: Vec<&Row> = groups.iter().map(|group| &group.row).collect();
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    rows.dedup();
    rows.len()
}

/// Huber's estimate by the first `columns`; none where a coefficient is negative.
fn robust(groups: &[Group], columns: usize, values: &[f64]) -> Option<Regression> {
    let (count, free) = (values.len() as f64, values.len() - columns);
    let freedom = free as f64;
    let mut expected = values.to_vec();
    let mut weights = vec![1.0; values.len()];
    let mut residuals = vec![0.0; values.len()];
    let mut absolute = vec![0; values.len()];
    let mut coefficients: Option<Row> = None;
    let mut scale = 0.0;
    for _ in 0..STEPS {
        let weighted = weights.iter_mut().zip(&expected);
        weighted.for_each(|(weight, expected)| *weight /= expected * expected);
        let next = Gram::of(groups, columns, &weights, values)?.solve()?;
        let mut settled = true;
        for group in groups {
            let at = group.values.clone();
            let fitted = group.at(&next);
            let before = coefficients.map_or(0.0, |before| group.at(&before));
            settled &= (fitted - before).abs() <= SETTLED * fitted.abs();
            let of_group = values[at.clone()].iter().zip(&mut expected[at.clone()]);
            let of_group = of_group.zip(&mut residuals[at.clone()]);
            for (((value, expected), residual), absolute) in of_group.zip(&mut absolute[at]) {
                // A fit that is not above 0 somewhere says nothing about proportions there: the measurement does.
                *expected = if fitted > 0.0 { fitted } else { *value };
                *residual = (value - fitted) / *expected;
                *absolute = residual.abs().to_bits();
            }
        }
        coefficients = Some(next);
        // Residuals are smaller than errors by the freedom that the coefficients took.
        scale = location::OF_MAD * middle(&mut absolute)? * (count / freedom).sqrt();
        if scale == 0.0 {
            scale = (residuals.iter().map(|r| r * r).sum::<f64>() / freedom).sqrt();
        }
        for (weight, residual) in weights.iter_mut().zip(&residuals) {
            *weight = weight_of(*residual, scale);
        }
        if settled {
            break;
        }
    }
    let coefficients = coefficients?[..columns].to_vec();
    if coefficients.iter().any(|value| *value < 0.0) {
        return None;
    }
    let covariance = covariance(groups, columns, &expected, &residuals, scale)?;
    let objective = residuals
        .iter()
        .map(|r| r.abs().min(TUNING * scale) * (2.0 * r.abs() - r.abs().min(TUNING * scale)))
        .sum();
    Some(Regression {
        coefficients,
        covariance,
        scale,
        quantile: quantile(free)?,
        objective,
    })
}

/// The median of the bits of values that are not negative, which have the order of the values, without sorting all of them; they change their order. [`None`] of none.
fn middle(values: &mut [u64]) -> Option<f64> {
    let at = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, middle, _) = values.select_nth_unstable(at);
    let middle = f64::from_bits(*middle);
    Some(match is_odd {
        true => middle,
        false => f64::midpoint(f64::from_bits(below.iter().copied().max()?), middle),
    })
}

/// The quantile of Student's distribution that an interval of [`LEVEL`] has on each side.
fn quantile(freedom: usize) -> Option<f64> {
    static KNOWN: [OnceLock<Option<f64>>; QUANTILES] = [const { OnceLock::new() }; QUANTILES];
    let compute = || {
        let distribution = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
        Some(distribution.inverse_cdf(f64::midpoint(1.0, LEVEL)))
    };
    KNOWN
        .get(freedom)
        .map_or_else(compute, |known| *known.get_or_init(compute))
}

/// How much a residual counts where errors have this deviation.
fn weight_of(residual: f64, scale: f64) -> f64 {
    let most = TUNING * scale;
    match residual.abs() > most {
        true => most / residual.abs(),
        false => 1.0,
    }
}

/// Huber 1981, (6.5) of section 7.6 with the correction K².
fn covariance(
    groups: &[Group],
    columns: usize,
    expected: &[f64],
    residuals: &[f64],
    scale: f64,
) -> Option<Vec<Vec<f64>>> {
    let count = residuals.len() as f64;
    let weights: Vec<f64> = expected.iter().map(|it| 1.0 / (it * it)).collect();
    let inverse = Gram::of(groups, columns, &weights, expected)?.inverse()?;
    if scale == 0.0 {
        return Some(vec![vec![0.0; columns]; columns]);
    }
    let inside = residuals
        .iter()
        .filter(|r| r.abs() <= TUNING * scale)
        .count() as f64
        / count;
    let squares: f64 = residuals
        .iter()
        .map(|r| r.abs().min(TUNING * scale).powi(2))
        .sum();
    let correction = 1.0 + columns as f64 / count * (1.0 - inside) / inside;
    let variance = (correction / inside).powi(2) * squares / (count - columns as f64);
    let scaled = inverse[..columns].iter();
    Some(
        scaled
            .map(|row| row[..columns].iter().map(|x| x * variance).collect())
            .collect(),
    )
}

/// Sums of products of columns, scaled so that each column has the length 1.
struct Gram {
    columns: usize,
    matrix: [Row; MOST],
    right: Row,
    lengths: Row,
}

impl Gram {
    fn of(groups: &[Group], columns: usize, weights: &[f64], values: &[f64]) -> Option<Self> {
        let mut matrix = [Row::default(); MOST];
        let mut right = Row::default();
        for group in groups {
            let at = group.values.clone();
            let weight: f64 = weights[at.clone()].iter().sum();
            let both = weights[at.clone()].iter().zip(&values[at]);
            let value: f64 = both.map(|(weight, value)| weight * value).sum();
            // All columns of the array: those that are not there are 0, and a loop of fixed length is quick.
            for (i, of_row) in matrix.iter_mut().enumerate() {
                right[i] += group.row[i] * value;
                let weighted = weight * group.row[i];
                let both = of_row.iter_mut().zip(&group.row);
                both.for_each(|(sum, x)| *sum += weighted * x);
            }
        }
        let mut lengths = [1.0; MOST];
        for at in 0..columns {
            lengths[at] = matrix[at][at].sqrt();
            if !lengths[at].is_finite() || lengths[at] <= 0.0 {
                return None;
            }
        }
        for i in 0..columns {
            right[i] /= lengths[i];
            for j in 0..columns {
                matrix[i][j] /= lengths[i] * lengths[j];
            }
        }
        Some(Self {
            columns,
            matrix,
            right,
            lengths,
        })
    }

    /// The lower triangle of Cholesky's factors; none where columns depend on each other.
    fn factor(&self) -> Option<[Row; MOST]> {
        let mut lower = [Row::default(); MOST];
        for i in 0..self.columns {
            for j in 0..=i {
                let known: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
                let rest = self.matrix[i][j] - known;
                lower[i][j] = match i == j {
                    true if rest < DEPENDENT => return None,
                    true => rest.sqrt(),
                    false => rest / lower[j][j],
                };
            }
        }
        Some(lower)
    }

    fn solve(&self) -> Option<Row> {
        let mut found = self.substitute(&self.factor()?, self.right);
        found
            .iter_mut()
            .zip(self.lengths)
            .for_each(|(x, length)| *x /= length);
        Some(found)
    }

    fn inverse(&self) -> Option<[Row; MOST]> {
        let lower = self.factor()?;
        let mut inverse = [Row::default(); MOST];
        for (at, column) in inverse.iter_mut().enumerate().take(self.columns) {
            let mut unit = Row::default();
            unit[at] = 1.0;
            *column = self.substitute(&lower, unit);
            for (x, length) in column.iter_mut().zip(self.lengths) {
                *x /= length * self.lengths[at];
            }
        }
        Some(inverse)
    }

    /// Solves `lower * transposed(lower) * x = right`.
    fn substitute(&self, lower: &[Row; MOST], right: Row) -> Row {
        let mut x = right;
        for i in 0..self.columns {
            for k in 0..i {
                x[i] -= lower[i][k] * x[k];
            }
            x[i] /= lower[i][i];
        }
        for i in (0..self.columns).rev() {
            for k in i + 1..self.columns {
                x[i] -= lower[k][i] * x[k];
            }
            x[i] /= lower[i][i];
        }
        x
    }
}

impl Regression {
    /// The same with all columns, of which `chosen` were fitted.
    fn spread_to(self, chosen: &[usize], columns: usize) -> Self {
        let mut coefficients = vec![0.0; columns];
        let mut covariance = vec![vec![0.0; columns]; columns];
        for (i, at) in chosen.iter().enumerate() {
            coefficients[*at] = self.coefficients[i];
            for (j, to) in chosen.iter().enumerate() {
                covariance[*at][*to] = self.covariance[i][j];
            }
        }
        Self {
            coefficients,
            covariance,
            ..self
        }
    }

    /// What a row is expected to give: the mean, without the variation of a run.
    pub fn expect(&self, row: &[f64]) -> Estimate {
        self.function(|c| row.iter().zip(c).map(|(x, c)| x * c).sum(), row, 0.0)
    }

    /// What a single run of a row will give.
    pub fn run(&self, row: &[f64]) -> Estimate {
        let mean = self.expect(row);
        let own = self.scale * mean.value;
        let error = ((mean.high - mean.value) / self.quantile).hypot(own);
        Estimate::new(mean.value, error, self.quantile, 0.0)
    }

    /// A function of the coefficients with this gradient, by the delta method; it is no less than `least`.
    pub fn function(
        &self,
        value: impl Fn(&[f64]) -> f64,
        gradient: &[f64],
        least: f64,
    ) -> Estimate {
        let times = |row: &Vec<f64>| -> f64 { row.iter().zip(gradient).map(|(c, g)| c * g).sum() };
        let variance: f64 = self
            .covariance
            .iter()
            .zip(gradient)
            .map(|(row, g)| g * times(row))
            .sum();
        Estimate::new(
            value(&self.coefficients),
            variance.max(0.0).sqrt(),
            self.quantile,
            least,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row for each value.
    fn fit(rows: &[Vec<f64>], values: &[f64]) -> Result<Regression, Refusal> {
        super::fit(rows.iter().map(|row| (row.clone(), 1)), values)
    }

    #[test]
    fn exact_values_give_their_coefficients() {
        let rows: Vec<Vec<f64>> = [1.0, 2.0, 4.0, 8.0, 16.0]
            .iter()
            .map(|p| vec![1.0, 1.0 / p])
            .collect();
        let values: Vec<f64> = rows.iter().map(|row| 2.0 * row[0] + 6.0 * row[1]).collect();
        let found = fit(&rows, &values).unwrap();
        assert!(
            (found.coefficients[0] - 2.0).abs() < 1e-9
                && (found.coefficients[1] - 6.0).abs() < 1e-9,
            "{found:?}"
        );
        assert!(found.scale < 1e-9);
        let at = found.expect(&[1.0, 0.5]);
        assert!(
            (at.value - 5.0).abs() < 1e-9 && at.high - at.low < 1e-6,
            "{at:?}"
        );
    }

    #[test]
    fn one_wild_value_moves_little() {
        let rows: Vec<Vec<f64>> = (0..30).map(|at| vec![1.0, f64::from(at % 6)]).collect();
        let mut random = fastrand::Rng::with_seed(3);
        let mut values: Vec<f64> = rows
            .iter()
            .map(|row| (10.0 + 2.0 * row[1]) * (1.0 + 0.01 * (random.f64() - 0.5)))
            .collect();
        values[7] *= 3.0;
        let found = fit(&rows, &values).unwrap();
        assert!(
            (found.coefficients[0] - 10.0).abs() < 0.1 && (found.coefficients[1] - 2.0).abs() < 0.1,
            "{found:?}"
        );
    }

    #[test]
    fn coefficients_are_not_negative() {
        // A line that falls to the right: the slope is left out, and the rest is the middle.
        let rows: Vec<Vec<f64>> = (1..=8).map(|at| vec![1.0, f64::from(at)]).collect();
        let values: Vec<f64> = (1..=8).map(|at| 10.0 - f64::from(at)).collect();
        let found = fit(&rows, &values).unwrap();
        assert!(
            found.coefficients[1].abs() < 1e-12 && found.coefficients[0] > 2.0,
            "{found:?}"
        );
    }

    #[test]
    fn too_little_is_refused() {
        let rows = vec![vec![1.0, 1.0]; 6];
        assert!(matches!(
            fit(&rows, &[1.0; 6]),
            Err(Refusal::TooFew {
                has: 1,
                parameters: 2,
                needs: 3
            })
        ));
        assert!(fit(&[], &[]).is_err());
        // Twice the same column: either of them alone is as good.
        let rows: Vec<Vec<f64>> = (1..=5)
            .map(|at| vec![f64::from(at), 2.0 * f64::from(at)])
            .collect();
        let found = fit(&rows, &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(found.coefficients.iter().filter(|c| **c == 0.0).count(), 1);
    }

    /// In 1,000 samples with normal errors, an interval of 95 % holds the true coefficient in 930 to 970: three standard errors are 21.
    #[test]
    fn intervals_hold_the_true_coefficients_as_often_as_they_say() {
        let mut random = fastrand::Rng::with_seed(8);
        let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let rows: Vec<Vec<f64>> = (0..25)
            .map(|at| 2.0_f64.powi(at % 5))
            .map(|p| vec![1.0, 1.0 / p])
            .collect();
        let mut held = [0; 2];
        for _ in 0..1000 {
            let values: Vec<f64> = rows
                .iter()
                .map(|row| (1.0 + 9.0 * row[1]) * (1.0 + 0.03 * normal()))
                .collect();
            let found = fit(&rows, &values).unwrap();
            for (at, (truth, gradient)) in [(1.0, [1.0, 0.0]), (9.0, [0.0, 1.0])]
                .into_iter()
                .enumerate()
            {
                let estimate = found.function(|c| c[at], &gradient, 0.0);
                held[at] += usize::from(estimate.low <= truth && truth <= estimate.high);
            }
        }
        assert!(
            held.iter().all(|held| (925..=975).contains(held)),
            "{held:?}"
        );
    }
}
