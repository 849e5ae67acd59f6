//! Bytes of one event to its payload. What depends on the event is generated from the tables of the crate `instr-schema`.

#[rustfmt::skip]
mod payload;

use crate::clock::Clock;
use crate::event::Payload;
use crate::layout::{ByteOrder, Format, Layout, WordSize};

/// Bytes of an event's header in version 1, whose low bits of the clock are so many.
const HEADER_1: usize = 8;
const TIME_BITS_1: u32 = 56;
/// The same of version 2.
const HEADER_2: usize = 4;
const TIME_BITS_2: u32 = 25;
/// In place of the id, in version 2: the other bits of the word are the id, and the whole clock follows.
const EXTENDED: u32 = 127;
const EXTENDED_HEADER: usize = 12;
/// Id of `flush`.
pub(crate) const FLUSH: u8 = 4;
/// An event longer than this is taken for damage.
pub(crate) const MAX_EVENT: usize = 16 << 20;

/// How far the bytes at hand reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// The event takes this many bytes, header included.
    Known(usize),
    /// At least this many bytes are needed to tell.
    AtLeast(usize),
    /// No event begins here.
    Bad,
}

const VARIABLE: u8 = 0xff;
const NONE: u8 = 0xfe;

/// By version and word size.
static SIZES: [[u8; payload::IDS]; 4] = [
    payload::sizes(4),
    payload::sizes(8),
    sizes_2(payload::sizes(4)),
    sizes_2(payload::sizes(8)),
];

/// What an event begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) id: u8,
    /// Its own bytes: where the fields begin.
    pub(crate) bytes: usize,
    time: Time,
}

#[derive(Clone, Copy, Debug)]
enum Time {
    /// So many low bits of the clock.
    Low(u64, u32),
    Whole(u64),
}

impl Header {
    /// Full clock value of the event, which is not earlier than `last`; `None`: it is, or there is none.
    #[inline]
    pub(crate) fn ticks(self, last: u64) -> Option<u64> {
        match self.time {
            Time::Whole(time) => (time >= last).then_some(time),
            Time::Low(low, bits) => {
                let range = 1 << bits;
                let time = (last & !(range - 1)) | low;
                if time >= last {
                    Some(time)
                } else {
                    time.checked_add(range)
                }
            }
        }
    }
}

/// The header at the start of `bytes`; else how many bytes are needed.
#[inline]
pub(crate) fn header(bytes: &[u8], layout: Layout) -> Result<Header, usize> {
    let bytes_1 = if layout.format == Format::One {
        HEADER_1
    } else {
        HEADER_2
    };
    if bytes.len() < bytes_1 {
        return Err(bytes_1);
    }
    if layout.format == Format::One {
        let word = layout.u64(bytes, 0);
        let (id, low) = match layout.order {
            ByteOrder::Little => (word & 0xff, word >> 8),
            ByteOrder::Big => (word >> TIME_BITS_1, word & ((1 << TIME_BITS_1) - 1)),
        };
        return Ok(Header {
            id: id as u8,
            bytes: HEADER_1,
            time: Time::Low(low, TIME_BITS_1),
        });
    }
    let word = layout.u32(bytes, 0);
    let id = layout.bits(word, 0, 32 - TIME_BITS_2);
    let rest = layout.bits(word, 32 - TIME_BITS_2, TIME_BITS_2);
    if id != EXTENDED {
        return Ok(Header {
            id: id as u8,
            bytes: HEADER_2,
            time: Time::Low(rest.into(), TIME_BITS_2),
        });
    }
    if bytes.len() < EXTENDED_HEADER {
        return Err(EXTENDED_HEADER);
    }
    Ok(Header {
        id: u8::try_from(rest).unwrap_or(0),
        bytes: EXTENDED_HEADER,
        time: Time::Whole(layout.u64(bytes, HEADER_2)),
    })
}

/// Size of the event that begins with `header` at the start of `bytes`.
#[inline]
pub(crate) fn size(header: Header, bytes: &[u8], layout: Layout) -> Size {
    let sizes = match (layout.format, layout.word) {
        (Format::One, WordSize::Four) => &SIZES[0],
        (Format::One, WordSize::Eight) => &SIZES[1],
        (Format::Two, WordSize::Four) => &SIZES[2],
        (Format::Two, WordSize::Eight) => &SIZES[3],
    };
    match sizes[usize::from(header.id)] {
        VARIABLE => variable_size(header, bytes, layout),
        NONE => Size::Bad,
        fixed => Size::Known(header.bytes + usize::from(fixed)),
    }
}

/// Sizes in version 2, from those in version 1.
const fn sizes_2(mut table: [u8; payload::IDS]) -> [u8; payload::IDS] {
    let mut id = 0;
    while id < payload::IDS {
        if payload::packed(id as u8).is_some() {
            table[id] = VARIABLE;
        }
        id += 1;
    }
    table
}

/// An event in version 2, if that is not as in version 1: offsets behind its header, bits of its word with numbers.
struct Packed {
    /// Bytes of what every such event has.
    bytes: usize,
    /// Offset of the word with numbers.
    numbers: usize,
    /// First bit and number of bits of the number of words that follow.
    words: (u32, u32),
    /// The same of the number of dependences behind them.
    count: Option<(u32, u32)>,
}

fn variable_size(header: Header, bytes: &[u8], layout: Layout) -> Size {
    if layout.format == Format::Two
        && let Some(packed) = payload::packed(header.id)
    {
        return packed_size(&packed, header, bytes, layout);
    }
    let word = layout.word_bytes();
    let Some((count_at, entry)) = payload::list(header.id, word, layout.depend_bytes()) else {
        return string_size(bytes, header.bytes, word);
    };
    let count_at = header.bytes + count_at;
    if bytes.len() < count_at + 4 {
        return Size::AtLeast(count_at + 4);
    }
    let count = layout.u32(bytes, count_at) as usize;
    match count
        .checked_mul(entry)
        .and_then(|tail| tail.checked_add(count_at + 4))
    {
        Some(size) if size <= MAX_EVENT => Size::Known(size),
        _ => Size::Bad,
    }
}

fn packed_size(packed: &Packed, header: Header, bytes: &[u8], layout: Layout) -> Size {
    let least = header.bytes + packed.bytes;
    if bytes.len() < least {
        return Size::AtLeast(least);
    }
    let numbers = layout.u32(bytes, header.bytes + packed.numbers);
    let number = |(first, size)| layout.bits(numbers, first, size) as usize;
    let entries = packed.count.map_or(0, number) * layout.depend_bytes();
    Size::Known(least + 4 * number(packed.words) + entries)
}

/// A text at `at`, up to its zero byte, then an address at the next multiple of 4.
fn string_size(bytes: &[u8], at: usize, word: usize) -> Size {
    let Some(text) = bytes.get(at..) else {
        return Size::AtLeast(at + 4);
    };
    match text.iter().position(|byte| *byte == 0) {
        Some(end) => Size::Known((at + end + 1).next_multiple_of(4) + word),
        None if bytes.len() >= MAX_EVENT => Size::Bad,
        None => Size::AtLeast(bytes.len() + 1),
    }
}

/// What `made` makes of the payload of the complete event at the start of `bytes`. Unknown ids give `None`.
#[inline]
pub(crate) fn payload<'a, T>(
    bytes: &'a [u8],
    layout: Layout,
    clock: &Clock,
    made: impl FnOnce(Payload<'a>) -> T,
) -> Option<T> {
    let header = header(bytes, layout).ok()?;
    let fields = bytes.get(header.bytes..)?;
    payload::payload(header.id, fields, layout, clock, made)
}
