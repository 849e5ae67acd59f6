//! Writes the part: `instr run` while the program runs, and tests.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use instr_schema::kernel::HEADER_BYTES;

use super::info::Info;
use super::record::Record;
use crate::packet::MAGIC;

/// Bytes at which a packet is written.
const PACKET: usize = 64 << 10;
/// Files are their owner's alone.
const MODE: u32 = 0o600;

/// Writes the stream of one processor.
#[derive(Debug)]
pub struct Writer {
    file: File,
    uuid: [u8; 16],
    processor: u32,
    packet: Vec<u8>,
    begin: u64,
    last: u64,
    sequence: u64,
    lost: u64,
}

impl Writer {
    /// Makes the stream's file in the folder.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or is there.
    pub fn new(folder: &Path, uuid: [u8; 16], processor: u32) -> io::Result<Self> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(MODE)
            .open(folder.join(super::file_name(processor)))?;
        Ok(Self {
            file,
            uuid,
            processor,
            packet: vec![0; HEADER_BYTES],
            begin: 0,
            last: 0,
            sequence: 0,
            lost: 0,
        })
    }

    /// Adds an event. One that comes late gets the time of the one before it: readers need the stream in order.
    ///
    /// # Errors
    ///
    /// When a packet that is full cannot be written; its events are lost then.
    pub fn add(&mut self, record: &Record) -> io::Result<()> {
        let time = record.time.max(self.last);
        if self.packet.len() == HEADER_BYTES {
            self.begin = time;
        }
        self.last = time;
        if let super::What::Lost(count) = record.what {
            self.lost = self.lost.saturating_add(count);
        }
        if time == record.time {
            record.encode(&mut self.packet);
        } else {
            let late = Record {
                time,
                ..record.clone()
            };
            late.encode(&mut self.packet);
        }
        match self.packet.len() < PACKET {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes what there is.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.packet.len() == HEADER_BYTES {
            return Ok(());
        }
        // Readers of CTF take what follows the last event for another one, if it is content.
        let content = self.packet.len() as u64 * 8;
        let size = content.next_multiple_of(32);
        self.packet.resize((size / 8) as usize, 0);
        let mut header = Vec::with_capacity(HEADER_BYTES);
        header.extend(MAGIC.to_le_bytes());
        header.extend(self.uuid);
        header.extend(0u32.to_le_bytes());
        let context = [
            self.begin,
            self.last,
            content,
            size,
            self.sequence,
            self.lost,
        ];
        header.extend(context.iter().flat_map(|number| number.to_le_bytes()));
        header.extend(self.processor.to_le_bytes());
        self.packet[..HEADER_BYTES].copy_from_slice(&header);
        self.sequence += 1;
        let written = self.file.write_all(&self.packet);
        self.packet.truncate(HEADER_BYTES);
        written
    }
}

/// Writes the part's metadata into the folder: a new file, which takes the place of the one before.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_info(folder: &Path, uuid: [u8; 16], info: &Info) -> io::Result<()> {
    let new = folder.join(".metadata.new");
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(&new)?;
    file.write_all(info.text(uuid).as_bytes())?;
    drop(file);
    std::fs::rename(&new, folder.join("metadata"))
}
