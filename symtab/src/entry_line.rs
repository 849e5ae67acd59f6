//! The line of the directive that an outlined function was made of.

use crate::units::Open;

/// A row of a line table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    /// Number of the file in the unit's line table.
    file: u64,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The rows at exactly the entry of an outlined function, in the table's order.
///
/// Optimized code has several: that of the function, which is the directive's, and those of statements that the scheduler
/// moved up. Look-ups take the last one, as binutils does. The directive's is mostly the first, but not always: GCC 12 writes
/// a nested task's line before that of its parallel region.
pub(crate) struct EntryRows(Vec<Row>);

impl EntryRows {
    /// The rows at `address`, in the unit that is open.
    pub(crate) fn at(open: &Open<'_>, address: u64) -> Self {
        let mut found = Vec::new();
        let Some(program) = open.unit.line_program.clone() else {
            return EntryRows(found);
        };
        let mut rows = program.rows();
        while let Ok(Some((_, row))) = rows.next_row() {
            if row.address() != address || row.end_sequence() {
                if found.is_empty() {
                    continue;
                }
                break;
            }
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
            };
            let line = row
                .line()
                .and_then(|line| u32::try_from(line.get()).ok())
                .unwrap_or(0);
            found.push(Row {
                file: row.file_index(),
                line,
                column,
            });
        }
        found.retain(|row| row.line != 0);
        EntryRows(found)
    }

    /// The row to believe when nothing more is known.
    pub(crate) fn first(&self) -> Option<Row> {
        self.0.first().copied()
    }

    /// The topmost row of the first one's file, if that is another one.
    pub(crate) fn higher(&self) -> Option<Row> {
        let first = self.first()?;
        let same_file = self.0.iter().filter(|row| row.file == first.file);
        let top = same_file.min_by_key(|row| row.line)?;
        (top.line < first.line).then_some(*top)
    }

    /// The directive's row, when the function it stands in begins with the rows `around`: statements of the directive's block stand
    /// below it, and what stands above the function belongs to something that was inlined.
    pub(crate) fn directive(&self, around: &EntryRows) -> Option<Row> {
        let first = self.first()?;
        let begin = around.0.iter().filter(|row| row.file == first.file);
        let begin = begin.map(|row| row.line).min()?;
        let inside = |row: &&Row| row.file == first.file && row.line >= begin;
        self.0
            .iter()
            .filter(inside)
            .min_by_key(|row| row.line)
            .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[(u64, u32)]) -> EntryRows {
        let row = |&(file, line)| Row {
            file,
            line,
            column: 1,
        };
        EntryRows(rows.iter().map(row).collect())
    }

    #[test]
    fn the_directive_stands_above_its_statements_and_below_its_function() {
        let function = rows(&[(1, 50), (1, 52)]);
        let line = |entry: &[(u64, u32)]| rows(entry).directive(&function).map(|row| row.line);
        assert_eq!(line(&[(1, 65), (1, 66), (1, 66)]), Some(65));
        assert_eq!(line(&[(1, 66), (1, 59), (1, 59)]), Some(59));
        // A function inlined into the block, from further up or from a header.
        assert_eq!(line(&[(1, 59), (1, 12), (2, 3)]), Some(59));
        assert_eq!(line(&[]), None);
        // The enclosing function is another file's: nothing to go by.
        assert_eq!(rows(&[(2, 7)]).directive(&function), None);
    }

    #[test]
    fn only_a_higher_line_is_in_doubt() {
        assert_eq!(rows(&[(1, 65), (1, 66)]).higher(), None);
        let higher = rows(&[(1, 66), (2, 3), (1, 59)]).higher();
        assert_eq!(higher.map(|row| row.line), Some(59));
    }
}
