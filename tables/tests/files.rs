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

/// Regions with names of 5 KB, of which more than one batch's dictionary has some: each row keeps its own name.
#[test]
fn long_texts_are_kept_in_batches_of_their_own() {
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::Int32Type;
    const NAMES: u64 = 400;
    let rows = ROWS as u64 + 5_000;
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[2];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut stream = synth::StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
    let mut at = synth::START_TICKS;
    stream.thread_begin(at, 4000, 1).unwrap();
    let name = |number: u64| format!("{number}-{}", "x".repeat(5000));
    for number in 0..NAMES {
        stream
            .string(at, &name(number), 0x10_0000 + number)
            .unwrap();
    }
    for number in 0..rows {
        at += 10;
        stream.region_begin(at, 0x10_0000 + number % NAMES).unwrap();
        stream.region_end(at + 5).unwrap();
    }
    stream.thread_end(at + 10).unwrap();
    stream.finish().unwrap();
    let session = Session::open(&[dir.path()]).unwrap();
    for kind in [FileKind::Mapped, FileKind::Arrow] {
        let folder = tempfile::tempdir().unwrap();
        write(kind, &session, &[], folder.path(), &mut |_, _| {}).unwrap();
        let mut files = BTreeMap::new();
        all(folder.path(), folder.path(), &mut files);
        let mut seen = 0;
        for (file, bytes) in files {
            if !file.starts_with("spans/") {
                continue;
            }
            let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(bytes), None);
            for batch in reader.unwrap() {
                let batch = batch.unwrap();
                let begins = batch.column_by_name("begin_ns").unwrap();
                let begins = begins.as_primitive::<arrow_array::types::Int64Type>();
                let names = batch.column_by_name("name").unwrap();
                let names = names.as_dictionary::<Int32Type>();
                let texts = names.values().as_string::<i32>();
                for (begin, key) in begins.values().iter().zip(names.keys().values()) {
                    let Some(number) = (begin / 10).checked_sub(1) else {
                        continue; // the thread
                    };
                    let text = texts.value(*key as usize);
                    if let Some((first, rest)) = text.split_once("-xx") {
                        assert_eq!(first, (number as u64 % NAMES).to_string(), "{file}");
                        assert_eq!(rest.len(), 4998);
                        seen += 1;
                    }
                }
            }
        }
        assert_eq!(seen, rows, "{kind:?}");
    }
}

/// The launcher recorded sums only: then the rows are those that the threads recorded themselves.
#[test]
fn switches_are_the_threads_own_where_the_launcher_has_none() {
    use instr_trace::kernel::{Info, Recorded, write_info};
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[2];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut stream = synth::StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
    let begin = synth::START_TICKS;
    stream.thread_begin(begin, 4000, 1).unwrap();
    stream.thread_end(begin + 100).unwrap();
    stream.finish().unwrap();
    let file = std::fs::File::create(dir.path().join("switches_0000")).unwrap();
    let mut own = synth::StreamWriter::new(file, layout, 1 << 31, 1 << 16);
    // Runs on processor 3, is blocked, runs.
    for (at, state) in [(10, 3u32), (50, 1), (90, 3), (95, 4)] {
        own.scheduled(begin + at, state, 3).unwrap();
    }
    own.finish().unwrap();
    let kernel = dir.path().join("kernel");
    let rows = || {
        let session = Session::open(&[dir.path()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let stats = write(FileKind::Csv, &session, &[], folder.path(), &mut |_, _| {}).unwrap();
        let of = |(table, _): &&(&str, u64)| *table == "switches";
        stats.rows.iter().find(of).map_or(0, |(_, rows)| *rows)
    };
    let own = rows();
    assert!(own > 0);
    std::fs::create_dir(&kernel).unwrap();
    for (recorded, expected) in [(Recorded::Sums, own), (Recorded::Tree, 0)] {
        let info = Info {
            recorded,
            start_monotonic_ns: synth::START_MONOTONIC,
            ..Info::default()
        };
        write_info(&kernel, [1; 16], &info).unwrap();
        assert_eq!(rows(), expected, "{recorded:?}");
    }
}
