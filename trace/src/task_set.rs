//! Sets of tasks that take little room when the numbers of each thread follow each other, as they do.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashMap;

use crate::event::TaskId;

/// Numbers in one word.
const WORD: u32 = u64::BITS;
/// Threads from this index on have no window.
const MAX_THREADS: usize = 1 << 12;
/// Words that a window may leave out at a time.
const MAX_GAP: usize = 4;

/// Thread, and number of a word among its numbers.
type Place = (u32, u32);

/// Tasks by creating thread and number. The numbers of a thread's last tasks follow each other: they are bits of its window, from the first word that
/// is not full. A run of full words takes one entry, whatever its length; other words, whose numbers leap, take 16 bytes each.
#[derive(Debug, Default)]
pub(crate) struct TaskSet {
    windows: Vec<Window>,
    words: HashMap<Place, u64>,
    /// The last full word of each run, by its first one. No two runs touch each other.
    full: BTreeMap<Place, u32>,
}

/// Words of a thread that follow each other.
#[derive(Debug, Default)]
struct Window {
    /// Number of the first.
    first: u32,
    words: VecDeque<u64>,
}

impl Window {
    #[inline]
    fn get_mut(&mut self, word: u32) -> Option<&mut u64> {
        let at = word.checked_sub(self.first)?;
        self.words.get_mut(at as usize)
    }

    /// Words that are to be added so that `word` is the last one; none if that is too far away, or not behind the window.
    fn missing(&self, word: u32) -> usize {
        let at = word.saturating_sub(self.first) as usize;
        let missing = (at + 1).saturating_sub(self.words.len());
        if missing <= MAX_GAP { missing } else { 0 }
    }
}

impl TaskSet {
    /// Adds a task; false when it is there already.
    #[inline]
    pub(crate) fn insert(&mut self, task: TaskId) -> bool {
        let (place, bit) = place(task);
        if let Some(window) = self.windows.get_mut(place.0 as usize)
            && let Some(word) = window.get_mut(place.1)
        {
            let is_new = *word & bit == 0;
            *word |= bit;
            if *word == u64::MAX && place.1 == window.first {
                self.shorten(place.0);
            }
            return is_new;
        }
        self.insert_outside(place, bit)
    }

    /// A task whose word is in no window yet.
    #[cold]
    fn insert_outside(&mut self, place: Place, bit: u64) -> bool {
        let is_new = !self.contains_outside(place, bit);
        if is_new && self.lengthen(place) {
            if let Some(word) = self.windows[place.0 as usize].get_mut(place.1) {
                *word |= bit;
            }
            self.shorten(place.0);
        } else if is_new {
            let word = self.words.entry(place).or_default();
            *word |= bit;
            if *word == u64::MAX {
                self.words.remove(&place);
                self.fill(place);
            }
        }
        is_new
    }

    #[inline]
    pub(crate) fn contains(&self, task: TaskId) -> bool {
        let (place, bit) = place(task);
        if let Some(window) = self.windows.get(place.0 as usize)
            && let Some(at) = place.1.checked_sub(window.first)
            && let Some(word) = window.words.get(at as usize)
        {
            return word & bit != 0;
        }
        self.contains_outside(place, bit)
    }

    fn contains_outside(&self, place: Place, bit: u64) -> bool {
        match self.words.get(&place) {
            Some(word) => word & bit != 0,
            None => self.is_full(place),
        }
    }

    /// Makes the thread's window hold the word, where that is near.
    fn lengthen(&mut self, (thread, word): Place) -> bool {
        let at = thread as usize;
        if at >= MAX_THREADS {
            return false;
        }
        if at >= self.windows.len() {
            self.windows.resize_with(at + 1, Window::default);
        }
        let window = &mut self.windows[at];
        if window.words.is_empty() {
            window.first = word;
        }
        let missing = window.missing(word);
        for number in word + 1 - missing as u32..=word {
            let place = (thread, number);
            let known = match self.words.remove(&place) {
                Some(word) => word,
                None if self.is_full(place) => u64::MAX,
                None => 0,
            };
            self.windows[at].words.push_back(known);
        }
        missing > 0
    }

    /// Takes full words from the begin of the thread's window.
    fn shorten(&mut self, thread: u32) {
        while let Some(window) = self.windows.get_mut(thread as usize)
            && window.words.front() == Some(&u64::MAX)
        {
            let word = window.first;
            window.words.pop_front();
            window.first += 1;
            self.fill((thread, word));
        }
    }

    fn is_full(&self, place: Place) -> bool {
        let run = self.full.range(..=place).next_back();
        run.is_some_and(|((thread, _), last)| *thread == place.0 && *last >= place.1)
    }

    /// The word has become full.
    fn fill(&mut self, (thread, word): Place) {
        if self.is_full((thread, word)) {
            return;
        }
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
    fn it_is_a_set_of_numbers_that_ascend_with_gaps() {
        let mut random = fastrand::Rng::with_seed(3);
        for gap in [2, 70, 300, 2000] {
            let (mut set, mut model) = (TaskSet::default(), BTreeSet::new());
            let mut last = random.u32(..);
            for _ in 0..20_000 {
                last = last.wrapping_add(random.u32(..gap));
                // Now and then one from before.
                let seq = match random.u32(..4) {
                    0 => last.wrapping_sub(random.u32(..5000)),
                    _ => last,
                };
                let task = TaskId { thread: 0, seq };
                assert_eq!(set.contains(task), model.contains(&task));
                assert_eq!(set.insert(task), model.insert(task));
                assert!(set.contains(task));
            }
            let bytes = 8 * set.windows[0].words.len() + 24 * (set.words.len() + set.full.len());
            assert!(bytes <= 40 * model.len(), "{bytes} {}", model.len());
        }
    }

    #[test]
    fn numbers_that_leap_take_no_window() {
        let mut set = TaskSet::default();
        for seq in (0..1000).map(|number| number << 20) {
            assert!(set.insert(TaskId { thread: 3, seq }));
        }
        assert_eq!(set.windows[3].words.len(), 1);
        assert_eq!(set.words.len(), 999);
    }

    #[test]
    fn numbers_without_a_gap_take_one_entry() {
        let mut set = TaskSet::default();
        // Not in order: as tasks end.
        for seq in (0..100_032u32).map(|seq| seq ^ 0x25) {
            assert!(set.insert(TaskId { thread: 1, seq }));
        }
        assert_eq!((set.words.len(), set.full.len()), (0, 1));
        assert!(set.windows[1].words.is_empty());
        assert!(!set.insert(TaskId { thread: 1, seq: 7 }));
        assert!(!set.contains(TaskId { thread: 2, seq: 7 }));
    }
}
