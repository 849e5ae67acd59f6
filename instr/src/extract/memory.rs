//! Files that hold a target's memory: raw dumps (`dump binary memory` of gdb, `dump -binary` of GRMON, an emulator's monitor), ELF core
//! files, Motorola S-records (`dump` of GRMON) and listings of words (`mem` of GRMON).

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal as _, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::console::Refusal;

/// Bytes of text that decide what a text is.
const SNIFF: u64 = 1 << 20;
/// Farthest that a record's address may lie from the first one's: memory is laid out in a sparse file.
const MAX_SPAN: u64 = 1 << 32;
/// Longest line of a listing.
const MAX_LINE: u64 = 4096;

/// Memory in a file: pieces that are contiguous.
pub struct Memory {
    file: File,
    /// Offset and bytes of each piece.
    pub pieces: Vec<(u64, u64)>,
    /// Whether the file can be nothing but memory.
    pub only_memory: bool,
}

impl Memory {
    /// Reads as many of `bytes` as there are at `offset`; how many.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> Result<usize> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))
            .context("it cannot be read")?;
        let mut done = 0;
        while done < bytes.len() {
            match file.read(&mut bytes[done..]) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("it cannot be read"),
            }
        }
        Ok(done)
    }
}

/// Opens a file as memory. Any file is a raw dump; text that lists memory is laid out first.
///
/// # Errors
///
/// When it cannot be read, or a core file makes no sense.
pub fn open(path: &Path) -> Result<Option<Memory>> {
    let mut file = File::open(path).context("it cannot be opened")?;
    let meta = file.metadata().context("it cannot be read")?;
    if meta.file_type().is_char_device() && !file.is_terminal() {
        let refusal = Refusal {
            message: "it is a device, and no terminal: it may have no end".to_owned(),
            notes: Vec::new(),
            help: Some("copy what it holds into a file".to_owned()),
        };
        return Err(refusal.into());
    }
    if !meta.is_file() {
        return Ok(None); // a pipe is read once: only a console's text can come through it
    }
    let mut magic = [0; 4];
    let elf = file.read_exact(&mut magic).is_ok() && magic == *b"\x7fELF";
    file.rewind()?;
    if elf {
        let pieces = load_segments(&file, meta.len())?;
        return Ok(Some(Memory {
            file,
            pieces,
            only_memory: true,
        }));
    }
    if let Some((listed, pieces)) = listed(&file)? {
        return Ok(Some(Memory {
            file: listed,
            pieces,
            only_memory: true,
        }));
    }
    Ok(Some(Memory {
        file,
        pieces: vec![(0, meta.len())],
        only_memory: false,
    }))
}

/// Offsets and lengths of the `PT_LOAD` segments, as far as the file goes.
fn load_segments(mut file: &File, length: u64) -> Result<Vec<(u64, u64)>> {
    let mut header = [0; 64];
    let got = file.take(64).read(&mut header)?;
    anyhow::ensure!(got >= 52, "its ELF header is cut short");
    let wide = header[4] == 2;
    let big = header[5] == 2;
    let number = |bytes: &[u8], at: usize, size: usize| {
        let field = bytes.get(at..at + size).unwrap_or_default();
        let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        match big {
            true => field.iter().fold(0, fold),
            false => field.iter().rev().fold(0, fold),
        }
    };
    let (table, entry, count) = match wide {
        true => (
            number(&header, 32, 8),
            number(&header, 54, 2),
            number(&header, 56, 2),
        ),
        false => (
            number(&header, 28, 4),
            number(&header, 42, 2),
            number(&header, 44, 2),
        ),
    };
    let least = if wide { 56 } else { 32 };
    anyhow::ensure!(entry >= least, "its ELF program headers make no sense");
    let mut pieces = Vec::new();
    for at in 0..count {
        let mut segment = [0; 56];
        file.seek(SeekFrom::Start(table.saturating_add(at * entry)))?;
        let got = file.take(least).read(&mut segment)?;
        if (got as u64) < least || number(&segment, 0, 4) != 1 {
            continue;
        }
        let (offset, bytes) = match wide {
            true => (number(&segment, 8, 8), number(&segment, 32, 8)),
            false => (number(&segment, 4, 4), number(&segment, 16, 4)),
        };
        if offset < length {
            pieces.push((offset, bytes.min(length - offset)));
        }
    }
    Ok(pieces)
}

/// Offset and bytes of contiguous memory.
type Pieces = Vec<(u64, u64)>;

/// Memory that a text lists, in a file of its own; nothing if the text is no listing.
fn listed(mut file: &File) -> Result<Option<(File, Pieces)>> {
    let mut first = None;
    let mut reader = BufReader::new(file.take(SNIFF));
    let mut line = Vec::new();
    while first.is_none() {
        line.clear();
        if (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.contains(&0) || line.starts_with(b"~instr1:") {
            break;
        }
        first = record(&line).map(|(address, _)| address);
    }
    file.rewind()?;
    let Some(first) = first else { return Ok(None) };
    let mut out = tempfile::tempfile().context("cannot make a temporary file")?;
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let mut number = 0_u64;
    let mut pieces = Pieces::new();
    loop {
        line.clear();
        if (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        let Some((address, bytes)) = record(&line) else {
            continue; // a prompt, a heading
        };
        let offset = address.checked_sub(first).filter(|o| *o < MAX_SPAN);
        let offset = offset.with_context(|| {
            format!(
                "line {number}: its address {address:#x} is not behind the first one, {first:#x}"
            )
        })?;
        out.seek(SeekFrom::Start(offset))?;
        out.write_all(&bytes)
            .context("cannot write a temporary file")?;
        let bytes = bytes.len() as u64;
        match pieces.last_mut() {
            Some((start, length)) if *start + *length == offset => *length += bytes,
            _ => pieces.push((offset, bytes)),
        }
    }
    Ok(Some((out, pieces)))
}

/// Address and bytes of a line, if it lists memory.
fn record(line: &[u8]) -> Option<(u64, Vec<u8>)> {
    let text = std::str::from_utf8(line.trim_ascii()).ok()?;
    s_record(text).or_else(|| words(text))
}

/// S1, S2, S3: count, address of 2 to 4 bytes, data, checksum (the complement of the sum of all before it).
fn s_record(text: &str) -> Option<(u64, Vec<u8>)> {
    let address_bytes = match text.get(..2)? {
        "S1" => 2,
        "S2" => 3,
        "S3" => 4,
        _ => return None,
    };
    let digits = text.get(2..)?;
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let bytes: Option<Vec<u8>> = (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok())
        .collect();
    let bytes = bytes?;
    let sum = bytes.iter().fold(0_u8, |sum, b| sum.wrapping_add(*b));
    if bytes.len() != usize::from(*bytes.first()?) + 1
        || bytes.len() < address_bytes + 2
        || sum != 0xff
    {
        return None;
    }
    let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    let address = bytes[1..=address_bytes].iter().fold(0, fold);
    Some((address, bytes[address_bytes + 1..bytes.len() - 1].to_vec()))
}

/// `0x40000000  a0100000  29100004  81c52000  01000000    text`: words of a big-endian target.
fn words(text: &str) -> Option<(u64, Vec<u8>)> {
    let digits = text.strip_prefix("0x")?;
    let end = digits.find(|c: char| !c.is_ascii_hexdigit())?;
    let address = u64::from_str_radix(&digits[..end], 16).ok()?;
    let mut bytes = Vec::with_capacity(16);
    for word in digits[end..]
        .trim_start_matches(':')
        .split_whitespace()
        .take(4)
    {
        if word.len() != 8 {
            break;
        }
        let Ok(word) = u32::from_str_radix(word, 16) else {
            break;
        };
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    (!bytes.is_empty()).then_some((address, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_without_an_end_are_refused() {
        for device in ["/dev/zero", "/dev/full", "/dev/urandom"] {
            let error = open(Path::new(device)).err().unwrap();
            assert!(error.to_string().contains("it may have no end"), "{error}");
        }
    }

    #[test]
    fn s_records_are_read_when_their_sum_is_right() {
        // 4 bytes at 0x40000000; the sum of 09 40 00 00 00 de ad be ef is 0x81, its complement 7e.
        let line = "S30940000000deadbeef7e";
        assert_eq!(
            record(line.as_bytes()),
            Some((0x4000_0000, vec![0xde, 0xad, 0xbe, 0xef]))
        );
        for wrong in [
            "S30940000000deadbeef7f",
            "S30940000000deadbeef00",
            "S30940000000deadbeee7e",
            "S30840000000deadbeef7e",
            "S3",
            "S309",
            "S5030001fb",
            "x",
        ] {
            assert_eq!(record(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn listings_of_words_are_read() {
        let line = "  0x40000010  a0100000  29100004  81c52000  01000000    ...)..... .....\n";
        let (address, bytes) = record(line.as_bytes()).unwrap();
        assert_eq!((address, bytes.len()), (0x4000_0010, 16));
        assert_eq!(bytes[..8], [0xa0, 0x10, 0, 0, 0x29, 0x10, 0, 4]);
        assert_eq!(record(b"grmon3> mem 0x40000000"), None);
        assert_eq!(record(b"0x4000: text"), None);
    }

    #[test]
    fn memory_is_laid_out_by_its_addresses() {
        let mut text = tempfile::NamedTempFile::new().unwrap();
        write!(
            text,
            "grmon3> mem 0x1000 16\n0x00001000  00000001  00000002\n\n0x00001010  00000005\n"
        )
        .unwrap();
        let memory = open(text.path()).unwrap().unwrap();
        assert!(memory.only_memory);
        let mut bytes = [0xff; 24];
        assert_eq!(memory.pieces, [(0, 8), (16, 4)]);
        assert_eq!(memory.read(&mut bytes, 0).unwrap(), 20);
        assert_eq!(bytes[..8], [0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(bytes[8..20], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]);
    }

    #[test]
    fn addresses_that_run_away_are_refused() {
        let mut text = tempfile::NamedTempFile::new().unwrap();
        writeln!(text, "0x1000  00000001\n0xfffffffff000  00000002").unwrap();
        let error = open(text.path()).err().unwrap().to_string();
        assert!(error.contains("line 2: its address"), "{error}");
    }

    #[test]
    fn segments_of_a_core_file_end_with_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        let mut header = vec![0; 64];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        header[32..40].copy_from_slice(&64_u64.to_le_bytes());
        header[54..56].copy_from_slice(&56_u16.to_le_bytes());
        header[56..58].copy_from_slice(&2_u16.to_le_bytes());
        for (kind, offset, bytes) in [(1_u32, 200_u64, 1 << 40), (4, 0, 10)] {
            let mut segment = [0; 56];
            segment[..4].copy_from_slice(&kind.to_le_bytes());
            segment[8..16].copy_from_slice(&offset.to_le_bytes());
            segment[32..40].copy_from_slice(&u64::to_le_bytes(bytes));
            header.extend(segment);
        }
        header.resize(300, 7);
        file.write_all(&header).unwrap();
        file.rewind().unwrap();
        assert_eq!(load_segments(&file, 300).unwrap(), [(200, 100)]);
        file.rewind().unwrap();
        assert!(load_segments(&file, 10).unwrap().is_empty());
    }
}
