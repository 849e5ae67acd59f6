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
    /// Where something changes, in order, and what holds from there on: the number and bias of the one module there.
    places: Vec<(u64, Option<(usize, u64)>)>,
    /// The first two modules found that have an address in common.
    overlapping: Option<(usize, usize)>,
}

impl ModuleMap {
    /// Takes the (bias, end) pairs in the trace's order. Empty and impossible ones (end not above bias) are kept out.
    #[must_use]
    pub fn new(bias_and_end: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let modules: Vec<(u64, u64)> = bias_and_end.into_iter().collect();
        let mut bounds = Vec::new();
        for (number, &(bias, end)) in modules.iter().enumerate() {
            if end > bias {
                bounds.extend([(bias, true, number), (end, false, number)]);
            }
        }
        bounds.sort_unstable(); // at one address, ends come before begins
        let mut map = ModuleMap::default();
        // How many modules are open, and the XOR of their numbers: of one, its number.
        let (mut open, mut numbers) = (0_usize, 0_usize);
        for (address, begins, number) in bounds {
            if begins && open == 1 {
                let pair = (numbers.min(number), numbers.max(number));
                map.overlapping.get_or_insert(pair);
            }
            open = if begins { open + 1 } else { open - 1 };
            numbers ^= number;
            let only = (open == 1).then(|| (numbers, modules[numbers].0));
            map.places.push((address, only));
        }
        map
    }

    /// The number of the module around a run-time address, and the link address to look up in its file.
    ///
    /// Modules that are loaded at once do not overlap; between modules there is none. Where a module had the place of one that was
    /// unloaded before, an address of both is neither's: a wrong name is worse than none.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<(usize, u64)> {
        let behind = self.places.partition_point(|&(from, _)| from <= address);
        let (_, only) = self.places[..behind].last()?;
        only.map(|(number, bias)| (number, address - bias))
    }

    /// Two modules, by their numbers, that had addresses in common, if there are any.
    #[must_use]
    pub fn overlapping(&self) -> Option<(usize, usize)> {
        self.overlapping
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
        assert_eq!(map.overlapping(), None);
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
        assert_eq!(map.overlapping(), Some((1, 2)));
    }
}
