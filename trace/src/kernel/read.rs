//! Reads the part: all processors' events in order of time, with a packet of each in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use instr_schema::kernel::HEADER_BYTES;

use super::FOLDER;
use super::info::{Info, Recorded};
use super::record::Record;
use crate::error::Error;
use crate::packet::MAGIC;

/// The metadata is no longer.
const MAX_METADATA: u64 = 1 << 20;
/// Packets are no larger.
const MAX_PACKET: usize = 1 << 20;
/// Streams are no more.
const MAX_STREAMS: usize = 8192;

/// The kernel's part of a trace, opened.
#[derive(Debug)]
pub struct Part {
    info: Info,
    /// By number of the processor.
    streams: Vec<(u32, PathBuf)>,
    bytes: u64,
}

impl Part {
    /// Opens the part of the trace in `dir`; `None`: it has none.
    ///
    /// # Errors
    ///
    /// Metadata that cannot be read.
    pub fn of_trace(dir: &Path) -> Result<Option<Self>, Error> {
        let folder = dir.join(FOLDER);
        let is_there = folder
            .symlink_metadata()
            .is_ok_and(|status| status.is_dir());
        match is_there && folder.join("metadata").exists() {
            true => Self::open(&folder).map(Some),
            false => Ok(None),
        }
    }

    /// Opens the part in this folder.
    ///
    /// # Errors
    ///
    /// A folder or metadata that cannot be read.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("metadata");
        let file = crate::input::open(&path).map_err(Error::io("read", &path))?;
        let mut text = Vec::new();
        file.take(MAX_METADATA)
            .read_to_end(&mut text)
            .map_err(Error::io("read", &path))?;
        let info = Info::parse(&text).map_err(|why| Error::Metadata {
            path: path.clone(),
            why,
        })?;
        let entries = std::fs::read_dir(folder).map_err(Error::io("read", folder))?;
        let mut bytes = 0u64;
        let mut streams = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_prefix("processor_"));
            let number = number.and_then(|digits| digits.parse().ok());
            let status = entry.metadata().ok().filter(std::fs::Metadata::is_file);
            if let (Some(number), Some(status)) = (number, status) {
                bytes = bytes.saturating_add(status.len());
                streams.push((number, entry.path()));
            }
        }
        streams.sort();
        streams.truncate(MAX_STREAMS);
        Ok(Self {
            info,
            streams,
            bytes,
        })
    }

    /// Whether it has who ran where, and not only sums of the run.
    #[must_use]
    pub fn has_switches(&self) -> bool {
        self.info().recorded != Recorded::Sums
    }

    /// What the part says of itself.
    #[must_use]
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// The recorded processors, by number.
    pub fn processors(&self) -> impl Iterator<Item = u32> {
        self.streams.iter().map(|(number, _)| *number)
    }

    /// Bytes of all streams.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All events in order of time.
    ///
    /// # Errors
    ///
    /// Streams that cannot be opened or read.
    pub fn records(&self) -> Result<Records, Error> {
        self.records_of(0..=u64::MAX)
    }

    /// Events in order of time: all of this time (`CLOCK_MONOTONIC`, ns), and some before it, of packets that reach into it.
    ///
    /// # Errors
    ///
    /// Streams that cannot be opened or read.
    pub fn records_of(&self, time: RangeInclusive<u64>) -> Result<Records, Error> {
        let mut records = Records {
            streams: Vec::new(),
            next: BinaryHeap::new(),
            damaged: Vec::new(),
        };
        for (processor, path) in &self.streams {
            let file = crate::input::open(path).map_err(Error::io("read", path))?;
            records.streams.push(Stream {
                path: path.clone(),
                file: BufReader::with_capacity(64 << 10, file),
                processor: *processor,
                time: time.clone(),
                packet: Vec::new(),
                at: 0,
                last: 0,
                pending: None,
            });
        }
        for at in 0..records.streams.len() {
            records.advance(at)?;
        }
        Ok(records)
    }
}

/// The events of several streams in order of time; of the same time, those of processors with smaller numbers first.
#[derive(Debug)]
pub struct Records {
    streams: Vec<Stream>,
    next: BinaryHeap<Reverse<(u64, usize)>>,
    damaged: Vec<u32>,
}

impl Records {
    /// The next event.
    ///
    /// # Errors
    ///
    /// A stream that cannot be read any more. Damage is none: what is behind it in the stream is left out.
    #[allow(clippy::should_implement_trait, reason = "it can fail")]
    pub fn next(&mut self) -> Result<Option<Record>, Error> {
        let Some(Reverse((_, at))) = self.next.pop() else {
            return Ok(None);
        };
        let record = self.streams[at].pending.take();
        self.advance(at)?;
        Ok(record)
    }

    /// The time of the next event.
    #[must_use]
    pub fn next_time(&self) -> Option<u64> {
        self.next.peek().map(|Reverse((time, _))| *time)
    }

    /// Streams that are damaged or cut, as far as they were read.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.damaged.len() as u64
    }

    /// The processors whose streams these are.
    #[must_use]
    pub fn damaged_processors(&self) -> &[u32] {
        &self.damaged
    }

    fn advance(&mut self, at: usize) -> Result<(), Error> {
        let stream = &mut self.streams[at];
        match stream.read()? {
            Step::Record(record) => {
                self.next.push(Reverse((record.time, at)));
                stream.pending = Some(record);
            }
            Step::Damage => self.damaged.push(stream.processor),
            Step::End => {}
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Stream {
    path: PathBuf,
    file: BufReader<File>,
    processor: u32,
    /// What is before or behind is left out.
    time: RangeInclusive<u64>,
    /// The events of a packet, and how far they were read.
    packet: Vec<u8>,
    at: usize,
    last: u64,
    pending: Option<Record>,
}

enum Step {
    Record(Record),
    Damage,
    End,
}

impl Stream {
    fn read(&mut self) -> Result<Step, Error> {
        while self.at >= self.packet.len() {
            match self.packet() {
                Ok(Some(true)) => {}
                Ok(Some(false)) => return Ok(Step::Damage),
                Ok(None) => return Ok(Step::End),
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                    return Ok(Step::Damage);
                }
                Err(error) => return Err(Error::io("read", &self.path)(error)),
            }
        }
        let Some((mut record, size)) = Record::decode(&self.packet[self.at..], self.processor)
        else {
            return Ok(Step::Damage);
        };
        self.at += size;
        record.time = record.time.max(self.last);
        self.last = record.time;
        match record.time > *self.time.end() {
            true => Ok(Step::End),
            false => Ok(Step::Record(record)),
        }
    }

    /// Reads the next packet; `None` at the end, `false` where something else stands there.
    fn packet(&mut self) -> std::io::Result<Option<bool>> {
        let mut header = [0; HEADER_BYTES];
        let mut first = [0];
        if self.file.read(&mut first)? == 0 {
            return Ok(None);
        }
        header[0] = first[0];
        self.file.read_exact(&mut header[1..])?;
        let number = |at: usize| {
            let field = header[at..].first_chunk().copied();
            u64::from_le_bytes(field.unwrap_or_default())
        };
        let (end, content, size) = (number(32), number(40), number(48));
        let bytes = usize::try_from(size / 8).unwrap_or(usize::MAX);
        // What fills the last word is part of the size alone; former releases counted it among the content.
        let is_sound = header[..4] == MAGIC.to_le_bytes()
            && content.checked_next_multiple_of(32) == Some(size)
            && content % 8 == 0
            && (HEADER_BYTES..=MAX_PACKET).contains(&bytes);
        if !is_sound {
            return Ok(Some(false));
        }
        self.at = 0;
        if end < *self.time.start() {
            self.packet.clear();
            self.file.seek_relative((bytes - HEADER_BYTES) as i64)?;
            return Ok(Some(true));
        }
        self.packet.resize(bytes - HEADER_BYTES, 0);
        self.file.read_exact(&mut self.packet)?;
        Ok(Some(true))
    }
}
