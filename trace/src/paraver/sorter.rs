//! Communications in the order in which they were sent: sorted on disk when they are many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use crate::error::Error;
use crate::new_file;

/// Records sorted in memory at a time (48 bytes each); as many are on their way to a file.
const RUN: usize = 1 << 18;
const RECORD: usize = 41;

/// One communication; ordered by the time it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Communication {
    pub(super) send: u64,
    pub(super) receive: u64,
    pub(super) from: u32,
    pub(super) to: u32,
    /// Processors of both ends.
    pub(super) on: [u32; 2],
    pub(super) depend: bool,
    /// Number of the task that begins.
    pub(super) task: u64,
}

impl Communication {
    fn write(&self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        bytes[..8].copy_from_slice(&self.send.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.receive.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.from.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.to.to_le_bytes());
        bytes[24] = u8::from(self.depend);
        bytes[25..33].copy_from_slice(&self.task.to_le_bytes());
        bytes[33..37].copy_from_slice(&self.on[0].to_le_bytes());
        bytes[37..41].copy_from_slice(&self.on[1].to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8; RECORD]) -> Self {
        let u32 = |at: usize| {
            bytes[at..]
                .first_chunk()
                .map_or(0, |raw| u32::from_le_bytes(*raw))
        };
        let u64 = |at: usize| {
            bytes[at..]
                .first_chunk()
                .map_or(0, |raw| u64::from_le_bytes(*raw))
        };
        Self {
            send: u64(0),
            receive: u64(8),
            from: u32(16),
            to: u32(20),
            on: [u32(33), u32(37)],
            depend: bytes[24] != 0,
            task: u64(25),
        }
    }
}

/// Sorts records and writes them on a thread of its own.
type Spill = JoinHandle<std::io::Result<(File, Vec<Communication>)>>;

/// External sort in bounded memory.
pub(super) struct Sorter {
    dir: PathBuf,
    records: Vec<Communication>,
    runs: Vec<File>,
    spill: Option<Spill>,
}

impl Sorter {
    /// Runs go to unnamed files in `dir`.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            records: Vec::new(),
            runs: Vec::new(),
            spill: None,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, record: Communication) -> Result<(), Error> {
        self.records.push(record);
        if self.records.len() >= RUN {
            self.spill()
                .map_err(Error::io("write a temporary file in", &self.dir))
        } else {
            Ok(())
        }
    }

    #[cold]
    fn spill(&mut self) -> std::io::Result<()> {
        let empty = self.spilled()?;
        let mut records = std::mem::replace(&mut self.records, empty);
        let file = tempfile::tempfile_in(&self.dir).map_err(new_file::plain)?;
        self.spill = Some(std::thread::spawn(move || {
            records.sort_unstable();
            let mut out = BufWriter::with_capacity(1 << 18, file);
            for record in records.drain(..) {
                out.write_all(&record.write())?;
            }
            let mut file = out
                .into_inner()
                .map_err(std::io::IntoInnerError::into_error)?;
            file.rewind()?;
            Ok((file, records))
        }));
        Ok(())
    }

    /// Waits for the last run; gives its memory.
    fn spilled(&mut self) -> std::io::Result<Vec<Communication>> {
        let Some(spill) = self.spill.take() else {
            return Ok(Vec::new());
        };
        let gone = |_| std::io::Error::other("the sorting thread is gone");
        let (file, records) = spill.join().map_err(gone)??;
        self.runs.push(file);
        Ok(records)
    }

    /// All records in order.
    pub(super) fn sorted(mut self) -> Result<Sorted, Error> {
        self.records.sort_unstable();
        self.records.reverse();
        self.spilled()
            .map_err(Error::io("write a temporary file in", &self.dir))?;
        let mut sorted = Sorted {
            dir: self.dir,
            rest: self.records,
            runs: Vec::new(),
            heap: BinaryHeap::new(),
        };
        for run in self.runs {
            let mut run = BufReader::with_capacity(1 << 16, run);
            if let Some(first) = read(&mut run, &sorted.dir)? {
                sorted.heap.push(Reverse((first, sorted.runs.len())));
            }
            sorted.runs.push(run);
        }
        Ok(sorted)
    }
}

/// Sorted communications, from memory and runs.
pub(super) struct Sorted {
    dir: PathBuf,
    /// Those of the last run, last first.
    rest: Vec<Communication>,
    runs: Vec<BufReader<File>>,
    heap: BinaryHeap<Reverse<(Communication, usize)>>,
}

fn read(run: &mut BufReader<File>, dir: &Path) -> Result<Option<Communication>, Error> {
    let mut bytes = [0; RECORD];
    match run.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(Communication::read(&bytes))),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(Error::io("read a temporary file in", dir)(error)),
    }
}

impl Sorted {
    /// The next one; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Communication>, Error> {
        let last = self.rest.last().copied();
        let taken = match self.heap.peek_mut() {
            Some(mut top) if last.is_none_or(|last| top.0.0 < last) => {
                let Reverse((record, run)) = *top;
                match read(&mut self.runs[run], &self.dir)? {
                    Some(next) => top.0.0 = next,
                    None => _ = PeekMut::pop(top),
                }
                Some(record)
            }
            _ => self.rest.pop(),
        };
        Ok(taken)
    }
}
