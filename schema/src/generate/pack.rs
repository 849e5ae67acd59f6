//! Texts that repeat themselves, small: what boards and static programs carry of the declarations.
//!
//! Byte pair encoding: the most frequent pair of bytes becomes a byte of its own, again and again (P. Gage, "A New Algorithm for Data
//! Compression", C Users Journal 12(2), 1994). The characters that the texts have are the first bytes, all others are pairs: of a fixed
//! alphabet half of the bytes would stand for nothing. All texts share both tables.

use std::collections::{BTreeMap, BTreeSet};

/// A pair costs two bytes in the table.
const WORTH: usize = 3;

/// Packed texts.
#[derive(Debug)]
pub(super) struct Packed {
    /// What the first bytes stand for.
    pub(super) letters: Vec<u8>,
    /// What the bytes behind those stand for.
    pub(super) pairs: Vec<[u8; 2]>,
    /// The texts.
    pub(super) texts: Vec<Vec<u8>>,
}

impl Packed {
    /// Packs ASCII texts.
    pub(super) fn new(texts: &[String]) -> Self {
        let letters: BTreeSet<u8> = texts.iter().flat_map(|text| text.bytes()).collect();
        let letters: Vec<u8> = letters.into_iter().collect();
        let number = |letter| letters.partition_point(|other| *other < letter) as u8;
        let mut packed = Self {
            pairs: Vec::new(),
            texts: texts
                .iter()
                .map(|text| text.bytes().map(number).collect())
                .collect(),
            letters: letters.clone(),
        };
        for byte in letters.len() as u8..=u8::MAX {
            let Some(pair) = packed.most_frequent() else {
                break;
            };
            for text in &mut packed.texts {
                *text = replaced(text, pair, byte);
            }
            packed.pairs.push(pair);
        }
        packed
    }

    /// The pair that stands most often in all texts; of several the first in order.
    fn most_frequent(&self) -> Option<[u8; 2]> {
        let mut counts: BTreeMap<[u8; 2], usize> = BTreeMap::new();
        for text in &self.texts {
            for pair in text.windows(2) {
                *counts.entry([pair[0], pair[1]]).or_default() += 1;
            }
        }
        let best = counts
            .into_iter()
            .rev()
            .max_by_key(|(_, count)| *count)
            .filter(|(_, count)| *count >= WORTH);
        best.map(|(pair, _)| pair)
    }
}

fn replaced(text: &[u8], pair: [u8; 2], byte: u8) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    while at < text.len() {
        let found = text[at..].starts_with(&pair);
        out.push(if found { byte } else { text[at] });
        at += if found { 2 } else { 1 };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declarations;

    /// As `runtime/core/declarations.c` does it.
    fn unpack(packed: &Packed, bytes: &[u8], out: &mut String) {
        for &byte in bytes {
            match usize::from(byte).checked_sub(packed.letters.len()) {
                None => out.push(char::from(packed.letters[usize::from(byte)])),
                Some(number) => unpack(packed, &packed.pairs[number], out),
            }
        }
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        let texts = [
            String::new(),
            "abc".into(),
            "aaaaaaaaabababababab".into(),
            declarations::types(32),
            declarations::types(64),
            declarations::events(),
        ];
        let packed = Packed::new(&texts);
        for (text, bytes) in texts.iter().zip(&packed.texts) {
            let mut found = String::new();
            unpack(&packed, bytes, &mut found);
            assert_eq!(found, *text);
        }
        assert!(packed.texts[5].len() * 4 < texts[5].len());
    }
}
