//! Texts that are written at the same time and read one after the other: pieces of all of them in one file without a name.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};

/// Bytes of a text in memory.
const PIECE: usize = 1 << 15;
/// Bytes that are copied at a time.
const COPIED: usize = 1 << 16;

/// One text.
#[derive(Debug, Default)]
struct Text {
    /// What is not in the file.
    last: Vec<u8>,
    /// Places and lengths of its pieces in the file.
    pieces: Vec<(u64, usize)>,
}

/// Texts by number.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    end: u64,
    texts: Vec<Text>,
}

impl Spool {
    /// So many empty texts.
    pub(crate) fn new(texts: usize) -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            end: 0,
            texts: std::iter::repeat_with(Text::default).take(texts).collect(),
        })
    }

    /// Whether nothing was added to a text.
    pub(crate) fn is_empty(&self, text: usize) -> bool {
        self.texts[text].last.is_empty() && self.texts[text].pieces.is_empty()
    }

    /// Adds to a text what `write` writes.
    pub(crate) fn add(&mut self, text: usize, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let Text { last, pieces } = &mut self.texts[text];
        write(last);
        if last.len() >= PIECE {
            self.file.write_all(last)?;
            pieces.push((self.end, last.len()));
            self.end += last.len() as u64;
            last.clear();
        }
        Ok(())
    }

    /// Writes a text: first with the error of `out`, then with that of the file, if there is one.
    pub(crate) fn copy(&mut self, text: usize, out: &mut dyn Write) -> io::Result<()> {
        let mut buffer = vec![0; COPIED];
        for &(place, length) in &self.texts[text].pieces {
            self.file.seek(SeekFrom::Start(place))?;
            let mut left = length;
            while left > 0 {
                let part = left.min(COPIED);
                self.file.read_exact(&mut buffer[..part])?;
                out.write_all(&buffer[..part])?;
                left -= part;
            }
        }
        out.write_all(&self.texts[text].last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_whole_whatever_their_lengths() {
        let mut spool = Spool::new(4).unwrap();
        let mut expected = vec![Vec::new(); 4];
        for step in 0..2000usize {
            let text = [0, 1, 2, 1][step % 4];
            let bytes = vec![step as u8; step % 7 * 100 * (text + 1)];
            spool.add(text, |out| out.extend(&bytes)).unwrap();
            expected[text].extend(bytes);
        }
        for (text, bytes) in expected.iter().enumerate() {
            let mut found = Vec::new();
            spool.copy(text, &mut found).unwrap();
            assert!(found == *bytes, "text {text}");
            assert_eq!(spool.is_empty(text), bytes.is_empty());
        }
        assert!(expected[2].len() > 2 * PIECE && spool.is_empty(3));
    }
}
