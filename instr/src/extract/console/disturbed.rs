//! Lines of the trace with a piece of other output in them: another thread's message, printed while the line was.

use super::frame::{Frame, parse};

/// Characters of the numbers between head and payload, and behind it.
const FIELDS: usize = 35;
const BEHIND: usize = 9;
/// Characters of a full line.
const FULL: usize = FIELDS + 160 + BEHIND;
/// Characters that are looked at.
pub(super) const MOST_CHARS: usize = 1024;
/// Ends of a line that are tried.
const MOST_ENDS: usize = 8;

fn is_ours(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

/// Characters of a line with so many bytes of payload (two digits); of a full one when these are no such number.
fn length_of(digits: &[u8]) -> usize {
    let digits = std::str::from_utf8(digits).ok();
    match digits.and_then(|digits| usize::from_str_radix(digits, 16).ok()) {
        Some(count @ 0..=120) => FIELDS + count.div_ceil(3) * 4 + BEHIND,
        _ => FULL,
    }
}

/// The line whose head stands before `text` (without control characters), when one piece of `text` is taken out; and the bytes of `text` up
/// to its end. The checksum says which piece.
pub(super) fn without_a_piece(text: &[u8]) -> Option<(Frame, usize)> {
    let text = &text[..text.len().min(MOST_CHARS)];
    let stated = length_of(text.get(33..35).unwrap_or_default());
    for length in [Some(stated), (stated != FULL).then_some(FULL)]
        .into_iter()
        .flatten()
    {
        let ends = (length..text.len()).filter(|at| text[*at] == b';');
        for end in ends.take(MOST_ENDS) {
            if let Some(frame) = ending_at(text, end, length) {
                return Some((frame, end + 1));
            }
        }
    }
    let ends = (FIELDS..text.len()).filter(|at| text[*at] == b';');
    let mut ends = ends.take(MOST_ENDS);
    ends.find_map(|end| Some((in_the_numbers(text, end)?, end + 1)))
}

/// The line that ends at `end`, with the piece among the numbers: how long the line is stands behind the piece.
fn in_the_numbers(text: &[u8], end: usize) -> Option<Frame> {
    let first = text.iter().position(|b| !is_ours(*b)).unwrap_or(end);
    for begin in 0..FIELDS.min(first + 1) {
        for behind in begin + 1..=end {
            let at = |place: usize| {
                text.get(if place < begin {
                    place
                } else {
                    place + behind - begin
                })
            };
            let (Some(high), Some(low)) = (at(33), at(34)) else {
                break;
            };
            if begin + (end + 1 - behind) != length_of(&[*high, *low]) {
                continue;
            }
            let joined = [&text[..begin], &text[behind..=end]].concat();
            if let Ok(frame) = parse(&joined) {
                return Some(frame);
            }
        }
    }
    None
}

/// The line that ends at `end`: `length` characters, and a piece of others among them.
fn ending_at(text: &[u8], end: usize, length: usize) -> Option<Frame> {
    let piece = end + 1 - length;
    // Nothing but the piece has other characters.
    let first = text.iter().position(|b| !is_ours(*b)).unwrap_or(end);
    let last = text[..end].iter().rposition(|b| !is_ours(*b));
    let from = last.map_or(0, |last| (last + 1).saturating_sub(piece));
    for begin in from..=first.min(length - 1) {
        let joined = [&text[..begin], &text[begin + piece..=end]].concat();
        if let Ok(frame) = parse(&joined) {
            return Some(frame);
        }
    }
    None
}
