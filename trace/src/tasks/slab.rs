//! Values with small keys that are never taken for those of an earlier value in the same place.

/// Key of a value in a [`Slab`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) index: u32,
    /// Not 0.
    pub(super) serial: u64,
}

/// A growing table with reused places.
#[derive(Debug)]
pub(super) struct Slab<T> {
    places: Vec<Option<(u64, T)>>,
    free: Vec<u32>,
    serial: u64,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
            serial: 0,
        }
    }
}

impl<T> Slab<T> {
    pub(super) fn insert(&mut self, value: T) -> Key {
        self.serial += 1;
        let serial = self.serial;
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
        let key = |(index, place): (usize, &Option<(u64, T)>)| {
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
