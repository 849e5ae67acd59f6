//! Byte order and word size of a trace, and fixed-offset field access.

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

/// Byte order and word size together: all that the decoder must know of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Byte order.
    pub order: ByteOrder,
    /// Pointer size.
    pub word: WordSize,
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
