//! The fit of 1 everywhere by few columns, by least squares.

/// A fit of values that are all 1.
pub(super) struct Fit {
    /// What is left at each point.
    pub(super) residuals: Vec<f64>,
    /// How much each point's own value counts in what is fitted there.
    pub(super) leverages: Vec<f64>,
    /// Of each column.
    pub(super) coefficients: Vec<f64>,
}

/// The fit of 1 everywhere by the columns. [`None`] where columns depend on each other.
pub(super) fn least_squares(columns: &[&[f64]]) -> Option<Fit> {
    let count = columns.first()?.len();
    // Orthogonal columns by Gram and Schmidt, twice, so that nearly equal columns do not spoil it; and the triangle that makes the columns of them.
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
    let mut triangle = vec![vec![0.0; columns.len()]; columns.len()];
    for (at, column) in columns.iter().enumerate() {
        let mut rest = column.to_vec();
        for _ in 0..2 {
            for (known, row) in basis.iter().zip(&mut triangle) {
                let part = dot(known, &rest);
                row[at] += part;
                add(&mut rest, -part, known);
            }
        }
        let left = norm(&rest);
        if !left.is_finite() || left < 1e-7 * norm(column) {
            return None;
        }
        triangle[at][at] = left;
        rest.iter_mut().for_each(|r| *r /= left);
        basis.push(rest);
    }
    let mut fit = Fit {
        residuals: vec![1.0; count],
        leverages: vec![0.0; count],
        coefficients: vec![0.0; columns.len()],
    };
    // What is fitted is 1 everywhere: each value as a share of itself.
    let parts: Vec<f64> = basis.iter().map(|column| column.iter().sum()).collect();
    for (column, part) in basis.iter().zip(&parts) {
        add(&mut fit.residuals, -part, column);
        let leverages = fit.leverages.iter_mut().zip(column);
        leverages.for_each(|(leverage, b)| *leverage += b * b);
    }
    for i in (0..columns.len()).rev() {
        let later: f64 = (i + 1..columns.len())
            .map(|j| triangle[i][j] * fit.coefficients[j])
            .sum();
        fit.coefficients[i] = (parts[i] - later) / triangle[i][i];
    }
    Some(fit)
}

/// Adds so many times `other`.
fn add(to: &mut [f64], times: f64, other: &[f64]) {
    to.iter_mut().zip(other).for_each(|(x, y)| *x += times * y);
}

/// The sum of products.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
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

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
