//! The line table of a unit, as rows by address.

use std::cmp::Ordering;

use gimli::ColumnType;

use crate::dwarf::Reader;

/// What a row says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    /// Distance from the sequence's start, bytes.
    delta: u32,
    /// Number in the unit's list of files.
    pub(crate) file: u32,
    /// From 1; 0 means that the code stands for no line.
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) discriminator: u32,
}

/// A stretch of addresses without a gap.
#[derive(Debug)]
struct Sequence {
    begin: u64,
    end: u64,
    /// Index of the first row, whose address is `begin`; the next sequence's first row ends this one's.
    first: usize,
    rows: usize,
}

/// The rows of a unit.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    sequences: Box<[Sequence]>,
    rows: Box<[Row]>,
}

type Program<'d> = gimli::IncompleteLineProgram<Reader<'d>>;

impl Lines {
    /// Runs a line program. Sequences that do not begin at code were dropped by the linker.
    pub(crate) fn read(
        program: &Program<'_>,
        holds_code: impl Fn(u64) -> bool,
    ) -> gimli::Result<Self> {
        let mut sequences: Vec<Sequence> = Vec::new();
        let mut all: Vec<Row> = Vec::with_capacity(1024);
        let (mut begin, mut first) = (0, 0);
        let mut rows = program.clone().rows();
        while let Some((_, row)) = rows.next_row()? {
            let address = row.address();
            let here = all.len() - first;
            if row.end_sequence() {
                if here > 0 && begin < address && holds_code(begin) {
                    sequences.push(Sequence {
                        begin,
                        end: address,
                        first,
                        rows: here,
                    });
                } else {
                    all.truncate(first);
                }
                first = all.len();
                continue;
            }
            if here == 0 {
                begin = address;
            }
            let distance = address.wrapping_sub(begin);
            let delta = u32::try_from(distance).unwrap_or_else(|_| {
                // More than 4 GiB, or backwards: the rest is a sequence of its own.
                if address > begin && here > 0 {
                    sequences.push(Sequence {
                        begin,
                        end: address,
                        first,
                        rows: here,
                    });
                    first = all.len();
                } else {
                    all.truncate(first);
                }
                begin = address;
                0
            });
            let new = Row {
                delta,
                file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
                line: row.line().map_or(0, |line| line.get() as u32),
                column: match row.column() {
                    ColumnType::LeftEdge => 0,
                    ColumnType::Column(column) => column.get() as u32,
                },
                discriminator: u32::try_from(row.discriminator()).unwrap_or(0),
            };
            match all[first..].last_mut() {
                // Of several rows for one instruction, the last counts.
                Some(last) if last.delta == delta => *last = new,
                _ => all.push(new),
            }
        }
        all.truncate(first);
        sequences.sort_by_key(|sequence| sequence.begin);
        Ok(Lines {
            sequences: sequences.into_boxed_slice(),
            rows: all.into_boxed_slice(),
        })
    }

    /// The row that an address belongs to.
    pub(crate) fn find(&self, address: u64) -> Option<&Row> {
        let at = self
            .sequences
            .binary_search_by(|sequence| {
                if address < sequence.begin {
                    Ordering::Greater
                } else if address >= sequence.end {
                    Ordering::Less
                } else {
                    Ordering::Equal
                }
            })
            .ok()?;
        let sequence = &self.sequences[at];
        let rows = &self.rows[sequence.first..sequence.first + sequence.rows];
        let distance = address - sequence.begin;
        let after = rows.partition_point(|row| u64::from(row.delta) <= distance);
        rows.get(after.checked_sub(1)?)
    }

    /// Begin and end of every sequence.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.sequences
            .iter()
            .map(|sequence| (sequence.begin, sequence.end))
    }

    /// Bytes that these take.
    pub(crate) fn size(&self) -> usize {
        size_of_val(&*self.rows) + size_of_val(&*self.sequences)
    }
}

/// Name of a file of a line table: absolute, or joined to the folder of the compilation.
pub(crate) fn file_name(
    sections: &gimli::Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
    index: u64,
) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let mut path = match &unit.comp_dir {
        Some(folder) => String::from_utf8_lossy(folder.slice()).into_owned(),
        None => String::new(),
    };
    let mut push = |value| {
        let text = sections.attr_string(unit, value).ok()?;
        push_path(&mut path, &String::from_utf8_lossy(text.slice()));
        Some(())
    };
    // Folder 0 is that of the compilation.
    if file.directory_index() != 0
        && let Some(folder) = file.directory(header)
    {
        push(folder)?;
    }
    push(file.path_name())?;
    Some(path)
}

/// Appends a path, or takes its place if it is absolute. Programs for Windows may be looked at too.
fn push_path(path: &mut String, part: &str) {
    let windows = |p: &str| p.starts_with('\\') || p.get(1..3) == Some(":\\");
    if part.starts_with('/') || part.get(1..3) == Some(":/") || windows(part) {
        path.clear();
    } else {
        let separator = if windows(path) { '\\' } else { '/' };
        if !path.is_empty() && !path.ends_with(separator) {
            path.push(separator);
        }
    }
    path.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_to_the_folder_of_the_compilation() {
        let join = |parts: &[&str]| {
            let mut path = String::new();
            parts.iter().for_each(|part| push_path(&mut path, part));
            path
        };
        assert_eq!(join(&["/build", "src", "a.c"]), "/build/src/a.c");
        assert_eq!(
            join(&["/build/", "/usr/include", "a.h"]),
            "/usr/include/a.h"
        );
        assert_eq!(join(&["C:\\build", "a.c"]), "C:\\build\\a.c");
        assert_eq!(join(&["", "a.c"]), "a.c");
    }
}
