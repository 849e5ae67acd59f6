//! What is known of the tasks that live, found by their identity.
//!
//! The numbers of a thread's tasks ascend, and most tasks live for a short time: so the places of a thread's last tasks are in a
//! short list by number. Those of older tasks, and of numbers that leap, are in a hash table.

use std::collections::VecDeque;

use hashbrown::HashMap;

use crate::event::TaskId;

/// No place.
const NONE: u32 = u32::MAX;
/// Threads from this index on have no list.
const MAX_THREADS: usize = 1 << 12;
/// Numbers that a list may leave out at a time.
const MAX_GAP: usize = 1 << 8;
/// Places that are made at a time: they never move, and no more room is taken than they fill.
const CHUNK: usize = 1 << 10;
/// A list is not cut below this length.
const MIN_LIST: usize = 1 << 10;

/// Where a value is: valid until it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The place: a small number, the task's own as long as it is in the map.
    pub place: u32,
    serial: u32,
}

/// What a place holds; a value stays in its place when its task is gone, so that its memory can be used again.
pub trait Value: Default {
    /// Makes it as good as new.
    fn clear(&mut self);
}

#[derive(Debug)]
struct Place<T> {
    serial: u32,
    used: bool,
    task: TaskId,
    value: T,
}

/// Values by task.
#[derive(Debug)]
pub struct TaskMap<T> {
    lists: Vec<List>,
    others: HashMap<TaskId, u32>,
    places: Places<T>,
    free: Vec<u32>,
}

/// Places by number.
#[derive(Debug)]
struct Places<T> {
    chunks: Vec<Vec<Place<T>>>,
}

/// Places of the last tasks of a thread.
#[derive(Debug, Default)]
struct List {
    /// Number of the first.
    first: u32,
    places: VecDeque<u32>,
    /// How many there are.
    used: usize,
}

impl List {
    #[inline]
    fn get(&self, seq: u32) -> Option<u32> {
        let at = seq.wrapping_sub(self.first) as usize;
        self.places.get(at).copied().filter(|place| *place != NONE)
    }

    /// Whether there was room.
    #[inline]
    fn insert(&mut self, seq: u32, place: u32) -> bool {
        if self.places.is_empty() {
            self.first = seq;
        }
        let at = seq.wrapping_sub(self.first) as usize;
        let len = self.places.len();
        if at == len {
            self.places.push_back(place);
        } else if at < len {
            self.places[at] = place;
        } else if at - len < MAX_GAP {
            self.places.resize(at, NONE);
            self.places.push_back(place);
        } else {
            return false;
        }
        self.used += 1;
        true
    }

    #[inline]
    fn remove(&mut self, seq: u32) -> Option<u32> {
        let at = seq.wrapping_sub(self.first) as usize;
        let place = std::mem::replace(self.places.get_mut(at)?, NONE);
        if place == NONE {
            return None;
        }
        self.used -= 1;
        while self.places.front() == Some(&NONE) {
            self.places.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        Some(place)
    }

    fn is_sparse(&self) -> bool {
        self.places.len() > MIN_LIST && self.places.len() / 4 > self.used
    }

    /// Takes the oldest one.
    fn pop(&mut self) -> Option<(u32, u32)> {
        let seq = self.first;
        let place = self.places.pop_front()?;
        self.first = self.first.wrapping_add(1);
        self.used -= usize::from(place != NONE);
        Some((seq, place))
    }
}

impl<T> Default for TaskMap<T> {
    fn default() -> Self {
        Self {
            lists: Vec::new(),
            others: HashMap::new(),
            places: Places { chunks: Vec::new() },
            free: Vec::new(),
        }
    }
}

impl<T> Places<T> {
    #[inline]
    fn get(&self, place: u32) -> Option<&Place<T>> {
        let place = place as usize;
        self.chunks.get(place / CHUNK)?.get(place % CHUNK)
    }

    #[inline]
    fn get_mut(&mut self, place: u32) -> Option<&mut Place<T>> {
        let place = place as usize;
        self.chunks.get_mut(place / CHUNK)?.get_mut(place % CHUNK)
    }

    /// Its number.
    fn push(&mut self, place: Place<T>) -> u32 {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(place),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(place);
                self.chunks.push(chunk);
            }
        }
        (self.len() - 1) as u32
    }

    fn len(&self) -> usize {
        let last = self.chunks.last().map_or(0, Vec::len);
        self.chunks.len().saturating_sub(1) * CHUNK + last
    }
}

impl<T: Value> TaskMap<T> {
    /// The value of a task, or the place for a new one.
    #[inline]
    pub fn find(&self, task: TaskId) -> Option<Key> {
        let listed = self.lists.get(task.thread as usize);
        let place = match listed.and_then(|list| list.get(task.seq)) {
            Some(place) => place,
            None if self.others.is_empty() => return None,
            None => *self.others.get(&task)?,
        };
        let serial = self.places.get(place)?.serial;
        Some(Key { place, serial })
    }

    /// Makes room for a value of a task; an old one goes.
    #[inline]
    pub fn insert(&mut self, task: TaskId) -> Key {
        if let Some(old) = self.find(task) {
            self.remove(old);
        }
        let place = match self.free.pop() {
            Some(place) => place,
            None => self.places.push(Place {
                serial: 0,
                used: false,
                task,
                value: T::default(),
            }),
        };
        let mut serial = 0;
        if let Some(slot) = self.places.get_mut(place) {
            slot.serial = slot.serial.wrapping_add(1);
            (slot.task, slot.used) = (task, true);
            serial = slot.serial;
        }
        self.list(task, place);
        Key { place, serial }
    }

    #[inline]
    fn list(&mut self, task: TaskId, place: u32) {
        let thread = task.thread as usize;
        if thread < MAX_THREADS {
            if thread >= self.lists.len() {
                self.lists.resize_with(thread + 1, List::default);
            }
            let list = &mut self.lists[thread];
            if list.insert(task.seq, place) {
                while list.is_sparse()
                    && let Some((seq, old)) = list.pop()
                {
                    if old != NONE {
                        self.others.insert(TaskId { seq, ..task }, old);
                    }
                }
                return;
            }
        }
        self.others.insert(task, place);
    }

    /// The value of a key; `None`: it is gone.
    #[inline]
    pub fn get(&self, key: Key) -> Option<&T> {
        let slot = self.places.get(key.place)?;
        (slot.used && slot.serial == key.serial).then_some(&slot.value)
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let slot = self.places.get_mut(key.place)?;
        (slot.used && slot.serial == key.serial).then_some(&mut slot.value)
    }

    /// Drops the value of a key.
    #[inline]
    pub fn remove(&mut self, key: Key) {
        let slot = match self.places.get_mut(key.place) {
            Some(slot) if slot.used && slot.serial == key.serial => slot,
            _ => return,
        };
        slot.used = false;
        slot.value.clear();
        let task = slot.task;
        self.free.push(key.place);
        let list = self.lists.get_mut(task.thread as usize);
        if list.and_then(|list| list.remove(task.seq)).is_none() {
            self.others.remove(&task);
        }
    }

    /// The key of what is in this place now.
    #[inline]
    pub fn at(&self, place: u32) -> Option<Key> {
        let slot = self.places.get(place)?;
        let serial = slot.serial;
        slot.used.then_some(Key { place, serial })
    }

    /// What is in this place now.
    #[inline]
    pub fn at_mut(&mut self, place: u32) -> Option<&mut T> {
        let slot = self.places.get_mut(place)?;
        slot.used.then_some(&mut slot.value)
    }

    /// All values, in no order of meaning.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        let places = self.places.chunks.iter().flatten();
        let used = places.zip(0..).filter(|(slot, _)| slot.used);
        used.map(|(slot, place)| {
            let serial = slot.serial;
            (Key { place, serial }, &slot.value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Value for u64 {
        fn clear(&mut self) {
            *self = 0;
        }
    }

    fn set(map: &mut TaskMap<u64>, id: TaskId, value: u64) -> Key {
        let key = map.insert(id);
        assert_eq!(map.get(key), Some(&0));
        *map.get_mut(key).unwrap() = value;
        key
    }

    fn task(thread: u32, seq: u32) -> TaskId {
        TaskId { thread, seq }
    }

    #[test]
    fn it_is_a_map_whatever_the_numbers() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut below = |limit: u64| random.u64(..limit);
        let (mut map, mut model) = (TaskMap::default(), std::collections::BTreeMap::new());
        let mut next = [u32::MAX - 3000, 7, 0, 0];
        for step in 0..60_000u64 {
            let thread = below(4) as usize;
            let index = [0, 1, 5000, 3][thread];
            match below(9) {
                // A leap, a small gap, a number that was before.
                0 => next[thread] = next[thread].wrapping_add(below(1 << 20) as u32),
                1 => next[thread] = next[thread].wrapping_add(below(300) as u32),
                2 if below(8) == 0 => next[thread] = next[thread].wrapping_sub(below(50) as u32),
                3..=5 => {
                    next[thread] = next[thread].wrapping_add(1);
                    let id = task(index, next[thread]);
                    set(&mut map, id, step);
                    model.insert(id, step);
                }
                _ => {
                    let id = task(index, next[thread].wrapping_sub(below(3000) as u32));
                    let key = map.find(id);
                    let value = key.and_then(|key| map.get(key)).copied();
                    assert_eq!(value, model.remove(&id));
                    key.inspect(|key| map.remove(*key));
                }
            }
            if step % 5000 == 0 {
                for (id, value) in &model {
                    let found = map.find(*id).and_then(|key| map.get(key));
                    assert_eq!(found, Some(value));
                }
                assert_eq!(map.iter().count(), model.len());
            }
        }
    }

    #[test]
    fn a_task_that_lives_on_makes_no_long_list() {
        let mut map = TaskMap::default();
        set(&mut map, task(0, 1), 1);
        for seq in 2..1_000_000 {
            let key = set(&mut map, task(0, seq), 2);
            map.remove(key);
        }
        assert!(map.lists[0].places.len() <= MIN_LIST + 1);
        assert_eq!(map.places.len(), 2);
        let first = map.find(task(0, 1)).and_then(|key| map.get(key));
        assert_eq!(first, Some(&1));
    }

    #[test]
    fn a_key_is_of_one_value() {
        let mut map = TaskMap::default();
        let old = set(&mut map, task(0, 1), 1);
        let new = set(&mut map, task(0, 1), 2);
        assert_eq!(old.place, new.place);
        assert_eq!((map.get(old), map.get(new)), (None, Some(&2)));
        map.remove(old);
        assert_eq!(map.get(new), Some(&2));
        map.remove(new);
        assert_eq!(map.find(task(0, 1)), None);
    }
}
