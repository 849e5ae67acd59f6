//! Spans as they were, as many as there is room for: when there are more, the shortest ones go.

use super::super::columns::{Block, SPANS, Stored};

/// Spans of all tracks together.
const BUDGET: usize = 1 << 20;

/// A time in which a thread was in one state and in one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Begin, ns.
    pub(super) begin: u64,
    /// End, ns.
    pub(super) end: u64,
    /// A number of [`super::STATE_NAMES`].
    pub(super) state: u8,
    /// A number of [`super::waits::NAMES`].
    pub(super) wait: u8,
    /// A number of the codes.
    pub(super) code: u16,
}

impl Span {
    pub(super) fn ns(&self) -> u64 {
        self.end - self.begin
    }
}

/// The spans that are kept.
#[derive(Debug)]
pub(super) struct Spans {
    tracks: Vec<Vec<Span>>,
    budget: usize,
    kept: usize,
    /// Shorter ones are not kept, ns.
    shortest: u64,
    /// Whether any was not.
    left_out: bool,
}

impl Spans {
    /// For so many tracks.
    pub(super) fn new(tracks: usize) -> Self {
        Self::with_budget(tracks, BUDGET)
    }

    fn with_budget(tracks: usize, budget: usize) -> Self {
        Self {
            tracks: vec![Vec::new(); tracks],
            budget,
            kept: 0,
            shortest: 1,
            left_out: false,
        }
    }

    /// Adds the next span of a track.
    pub(super) fn add(&mut self, track: usize, span: Span) {
        if span.ns() < self.shortest {
            self.left_out = true;
            return;
        }
        self.tracks[track].push(span);
        self.kept += 1;
        // Going through all of them must not happen for every new one.
        while self.kept > self.budget {
            self.shortest *= 2;
            self.left_out = true;
            for spans in &mut self.tracks {
                spans.retain(|span| span.ns() >= self.shortest);
            }
            self.kept = self.tracks.iter().map(Vec::len).sum();
            if self.kept > self.budget / 4 * 3 {
                self.shrink();
            }
        }
    }

    fn shrink(&mut self) {
        while self.kept > self.budget / 4 * 3 {
            self.shortest *= 2;
            let longer = |span: &Span| span.ns() >= self.shortest;
            self.tracks
                .iter_mut()
                .for_each(|spans| spans.retain(longer));
            self.kept = self.tracks.iter().map(Vec::len).sum();
        }
    }

    /// Spans of at least this length are all there, ns; 0: all are.
    pub(super) fn exact_from(&self) -> u64 {
        if self.left_out { self.shortest } else { 0 }
    }

    /// Most spans of a track.
    pub(super) fn most(&self) -> usize {
        self.tracks.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Stores the spans; also gives how many there are on each track.
    pub(super) fn store(&self, block: &mut Block) -> (Stored, Vec<usize>) {
        let all = || self.tracks.iter().flatten();
        let gaps = self.tracks.iter().flat_map(|spans| {
            spans.iter().scan(0, |last, span| {
                let gap = span.begin - *last;
                *last = span.end;
                Some(gap)
            })
        });
        let table = block
            .table(&SPANS, self.kept)
            .varint(gaps)
            .varint(all().map(Span::ns))
            .u8(all().map(|span| span.state))
            .u8(all().map(|span| span.wait))
            .u16(all().map(|span| span.code));
        let counts = self.tracks.iter().map(Vec::len);
        (table.finish(), counts.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(begin: u64, ns: u64) -> Span {
        Span {
            begin,
            end: begin + ns,
            state: 0,
            wait: 0,
            code: 0,
        }
    }

    #[test]
    fn all_spans_of_the_length_that_is_given_are_kept() {
        let mut random = fastrand::Rng::with_seed(3);
        for (count, budget) in [(10, 100), (100, 100), (101, 100), (5_000, 100)] {
            let mut spans = Spans::with_budget(2, budget);
            let (mut all, mut begin) = ([Vec::new(), Vec::new()], 0);
            for at in 0..count {
                let new = span(begin, 1 << random.u32(..20));
                begin = new.end;
                spans.add(at % 2, new);
                all[at % 2].push(new);
            }
            let exact = spans.exact_from();
            assert_eq!(exact == 0, count <= budget, "{count}");
            assert!(spans.kept <= budget);
            for (kept, all) in spans.tracks.iter().zip(&all) {
                let long: Vec<_> = all
                    .iter()
                    .filter(|span| span.ns() >= exact)
                    .copied()
                    .collect();
                assert_eq!(*kept, long);
            }
        }
    }
}
