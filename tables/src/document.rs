//! `docs/tables.md`, made from the definitions.

use std::fmt::Write as _;

use crate::define::{Column, Kind, Table};
use crate::tables::TABLES;

/// What stands in front of the tables.
const HEAD: &str = "# Tables

<!-- Written by `make golden` from the definitions in `tables/src/tables.rs`. -->

`instr query` asks these tables by SQL ([query](query.md)); `instr export --format parquet` (or `arrow`, `csv`, `json`) writes them to files ([export](export.md)):

```
instr query app.instr \"SELECT name, count(*), sum(work_ns) FROM tasks GROUP BY name\"
instr export app.instr --format parquet -o app.tables
```

* Times (`…_ns`) are nanoseconds since the first event of all processes.
* `process` and `thread` are small numbers: the rows of `processes` and `threads` have their names. A thread's number is one of its process.
* A task and a region have a number in their process that all tables share: `tasks.task`, `spans.task` and `edges.to_task` are the same number.
* What is not known has no value (`NULL`).
* Code is named by four columns: `name` for people, and `function`, `file` and `line`. Addresses are those in the process; they are whole numbers.

";

/// The word for a kind in the document and in `tables.json`.
#[must_use]
pub fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Int => "int64",
        Kind::Small => "int32",
        Kind::Real => "double",
        Kind::Flag => "boolean",
        Kind::Text => "string",
    }
}

/// The whole document.
#[must_use]
pub fn text() -> String {
    let mut out = HEAD.to_owned();
    let links = TABLES
        .iter()
        .map(|table| format!("[{0}](#{0})", table.name));
    let links: Vec<_> = links.collect();
    _ = writeln!(out, "Tables: {}.", links.join(" · "));
    TABLES.iter().for_each(|table| one(table, &mut out));
    out
}

fn one(table: &Table, out: &mut String) {
    _ = write!(
        out,
        "\n## {}\n\n{}\n\n| column | type | unit | may be missing | meaning |\n|---|---|---|---|---|\n",
        table.name, table.about
    );
    for Column {
        name,
        kind,
        unit,
        nullable,
        about,
    } in table.columns
    {
        let missing = if *nullable { "yes" } else { "" };
        let kind = type_name(*kind);
        _ = writeln!(out, "| `{name}` | {kind} | {unit} | {missing} | {about} |");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `INSTR_GOLDEN=1` writes the document.
    #[test]
    fn the_document_is_that_of_the_definitions() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tables.md");
        if std::env::var_os("INSTR_GOLDEN").is_some() {
            std::fs::write(&path, text()).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == text(),
            "docs/tables.md is not current: make golden writes it"
        );
    }

    #[test]
    fn every_table_and_column_says_what_it_is_in_a_sentence() {
        for table in TABLES {
            assert!(table.about.ends_with('.'), "{}", table.name);
            assert_eq!(table.columns[0].name, "process", "{}", table.name);
            assert!(table.columns.len() < 64, "{}", table.name);
            for column in table.columns {
                assert!(
                    column.about.ends_with('.') && column.about.len() > 3,
                    "{}.{}",
                    table.name,
                    column.name
                );
                assert_eq!(
                    column.unit == "ns",
                    column.name.ends_with("_ns"),
                    "{}.{}",
                    table.name,
                    column.name
                );
                let same = table
                    .columns
                    .iter()
                    .filter(|other| other.name == column.name);
                assert_eq!(same.count(), 1, "{}.{}", table.name, column.name);
            }
        }
    }
}
