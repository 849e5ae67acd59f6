//! Writes a trace that was cut or damaged as a plain CTF trace that other readers accept.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::error::Error;
use crate::index::stream_name;
use crate::input;
use crate::layout::{ByteOrder, Layout};
use crate::metadata::Metadata;
use crate::packet::{HEADER_BYTES, PacketInfo, Stream, read_at};
use crate::session::MAX_FORKS;
use crate::stream::StreamReader;
use crate::trace::Trace;

/// Bytes copied at a time.
const CHUNK: usize = 1 << 18;
impl Trace {
    /// Writes this trace and its forked children to the new directory `out_dir`, windows joined, torn packets cut to their
    /// last complete event, damage left out: plain CTF that other readers open. The directory appears under its name only
    /// when all is written; it must not exist, or be empty.
    pub fn repair(&self, out_dir: impl AsRef<Path>) -> Result<(), Error> {
        let out_dir = out_dir.as_ref();
        let parent = match out_dir.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let temporary = tempfile::Builder::new()
            .prefix(".instr-")
            .tempdir_in(parent)
            .map_err(crate::new_file::plain)
            .map_err(Error::io("create", out_dir))?;
        // Open to others as the umask says, unlike a temporary directory.
        let inner = temporary.path().join("trace");
        self.write_repaired(&inner, 0)?;
        std::fs::rename(&inner, out_dir).map_err(Error::io("create", out_dir))
    }

    fn write_repaired(&self, dir: &Path, depth: usize) -> Result<(), Error> {
        std::fs::create_dir(dir).map_err(Error::io("create", dir))?;
        let metadata = dir.join("metadata");
        let own = Metadata::file_in(self.dir()).unwrap_or_else(|| self.dir().join("metadata"));
        std::fs::copy(own, &metadata).map_err(Error::io("create", &metadata))?;
        let mut sources = BTreeMap::<u32, Vec<&Stream>>::new();
        for stream in self.streams().iter().chain(self.other_streams()) {
            sources.entry(stream.number).or_default().push(stream);
        }
        for (number, threads) in sources {
            self.repair_stream(&threads, &dir.join(stream_name(number)))?;
        }
        for child in self.children().iter().filter(|_| depth < MAX_FORKS) {
            if let Some(name) = child.file_name() {
                Trace::open(child)?.write_repaired(&dir.join(name), depth + 1)?;
            }
        }
        Ok(())
    }

    /// Writes a stream, whose packets are those of `threads`.
    fn repair_stream(&self, threads: &[&Stream], path: &Path) -> Result<(), Error> {
        let file = File::create(path).map_err(Error::io("create", path))?;
        let mut out = BufWriter::with_capacity(CHUNK, file);
        let layout = self.metadata().layout;
        let mut packets: Vec<(&Stream, usize, &PacketInfo)> = Vec::new();
        for stream in threads {
            let numbered = stream.packets.iter().enumerate();
            packets.extend(numbered.map(|(number, packet)| (*stream, number, packet)));
        }
        packets.sort_by_key(|(_, _, packet)| (packet.begin, packet.seq));
        for (stream, number, packet) in packets {
            let mut reader =
                StreamReader::new(stream, self.clock(), layout, CHUNK).packets(number..number + 1);
            let (mut end, mut ticks) = (packet.offset + HEADER_BYTES, packet.begin);
            while reader.advance()? {
                (end, ticks) = (reader.position().max(end), reader.ticks());
            }
            let intact = !packet.torn && reader.damaged() == 0;
            let bytes = if intact {
                packet.bytes
            } else {
                end - packet.offset
            };
            let last = if intact { packet.end } else { ticks };
            copy_packet(stream, packet, bytes, last, layout, &mut out, path)?;
        }
        out.flush().map_err(Error::io("write", path))
    }
}

/// Copies `bytes` of a packet, with `last` as its end.
fn copy_packet(
    stream: &Stream,
    packet: &PacketInfo,
    bytes: u64,
    last: u64,
    layout: Layout,
    out: &mut impl Write,
    path: &Path,
) -> Result<(), Error> {
    let Some(from) = stream.path(packet) else {
        return Ok(());
    };
    let file = input::open(from).map_err(Error::io("read", from))?;
    let mut buffer = vec![0; CHUNK];
    let mut done = 0;
    while done < bytes {
        let want = usize::try_from(bytes - done).unwrap_or(CHUNK).min(CHUNK);
        let got = read_at(&file, &mut buffer[..want], packet.offset + done)
            .map_err(Error::io("read", from))?;
        if done == 0 && got >= HEADER_BYTES as usize {
            patch(&mut buffer, 32, last, layout);
            patch(&mut buffer, 40, bytes * 8, layout);
            patch(&mut buffer, 48, bytes * 8, layout);
        }
        // A file that shrank meanwhile: what is missing reads as nothing but must be there.
        buffer[got..want].fill(0);
        out.write_all(&buffer[..want])
            .map_err(Error::io("write", path))?;
        done += want as u64;
    }
    Ok(())
}

fn patch(header: &mut [u8], at: usize, value: u64, layout: Layout) {
    let bytes = match layout.order {
        ByteOrder::Little => value.to_le_bytes(),
        ByteOrder::Big => value.to_be_bytes(),
    };
    header[at..at + 8].copy_from_slice(&bytes);
}
