//! Questions from a stream: as many as are ready, never waiting for more than one.

use std::io::{self, BufRead};

/// Longest line that is looked at, bytes; the rest of a longer one is passed over.
const MAX_LINE: usize = 4096;

/// Lines of the first batch; later ones grow.
const FIRST_BATCH: usize = 64;

/// Lines of the largest batch.
const MAX_BATCH: usize = 1 << 18;

/// By how much batches grow: each one reads again what another one has read of the same functions.
const GROWTH: usize = 1 << 11;

/// Cuts a stream into lines and hands out those that are there.
pub(super) struct Lines<R> {
    input: R,
    /// The start of a line whose end has not come yet.
    partial: Vec<u8>,
    /// Whether anything of a line has come, be it an empty or an overlong one.
    open: bool,
    limit: usize,
}

impl<R: BufRead> Lines<R> {
    /// `waiting`: whether somebody may wait for the first answers before asking on. A file does not: its lines make large batches
    /// from the start.
    pub(super) fn new(input: R, waiting: bool) -> Self {
        Lines {
            input,
            partial: Vec::new(),
            open: false,
            limit: if waiting { FIRST_BATCH } else { MAX_BATCH },
        }
    }

    /// The lines that are ready, without their ends; waits for the first one only. Empty at the end of the stream.
    pub(super) fn next_batch(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut lines = Vec::new();
        while lines.is_empty() {
            let ready = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                ready => ready?,
            };
            if ready.is_empty() {
                if std::mem::take(&mut self.open) {
                    lines.push(std::mem::take(&mut self.partial));
                }
                return Ok(lines);
            }
            let mut used = 0;
            while lines.len() < self.limit && used < ready.len() {
                let rest = &ready[used..];
                let end = rest.iter().position(|&byte| byte == b'\n');
                let piece = &rest[..end.unwrap_or(rest.len())];
                let room = MAX_LINE - self.partial.len();
                self.partial.extend(&piece[..piece.len().min(room)]);
                self.open = end.is_none();
                used += piece.len() + usize::from(end.is_some());
                if end.is_some() {
                    lines.push(std::mem::take(&mut self.partial));
                }
            }
            self.input.consume(used);
        }
        self.limit = (self.limit * GROWTH).min(MAX_BATCH);
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    /// Gives its pieces one by one and fails when it is asked for more than there is.
    struct Pipe(Vec<&'static [u8]>);

    impl Read for Pipe {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "would wait for input that nobody sends");
            let piece = self.0.remove(0);
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn an_answer_does_not_wait_for_the_next_question() {
        let mut lines = Lines::new(
            BufReader::new(Pipe(vec![b"1", b"0\n2", b"0\n", b"3\n4\n"])),
            true,
        );
        assert_eq!(lines.next_batch().unwrap(), [b"10"]);
        assert_eq!(lines.next_batch().unwrap(), [b"20"]);
        assert_eq!(lines.next_batch().unwrap(), [b"3", b"4"]);
    }

    #[test]
    fn every_line_is_a_question_also_empty_long_and_unfinished_ones() {
        let mut text = b"1\n\n".to_vec();
        text.extend([b'2'; 3 * MAX_LINE]);
        text.extend(b"\n3");
        let mut lines = Lines::new(BufReader::with_capacity(7, &text[..]), true);
        let mut all = Vec::new();
        loop {
            let batch = lines.next_batch().unwrap();
            if batch.is_empty() {
                break;
            }
            all.extend(batch);
        }
        assert_eq!(all.len(), 4);
        assert_eq!(
            (&all[0][..], &all[1][..], &all[3][..]),
            (&b"1"[..], &b""[..], &b"3"[..])
        );
        assert_eq!(all[2].len(), MAX_LINE);
    }

    #[test]
    fn batches_grow_and_lose_nothing() {
        let text: String = (0..1000).map(|number| format!("{number:x}\n")).collect();
        let sizes = |waiting| -> Vec<usize> {
            let mut lines = Lines::new(text.as_bytes(), waiting);
            let next = || Some(lines.next_batch().unwrap().len()).filter(|&size| size > 0);
            std::iter::from_fn(next).collect()
        };
        assert_eq!(sizes(true), [64, 936]);
        assert_eq!(sizes(false), [1000]);
    }
}
