//! A trace directory in the making.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use instr_trace::{Trace, flag_as_cut};

/// Bytes of a packet's header, and where its sizes are (docs/trace-format.md).
pub const PACKET_HEADER: u64 = 104;
/// Cut packets that are kept; of more, nothing is.
const MAX_CUT: usize = 1000;
/// Files a trace may have.
const MAX_THREADS: usize = 100_000;

/// The directory, and what is not in place yet.
pub struct Writer {
    dir: PathBuf,
    /// Length of each thread's file.
    lengths: BTreeMap<u32, u64>,
    /// Beginnings of packets: thread, where they belong in its file, file.
    cut: Vec<(u32, u64, PathBuf)>,
}

impl Writer {
    /// Makes the directory.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn new(dir: &Path) -> Result<Self> {
        std::fs::create_dir(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        Ok(Self {
            dir: dir.to_owned(),
            lengths: BTreeMap::new(),
            cut: Vec::new(),
        })
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, thread: u32) -> PathBuf {
        self.dir.join(format!("thread_{thread:04}"))
    }

    /// Begins a packet at the end of a thread's file.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened.
    pub fn packet(&mut self, thread: u32) -> Result<Packet> {
        let known = self.lengths.len();
        let length = match self.lengths.get(&thread) {
            Some(length) => *length,
            None if known >= MAX_THREADS => {
                anyhow::bail!("it has more than {MAX_THREADS} threads")
            }
            None => *self.lengths.entry(thread).or_insert(0),
        };
        let path = self.path(thread);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        file.seek(SeekFrom::Start(length))?;
        Ok(Packet {
            thread,
            file,
            start: length,
            bytes: 0,
        })
    }

    /// The packet is whole.
    pub fn keep(&mut self, packet: &Packet) {
        self.lengths
            .insert(packet.thread, packet.start + packet.bytes);
    }

    /// The packet ends too early: what there is of it is put aside, its events are sorted out by [`Writer::finish`].
    ///
    /// # Errors
    ///
    /// When files cannot be written.
    pub fn cut(&mut self, mut packet: Packet) -> Result<()> {
        if packet.bytes > PACKET_HEADER && self.cut.len() < MAX_CUT {
            let path = self.dir.join(format!(".cut-{}", self.cut.len()));
            let mut aside = File::create(&path)?;
            packet.file.seek(SeekFrom::Start(packet.start))?;
            std::io::copy(&mut (&packet.file).take(packet.bytes), &mut aside)?;
            self.cut.push((packet.thread, packet.start, path));
        }
        packet.file.set_len(packet.start)?;
        Ok(())
    }

    /// Replaces the metadata.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn metadata(&mut self, text: &[u8]) -> Result<()> {
        let path = self.dir.join("metadata");
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Puts beginnings of packets in their place, each up to its last complete event.
    ///
    /// # Errors
    ///
    /// When files cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.lengths.retain(|_, length| *length == 0);
        for thread in self.lengths.keys() {
            // Nothing of its packets came through.
            let _ = std::fs::remove_file(self.dir.join(format!("thread_{thread:04}")));
        }
        // From the back, so that places in front stay where they are.
        for (thread, at, path) in std::mem::take(&mut self.cut).into_iter().rev() {
            if let Some(bytes) = self.mended(thread, &path)? {
                insert(&self.path(thread), at, &bytes)?;
            }
            std::fs::remove_file(&path)?;
        }
        Ok(())
    }

    /// A cut packet as a whole one with fewer events; nothing if none is complete.
    fn mended(&self, thread: u32, path: &Path) -> Result<Option<PathBuf>> {
        let (broken, whole) = (self.dir.join(".broken"), self.dir.join(".whole"));
        for old in [&broken, &whole] {
            let _ = std::fs::remove_dir_all(old);
        }
        std::fs::create_dir(&broken)?;
        let name = format!("thread_{thread:04}");
        std::fs::copy(self.dir.join("metadata"), broken.join("metadata"))?;
        std::fs::copy(path, broken.join(&name))?;
        // What no reader accepts is left out.
        let mended = Trace::open(&broken).and_then(|trace| {
            trace.repair(&whole)?;
            Ok(trace.metadata().layout)
        });
        std::fs::remove_dir_all(&broken)?;
        let result = whole.join(&name);
        let Some(layout) = mended.ok().filter(|_| result.is_file()) else {
            return Ok(None);
        };
        let mut header = [0; PACKET_HEADER as usize];
        let file = OpenOptions::new().read(true).write(true).open(&result)?;
        file.read_exact_at(&mut header, 0)?;
        flag_as_cut(&mut header, layout);
        file.write_all_at(&header, 0)?;
        let kept = self.dir.join(".mended");
        std::fs::rename(&result, &kept)?;
        std::fs::remove_dir_all(&whole)?;
        Ok(Some(kept))
    }
}

/// Inserts a file's bytes into another, and removes it.
fn insert(path: &Path, at: u64, from: &Path) -> Result<()> {
    let mut tail = tempfile::tempfile()?;
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    file.seek(SeekFrom::Start(at))?;
    std::io::copy(&mut file, &mut tail)?;
    file.set_len(at)?;
    file.seek(SeekFrom::Start(at))?;
    std::io::copy(&mut File::open(from)?, &mut file)?;
    tail.rewind()?;
    std::io::copy(&mut tail, &mut file)?;
    std::fs::remove_file(from)?;
    Ok(())
}

/// A packet being written.
pub struct Packet {
    thread: u32,
    file: File,
    start: u64,
    bytes: u64,
}

impl Packet {
    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .with_context(|| format!("cannot write the packets of thread {}", self.thread))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Bytes so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
