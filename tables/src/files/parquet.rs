//! Parquet. Numbers are written as differences, texts by a dictionary; zstd takes the rest. Every reader since 2020 knows these.

use std::fs::File;
use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use super::{Buffered, Part, buffered, close, schema};
use crate::define::{Kind, Table};

/// Rows of a file.
pub(super) const ROWS: usize = 1 << 22;
/// Rows of a row group: what is kept in memory until it is complete, encoded.
const GROUP: usize = 1 << 19;
/// Of zstd: higher ones take longer than all else, and save little behind these encodings.
const LEVEL: i32 = 1;

/// A file.
pub(super) struct Writer(ArrowWriter<Buffered>);

impl Writer {
    pub(super) fn new(file: File, table: &Table) -> io::Result<Self> {
        let schema = Arc::new(schema::arrow_schema(table, false));
        let writer = ArrowWriter::try_new(buffered(file), schema, Some(properties(table)));
        writer.map(Self).map_err(plain)
    }
}

/// What all files have.
pub(crate) fn plain_properties() -> WriterPropertiesBuilder {
    let level = ZstdLevel::try_new(LEVEL).unwrap_or_default();
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by("instr".to_owned())
}

fn properties(table: &Table) -> WriterProperties {
    let mut properties = plain_properties()
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(GROUP));
    for column in table.columns {
        let path = ColumnPath::from(column.name);
        properties = match column.kind {
            Kind::Int | Kind::Small => properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            Kind::Real | Kind::Flag => properties.set_column_dictionary_enabled(path, false),
            // Every row group has nearly all of them: their least and largest would narrow nothing, and take long to find.
            Kind::Text => properties.set_column_statistics_enabled(path, EnabledStatistics::None),
        };
    }
    properties.build()
}

/// What the disk says, where it was the disk.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        other => io::Error::other(other),
    }
}

impl Part for Writer {
    fn add(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.0.write(batch).map_err(plain)
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        close(self.0.into_inner().map_err(plain)?)
    }
}
