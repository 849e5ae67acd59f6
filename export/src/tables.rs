//! The documented tables as files: `instr-tables` makes them.

use std::path::Path;

use instr_tables::files::{FileKind, write};
use instr_trace::Error as TraceError;

use crate::error::Error;
use crate::format::{Input, Progress, Stats};

/// Fills the folder with files of this kind.
fn tables(
    kind: FileKind,
    input: &Input<'_>,
    folder: &Path,
    progress: &mut Progress<'_>,
) -> Result<Stats, Error> {
    let written = write(kind, input.session(), input.all_names(), folder, progress);
    let written = written.map_err(|error| match error {
        TraceError::Output(error) => Error::Output(error),
        other => other.into(),
    })?;
    let edges = |(table, _): &&(&str, u64)| *table == "edges";
    Ok(Stats {
        events: written.rows.iter().map(|(_, rows)| rows).sum(),
        flows: written.rows.iter().find(edges).map_or(0, |(_, rows)| *rows),
        damaged_streams: written.damaged_streams,
        ..Stats::default()
    })
}

macro_rules! writers {
    ($($name:ident: $kind:ident;)+) => {$(
        pub(super) fn $name(input: &Input<'_>, folder: &Path, progress: &mut Progress<'_>) -> Result<Stats, Error> {
            tables(FileKind::$kind, input, folder, progress)
        }
    )+};
}

writers! {
    parquet: Parquet;
    arrow: Arrow;
    mapped: Mapped;
    csv: Csv;
    json: Json;
}
