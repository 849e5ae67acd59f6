//! A table whose columns are not those of a trace, as Parquet.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;

use crate::files::plain_properties;

/// Rows that are encoded at once.
const BATCH: usize = 1 << 16;

/// What a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers from 0 on.
    Int,
    /// Numbers.
    Real,
    /// Text.
    Text,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// There is none.
    Missing,
    /// Of [`Kind::Int`].
    Int(u64),
    /// Of [`Kind::Real`].
    Real(f64),
    /// Of [`Kind::Text`].
    Text(Cow<'a, str>),
}

/// A table in memory, encoded as it grows.
pub struct Frame {
    schema: Arc<Schema>,
    columns: Vec<Column>,
    rows: usize,
    writer: ArrowWriter<Vec<u8>>,
}

enum Column {
    Int(UInt64Builder),
    Real(Float64Builder),
    Text(StringBuilder),
}

impl Column {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Int => Self::Int(UInt64Builder::new()),
            Kind::Real => Self::Real(Float64Builder::new()),
            Kind::Text => Self::Text(StringBuilder::new()),
        }
    }

    /// A value of another kind is missing.
    fn add(&mut self, cell: &Cell<'_>) {
        match (self, cell) {
            (Self::Int(to), Cell::Int(value)) => to.append_value(*value),
            (Self::Real(to), Cell::Real(value)) => to.append_value(*value),
            (Self::Text(to), Cell::Text(text)) => to.append_value(text),
            (Self::Int(to), _) => to.append_null(),
            (Self::Real(to), _) => to.append_null(),
            (Self::Text(to), _) => to.append_null(),
        }
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Int(from) => Arc::new(from.finish()),
            Self::Real(from) => Arc::new(from.finish()),
            Self::Text(from) => Arc::new(from.finish()),
        }
    }
}

impl Frame {
    /// A table with these columns and no row.
    ///
    /// # Errors
    ///
    /// Columns that Parquet does not have.
    pub fn new<'n>(columns: impl Iterator<Item = (&'n str, Kind)>) -> Result<Self, ParquetError> {
        let columns: Vec<(&str, Kind)> = columns.collect();
        let field = |(name, kind): &(&str, Kind)| {
            let data = match kind {
                Kind::Int => DataType::UInt64,
                Kind::Real => DataType::Float64,
                Kind::Text => DataType::Utf8,
            };
            Field::new(*name, data, true)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let properties = plain_properties().build();
        Ok(Self {
            columns: columns.iter().map(|(_, kind)| Column::of(*kind)).collect(),
            writer: ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?,
            schema,
            rows: 0,
        })
    }

    /// Adds a row: a value for each column.
    ///
    /// # Errors
    ///
    /// What Parquet cannot encode.
    pub fn add(&mut self, row: &[Cell<'_>]) -> Result<(), ParquetError> {
        let both = self.columns.iter_mut().zip(row);
        both.for_each(|(column, cell)| column.add(cell));
        self.rows += 1;
        match self.rows.is_multiple_of(BATCH) {
            true => self.encode(),
            false => Ok(()),
        }
    }

    fn encode(&mut self) -> Result<(), ParquetError> {
        let columns = self.columns.iter_mut().map(Column::take).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns)?;
        self.writer.write(&batch)
    }

    /// The file.
    ///
    /// # Errors
    ///
    /// What Parquet cannot encode.
    pub fn finish(mut self) -> Result<Vec<u8>, ParquetError> {
        self.encode()?;
        self.writer.into_inner()
    }
}
