//! Many durations in little memory.

use hashbrown::HashMap;

/// Durations below 2¹⁰ have a bin each; each power of two above has 2¹⁰ bins: they are narrower than 0.1 % of what is in them.
const BITS: u32 = 10;

/// Durations by size. Memory grows with the logarithm of their range, not with their number.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Durations {
    bins: HashMap<u16, Bin>,
    count: u64,
    total_ns: u64,
}

/// Durations that are nearly the same.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Bin {
    count: u64,
    total_ns: u64,
}

impl Bin {
    fn merge(&mut self, count: u64, total_ns: u64) {
        self.count += count;
        self.total_ns = self.total_ns.saturating_add(total_ns);
    }

    fn mean_ns(self) -> f64 {
        self.total_ns as f64 / self.count as f64
    }
}

/// The bin of a duration; larger ones have larger bins.
fn bin(ns: u64) -> u16 {
    let above = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS + 1);
    // At most 53 · 1024 + 2047.
    ((u64::from(above) << BITS) + (ns >> above)) as u16
}

impl Durations {
    /// Counts one more, of `ns`.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        self.bins.entry(bin(ns)).or_default().merge(1, ns);
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(ns);
    }

    /// Counts all of `other` too.
    pub fn merge(&mut self, other: &Self) {
        for (bin, of_bin) in &other.bins {
            let own = self.bins.entry(*bin).or_default();
            own.merge(of_bin.count, of_bin.total_ns);
        }
        self.count += other.count;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum, ns.
    pub fn total_ns(&self) -> u64 {
        self.total_ns
    }

    /// The shortest duration that at least the part `share` of all is not longer than, ns (definition 1 of Hyndman & Fan 1996): 0 gives the shortest, 1 the longest. [`None`] of none. Exact but for 0.1 %.
    pub fn quantile_ns(&self, share: f64) -> Option<f64> {
        let last = self.count.checked_sub(1)?;
        let rank = (self.count as f64 * share.clamp(0.0, 1.0)).ceil() as u64;
        let mut shorter = rank.saturating_sub(1).min(last);
        let mut bins: Vec<(u16, Bin)> = self.bins.iter().map(|(at, bin)| (*at, *bin)).collect();
        bins.sort_unstable_by_key(|bin| bin.0);
        let own = bins.into_iter().map(|bin| bin.1).find(|bin| {
            let is_here = shorter < bin.count;
            shorter = shorter.saturating_sub(bin.count);
            is_here
        });
        own.map(Bin::mean_ns)
    }

    /// Standard deviation (of the population), ns; [`None`] of none. Exact but for 0.1 % of the durations.
    pub fn deviation_ns(&self) -> Option<f64> {
        let count = self.count.checked_sub(1)? as f64 + 1.0;
        let mean = self.total_ns as f64 / count;
        let square = |bin: &Bin| bin.count as f64 * (bin.mean_ns() - mean).powi(2);
        // In the order of the bins, so that the last digit is the same each time.
        let mut bins: Vec<(&u16, &Bin)> = self.bins.iter().collect();
        bins.sort_unstable_by_key(|bin| bin.0);
        let squares: f64 = bins.into_iter().map(|(_, bin)| square(bin)).sum();
        Some((squares / count).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Durations {
        let mut durations = Durations::default();
        values.iter().for_each(|ns| durations.add(*ns));
        durations
    }

    #[test]
    fn bins_are_narrow_and_in_order() {
        let mut last = 0;
        for ns in (0..1_000_000)
            .chain((20..64).flat_map(|bits| [1 << bits, (1 << bits) + (1 << (bits - 1))]))
        {
            let own = bin(ns);
            assert!(own >= last, "{ns}");
            last = own;
            let same = ns + ns / 1200;
            assert!(ns < 2048 || bin(same) - own <= 2, "{ns}");
        }
        assert_ne!(bin(255), bin(254));
        assert_eq!(bin(u64::MAX), 53 * 1024 + 2047);
    }

    #[test]
    fn the_quartile_is_that_of_a_sorted_list() {
        let mut random = fastrand::Rng::with_seed(8);
        for _ in 0..100 {
            let mut one = || {
                let bits = random.u32(1..40);
                random.u64(..1 << bits)
            };
            let mut values: Vec<u64> = (0..100).map(|_| one()).collect();
            values.truncate(random.usize(1..100));
            let durations = of(&values);
            values.sort_unstable();
            let expected = values[(values.len() - 1) / 4] as f64;
            let found = durations.quantile_ns(0.25).unwrap();
            let close = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() <= 0.001 * expected,
                    "{found} {expected}"
                );
            };
            close(found, expected);
            let count = values.len() as f64;
            let rank = |share: f64| ((count * share).ceil() as usize).max(1) - 1;
            for (share, at) in [(0.0, 0), (0.95, rank(0.95)), (1.0, values.len() - 1)] {
                close(durations.quantile_ns(share).unwrap(), values[at] as f64);
            }
            let mean = values.iter().map(|ns| *ns as f64).sum::<f64>() / count;
            let squares: f64 = values.iter().map(|ns| (*ns as f64 - mean).powi(2)).sum();
            let (found, expected) = (durations.deviation_ns().unwrap(), (squares / count).sqrt());
            assert!(
                (found - expected).abs() <= 0.001 * *values.last().unwrap() as f64,
                "{found} {expected}"
            );
        }
        assert_eq!(of(&[]).quantile_ns(0.25), None);
        assert_eq!(of(&[7, 5]).quantile_ns(0.25), Some(5.0));
        assert_eq!(of(&[9, 7, 1000, 2000, 3000]).quantile_ns(0.25), Some(9.0));
    }

    #[test]
    fn merged_durations_are_those_of_all() {
        let mut first = of(&[5, 1 << 20]);
        first.merge(&of(&[5, 77]));
        assert_eq!(first, of(&[5, 1 << 20, 5, 77]));
        assert_eq!((first.count(), first.total_ns()), (4, 87 + (1 << 20)));
    }
}
