//! Many tests at once.

/// p-values of several tests, each so much larger that a test is called significant by `p <= level` with a probability of at most `level` that *any* of those that have no difference is,
/// however they depend on each other (Holm, "A simple sequentially rejective multiple test procedure", 1979): the smallest times n, the next times n − 1 …, none smaller than the one before.
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, test) in order.into_iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        largest = largest.max((left * p_values[test]).min(1.0));
        adjusted[test] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_counts_for_all_and_order_is_kept() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02: 4 * 0.005, 3 * 0.01, 2 * 0.03, and 0.04 not below the one before.
        let found = adjusted(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(adjusted(&[0.7, 0.9]), [1.0, 1.0]);
        assert_eq!(adjusted(&[]), [0.0; 0]);
        assert_eq!(adjusted(&[0.2]), [0.2]);
    }
}
