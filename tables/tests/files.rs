//! Files of all kinds: as many rows as the trace has, the same bytes each time, whatever the size of batches. What other readers make of them is tested end to end.

use std::collections::BTreeMap;
use std::path::Path;

use instr_tables::files::{FileKind, write};
use instr_tables::{Batch, Output, ROWS, Table, Texts};
use instr_trace::Session;
use instr_trace::synth;

const KINDS: [FileKind; 5] = [
    FileKind::Parquet,
    FileKind::Arrow,
    FileKind::Mapped,
    FileKind::Csv,
    FileKind::Json,
];

/// User events of two threads, more than a batch.
const EVENTS: u64 = 3 * ROWS as u64 / 2;

fn trace(dir: &Path) -> Session {
    synth::user_events(dir, synth::layouts()[2], 2, EVENTS, 10).unwrap();
    Session::open(&[dir]).unwrap()
}

/// Bytes of all files below a folder, by path.
fn all(dir: &Path, below: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all(&path, below, found),
            false => {
                let name = path.strip_prefix(below).unwrap().display().to_string();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
}

fn written(kind: FileKind, session: &Session) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let stats = write(kind, session, &[], folder.path(), &mut |_, _| {}).unwrap();
    let events = stats.rows.iter().find(|(table, _)| *table == "events");
    assert_eq!(events, Some(&("events", EVENTS)), "{kind:?}");
    let mut found = BTreeMap::new();
    all(folder.path(), folder.path(), &mut found);
    found
}

#[test]
fn files_are_the_same_each_time_and_lie_where_the_document_says() {
    let folder = tempfile::tempdir().unwrap();
    let session = trace(folder.path());
    for kind in KINDS {
        let (first, second) = (written(kind, &session), written(kind, &session));
        assert!(first == second, "{kind:?}");
        let file = match kind.is_partitioned() {
            true => format!("events/process=0/part-0000.{}", kind.ending()),
            false => format!("events.{}", kind.ending()),
        };
        assert!(first.contains_key(&file), "{:?}", first.keys());
        let tables: serde_json::Value = serde_json::from_slice(&first["tables.json"]).unwrap();
        assert_eq!(tables["tables"][2]["rows"], EVENTS);
    }
}

#[test]
fn text_has_a_line_for_each_row() {
    let folder = tempfile::tempdir().unwrap();
    let session = trace(folder.path());
    let csv = String::from_utf8(written(FileKind::Csv, &session)["events.csv"].clone()).unwrap();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some("process,thread,time_ns,kind,name,number,value,value_end,task,object")
    );
    let (mut sum, mut count) = (0u64, 0u64);
    for line in lines {
        let cells: Vec<_> = line.split(',').collect();
        assert_eq!((cells[0], cells[3], cells[4]), ("0", "user event", ""));
        sum += cells[6].parse::<u64>().unwrap();
        count += 1;
    }
    assert_eq!(count, EVENTS);
    let json =
        String::from_utf8(written(FileKind::Json, &session)["events.jsonl"].clone()).unwrap();
    let values = json
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let other: u64 = values.map(|row| row["value"].as_u64().unwrap()).sum();
    assert_eq!(sum, other);
}

/// Counts cells.
struct Count {
    table: &'static str,
    columns: u64,
    cells: usize,
}

impl Output for Count {
    fn wants(&self, table: &Table) -> u64 {
        if table.name == self.table {
            self.columns
        } else {
            0
        }
    }

    fn batch(&mut self, batch: Batch, _texts: &mut Texts) -> std::io::Result<()> {
        assert_eq!(batch.table.name, self.table);
        assert!(batch.rows <= ROWS);
        self.cells += batch.rows * batch.columns.iter().flatten().count();
        Ok(())
    }
}

#[test]
fn only_what_is_wanted_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let session = trace(folder.path());
    for (table, columns, cells) in [
        ("events", 0b100, EVENTS as usize),
        ("threads", 0b1011, 6),
        ("tasks", 1, 0),
    ] {
        let mut count = Count {
            table,
            columns,
            cells: 0,
        };
        instr_tables::read(&session, &[], Texts::default(), &mut count, &mut |_, _| {}).unwrap();
        assert_eq!(count.cells, cells, "{table}");
    }
}

#[test]
fn an_output_that_fails_ends_the_reading() {
    let folder = tempfile::tempdir().unwrap();
    let session = trace(folder.path());
    let gone = folder.path().join("gone");
    let error = write(
        FileKind::Parquet,
        &session,
        &[],
        &gone.join("x\0"),
        &mut |_, _| {},
    );
    assert!(error.is_err());
}
