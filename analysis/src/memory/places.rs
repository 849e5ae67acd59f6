//! What places in the program got.

use std::collections::BTreeMap;

use instr_trace::model::Place;

/// Blocks in use.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Live {
    /// How many.
    pub blocks: u64,
    /// Their sizes.
    pub bytes: u64,
    /// The most at any time.
    pub high_water: u64,
}

impl Live {
    /// One more block.
    pub fn add(&mut self, bytes: u64) {
        self.blocks += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.high_water = self.high_water.max(self.bytes);
    }

    /// One block less.
    pub fn remove(&mut self, bytes: u64) {
        self.blocks = self.blocks.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// What a place got.
#[derive(Debug, Default, Clone, Copy)]
pub struct Count {
    /// Blocks.
    pub allocations: u64,
    /// Their sizes.
    pub bytes: u64,
    /// Of these in use.
    pub live: Live,
}

impl Count {
    /// A block that is followed, or not.
    pub fn got(&mut self, bytes: u64, followed: bool) {
        self.allocations += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if followed {
            self.live.add(bytes);
        }
    }
}

/// What each place got, by the numbers that the interpreter gives.
#[derive(Debug)]
pub(super) struct Counts<K>(Vec<(K, Count)>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Copy + Default + Ord> Counts<K> {
    /// What a place got, which gets a block.
    #[inline]
    pub(super) fn of(&mut self, place: Place<K>) -> &mut Count {
        let number = place.number as usize;
        if number >= self.0.len() {
            self.0.resize_with(number + 1, Default::default);
            self.0[number].0 = place.key;
        }
        &mut self.0[number].1
    }

    /// The place with this number gives back a block.
    #[inline]
    pub(super) fn gives(&mut self, number: u32, bytes: u64) {
        if let Some((_, count)) = self.0.get_mut(number as usize) {
            count.live.remove(bytes);
        }
    }

    /// All that got something, by place.
    pub(super) fn into_counts(self) -> BTreeMap<K, Count> {
        let got = |count: &Count| count.allocations > 0;
        let all = self.0.into_iter();
        all.filter(|(_, count)| got(count)).collect()
    }
}
