//! Comma-separated values and JSON, an object a line.

use std::fs::File;
use std::io::{self, Write as _};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

use super::{Buffered, Part, buffered, close};
use crate::define::Table;

/// A value for people and parsers.
enum Cell<'a> {
    Missing,
    Int(i64),
    Real(f64),
    Flag(bool),
    Text(&'a str),
}

fn cell(column: &dyn Array, row: usize) -> Cell<'_> {
    if column.is_null(row) {
        return Cell::Missing;
    }
    match column.data_type() {
        DataType::Int64 => Cell::Int(column.as_primitive::<Int64Type>().value(row)),
        DataType::Int32 => Cell::Int(column.as_primitive::<Int32Type>().value(row).into()),
        DataType::Float64 => Cell::Real(column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => Cell::Flag(column.as_boolean().value(row)),
        _ => {
            let column = column.as_dictionary::<Int32Type>();
            let texts = column.values().as_string::<i32>();
            Cell::Text(texts.value(column.keys().value(row) as usize))
        }
    }
}

/// RFC 4180 with a header; what is missing is empty.
pub(super) struct Csv(csv::Writer<Buffered>);

impl Csv {
    pub(super) fn new(file: File, table: &Table) -> io::Result<Self> {
        let mut writer = csv::Writer::from_writer(buffered(file));
        writer.write_record(table.columns.iter().map(|column| column.name))?;
        Ok(Self(writer))
    }
}

impl Part for Csv {
    fn add(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let mut number = itoa::Buffer::new();
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                match cell(column, row) {
                    Cell::Missing => self.0.write_field("")?,
                    Cell::Int(value) => self.0.write_field(number.format(value))?,
                    Cell::Real(value) => self.0.write_field(value.to_string())?,
                    Cell::Flag(value) => {
                        self.0.write_field(if value { "true" } else { "false" })?
                    }
                    Cell::Text(text) => self.0.write_field(text)?,
                }
            }
            self.0.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        close(
            self.0
                .into_inner()
                .map_err(|error| io::Error::other(error.to_string()))?,
        )
    }
}

/// JSON lines; what is missing is `null`.
pub(super) struct Json {
    file: Buffered,
    table: &'static Table,
}

impl Json {
    pub(super) fn new(file: File, table: &'static Table) -> Self {
        Self {
            file: buffered(file),
            table,
        }
    }
}

impl Part for Json {
    fn add(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let mut number = itoa::Buffer::new();
        for row in 0..batch.num_rows() {
            let columns = self.table.columns.iter().zip(batch.columns());
            for (at, (column, values)) in columns.enumerate() {
                let before = if at == 0 { "{" } else { "," };
                write!(self.file, "{before}\"{}\":", column.name)?;
                match cell(values, row) {
                    Cell::Missing => self.file.write_all(b"null")?,
                    Cell::Int(value) => self.file.write_all(number.format(value).as_bytes())?,
                    Cell::Real(value) => serde_json::to_writer(&mut self.file, &value)?,
                    Cell::Flag(value) => serde_json::to_writer(&mut self.file, &value)?,
                    Cell::Text(text) => serde_json::to_writer(&mut self.file, text)?,
                }
            }
            self.file.write_all(b"}\n")?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        close(self.file)
    }
}
