//! Reproducible pseudo-random numbers.

/// A xorshift64* generator.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator whose numbers depend on `seed` only.
    pub(crate) fn new(seed: u64) -> Self {
        // Spreads small seeds; zero would stay zero.
        Random((seed ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9) | 1)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`, 0 if that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound.max(1)
    }

    /// True once in `times` calls.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of `choices`, which is not empty.
    pub(crate) fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }
}
