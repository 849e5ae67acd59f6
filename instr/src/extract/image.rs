//! The image of the RAM sink (`runtime/sinks/ram.h`) in a target's memory.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

use super::memory::Memory;
use super::writer::{PACKET_HEADER, Writer};
use super::{Extracted, Losses, file_name, text};

const MAGIC: &[u8; 8] = b"INSTRRAM";
const HEADER: usize = 120;
const CHUNK: usize = 1 << 20;
/// Metadata is some ten thousand bytes long.
const MAX_METADATA: u64 = 16 << 20;
/// Bytes of a window that tell what is in it, and of its magic number.
const WINDOW_HEADER: usize = 128;
const WINDOW_MAGIC: u32 = 0x1257_111D;
const MAX_SLOTS: u32 = 16;

/// Where an image is, and what its header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    offset: u64,
    /// Bytes of memory from its begin on.
    available: u64,
    big: bool,
    text: Option<(u64, u64)>,
    windows: u32,
    windows_offset: u64,
    window_bytes: u64,
    lost_text: u32,
    program: String,
}

fn u32_at(bytes: &[u8], at: usize, big: bool) -> u32 {
    let mut field = [0; 4];
    field.copy_from_slice(&bytes[at..at + 4]);
    if big {
        u32::from_be_bytes(field)
    } else {
        u32::from_le_bytes(field)
    }
}

fn u64_at(bytes: &[u8], at: usize, big: bool) -> u64 {
    let (first, second) = (u32_at(bytes, at, big), u32_at(bytes, at + 4, big));
    let (high, low) = if big {
        (first, second)
    } else {
        (second, first)
    };
    u64::from(high) << 32 | u64::from(low)
}

/// Finds the first image.
///
/// # Errors
///
/// When the file cannot be read.
pub fn find(memory: &Memory) -> Result<Option<Image>> {
    let mut buffer = vec![0; CHUNK + HEADER];
    for &(start, bytes) in &memory.pieces {
        let mut at = 0;
        while at < bytes {
            let want = (bytes - at).min((CHUNK + HEADER) as u64) as usize;
            let got = memory.read(&mut buffer[..want], start + at)?;
            for place in (0..got.saturating_sub(HEADER - 1).min(CHUNK)).step_by(8) {
                if buffer[place..].starts_with(MAGIC) {
                    let offset = start + at + place as u64;
                    let available = bytes - at - place as u64;
                    let header = &buffer[place..place + HEADER];
                    if let Some(image) = parse(header, offset, available) {
                        return Ok(Some(image));
                    }
                }
            }
            if got < want {
                break;
            }
            at += CHUNK as u64;
        }
    }
    Ok(None)
}

/// The header, if it is one.
fn parse(header: &[u8], offset: u64, available: u64) -> Option<Image> {
    let big = match (u32_at(header, 8, false), u32_at(header, 8, true)) {
        (1, _) => false,
        (_, 1) => true,
        _ => return None,
    };
    let field = |at| u32_at(header, at, big);
    let (bytes, room, text) = (u64_at(header, 24, big), field(52), field(48));
    let sane = u64::from(field(12)) >= HEADER as u64
        && bytes <= 1 << 40
        && text <= 1
        && u64::from(room) <= MAX_METADATA;
    if !sane {
        return None;
    }
    let text_of = |which: u32| {
        let (from, length) = (
            field(32 + 4 * which as usize),
            field(40 + 4 * which as usize),
        );
        let end = u64::from(from) + u64::from(length);
        (length != 0 && length <= room && end <= available)
            .then_some((u64::from(from), u64::from(length)))
    };
    Some(Image {
        offset,
        available: available.min(bytes),
        big,
        text: text_of(text).or_else(|| text_of(1 - text)),
        windows_offset: u64::from(field(56)),
        window_bytes: u64::from(field(60)),
        windows: field(64),
        lost_text: field(68),
        program: file_name(&header[72..120]),
    })
}

/// Writes the image's trace to the new directory `to`.
///
/// # Errors
///
/// When its metadata is missing, and failures to read and write.
pub fn extract(memory: &Memory, image: &Image, to: &Path) -> Result<Extracted> {
    let mut writer = Writer::new(to)?;
    let mut losses = Losses::default();
    if image.lost_text != 0 {
        losses.add(|| {
            "the metadata did not fit: build with a larger INSTR_CFG_RAM_TEXT_BYTES".to_owned()
        });
    }
    let (from, length) = image
        .text
        .context("its image holds no metadata: the program was stopped while it began")?;
    let mut text = vec![0; length as usize];
    let got = memory.read(&mut text, image.offset + from)?;
    text.truncate(got);
    writer.metadata(&text::complete(&text, &mut losses))?;
    for number in 0..image.windows {
        let start = u64::from(number)
            .checked_mul(image.window_bytes)
            .and_then(|at| at.checked_add(image.windows_offset));
        let room = start.map_or(0, |start| image.available.saturating_sub(start));
        if room < WINDOW_HEADER as u64 || image.window_bytes < WINDOW_HEADER as u64 {
            losses.add(|| format!("windows from number {number} on are not in the dump"));
            break;
        }
        let start = image.offset + start.unwrap_or(0);
        let bytes = image.window_bytes.min(room);
        if bytes < image.window_bytes {
            losses.add(|| format!("window {number} is cut short"));
        }
        window(
            memory,
            image,
            (start, bytes),
            number,
            &mut writer,
            &mut losses,
        )?;
    }
    writer.finish()?;
    Ok(Extracted {
        program: image.program.clone(),
        losses,
    })
}

/// One window: its packets as a stream file when all are complete, else the window itself, which readers join.
fn window(
    memory: &Memory,
    image: &Image,
    (start, bytes): (u64, u64),
    number: u32,
    writer: &mut Writer,
    losses: &mut Losses,
) -> Result<()> {
    let mut header = [0; WINDOW_HEADER];
    memory.read(&mut header, start)?;
    if u32_at(&header, 0, image.big) != WINDOW_MAGIC {
        if header.iter().any(|b| *b != 0) {
            losses.add(|| format!("window {number} is damaged and left out"));
        }
        return Ok(());
    }
    if u32_at(&header, 16, image.big) == 0 {
        return Ok(()); // free
    }
    let Some(packets) = complete_packets(memory, &header, image.big, (start, bytes))? else {
        return copy_window(memory, (start, bytes), number, writer);
    };
    let thread = u32_at(&header, 20, image.big);
    for (_, from, length) in packets {
        let mut packet = writer.packet(thread)?;
        let mut buffer = vec![0; CHUNK.min(length as usize)];
        let mut done = 0;
        while done < length {
            let want = buffer.len().min((length - done) as usize);
            let got = memory.read(&mut buffer[..want], from + done)?;
            anyhow::ensure!(got == want, "it shrinks while it is read");
            packet.write(&buffer[..want])?;
            done += want as u64;
        }
        writer.keep(&packet);
    }
    Ok(())
}

/// Number, place and length of a window's packets in order; nothing if one is still being filled, or makes no sense.
fn complete_packets(
    memory: &Memory,
    header: &[u8],
    big: bool,
    (start, bytes): (u64, u64),
) -> Result<Option<Vec<(u64, u64, u64)>>> {
    let (data, slots) = (u64::from(u32_at(header, 8, big)), u32_at(header, 48, big));
    let (size, current) = (u64_at(header, 24, big), u32_at(header, 52, big));
    if slots == 0 || slots > MAX_SLOTS || current >= slots || data > bytes || size > bytes - data {
        return Ok(None);
    }
    let slot_bytes = size / u64::from(slots);
    let mut packets = Vec::new();
    for slot in 0..slots {
        let from = start + data + u64::from(slot) * slot_bytes;
        let mut head = [0; PACKET_HEADER as usize];
        if memory.read(&mut head, from)? < head.len() {
            return Ok(None);
        }
        let bits = u64_at(&head, 40, big);
        if bits == 0 && slot != current {
            continue; // never used
        }
        let length = bits / 8;
        if !bits.is_multiple_of(32) || length < PACKET_HEADER || length > slot_bytes {
            return Ok(None);
        }
        packets.push((u64_at(&head, 56, big), from, length));
    }
    packets.sort_unstable();
    Ok(Some(packets))
}

fn copy_window(
    memory: &Memory,
    (start, bytes): (u64, u64),
    number: u32,
    writer: &Writer,
) -> Result<()> {
    let path = writer.dir().join(format!(".window_{number:04}"));
    let mut file =
        std::fs::File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut buffer = vec![0; CHUNK];
    let mut done = 0;
    while done < bytes {
        let want = buffer.len().min((bytes - done) as usize);
        let got = memory.read(&mut buffer[..want], start + done)?;
        if got == 0 {
            break;
        }
        file.write_all(&buffer[..got])
            .with_context(|| format!("cannot write {}", path.display()))?;
        done += got as u64;
    }
    Ok(())
}
