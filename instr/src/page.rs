//! What text for people is written on: a stream with a width, and pages where it is a terminal.

use std::io::{self, Write};

use crate::locale;
use crate::quote::harmless;

/// Characters of a line where nothing says how wide it may be.
pub const WIDTH: usize = 80;
/// Narrower lines are not written, wider ones are hard to read.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=200;

/// What follows a number and a blank.
const UNITS: [&str; 9] = ["s", "ms", "us", "ns", "B", "KiB", "MiB", "GiB", "TiB"];

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
    /// Whether our own characters are to be ASCII.
    pub ascii: bool,
}

impl<'a> Page<'a> {
    /// A page on `out`, `width` characters wide.
    pub fn new(out: &'a mut dyn Write, width: usize, rows: usize, colour: bool) -> Self {
        Self {
            out: Target::Stream(out),
            width: width.clamp(*WIDTHS.start(), *WIDTHS.end()),
            rows,
            colour,
            ascii: false,
        }
    }

    /// A page whose paragraphs and tables, with at most `rows` rows, others lay out.
    pub(crate) fn in_parts(parts: &'a mut Vec<Part>, rows: usize) -> Self {
        Self {
            out: Target::Parts(parts, Vec::new()),
            width: *WIDTHS.end(),
            rows,
            colour: false,
            ascii: false,
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

    /// Writes words on as few lines as the width allows, `first` before the first line and as many blanks before the others. Names among them may hold anything: no control
    /// character reaches the terminal.
    ///
    /// # Errors
    ///
    /// Those of the stream.
    pub fn paragraph(&mut self, first: &str, text: &str) -> io::Result<()> {
        let text = &harmless(text);
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
            Target::Stream(out) if !self.ascii => return out.write(bytes),
            Target::Stream(out) => {
                // Text comes in pieces that end between characters.
                out.write_all(&locale::ascii(bytes))?;
                return Ok(bytes.len());
            }
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

/// The words of `text` on lines of at most `width` characters; a longer word is cut. A number stays with its unit.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(text) {
        let word = crate::summary::units::elide(&word, width);
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

/// What must not be parted: words, numbers with their units, and the groups of digits of a number.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let bare = word.trim_end_matches(|c: char| c.is_ascii_punctuation());
        let is_group = bare.len() == 3 && bare.bytes().all(|byte| byte.is_ascii_digit());
        let last = words.last_mut();
        match last.filter(|last| last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(number) if is_group || UNITS.contains(&bare) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stays_with_its_unit() {
        let text = "it took 3.26 s, of 12 345 678 events (10.5 MiB) in 20 ms; 40 of 7 threads";
        for width in 16..80 {
            let lines = lines(text, width);
            assert!(lines.iter().all(|line| line.len() <= width), "{lines:?}");
            assert_eq!(lines.join(" "), text);
            for whole in ["3.26 s,", "12 345 678", "(10.5 MiB)", "20 ms;"] {
                assert!(lines.iter().any(|line| line.contains(whole)), "{lines:?}");
            }
        }
    }

    #[test]
    fn a_page_of_ascii_has_no_other_characters_of_ours() {
        let mut out = Vec::new();
        let mut page = Page::new(&mut out, 80, 1, false);
        page.ascii = true;
        writeln!(page, "a · {}", "█".repeat(3)).unwrap();
        page.paragraph("", "cut…").unwrap();
        assert_eq!(out, b"a - ###\ncut~\n");
    }

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
    fn names_in_paragraphs_reach_no_terminal() {
        let mut out = Vec::new();
        let mut page = Page::new(&mut out, 80, 1, false);
        page.paragraph("", "a\u{1b}[31mb\u{9b}2J").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a?[31mb?2J\n");
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
