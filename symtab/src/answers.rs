//! Answers given so far.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::lookup::Lookup;
use crate::names::Fast;

/// Parts that are locked on their own.
const PARTS: usize = 64;

/// How many answers all parts keep together.
const MAX_KEPT: usize = 1 << 17;

/// Answers by address: the 131,072 that were asked for last, roughly. Threads that only ask for known ones do not wait
/// for each other.
pub(crate) struct Answers {
    parts: Box<[RwLock<Part>]>,
    hashers: Fast,
}

#[derive(Default)]
struct Part {
    /// Index into `slots` by address.
    places: HashMap<u64, u32, Fast>,
    slots: Vec<Slot>,
    /// Where to look next for an answer to drop.
    hand: usize,
}

struct Slot {
    address: u64,
    answer: Arc<Lookup>,
    /// Whether it was asked for since the hand last passed.
    used: AtomicBool,
}

impl Default for Answers {
    fn default() -> Self {
        Answers {
            parts: (0..PARTS).map(|_| RwLock::default()).collect(),
            hashers: Fast::default(),
        }
    }
}

impl Answers {
    fn part(&self, address: u64) -> &RwLock<Part> {
        &self.parts[(self.hashers.hash_one(address) >> 48) as usize % PARTS]
    }

    /// The answer for an address, if it is known.
    pub(crate) fn get(&self, address: u64) -> Option<Arc<Lookup>> {
        let part = self
            .part(address)
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let slot = &part.slots[*part.places.get(&address)? as usize];
        // Only written where it changes: a write takes the line of memory away from the other processors.
        if !slot.used.load(Ordering::Relaxed) {
            slot.used.store(true, Ordering::Relaxed);
        }
        Some(Arc::clone(&slot.answer))
    }

    /// Keeps an answer, in place of one that was not asked for lately.
    pub(crate) fn put(&self, address: u64, answer: &Arc<Lookup>) {
        let mut part = self
            .part(address)
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        part.put(address, Arc::clone(answer));
    }
}

impl Part {
    fn put(&mut self, address: u64, answer: Arc<Lookup>) {
        if self.places.contains_key(&address) {
            return; // another thread was faster
        }
        let slot = Slot {
            address,
            answer,
            used: AtomicBool::new(false),
        };
        if self.slots.len() < MAX_KEPT / PARTS {
            self.places.insert(address, self.slots.len() as u32);
            self.slots.push(slot);
            return;
        }
        // Every slot gets a second chance; after one round, all have had theirs.
        while self.slots[self.hand].used.swap(false, Ordering::Relaxed) {
            self.hand = (self.hand + 1) % self.slots.len();
        }
        self.places.remove(&self.slots[self.hand].address);
        self.places.insert(address, self.hand as u32);
        self.slots[self.hand] = slot;
        self.hand = (self.hand + 1) % self.slots.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(address: u64) -> Arc<Lookup> {
        Arc::new(Lookup {
            offset: Some(address),
            ..Lookup::default()
        })
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_bounded() {
        let answers = Answers::default();
        let hot = 0..100u64;
        for address in hot.clone() {
            answers.put(address, &answer(address));
        }
        for address in 1000..1000 + 3 * MAX_KEPT as u64 {
            answers.put(address, &answer(address));
            if address % 64 == 0 {
                for address in hot.clone() {
                    let found = answers.get(address).expect("it was asked for all the time");
                    assert_eq!(found.offset, Some(address));
                }
            }
        }
        let kept: usize = answers
            .parts
            .iter()
            .map(|part| part.read().unwrap().slots.len())
            .sum();
        assert!((MAX_KEPT / 2..=MAX_KEPT).contains(&kept), "{kept}");
        assert!(answers.get(5_000_000).is_none());
    }
}
