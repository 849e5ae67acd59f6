//! Which loaded file an address of a running program belongs to.

/// The files a program had loaded, by address.
///
/// Built from what a trace records of each: its load bias (run-time address minus link address: 0 for a program
/// linked to fixed addresses) and the first run-time address behind it.
///
/// ```
/// use instr_symtab::ModuleMap;
///
/// let program = (0, 0x40_5000); // linked to fixed addresses
/// let library = (0x7f00_0000_0000, 0x7f00_0002_0000);
/// let map = ModuleMap::new([program, library]);
/// // A run-time address is the library's, number 1, and 0x1136 is what to look up in its file.
/// assert_eq!(map.find(0x7f00_0000_1136), Some((1, 0x1136)));
/// assert_eq!(map.find(0x50_0000), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ModuleMap {
    /// End, bias and number of each module, by end.
    modules: Vec<(u64, u64, usize)>,
    /// The lowest bias of each of them and all behind it.
    lowest: Vec<u64>,
}

impl ModuleMap {
    /// Takes the (bias, end) pairs in the trace's order. Empty and impossible ones (end not above bias) are kept out.
    #[must_use]
    pub fn new(bias_and_end: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let numbered = bias_and_end.into_iter().enumerate();
        let mut modules: Vec<_> = numbered
            .map(|(index, (bias, end))| (end, bias, index))
            .collect();
        modules.retain(|&(end, bias, _)| end > bias);
        modules.sort_unstable();
        let mut lowest: Vec<u64> = modules.iter().map(|&(_, bias, _)| bias).collect();
        for at in (1..lowest.len()).rev() {
            lowest[at - 1] = lowest[at - 1].min(lowest[at]);
        }
        ModuleMap { modules, lowest }
    }

    /// The number of the module around a run-time address, and the link address to look up in its file.
    ///
    /// Modules that are loaded at once do not overlap, so it is the one whose end comes next; between modules there is none. Where a
    /// module had the place of one that was unloaded before, an address of both is neither's: a wrong name is worse than none.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<(usize, u64)> {
        let at = self.modules.partition_point(|&(end, ..)| end <= address);
        let holds = |&&(_, bias, _): &&(u64, u64, usize)| bias <= address;
        if self.lowest.get(at).is_none_or(|lowest| *lowest > address) {
            return None;
        }
        let mut found = self.modules[at..].iter().filter(holds);
        let &(_, bias, index) = found.next()?;
        found.next().is_none().then(|| (index, address - bias))
    }

    /// Pairs of modules, by their numbers, that had addresses in common.
    #[must_use]
    pub fn overlapping(&self) -> Vec<(usize, usize)> {
        let numbered = self.modules.iter().enumerate();
        let mut pairs: Vec<_> = numbered
            .flat_map(|(at, &(end, _, index))| {
                let behind = self.modules[at + 1..].iter();
                let common = behind.filter(move |(_, bias, _)| *bias < end);
                common.map(move |&(_, _, other)| (index.min(other), index.max(other)))
            })
            .collect();
        pairs.sort_unstable();
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_and_moved_modules() {
        let map = ModuleMap::new([
            (0, 0x40_5000),                       // program at fixed addresses
            (0x7f00_0000_0000, 0x7f00_0002_0000), // library
            (0x7f00_0003_0000, 0x7f00_0003_1000), // another one, after a gap
            (0x9000, 0x9000),                     // nonsense
        ]);
        assert_eq!(map.find(0x40_1136), Some((0, 0x40_1136)));
        assert_eq!(map.find(0x40_5000), None);
        assert_eq!(map.find(0x7f00_0000_0000), Some((1, 0)));
        assert_eq!(map.find(0x7f00_0001_ffff), Some((1, 0x1_ffff)));
        assert_eq!(map.find(0x7f00_0002_0000), None);
        assert_eq!(map.find(0x7f00_0003_0010), Some((2, 0x10)));
        assert_eq!(map.find(u64::MAX), None);
        assert_eq!(ModuleMap::default().find(0), None);
        assert_eq!(map.overlapping(), []);
    }

    #[test]
    fn an_address_of_two_modules_is_neithers() {
        let map = ModuleMap::new([
            (0, 0x9000),        // program at fixed addresses
            (0x10000, 0x14000), // unloaded …
            (0x12000, 0x15000), // … before these two
            (0x16000, 0x17000),
            (0x15000, 0x15800),
        ]);
        let expected = [
            (0x8fff, Some((0, 0x8fff))),
            (0x9000, None),
            (0x11fff, Some((1, 0x1fff))),
            (0x12000, None),
            (0x13fff, None),
            (0x14000, Some((2, 0x2000))),
            (0x15000, Some((4, 0))),
            (0x16010, Some((3, 0x10))),
        ];
        for (address, module) in expected {
            assert_eq!(map.find(address), module, "{address:#x}");
        }
        assert_eq!(map.overlapping(), [(1, 2)]);
    }
}
