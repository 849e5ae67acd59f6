//! Packets that are short, as nearly all are: put together in an array of a fixed size, word by word, without a question at each byte.

use super::{Event, FIXED64, Header, LENGTH, VARINT};
use crate::slices::{Note, Number};

/// Flows of an event that is short.
const FLOWS: usize = 4;

/// A packet of less than 128 bytes.
///
/// It can get as long as 121 bytes: what stands before the event has 23, its fields 52, four flows 40, the flags 6.
pub(in super::super) struct Short {
    bytes: [u8; Self::MOST + 8],
    length: usize,
}

/// What stands before a field whose number is below 16: a byte.
const fn key(field: u64, wire: u32) -> u64 {
    field << 3 | wire as u64
}

/// The same in two bytes, from 16 on.
const fn wide_key(field: u64, wire: u32) -> u64 {
    let key = key(field, wire);
    key & 0x7f | 0x80 | key >> 7 << 8
}

impl Short {
    const MOST: usize = 128;

    pub(in super::super) fn new() -> Self {
        Self {
            bytes: [0; Self::MOST + 8],
            length: 0,
        }
    }

    /// Appends the lowest bytes of a word.
    #[inline(always)]
    fn word(&mut self, word: u64, bytes: usize) {
        // The length is below that in any case: so it is not asked for.
        let at = self.length % Self::MOST;
        self.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        self.length += bytes;
    }

    /// Appends a number in groups of seven bits, the lowest first; all but the last have the eighth bit set.
    #[inline]
    fn varint(&mut self, mut number: u64) {
        while number >= 1 << 56 {
            self.word(number & 0x7f | 0x80, 1);
            number >>= 7;
        }
        // Eight groups at the same time: the upper half moves up by four bits, then the upper halves of both halves by two, then those of the four by one.
        let groups = number & 0x0000_0000_0fff_ffff | (number & 0x00ff_ffff_f000_0000) << 4;
        let groups = groups & 0x0000_3fff_0000_3fff | (groups & 0x0fff_c000_0fff_c000) << 2;
        let groups = groups & 0x007f_007f_007f_007f | (groups & 0x3f80_3f80_3f80_3f80) << 1;
        // The last byte, from 0.
        let last = (groups | 1).ilog2() / 8;
        let more = 0x8080_8080_8080_8080 & ((1 << (8 * last)) - 1);
        self.word(groups | more, last as usize + 1);
    }

    /// Appends a field that is a number.
    #[inline(always)]
    fn number(&mut self, field: u64, value: u64) {
        let key = key(field, VARINT);
        match value {
            0..0x80 => self.word(key | value << 8, 2),
            0x80..0x4000 => self.word(key | (value & 0x7f | 0x80) << 8 | value >> 7 << 16, 3),
            _ => {
                self.word(key, 1);
                self.varint(value);
            }
        }
    }

    /// A field of eight bytes.
    #[inline(always)]
    fn fixed(&mut self, field: u64, value: u64) {
        self.word(wide_key(field, FIXED64), 2);
        self.word(value, 8);
    }

    /// As [`super::annotation`].
    #[inline(always)]
    fn annotation(&mut self, note: Note) {
        let (name, field, value) = match note {
            Note::Task(number) => (1, 3, number),
            Note::Object(address) => (2, 7, address),
            Note::Value(number) => (3, 3, number),
        };
        let length = self.length + 1;
        self.word(key(4, LENGTH), 2);
        self.number(1, name);
        self.number(field, value);
        self.bytes[length % Self::MOST] = (self.length - length - 1) as u8;
    }

    /// As [`Event::encode`].
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>) {
        let kind = key(9, VARINT) | (event.kind as u64) << 8;
        if let Some(label) = event.label {
            self.number(3, label.category as u64 + 1);
            if let Some(note) = label.note {
                self.annotation(note);
            }
            self.word(kind, 2);
            self.number(10, label.name);
        } else {
            self.word(kind, 2);
        }
        self.number(11, event.track);
        match event.value {
            Some(Number::Whole(value)) => {
                self.word(wide_key(30, VARINT), 2);
                self.varint(value.cast_unsigned());
            }
            Some(Number::Real(value)) => self.fixed(44, value.to_bits()),
            None => {}
        }
        for flow in event.flows.begin {
            self.fixed(47, *flow);
        }
        for flow in event.flows.end {
            self.fixed(48, *flow);
        }
    }

    /// A `Trace.packet` with a `TrackEvent`; nothing where it may be too long.
    #[inline]
    pub(super) fn packet(&mut self, header: &Header<'_>, event: &Event<'_>) -> Option<&[u8]> {
        let flows = event.flows.begin.len() + event.flows.end.len();
        if flows > FLOWS || !header.names.is_empty() {
            return None;
        }
        self.length = 0;
        // Both lengths are less than 128, and take a byte, which is put right when they are known.
        self.word(key(1, LENGTH) | key(8, VARINT) << 16, 3);
        self.varint(header.time);
        self.number(10, header.sequence.into());
        self.word(key(11, LENGTH), 2);
        let begin = self.length;
        self.event(event);
        self.bytes[(begin - 1) % Self::MOST] = (self.length - begin) as u8;
        self.number(13, header.flags.into());
        self.bytes[1] = (self.length - 2) as u8;
        self.bytes.get(..self.length)
    }
}
