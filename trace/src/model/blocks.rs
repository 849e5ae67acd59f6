//! Blocks of the heap in use, by address, as the events of a merged trace tell them.
//!
//! A `realloc` is told after it is over (docs/trace-format.md, `mem_realloc`): another thread may be told to have the old address before
//! that. An address that is told twice therefore belongs to two blocks until one of them is told to be gone; the older one goes first.

use std::collections::VecDeque;

use hashbrown::HashMap;

/// Blocks in use, with a `T` for each. Takes `8 + size_of::<T>()` bytes and one for each place of a table that is at least 7/16 full: 57
/// bytes for each block at most where `T` is 16 bytes, and half as much again while the table grows.
#[derive(Debug)]
pub(super) struct Blocks<T> {
    live: HashMap<u64, T>,
    older: HashMap<u64, VecDeque<T>>,
    count: usize,
    most: usize,
}

impl<T> Blocks<T> {
    /// Follows `most` blocks at a time.
    pub(super) fn new(most: usize) -> Self {
        Self {
            live: HashMap::new(),
            older: HashMap::new(),
            count: 0,
            most,
        }
    }

    /// A block was got. False when there are so many that this one is not followed.
    pub(super) fn insert(&mut self, address: u64, block: T) -> bool {
        if self.count >= self.most {
            return false;
        }
        self.count += 1;
        if let Some(older) = self.live.insert(address, block) {
            self.older.entry(address).or_default().push_back(older);
        }
        true
    }

    /// A block was given back; nothing when none was there.
    pub(super) fn remove(&mut self, address: u64) -> Option<T> {
        let gone = self.take(address);
        self.count -= usize::from(gone.is_some());
        gone
    }

    fn take(&mut self, address: u64) -> Option<T> {
        if self.older.is_empty() {
            return self.live.remove(&address);
        }
        let Some(older) = self.older.get_mut(&address) else {
            return self.live.remove(&address);
        };
        let oldest = older.pop_front();
        if older.is_empty() {
            self.older.remove(&address);
        }
        oldest.or_else(|| self.live.remove(&address))
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_of_two_blocks_at_an_address_goes_first() {
        let mut blocks = Blocks::new(3);
        for block in [1, 2, 3] {
            assert!(blocks.insert(0x10, block));
        }
        assert!(!blocks.insert(0x20, 4));
        assert_eq!(blocks.len(), 3);
        assert_eq!(blocks.remove(0x20), None);
        for block in [1, 2, 3] {
            assert_eq!(blocks.remove(0x10), Some(block));
        }
        assert_eq!(blocks.remove(0x10), None);
        assert!(blocks.len() == 0 && blocks.insert(0x20, 5));
    }
}
