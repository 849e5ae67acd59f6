//! Sets of tasks that take little room when the numbers of each thread follow each other, as they do.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::event::TaskId;

/// Numbers in one word.
const WORD: u32 = u64::BITS;

/// Thread, and number of a word among its numbers.
type Place = (u32, u32);

/// Tasks by creating thread and number. A run of full words takes one entry, whatever its length; other words take 16 bytes each.
#[derive(Debug, Default)]
pub(crate) struct TaskSet {
    words: HashMap<Place, u64>,
    /// The last full word of each run, by its first one. No two runs touch each other.
    full: BTreeMap<Place, u32>,
}

impl TaskSet {
    /// Adds a task; false when it is there already.
    pub(crate) fn insert(&mut self, task: TaskId) -> bool {
        let (place, bit) = place(task);
        if let Some(word) = self.words.get_mut(&place) {
            let is_new = *word & bit == 0;
            *word |= bit;
            if *word == u64::MAX {
                self.words.remove(&place);
                self.fill(place);
            }
            return is_new;
        }
        let is_new = !self.is_full(place);
        if is_new {
            self.words.insert(place, bit);
        }
        is_new
    }

    pub(crate) fn contains(&self, task: TaskId) -> bool {
        let (place, bit) = place(task);
        match self.words.get(&place) {
            Some(word) => word & bit != 0,
            None => self.is_full(place),
        }
    }

    fn is_full(&self, place: Place) -> bool {
        let run = self.full.range(..=place).next_back();
        run.is_some_and(|((thread, _), last)| *thread == place.0 && *last >= place.1)
    }

    /// The word has become full.
    fn fill(&mut self, (thread, word): Place) {
        let (mut first, mut last) = (word, word);
        if let Some((&(of, begin), end)) = self.full.range(..(thread, word)).next_back()
            && of == thread
            && end.checked_add(1) == Some(word)
        {
            first = begin;
        }
        if let Some(next) = word.checked_add(1)
            && let Some(end) = self.full.remove(&(thread, next))
        {
            last = end;
        }
        self.full.insert((thread, first), last);
    }
}

/// The word of a task and its bit there.
fn place(task: TaskId) -> (Place, u64) {
    ((task.thread, task.seq / WORD), 1 << (task.seq % WORD))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn it_is_a_set_whatever_the_numbers() {
        let mut random = fastrand::Rng::with_seed(2);
        for most in [40, 700, 5000] {
            let (mut set, mut model) = (TaskSet::default(), BTreeSet::new());
            for _ in 0..20_000 {
                // At both ends of the numbers.
                let number = random.u32(..most);
                let seq = if random.bool() {
                    number
                } else {
                    u32::MAX - number
                };
                let task = TaskId {
                    thread: random.u32(..3),
                    seq,
                };
                assert_eq!(set.contains(task), model.contains(&task));
                assert_eq!(set.insert(task), model.insert(task));
            }
        }
    }

    #[test]
    fn numbers_without_a_gap_take_one_entry() {
        let mut set = TaskSet::default();
        // Not in order: as tasks end.
        for seq in (0..100_032u32).map(|seq| seq ^ 0x25) {
            assert!(set.insert(TaskId { thread: 1, seq }));
        }
        assert_eq!((set.words.len(), set.full.len()), (0, 1));
        assert!(!set.insert(TaskId { thread: 1, seq: 7 }));
        assert!(!set.contains(TaskId { thread: 2, seq: 7 }));
    }
}
