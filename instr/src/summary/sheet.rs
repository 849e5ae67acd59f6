//! A table of plain characters that keeps to the width of a page.

use std::io::{self, Write};

use comfy_table::{
    CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle,
};

use super::units::{count, elide, shorten};

/// Rows of a table; more threads share the last one, more of anything else is only counted.
pub(super) const MAX_ROWS: usize = 40;
/// Characters of a line. Text columns are shortened to keep to it, numbers never.
const WIDTH: usize = 100;
/// Text columns do not become narrower than this.
const MIN_TEXT: usize = 24;
/// A line below the header and nothing else.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction(' '))
    .header_separator(LineStyle::none().fill('-').junction(' '))
    .content_lines(ContentLineStyle::none().junction(' '));

/// A table whose first columns hold text and whose other columns hold numbers.
#[derive(Debug)]
pub(super) struct Sheet {
    text: usize,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    /// With `text` columns of text.
    pub(super) fn new(text: usize, header: &[&str]) -> Self {
        Self {
            text,
            header: header.iter().map(|&head| head.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    pub(super) fn add_row(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }

    /// Prints the table with a blank line before it; one without rows is left out.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub(super) fn print_all(mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.fit();
        for line in std::iter::once(String::new()).chain(self.table().lines()) {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// [`Sheet::print_all`], and how many of `rows` are not there.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub(super) fn print(self, rows: usize, out: &mut dyn Write) -> io::Result<()> {
        let shown = self.rows.len();
        self.print_all(out)?;
        match rows.saturating_sub(shown) {
            0 => Ok(()),
            more => writeln!(
                out,
                "... and {} more (--json shows all)",
                count(more as u64)
            ),
        }
    }

    /// Shortens the widest text column until the table fits.
    fn fit(&mut self) {
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let width = |at: usize| {
            let cells = lines().filter_map(|line| line.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let text = self.text.min(widths.len());
        // Two spaces between columns; the line below the header is one longer than the last one.
        let mut total = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1) + 1;
        while total > WIDTH {
            let widest = widths[..text].iter_mut().max();
            let Some(widest) = widest.filter(|width| **width > MIN_TEXT) else {
                break;
            };
            *widest -= 1;
            total -= 1;
        }
        for line in std::iter::once(&mut self.header).chain(&mut self.rows) {
            for (cell, width) in line.iter_mut().zip(&widths[..text]) {
                if cell.chars().count() > *width {
                    *cell = shorten(cell, *width);
                }
            }
        }
    }

    fn table(&self) -> Table {
        let mut table = new_table(self.text, &self.header);
        table.add_rows(&self.rows);
        table
    }
}

/// A table whose first `text` columns hold text and whose other columns hold numbers, as wide as they are.
pub(crate) fn new_table(text: usize, header: &[impl AsRef<str>]) -> Table {
    let mut table = Table::new();
    table
        .set_content_arrangement(ContentArrangement::Disabled)
        .load_style(STYLE)
        .set_header(header.iter().map(AsRef::as_ref));
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        column.set_cell_alignment(if at < text {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table
}

/// Writes words on as few lines as the width of the page allows, `indent` before each and two more spaces from the second on.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn wrap(indent: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut line = indent.to_owned();
    let mut filled = false;
    for word in text.split(' ') {
        if filled && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            line = format!("{indent}  ");
            filled = false;
        }
        if filled {
            line.push(' ');
        }
        line.push_str(&elide(word, WIDTH));
        filled = true;
    }
    writeln!(out, "{line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let mut out = Vec::new();
        let words = vec!["twelve chars"; 20].join(" ");
        wrap("  ", &words, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.lines().all(|line| line.len() <= 100), "{out}");
        assert_eq!(
            out.lines().map(str::trim).collect::<Vec<_>>().join(" "),
            words
        );
    }

    #[test]
    fn tables_keep_to_the_page_and_numbers_stay_whole() {
        let mut sheet = Sheet::new(2, &["one", "two", "number"]);
        sheet.add_row(["a".repeat(80), "b".repeat(40), "123456789".into()]);
        let mut out = Vec::new();
        sheet.print(3, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
        assert!(out.contains("a...  bbbb"), "{out}");
        assert!(out.contains("123456789"));
        assert!(out.ends_with("... and 2 more (--json shows all)\n"));
    }
}
