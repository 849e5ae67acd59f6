//! Writes the tables of traces without names: `write parquet|arrow|csv|json OUT DIR…`. What it takes is what tables cost without symbols.

use std::path::Path;

use instr_tables::files::{FileKind, write};
use instr_trace::Session;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, out, dirs @ ..] = arguments.as_slice() else {
        return Err("usage: write parquet|arrow|csv|json OUT DIR...".into());
    };
    let kind = match kind.as_str() {
        "parquet" => FileKind::Parquet,
        "arrow" => FileKind::Arrow,
        "arrow-mapped" => FileKind::Mapped,
        "csv" => FileKind::Csv,
        "json" => FileKind::Json,
        other => return Err(format!("unknown kind {other}").into()),
    };
    let session = Session::open(dirs)?;
    std::fs::create_dir(out)?;
    let stats = write(kind, &session, &[], Path::new(out), &mut |_, _| {})?;
    for (table, rows) in stats.rows {
        println!("{table}: {rows}");
    }
    Ok(())
}
