//! By how much two groups of runs differ, between which limits that lies, and how much runs of one group differ from each other.
//!
//! Of logarithms these are ratios: `exp` of an estimate is how many times as large the second group's values are.

use super::design::Design;
use super::location;
use super::rank::Test;

/// Differences of two runs of one group have this median where runs are normal with deviation 1: √2 Φ⁻¹(3/4).
const OF_DIFFERENCES: f64 = 0.953_872_552_4;
/// Halvings of an interval around a limit.
const HALVINGS: usize = 40;
/// Doublings in search of a difference that the test refuses.
const DOUBLINGS: usize = 60;

/// How much larger values of the second group are: the median of the differences of all pairs of runs in one block, one of each group (Hodges & Lehmann, "Estimates of location based on rank
/// tests", 1963). [`None`] where no block has both groups.
pub fn estimate(design: &Design, values: &[f64]) -> Option<f64> {
    location::median(&differences(design, values))
}

/// Of all pairs of runs in one block, one of each group.
fn differences(design: &Design, values: &[f64]) -> Vec<f64> {
    let mut differences = Vec::new();
    for block in design.blocks() {
        let (second, first): (Vec<usize>, Vec<usize>) = block
            .iter()
            .copied()
            .partition(|run| design.is_second(*run));
        for run in second {
            differences.extend(first.iter().map(|other| values[run] - values[*other]));
        }
    }
    differences
}

/// Limits of the difference: the smallest and largest that the test of [`super::rank`] does not refuse at 1 − `level` (Bauer, "Constructing confidence sets using rank statistics", 1972). Where the
/// groups differ by something else than that, they do so with a probability of `level` at most. [`None`] where the runs are too few to exclude any difference.
pub fn interval(design: &Design, values: &[f64], level: f64) -> Option<(f64, f64)> {
    interval_by(&mut Test::new(design), design, values, level)
}

fn interval_by(
    test: &mut Test<'_>,
    design: &Design,
    values: &[f64],
    level: f64,
) -> Option<(f64, f64)> {
    let refused = 1.0 - level;
    if design.least_p() > refused {
        return None;
    }
    let shown = estimate(design, values)?;
    let mut moved = values.to_vec();
    let mut p_value = |difference: f64| {
        for (run, value) in moved.iter_mut().enumerate() {
            *value = match design.is_second(run) {
                true => values[run] - difference,
                false => values[run],
            };
        }
        test.p_value(&moved)
    };
    // The estimate weighs all ranks, the test does not: where several runs are wild it may refuse the estimate, and others it does not refuse lie beside it.
    let middle = match p_value(shown) > refused {
        true => shown,
        false => {
            let all = differences(design, values).into_iter();
            let by_p = all.map(|difference| (p_value(difference), difference));
            by_p.max_by(|a, b| a.0.total_cmp(&b.0))?.1
        }
    };
    let mut is_refused = |difference: f64| p_value(difference) <= refused;
    let low = limit(middle, -1.0, &mut is_refused)?;
    let high = limit(middle, 1.0, &mut is_refused)?;
    Some((low.min(shown), high.max(shown)))
}

/// From the estimate in the direction `sign`: where differences begin to be refused.
fn limit(middle: f64, sign: f64, is_refused: &mut impl FnMut(f64) -> bool) -> Option<f64> {
    let mut inside = 0.0;
    let mut outside = (middle.abs() * 1e-3).max(1e-6);
    let mut doublings = 0;
    while !is_refused(middle + sign * outside) {
        inside = outside;
        outside *= 2.0;
        doublings += 1;
        if doublings > DOUBLINGS {
            return None;
        }
    }
    for _ in 0..HALVINGS {
        let between = f64::midpoint(inside, outside);
        match is_refused(middle + sign * between) {
            true => outside = between,
            false => inside = between,
        }
    }
    Some(middle + sign * inside)
}

/// How much a run differs from others of its group: a standard deviation, by the median difference of pairs of one block and one group, so that neither wild runs nor drifts count much.
/// [`None`] where no block has two runs of one group.
pub fn noise(design: &Design, values: &[f64]) -> Option<f64> {
    let mut differences = Vec::new();
    for block in design.blocks() {
        for (at, run) in block.iter().enumerate() {
            let others = block[at + 1..].iter();
            let equal = others.filter(|other| design.is_second(**other) == design.is_second(*run));
            differences.extend(equal.map(|other| (values[*run] - values[*other]).abs()));
        }
    }
    location::median(&differences).map(|median| median / OF_DIFFERENCES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }

    #[test]
    fn the_estimate_is_the_median_of_all_pairs() {
        let design = Design::of_groups(&[false, false, false, true, true]);
        // Differences 9, 8, 6, 19, 18, 16.
        near(
            estimate(&design, &[1.0, 2.0, 4.0, 10.0, 20.0]).unwrap(),
            12.5,
        );
        assert_eq!(
            estimate(&Design::of_groups(&[true, true]), &[1.0, 2.0]),
            None
        );
    }

    #[test]
    fn limits_are_the_differences_of_mann_and_whitneys_table() {
        // Of 5 and 5 runs, U = 2 is the largest with a two-sided probability of at most 0.05 (0.032): the limits are the third smallest and the third largest difference.
        let first = [1.1, 2.3, 3.2, 4.9, 5.4];
        let second = [3.7, 5.1, 6.3, 7.7, 9.2];
        let mut differences: Vec<f64> = second.iter().flat_map(|y| first.map(|x| y - x)).collect();
        differences.sort_by(f64::total_cmp);
        let values: Vec<f64> = first.into_iter().chain(second).collect();
        let is_second: Vec<bool> = (0..10).map(|at| at >= 5).collect();
        let design = Design::of_groups(&is_second);
        let mut test = Test::of_all_ranks(&design);
        let (low, high) = interval_by(&mut test, &design, &values, 0.95).unwrap();
        near(low, differences[2]);
        near(high, differences[22]);
    }

    #[test]
    fn a_drift_that_all_runs_have_is_no_noise_and_no_difference() {
        let letters = "ABBAABBAABBAABBAAB";
        let runs: Vec<(u64, bool)> = letters
            .chars()
            .enumerate()
            .map(|(at, letter)| (at as u64, letter == 'B'))
            .collect();
        let design = Design::by_time(&runs);
        let drift = |run: usize| (run / 6) as f64 * 100.0;
        let value = |run: usize| drift(run) + if runs[run].1 { 5.0 } else { 0.0 };
        let values: Vec<f64> = (0..runs.len()).map(value).collect();
        near(estimate(&design, &values).unwrap(), 5.0);
        near(noise(&design, &values).unwrap(), 0.0);
        let (low, high) = interval(&design, &values, 0.95).unwrap();
        near(low, 5.0);
        near(high, 5.0);
    }

    #[test]
    fn few_runs_exclude_nothing() {
        let design = Design::of_groups(&[false, false, true, true]);
        assert_eq!(interval(&design, &[1.0, 2.0, 3.0, 4.0], 0.95), None);
    }

    #[test]
    fn limits_are_where_the_test_begins_to_refuse_even_where_many_runs_are_wild() {
        let mut random = fastrand::Rng::with_seed(4);
        let is_second: Vec<bool> = (0..20).map(|at| at % 2 == 1).collect();
        let design = Design::of_groups(&is_second);
        let mut test = Test::new(&design);
        for _ in 0..60 {
            // In the first group two of five runs are wild.
            let mut value = |second: &bool| {
                let wild = !second && random.f64() < 0.4;
                random.f64() + if wild { 50.0 * random.f64() } else { 0.0 }
            };
            let values: Vec<f64> = is_second.iter().map(&mut value).collect();
            let shown = estimate(&design, &values).unwrap();
            let (low, high) = interval(&design, &values, 0.95).unwrap();
            assert!(low <= shown && shown <= high, "{low} {shown} {high}");
            let mut p_value = |difference: f64| {
                let moved = values.iter().zip(&is_second);
                let moved =
                    moved.map(|(value, second)| value - if *second { difference } else { 0.0 });
                test.p_value(&moved.collect::<Vec<f64>>())
            };
            assert!(p_value(low - 1e-6) <= 0.05 && p_value(high + 1e-6) <= 0.05);
            assert!(low == shown || p_value(low + 1e-9) > 0.05);
            assert!(high == shown || p_value(high - 1e-9) > 0.05);
        }
    }

    #[test]
    fn the_interval_holds_the_difference_as_often_as_it_says() {
        let mut random = fastrand::Rng::with_seed(2);
        let is_second: Vec<bool> = (0..16).map(|at| at % 2 == 1).collect();
        let design = Design::of_groups(&is_second);
        let trials = 500;
        let mut covered = 0;
        for _ in 0..trials {
            let mut value =
                |second: bool| random.f64() * random.f64() + if second { 0.3 } else { 0.0 };
            let values: Vec<f64> = is_second.iter().map(|second| value(*second)).collect();
            let (low, high) = interval(&design, &values, 0.95).unwrap();
            covered += u32::from(low <= 0.3 && 0.3 <= high);
        }
        let share = f64::from(covered) / f64::from(trials);
        assert!((0.935..=0.985).contains(&share), "{share}");
    }
}
