//! Reading and writing ELF structures at byte offsets, for both word sizes and byte orders.

use super::Machine;

/// Word size and byte order, and the places of fields that follow from them.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// ELFCLASS64.
    pub is_64: bool,
    big: bool,
}

/// Relocation section with or without addends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelocationFormat {
    /// The addend is in the bytes that are relocated.
    Rel,
    /// The addend is in the entry.
    Rela,
}

impl Layout {
    /// The layout of a machine's objects.
    #[must_use]
    pub fn of(machine: Machine) -> Self {
        Self {
            is_64: machine.is_64_bit(),
            big: machine.is_big_endian(),
        }
    }

    fn pick<T>(self, small: T, large: T) -> T {
        if self.is_64 { large } else { small }
    }

    /// Size of an address in bytes.
    #[must_use]
    pub fn word(self) -> usize {
        self.pick(4, 8)
    }

    /// Size of a symbol table entry.
    #[must_use]
    pub fn symbol_size(self) -> usize {
        self.pick(16, 24)
    }

    /// Size of a relocation entry.
    #[must_use]
    pub fn relocation_size(self, kind: RelocationFormat) -> usize {
        self.word() * if kind == RelocationFormat::Rela { 3 } else { 2 }
    }

    /// Largest symbol index that fits into `r_info`.
    #[must_use]
    pub fn max_symbol(self) -> u64 {
        self.pick(0xff_ffff, u64::from(u32::MAX))
    }

    /// Symbol index in `r_info`.
    #[must_use]
    pub fn relocation_symbol(self, info: u64) -> u64 {
        info >> self.pick(8, 32)
    }

    /// `r_info` with another symbol. All bits of the type stay: on SPARCV9 its upper 24 bits hold the
    /// second addend of R_SPARC_OLO10.
    #[must_use]
    pub fn with_symbol(self, info: u64, symbol: u64) -> u64 {
        let shift = self.pick(8, 32);
        (symbol << shift) | (info & ((1 << shift) - 1))
    }

    /// Offset of `sh_offset` in a section header; `sh_size` follows at once.
    #[must_use]
    pub fn section_offset_field(self) -> usize {
        self.pick(16, 24)
    }

    /// Offset of `r_info` in a relocation entry.
    #[must_use]
    pub fn info_field(self) -> usize {
        self.word()
    }

    /// A word at `offset`, if it lies inside `bytes`.
    #[must_use]
    pub fn get(self, bytes: &[u8], offset: usize) -> Option<u64> {
        let bytes = bytes.get(offset..offset.checked_add(self.word())?)?;
        let fold = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        Some(if self.big {
            bytes.iter().fold(0, fold)
        } else {
            bytes.iter().rev().fold(0, fold)
        })
    }

    /// Writes a word at `offset`; `None` if it does not fit into the file or the word.
    pub fn put(self, bytes: &mut [u8], offset: usize, value: u64) -> Option<()> {
        if !self.is_64 && value > u64::from(u32::MAX) {
            return None;
        }
        let width = self.word();
        let target = bytes.get_mut(offset..offset.checked_add(width)?)?;
        if self.big {
            target.copy_from_slice(&value.to_be_bytes()[8 - width..]);
        } else {
            target.copy_from_slice(&value.to_le_bytes()[..width]);
        }
        Some(())
    }

    /// A symbol table entry for an undefined global symbol without type.
    #[must_use]
    pub fn undefined_symbol(self, name: u32) -> Vec<u8> {
        const GLOBAL_NOTYPE: u8 = 1 << 4;
        let mut entry = vec![0; self.symbol_size()];
        entry[..4].copy_from_slice(&if self.big {
            name.to_be_bytes()
        } else {
            name.to_le_bytes()
        });
        entry[self.pick(12, 4)] = GLOBAL_NOTYPE;
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_keeps_its_upper_bits() {
        // R_SPARC_OLO10 (0x21) with second addend 8, against symbol 5.
        let sparc64 = Layout::of(Machine::SparcV9);
        assert_eq!(
            sparc64.with_symbol(0x0000_0005_0000_0821, 0x77),
            0x0000_0077_0000_0821
        );
        let sparc32 = Layout::of(Machine::Sparc);
        assert_eq!(sparc32.with_symbol(0x0000_0507, 0x77), 0x7707);
        assert_eq!(sparc32.relocation_symbol(0x7707), 0x77);
    }

    #[test]
    fn words_are_written_in_the_order_of_the_machine() {
        let mut bytes = [0; 9];
        Layout::of(Machine::Sparc)
            .put(&mut bytes, 1, 0x0102_0304)
            .unwrap();
        assert_eq!(bytes, [0, 1, 2, 3, 4, 0, 0, 0, 0]);
        assert_eq!(Layout::of(Machine::Sparc).get(&bytes, 1), Some(0x0102_0304));
        assert_eq!(Layout::of(Machine::Sparc).put(&mut bytes, 0, 1 << 32), None);
        Layout::of(Machine::X86_64)
            .put(&mut bytes, 0, 0x0102)
            .unwrap();
        assert_eq!(bytes[..3], [2, 1, 0]);
        assert_eq!(Layout::of(Machine::X86_64).put(&mut bytes, 2, 0), None);
    }
}
