//! Values with small keys that are never taken for those of an earlier value in the same place.

use std::num::NonZeroU32;

/// Key of a value in a [`Slab`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) index: u32,
    pub(super) serial: Serial,
}

/// Number of a value among those that were in any place: it comes again after 2^32 others. An [`Option`] of it takes no room.
pub(super) type Serial = NonZeroU32;

/// The serial behind this one.
#[inline]
pub(super) fn after(serial: Serial) -> Serial {
    serial.checked_add(1).unwrap_or(Serial::MIN)
}

/// A growing table with reused places.
#[derive(Debug)]
pub(super) struct Slab<T> {
    places: Vec<Option<(Serial, T)>>,
    free: Vec<u32>,
    serial: Serial,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
            serial: Serial::MIN,
        }
    }
}

impl<T> Slab<T> {
    pub(super) fn insert(&mut self, value: T) -> Key {
        let serial = self.serial;
        self.serial = after(serial);
        let index = match self.free.pop() {
            Some(index) => {
                self.places[index as usize] = Some((serial, value));
                index
            }
            None => {
                self.places.push(Some((serial, value)));
                (self.places.len() - 1) as u32
            }
        };
        Key { index, serial }
    }

    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<&T> {
        match self.places.get(key.index as usize)? {
            Some((serial, value)) if *serial == key.serial => Some(value),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        match self.places.get_mut(key.index as usize)? {
            Some((serial, value)) if *serial == key.serial => Some(value),
            _ => None,
        }
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<T> {
        self.get(key)?;
        let (_, value) = self.places[key.index as usize].take()?;
        self.free.push(key.index);
        Some(value)
    }

    /// Keys of all values, by place.
    pub(super) fn keys(&self) -> Vec<Key> {
        let key = |(index, place): (usize, &Option<(Serial, T)>)| {
            let (serial, _) = place.as_ref()?;
            Some(Key {
                index: index as u32,
                serial: *serial,
            })
        };
        self.places.iter().enumerate().filter_map(key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_does_not_open_the_next_value_in_its_place() {
        let mut slab = Slab::default();
        let first = slab.insert('a');
        assert_eq!(slab.remove(first), Some('a'));
        let second = slab.insert('b');
        assert_eq!((slab.get(first), slab.get(second)), (None, Some(&'b')));
        assert_eq!((slab.remove(first), slab.keys()), (None, vec![second]));
    }
}
