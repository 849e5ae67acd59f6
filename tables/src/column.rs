//! The values of a column as they are gathered: a vector, and a bit for each value that may be missing. Rows come by the million: an append is a few
//! instructions.

use arrow_array::PrimitiveArray;
use arrow_array::types::ArrowPrimitiveType;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};

/// Numbers, of which some may be missing. A column uses [`Numbers::append`] or [`Numbers::append_option`], not both.
#[derive(Debug)]
pub(crate) struct Numbers<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    /// Full words of bits, the lowest first; 1: the value is there.
    words: Vec<u64>,
    /// The word that is not full.
    word: u64,
    missing: usize,
}

impl<T: ArrowPrimitiveType> Numbers<T> {
    pub(crate) fn new() -> Self {
        Self {
            values: Vec::new(),
            words: Vec::new(),
            word: 0,
            missing: 0,
        }
    }

    /// Appends a value to a column of which none is missing.
    #[inline]
    pub(crate) fn append(&mut self, value: T::Native) {
        self.values.push(value);
    }

    /// Appends a value that may be missing.
    #[inline]
    pub(crate) fn append_option(&mut self, value: Option<T::Native>) {
        let bit = self.values.len() % 64;
        self.word |= u64::from(value.is_some()) << bit;
        self.missing += usize::from(value.is_none());
        if bit == 63 {
            self.words.push(std::mem::take(&mut self.word));
        }
        self.values.push(value.unwrap_or_default());
    }

    /// Takes the values out. As many are expected to follow.
    pub(crate) fn take(&mut self) -> PrimitiveArray<T> {
        let length = self.values.len();
        let values = std::mem::replace(&mut self.values, Vec::with_capacity(length));
        let mut words = std::mem::take(&mut self.words);
        words.push(std::mem::take(&mut self.word));
        let missing = std::mem::take(&mut self.missing);
        let nulls = (missing > 0)
            .then(|| NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(words), 0, length)));
        PrimitiveArray::new(ScalarBuffer::from(values), nulls)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{Array as _, Int32Array};

    use super::*;

    #[test]
    fn values_come_back_whichever_are_missing() {
        let mut numbers = Numbers::<Int32Type>::new();
        for length in [0, 1, 63, 64, 65, 128, 1000] {
            for every in [1, 2, 7, 64, 2000] {
                let value = |at: i32| (at % every != 0).then_some(at);
                (0..length).for_each(|at| numbers.append_option(value(at)));
                let expected: Int32Array = (0..length).map(value).collect();
                assert_eq!(numbers.take(), expected, "{length} {every}");
            }
            (0..length).for_each(|at| numbers.append_option(Some(at)));
            assert_eq!(numbers.take().nulls(), None);
            (0..length).for_each(|at| numbers.append(at));
            assert_eq!(numbers.take(), Int32Array::from_iter_values(0..length));
        }
    }
}
