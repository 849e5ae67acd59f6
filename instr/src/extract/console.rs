//! The lines of the console sink (`runtime/sinks/console.c`) among whatever else a console printed.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};

use super::writer::{Packet, Writer};
use super::{Extracted, Losses, file_name, nothing};

const HEAD: &[u8] = b"~instr1:";
/// Characters of the numbers between head and payload.
const FIELDS: usize = 35;
/// Payload bytes of every line of a record but its last.
const LINE: u32 = 120;
/// Longest line of other text that is looked at in one piece.
const MAX_LINE: u64 = 1 << 16;
/// Metadata is some ten thousand bytes long.
const MAX_METADATA: usize = 16 << 20;

/// One line of ours, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number of the line in its trace.
    pub seq: u32,
    /// `O`, `M` or `P`.
    pub kind: u8,
    /// Thread.
    pub id: u32,
    /// Bytes of the record; 0 while they are not known (metadata).
    pub total: u32,
    /// Offset of the payload in the record.
    pub offset: u32,
    /// The bytes.
    pub payload: Vec<u8>,
}

/// Reads the frame whose head stands before `text`.
///
/// # Errors
///
/// What is wrong with it, in a few words.
pub fn parse(text: &[u8]) -> Result<Frame, &'static str> {
    let fields = text.get(..FIELDS).ok_or("the line is cut short")?;
    let number = |from: usize, digits: usize| {
        let digits = &fields[from..from + digits];
        let is_hex = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
        digits.iter().all(is_hex).then(|| {
            digits.iter().fold(0_u32, |value, b| {
                value << 4
                    | u32::from(if b.is_ascii_digit() {
                        b - b'0'
                    } else {
                        b - b'a' + 10
                    })
            })
        })
    };
    const BAD: &str = "its numbers are damaged";
    let (seq, id) = (number(0, 8).ok_or(BAD)?, number(9, 8).ok_or(BAD)?);
    let (total, offset) = (number(17, 8).ok_or(BAD)?, number(25, 8).ok_or(BAD)?);
    let count = number(33, 2).ok_or(BAD)? as usize;
    let end = 35 + count.div_ceil(3) * 4;
    let checked = text.get(..end + 9).ok_or("the line is cut short")?;
    let sum = hex_word(&checked[end..end + 8]).ok_or("its checksum is damaged")?;
    if sum != crc32fast::hash(&checked[..end]) || checked[end + 8] != b';' {
        return Err("its checksum is wrong");
    }
    let payload = base64(&checked[35..end], count).ok_or("its payload is damaged")?;
    Ok(Frame {
        seq,
        kind: fields[8],
        id,
        total,
        offset,
        payload,
    })
}

fn hex_word(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?;
    u32::from_str_radix(text, 16).ok()
}

/// RFC 4648, section 4, with padding; `count` bytes.
fn base64(text: &[u8], count: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(count + 2);
    for group in text.chunks_exact(4) {
        let mut word = 0_u32;
        for &c in group {
            let digit = match c {
                b'A'..=b'Z' => c - b'A',
                b'a'..=b'z' => c - b'a' + 26,
                b'0'..=b'9' => c - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' => 0,
                _ => return None,
            };
            word = word << 6 | u32::from(digit);
        }
        bytes.extend_from_slice(&word.to_be_bytes()[1..]);
    }
    (bytes.len() >= count).then(|| {
        bytes.truncate(count);
        bytes
    })
}

/// A record that is not complete yet.
enum Open {
    Nothing,
    Packet { packet: Packet, id: u32, next: u32 },
    Metadata { text: Vec<u8>, next: u32 },
}

/// One trace of the console.
struct Session {
    writer: Writer,
    open: Open,
    next: u32,
    program: String,
    has_metadata: bool,
    /// Thread of a packet that was cut: what follows of it is known to be lost.
    cut: Option<u32>,
    losses: Losses,
}

impl Session {
    fn new(dir: &Path) -> Result<Self> {
        Ok(Self {
            writer: Writer::new(dir)?,
            open: Open::Nothing,
            next: 0,
            program: "program".to_owned(),
            has_metadata: false,
            cut: None,
            losses: Losses::default(),
        })
    }

    /// What was begun will not be completed.
    fn abandon(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Packet { packet, id, .. } => {
                self.losses.packets += 1;
                self.cut = Some(id);
                self.writer.cut(packet)
            }
            Open::Metadata { .. } | Open::Nothing => Ok(()),
        }
    }

    fn take(&mut self, frame: &Frame, line: u64) -> Result<()> {
        if frame.seq != self.next {
            let missing = u64::from(frame.seq.wrapping_sub(self.next));
            self.losses.add(|| {
                format!("line {line}: {missing} line(s) of the trace are missing before it")
            });
            self.abandon()?;
        }
        self.next = frame.seq.wrapping_add(1);
        match frame.kind {
            b'O' => self.program = file_name(&frame.payload),
            b'M' => self.metadata(frame)?,
            b'P' => self.packet(frame)?,
            _ => {} // of a later version
        }
        Ok(())
    }

    fn metadata(&mut self, frame: &Frame) -> Result<()> {
        if frame.offset == 0 && frame.total == 0 {
            self.abandon()?;
            self.open = Open::Metadata {
                text: Vec::new(),
                next: 0,
            };
        }
        let Open::Metadata { text, next } = &mut self.open else {
            return Ok(()); // its beginning is missing
        };
        if frame.offset != *next || text.len() + frame.payload.len() > MAX_METADATA {
            return self.abandon();
        }
        text.extend_from_slice(&frame.payload);
        *next += frame.payload.len() as u32;
        if frame.total != 0 && frame.total == *next {
            self.writer.metadata(text)?;
            self.has_metadata = true;
            self.open = Open::Nothing;
        }
        Ok(())
    }

    fn packet(&mut self, frame: &Frame) -> Result<()> {
        if frame.offset == 0 {
            self.abandon()?;
            self.cut = None;
            self.open = Open::Packet {
                packet: self.writer.packet(frame.id)?,
                id: frame.id,
                next: 0,
            };
        }
        let count = frame.payload.len() as u32;
        let fits = |next: u32, id: u32| {
            let left = frame.total.saturating_sub(next);
            id == frame.id && frame.offset == next && count == left.min(LINE)
        };
        match &mut self.open {
            Open::Packet { packet, id, next } if fits(*next, *id) => {
                packet.write(&frame.payload)?;
                *next += count;
                if *next == frame.total {
                    self.writer.keep(packet);
                    self.open = Open::Nothing;
                }
                Ok(())
            }
            Open::Nothing => {
                // What is left of a packet whose beginning is missing.
                if u64::from(frame.offset) + u64::from(count) == u64::from(frame.total)
                    && self.cut.take() != Some(frame.id)
                {
                    self.losses.packets += 1;
                }
                Ok(())
            }
            _ => self.abandon(),
        }
    }
}

/// Extracts trace `number` (from 1; the last without it) of a console's text to the new directory `to`.
///
/// # Errors
///
/// When there is no such trace, or none whose metadata came through, and failures to read and write.
pub fn extract(input: &Path, to: &Path, number: Option<usize>) -> Result<Extracted> {
    let file = File::open(input).context("it cannot be opened")?;
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let mut text = Vec::new();
    let mut found = Found {
        to,
        number,
        seen: 0,
        current: None,
        losses: Losses::default(),
        program: None,
    };
    let mut line = 0_u64;
    loop {
        text.clear();
        let got = (&mut reader)
            .take(MAX_LINE)
            .read_until(b'\n', &mut text)
            .context("it cannot be read")?;
        if got == 0 {
            break;
        }
        line += 1;
        found.line(&text, line)?;
    }
    found.finish()
}

struct Found<'a> {
    to: &'a Path,
    number: Option<usize>,
    /// Traces so far.
    seen: usize,
    current: Option<Session>,
    /// Damage between traces.
    losses: Losses,
    /// Of the trace that was taken.
    program: Option<String>,
}

impl Found<'_> {
    fn line(&mut self, text: &[u8], line: u64) -> Result<()> {
        let mut rest = text;
        while let Some(at) = find(rest, HEAD) {
            rest = &rest[at + HEAD.len()..];
            match parse(rest) {
                Ok(frame) => self.frame(&frame, line)?,
                Err(why) => {
                    let losses = match &mut self.current {
                        Some(session) => &mut session.losses,
                        None => &mut self.losses,
                    };
                    losses.add(|| format!("line {line}: a line of the trace is ignored: {why}"));
                }
            }
        }
        Ok(())
    }

    fn frame(&mut self, frame: &Frame, line: u64) -> Result<()> {
        let begins = match &self.current {
            None => self.seen == 0 || frame.seq == 0,
            Some(session) => frame.kind == b'O' || frame.seq < session.next,
        };
        if begins && !self.begin()? {
            return Ok(());
        }
        match &mut self.current {
            Some(session) => session.take(frame, line),
            None => Ok(()),
        }
    }

    /// A new trace begins; false if it is not the one that is wanted.
    fn begin(&mut self) -> Result<bool> {
        self.seen += 1;
        match self.number {
            None => {
                if self.current.take().is_some() {
                    std::fs::remove_dir_all(self.to)?;
                }
            }
            Some(number) if number != self.seen => {
                if let Some(session) = self.current.take() {
                    // It is complete; the rest only counts.
                    self.keep(session)?;
                }
                return Ok(false);
            }
            Some(_) => {}
        }
        self.current = Some(Session::new(self.to)?);
        Ok(true)
    }

    fn keep(&mut self, mut session: Session) -> Result<()> {
        session.abandon()?;
        anyhow::ensure!(
            session.has_metadata,
            "no complete metadata came through; without it nothing can be read"
        );
        self.losses.places.append(&mut session.losses.places);
        self.losses.count += session.losses.count;
        self.losses.packets += session.losses.packets;
        self.program = Some(session.program);
        session.writer.finish()
    }

    fn finish(mut self) -> Result<Extracted> {
        if let Some(session) = self.current.take() {
            self.keep(session)?;
        }
        let Some(program) = self.program else {
            return Err(match self.number {
                Some(number) if self.seen > 0 => {
                    anyhow::anyhow!("it holds {} trace(s), not {number}", self.seen)
                }
                _ => nothing("a trace: neither lines of INSTR_SINK=console nor an image in memory"),
            });
        };
        self.losses.other_traces = self.seen - 1;
        Ok(Extracted {
            program,
            losses: self.losses,
        })
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The characters of a line, from the first number on.
    fn line(seq: u32, kind: char, id: u32, total: u32, offset: u32, payload: &[u8]) -> String {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = format!(
            "{seq:08x}{kind}{id:08x}{total:08x}{offset:08x}{:02x}",
            payload.len()
        );
        for group in payload.chunks(3) {
            let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
            let word = byte(0) << 16 | byte(1) << 8 | byte(2);
            for digit in 0..4 {
                if digit <= group.len() {
                    let at = (word >> (18 - 6 * digit) & 63) as usize;
                    text.push(char::from(DIGITS[at]));
                } else {
                    text.push('=');
                }
            }
        }
        let sum = crc32fast::hash(text.as_bytes());
        format!("{text}{sum:08x};")
    }

    fn run(text: &str, number: Option<usize>) -> (tempfile::TempDir, Result<Extracted>) {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("log");
        std::fs::write(&input, text).unwrap();
        let result = extract(&input, &dir.path().join("out"), number);
        (dir, result)
    }

    fn whole(name: &str, packet: &[u8]) -> String {
        let head = "~instr1:";
        let meta = b"/* CTF 1.8 */";
        let count = meta.len() as u32;
        [
            line(0, 'O', 0, name.len() as u32, 0, name.as_bytes()),
            line(1, 'M', 0, 0, 0, meta),
            line(2, 'M', 0, count, count, b""),
            line(3, 'P', 7, packet.len() as u32, 0, packet),
        ]
        .map(|line| format!("noise{head}{line} more noise\r\n"))
        .concat()
    }

    #[test]
    fn lines_are_found_among_other_text() {
        let (dir, result) = run(&whole("app.exe", b"packet"), None);
        let extracted = result.unwrap();
        assert_eq!(extracted.program, "app.exe");
        assert_eq!(extracted.losses, Losses::default());
        let out = dir.path().join("out");
        assert_eq!(std::fs::read(out.join("thread_0007")).unwrap(), b"packet");
        assert_eq!(
            std::fs::read(out.join("metadata")).unwrap(),
            b"/* CTF 1.8 */"
        );
        assert_eq!(std::fs::read_dir(out).unwrap().count(), 2);
    }

    #[test]
    fn the_last_of_several_traces_is_taken_unless_another_is_wanted() {
        let text = whole("first", b"one") + &whole("second", b"two");
        for (number, name, packet) in [(None, "second", b"two"), (Some(1), "first", b"one")] {
            let (dir, result) = run(&text, number);
            let extracted = result.unwrap();
            assert_eq!(extracted.program, name);
            assert_eq!(extracted.losses.other_traces, 1);
            let found = std::fs::read(dir.path().join("out/thread_0007")).unwrap();
            assert_eq!(found, packet);
        }
        let error = run(&text, Some(3)).1.unwrap_err().to_string();
        assert!(error.contains("it holds 2 trace(s), not 3"), "{error}");
    }

    #[test]
    fn a_changed_character_is_told_with_its_line() {
        let text = whole("app", b"packet").replace("noise~", "\u{7f}~");
        let at = text
            .rfind("packet")
            .unwrap_or(text.rfind(';').unwrap() - 12);
        let mut bytes = text.into_bytes();
        bytes[at] ^= 1;
        let (_dir, result) = run(&String::from_utf8(bytes).unwrap(), None);
        let losses = result.unwrap().losses;
        assert_eq!(losses.count, 1);
        assert!(losses.places[0].starts_with("line 4: a line of the trace is ignored"));
    }

    #[test]
    fn without_metadata_nothing_can_be_read() {
        let text = whole("app", b"packet").replace("1M0", "1X0");
        let error = run(&text, None).1.unwrap_err().to_string();
        assert!(error.contains("no complete metadata"), "{error}");
    }

    #[test]
    fn any_text_gives_an_answer() {
        for text in [
            "",
            "~instr1:",
            "~instr1:~instr1:",
            "~instr1:00000000P",
            "\0\0\0",
        ] {
            assert!(run(text, None).1.is_err(), "{text}");
        }
    }
}
