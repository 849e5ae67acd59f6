//! How many processors are in use, over time.

use super::model::BINS;

/// Time on processors in equal parts of a time line.
#[derive(Debug, Clone)]
pub(super) struct Bins {
    /// Length of the time line.
    length: u64,
    ns: Vec<u64>,
}

impl Bins {
    pub(super) fn new(length: u64) -> Self {
        Self {
            length,
            ns: vec![0; BINS],
        }
    }

    /// Border of a part.
    fn border(&self, at: usize) -> u64 {
        let border = u128::from(self.length) * at as u128 / BINS as u128;
        border as u64 // not more than the length
    }

    /// Adds a time in which something was busy.
    pub(super) fn add(&mut self, from: u64, to: u64) {
        let to = to.min(self.length);
        if from >= to {
            return;
        }
        let first = u128::from(from) * BINS as u128 / u128::from(self.length);
        for at in first as usize..BINS {
            let (begin, end) = (self.border(at), self.border(at + 1));
            if begin >= to {
                break;
            }
            let ns = to.min(end).saturating_sub(from.max(begin));
            self.ns[at] = self.ns[at].saturating_add(ns);
        }
    }

    /// The share of each part.
    pub(super) fn shares(&self) -> Vec<f64> {
        let share = |(at, ns): (usize, &u64)| {
            let length = self.border(at + 1) - self.border(at);
            let share = *ns as f64 / length.max(1) as f64;
            (share * 10_000.0).round() / 10_000.0
        };
        self.ns.iter().enumerate().map(share).collect()
    }
}

/// How long so many threads ran at once.
#[derive(Debug, Default)]
pub(super) struct InUse {
    now: usize,
    since: u64,
    ns: Vec<u64>,
}

impl InUse {
    /// From now on it is one more, or one less.
    pub(super) fn change(&mut self, time: u64, more: bool) {
        self.pass(time);
        self.now = match more {
            true => self.now + 1,
            false => self.now.saturating_sub(1),
        };
    }

    fn pass(&mut self, time: u64) {
        if self.ns.len() <= self.now {
            self.ns.resize(self.now + 1, 0);
        }
        let ns = time.saturating_sub(self.since);
        self.ns[self.now] = self.ns[self.now].saturating_add(ns);
        self.since = time.max(self.since);
    }

    /// By their number, from none, up to the end.
    pub(super) fn finish(mut self, end: u64) -> Vec<u64> {
        self.pass(end);
        self.ns
    }
}
