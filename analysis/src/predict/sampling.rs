//! Which regions are run again where there are very many.
//!
//! A program may have a million regions of some microseconds. Those of one code are much alike, so that some of them stand for all: every large one is run
//! again, and of the others a part that is drawn. What the part takes is multiplied by the recorded time of all over that of the part: the ratio estimator of
//! W. G. Cochran, *Sampling Techniques*, 1977, chapter 6, which also has its variance.

use hashbrown::HashMap;
use instr_trace::model::Code;

use super::model::Region;
use super::totals::Totals;

/// Regions of one code that are all run again, however many there are of others.
const ALL: f64 = 500.0;

/// How regions of a code are chosen.
#[derive(Clone, Copy, Debug)]
struct Choice {
    /// Those that took so long are run in any case, ns.
    large: f64,
    /// The part of the others.
    share: f64,
}

/// Regions that stand for each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// How many there are, and how long they took, ns.
    count: u64,
    ns: u64,
    /// Of these, the ones that are run again.
    run: u64,
    run_ns: u64,
    /// Sum of squares of their recorded times.
    squares: f64,
}

impl Group {
    /// By what the times of those that were run are multiplied; `None`: all were run.
    fn weight(&self) -> Option<f64> {
        (self.run < self.count).then(|| self.ns as f64 / self.run_ns.max(1) as f64)
    }
}

/// What a case makes of the regions of a group that are run again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    ns: f64,
    squares: f64,
    /// With the recorded times.
    products: f64,
}

impl Moments {
    /// A region that took `recorded` takes `simulated`, ns.
    pub(super) fn add(&mut self, recorded: u64, simulated: u64) {
        let (recorded, simulated) = (recorded as f64, simulated as f64);
        self.ns += simulated;
        self.squares += simulated * simulated;
        self.products += simulated * recorded;
    }

    /// The variance of the sum that follows for all regions of the group, ns²: N² (1 - n/N) s²/n, with the s² of what is left of each region's time when that
    /// of its recorded time is taken away.
    pub(super) fn variance(&self, group: &Group) -> f64 {
        if group.run >= group.count || group.run < 2 {
            return match group.run >= group.count {
                true => 0.0,
                // Of one, nobody knows how it differs from others.
                false => (self.ns * group.ns as f64 / group.run_ns.max(1) as f64).powi(2),
            };
        }
        let (all, run) = (group.count as f64, group.run as f64);
        let ratio = self.ns / (group.run_ns.max(1) as f64);
        let left = self.squares - 2.0 * ratio * self.products + ratio * ratio * group.squares;
        all * all * (1.0 - run / all) * left.max(0.0) / (run - 1.0) / run
    }
}

/// Chooses regions, and keeps count of them.
#[derive(Debug)]
pub(super) struct Sampling {
    choices: HashMap<Code, Choice>,
    /// By code, and whether they are large.
    numbers: HashMap<(Code, bool), usize>,
    groups: Vec<Group>,
    random: fastrand::Rng,
}

impl Sampling {
    /// `most`: regions that can be run again, about.
    pub(super) fn new(totals: &Totals, most: f64) -> Self {
        let all: u64 = totals.regions.values().map(|(_, ns)| ns).sum();
        let choice = |(code, (count, ns)): (&Code, &(u64, u64))| {
            let part = *ns as f64 / all.max(1) as f64;
            let allowed = (most * part).max(ALL);
            let choice = match *count as f64 > allowed {
                true => Choice {
                    large: *ns as f64 / (allowed / 2.0),
                    share: allowed / 2.0 / *count as f64,
                },
                false => Choice {
                    large: 0.0,
                    share: 1.0,
                },
            };
            (*code, choice)
        };
        Self {
            choices: totals.regions.iter().map(choice).collect(),
            numbers: HashMap::new(),
            groups: Vec::new(),
            // The output is reproducible.
            random: fastrand::Rng::with_seed(38),
        }
    }

    /// The number of the region's group, if it is to be run again; `alone`: it is like no other, and is run in any case.
    pub(super) fn choose(&mut self, region: &Region, alone: bool) -> Option<usize> {
        let choice = self.choices.get(&region.code).copied();
        let choice = choice.unwrap_or(Choice {
            large: 0.0,
            share: 1.0,
        });
        let is_large = alone || region.elapsed as f64 >= choice.large;
        let number = self.numbers.entry((region.code, is_large));
        let number = *number.or_insert_with(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        });
        let group = &mut self.groups[number];
        group.count += 1;
        group.ns += region.elapsed;
        // The first one in any case: a group must have one that stands for it.
        let is_run = is_large || group.run == 0 || self.random.f64() < choice.share;
        if !is_run {
            return None;
        }
        group.run += 1;
        group.run_ns += region.elapsed;
        group.squares += (region.elapsed as f64).powi(2);
        Some(number)
    }

    /// A group.
    pub(super) fn group(&self, number: usize) -> &Group {
        &self.groups[number]
    }

    /// A time of the regions of a group that were run again, for all of the group, ns.
    pub(super) fn for_all(&self, number: usize, ns: u64) -> u64 {
        match self.groups[number].weight() {
            Some(weight) => (ns as f64 * weight).round() as u64,
            None => ns,
        }
    }

    /// Regions, and those of them that were run again.
    pub(super) fn counts(&self) -> (u64, u64) {
        let groups = self.groups.iter();
        groups.fold((0, 0), |(all, run), group| {
            (all + group.count, run + group.run)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(code: u64, elapsed: u64) -> Region {
        Region {
            code: Code::from(code),
            elapsed,
            ..Region::default()
        }
    }

    fn totals(regions: &[Region]) -> Totals {
        let mut totals = Totals::default();
        for region in regions {
            let of = totals.regions.entry(region.code).or_default();
            *of = (of.0 + 1, of.1 + region.elapsed);
        }
        totals
    }

    /// What a sample says of the sum of `after` of each region's time, and its variance.
    fn estimate(
        regions: &[Region],
        most: f64,
        seed: u64,
        after: impl Fn(u64) -> u64,
    ) -> (f64, f64) {
        let mut sampling = Sampling::new(&totals(regions), most);
        sampling.random = fastrand::Rng::with_seed(seed);
        let mut sums: Vec<(u64, Moments)> = vec![Default::default(); 4];
        for region in regions {
            if let Some(group) = sampling.choose(region, false) {
                let simulated = after(region.elapsed);
                sums[group].0 += simulated;
                sums[group].1.add(region.elapsed, simulated);
            }
        }
        let groups = 0..sampling.groups.len();
        let time = groups
            .clone()
            .map(|at| sampling.for_all(at, sums[at].0) as f64);
        let variance = groups.map(|at| sums[at].1.variance(sampling.group(at)));
        (time.sum(), variance.sum())
    }

    #[test]
    fn few_regions_are_all_run() {
        let regions: Vec<Region> = (0..400).map(|at| region(at % 2, 1000 + at)).collect();
        let mut sampling = Sampling::new(&totals(&regions), 1.0);
        assert!(
            regions
                .iter()
                .all(|region| sampling.choose(region, false).is_some())
        );
        assert_eq!(sampling.counts(), (400, 400));
        let (time, variance) = estimate(&regions, 1.0, 1, |ns| ns * ns);
        let exact: u64 = regions.iter().map(|region| region.elapsed.pow(2)).sum();
        assert_eq!((time, variance), (exact as f64, 0.0));
    }

    #[test]
    fn what_is_proportional_is_exact_and_large_ones_are_never_left_out() {
        let mut regions: Vec<Region> = (0..20_000).map(|at| region(1, 900 + at % 200)).collect();
        regions[777].elapsed = 50_000_000;
        let exact: u64 = regions.iter().map(|region| region.elapsed * 3).sum();
        let (time, variance) = estimate(&regions, 1000.0, 3, |ns| ns * 3);
        assert!((time / exact as f64 - 1.0).abs() < 1e-6, "{time} {exact}");
        assert!(variance.sqrt() < 1e-6 * exact as f64);
    }

    /// Of 400 samples, about 95 in 100 lie within two standard errors of the truth.
    #[test]
    fn the_error_is_as_large_as_it_says() {
        let mut random = fastrand::Rng::with_seed(5);
        let regions: Vec<Region> = (0..5_000)
            .map(|_| region(1, random.u64(500..5_000)))
            .collect();
        // A time that the recorded one says little about.
        let after = |ns: u64| 1_000 + ns / 4 + ns.wrapping_mul(2_654_435_761) % 2_000;
        let exact: u64 = regions.iter().map(|region| after(region.elapsed)).sum();
        let mut within = 0;
        for seed in 0..400 {
            let (time, variance) = estimate(&regions, 600.0, seed, after);
            within += u32::from((time - exact as f64).abs() <= 2.0 * variance.sqrt());
        }
        assert!((360..=396).contains(&within), "{within} of 400");
    }
}
