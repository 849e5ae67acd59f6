//! Window files: what live, ended or killed threads had not yet appended to their stream.

use std::fs::File;
use std::path::Path;

use crate::error::Error;
use crate::input;
use crate::layout::{Layout, WordSize};
use crate::packet::{HEADER_BYTES, PacketInfo, RawHeader, Warnings, read_at};

const MAGIC: u32 = 0x1257_111D;
const MAX_SLOTS: u32 = 1 << 20;
/// The version of windows whose slots may hold several packets, of threads that came one after the other.
const SHARED: u32 = 3;

/// What a window holds.
pub(crate) struct Window {
    /// The stream it belongs to.
    pub(crate) stream: u32,
    /// Events of that stream lost so far.
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
        read_slot(
            &file,
            path,
            &header,
            slot,
            (layout, uuid),
            warnings,
            &mut packets,
        )?;
    }
    packets.sort_by_key(|packet| packet.seq);
    Ok(Some(Window {
        stream: header.stream,
        discarded: header.discarded,
        packets,
    }))
}

/// Reads the packets of a slot, one behind the other.
fn read_slot(
    file: &File,
    path: &Path,
    header: &Header,
    slot: u32,
    (layout, uuid): (Layout, Option<[u8; 16]>),
    warnings: &mut Warnings,
    packets: &mut Vec<PacketInfo>,
) -> Result<(), Error> {
    let start = header.header_bytes + u64::from(slot) * header.slot_bytes;
    let mut at = 0;
    let mut before: Option<u64> = None;
    // Where packets are left out, more of them lie behind.
    while at + HEADER_BYTES <= header.room(slot, start) {
        let mut bytes = [0; HEADER_BYTES as usize];
        let got = read_at(file, &mut bytes, start + at).map_err(Error::io("read", path))?;
        let raw = RawHeader::parse(&bytes[..got], layout).filter(|raw| raw.belongs(uuid));
        let follows =
            |raw: &RawHeader| before.is_none_or(|seq| seq.wrapping_add(1) == raw.info.seq);
        // What does not follow is left from an earlier time.
        let Some(raw) = raw.filter(follows) else {
            break;
        };
        let Some(info) = header.packet(slot, start, at, &raw) else {
            if raw.content_bits != 0 && before.is_none() {
                warnings.add(path, start, "a damaged packet in the window is ignored");
            }
            break;
        };
        packets.push(info);
        before = Some(info.seq);
        at += info.bytes;
        if info.torn || header.version < SHARED {
            break;
        }
    }
    Ok(())
}

struct Header {
    version: u32,
    header_bytes: u64,
    stream: u32,
    slot_bytes: u64,
    slots: u32,
    slot: u32,
    /// Bytes of the slot being filled in front of the cursor.
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
        if !(1..=SHARED).contains(&version) {
            return Err("its version is not 1, 2 or 3");
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
        let filled_of = |slot: u32| {
            base.checked_add(u64::from(slot) * slot_bytes)
                .and_then(|start| cursor.checked_sub(start))
                .filter(|filled| *filled <= slot_bytes && filled % 4 == 0)
        };
        // The cursor moves to the next slot before that is the one being filled.
        let next = if slot + 1 < slots { slot + 1 } else { 0 };
        let (slot, filled) = [slot, next]
            .into_iter()
            .find_map(|slot| filled_of(slot).map(|filled| (slot, filled)))
            .ok_or("its cursor points outside the slot being filled")?;
        Ok(Some(Self {
            version,
            header_bytes,
            stream: layout.u32(bytes, 20),
            slot_bytes,
            slots,
            slot,
            filled,
            next_seq: layout.u64(bytes, 40),
            discarded: layout.u64(bytes, 32).saturating_add(waiting.into()),
            length,
        }))
    }

    /// Bytes of a slot in which packets may be.
    fn room(&self, slot: u32, start: u64) -> u64 {
        let room = self.slot_bytes.min(self.length.saturating_sub(start));
        if slot == self.slot {
            room.min(self.filled)
        } else {
            room
        }
    }

    /// The packet that begins `at` bytes behind the begin of its slot.
    fn packet(&self, slot: u32, start: u64, at: u64, raw: &RawHeader) -> Option<PacketInfo> {
        let mut info = PacketInfo {
            offset: start + at,
            in_window: true,
            ..raw.info
        };
        let room = self.room(slot, start).saturating_sub(at);
        if raw.content_bits == 0 || (slot == self.slot && self.version < SHARED) {
            if slot != self.slot || info.seq != self.next_seq {
                return None;
            }
            info.torn = true;
            info.end = 0;
            info.bytes = room;
        } else {
            info.bytes = raw.bytes().filter(|bytes| *bytes <= room)?;
            if info.seq > self.next_seq {
                return None;
            }
            info.distrust_end();
        }
        Some(info)
    }
}
