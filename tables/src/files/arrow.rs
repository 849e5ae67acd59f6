//! Arrow's file format. A file has one dictionary for each column of texts, so that every reader takes it; so its rows are kept until it is closed.

use std::fs::File;
use std::io;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array as _, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType};
use hashbrown::HashMap;

use super::{Part, buffered, close, schema};
use crate::define::Table;

/// Rows of a file.
pub(super) const ROWS: usize = 1 << 18;

/// A file.
pub(super) struct Writer {
    file: File,
    table: &'static Table,
    compressed: bool,
    batches: Vec<RecordBatch>,
}

impl Writer {
    pub(super) fn new(file: File, table: &'static Table, compressed: bool) -> Self {
        Self {
            file,
            table,
            compressed,
            batches: Vec::new(),
        }
    }

    /// The columns of all batches, with the texts that are in them alone.
    fn compact(&self) -> Result<Vec<RecordBatch>, ArrowError> {
        let Some(first) = self.batches.first() else {
            return Ok(Vec::new());
        };
        let schema = first.schema();
        let mut columns: Vec<Vec<ArrayRef>> = self
            .batches
            .iter()
            .map(|batch| batch.columns().to_vec())
            .collect();
        for (at, field) in schema.fields().iter().enumerate() {
            if matches!(field.data_type(), DataType::Dictionary(..)) {
                let whole = columns
                    .iter()
                    .map(|batch| batch[at].clone())
                    .collect::<Vec<_>>();
                for (batch, column) in columns.iter_mut().zip(own_texts(&whole)?) {
                    batch[at] = column;
                }
            }
        }
        let batch = |columns| RecordBatch::try_new(schema.clone(), columns);
        columns.into_iter().map(batch).collect()
    }
}

/// The same columns with one dictionary, which has their texts in the order in which they come.
///
/// # Errors
///
/// Texts of more than 2 GiB: a column cannot have them.
fn own_texts(columns: &[ArrayRef]) -> Result<Vec<ArrayRef>, ArrowError> {
    let mut known: HashMap<&str, i32> = HashMap::new();
    let (mut used, mut bytes) = (Vec::new(), 0_usize);
    let mut keys = Vec::with_capacity(columns.len());
    for column in columns {
        let column = column.as_dictionary::<Int32Type>();
        let texts = column.values().as_string::<i32>();
        let mut numbers: Vec<Option<i32>> = vec![None; texts.len()];
        let mut number = |key: i32| {
            let key = key as usize;
            *numbers[key].get_or_insert_with(|| {
                let text = texts.value(key);
                *known.entry(text).or_insert_with(|| {
                    bytes += text.len();
                    used.push(text);
                    used.len() as i32 - 1
                })
            })
        };
        let own = column.keys().iter().map(|key| key.map(&mut number));
        keys.push(own.collect::<Int32Array>());
    }
    if i32::try_from(bytes).is_err() {
        let what = "the texts of a column take more than 2 GiB; parquet has no such limit";
        return Err(ArrowError::InvalidArgumentError(what.to_owned()));
    }
    let values = Arc::new(StringArray::from_iter_values(used));
    let column = |keys| Arc::new(DictionaryArray::new(keys, values.clone())) as ArrayRef;
    Ok(keys.into_iter().map(column).collect())
}

impl Part for Writer {
    fn add(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.batches.push(batch.clone());
        Ok(())
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        let batches = self.compact().map_err(plain)?;
        let schema = schema::arrow_schema(self.table, false);
        let compression = self.compressed.then_some(CompressionType::ZSTD);
        let options = IpcWriteOptions::default().try_with_compression(compression);
        let options = options.map_err(plain)?;
        let file = buffered(self.file);
        let mut writer = FileWriter::try_new_with_options(file, &schema, options).map_err(plain)?;
        for batch in batches {
            writer.write(&batch).map_err(plain)?;
        }
        close(writer.into_inner().map_err(plain)?)
    }
}

/// What the disk says, where it was the disk.
fn plain(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}
