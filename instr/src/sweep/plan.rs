//! Which combinations are run, and in which order.

use std::collections::{BTreeMap, HashSet};

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use super::axes::{Placement, Plan, Smt};
use super::config::Config;
use crate::summary::units::counted;

/// One combination.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Point {
    /// What `{program}` stands for, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<String>,
    /// Name of the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<String>,
    /// Values of variables that are swept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) environment: BTreeMap<String, String>,
    /// Which processors it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) placement: Option<Placement>,
    /// Clock of the processors, kHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) frequency_khz: Option<u64>,
    /// Hardware threads of the cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) smt: Option<Smt>,
    /// Threads.
    pub(super) threads: u32,
}

impl Point {
    /// What differs from other points but the threads: `big OMP_SCHEDULE=dynamic 2.4 GHz`.
    pub(super) fn series(&self) -> String {
        let mut words: Vec<String> = self.program.iter().chain(&self.input).cloned().collect();
        words.extend(
            self.environment
                .iter()
                .map(|(name, value)| format!("{name}={value}")),
        );
        words.extend(self.placement.map(|placement| placement.word().to_owned()));
        words.extend(self.frequency_khz.map(|khz| format!("{} MHz", khz / 1000)));
        words.extend(self.smt.map(|smt| format!("SMT {}", smt.word())));
        words.join(" ")
    }

    /// What differs from other points: `big OMP_SCHEDULE=dynamic, 4 threads`.
    pub(super) fn name(&self) -> String {
        let threads = counted(u64::from(self.threads), "thread");
        match self.series() {
            series if series.is_empty() => threads,
            series => format!("{series}, {threads}"),
        }
    }

    /// The same with another number of threads.
    pub(super) fn with_threads(&self, threads: u32) -> Self {
        Self {
            threads,
            ..self.clone()
        }
    }
}

/// More points than this are no sweep that ends.
const MOST: usize = 1_000_000;

/// The points of a plan, in order.
///
/// # Errors
///
/// More than a million of them.
pub(super) fn points(config: &Config) -> Result<Vec<Point>> {
    let axes = Axes::of(config);
    let count = match config.plan {
        Plan::Full => axes.combinations(),
        Plan::Latin => axes.sizes().into_iter().max(),
        Plan::Halton(count) => Some(axes.at_most(count)),
    };
    ensure!(
        count.is_some_and(|count| count <= MOST),
        "the sweep has more than {MOST} points: a plan such as `latin` or `halton:40` takes some of them (--plan)"
    );
    let mut found: Vec<Point> = match config.plan {
        Plan::Full => axes.all().map(|at| axes.point(&at)).collect(),
        Plan::Latin => axes
            .latin(config.seed)
            .iter()
            .map(|at| axes.point(at))
            .collect(),
        Plan::Halton(count) => axes.halton(count).iter().map(|at| axes.point(at)).collect(),
    };
    found.sort();
    found.dedup();
    Ok(found)
}

/// All runs of a round in random order: what drifts meanwhile meets all points alike.
pub(super) fn shuffled(points: &[Point], seed: u64, round: u32) -> Vec<&Point> {
    let mut order: Vec<&Point> = points.iter().collect();
    fastrand::Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(round))
        .shuffle(&mut order);
    order
}

/// Values of each axis; one that is not swept has one value, which is none.
struct Axes {
    threads: Vec<u32>,
    inputs: Vec<Option<String>>,
    programs: Vec<Option<String>>,
    placements: Vec<Option<Placement>>,
    frequencies: Vec<Option<u64>>,
    smt: Vec<Option<Smt>>,
    environment: Vec<(String, Vec<String>)>,
}

fn optional<T: Clone>(values: &[T]) -> Vec<Option<T>> {
    match values {
        [] => vec![None],
        values => values.iter().cloned().map(Some).collect(),
    }
}

impl Axes {
    fn of(config: &Config) -> Self {
        let names: Vec<String> = config
            .inputs
            .iter()
            .map(|input| input.name.clone())
            .collect();
        Self {
            threads: config.threads.clone(),
            inputs: optional(&names),
            programs: optional(&config.programs),
            placements: optional(&config.placements),
            frequencies: optional(&config.frequencies),
            smt: optional(&config.smt),
            environment: config.environment.clone().into_iter().collect(),
        }
    }

    /// Number of values of each axis.
    fn sizes(&self) -> Vec<usize> {
        let fixed = [
            self.threads.len(),
            self.inputs.len(),
            self.programs.len(),
            self.placements.len(),
            self.frequencies.len(),
            self.smt.len(),
        ];
        fixed
            .into_iter()
            .chain(self.environment.iter().map(|(_, values)| values.len()))
            .collect()
    }

    /// Number of all combinations; [`None`]: more than can be counted.
    fn combinations(&self) -> Option<usize> {
        self.sizes().into_iter().try_fold(1, usize::checked_mul)
    }

    /// So many, or all combinations where there are fewer.
    fn at_most(&self, count: u32) -> usize {
        let all = self.combinations().unwrap_or(usize::MAX);
        all.min(count as usize)
    }

    fn point(&self, at: &[usize]) -> Point {
        let variable = |(number, (name, values)): (usize, &(String, Vec<String>))| {
            (name.clone(), values[at[6 + number]].clone())
        };
        Point {
            threads: self.threads[at[0]],
            input: self.inputs[at[1]].clone(),
            program: self.programs[at[2]].clone(),
            placement: self.placements[at[3]],
            frequency_khz: self.frequencies[at[4]],
            smt: self.smt[at[5]],
            environment: self.environment.iter().enumerate().map(variable).collect(),
        }
    }

    /// All combinations, as an odometer counts.
    fn all(&self) -> impl Iterator<Item = Vec<usize>> {
        let sizes = self.sizes();
        let count = self.combinations().unwrap_or(0); // points() refuses more than can be counted
        (0..count).map(move |mut number| {
            let digit = |size: &usize| {
                let digit = number % size;
                number /= size;
                digit
            };
            sizes.iter().map(digit).collect()
        })
    }

    /// A Latin hypercube (McKay, Beckman, Conover 1979): a random order of each axis, side by side.
    fn latin(&self, seed: u64) -> Vec<Vec<usize>> {
        let mut random = fastrand::Rng::with_seed(seed);
        let sizes = self.sizes();
        let count = sizes.iter().copied().max().unwrap_or(1);
        let mut column = |size: &usize| {
            let mut order: Vec<usize> = (0..count).map(|at| at % size).collect();
            random.shuffle(&mut order);
            order
        };
        let columns: Vec<Vec<usize>> = sizes.iter().map(&mut column).collect();
        (0..count)
            .map(|at| columns.iter().map(|column| column[at]).collect())
            .collect()
    }

    /// Different points of Halton's sequence (1960), an axis a prime; fewer where there are no more combinations.
    fn halton(&self, count: u32) -> Vec<Vec<usize>> {
        let sizes = self.sizes();
        let wanted = self.at_most(count);
        let mut found: Vec<Vec<usize>> = Vec::new();
        let mut known = HashSet::new();
        // Each combination comes up; the bound only ends what would take too long.
        for number in 1..=(wanted as u64).saturating_mul(10_000) {
            let mut bases = primes();
            // An axis of one value takes no prime: the smaller they are, the more even few points are.
            let axis = |size: &usize| {
                let base = if *size > 1 { bases.next() } else { None };
                let place = base.map_or(0.0, |base| radical_inverse(number, base));
                ((place * *size as f64) as usize).min(size - 1)
            };
            let at: Vec<usize> = sizes.iter().map(axis).collect();
            if known.insert(at.clone()) {
                found.push(at);
            }
            if found.len() == wanted {
                break;
            }
        }
        found
    }
}

fn primes() -> impl Iterator<Item = u64> {
    (2_u64..).filter(|n: &u64| {
        (2..*n)
            .take_while(|d| d * d <= *n)
            .all(|d| !n.is_multiple_of(d))
    })
}

/// The digits of a number behind the point, in reverse order.
fn radical_inverse(mut number: u64, base: u64) -> f64 {
    let (mut value, mut place) = (0.0, 1.0);
    while number > 0 {
        place /= base as f64;
        value += (number % base) as f64 * place;
        number /= base;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        toml::from_str(&format!("command = ['app']\n{text}")).unwrap()
    }

    #[test]
    fn the_full_plan_has_every_combination_once() {
        let config = config(
            "threads = [1, 2, 4]\ninputs = ['a', 'b']\nfrequencies = [1000000, 2000000]\n[environment]\nX = ['1', '2', '3']",
        );
        let points = points(&config).unwrap();
        assert_eq!(points.len(), 3 * 2 * 2 * 3);
        assert_eq!(points[0].series(), "a X=1 1000 MHz");
    }

    #[test]
    fn a_latin_square_has_each_value_as_often() {
        let config = config("threads = [1, 2, 4, 8]\ninputs = ['a', 'b']\nplan = 'latin'");
        let points = points(&config).unwrap();
        assert_eq!(
            points
                .iter()
                .map(|point| point.threads)
                .collect::<std::collections::BTreeSet<_>>()
                .len(),
            4
        );
        assert!(
            points.len() == 4
                && points
                    .iter()
                    .filter(|point| point.input.as_deref() == Some("a"))
                    .count()
                    == 2
        );
    }

    /// The first numbers of the sequence in bases 2 and 3 are 1/2 1/4 3/4 and 1/3 2/3 1/9.
    #[test]
    fn haltons_sequence_is_the_known_one() {
        assert_eq!([1, 2, 3].map(|n| radical_inverse(n, 2)), [0.5, 0.25, 0.75]);
        assert!((radical_inverse(3, 3) - 1.0 / 9.0).abs() < 1e-12);
        assert_eq!(primes().take(6).collect::<Vec<_>>(), [2, 3, 5, 7, 11, 13]);
        let config = config("threads = '1:10'\ninputs = ['a', 'b', 'c']\nplan = 'halton:12'");
        assert_eq!(points(&config).unwrap().len(), 12);
        let all = self::config("threads = '1:2'\ninputs = ['a', 'b', 'c']\nplan = 'halton:40'");
        assert_eq!(points(&all).unwrap().len(), 6, "no more than there are");
    }

    #[test]
    fn rounds_differ_and_a_seed_repeats_them() {
        let points = points(&config("threads = '1:40'")).unwrap();
        assert_eq!(shuffled(&points, 3, 0), shuffled(&points, 3, 0));
        assert_ne!(shuffled(&points, 3, 0), shuffled(&points, 3, 1));
    }
}
