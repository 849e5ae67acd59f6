//! Which addresses belong to the program: the places of its sections.

/// What is known of a section's place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SectionPlace {
    /// Address of the section's first byte.
    pub(crate) base: u64,
    /// Size in bytes.
    pub(crate) size: u64,
    /// Whether it is part of the running program.
    pub(crate) loaded: bool,
    /// Whether it holds instructions.
    pub(crate) code: bool,
    /// Whether its addresses are those of thread-local data, which overlap ordinary ones.
    pub(crate) thread_local: bool,
}

/// Addresses that hold instructions, as ranges that neither overlap nor touch, by address.
///
/// Debug information also describes functions that the linker dropped (`--gc-sections`, the second copy of an inline
/// function). Their addresses became 0, 1 or -1: outside of every section. So an address that lies in no section of
/// code belongs to no function, whatever the debug information says.
#[derive(Debug, Default)]
pub(crate) struct CodeRanges(Vec<(u64, u64)>);

impl CodeRanges {
    /// The union of (first address, size) pairs.
    pub(crate) fn new(parts: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut parts: Vec<(u64, u64)> = parts
            .into_iter()
            .filter(|&(_, size)| size > 0)
            .map(|(base, size)| (base, base.saturating_add(size)))
            .collect();
        parts.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (base, end) in parts {
            match ranges.last_mut() {
                Some(last) if base <= last.1 => last.1 = last.1.max(end),
                _ => ranges.push((base, end)),
            }
        }
        CodeRanges(ranges)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `address` holds an instruction.
    pub(crate) fn contain(&self, address: u64) -> bool {
        let after = self.0.partition_point(|&(base, _)| base <= address);
        after
            .checked_sub(1)
            .is_some_and(|at| address < self.0[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_that_touch_or_overlap_become_one_range() {
        let ranges = CodeRanges::new([(0x30, 0x10), (0x10, 8), (0x18, 8), (0x14, 2), (0x90, 0)]);
        assert_eq!(ranges.0, [(0x10, 0x20), (0x30, 0x40)]);
        let inside = |address| ranges.contain(address);
        assert!(inside(0x10) && inside(0x1f) && inside(0x30) && inside(0x3f));
        assert!(!inside(0) && !inside(0xf) && !inside(0x20) && !inside(0x40) && !inside(0x90));
        assert!(!inside(u64::MAX) && !CodeRanges::default().contain(0));
    }

    #[test]
    fn the_last_byte_of_the_address_space_ends_a_range() {
        let ranges = CodeRanges::new([(u64::MAX - 1, 100)]);
        assert!(ranges.contain(u64::MAX - 1) && !ranges.contain(u64::MAX - 2));
    }
}
