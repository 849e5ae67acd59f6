//! What the counters of threads counted in the regions of the tree. The runtime reads them behind the begin of a region and before its end, so that all that a thread counted between two readings belongs
//! to one place: that of the regions which were open all the while.

use hashbrown::HashMap;
use instr_trace::model::Count;

/// Counts by place.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// By position of the thread: how many of its open regions have been open since its last reading.
    kept: Vec<usize>,
    /// Of each place without those below it; [`None`]: outside of all.
    own: HashMap<Option<usize>, Vec<u64>>,
    seen: Vec<bool>,
    scaled: bool,
}

/// Counts of the whole process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Of all threads, in the order of the trace's counters; empty: nothing was counted.
    pub run: Vec<u64>,
    /// While the thread was in no region.
    pub outside: Vec<u64>,
    /// While the thread was in the region, or in one inside of it, in the order of [`super::Regions::nodes`].
    pub nodes: Vec<Vec<u64>>,
    /// Whether the counter was ever read: else its zeros mean nothing.
    pub seen: Vec<bool>,
    /// Some of them are estimates: the thread was counted for a part of its time.
    pub scaled: bool,
}

impl Counted {
    /// For so many threads.
    pub(super) fn new(threads: usize) -> Self {
        Self {
            kept: vec![0; threads],
            ..Self::default()
        }
    }

    /// A region of the thread is over: so many are open.
    pub(super) fn left(&mut self, position: usize, open: usize) {
        if let Some(kept) = self.kept.get_mut(position) {
            *kept = (*kept).min(open);
        }
    }

    /// The counters of the thread are read; `open`: the places of its open regions, the innermost last.
    pub(super) fn read(
        &mut self,
        position: usize,
        open: impl ExactSizeIterator<Item = usize>,
        scaled: bool,
        values: &[Count],
    ) {
        let Some(kept) = self.kept.get_mut(position) else {
            return;
        };
        let before = std::mem::replace(kept, open.len());
        let place = before
            .checked_sub(1)
            .and_then(|last| open.into_iter().nth(last));
        let own = self.own.entry(place).or_default();
        own.resize(own.len().max(values.len()), 0);
        self.seen.resize(self.seen.len().max(values.len()), false);
        for ((own, seen), value) in own.iter_mut().zip(&mut self.seen).zip(values) {
            *own = own.saturating_add(value.grown);
            *seen |= value.value.is_some();
        }
        self.scaled |= scaled;
    }

    /// The sums; `parents`: of each place, which lie before it.
    pub(super) fn finish(mut self, parents: &[Option<usize>]) -> Counts {
        if self.seen.is_empty() {
            return Counts::default();
        }
        let mut nodes: Vec<Vec<u64>> = (0..parents.len())
            .map(|at| self.own.remove(&Some(at)).unwrap_or_default())
            .collect();
        let outside = self.own.remove(&None).unwrap_or_default();
        let mut run = outside.clone();
        for at in (0..nodes.len()).rev() {
            let own = std::mem::take(&mut nodes[at]);
            add(
                match parents[at] {
                    Some(parent) => &mut nodes[parent],
                    None => &mut run,
                },
                &own,
            );
            nodes[at] = own;
        }
        let counters = self.seen.len();
        run.resize(counters, 0);
        nodes.iter_mut().for_each(|node| node.resize(counters, 0));
        let mut outside = outside;
        outside.resize(counters, 0);
        Counts {
            run,
            outside,
            nodes,
            seen: self.seen,
            scaled: self.scaled,
        }
    }
}

fn add(to: &mut Vec<u64>, counts: &[u64]) {
    to.resize(to.len().max(counts.len()), 0);
    for (to, count) in to.iter_mut().zip(counts) {
        *to = to.saturating_add(*count);
    }
}
