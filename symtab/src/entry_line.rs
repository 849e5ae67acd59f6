//! The first line of a function's code.

use crate::dwarf::Dwarf;

/// A row of a line table.
pub(crate) struct Row {
    /// Base name or path of the file as written in the table; `None` means: the same as elsewhere in the function.
    pub(crate) file: Option<String>,
    pub(crate) line: u32,
    pub(crate) column: Option<u32>,
}

/// The first row at exactly `address`.
///
/// Optimized code has several rows at a function's first instruction: first that of the function, then those of the
/// statements the scheduler moved up. Look-ups take the last one, as binutils does; the directive's is the first.
pub(crate) fn first_row(dwarf: &Dwarf<'_>, address: u64) -> Option<Row> {
    let context = dwarf.context.as_ref()?;
    let unit = dwarf.finish(context.find_dwarf_and_unit(address))?;
    let mut rows = unit.line_program.clone()?.rows();
    while let Ok(Some((_, row))) = rows.next_row() {
        if row.address() == address && !row.end_sequence() {
            let line = u32::try_from(row.line()?.get()).ok()?;
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => u32::try_from(column.get()).ok()?,
            };
            return Some(Row {
                file: None,
                line,
                column: Some(column),
            });
        }
    }
    None
}
