//! Between which limits the median lies of what some values are a sample of.

use std::sync::OnceLock;

use statrs::distribution::{Binomial, ContinuousCDF as _, DiscreteCDF as _, StudentsT};

use super::location;

/// From so many values on no distribution is assumed.
const WITHOUT_ASSUMPTION: usize = 6;
/// The deviation of the median of 2 to 5 values of a normal distribution, as a multiple of the mean's (Hojo, "Distribution of the median, quartiles and
/// interquartile distance in samples from a normal population", Biometrika 1931).
const OF_FEW: [f64; 4] = [1.0, 1.160, 1.092, 1.198];
/// Positions for samples of fewer values than this are remembered.
const REMEMBERED: usize = 65;
/// The level for which they are.
const USUAL: f64 = 0.95;

/// The interval that holds the median with probability `level`. [`None`] of fewer than two values.
///
/// Six values and more: two of the sorted values, and a part of the way to the next ones, by the binomial distribution of the number of values below the median (Hettmansperger & Sheather, "Confidence intervals based on
/// interpolated order statistics", Statistics & Probability Letters 1986). This holds nearly exactly for all usual distributions. Fewer values have no such interval of 95 %: as for a normal
/// distribution, by Student's. It is wide, as so few values say so little.
///
/// ```
/// use instr_analysis::statistics::limits::of_median;
///
/// assert_eq!(of_median(&[1.0], 0.95), None);
/// let (low, high) = of_median(&[1.0, 1.1], 0.95).unwrap();
/// assert!(low < 0.5 && high > 1.6); // 1.05 ± 12.7 · 0.05
/// ```
#[must_use]
pub fn of_median(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let count = values.len();
    if count < 2 {
        return None;
    }
    if count < WITHOUT_ASSUMPTION {
        return of_few(values, level);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = position(count, level)?;
    let part = |from: f64, to: f64| from + position.part * (to - from);
    let (first, last) = (position.rank - 1, count - position.rank);
    let low = part(sorted[first], sorted[first + 1]);
    Some((low, part(sorted[last], sorted[last - 1])))
}

fn of_few(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let median = location::median(values)?;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt() * OF_FEW[values.len() - 2];
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let half = student.inverse_cdf(f64::midpoint(1.0, level)) * error;
    Some((median - half, median + half))
}

/// Where the limits are among sorted values.
#[derive(Debug, Clone, Copy)]
struct Position {
    /// From 1: the lower limit lies between the value of this rank and the next one, the upper one as far from the other end.
    rank: usize,
    /// The part of the way to the next one.
    part: f64,
}

fn position(count: usize, level: f64) -> Option<Position> {
    static USUAL_ONES: [OnceLock<Option<Position>>; REMEMBERED] =
        [const { OnceLock::new() }; REMEMBERED];
    match USUAL_ONES.get(count).filter(|_| level == USUAL) {
        Some(known) => *known.get_or_init(|| computed(count, level)),
        None => computed(count, level),
    }
}

fn computed(count: usize, level: f64) -> Option<Position> {
    let below = Binomial::new(0.5, count as u64).ok()?;
    // With which probability the median lies between the values of rank k from both ends.
    let holds = |rank: usize| 1.0 - 2.0 * below.cdf(rank as u64 - 1);
    let most = count / 2;
    // Both limits are in order of the rank: the largest one that is enough.
    let (mut rank, mut beyond) = (1, most + 1);
    if holds(1) < level {
        return Some(Position { rank, part: 0.0 });
    }
    while beyond - rank > 1 {
        let middle = usize::midpoint(rank, beyond);
        match holds(middle) >= level {
            true => rank = middle,
            false => beyond = middle,
        }
    }
    if rank == most {
        return Some(Position { rank, part: 0.0 });
    }
    let (now, next) = (holds(rank), holds(rank + 1));
    let share = (now - level) / (now - next);
    let (n, k) = (count as f64, rank as f64);
    let part = (n - k) * share / (k + (n - 2.0 * k) * share);
    Some(Position { rank, part })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published: of 10 values the limits of 95 % are the second and the ninth (97.9 %) and a part of the way to the third and the eighth (89.1 %).
    #[test]
    fn positions_are_the_published_ones() {
        let position = computed(10, 0.95).unwrap();
        let share: f64 = (0.978_515_625 - 0.95) / (0.978_515_625 - 0.890_625);
        let part = 8.0 * share / (2.0 + 6.0 * share);
        assert_eq!(position.rank, 2);
        assert!((position.part - part).abs() < 1e-9, "{position:?}");
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let (low, high) = of_median(&values, 0.95).unwrap();
        assert!((low - 2.0 - part).abs() < 1e-9 && (high - 9.0 + part).abs() < 1e-9);
        assert_eq!(of_median(&[3.0; 5], 0.95), Some((3.0, 3.0)));
        assert_eq!(of_median(&[3.0; 50], 0.95), Some((3.0, 3.0)));
    }

    /// How often the interval of samples holds the median, for a normal distribution and one with a long tail.
    #[test]
    fn the_median_is_held_as_often_as_is_said() {
        let trials = 20_000;
        let mut random = fastrand::Rng::with_seed(7);
        let mut normal = || {
            let (a, b) = (1.0 - random.f64(), random.f64());
            (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
        };
        for count in [2, 3, 4, 5, 6, 7, 10, 12, 31] {
            let (mut plain, mut tailed) = (0, 0);
            for _ in 0..trials {
                let values: Vec<f64> = (0..count).map(|_| normal()).collect();
                let long: Vec<f64> = values.iter().map(|value| value.exp()).collect();
                let (low, high) = of_median(&values, 0.95).unwrap();
                plain += u32::from(low <= 0.0 && 0.0 <= high);
                let (low, high) = of_median(&long, 0.95).unwrap();
                tailed += u32::from(low <= 1.0 && 1.0 <= high);
            }
            let share = |held: u32| f64::from(held) / f64::from(trials);
            assert!(
                (0.94..0.975).contains(&share(plain)),
                "{count}: {}",
                share(plain)
            );
            // Student's distribution is of normal values; the others are of any.
            let least = if count < 6 { 0.90 } else { 0.94 };
            assert!(
                (least..0.985).contains(&share(tailed)),
                "{count}: {}",
                share(tailed)
            );
        }
    }
}
