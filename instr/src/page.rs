//! What text for people is written on: a stream with a width, and pages where it is a terminal.

use std::io::{self, Write};

/// Characters of a line where nothing says how wide it may be.
pub const WIDTH: usize = 80;
/// Narrower lines are not written, wider ones are hard to read.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=200;

/// A stream, and how much of each table goes on it.
pub struct Page<'a> {
    out: &'a mut dyn Write,
    /// Characters of a line.
    pub width: usize,
    /// Rows of a table; the rest is counted.
    pub rows: usize,
    /// Whether escape sequences may be written.
    pub colour: bool,
}

impl<'a> Page<'a> {
    /// A page on `out`, `width` characters wide.
    pub fn new(out: &'a mut dyn Write, width: usize, rows: usize, colour: bool) -> Self {
        Self {
            out,
            width: width.clamp(*WIDTHS.start(), *WIDTHS.end()),
            rows,
            colour,
        }
    }

    /// Writes words on as few lines as the width allows, `first` before the first line and as many blanks before the others.
    ///
    /// # Errors
    ///
    /// Those of the stream.
    pub fn paragraph(&mut self, first: &str, text: &str) -> io::Result<()> {
        let blanks = " ".repeat(first.chars().count());
        let room = self.width.saturating_sub(blanks.len()).max(20);
        for (at, line) in lines(text, room).iter().enumerate() {
            let before = if at == 0 { first } else { &blanks };
            writeln!(self.out, "{before}{line}")?;
        }
        Ok(())
    }
}

impl Write for Page<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The words of `text` on lines of at most `width` characters; a longer word is cut.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let word = crate::summary::units::elide(word, width);
        let last = lines.len() - 1;
        let line = &mut lines[last];
        let filled = line.chars().count();
        if filled > 0 && filled + 1 + word.chars().count() > width {
            lines.push(word);
            continue;
        }
        if filled > 0 {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole_and_in_order() {
        let words = vec!["twelve chars"; 20].join(" ");
        for width in [20, 33, 80] {
            let mut out = Vec::new();
            let mut page = Page::new(&mut out, width, 1, false);
            page.paragraph("  why  ", &words).unwrap();
            let out = String::from_utf8(out).unwrap();
            let widest = width.max(40);
            assert!(out.lines().all(|line| line.len() <= widest), "{out}");
            let read: Vec<_> = out.lines().map(|line| &line[7..]).collect();
            assert_eq!(read.join(" "), words);
            assert!(out.lines().skip(1).all(|line| line.starts_with("       ")));
        }
    }

    #[test]
    fn a_word_longer_than_a_line_is_cut() {
        assert_eq!(lines("a bbbbbbbb c", 5), ["a", "bb...", "c"]);
    }
}
