//! Pages that the system maps: which stay when parts of a mapping go, or another takes their place.

use std::collections::BTreeMap;

use super::memory::{PagesCall, PagesFunction};

/// More mappings at a time are not followed.
const MAX_MAPPINGS: usize = 1 << 20;
/// Bytes of the smallest page there is: it serves for all, as lengths are hardly ever no multiples of larger ones.
const PAGE: u64 = 4096;

/// Whole pages.
fn pages(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(PAGE).unwrap_or(bytes)
}

/// The mappings of a process.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Begins and ends.
    mapped: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Pages {
    /// `bytes` at `address`, or nothing at 0.
    pub(super) fn map(&mut self, address: u64, bytes: u64, site: u64) -> PagesCall {
        self.call(PagesFunction::Map, (0, 0), (address, bytes), site)
    }

    /// Recorded before the call: the system refuses some.
    pub(super) fn unmap(&mut self, address: u64, bytes: u64) -> PagesCall {
        let refused = !address.is_multiple_of(PAGE) || bytes == 0;
        let gone = match refused {
            true => 0,
            false => self.remove(address, bytes),
        };
        PagesCall {
            function: PagesFunction::Unmap,
            refused,
            address: 0,
            bytes: 0,
            gone,
            site: 0,
            mapped: self.bytes,
        }
    }

    /// The mapping `old` becomes `new`.
    pub(super) fn remap(&mut self, old: (u64, u64), new: (u64, u64), site: u64) -> PagesCall {
        self.call(PagesFunction::Remap, old, new, site)
    }

    fn call(
        &mut self,
        function: PagesFunction,
        old: (u64, u64),
        (address, bytes): (u64, u64),
        site: u64,
    ) -> PagesCall {
        let refused = address == 0;
        let mut gone = 0;
        if !refused {
            gone = self.remove(old.0, old.1) + self.remove(address, bytes);
            self.insert(address, bytes);
        }
        PagesCall {
            function,
            refused,
            address,
            bytes: if refused { 0 } else { bytes },
            gone,
            site,
            mapped: self.bytes,
        }
    }

    fn insert(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(pages(bytes));
        if end > address && self.mapped.len() < MAX_MAPPINGS {
            self.mapped.insert(address, end);
        }
        self.bytes = self.bytes.saturating_add(end - address);
    }

    /// Takes [address, address + bytes) out of the mappings, parts of them too; gives how many bytes of them were mapped.
    fn remove(&mut self, address: u64, bytes: u64) -> u64 {
        let before = self.bytes;
        let end = address.saturating_add(pages(bytes));
        let below = self.mapped.range(..address).next_back();
        if let Some((&from, &to)) = below
            && to > address
        {
            self.mapped.insert(from, address);
            if to > end {
                self.mapped.insert(end, to);
            }
            self.removed(to.min(end) - address);
        }
        while let Some((&from, &to)) = self.mapped.range(address..end).next() {
            self.mapped.remove(&from);
            if to > end {
                self.mapped.insert(end, to);
            }
            self.removed(to.min(end) - from);
        }
        before - self.bytes
    }

    fn removed(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}
