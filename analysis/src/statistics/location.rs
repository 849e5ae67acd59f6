//! Middle and spread of a group of numbers.

/// The share of a normal distribution's standard deviation that its median absolute deviation is, inverted: 1 / Φ⁻¹(3/4).
pub(crate) const OF_MAD: f64 = 1.482_602_218_505_602;

/// The numbers in order; those that are none (NaN) are left out.
fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The quantile `share` (0 to 1): linear between the two nearest of n values, the first of which has the share 0 and the last 1 (definition 7 of Hyndman & Fan, "Sample quantiles in
/// statistical packages", 1996, which NumPy, R and Excel use). [`None`] of no values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    of_sorted(&sorted(values), share)
}

/// [`quantile`] of values that are in order.
pub(super) fn of_sorted(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    let part = place - below as f64;
    // Written so that equal neighbours, infinite ones too, give themselves.
    let step = match sorted[above] == sorted[below] {
        true => 0.0,
        false => part * (sorted[above] - sorted[below]),
    };
    Some(sorted[below] + step)
}

/// The middle value, or the mean of the two in the middle; [`None`] of no values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// A standard deviation that half of the values, however wild, cannot spoil: 1.4826 times the median distance from the median (Hampel, "The influence curve and its role in robust
/// estimation", 1974). Of normal values it is the standard deviation. [`None`] of no values.
pub fn spread(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let distances: Vec<f64> = values.iter().map(|x| (x - middle).abs()).collect();
    median(&distances).map(|median| OF_MAD * median)
}

/// How close values lie together: the median width of the stretches that hold a fifth of them and one more. Values in two heaps are close, however far the heaps are from each other, so
/// that this says nothing about how two groups of values differ. [`None`] of fewer than three.
pub fn closeness(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let step = (sorted.len() / 5).max(1);
    let widths = sorted.iter().zip(sorted.iter().skip(step));
    let widths: Vec<f64> = widths.map(|(first, last)| last - first).collect();
    match sorted.len() {
        0..=2 => None,
        _ => median(&widths),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_are_close_wherever_they_lie() {
        let heap = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
        let two = |apart: f64| -> Vec<f64> {
            let other = heap.iter().map(|x| x + apart);
            heap.iter().copied().chain(other).collect()
        };
        // Four steps of 0.1; of sixteen stretches, four lie across the gap.
        for apart in [5.0, 500.0] {
            assert!((closeness(&two(apart)).unwrap() - 0.4).abs() < 1e-9);
        }
        let wide: Vec<f64> = heap.iter().map(|x| 10.0 * x).collect();
        assert!((closeness(&wide).unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(closeness(&[1.0, 2.0]), None);
    }

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        let values = [15.0, 20.0, 35.0, 40.0, 50.0];
        // numpy.quantile([15, 20, 35, 40, 50], …), by hand: 0.4 * 4 = 1.6, 20 + 0.6 * 15.
        for (share, expected) in [
            (0.0, 15.0),
            (0.25, 20.0),
            (0.4, 29.0),
            (0.5, 35.0),
            (1.0, 50.0),
        ] {
            let found = quantile(&values, share).unwrap();
            assert!((found - expected).abs() < 1e-12, "{share}: {found}");
        }
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[f64::NAN], 0.5), None);
        assert_eq!(median(&[f64::INFINITY, f64::INFINITY]), Some(f64::INFINITY));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }

    #[test]
    fn quantiles_and_spread_are_those_of_numpy_and_scipy() {
        // numpy.quantile and scipy.stats.median_abs_deviation(scale="normal"), NumPy 2.3, SciPy 1.17.
        let values = [0.31, 0.75, 1.22, 0.48, 0.93, 1.75, 0.66, 0.12, 1.01, 0.57];
        for (share, expected) in [(0.1, 0.291), (0.25, 0.5025), (0.5, 0.705), (0.9, 1.273)] {
            assert!(
                (quantile(&values, share).unwrap() - expected).abs() < 1e-12,
                "{share}"
            );
        }
        assert!((spread(&values).unwrap() - 0.392_889_587_903_984_53).abs() < 1e-9);
    }

    #[test]
    fn the_spread_of_normal_values_is_their_standard_deviation_and_wild_ones_do_not_move_it() {
        // 999 quantiles of a normal distribution with deviation 2, by bisection of its distribution function.
        let normal = |share: f64| {
            let (mut low, mut high) = (-9.0_f64, 9.0_f64);
            for _ in 0..80 {
                let middle = f64::midpoint(low, high);
                match 0.5 * libm::erfc(-middle / std::f64::consts::SQRT_2) < share {
                    true => low = middle,
                    false => high = middle,
                }
            }
            2.0 * low
        };
        let mut values: Vec<f64> = (1..1000).map(|at| normal(f64::from(at) / 1000.0)).collect();
        assert!((spread(&values).unwrap() - 2.0).abs() < 0.01);
        values[950..].fill(1e9);
        assert!((spread(&values).unwrap() - 2.0).abs() < 0.15);
        assert_eq!(spread(&[3.0, 3.0, 3.0, 99.0]), Some(0.0));
        assert_eq!(spread(&[]), None);
    }
}
