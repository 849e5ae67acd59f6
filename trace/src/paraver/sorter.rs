//! Communications in the order in which they were sent: sorted on disk when they are many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Records sorted in memory at a time (48 bytes each).
const RUN: usize = 1 << 19;
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

/// External sort in bounded memory.
pub(super) struct Sorter {
    dir: PathBuf,
    records: Vec<Communication>,
    runs: Vec<File>,
}

impl Sorter {
    /// Runs go to unnamed files in `dir`.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            records: Vec::new(),
            runs: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, record: Communication) -> Result<(), Error> {
        self.records.push(record);
        if self.records.len() >= RUN {
            self.spill()
                .map_err(Error::io("write a temporary file in", &self.dir))
        } else {
            Ok(())
        }
    }

    fn spill(&mut self) -> std::io::Result<()> {
        self.records.sort_unstable();
        let mut out = BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(&self.dir)?);
        for record in self.records.drain(..) {
            out.write_all(&record.write())?;
        }
        let mut file = out
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        file.rewind()?;
        self.runs.push(file);
        Ok(())
    }

    /// All records in order.
    pub(super) fn sorted(mut self) -> Result<Sorted, Error> {
        self.records.sort_unstable();
        self.records.reverse();
        let mut sorted = Sorted {
            dir: self.dir,
            rest: self.records,
            runs: Vec::new(),
            heap: BinaryHeap::new(),
        };
        for run in self.runs {
            sorted.runs.push(BufReader::with_capacity(1 << 16, run));
            sorted.refill(sorted.runs.len() - 1)?;
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

impl Sorted {
    fn refill(&mut self, run: usize) -> Result<(), Error> {
        let mut bytes = [0; RECORD];
        match self.runs[run].read_exact(&mut bytes) {
            Ok(()) => self.heap.push(Reverse((Communication::read(&bytes), run))),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {}
            Err(error) => return Err(Error::io("read a temporary file in", &self.dir)(error)),
        }
        Ok(())
    }

    /// The next one, if it was sent at `time` or before.
    #[inline]
    pub(super) fn next_until(&mut self, time: u64) -> Result<Option<Communication>, Error> {
        let on_disk = self.heap.peek().map(|Reverse((record, _))| *record);
        let Some(first) = [self.rest.last().copied(), on_disk]
            .into_iter()
            .flatten()
            .min()
        else {
            return Ok(None);
        };
        if first.send > time {
            return Ok(None);
        }
        if Some(first) == on_disk {
            if let Some(Reverse((_, run))) = self.heap.pop() {
                self.refill(run)?;
            }
        } else {
            self.rest.pop();
        }
        Ok(Some(first))
    }
}
