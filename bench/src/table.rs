//! The result: rows of a Markdown table.

use std::fmt::Write as _;

/// One measured quantity beside its goal.
#[derive(Debug)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// The goal as text; empty when the row only informs.
    pub(crate) goal: String,
    /// The result with its unit.
    pub(crate) measured: String,
    /// Whether the goal is met; `None` when there is no goal.
    pub(crate) met: Option<bool>,
    /// Spread, floor, sizes: what one needs to judge the figure.
    pub(crate) note: String,
}

impl Row {
    /// A row with a goal of the form "at most `limit`". What is judged is the figure as it is shown.
    pub(crate) fn at_most(
        what: &str,
        limit: f64,
        unit: &str,
        value: f64,
        digits: usize,
        note: String,
    ) -> Self {
        Self::judged(
            what,
            format!("≤ {limit}{unit}"),
            format!("{value:.digits$}{unit}"),
            rounded(value, digits) <= limit,
            note,
        )
    }

    /// A row with a goal of the form "at least `limit`".
    pub(crate) fn at_least(
        what: &str,
        limit: f64,
        unit: &str,
        value: f64,
        digits: usize,
        note: String,
    ) -> Self {
        Self::judged(
            what,
            format!("≥ {limit}{unit}"),
            format!("{value:.digits$}{unit}"),
            rounded(value, digits) >= limit,
            note,
        )
    }

    /// A row without a goal.
    pub(crate) fn info(what: &str, measured: String, note: String) -> Self {
        Self {
            what: what.to_owned(),
            goal: String::new(),
            measured,
            met: None,
            note,
        }
    }

    fn judged(what: &str, goal: String, measured: String, met: bool, note: String) -> Self {
        Self {
            what: what.to_owned(),
            goal,
            measured,
            met: Some(met),
            note,
        }
    }

    fn cells(&self) -> [&str; 5] {
        let verdict = match self.met {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "",
        };
        [&self.what, &self.goal, &self.measured, verdict, &self.note]
    }
}

/// `value` with `digits` decimals.
fn rounded(value: f64, digits: usize) -> f64 {
    let scale = 10f64.powi(i32::try_from(digits).unwrap_or(0));
    (value * scale).round() / scale
}

/// The rows as a Markdown table.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let lines: Vec<_> = rows
        .iter()
        .map(|row| row.cells().map(str::to_owned))
        .collect();
    aligned(
        ["what", "goal", "measured", "verdict", "beside it"],
        [Side::Left; 5],
        &lines,
    )
}

/// Where the text of a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl Side {
    /// What stands under the head of the column.
    const fn rule(self) -> &'static str {
        match self {
            Self::Left => "---",
            Self::Right => "---:",
        }
    }
}

/// A Markdown table whose columns are aligned in the text, too; the last one ends where it ends.
pub(crate) fn aligned<const N: usize>(
    head: [&str; N],
    sides: [Side; N],
    lines: &[[String; N]],
) -> String {
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        let rule = sides[column].rule().len();
        cells
            .chain([head[column].chars().count(), rule])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    let mut line = |cells: [&str; N]| {
        for (column, cell) in cells.into_iter().enumerate() {
            let width = widths[column];
            let _ = match sides[column] {
                Side::Left if column + 1 == N => write!(text, "| {cell} "),
                Side::Left => write!(text, "| {cell:<width$} "),
                Side::Right => write!(text, "| {cell:>width$} "),
            };
        }
        text.push_str("|\n");
    };
    line(head);
    line(sides.map(Side::rule));
    for cells in lines {
        line(std::array::from_fn(|column| cells[column].as_str()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_inclusive() {
        assert_eq!(
            Row::at_most("x", 2.0, "×", 2.0, 2, String::new()).met,
            Some(true)
        );
        assert_eq!(
            Row::at_most("x", 2.0, "×", 2.01, 2, String::new()).met,
            Some(false)
        );
        assert_eq!(
            Row::at_least("x", 8.0, " M/s", 7.9, 1, String::new()).met,
            Some(false)
        );
    }

    #[test]
    fn every_line_of_the_table_has_five_cells() {
        let rows = [
            Row::info("a", "1".into(), String::new()),
            Row::at_most("bb", 1.0, "", 3.0, 0, "n".into()),
        ];
        for line in markdown(&rows).lines() {
            assert_eq!(line.matches('|').count(), 6, "{line}");
        }
    }

    #[test]
    fn numbers_stand_right_and_words_left() {
        let lines = [
            ["a".to_owned(), "1".to_owned()],
            ["bbb".to_owned(), "100".to_owned()],
        ];
        assert_eq!(
            aligned(["x", "n"], [Side::Left, Side::Right], &lines),
            "| x   |    n |\n| --- | ---: |\n| a   |    1 |\n| bbb |  100 |\n"
        );
    }
}
