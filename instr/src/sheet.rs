//! A table of plain characters that keeps to the width of its page.

use std::io::{self, Write};

use comfy_table::{
    CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle,
};

use crate::page::{Grid, Page};
use crate::quote::shown;
use crate::summary::units::{count, elide_middle, elide_start};

/// Rows of a table unless the user says otherwise; more threads share the last one, more of anything else is only counted.
pub(crate) const MAX_ROWS: usize = 40;
/// Text columns do not become narrower than this while there is a column that can be left out.
const MIN_TEXT: usize = 20;
/// No text column becomes narrower than this.
const LEAST_TEXT: usize = 10;
/// Columns that are left out where the page is too narrow, the first of these first.
const LESS: &[&str] = &[
    "min",
    "max",
    "longest",
    "max/mean",
    "construct",
    "unit",
    "span in tasks",
    "T1/P + T∞",
    "edges",
    "max(T1/P, T∞)",
    "total",
    "times",
    "noise",
    "measured",
];
/// A line below the header and nothing else.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction(' '))
    .header_separator(LineStyle::none().fill('-').junction(' '))
    .content_lines(ContentLineStyle::none().junction(' '));

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Text, cut in the middle where there is no room.
    Text,
    /// A number: never cut.
    Number,
    /// A file and line, whose end matters most.
    Place,
    /// A bar: never cut.
    Bar,
}

/// A table whose first columns hold text and whose other columns hold numbers.
#[derive(Debug)]
pub(crate) struct Sheet {
    kinds: Vec<Kind>,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The first column holds labels, whose construct and place become columns of their own.
    labels: bool,
}

impl Sheet {
    /// With `text` columns of text.
    pub(crate) fn new(text: usize, header: &[&str]) -> Self {
        let kind = |at| if at < text { Kind::Text } else { Kind::Number };
        Self {
            kinds: (0..header.len()).map(kind).collect(),
            header: header.iter().map(|&head| head.to_owned()).collect(),
            rows: Vec::new(),
            labels: false,
        }
    }

    /// The same, and the first column holds labels of places (`main [omp task a.c:12]`): the name stays there, the place becomes the last
    /// column, and the construct a column of its own if there are several.
    pub(crate) fn of_places(text: usize, header: &[&str]) -> Self {
        Self {
            labels: true,
            ..Self::new(text, header)
        }
    }

    /// The last column holds bars, which begin at its left.
    pub(crate) fn with_bars(mut self) -> Self {
        if let Some(last) = self.kinds.last_mut() {
            *last = Kind::Bar;
        }
        self
    }

    pub(crate) fn add_row(&mut self, row: impl IntoIterator<Item = String>) {
        let plain = |cell: String| match cell.contains(char::is_control) {
            true => shown(cell),
            false => cell,
        };
        self.rows.push(row.into_iter().map(plain).collect());
    }

    /// Prints the table with a blank line before it; one without rows is left out.
    ///
    /// # Errors
    ///
    /// Those of the page.
    pub(crate) fn print_all(mut self, page: &mut Page<'_>) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        if self.labels {
            self.separate();
        }
        if page.take(|| self.grid()) {
            return Ok(());
        }
        let left_out = self.fit(page.width);
        for line in std::iter::once(String::new()).chain(self.table().lines()) {
            writeln!(page, "{}", line.trim_end())?;
        }
        match left_out.is_empty() {
            true => Ok(()),
            false => page.paragraph("", &format!("(no room for {})", left_out.join(", "))),
        }
    }

    /// [`Sheet::print_all`], and how many of `rows` are not there.
    ///
    /// # Errors
    ///
    /// Those of the page.
    pub(crate) fn print(self, rows: usize, page: &mut Page<'_>) -> io::Result<()> {
        let shown = self.rows.len();
        self.print_all(page)?;
        match rows.saturating_sub(shown) {
            0 => Ok(()),
            more => writeln!(
                page,
                "... and {} more (--top {rows} shows them)",
                count(more as u64)
            ),
        }
    }

    /// Prints at most so many rows, and how many more there are.
    ///
    /// # Errors
    ///
    /// Those of the page.
    pub(crate) fn print_first(mut self, most: usize, page: &mut Page<'_>) -> io::Result<()> {
        let all = self.rows.len();
        self.rows.truncate(most);
        self.print(all, page)
    }

    /// All of it, but for bars.
    fn grid(&self) -> Grid {
        let shown = || self.kinds.iter().map(|kind| *kind != Kind::Bar);
        let kinds = self.kinds.iter().map(|kind| *kind == Kind::Number);
        let header = self.header.iter().cloned().zip(kinds).zip(shown());
        let row = |row: &Vec<String>| {
            let cells = row.iter().cloned().zip(shown());
            cells.filter(|cell| cell.1).map(|cell| cell.0).collect()
        };
        Grid {
            header: header.filter(|head| head.1).map(|head| head.0).collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }

    /// Whether it fits without a loss.
    pub(crate) fn fits(&self, width: usize) -> bool {
        self.total(&self.widths()) <= width
    }

    /// Makes columns of the parts of the labels.
    fn separate(&mut self) {
        let mut constructs = Vec::new();
        let mut places = Vec::new();
        for row in &mut self.rows {
            let (name, construct, place) = match row.first() {
                Some(label) => parts(label),
                None => continue,
            };
            row[0] = name;
            constructs.push(construct);
            places.push(place);
        }
        if constructs
            .iter()
            .any(|construct| construct != &constructs[0])
        {
            self.header.insert(1, "construct".to_owned());
            self.kinds.insert(1, Kind::Text);
            for (row, construct) in self.rows.iter_mut().zip(constructs) {
                row.insert(1, construct);
            }
        }
        if places.iter().any(|place| !place.is_empty()) {
            self.header.push("place".to_owned());
            self.kinds.push(Kind::Place);
            for (row, place) in self.rows.iter_mut().zip(places) {
                row.push(place);
            }
        }
    }

    fn widths(&self) -> Vec<usize> {
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let width = |at: usize| {
            let cells = lines().filter_map(|line| line.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        (0..self.header.len()).map(width).collect()
    }

    /// Two spaces lie between columns; the line below the header is one longer than the last one.
    fn total(&self, widths: &[usize]) -> usize {
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1) + 1
    }

    /// Makes text narrower and leaves columns out until the table fits. Returns the columns that are not there any more.
    fn fit(&mut self, width: usize) -> Vec<String> {
        let mut left_out: Vec<String> = Vec::new();
        let mut widths = self.narrowed(width, MIN_TEXT);
        for &name in LESS {
            // The first column says what a row is.
            while self.total(&widths) > width
                && let Some(at) = self.header.iter().skip(1).position(|head| head == name)
            {
                self.remove(at + 1);
                // A construct is in the section of its kind; what has no other place is named.
                if name != "construct" && !left_out.iter().any(|gone| gone == name) {
                    left_out.push(name.to_owned());
                }
                widths = self.narrowed(width, MIN_TEXT);
            }
        }
        if self.total(&widths) > width {
            widths = self.narrowed(width, LEAST_TEXT);
        }
        // Two numbers stay: without them a row says nothing.
        while self.total(&widths) > width
            && let numbers = self.numbers()
            && let Some(&at) = numbers.get(2..).and_then(<[usize]>::last)
        {
            left_out.push(self.header[at].clone());
            self.remove(at);
            widths = self.narrowed(width, LEAST_TEXT);
        }
        for line in std::iter::once(&mut self.header).chain(&mut self.rows) {
            for ((cell, &width), kind) in line.iter_mut().zip(&widths).zip(&self.kinds) {
                match kind {
                    _ if cell.chars().count() <= width => {}
                    Kind::Text => *cell = elide_middle(cell, width),
                    Kind::Place => *cell = elide_start(cell, width),
                    Kind::Number | Kind::Bar => {}
                }
            }
        }
        left_out
    }

    /// Places of the columns of numbers.
    fn numbers(&self) -> Vec<usize> {
        let kinds = self.kinds.iter().enumerate();
        kinds
            .filter(|(_, kind)| **kind == Kind::Number)
            .map(|(at, _)| at)
            .collect()
    }

    fn remove(&mut self, at: usize) {
        self.header.remove(at);
        self.kinds.remove(at);
        for row in &mut self.rows {
            if at < row.len() {
                row.remove(at);
            }
        }
    }

    /// The widths with text made narrower, the widest column first, but none narrower than `least`.
    fn narrowed(&self, width: usize, least: usize) -> Vec<usize> {
        let mut widths = self.widths();
        let mut total = self.total(&widths);
        let text = |kind: &Kind| matches!(kind, Kind::Text | Kind::Place);
        while total > width {
            let columns = widths.iter_mut().zip(&self.kinds);
            let widest = columns
                .filter(|(_, kind)| text(kind))
                .map(|(width, _)| width);
            let Some(widest) = widest.max().filter(|width| **width > least) else {
                break;
            };
            *widest -= 1;
            total -= 1;
        }
        widths
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table
            .set_content_arrangement(ContentArrangement::Disabled)
            .load_style(STYLE)
            .set_header(&self.header);
        for (kind, column) in self.kinds.iter().zip(table.column_iter_mut()) {
            column.set_padding((0, 1));
            column.set_cell_alignment(match kind {
                Kind::Number => CellAlignment::Right,
                _ => CellAlignment::Left,
            });
        }
        table.add_rows(&self.rows);
        table
    }
}

/// Name, construct and place of a label: of `main [omp task a.c:12]` they are `main`, `task` and `a.c:12`.
pub(crate) fn parts(label: &str) -> (String, String, String) {
    let whole = || (label.to_owned(), String::new(), String::new());
    let Some((name, inner)) = label.rsplit_once(" [") else {
        return whole();
    };
    let Some(inner) = inner.strip_suffix(']') else {
        return whole();
    };
    let (construct, place) = match inner.strip_prefix("omp ") {
        Some(rest) => rest.split_once(' ').unwrap_or((rest, "")),
        None => ("", inner),
    };
    (name.to_owned(), construct.to_owned(), place.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(sheet: Sheet, rows: usize, width: usize) -> String {
        let mut out = Vec::new();
        let mut page = Page::new(&mut out, width, MAX_ROWS, false);
        sheet.print(rows, &mut page).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn tables_keep_to_the_page_and_numbers_stay_whole() {
        for width in [60, 80, 120] {
            let mut sheet = Sheet::new(2, &["one", "two", "number"]);
            sheet.add_row(["a".repeat(80), "b".repeat(40), "123456789".into()]);
            let out = printed(sheet, 3, width);
            assert!(
                out.lines().all(|line| line.chars().count() <= width),
                "{out}"
            );
            assert!(out.contains("a…a") && out.contains("123456789"), "{out}");
            assert!(out.ends_with("... and 2 more (--top 3 shows them)\n"));
        }
    }

    #[test]
    fn columns_that_matter_least_go_first_and_are_named() {
        let header = ["task", "count", "total", "min", "mean", "max"];
        let row = [
            "a_function_of_a_library [omp task a_file.c:120]",
            "1 000",
            "1.00 s",
            "1.00 us",
            "1.00 ms",
            "2.00 ms",
        ];
        let out = |width| {
            let mut sheet = Sheet::of_places(1, &header);
            sheet.add_row(row.map(str::to_owned));
            printed(sheet, 1, width)
        };
        let narrow = out(68);
        assert!(narrow.ends_with("\n(no room for min)\n"), "{narrow}");
        assert!(
            narrow.contains("1.00 s") && narrow.contains("2.00 ms"),
            "{narrow}"
        );
        assert!(
            narrow.contains("a_function…a_library") && narrow.contains("a_file.c:120"),
            "{narrow}"
        );
        assert!(
            narrow.lines().all(|line| line.chars().count() <= 68),
            "{narrow}"
        );
        let narrower = out(62);
        assert!(
            narrower.ends_with("\n(no room for min, max)\n"),
            "{narrower}"
        );
        let wide = out(90);
        assert!(
            wide.contains(" a_file.c:120") && !wide.contains("no room"),
            "{wide}"
        );
    }

    #[test]
    fn the_construct_is_a_column_where_there_are_several() {
        let rows = [
            "f [omp task a.c:1 #2]",
            "g [omp parallel b.c:7]",
            "h",
            "0x17 [omp for]",
        ];
        let mut sheet = Sheet::of_places(1, &["in", "count"]);
        for row in rows {
            sheet.add_row([row.to_owned(), "7".to_owned()]);
        }
        let out = printed(sheet, 4, 80);
        let lines: Vec<_> = out.lines().skip(3).collect();
        assert_eq!(
            lines,
            [
                "f     task           7  a.c:1 #2",
                "g     parallel       7  b.c:7",
                "h                    7",
                "0x17  for            7"
            ]
        );
    }
}
