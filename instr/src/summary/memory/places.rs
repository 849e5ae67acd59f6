//! What places in the program got, counted by number: blocks in use keep a number of four bytes in place of a place.

use std::collections::BTreeMap;
use std::hash::Hash;

use hashbrown::HashMap;

/// More places are not told apart: they count as the one that is the default.
const MAX_PLACES: usize = 1 << 20;

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

    /// A block of one size becomes one of another.
    pub fn replace(&mut self, old: u64, new: u64) {
        self.bytes = self.bytes.saturating_sub(old).saturating_add(new);
        self.high_water = self.high_water.max(self.bytes);
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

/// Places with a number each, and what they got.
#[derive(Debug)]
pub struct Places<K> {
    numbers: HashMap<K, u32>,
    counts: Vec<(K, Count)>,
    last: Option<(K, u32)>,
}

impl<K> Default for Places<K> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            counts: Vec::new(),
            last: None,
        }
    }
}

impl<K: Copy + Default + Eq + Hash + Ord> Places<K> {
    /// The number of a place.
    pub fn index(&mut self, key: K) -> u32 {
        if let Some((last, number)) = self.last
            && last == key
        {
            return number;
        }
        let key = if self.counts.len() < MAX_PLACES || self.numbers.contains_key(&key) {
            key
        } else {
            K::default()
        };
        let next = self.counts.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.counts.push((key, Count::default()));
        }
        self.last = Some((key, number));
        number
    }

    /// What the place of a number got.
    pub fn count(&mut self, number: u32) -> &mut Count {
        &mut self.counts[number as usize].1
    }

    /// All that got something, by place.
    pub fn into_counts(self) -> BTreeMap<K, Count> {
        let got = |count: &Count| count.allocations > 0;
        let all = self.counts.into_iter();
        all.filter(|(_, count)| got(count)).collect()
    }
}
