//! Window files: what a live or killed thread had not yet appended to its stream.

use std::path::Path;

use crate::error::Error;
use crate::input;
use crate::layout::{Layout, WordSize};
use crate::packet::{HEADER_BYTES, PacketInfo, RawHeader, Warnings, read_at};

const MAGIC: u32 = 0x1257_111D;
const MAX_SLOTS: u32 = 1 << 20;

/// What a window holds.
pub(crate) struct Window {
    /// The thread it belongs to.
    pub(crate) thread: u32,
    /// Events of that thread lost so far.
    pub(crate) discarded: u64,
    /// Its packets in order of their number.
    pub(crate) packets: Vec<PacketInfo>,
}

/// Reads a window file. `None` when it is free, empty or not one of ours (which is reported).
pub(crate) fn read(
    path: &Path,
    layout: Layout,
    uuid: Option<[u8; 16]>,
    warnings: &mut Warnings,
) -> Result<Option<Window>, Error> {
    let file = match input::open(path) {
        Ok(file) => file,
        // A live thread may end at any moment.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    let mut bytes = [0; 128];
    let got = read_at(&file, &mut bytes, 0).map_err(Error::io("read", path))?;
    if bytes[..got].iter().all(|byte| *byte == 0) {
        return Ok(None); // just created
    }
    let header = match Header::parse(&bytes[..got], layout, length) {
        Ok(Some(header)) => header,
        Ok(None) => return Ok(None),
        Err(why) => {
            warnings.add(path, 0, format!("the window is ignored: {why}"));
            return Ok(None);
        }
    };
    let mut packets = Vec::new();
    for slot in 0..header.slots {
        let start = header.header_bytes + u64::from(slot) * header.slot_bytes;
        let mut bytes = [0; HEADER_BYTES as usize];
        let got = read_at(&file, &mut bytes, start).map_err(Error::io("read", path))?;
        let raw = RawHeader::parse(&bytes[..got], layout);
        let Some(raw) = raw.filter(|raw| raw.belongs(uuid) && raw.thread == header.thread) else {
            continue;
        };
        if let Some(info) = header.packet(slot, start, &raw) {
            packets.push(info);
        } else if raw.content_bits != 0 {
            warnings.add(path, start, "a damaged packet in the window is ignored");
        }
    }
    packets.sort_by_key(|packet| packet.seq);
    Ok(Some(Window {
        thread: header.thread,
        discarded: header.discarded,
        packets,
    }))
}

struct Header {
    header_bytes: u64,
    thread: u32,
    slot_bytes: u64,
    slots: u32,
    slot: u32,
    /// Bytes of the packet being filled, 0 when nothing was written into it.
    filled: u64,
    next_seq: u64,
    discarded: u64,
    /// Bytes of the file behind which nothing can be.
    length: u64,
}

impl Header {
    fn parse(bytes: &[u8], layout: Layout, length: u64) -> Result<Option<Self>, &'static str> {
        let word = layout.word_bytes();
        if bytes.len() < 56 + 2 * word || layout.u32(bytes, 0) != MAGIC {
            return Err("its header is cut short or has another magic number");
        }
        let version = layout.u32(bytes, 4);
        if version != 1 && version != 2 {
            return Err("its version is neither 1 nor 2");
        }
        let expected = if layout.word == WordSize::Four { 4 } else { 8 };
        if layout.u32(bytes, 12) != expected {
            return Err("its word size is not that of the trace");
        }
        if layout.u32(bytes, 16) == 0 {
            return Ok(None);
        }
        // Of events that came inside of others: those that are neither in a packet nor in the count of discarded ones.
        let waiting = match bytes.get(56 + 2 * word..64 + 2 * word) {
            Some(last) if version > 1 => layout.u32(last, 0).wrapping_sub(layout.u32(last, 4)),
            _ => 0,
        };
        let header_bytes = u64::from(layout.u32(bytes, 8));
        let (size, slots, slot) = (
            layout.u64(bytes, 24),
            layout.u32(bytes, 48),
            layout.u32(bytes, 52),
        );
        if slots == 0 || slots > MAX_SLOTS || slot >= slots {
            return Err("its slots make no sense");
        }
        let slot_bytes = size / u64::from(slots);
        if header_bytes.checked_add(size).is_none()
            || slot_bytes < HEADER_BYTES
            || slot_bytes % 4 != 0
        {
            return Err("its sizes make no sense");
        }
        let (base, cursor) = (layout.addr(bytes, 56), layout.addr(bytes, 56 + word));
        let filled = base
            .checked_add(u64::from(slot) * slot_bytes)
            .and_then(|start| cursor.checked_sub(start))
            .filter(|filled| *filled <= slot_bytes && filled % 4 == 0)
            .ok_or("its cursor points outside the slot being filled")?;
        Ok(Some(Self {
            header_bytes,
            thread: layout.u32(bytes, 20),
            slot_bytes,
            slots,
            slot,
            filled,
            next_seq: layout.u64(bytes, 40),
            discarded: layout.u64(bytes, 32).saturating_add(waiting.into()),
            length,
        }))
    }

    fn packet(&self, slot: u32, start: u64, raw: &RawHeader) -> Option<PacketInfo> {
        let mut info = PacketInfo {
            offset: start,
            in_window: true,
            ..raw.info
        };
        let room = self.slot_bytes.min(self.length.saturating_sub(start));
        if slot == self.slot {
            if self.filled < HEADER_BYTES || raw.info.seq != self.next_seq {
                return None;
            }
            info.torn = true;
            info.end = 0;
            info.bytes = self.filled.min(room);
        } else {
            info.bytes = raw.bytes().filter(|bytes| *bytes <= room)?;
            if info.seq >= self.next_seq {
                return None;
            }
            info.distrust_end();
        }
        Some(info)
    }
}
