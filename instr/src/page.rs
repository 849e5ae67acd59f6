//! What text for people is written on: a stream with a width, and pages where it is a terminal.

use std::io::{self, Write};

/// Characters of a line where nothing says how wide it may be.
pub const WIDTH: usize = 80;
/// Narrower lines are not written, wider ones are hard to read.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=200;

/// A part of a page that others lay out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// A paragraph.
    Text(String),
    /// A table.
    Table(Grid),
}

/// A table that others lay out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Headings of the columns, and whether numbers stand below.
    pub(crate) header: Vec<(String, bool)>,
    /// The cells.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Grid {
    /// Whether a column holds numbers.
    pub(crate) fn is_number(&self, column: usize) -> bool {
        self.header.get(column).is_some_and(|(_, number)| *number)
    }
}

/// Where a page goes.
enum Target<'a> {
    Stream(&'a mut dyn Write),
    /// Parts, and the line that is not complete.
    Parts(&'a mut Vec<Part>, Vec<u8>),
}

/// A stream, and how much of each table goes on it.
pub struct Page<'a> {
    out: Target<'a>,
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
            out: Target::Stream(out),
            width: width.clamp(*WIDTHS.start(), *WIDTHS.end()),
            rows,
            colour,
        }
    }

    /// A page whose paragraphs and tables, with at most `rows` rows, others lay out.
    pub(crate) fn in_parts(parts: &'a mut Vec<Part>, rows: usize) -> Self {
        Self {
            out: Target::Parts(parts, Vec::new()),
            width: *WIDTHS.end(),
            rows,
            colour: false,
        }
    }

    /// Takes a table if others lay out the page. False: it has to be written.
    pub(crate) fn take(&mut self, grid: impl FnOnce() -> Grid) -> bool {
        let Target::Parts(parts, _) = &mut self.out else {
            return false;
        };
        parts.push(Part::Table(grid()));
        true
    }

    /// Writes words on as few lines as the width allows, `first` before the first line and as many blanks before the others.
    ///
    /// # Errors
    ///
    /// Those of the stream.
    pub fn paragraph(&mut self, first: &str, text: &str) -> io::Result<()> {
        if let Target::Parts(parts, _) = &mut self.out {
            parts.push(Part::Text(format!("{}{text}", first.trim_start())));
            return Ok(());
        }
        let blanks = " ".repeat(first.chars().count());
        let room = self.width.saturating_sub(blanks.len()).max(20);
        for (at, line) in lines(text, room).iter().enumerate() {
            let before = if at == 0 { first } else { &blanks };
            writeln!(self, "{before}{line}")?;
        }
        Ok(())
    }
}

impl Write for Page<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (parts, line) = match &mut self.out {
            Target::Stream(out) => return out.write(bytes),
            Target::Parts(parts, line) => (parts, line),
        };
        for byte in bytes {
            if *byte != b'\n' {
                line.push(*byte);
                continue;
            }
            // Blank lines are for terminals.
            let text = String::from_utf8_lossy(line).trim().to_owned();
            if !text.is_empty() {
                parts.push(Part::Text(text));
            }
            line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Target::Stream(out) => out.flush(),
            Target::Parts(..) => Ok(()),
        }
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
    fn parts_are_whole_whatever_their_width() {
        let (words, mut parts) = (vec!["word"; 99].join(" "), Vec::new());
        let mut page = Page::in_parts(&mut parts, 3);
        writeln!(page, "\n one {}", 1).unwrap();
        page.paragraph("note: ", &words).unwrap();
        assert!(page.take(Grid::default));
        let text = |text: &str| Part::Text(text.to_owned());
        let note = format!("note: {words}");
        let table = Part::Table(Grid::default());
        assert_eq!(parts, [text("one 1"), text(&note), table]);
        let mut out = Vec::new();
        let mut page = Page::new(&mut out, 80, 1, false);
        assert!(!page.take(Grid::default), "a stream takes text");
    }

    #[test]
    fn a_word_longer_than_a_line_is_cut() {
        assert_eq!(lines("a bbbbbbbb c", 5), ["a", "bb...", "c"]);
    }
}
