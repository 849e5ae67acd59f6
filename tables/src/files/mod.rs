//! Tables as files: a folder with a table each. Rows become files on a second thread, so that reading goes on meanwhile; memory is bounded by the batches
//! on their way and by what a file keeps until it is closed.

mod arrow;
mod parquet;
mod schema;
mod text;

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use arrow_array::RecordBatch;
use instr_trace::{Error, Names, Session};

use crate::batch::{Batch, Output};
use crate::define::Table;
use crate::tables::TABLES;
use crate::texts::Texts;

pub(crate) use parquet::plain_properties;
pub use schema::{arrow_schema, description};

/// Batches on their way to the other thread.
const WAITING: usize = 4;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Apache Parquet, compressed by zstd: `TABLE/process=N/part-0000.parquet`.
    Parquet,
    /// Arrow's file format (Feather 2), compressed by zstd, in the same layout.
    Arrow,
    /// The same without compression: readers map it into memory and copy nothing.
    Mapped,
    /// Comma-separated values: `TABLE.csv`.
    Csv,
    /// An object a line: `TABLE.jsonl`.
    Json,
}

impl FileKind {
    /// The ending of its files.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow | Self::Mapped => "arrow",
            Self::Csv => "csv",
            Self::Json => "jsonl",
        }
    }

    /// Whether a table is a folder with parts for each process, which its rows do not name themselves.
    #[must_use]
    pub fn is_partitioned(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow | Self::Mapped)
    }
}

/// What was written: rows by table, in the order of [`TABLES`].
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Table and rows.
    pub rows: Vec<(&'static str, u64)>,
    /// Streams of the kernel's part that are damaged or cut.
    pub damaged_streams: u64,
}

/// Writes all tables of a session into the folder `dir`, which is there and empty. `names` are the symbols of each process; missing ones leave addresses.
/// `progress` is called now and then with (done, total).
///
/// # Errors
///
/// Stream files that cannot be read any more, and files that cannot be written ([`Error::Io`] and [`Error::Output`]).
pub fn write<'a>(
    kind: FileKind,
    session: &'a Session,
    names: &'a [Box<dyn Names + 'a>],
    dir: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Stats, Error> {
    let (sender, receiver) = sync_channel(WAITING);
    thread::scope(|scope| {
        let files = scope.spawn(move || Files::new(kind, dir).take_all(&receiver));
        let mut to = Sending {
            sender,
            with_process: !kind.is_partitioned(),
            damaged_streams: 0,
        };
        let read = crate::read(session, names, Texts::default(), &mut to, progress);
        let damaged_streams = to.damaged_streams;
        drop(to);
        let written = files
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Why no more could be sent is what the other thread says.
        let written = written.map_err(Error::Output)?;
        read?;
        finish(kind, dir, &written).map_err(Error::Output)?;
        Ok(Stats {
            rows: written,
            damaged_streams,
        })
    })
}

/// Writes what describes the files.
fn finish(kind: FileKind, dir: &Path, rows: &[(&'static str, u64)]) -> io::Result<()> {
    let mut about = serde_json::to_string_pretty(&description(kind, rows))?;
    about.push('\n');
    std::fs::write(dir.join("tables.json"), about)?;
    if kind == FileKind::Parquet {
        std::fs::write(dir.join("duckdb.sql"), schema::views())?;
    }
    Ok(())
}

/// What goes to the other thread.
enum Message {
    Rows {
        table: &'static Table,
        process: usize,
        batch: RecordBatch,
    },
    ProcessEnd(usize),
}

/// Takes rows here.
struct Sending {
    sender: SyncSender<Message>,
    with_process: bool,
    damaged_streams: u64,
}

impl Sending {
    fn send(&mut self, message: Message) -> io::Result<()> {
        let gone = |_| io::Error::other("the files cannot be written");
        self.sender.send(message).map_err(gone)
    }
}

impl Output for Sending {
    fn wants(&self, table: &Table) -> u64 {
        match self.with_process {
            true => table.all(),
            false => table.all() & !1,
        }
    }

    fn batch(&mut self, batch: Batch, texts: &mut Texts) -> io::Result<()> {
        let (table, process) = (batch.table, batch.process);
        let batch = schema::record_batch(batch, texts);
        self.send(Message::Rows {
            table,
            process,
            batch,
        })
    }

    fn damaged(&mut self, streams: u64) {
        self.damaged_streams += streams;
    }

    fn process_end(&mut self, process: usize) -> io::Result<()> {
        self.send(Message::ProcessEnd(process))
    }
}

/// A file that is being written.
trait Part {
    /// Appends rows.
    fn add(&mut self, batch: &RecordBatch) -> io::Result<()>;
    /// Writes what is missing.
    fn close(self: Box<Self>) -> io::Result<()>;
}

/// A file that is being written, and its rows.
type Open = (Box<dyn Part>, usize);

/// The files, on a thread of their own.
struct Files<'d> {
    kind: FileKind,
    dir: &'d Path,
    /// Open ones, by table and process, with their rows.
    open: BTreeMap<(&'static str, usize), Open>,
    /// How many parts there are, by table and process.
    parts: BTreeMap<(&'static str, usize), usize>,
    rows: BTreeMap<&'static str, u64>,
}

impl<'d> Files<'d> {
    fn new(kind: FileKind, dir: &'d Path) -> Self {
        Self {
            kind,
            dir,
            open: BTreeMap::new(),
            parts: BTreeMap::new(),
            rows: BTreeMap::new(),
        }
    }

    /// Writes all that comes, and returns how many rows each table has.
    fn take_all(mut self, messages: &Receiver<Message>) -> io::Result<Vec<(&'static str, u64)>> {
        for message in messages {
            match message {
                Message::Rows {
                    table,
                    process,
                    batch,
                } => self.add(table, process, &batch)?,
                Message::ProcessEnd(process) if self.kind.is_partitioned() => {
                    self.close(|(_, of)| *of == process)?;
                }
                Message::ProcessEnd(_) => {}
            }
        }
        for table in TABLES {
            if !self.rows.contains_key(table.name) {
                // Readers want to see its columns.
                let process = if self.kind.is_partitioned() {
                    0
                } else {
                    usize::MAX
                };
                let part = self.create(table, process)?;
                self.open.insert((table.name, process), (part, 0));
            }
        }
        self.close(|_| true)?;
        let rows = |table: &&'static Table| {
            let rows = self.rows.get(table.name).copied();
            (table.name, rows.unwrap_or(0))
        };
        Ok(TABLES.iter().map(rows).collect())
    }

    fn add(
        &mut self,
        table: &'static Table,
        process: usize,
        batch: &RecordBatch,
    ) -> io::Result<()> {
        *self.rows.entry(table.name).or_default() += batch.num_rows() as u64;
        // All processes share the files of text.
        let process = if self.kind.is_partitioned() {
            process
        } else {
            usize::MAX
        };
        let key = (table.name, process);
        if !self.open.contains_key(&key) {
            let part = self.create(table, process)?;
            self.open.insert(key, (part, 0));
        }
        let Some((part, rows)) = self.open.get_mut(&key) else {
            return Ok(());
        };
        part.add(batch).map_err(named(table.name))?;
        *rows += batch.num_rows();
        let most = match self.kind {
            FileKind::Parquet => parquet::ROWS,
            FileKind::Arrow | FileKind::Mapped => arrow::ROWS,
            FileKind::Csv | FileKind::Json => usize::MAX,
        };
        if *rows >= most
            && let Some((part, _)) = self.open.remove(&key)
        {
            part.close().map_err(named(table.name))?;
        }
        Ok(())
    }

    fn close(&mut self, which: impl Fn(&(&'static str, usize)) -> bool) -> io::Result<()> {
        let keys: Vec<_> = self.open.keys().copied().filter(|key| which(key)).collect();
        for key in keys {
            if let Some((part, _)) = self.open.remove(&key) {
                part.close().map_err(named(key.0))?;
            }
        }
        Ok(())
    }

    fn create(&mut self, table: &'static Table, process: usize) -> io::Result<Box<dyn Part>> {
        let ending = self.kind.ending();
        let path = match self.kind.is_partitioned() {
            true => {
                let parts = self.parts.entry((table.name, process)).or_default();
                let folder = format!("{}/process={process}", table.name);
                let path: PathBuf = [&folder, &format!("part-{:04}.{ending}", *parts)]
                    .iter()
                    .collect();
                *parts += 1;
                DirBuilder::new()
                    .recursive(true)
                    .create(self.dir.join(folder))?;
                path
            }
            false => format!("{}.{ending}", table.name).into(),
        };
        let path = self.dir.join(path);
        let file = File::create_new(&path).map_err(named(table.name))?;
        Ok(match self.kind {
            FileKind::Parquet => Box::new(parquet::Writer::new(file, table)?),
            FileKind::Arrow => Box::new(arrow::Writer::new(file, table, true)),
            FileKind::Mapped => Box::new(arrow::Writer::new(file, table, false)),
            FileKind::Csv => Box::new(text::Csv::new(file, table)?),
            FileKind::Json => Box::new(text::Json::new(file, table)),
        })
    }
}

/// A file with a buffer.
type Buffered = BufWriter<File>;

fn buffered(file: File) -> Buffered {
    BufWriter::with_capacity(1 << 18, file)
}

fn close(mut file: Buffered) -> io::Result<()> {
    file.flush()
}

/// Says of which table the file is.
fn named(table: &'static str) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{table}: {error}"))
}
