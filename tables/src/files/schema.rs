//! A table's definition as a schema of Arrow, as JSON, and as views of DuckDB; and batches as Arrow has them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde_json::{Value, json};

use super::FileKind;
use crate::batch::{Batch, Data};
use crate::define::{Column, Kind, Table};
use crate::document::type_name;
use crate::tables::TABLES;
use crate::texts::Texts;

/// The schema of a table, with the unit and meaning of each column as its metadata. Without the column `process` where folders tell it.
#[must_use]
pub fn arrow_schema(table: &Table, with_process: bool) -> Schema {
    let columns = table.columns.iter().skip(usize::from(!with_process));
    let fields: Vec<Field> = columns.map(field).collect();
    let about = ("about".to_owned(), table.about.to_owned());
    Schema::new_with_metadata(fields, HashMap::from([about]))
}

fn field(column: &Column) -> Field {
    let kind = match column.kind {
        Kind::Int => DataType::Int64,
        Kind::Small => DataType::Int32,
        Kind::Real => DataType::Float64,
        Kind::Flag => DataType::Boolean,
        Kind::Text => DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into()),
    };
    let mut about = HashMap::from([("about".to_owned(), column.about.to_owned())]);
    if !column.unit.is_empty() {
        about.insert("unit".to_owned(), column.unit.to_owned());
    }
    Field::new(column.name, kind, column.nullable).with_metadata(about)
}

/// The columns that are there, as Arrow has them.
pub(super) fn record_batch(batch: Batch, texts: &mut Texts) -> RecordBatch {
    let with_process = batch.columns.first().is_some_and(Option::is_some);
    let schema: SchemaRef = Arc::new(arrow_schema(batch.table, with_process));
    let array = |data: Data| -> ArrayRef {
        match data {
            Data::Int(values) => Arc::new(values),
            Data::Small(values) => Arc::new(values),
            Data::Real(values) => Arc::new(values),
            Data::Flag(values) => Arc::new(values),
            Data::Text(keys) => Arc::new(texts.column(keys)),
        }
    };
    let columns = batch.columns.into_iter().flatten().map(array).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
    RecordBatch::try_new_with_options(schema, columns, &options)
        .expect("columns are those of the schema")
}

/// What `tables.json` says: the tables that were written, their columns and rows.
#[must_use]
pub fn description(kind: FileKind, rows: &[(&'static str, u64)]) -> Value {
    let column = |column: &Column| {
        json!({
            "name": column.name,
            "type": type_name(column.kind),
            "unit": column.unit,
            "nullable": column.nullable,
            "about": column.about,
        })
    };
    let table = |table: &&Table| {
        let rows = rows.iter().find(|(name, _)| *name == table.name);
        json!({
            "name": table.name,
            "about": table.about,
            "rows": rows.map_or(0, |(_, rows)| *rows),
            "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
        })
    };
    json!({
        "format": 1,
        "files": kind.ending(),
        "partitioned_by_process": kind.is_partitioned(),
        "time": "ns since the first event of all processes",
        "tables": TABLES.iter().map(table).collect::<Vec<_>>(),
    })
}

/// Views of DuckDB with the tables' names: what `instr query` understands, it understands then.
pub(super) fn views() -> String {
    let mut out = String::from("-- cd into this folder, then: duckdb -init duckdb.sql\n");
    for table in TABLES {
        let name = table.name;
        _ = writeln!(
            out,
            "CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet('{name}/*/*.parquet', hive_partitioning = true, hive_types = {{'process': INTEGER}});"
        );
    }
    out
}
