//! Do two groups of runs differ? The exact test of aligned ranks.
//!
//! Each block's values lose their median. All of them get ranks, and the ranks of the second group are added. If the groups do not differ, each arrangement of the groups inside of each
//! block is as likely as the one that was measured, so that the probability of a sum as extreme follows from counting: Hodges & Lehmann, "Rank methods for combination of independent
//! experiments in analysis of variance", 1962. In one block it is the test of Wilcoxon (1945) and of Mann & Whitney (1947); ties have the mean of their ranks, and the probability is
//! that of these very ranks.
//!
//! Ranks above the middle count less: from some place on all are the same number. Other work on the machine makes runs longer, hardly ever shorter, so that the longest
//! run of all says little about the program, and one such run in the faster group must not hide that the others are faster. The probability stays exact whatever numbers the
//! ranks are given (Hájek, Šidák & Sen, *Theory of Rank Tests*, 1999, chapter 4).

use super::design::Design;
use super::location;

/// Steps of counting; larger designs (some 30 runs in each group) use the normal distribution.
const EXACT: usize = 4_000_000;

/// The probability, if the groups do not differ, that their ranks differ as much as these or more, in whichever direction. `values` are those of the runs, in the order of the design; 1
/// where there are not two groups.
///
/// # Panics
///
/// If there is not a value for each run.
pub fn p_value(design: &Design, values: &[f64]) -> f64 {
    Test::new(design).p_value(values)
}

/// The part of all runs by which the highest rank that counts lies above the size of the larger group. Simulations chose it: see `docs/decisions`.
const ABOVE: f64 = 0.2;

/// The doubled rank that all higher ones count as. It is above those of the larger group, so that groups that do not overlap have the smallest probability there is.
fn top(design: &Design) -> usize {
    let second = (0..design.runs())
        .filter(|run| design.is_second(*run))
        .count();
    let larger = second.max(design.runs() - second);
    let above = (ABOVE * design.runs() as f64) as usize;
    2 * (larger + above.max(1))
}

/// The test of one design, for many values: what was counted for the same ranks is not counted again.
#[derive(Debug)]
pub struct Test<'d> {
    design: &'d Design,
    top: usize,
    counted: Option<(Vec<Block>, Null)>,
}

/// Doubled ranks of a block in order, so that the mean of two ranks is a whole number, and how many of them are the second group's.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    ranks: Vec<usize>,
    chosen: usize,
}

/// The distribution of the sum of the second group's doubled ranks, if the groups do not differ.
#[derive(Debug)]
enum Null {
    /// Probability of each sum.
    Exact(Vec<f64>),
    Normal {
        mean: f64,
        deviation: f64,
    },
}

impl<'d> Test<'d> {
    /// For the runs of `design`.
    pub fn new(design: &'d Design) -> Self {
        Self {
            design,
            top: top(design),
            counted: None,
        }
    }

    /// The test in which all ranks count: that of Wilcoxon, Mann and Whitney in one block.
    #[cfg(test)]
    pub(super) fn of_all_ranks(design: &'d Design) -> Self {
        Self {
            top: usize::MAX,
            ..Self::new(design)
        }
    }

    /// See [`p_value`].
    ///
    /// # Panics
    ///
    /// If there is not a value for each run.
    pub fn p_value(&mut self, values: &[f64]) -> f64 {
        assert_eq!(values.len(), self.design.runs(), "a value for each run");
        let mut ranks = ranks(&aligned(self.design, values));
        ranks
            .iter_mut()
            .for_each(|rank| *rank = (*rank).min(self.top));
        let is_second = |run: &usize| self.design.is_second(*run);
        let block = |runs: &Vec<usize>| {
            let mut sorted: Vec<usize> = runs.iter().map(|run| ranks[*run]).collect();
            sorted.sort_unstable();
            Block {
                ranks: sorted,
                chosen: runs.iter().filter(|run| is_second(run)).count(),
            }
        };
        let blocks: Vec<Block> = self.design.blocks().iter().map(block).collect();
        let sum = (0..values.len())
            .filter(is_second)
            .map(|run| ranks[run])
            .sum();
        if self.counted.as_ref().is_none_or(|known| known.0 != blocks) {
            let null = Null::of(&blocks);
            self.counted = Some((blocks, null));
        }
        self.counted
            .as_ref()
            .map_or(1.0, |known| known.1.two_sided(sum))
    }
}

/// The values without the median of their block.
fn aligned(design: &Design, values: &[f64]) -> Vec<f64> {
    let mut aligned = values.to_vec();
    for block in design.blocks() {
        let of_block: Vec<f64> = block.iter().map(|run| values[*run]).collect();
        let middle = location::median(&of_block).unwrap_or(0.0);
        block.iter().for_each(|run| aligned[*run] -= middle);
    }
    aligned
}

/// Ranks from 1, doubled; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    let mut at = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        // First and last rank of these, at + 1 and at + length.
        equal
            .iter()
            .for_each(|run| ranks[*run] = 2 * at + 1 + equal.len());
        at += equal.len();
    }
    ranks
}

impl Null {
    fn of(blocks: &[Block]) -> Self {
        let runs: usize = blocks.iter().map(|block| block.ranks.len()).sum();
        let largest = blocks.iter().map(|block| block.ranks.len()).max();
        // Sums are below runs * (runs + 1); each step of a block and each of its sums goes through all of them.
        let sums = runs * (runs + 1);
        match sums * largest.unwrap_or(0).pow(2) / 2 {
            ..=EXACT => Self::Exact(exact(blocks)),
            _ => Self::normal(blocks),
        }
    }

    /// By mean and variance of a sum of ranks that are drawn without replacement from each block.
    fn normal(blocks: &[Block]) -> Self {
        let (mut mean, mut variance) = (0.0, 0.0);
        for block in blocks {
            let (size, chosen) = (block.ranks.len() as f64, block.chosen as f64);
            let middle = block.ranks.iter().sum::<usize>() as f64 / size.max(1.0);
            let squares = block
                .ranks
                .iter()
                .map(|rank| (*rank as f64 - middle).powi(2));
            let squares: f64 = squares.sum();
            mean += chosen * middle;
            if block.ranks.len() > 1 {
                variance += chosen * (size - chosen) * squares / (size * (size - 1.0));
            }
        }
        Self::Normal {
            mean,
            deviation: variance.sqrt(),
        }
    }

    /// Twice the probability of the smaller tail.
    fn two_sided(&self, sum: usize) -> f64 {
        let tail = match self {
            Self::Exact(probabilities) => {
                let (below, above) = probabilities.split_at(sum.min(probabilities.len()));
                let own = above.first().copied().unwrap_or(0.0);
                let below = below.iter().sum::<f64>() + own;
                below.min(above.iter().sum())
            }
            // Sums are two apart where there are no ties: half of that is the correction for continuity.
            Self::Normal { mean, deviation } if *deviation > 0.0 => {
                let distance = ((sum as f64 - mean).abs() - 1.0).max(0.0);
                0.5 * libm::erfc(distance / deviation / std::f64::consts::SQRT_2)
            }
            Self::Normal { .. } => 0.5,
        };
        (2.0 * tail).min(1.0)
    }
}

/// The probability of each sum over all blocks.
fn exact(blocks: &[Block]) -> Vec<f64> {
    let mut all = vec![1.0];
    for block in blocks {
        let of_block = sums_of(block);
        let mut next = vec![0.0; all.len() + of_block.last().map_or(0, |last| last.0)];
        for (sum, probability) in of_block {
            for (at, before) in all.iter().enumerate() {
                next[at + sum] += before * probability;
            }
        }
        all = next;
    }
    all
}

/// The sums that the second group can have in a block, in order, with their probabilities: by counting subsets of each size.
fn sums_of(block: &Block) -> Vec<(usize, f64)> {
    let largest: usize = block.ranks.iter().rev().take(block.chosen).sum();
    let mut ways = vec![vec![0.0_f64; largest + 1]; block.chosen + 1];
    ways[0][0] = 1.0;
    for (taken, rank) in block.ranks.iter().enumerate() {
        for size in (1..=block.chosen.min(taken + 1)).rev() {
            let (smaller, larger) = ways.split_at_mut(size);
            let (smaller, larger) = (&smaller[size - 1], &mut larger[0]);
            for sum in *rank..=largest {
                larger[sum] += smaller[sum - rank];
            }
        }
    }
    let ways = &ways[block.chosen];
    let all: f64 = ways.iter().sum();
    let sums = ways.iter().enumerate().filter(|(_, ways)| **ways > 0.0);
    sums.map(|(sum, ways)| (sum, ways / all)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(first: usize, second: usize) -> Design {
        let is_second: Vec<bool> = (0..first + second).map(|at| at >= first).collect();
        Design::of_groups(&is_second)
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn groups_that_do_not_overlap_have_two_arrangements_of_all() {
        for runs in 2_u32..8 {
            let values: Vec<f64> = (0..2 * runs).map(f64::from).collect();
            let design = groups(runs as usize, runs as usize);
            near(p_value(&design, &values), 2.0 / design.arrangements());
            near(p_value(&design, &values), design.least_p());
        }
    }

    #[test]
    fn ranks_of_equal_values_are_the_mean() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), [8, 2, 8, 4, 8]);
        near(p_value(&groups(3, 3), &[5.0; 6]), 1.0);
        near(p_value(&groups(4, 0), &[1.0, 2.0, 3.0, 4.0]), 1.0);
        near(p_value(&groups(0, 0), &[]), 1.0);
    }

    /// Counts all arrangements of the groups in each block, which is what `p_value` must do without counting them.
    fn by_force(design: &Design, values: &[f64]) -> f64 {
        let aligned = aligned(design, values);
        let less = |x: f64| aligned.iter().filter(|y| **y < x).count();
        let same = |x: f64| aligned.iter().filter(|y| **y == x).count();
        let rank = |run: usize| {
            let rank = less(aligned[run]) as f64 + (same(aligned[run]) as f64 + 1.0) / 2.0;
            rank.min(top(design) as f64 / 2.0)
        };
        let runs = design.runs();
        let chosen =
            |set: u32, block: &[usize]| block.iter().filter(|run| set >> **run & 1 == 1).count();
        let sum = |set: u32| {
            (0..runs)
                .filter(|run| set >> run & 1 == 1)
                .map(rank)
                .sum::<f64>()
        };
        let own = (0..runs)
            .filter(|run| design.is_second(*run))
            .fold(0, |set, run| set | 1 << run);
        let allowed = |set: &u32| {
            design
                .blocks()
                .iter()
                .all(|block| chosen(*set, block) == chosen(own, block))
        };
        let sums: Vec<f64> = (0..1 << runs).filter(allowed).map(sum).collect();
        let share = |is: &dyn Fn(f64) -> bool| {
            sums.iter().filter(|x| is(**x)).count() as f64 / sums.len() as f64
        };
        let tail = share(&|x| x <= sum(own)).min(share(&|x| x >= sum(own)));
        (2.0 * tail).min(1.0)
    }

    #[test]
    fn probabilities_are_those_of_counting_all_arrangements() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..200 {
            let runs = random.usize(2..11);
            let order: Vec<(u64, bool)> = (0..runs)
                .map(|_| (random.u64(..99), random.bool()))
                .collect();
            // Few values, so that there are ties.
            let values: Vec<f64> = (0..runs).map(|_| f64::from(random.u8(..9))).collect();
            let design = Design::by_time(&order);
            near(p_value(&design, &values), by_force(&design, &values));
        }
    }

    #[test]
    fn with_all_ranks_one_block_is_the_test_of_mann_and_whitney() {
        // SciPy 1.17: mannwhitneyu(x, y, method="exact"), and with ties permutation_test of the sum of ranks over all arrangements.
        let found = |first: &[f64], second: &[f64]| {
            let values: Vec<f64> = first.iter().chain(second).copied().collect();
            let design = groups(first.len(), second.len());
            Test::of_all_ranks(&design).p_value(&values)
        };
        near(
            found(&[19.0, 22.0, 16.0, 29.0, 24.0], &[20.0, 11.0, 17.0, 12.0]),
            14.0 / 126.0,
        );
        let x = [0.31, 0.75, 1.22, 0.48, 0.93, 1.75, 0.66, 0.12, 1.01, 0.57];
        let y = [0.82, 1.91, 1.37, 0.99, 0.41, 2.2, 1.48, 1.12, 0.71, 1.66];
        near(found(&x, &y), 0.063_012_838_554_634_22);
        let x = [1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0];
        let y = [2.0, 3.0, 4.0, 4.0, 5.0, 5.0, 5.0, 6.0];
        near(found(&x, &y), 0.028_593_628_593_628_594);
    }

    /// Of nine runs of the first group the second group's are all longer, and one of the first took very long: of the C(20, 10) arrangements those count in which the first group has
    /// numbers as small, which are 18 when ranks from 14 on are 14 (45 and one of: 10, 11, 12, 13, or seven times 14; and sums as small with one of 1 to 9 left out: 7).
    #[test]
    fn one_wild_run_does_not_hide_a_difference() {
        let values: Vec<f64> = (1..10).chain([100]).chain(20..30).map(f64::from).collect();
        let design = groups(10, 10);
        near(
            p_value(&design, &values),
            2.0 * 18.0 / design.arrangements(),
        );
        assert!(Test::of_all_ranks(&design).p_value(&values) > 0.001);
    }

    #[test]
    fn the_normal_distribution_is_near_to_the_exact_one_where_it_takes_over() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..20 {
            let values: Vec<f64> = (0..44)
                .map(|run| random.f64() + if run < 22 { 0.0 } else { 0.15 })
                .collect();
            let ranks = ranks(&values);
            let sum = (22..44).map(|run| ranks[run]).sum();
            let mut sorted = ranks.clone();
            sorted.sort_unstable();
            let blocks = [Block {
                ranks: sorted,
                chosen: 22,
            }];
            let (exact, normal) = (Null::Exact(exact(&blocks)), Null::normal(&blocks));
            let (exact, normal) = (exact.two_sided(sum), normal.two_sided(sum));
            assert!((exact - normal).abs() < 0.005, "{exact} {normal}");
        }
        let many: Vec<f64> = (0..400).map(f64::from).collect();
        assert!(p_value(&groups(200, 200), &many) < 1e-50);
    }
}
