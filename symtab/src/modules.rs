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
        ModuleMap { modules }
    }

    /// The number of the module around a run-time address, and the link address to look up in its file.
    ///
    /// Modules do not overlap, so it is the one whose end comes next; between modules there is none.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<(usize, u64)> {
        let at = self.modules.partition_point(|&(end, ..)| end <= address);
        let &(_, bias, index) = self.modules.get(at)?;
        Some((index, address.checked_sub(bias)?))
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
    }
}
