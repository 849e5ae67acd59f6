//! Products of terms summed over all points: what a fit by two terms and a constant leaves follows from a few of them, without a look at the points.
//!
//! A term is a power of the threads times a power of the size. For two terms, the sum over the points of one size is a product of two powers of the threads, which many pairs of terms have in common; the rest is a
//! sum over the sizes.

use smallvec::smallvec;

use super::least_squares::dot;
use super::points::{Point, Variable};
use super::table::Terms;
use super::term::{Power, Term};

/// Columns whose part that others do not explain is smaller than this are taken for dependent.
const DEPENDENT: f64 = 1e-9;

/// Sums over all points of products of terms, each as a share of what was measured.
pub(super) struct Products {
    /// Of each term, the constant last: the positions of its powers.
    terms: Vec<(usize, usize)>,
    /// By two powers of the threads, at each size: the sum over the points.
    threads: Square,
    /// By two powers of the size, at each size: their product.
    sizes: Square,
    /// Of each term, the constant last: its length and the sum of its values.
    lengths: Vec<(f64, f64)>,
    points: f64,
}

/// A column for each pair of some powers.
struct Square {
    side: usize,
    columns: Vec<Vec<f64>>,
}

impl Square {
    fn of(side: usize, column: impl Fn(usize, usize) -> Vec<f64>) -> Self {
        let mut columns = vec![Vec::new(); side * side];
        for a in 0..side {
            for b in a..side {
                columns[a * side + b] = column(a, b);
            }
        }
        Self { side, columns }
    }

    fn of_pair(&self, a: usize, b: usize) -> &[f64] {
        &self.columns[a.min(b) * self.side + a.max(b)]
    }
}

impl Products {
    /// Of terms and the constant.
    pub(super) fn of(terms: &[Term], points: &[Point]) -> Self {
        let all = || terms.iter().copied().chain([Term::default()]);
        let by_threads = different(all().map(|term| term.threads));
        let by_size = different(all().map(|term| term.size));
        let place = |powers: &[Power], power| powers.binary_search(&power).unwrap_or_default();
        let of_size = Sizes::of(points);
        // Powers of the threads at all points, in the order of the sizes.
        let threads = Variable::of(of_size.points().map(|it| it.threads));
        let values: Vec<Vec<f64>> = by_threads.iter().map(|power| threads.to(*power)).collect();
        let shares: Vec<f64> = of_size.points().map(|it| 1.0 / it.seconds).collect();
        let squares: Vec<f64> = shares.iter().map(|share| share * share).collect();
        let threads = Square::of(by_threads.len(), |a, b| {
            let both = values[a].iter().zip(&values[b]).zip(&squares);
            of_size.sums(both.map(|((a, b), share)| a * b * share))
        });
        let size_values: Vec<Vec<f64>> = by_size
            .iter()
            .map(|power| of_size.values().map(|size| power.of(size)).collect())
            .collect();
        let sizes = Square::of(by_size.len(), |a, b| {
            let both = size_values[a].iter().zip(&size_values[b]);
            both.map(|(a, b)| a * b).collect()
        });
        let sums: Vec<Vec<f64>> = values
            .iter()
            .map(|powers| of_size.sums(powers.iter().zip(&shares).map(|(x, share)| x * share)))
            .collect();
        let terms: Vec<(usize, usize)> = all()
            .map(|term| (place(&by_threads, term.threads), place(&by_size, term.size)))
            .collect();
        let mut products = Self {
            lengths: Vec::new(),
            points: points.len() as f64,
            terms,
            threads,
            sizes,
        };
        products.lengths = (0..products.terms.len())
            .map(|at| {
                let (p, n) = products.terms[at];
                (
                    products.product(at, at).sqrt(),
                    dot(&sums[p], &size_values[n]),
                )
            })
            .collect();
        products
    }

    fn product(&self, a: usize, b: usize) -> f64 {
        let (of_a, of_b) = (self.terms[a], self.terms[b]);
        dot(
            self.threads.of_pair(of_a.0, of_b.0),
            self.sizes.of_pair(of_a.1, of_b.1),
        )
    }

    /// The product of two terms of length 1.
    fn unit(&self, a: usize, b: usize) -> f64 {
        self.product(a, b) / (self.lengths[a].0 * self.lengths[b].0)
    }

    /// The sum of a term of length 1.
    fn sum(&self, at: usize) -> f64 {
        self.lengths[at].1 / self.lengths[at].0
    }

    /// What the best fit of the measurements by each single term and a constant leaves, as [`Products::pairs`] does.
    pub(super) fn singles(&self) -> Vec<(f64, Terms)> {
        let constant = self.lengths.len() - 1;
        let single = |at| {
            let product = self.unit(at, constant);
            let left = left_by_one(product, [self.sum(at), self.sum(constant)], self.points)?;
            Some((left, smallvec![at]))
        };
        (0..constant).filter_map(single).collect()
    }

    /// What the best fit of the measurements by one of `first`, any other term and a constant leaves: the sum of squares of shares; with the two terms. Pairs that would need negative coefficients, or depend on each other, are not there.
    pub(super) fn pairs(&self, first: &[usize]) -> Vec<(f64, Terms)> {
        let constant = self.lengths.len() - 1;
        let with_constant: Vec<f64> = (0..constant).map(|at| self.unit(at, constant)).collect();
        let pair = |a: usize, b: usize| {
            let gram = [self.unit(a, b), with_constant[a], with_constant[b]];
            let sums = [self.sum(a), self.sum(b), self.sum(constant)];
            Some((left_by_two(gram, sums, self.points)?, smallvec![a, b]))
        };
        let all = first.iter().flat_map(|a| {
            let others = (0..constant).filter(move |b| b != a);
            others.filter_map(move |b| pair(*a, b))
        });
        all.collect()
    }
}

/// Columns whose part that others do not explain is smaller than this need a fit that looks at each point.
const CLOSE: f64 = 1e-6;

/// The fit of 1 everywhere by a constant and up to two terms, of which sums over the points say all: what is left at a point, and how much its own value counts there, follow from its values.
pub(super) struct Normal {
    /// Positions of the terms and of the constant; the first ones count.
    pub(super) columns: [usize; 3],
    coefficients: [f64; 3],
    /// The inverse of the columns' products.
    inverse: [[f64; 3]; 3],
}

impl Normal {
    /// Square of what a fit without this point misses there: residual / (1 − leverage).
    pub(super) fn miss(&self, at: [f64; 3]) -> f64 {
        let [x, y, z] = at;
        let [a, b, c] = self.coefficients;
        let [i, j, k] = &self.inverse;
        let residual = 1.0 - (a * x + b * y + c * z);
        let leverage = x * (i[0] * x + 2.0 * (i[1] * y + i[2] * z))
            + y * (j[1] * y + 2.0 * j[2] * z)
            + z * k[2] * z;
        let missed = residual / (1.0 - leverage).max(1e-3);
        missed * missed
    }
}

impl Products {
    /// The fit by up to two terms and the constant, or without the constant where that would be negative. [`None`] where a coefficient of a term would be negative.
    ///
    /// # Errors
    ///
    /// Columns that are too close to each other.
    pub(super) fn fit(&self, terms: &[usize]) -> Result<Option<Normal>, Close> {
        let constant = self.lengths.len() - 1;
        let mut columns = [constant; 3];
        columns[..terms.len()].copy_from_slice(terms);
        let with = self.solve(columns, terms.len() + 1)?;
        let fit = match with.coefficients[terms.len()] < 0.0 && !terms.is_empty() {
            true => self.solve(columns, terms.len())?,
            false => with,
        };
        Ok(fit.coefficients.iter().all(|c| *c >= 0.0).then_some(fit))
    }

    /// The fit by the first of some columns.
    fn solve(&self, columns: [usize; 3], count: usize) -> Result<Normal, Close> {
        let used = |at: usize| at < count;
        // Columns of length 1; those that do not count are at right angles to all others.
        let product = |a: usize, b: usize| match (used(a) && used(b), a == b) {
            (_, true) => 1.0,
            (true, false) => self.unit(columns[a], columns[b]),
            (false, false) => 0.0,
        };
        let [ab, ac, bc] = [product(0, 1), product(0, 2), product(1, 2)];
        let whole = 1.0 - ab * ab - ac * ac - bc * bc + 2.0 * ab * ac * bc;
        if whole.is_nan() || whole <= CLOSE {
            return Err(Close);
        }
        let inverse = [
            [1.0 - bc * bc, ac * bc - ab, ab * bc - ac],
            [ac * bc - ab, 1.0 - ac * ac, ab * ac - bc],
            [ab * bc - ac, ab * ac - bc, 1.0 - ab * ab],
        ];
        let of = |at: usize, value: f64| match used(at) {
            true => value / self.lengths[columns[at]].0,
            false => 0.0,
        };
        let sums: [f64; 3] = std::array::from_fn(|at| of(at, self.lengths[columns[at]].1));
        let mut normal = Normal {
            columns,
            coefficients: [0.0; 3],
            inverse: [[0.0; 3]; 3],
        };
        for (a, row) in inverse.iter().enumerate() {
            let both = row.iter().zip(&sums);
            let coefficient = both.map(|(i, sum)| i / whole * sum).sum();
            normal.coefficients[a] = of(a, coefficient);
            for (b, i) in row.iter().enumerate() {
                normal.inverse[a][b] = of(a, of(b, i / whole));
            }
        }
        Ok(normal)
    }
}

/// Columns are so close to each other that sums over the points are not exact enough.
#[derive(Debug)]
pub(super) struct Close;

/// Points by their size.
struct Sizes<'p> {
    /// In the order of their sizes.
    points: Vec<&'p Point>,
    /// Each size, and how many points have it.
    sizes: Vec<(f64, usize)>,
}

impl<'p> Sizes<'p> {
    fn of(points: &'p [Point]) -> Self {
        let mut points: Vec<&Point> = points.iter().collect();
        points.sort_by(|a, b| a.size.total_cmp(&b.size));
        let same = points.chunk_by(|a, b| a.size == b.size);
        let sizes = same.map(|same| (same[0].size, same.len())).collect();
        Self { points, sizes }
    }

    fn points(&self) -> impl Iterator<Item = &'p Point> + Clone {
        self.points.iter().copied()
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.sizes.iter().map(|(size, _)| *size)
    }

    /// Sums over the points of each size of values of the points.
    fn sums(&self, mut values: impl Iterator<Item = f64>) -> Vec<f64> {
        let sum = |(_, count): &(f64, usize)| values.by_ref().take(*count).sum();
        self.sizes.iter().map(sum).collect()
    }
}

fn different(powers: impl Iterator<Item = Power>) -> Vec<Power> {
    let mut powers: Vec<Power> = powers.collect();
    powers.sort_unstable();
    powers.dedup();
    powers
}

/// What the best fit of 1 at `count` points by a column and a constant, both of length 1, leaves: the sum of squares. `sums`: of the column and of the constant. Without the constant where it would be negative; none
/// where the coefficient of the column would be, or it depends on the constant.
fn left_by_one(product: f64, sums: [f64; 2], count: f64) -> Option<f64> {
    let [a, c] = sums;
    let whole = 1.0 - product * product;
    if whole > DEPENDENT {
        let (x, z) = ((a - product * c) / whole, (c - product * a) / whole);
        if z >= 0.0 {
            return (x >= 0.0).then(|| (count - x * a - z * c).max(0.0));
        }
    }
    (a >= 0.0).then(|| (count - a * a).max(0.0))
}

/// The same by two columns and a constant. `gram`: products of the two, and of each with the constant.
fn left_by_two(gram: [f64; 3], sums: [f64; 3], count: f64) -> Option<f64> {
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

#[cfg(test)]
mod tests {
    use super::super::table::Table;
    use super::super::term::candidates;
    use super::*;

    /// The sums agree with fits that look at each point, on points that are a grid and on some that are none.
    #[test]
    fn what_is_left_is_what_fits_leave() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut points = Vec::new();
        for size in [10.0, 20.0, 50.0, 70.0, 100.0] {
            for threads in [1.0, 2.0, 3.0, 8.0, 16.0] {
                if random.u8(..8) > 0 {
                    points.push(Point {
                        threads,
                        size,
                        seconds: (0.1 + size / threads) * (1.0 + 0.1 * random.f64()),
                        repeats: 1,
                        squares: 0.0,
                    });
                }
            }
        }
        random.shuffle(&mut points);
        let terms = candidates(true, true);
        let (table, products) = (Table::of(&terms, &points), Products::of(&terms, &points));
        let first: Vec<usize> = (0..terms.len()).step_by(11).collect();
        let models = products.singles().into_iter().chain(products.pairs(&first));
        let (mut compared, mut judged_alike, mut apart) = (0, 0, 0);
        for (left, at) in models {
            // Cramer's rule is not exact where columns are nearly equal.
            let Some(residuals) = table.residuals(&at) else {
                continue;
            };
            // What is judged of it, by sums and by a look at each point.
            if let Ok(fit) = products.fit(&at) {
                let judged = fit.map(|fit| table.misses(&fit).iter().sum::<f64>());
                let exact = table
                    .judge(at.clone())
                    .map(|it| it.error.powi(2) * table.points() as f64);
                let same = match (judged, exact) {
                    (Some(judged), Some(exact)) => (judged / exact - 1.0).abs() < 1e-6,
                    (None, None) => true,
                    // A coefficient that is 0 but for rounding is negative by one way alone.
                    _ => {
                        apart += 1;
                        true
                    }
                };
                assert!(same, "{:?} {at:?}: {judged:?}, not {exact:?}", terms[at[0]]);
                judged_alike += usize::from(judged.is_some());
            }
            let exact: f64 = residuals.iter().map(|r| r * r).sum();
            let near = (left - exact).abs() <= 1e-4 * exact + 1e-9;
            assert!(near, "{:?} {:?}: {left}, not {exact}", terms[at[0]], at);
            compared += 1;
        }
        let counts = (compared, judged_alike, apart);
        assert!(
            compared > 1000 && judged_alike > 500 && apart < 5,
            "{counts:?}"
        );
    }
}
