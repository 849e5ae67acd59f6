//! The metadata on a console: copies of which lines are missing, put together line by line.

use std::collections::{BTreeMap, VecDeque};

use super::LINE;
use super::frame::Frame;

/// Copies that are kept. A program prints four, and two more when it loads a library.
const MOST_COPIES: usize = 32;
/// Metadata is some thousand bytes long.
const MOST_BYTES: u32 = 1 << 20;

/// The lines of one copy that came through.
#[derive(Default)]
struct Copy {
    lines: BTreeMap<u32, Vec<u8>>,
    /// Bytes of the text, and the checksum of all of it: its last line.
    end: Option<(u32, u32)>,
}

/// All copies.
#[derive(Default)]
pub(super) struct Copies {
    /// The newest last.
    copies: VecDeque<Copy>,
}

impl Copies {
    /// Takes a line.
    pub(super) fn take(&mut self, frame: &Frame) {
        if frame.offset > MOST_BYTES || !frame.offset.is_multiple_of(LINE) && frame.total == 0 {
            return;
        }
        let goes_on = self.copies.back().is_some_and(|copy| {
            let last = copy.lines.last_key_value();
            copy.end.is_none() && last.is_none_or(|(last, _)| *last < frame.offset)
        });
        if !goes_on {
            if self.copies.len() == MOST_COPIES {
                self.copies.pop_front();
            }
            self.copies.push_back(Copy::default());
        }
        let Some(copy) = self.copies.back_mut() else {
            return;
        };
        if frame.total == 0 {
            copy.lines.insert(frame.offset, frame.payload.clone());
        } else {
            copy.end = Some((frame.total, frame.id));
        }
    }

    /// How many copies there are, whole or not.
    pub(super) fn count(&self) -> usize {
        self.copies.len()
    }

    /// The newest text of which each line is in some copy.
    pub(super) fn text(&self) -> Option<Vec<u8>> {
        let ends = self.copies.iter().rev().filter_map(|copy| copy.end);
        let mut tried = Vec::new();
        for end in ends {
            if tried.contains(&end) {
                continue;
            }
            tried.push(end);
            if let Some(text) = self.put_together(end) {
                return Some(text);
            }
        }
        None
    }

    /// The text of this length and checksum: first of its own copies, then of those whose end is missing, then of other texts.
    fn put_together(&self, end: (u32, u32)) -> Option<Vec<u8>> {
        let rank = |copy: &&Copy| match copy.end {
            Some(other) if other == end => 0,
            None => 1,
            Some(_) => 2,
        };
        let mut order: Vec<&Copy> = self.copies.iter().rev().collect();
        order.sort_by_key(rank);
        let newest = Self::joined(&order, end);
        newest.or_else(|| {
            order.reverse();
            order.sort_by_key(rank);
            Self::joined(&order, end)
        })
    }

    /// Each line from the first copy that has it, if the checksum is that of the whole.
    fn joined(order: &[&Copy], end: (u32, u32)) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        while text.len() < end.0 as usize {
            let at = text.len() as u32;
            let length = LINE.min(end.0 - at) as usize;
            let fits = |copy: &&Copy| {
                let line = copy.lines.get(&at)?;
                (line.len() == length).then(|| line.clone())
            };
            text.append(&mut order.iter().find_map(fits)?);
        }
        (crc32fast::hash(&text) == end.1).then_some(text)
    }
}
