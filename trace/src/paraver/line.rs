//! One line in the making.

use super::rows::{PREFIX, Prefix};

/// Room for what a record can take: of the numbers of a communication, ten have at most 10 digits and five at most 20; colons.
const LINE: usize = 256;
/// What most records take; copying that much at once is faster than copying their length.
const SHORT: usize = 64;
/// Types of which the digits are kept.
const KINDS: usize = 1 << 8;
/// Digits of a time that are not kept.
const LOW: u64 = 1_000_000;

/// The numbers 00 to 99.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// A number and its digits.
#[derive(Clone, Copy, Debug)]
struct Digits {
    number: u64,
    bytes: [u8; 20],
    len: u8,
}

impl Digits {
    fn new(number: u64) -> Self {
        let mut bytes = [0; 20];
        let len = put(&mut bytes, number);
        Self {
            number,
            bytes,
            len: len as u8,
        }
    }
}

/// Puts the decimal digits to the begin of `bytes`, two at a time; how many there are.
#[inline]
fn put(bytes: &mut [u8], number: u64) -> usize {
    if number < 10 {
        bytes[0] = b'0' + number as u8;
        return 1;
    }
    let len = number.ilog10() as usize + 1;
    let place = &mut bytes[..len];
    let (mut rest, mut at) = (number, len);
    while at >= 2 {
        at -= 2;
        place[at..at + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    if at == 1 {
        place[0] = b'0' + (rest % 10) as u8;
    }
    len
}

/// A line. Types and the leading digits of times recur, and are kept.
pub(super) struct Line {
    bytes: [u8; LINE],
    len: usize,
    kinds: [Digits; KINDS],
    high: Digits,
}

impl Line {
    pub(super) fn new() -> Self {
        Self {
            bytes: [0; LINE],
            len: 0,
            kinds: [Digits::new(0); KINDS],
            high: Digits::new(0),
        }
    }

    /// Begins anew.
    #[inline]
    pub(super) fn clear(&mut self) -> &mut Self {
        self.len = 0;
        self
    }

    #[inline]
    pub(super) fn byte(&mut self, byte: u8) -> &mut Self {
        self.bytes[self.len] = byte;
        self.len += 1;
        self
    }

    #[inline]
    pub(super) fn prefix(&mut self, prefix: &Prefix) -> &mut Self {
        self.bytes[self.len..self.len + PREFIX].copy_from_slice(&prefix.bytes);
        self.len += prefix.len;
        self
    }

    #[inline]
    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.len += put(&mut self.bytes[self.len..], number);
        self
    }

    #[inline]
    fn digits(&mut self, digits: &Digits) {
        self.bytes[self.len..self.len + 20].copy_from_slice(&digits.bytes);
        self.len += usize::from(digits.len);
    }

    /// A type of events.
    #[inline]
    pub(super) fn kind(&mut self, kind: u32) -> &mut Self {
        let place = (kind.wrapping_mul(0x9e37_79b1) >> 24) as usize % KINDS;
        if self.kinds[place].number != u64::from(kind) {
            self.kinds[place] = Digits::new(u64::from(kind));
        }
        let digits = self.kinds[place];
        self.digits(&digits);
        self
    }

    #[inline]
    pub(super) fn time(&mut self, time: u64) -> &mut Self {
        let (high, low) = (time / LOW, (time % LOW) as usize);
        if high == 0 {
            return self.number(time);
        }
        if self.high.number != high {
            self.high = Digits::new(high);
        }
        let digits = self.high;
        self.digits(&digits);
        let place = &mut self.bytes[self.len..self.len + 6];
        place[..2].copy_from_slice(&PAIRS[low / 10_000]);
        place[2..4].copy_from_slice(&PAIRS[low / 100 % 100]);
        place[4..].copy_from_slice(&PAIRS[low % 100]);
        self.len += 6;
        self
    }

    #[inline]
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Appends the line to `text`.
    #[inline]
    pub(super) fn append_to(&self, text: &mut Vec<u8>) {
        if self.len <= SHORT {
            let len = text.len() + self.len;
            text.extend_from_slice(&self.bytes[..SHORT]);
            text.truncate(len);
        } else {
            text.extend_from_slice(self.text());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_types_and_times_are_written_in_full() {
        let numbers = [
            0,
            1,
            9,
            10,
            11,
            99,
            100,
            101,
            999,
            1000,
            12_345,
            123_456,
            999_999,
            1_000_000,
            1_000_001,
            1_234_567,
            10_000_000,
            98_765_432_109,
            u64::MAX / 10,
            u64::MAX,
        ];
        let (mut line, mut text) = (Line::new(), Vec::new());
        let mut expected = String::new();
        for _ in 0..2 {
            for number in numbers {
                line.clear().number(number).byte(b' ').time(number);
                line.byte(b' ').kind(number as u32).byte(b'\n');
                line.append_to(&mut text);
                expected += &format!("{number} {number} {}\n", number as u32);
            }
        }
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn a_communication_has_room() {
        let mut line = Line::new();
        let widest = Prefix {
            bytes: [b'9'; PREFIX],
            len: PREFIX,
        };
        line.byte(b'3').byte(b':');
        for _ in 0..2 {
            line.prefix(&widest)
                .time(u64::MAX)
                .byte(b':')
                .time(u64::MAX);
        }
        line.number(u64::MAX).byte(b':').number(u64::from(u32::MAX));
        assert!(line.text().len() < LINE);
    }
}
