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

/// The rows as a Markdown table with aligned columns.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut lines = vec![["what", "goal", "measured", "verdict", "beside it"]];
    lines.extend(rows.iter().map(Row::cells));
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2), width(3), 0];

    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(widths) {
            let _ = write!(text, "| {cell:<width$} ");
        }
        text.push_str("|\n");
        if number == 0 {
            text.push_str("|---|---|---|---|---|\n");
        }
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
}
