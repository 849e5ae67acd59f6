//! The first line of a function's code.

use crate::units::Open;

/// A row of a line table.
pub(crate) struct Row {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The first row at exactly `address`.
///
/// Optimized code has several rows at a function's first instruction: first that of the function, then those of the
/// statements the scheduler moved up. Look-ups take the last one, as binutils does; the directive's is the first.
pub(crate) fn first_row(open: &Open<'_>, address: u64) -> Option<Row> {
    let mut rows = open.unit.line_program.clone()?.rows();
    while let Ok(Some((_, row))) = rows.next_row() {
        if row.address() == address && !row.end_sequence() {
            let line = u32::try_from(row.line()?.get()).ok()?;
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => u32::try_from(column.get()).ok()?,
            };
            return Some(Row { line, column });
        }
    }
    None
}
