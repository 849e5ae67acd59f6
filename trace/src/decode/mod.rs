//! Bytes of one event to its payload. What depends on the event is generated from the tables of the crate `instr-schema`.

#[rustfmt::skip]
mod payload;

use crate::clock::Clock;
use crate::event::Payload;
use crate::layout::{Layout, WordSize};

/// Bytes of the header word.
pub(crate) const EVENT_HEADER: usize = 8;
/// Low bits of the clock in an event header.
const TIME_BITS: u32 = 56;
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

static SIZES: [[u8; payload::IDS]; 2] = [payload::sizes(4), payload::sizes(8)];

/// Id and low 56 bits of the clock.
#[inline]
pub(crate) fn header(bytes: &[u8], layout: Layout) -> (u8, u64) {
    let word = layout.u64(bytes, 0);
    match layout.order {
        crate::layout::ByteOrder::Little => ((word & 0xff) as u8, word >> 8),
        crate::layout::ByteOrder::Big => ((word >> TIME_BITS) as u8, word & ((1 << TIME_BITS) - 1)),
    }
}

/// Full clock value of an event whose header carries `low`, not earlier than `last`.
#[inline]
pub(crate) fn extend(last: u64, low: u64) -> Option<u64> {
    const MASK: u64 = (1 << TIME_BITS) - 1;
    let time = (last & !MASK) | low;
    if time >= last {
        Some(time)
    } else {
        time.checked_add(1 << TIME_BITS)
    }
}

/// Size of the event at the start of `bytes` (at least 8 of them).
#[inline]
pub(crate) fn size(bytes: &[u8], layout: Layout) -> Size {
    size_of(header(bytes, layout).0, bytes, layout)
}

/// Size of the event with this id at the start of `bytes`.
#[inline]
pub(crate) fn size_of(id: u8, bytes: &[u8], layout: Layout) -> Size {
    let fixed = SIZES[usize::from(layout.word == WordSize::Eight)][usize::from(id)];
    match fixed {
        VARIABLE => variable_size(id, bytes, layout),
        NONE => Size::Bad,
        fixed => Size::Known(EVENT_HEADER + usize::from(fixed)),
    }
}

fn variable_size(id: u8, bytes: &[u8], layout: Layout) -> Size {
    let word = layout.word_bytes();
    let Some((count_at, entry)) = payload::list(id, word) else {
        return string_size(bytes, EVENT_HEADER, word);
    };
    let count_at = EVENT_HEADER + count_at;
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
    payload::payload(
        header(bytes, layout).0,
        bytes.get(EVENT_HEADER..)?,
        layout,
        clock,
        made,
    )
}
