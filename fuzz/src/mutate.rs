//! Turns good inputs into bad ones.

use crate::input::Input;
use crate::random::Random;

/// No input grows over this many bytes a part.
const MAX_LEN: usize = 1 << 20;

/// Values that break sizes, offsets and counts.
const EXTREMES: [u64; 14] = [
    0,
    1,
    2,
    7,
    0x7F,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Changes `input` in one to sixteen places; `other` is another input to take pieces from.
pub(crate) fn mutate(input: &mut Input, other: &Input, random: &mut Random) {
    if input.0.len() > 1 && random.one_in(64) {
        input.0.remove(random.below(input.0.len()));
    }
    let rounds = 1 << random.below(5);
    for _ in 0..rounds {
        if input.0.is_empty() {
            return;
        }
        let at = random.below(input.0.len());
        let piece = if other.0.is_empty() {
            &[][..]
        } else {
            &other.0[random.below(other.0.len())].bytes
        };
        let bytes = &mut input.0[at].bytes;
        change(bytes, piece, random);
        bytes.truncate(MAX_LEN);
    }
}

/// One change.
fn change(bytes: &mut Vec<u8>, piece: &[u8], random: &mut Random) {
    if bytes.is_empty() {
        bytes.extend_from_slice(&piece[..piece.len().min(64)]);
        return;
    }
    match random.below(20) {
        0..=3 => {
            let at = place(bytes, random);
            bytes[at] ^= 1 << random.below(8);
        }
        4..=5 => {
            let at = place(bytes, random);
            bytes[at] = random.next() as u8;
        }
        6..=11 => put_integer(bytes, random),
        12 => bytes.truncate(random.below(bytes.len())),
        13 => {
            let range = range(bytes.len(), random);
            bytes.drain(range);
        }
        14 => {
            let copy = bytes[range(bytes.len(), random)].to_vec();
            let at = random.below(bytes.len());
            bytes.splice(at..at, copy);
        }
        15..=16 => overwrite(bytes, piece, random),
        17 => move_within(bytes, random),
        18 => {
            let at = random.below(bytes.len());
            let copy = piece[range(piece.len(), random)].to_vec();
            bytes.splice(at..at, copy);
        }
        _ => add_small(bytes, random),
    }
}

/// A place to change: anywhere, or where headers and tables usually lie (the start and the end).
fn place(bytes: &[u8], random: &mut Random) -> usize {
    let len = bytes.len();
    match random.below(4) {
        0 => random.below(len.min(128)),
        1 => len - 1 - random.below(len.min(4096)),
        _ => random.below(len),
    }
}

/// A stretch of up to 256 bytes, rarely longer.
fn range(len: usize, random: &mut Random) -> std::ops::Range<usize> {
    let start = random.below(len);
    let most = if random.one_in(8) { len } else { 256 };
    let end = start + random.below((len - start).min(most) + usize::from(len > start));
    start..end.min(len)
}

/// Writes an extreme or plausible integer of 1 to 8 bytes at an aligned place, in either byte order.
fn put_integer(bytes: &mut [u8], random: &mut Random) {
    let width = 1 << random.below(4);
    if bytes.len() < width {
        return;
    }
    let aligned = place(bytes, random) & !(width - 1);
    let at = aligned.min(bytes.len() - width);
    let value = match random.below(4) {
        0 => (bytes.len() as u64)
            .wrapping_add(random.below(5) as u64)
            .wrapping_sub(2),
        1 => random.below(bytes.len()) as u64,
        _ => *random.pick(&EXTREMES),
    };
    let target = &mut bytes[at..at + width];
    if random.one_in(2) {
        target.copy_from_slice(&value.to_le_bytes()[..width]);
    } else {
        target.copy_from_slice(&value.to_be_bytes()[8 - width..]);
    }
}

/// Adds or takes away a little from an aligned integer, so that it stays plausible.
fn add_small(bytes: &mut [u8], random: &mut Random) {
    if bytes.len() < 4 {
        return;
    }
    let at = (place(bytes, random) & !3).min(bytes.len() - 4);
    let word: [u8; 4] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    let step = (random.below(33) as u32).wrapping_sub(16);
    let changed = if random.one_in(2) {
        u32::from_le_bytes(word).wrapping_add(step).to_le_bytes()
    } else {
        u32::from_be_bytes(word).wrapping_add(step).to_be_bytes()
    };
    bytes[at..at + 4].copy_from_slice(&changed);
}

/// Copies a stretch of `piece` over some place.
fn overwrite(bytes: &mut [u8], piece: &[u8], random: &mut Random) {
    let from = &piece[range(piece.len(), random)];
    let at = random.below(bytes.len());
    let len = from.len().min(bytes.len() - at);
    bytes[at..at + len].copy_from_slice(&from[..len]);
}

/// Copies a stretch of the input over another place of it.
fn move_within(bytes: &mut [u8], random: &mut Random) {
    let from = range(bytes.len(), random);
    let to = random.below(bytes.len() - from.len() + 1);
    bytes.copy_within(from, to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_stays_in_bounds_and_is_reproducible() {
        let seeds = [
            vec![],
            vec![1],
            vec![1, 2, 3],
            (0..=255).collect::<Vec<u8>>(),
            vec![7; 5000],
        ];
        let run = |seed| {
            let mut random = Random::new(seed);
            let mut all = Vec::new();
            for round in 0..2000 {
                let mut input = Input::single("a", seeds[round % seeds.len()].clone());
                let other = Input::single("b", seeds[random.below(seeds.len())].clone());
                mutate(&mut input, &other, &mut random);
                assert!(input.first().len() <= MAX_LEN);
                all.push(input.fingerprint());
            }
            all
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }
}
