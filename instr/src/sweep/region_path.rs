//! The names of a region and of those around it. Thousands of runs have the same regions: a file of runs is read with one text for each of them.

use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// As many different paths are remembered while a file is read.
const MOST: usize = 1 << 16;

/// Names from the outermost region to this one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RegionPath(Arc<[String]>);

impl RegionPath {
    /// Whether both are the same text in memory. Equal paths need not be.
    pub(super) fn address(&self) -> *const String {
        self.0.as_ptr()
    }
}

impl Deref for RegionPath {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl From<Vec<String>> for RegionPath {
    fn from(names: Vec<String>) -> Self {
        Self(names.into())
    }
}

impl Serialize for RegionPath {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for RegionPath {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Paths)
    }
}

/// Paths that this thread has read.
#[derive(Default)]
struct Known {
    /// By their names, each followed by its length: no two paths have the same bytes.
    paths: HashMap<Vec<u8>, RegionPath>,
    /// Those of the path that is being read.
    bytes: Vec<u8>,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

impl Known {
    fn path(&mut self) -> Option<RegionPath> {
        if let Some(known) = self.paths.get(self.bytes.as_slice()) {
            return Some(known.clone());
        }
        let path = RegionPath::from(names(&self.bytes)?);
        if self.paths.len() >= MOST {
            self.paths.clear();
        }
        self.paths.insert(self.bytes.clone(), path.clone());
        Some(path)
    }
}

fn add(bytes: &mut Vec<u8>, name: &str) {
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(&name.len().to_le_bytes());
}

/// The names that [`add`] has written.
fn names(mut bytes: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    while let Some((before, length)) = bytes.split_last_chunk() {
        let begin = before.len().checked_sub(usize::from_le_bytes(*length))?;
        let (outer, name) = before.split_at(begin);
        names.push(String::from_utf8(name.to_vec()).ok()?);
        bytes = outer;
    }
    names.reverse();
    Some(names)
}

struct Paths;

impl<'de> Visitor<'de> for Paths {
    type Value = RegionPath;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the names of a region and of those around it")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<RegionPath, A::Error> {
        KNOWN.with_borrow_mut(|known| {
            known.bytes.clear();
            while sequence
                .next_element_seed(Name(&mut known.bytes))?
                .is_some()
            {}
            known
                .path()
                .ok_or_else(|| A::Error::custom("a path of names"))
        })
    }
}

/// One of the names.
struct Name<'b>(&'b mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the name of a region")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        add(self.0, name);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read is what was written, whatever is in the names; equal paths are there once.
    #[test]
    fn paths_are_read_as_written_and_shared() {
        let words = ["", "a", "b", "ab", "a\0b", "ä\"\\\n", "\u{1}\0\0\0\0\0\0\0"];
        let mut paths: Vec<Vec<String>> = vec![Vec::new()];
        for first in words {
            paths.push(vec![first.to_owned()]);
            for second in words {
                paths.push(vec![first.to_owned(), second.to_owned()]);
                paths.push(vec![first.to_owned(), second.to_owned(), "x".repeat(300)]);
            }
        }
        let text = serde_json::to_string(&paths).unwrap();
        let read = || -> Vec<RegionPath> { serde_json::from_str(&text).unwrap() };
        let (one, other) = (read(), read());
        for ((path, one), other) in paths.iter().zip(&one).zip(&other) {
            assert_eq!(path[..], one[..]);
            assert_eq!(one.address(), other.address(), "{path:?}");
        }
        assert_eq!(serde_json::to_string(&one).unwrap(), text);
        for damaged in ["[1]", "\"a\"", "[\"a\",null]", "{}"] {
            assert!(serde_json::from_str::<RegionPath>(damaged).is_err());
        }
    }
}
