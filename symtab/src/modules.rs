//! Which loaded file an address of a running program belongs to.

/// What is at an address.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// No module that was moved.
    Free,
    /// This module, moved by its bias.
    One(usize, u64),
    /// Several, one after the other.
    Several,
}

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
    /// Where something changes, in order, and what holds from there on.
    places: Vec<(u64, Place)>,
    /// Ends and numbers of the modules at fixed addresses, whose begin is not known, in order.
    fixed: Vec<(u64, usize)>,
    /// The first two modules found that have an address in common.
    overlapping: Option<(usize, usize)>,
}

impl ModuleMap {
    /// Takes the (bias, end) pairs in the trace's order. Empty and impossible ones (end not above bias) are kept out.
    #[must_use]
    pub fn new(bias_and_end: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let modules: Vec<(u64, u64)> = bias_and_end.into_iter().collect();
        let mut bounds = Vec::new();
        let mut map = ModuleMap::default();
        for (number, &(bias, end)) in modules.iter().enumerate() {
            if bias == 0 && end > 0 {
                map.fixed.push((end, number));
            } else if end > bias {
                bounds.extend([(bias, true, number), (end, false, number)]);
            }
        }
        map.fixed.sort_unstable();
        bounds.sort_unstable(); // at one address, ends come before begins
        // How many modules are open, and the XOR of their numbers: of one, its number.
        let (mut open, mut numbers) = (0_usize, 0_usize);
        for (address, begins, number) in bounds {
            if begins && open == 1 {
                let pair = (numbers.min(number), numbers.max(number));
                map.overlapping.get_or_insert(pair);
            }
            open = if begins { open + 1 } else { open - 1 };
            numbers ^= number;
            let place = match open {
                0 => Place::Free,
                1 => Place::One(numbers, modules[numbers].0),
                _ => Place::Several,
            };
            map.places.push((address, place));
        }
        map
    }

    /// The number of the module around a run-time address, and the link address to look up in its file.
    ///
    /// Modules that are loaded at once do not overlap; between modules there is none. Where a module had the place of one that was
    /// unloaded before, an address of both is neither's: a wrong name is worse than none. A module at fixed addresses begins somewhere
    /// behind 0 (an emulator's vDSO far behind the program), and has what is no other's.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<(usize, u64)> {
        let behind = self.places.partition_point(|&(from, _)| from <= address);
        match self.places[..behind].last() {
            Some((_, Place::One(number, bias))) => Some((*number, address - bias)),
            Some((_, Place::Several)) => None,
            // Of those at fixed addresses it is the first that ends behind the address.
            Some((_, Place::Free)) | None => {
                let at = self.fixed.partition_point(|&(end, _)| end <= address);
                self.fixed.get(at).map(|&(_, number)| (number, address))
            }
        }
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

    /// As qemu-user 8.2 tells them: the vDSO is linked to where it is.
    #[test]
    fn a_program_and_a_vdso_at_fixed_addresses_do_not_meet() {
        let map = ModuleMap::new([
            (0, 0x4f_c9e0),
            (0, 0x4000_0081_04f4),
            (0x4000_0010_0000, 0x4000_0020_0000),
        ]);
        assert_eq!(map.find(0x40_07f0), Some((0, 0x40_07f0)));
        assert_eq!(map.find(0x4000_0081_0400), Some((1, 0x4000_0081_0400)));
        assert_eq!(map.find(0x4000_0010_0010), Some((2, 0x10)));
        assert_eq!(map.find(0x4000_0081_04f4), None);
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
