//! How long bodies ran, by code and thread: Paraver's rows, and how often each duration came.

use hashbrown::HashMap;

use super::model::{Duration, Histogram};

/// Steps of the durations in which they double.
const STEPS: u32 = 4;
/// Durations are told apart up to 2^40 ns, 18 minutes.
const CLASSES: usize = 40 * STEPS as usize;
/// Pairs of code and thread that are followed. More are not shown.
const MOST: usize = 1 << 14;

/// Durations by code and track.
#[derive(Debug, Default)]
pub(super) struct Durations {
    by: HashMap<(u16, usize), Of>,
}

#[derive(Debug)]
struct Of {
    count: u64,
    total: u64,
    least: u64,
    most: u64,
    /// Sum of squares, ns².
    squares: f64,
    classes: Vec<u32>,
}

/// The class of a duration: the whole part of 4·log2(ns), but for the shortest ones.
fn class(ns: u64) -> usize {
    let whole = ns.max(1).ilog2();
    let step = match whole {
        0 | 1 => 0,
        _ => (ns >> (whole - 2)) & 3,
    };
    ((whole * STEPS) as usize + step as usize).min(CLASSES - 1)
}

/// The shortest duration of a class, ns.
fn begin(class: usize) -> u64 {
    let (whole, step) = (class as u32 / STEPS, class as u64 % u64::from(STEPS));
    match whole {
        0 | 1 => 1 << whole,
        _ => (4 + step) << (whole - 2),
    }
}

impl Durations {
    /// One more.
    pub(super) fn add(&mut self, code: u16, track: usize, ns: u64) {
        if !self.by.contains_key(&(code, track)) && self.by.len() == MOST {
            return;
        }
        let of = self.by.entry((code, track)).or_insert_with(|| Of {
            count: 0,
            total: 0,
            least: u64::MAX,
            most: 0,
            squares: 0.0,
            classes: vec![0; CLASSES],
        });
        of.count += 1;
        of.total = of.total.saturating_add(ns);
        of.least = of.least.min(ns);
        of.most = of.most.max(ns);
        of.squares += ns as f64 * ns as f64;
        let class = &mut of.classes[class(ns)];
        *class = class.saturating_add(1);
    }

    /// All of them, by code, the one with most time first; the rows of a code by track.
    pub(super) fn finish(self) -> Vec<Histogram> {
        let mut all: Vec<_> = self.by.into_iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        let mut histograms: Vec<Histogram> = Vec::new();
        for ((code, track), of) in all {
            let row = duration(track, &of);
            match histograms.last_mut().filter(|last| last.code == code) {
                Some(last) => last.rows.push(row),
                None => histograms.push(Histogram {
                    code,
                    begins_ns: Vec::new(),
                    rows: vec![row],
                }),
            }
        }
        histograms.iter_mut().for_each(cut);
        histograms.sort_by_key(|histogram| {
            let total = histogram.rows.iter().map(|row| row.total_ns);
            std::cmp::Reverse(total.fold(0, u64::saturating_add))
        });
        histograms
    }
}

fn duration(track: usize, of: &Of) -> Duration {
    let mean = of.total as f64 / of.count as f64;
    let variance = (of.squares / of.count as f64 - mean * mean).max(0.0);
    Duration {
        track,
        count: of.count,
        total_ns: of.total,
        mean_ns: mean,
        min_ns: of.least,
        max_ns: of.most,
        stdev_ns: variance.sqrt(),
        mean_of_max: if of.most == 0 {
            1.0
        } else {
            mean / of.most as f64
        },
        classes: of.classes.clone(),
    }
}

/// Leaves out the classes before the first and behind the last that any row has.
fn cut(histogram: &mut Histogram) {
    let used = |class: &usize| histogram.rows.iter().any(|row| row.classes[*class] > 0);
    let first = (0..CLASSES).find(used).unwrap_or(0);
    let last = (0..CLASSES).rev().find(used).unwrap_or(0);
    histogram.begins_ns = (first..=last).map(begin).collect();
    for row in &mut histogram.rows {
        row.classes = row.classes[first..=last].to_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_is_in_the_class_that_begins_last_before_it() {
        let classes = [0, 4].into_iter().chain(8..CLASSES);
        let begins: Vec<_> = classes.map(|class| (class, begin(class))).collect();
        assert!(begins.windows(2).all(|pair| pair[0].1 < pair[1].1));
        for ns in (1..5000).chain((13..40).map(|bits| (1u64 << bits) - 1)) {
            let before = begins.iter().rfind(|(_, begin)| *begin <= ns).unwrap();
            assert_eq!(class(ns), before.0, "{ns}");
        }
        assert_eq!((class(0), class(u64::MAX)), (0, CLASSES - 1));
    }

    #[test]
    fn rows_are_number_sum_mean_extremes_and_deviation() {
        let mut durations = Durations::default();
        for (track, ns) in [(1, 100), (1, 300), (0, 7), (1, 200)] {
            durations.add(5, track, ns);
        }
        durations.add(2, 0, 10_000);
        let all = durations.finish();
        assert_eq!(all.iter().map(|of| of.code).collect::<Vec<_>>(), [2, 5]);
        let [short, long] = &all[1].rows[..] else {
            panic!("two threads")
        };
        assert_eq!((short.track, short.count, short.stdev_ns), (0, 1, 0.0));
        assert_eq!((long.count, long.total_ns), (3, 600));
        assert_eq!((long.min_ns, long.max_ns), (100, 300));
        // Variance of 100, 200, 300: 20000 / 3.
        assert!((long.stdev_ns - (20_000.0f64 / 3.0).sqrt()).abs() < 1e-6);
        assert!((long.mean_of_max - 200.0 / 300.0).abs() < 1e-12);
        for row in &all[1].rows {
            let counted: u32 = row.classes.iter().sum();
            assert_eq!(u64::from(counted), row.count);
            assert_eq!(row.classes.len(), all[1].begins_ns.len());
        }
        assert_eq!(all[1].begins_ns[0], 7);
    }
}
