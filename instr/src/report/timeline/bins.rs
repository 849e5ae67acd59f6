//! The levels of the time line: for each track and bin, how long it was in each state, and which code ran longest.
//!
//! All is exact: bins of the finest level have the time of the spans that lie in them, those of a coarser level the sum of the four below.
//! Memory depends on the number of bins alone, which is fixed before the first span comes.

use super::super::columns::{BINS, Block, Stored};
use super::STATES;
use super::spans::Span;

/// Bins of the finest level of all tracks together.
const BUDGET: usize = 1 << 20;
/// No level has fewer bins for a track than the coarsest.
const COARSEST: usize = 256;
/// Bins that become one in the next level.
const FACTOR: usize = 4;
/// Codes whose time is added up in a bin. Of more, those that ran for the shortest time are forgotten.
const FOLLOWED: usize = 64;

/// The levels, the finest first.
#[derive(Debug)]
pub(super) struct Bins {
    tracks: usize,
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// Time of a bin, ns.
    width: u64,
    /// Bins of a track.
    bins: usize,
    /// What the stored numbers are multiples of, ns.
    unit: u64,
    /// By track and bin.
    states: [Vec<u32>; STATES],
    codes: Vec<u16>,
    /// Of each track the bin that is not complete.
    open: Vec<Open>,
}

#[derive(Clone, Debug, Default)]
struct Open {
    bin: usize,
    states: [u64; STATES],
    codes: Vec<(u16, u64)>,
}

/// A level as it was stored.
#[derive(Debug)]
pub(super) struct StoredLevel {
    pub(super) width: u64,
    pub(super) bins: usize,
    pub(super) unit: u64,
    pub(super) table: Stored,
}

impl Level {
    fn new(tracks: usize, bins: usize, width: u64) -> Self {
        let column = || vec![0; tracks * bins];
        Self {
            width,
            bins,
            unit: width.div_ceil(u32::MAX.into()).max(1),
            states: std::array::from_fn(|_| column()),
            codes: vec![0; tracks * bins],
            open: vec![Open::default(); tracks],
        }
    }
}

impl Open {
    fn add(&mut self, code: u16, ns: u64) {
        if code == 0 {
            return;
        }
        if let Some((_, time)) = self.codes.iter_mut().rev().find(|(own, _)| *own == code) {
            *time += ns;
            return;
        }
        if self.codes.len() == FOLLOWED {
            let least = (0..FOLLOWED).min_by_key(|at| self.codes[*at].1);
            self.codes.swap_remove(least.unwrap_or(0));
        }
        self.codes.push((code, ns));
    }

    /// The code with most time; of equal ones the lowest number.
    fn longest(&self) -> u16 {
        let most = self
            .codes
            .iter()
            .max_by_key(|(code, ns)| (*ns, std::cmp::Reverse(*code)));
        most.map_or(0, |(code, _)| *code)
    }
}

impl Bins {
    /// For so many tracks, from 0 to `end`, ns.
    pub(super) fn new(tracks: usize, end: u64) -> Self {
        let mut bins = COARSEST;
        while bins * FACTOR * tracks <= BUDGET && (bins as u64) < end {
            bins *= FACTOR;
        }
        let mut width = end.div_ceil(bins as u64).max(1);
        let mut levels = Vec::new();
        while bins >= COARSEST {
            levels.push(Level::new(tracks, bins, width));
            (bins, width) = (bins / FACTOR, width.saturating_mul(FACTOR as u64));
        }
        Self { tracks, levels }
    }

    /// One level alone, of so many bins of this time, ns.
    pub(super) fn of_one_level(tracks: usize, bins: usize, width: u64) -> Self {
        let levels = vec![Level::new(tracks, bins, width)];
        Self { tracks, levels }
    }

    /// Time of the finest level's bin in each state, ns.
    pub(super) fn states(&self, track: usize, bin: usize) -> [u64; STATES] {
        let level = &self.levels[0];
        let at = track * level.bins + bin;
        std::array::from_fn(|state| u64::from(level.states[state][at]).saturating_mul(level.unit))
    }

    /// The code that ran longest in a bin of the finest level; 0: none.
    pub(super) fn code(&self, track: usize, bin: usize) -> u16 {
        let level = &self.levels[0];
        level.codes[track * level.bins + bin]
    }

    /// Adds the next span of a track; what lies behind the end counts in the last bin.
    pub(super) fn add(&mut self, track: usize, span: &Span) {
        let (width, last) = (self.levels[0].width, self.levels[0].bins - 1);
        let mut from = span.begin;
        while from < span.end {
            let bin = usize::try_from(from / width).unwrap_or(last).min(last);
            let border = (bin as u64 + 1).saturating_mul(width);
            let to = match bin == last {
                true => span.end,
                false => span.end.min(border),
            };
            if self.levels[0].open[track].bin != bin {
                self.close(0, track);
                self.levels[0].open[track].bin = bin;
            }
            let open = &mut self.levels[0].open[track];
            open.states[usize::from(span.state)] += to - from;
            open.add(span.code, to - from);
            from = to;
        }
    }

    /// Stores the open bin of a level, and adds it to the one above.
    fn close(&mut self, level: usize, track: usize) {
        let here = &mut self.levels[level];
        let mut open = std::mem::take(&mut here.open[track]);
        let at = track * here.bins + open.bin;
        for (column, ns) in here.states.iter_mut().zip(open.states) {
            column[at] = u32::try_from(ns / here.unit).unwrap_or(u32::MAX);
        }
        here.codes[at] = open.longest();
        let above = open.bin / FACTOR;
        if let Some(parent) = self.levels.get(level + 1) {
            if parent.open[track].bin != above {
                self.close(level + 1, track);
            }
            let parent = &mut self.levels[level + 1].open[track];
            parent.bin = above;
            for (sum, ns) in parent.states.iter_mut().zip(open.states) {
                *sum += ns;
            }
            for (code, ns) in &open.codes {
                parent.add(*code, *ns);
            }
        }
        open.codes.clear();
        open.states = [0; STATES];
        self.levels[level].open[track] = open;
    }

    /// Completes the bins. Levels with more than `most` bins are left out, but for the coarsest.
    pub(super) fn finish(&mut self, most: usize) {
        for level in 0..self.levels.len() {
            for track in 0..self.tracks {
                self.close(level, track);
            }
        }
        while self.levels.len() > 1 && self.levels[0].bins > most {
            self.levels.remove(0);
        }
    }

    /// Stores the levels, the finest first. Each is gone then.
    pub(super) fn store(self, block: &mut Block) -> Vec<StoredLevel> {
        let rows = |level: &Level| level.codes.len();
        let store = |level: Level| {
            let mut table = block.table(&BINS, rows(&level));
            for column in &level.states {
                table = table.u32(column.iter().copied());
            }
            StoredLevel {
                width: level.width,
                bins: level.bins,
                unit: level.unit,
                table: table.u16(level.codes.iter().copied()).finish(),
            }
        };
        self.levels.into_iter().map(store).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans of one track without gaps, of random lengths up to `longest`.
    fn spans(random: &mut fastrand::Rng, end: u64, longest: u64) -> Vec<Span> {
        let (mut begin, mut spans) = (random.u64(..longest), Vec::new());
        while begin < end {
            let to = (begin + 1 + random.u64(..longest)).min(end);
            spans.push(Span {
                begin,
                end: to,
                state: random.u8(..STATES as u8),
                wait: 0,
                code: random.u16(..5),
            });
            begin = to;
            if random.u8(..10) == 0 {
                begin += random.u64(..longest);
            }
        }
        spans
    }

    /// Time in [from, to) by state, and by code, span by span.
    fn brute(spans: &[Span], from: u64, to: u64) -> ([u64; STATES], [u64; 5]) {
        let (mut states, mut codes) = ([0; STATES], [0; 5]);
        for span in spans {
            let ns = span.end.min(to).saturating_sub(span.begin.max(from));
            states[usize::from(span.state)] += ns;
            codes[usize::from(span.code)] += ns;
        }
        (states, codes)
    }

    #[test]
    fn bins_have_the_time_of_the_spans_in_them_at_every_level() {
        let mut random = fastrand::Rng::with_seed(7);
        for (end, longest) in [(3, 2), (1_000, 7), (2_000_000, 900), (2_000_000, 700_000)] {
            let tracks: Vec<_> = (0..3).map(|_| spans(&mut random, end, longest)).collect();
            let mut bins = Bins::new(tracks.len(), end);
            for (track, spans) in tracks.iter().enumerate() {
                spans.iter().for_each(|span| bins.add(track, span));
            }
            bins.finish(usize::MAX);
            let mut widths = Vec::new();
            for level in &bins.levels {
                assert_eq!(level.unit, 1);
                assert!(level.width * level.bins as u64 >= end);
                widths.push(level.width);
                let step = (level.bins / 1000).max(1);
                for (track, spans) in tracks.iter().enumerate() {
                    for bin in (0..level.bins).step_by(step) {
                        let from = bin as u64 * level.width;
                        let (states, codes) = brute(spans, from, from + level.width);
                        let at = track * level.bins + bin;
                        let found = level.states.each_ref().map(|column| u64::from(column[at]));
                        assert_eq!(found, states, "{} of {end}, bin {bin}", level.width);
                        let code = usize::from(level.codes[at]);
                        let most = codes[1..].iter().max().copied().unwrap_or(0);
                        assert!(if code == 0 {
                            most == 0
                        } else {
                            codes[code] == most
                        });
                    }
                }
            }
            assert!(widths.windows(2).all(|pair| pair[1] == pair[0] * 4));
        }
    }

    #[test]
    fn long_bins_are_stored_in_units() {
        let end = 256 * 3 * (u64::from(u32::MAX) + 1);
        let mut bins = Bins::new(5000, end);
        let whole = Span {
            begin: 0,
            end,
            state: 2,
            wait: 0,
            code: 1,
        };
        bins.add(4999, &whole);
        bins.finish(usize::MAX);
        let level = &bins.levels[0];
        let stored = u64::from(level.states[2][4999 * level.bins]);
        assert!(level.unit > 1 && level.width - stored * level.unit < level.unit);
    }

    #[test]
    fn fine_levels_can_be_left_out() {
        let mut bins = Bins::new(1, 1 << 40);
        assert_eq!(bins.levels[0].bins, BUDGET);
        bins.finish(5000);
        let left: Vec<_> = bins.levels.iter().map(|level| level.bins).collect();
        assert_eq!(left, [4096, 1024, 256]);
        let mut bins = Bins::new(1, 1 << 40);
        bins.finish(0);
        assert_eq!(bins.levels.len(), 1);
    }
}
