//! Texts that many answers share.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::lookup::FunctionName;

/// Parts that are locked on their own.
const PARTS: usize = 16;

/// Bytes of texts that a part keeps.
const MAX_BYTES: usize = 4 << 20;

/// Names of functions and files, each stored once, up to 64 MiB: then those that no answer uses any more are dropped.
pub(crate) struct Names {
    /// Functions by place and length in memory: the files' bytes stay where they are for as long as the image lives.
    functions: [Mutex<Part<(usize, usize), FunctionName>>; PARTS],
    files: Mutex<Part<Box<str>, Arc<str>>>,
}

struct Part<K, V> {
    known: HashMap<K, V, Fast>,
    bytes: usize,
}

impl<K, V> Default for Part<K, V> {
    fn default() -> Self {
        Part {
            known: HashMap::default(),
            bytes: 0,
        }
    }
}

impl Default for Names {
    fn default() -> Self {
        Names {
            functions: std::array::from_fn(|_| Mutex::default()),
            files: Mutex::default(),
        }
    }
}

impl Names {
    /// The name in both spellings. `raw` lies in one of the image's files.
    pub(crate) fn function(&self, raw: &[u8]) -> FunctionName {
        let place = (raw.as_ptr() as usize, raw.len());
        let mut part = lock(&self.functions[(place.0 >> 4) % PARTS]);
        if let Some(name) = part.known.get(&place) {
            return name.clone();
        }
        let name = FunctionName::new(&String::from_utf8_lossy(raw));
        // Text, its demangled form, and what holds them together.
        part.bytes += raw.len() * 2 + 128;
        if part.bytes > MAX_BYTES {
            part.drop_unused(
                |name| Arc::strong_count(&name.raw) > 2,
                |name| name.raw.len() * 2 + 128,
            );
        }
        part.known.insert(place, name.clone());
        name
    }

    /// The file's name, stored once.
    pub(crate) fn file(&self, file: &str) -> Arc<str> {
        let mut part = lock(&self.files);
        if let Some(known) = part.known.get(file) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = file.into();
        part.bytes += file.len() * 2 + 96;
        if part.bytes > MAX_BYTES {
            part.drop_unused(
                |name| Arc::strong_count(name) > 1,
                |name| name.len() * 2 + 96,
            );
        }
        part.known.insert(file.into(), Arc::clone(&shared));
        shared
    }
}

impl<K: Eq + std::hash::Hash, V> Part<K, V> {
    /// Drops what only this table holds; if that is not half of it, everything.
    fn drop_unused(&mut self, used: impl Fn(&V) -> bool, size: impl Fn(&V) -> usize) {
        self.known.retain(|_, value| used(value));
        #[expect(
            clippy::iter_over_hash_type,
            reason = "a sum does not depend on the order"
        )]
        let left = {
            let mut left = 0;
            for value in self.known.values() {
                left += size(value);
            }
            left
        };
        self.bytes = left;
        if left > MAX_BYTES / 2 {
            self.known.clear();
            self.bytes = 0;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Builds hashers that multiply and fold. Their key is drawn per table, so that nobody can prepare addresses that collide.
#[derive(Debug, Clone)]
pub(crate) struct Fast(u64);

impl Default for Fast {
    fn default() -> Self {
        Fast(RandomState::new().hash_one(0u64) | 1)
    }
}

impl BuildHasher for Fast {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded {
            key: self.0,
            state: self.0,
        }
    }
}

/// See [`Fast`].
pub(crate) struct Folded {
    key: u64,
    state: u64,
}

impl std::hash::Hasher for Folded {
    fn finish(&self) -> u64 {
        self.state
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let wide = u128::from(self.state ^ word) * u128::from(self.key);
        self.state = (wide >> 64) as u64 ^ wide as u64;
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_names_is_bounded() {
        let names = Names::default();
        let text = "x".repeat(1 << 16);
        let kept = names.function(&text.as_bytes()[..7]);
        for length in (1000..text.len()).step_by(97) {
            names.function(&text.as_bytes()[..length]);
        }
        for part in &names.functions {
            assert!(lock(part).bytes <= MAX_BYTES + (1 << 18));
        }
        assert_eq!(&*kept.raw, "xxxxxxx");
        for number in 0..100_000 {
            names.file(&format!("/some/file/of/length/{number:060}"));
        }
        assert!(lock(&names.files).bytes <= MAX_BYTES + 512);
        assert!(Arc::ptr_eq(&names.file("a"), &names.file("a")));
    }
}
