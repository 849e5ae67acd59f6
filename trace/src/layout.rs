//! Byte order, word size and version of a trace, and fixed-offset field access.

/// Byte order of the traced machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

/// Pointer size of the traced program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordSize {
    /// 32 bits.
    Four,
    /// 64 bits.
    #[default]
    Eight,
}

/// Version of the raw format (`docs/trace-format.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Each event has a header of 8 bytes.
    One,
    /// Most have one of 4, and some share words among their fields.
    #[default]
    Two,
}

/// All that the decoder must know of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Byte order.
    pub order: ByteOrder,
    /// Pointer size.
    pub word: WordSize,
    /// Version of the format.
    pub format: Format,
    /// An address of the program's code: most others are near to it, and stand with their low 32 bits alone.
    pub code_base: u64,
}

impl Layout {
    /// Bytes of an `addr` field: 4 or 8.
    #[inline]
    pub fn word_bytes(self) -> usize {
        match self.word {
            WordSize::Four => 4,
            WordSize::Eight => 8,
        }
    }

    /// Bytes of an entry of a list of dependences.
    #[inline]
    pub(crate) fn depend_bytes(self) -> usize {
        match self.format {
            Format::One => self.word_bytes() + 4,
            Format::Two => 8,
        }
    }

    /// `size` bits of a word that holds several numbers, from the bit `first` on: the low ones first where the byte order is little, else the
    /// high ones.
    #[inline]
    pub(crate) fn bits(self, word: u32, first: u32, size: u32) -> u32 {
        let mask = u32::MAX >> (32 - size);
        match self.order {
            ByteOrder::Little => (word >> first) & mask,
            ByteOrder::Big => (word >> (32 - first - size)) & mask,
        }
    }

    /// An address of code by its low 32 bits: with these high ones, else the one that is nearest to [`Layout::code_base`].
    #[inline]
    pub(crate) fn code(self, low: u32, high: Option<u32>) -> u64 {
        match (high, self.word) {
            (Some(high), _) => u64::from(high) << 32 | u64::from(low),
            (None, WordSize::Four) => u64::from(low),
            (None, WordSize::Eight) => {
                let distance = low.wrapping_sub(self.code_base as u32).cast_signed();
                self.code_base.wrapping_add_signed(distance.into())
            }
        }
    }

    /// The 32-bit number at `at`; 0 when it does not lie inside `bytes`.
    #[inline]
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let Some(raw) = bytes.get(at..).and_then(|tail| tail.first_chunk::<4>()) else {
            return 0;
        };
        match self.order {
            ByteOrder::Little => u32::from_le_bytes(*raw),
            ByteOrder::Big => u32::from_be_bytes(*raw),
        }
    }

    /// The 64-bit number at `at`; 0 when it does not lie inside `bytes`.
    #[inline]
    pub(crate) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let Some(raw) = bytes.get(at..).and_then(|tail| tail.first_chunk::<8>()) else {
            return 0;
        };
        match self.order {
            ByteOrder::Little => u64::from_le_bytes(*raw),
            ByteOrder::Big => u64::from_be_bytes(*raw),
        }
    }

    /// The pointer-sized number at `at`; 0 when it does not lie inside `bytes`.
    #[inline]
    pub(crate) fn addr(self, bytes: &[u8], at: usize) -> u64 {
        match self.word {
            WordSize::Four => u64::from(self.u32(bytes, at)),
            WordSize::Eight => self.u64(bytes, at),
        }
    }
}
