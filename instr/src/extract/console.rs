//! The lines of the console sink (`runtime/sinks/console.c`) among whatever else a console printed.

pub mod frame;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};

use frame::{CUT_SHORT, Frame, parse_any};

use super::writer::{Packet, Writer};
use super::{Extracted, Losses, file_name, nothing};
use crate::summary::units::counted;

const HEAD: &[u8] = b"~instr1:";
/// Payload bytes of every line of a record but its last.
const LINE: u32 = 120;
/// Longest line of other text that is looked at in one piece.
const MAX_LINE: u64 = 1 << 16;
/// Lines of a console that a line of the trace may be spread over, by a terminal that wraps.
const MAX_PIECES: u32 = 16;
/// Lines of the trace that are known again when they come twice.
const MEMORY: usize = 4096;
/// Lines of the trace by which one may be late, and not the next trace's.
const LATE: u32 = 64;
/// Metadata is some ten thousand bytes long.
const MAX_METADATA: usize = 16 << 20;

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
    /// Damaged lines since the last good one: of those that are missing before the next.
    ignored: u32,
    /// Numbers and checksums of the last good lines.
    recent: VecDeque<(u32, u32)>,
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
            ignored: 0,
            recent: VecDeque::new(),
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

    /// Whether the line comes again.
    fn knows(&self, frame: &Frame) -> bool {
        let same = |seen: &(u32, u32)| *seen == (frame.seq, frame.sum);
        // The first line of the next run of a program is that of the run before.
        let first = frame.kind == b'O' && self.next > 1;
        frame.seq < self.next && !first && self.recent.iter().rev().any(same)
    }

    /// Whether the line is of a later trace of the console: not of this one, and not only late.
    fn is_over(&self, frame: &Frame) -> bool {
        let earlier = self.next.saturating_sub(frame.seq);
        earlier > 0 && !self.knows(frame) && (frame.kind == b'O' || earlier > LATE)
    }

    fn take(&mut self, frame: &Frame, line: u64) -> Result<()> {
        if frame.seq < self.next {
            let how = match self.knows(frame) {
                true => "comes again",
                false => "comes after later ones",
            };
            self.losses
                .add(|| format!("line {line}: a line of the trace is ignored: it {how}"));
            return Ok(());
        }
        let missing = frame.seq - self.next;
        if missing > self.ignored {
            let lines = counted(u64::from(missing - self.ignored), "line");
            self.losses
                .add(|| format!("line {line}: {lines} of the trace missing before it"));
        }
        if missing > 0 {
            self.abandon()?;
        }
        self.ignored = 0;
        self.next = frame.seq.saturating_add(1);
        if self.recent.len() == MEMORY {
            self.recent.pop_front();
        }
        self.recent.push_back((frame.seq, frame.sum));
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
        ignored: 0,
        program: None,
        carried: Carried::default(),
    };
    // Some programs write no newline, only the carriage return.
    let begin = reader.fill_buf().context("it cannot be read")?;
    let end = match begin.contains(&b'\n') || !begin.contains(&b'\r') {
        true => b'\n',
        false => b'\r',
    };
    let mut line = 1_u64;
    loop {
        text.clear();
        let got = (&mut reader)
            .take(MAX_LINE)
            .read_until(end, &mut text)
            .context("it cannot be read")?;
        if got == 0 {
            break;
        }
        let ended = text.ends_with(&[end]);
        while text.last().is_some_and(|b| matches!(b, b'\n' | b'\r')) {
            text.pop();
        }
        found.text(&text, line)?;
        line += u64::from(ended);
    }
    found.finish()
}

/// The end of a line that may be the beginning of one of the trace: the head, or a part of it, and what followed.
#[derive(Default)]
struct Carried {
    text: Vec<u8>,
    line: u64,
    pieces: u32,
}

struct Found<'a> {
    to: &'a Path,
    number: Option<usize>,
    /// Traces so far.
    seen: usize,
    current: Option<Session>,
    /// Damage between traces.
    losses: Losses,
    /// Damaged lines there: maybe the first ones of the next trace.
    ignored: u32,
    /// Of the trace that was taken.
    program: Option<String>,
    carried: Carried,
}

impl Found<'_> {
    /// Takes a line of the console. What is cut short at its end may go on with the next one: terminals wrap.
    fn text(&mut self, text: &[u8], line: u64) -> Result<()> {
        let carried = std::mem::take(&mut self.carried);
        if carried.text.is_empty() {
            return self.line(text, line);
        }
        let joined = [&carried.text, text].concat();
        match joined.strip_prefix(HEAD).map(parse_any) {
            // A head without the next character may still be one.
            None if HEAD.starts_with(&joined) => self.carry(&joined, carried.line, carried.pieces),
            None => self.line(text, line),
            Some(Ok(frame)) => {
                self.frame(&frame, carried.line)?;
                self.line(text, line)
            }
            Some(Err(CUT_SHORT)) if carried.pieces < MAX_PIECES && find(text, HEAD).is_none() => {
                self.carry(&joined, carried.line, carried.pieces + 1)
            }
            Some(Err(_)) => {
                self.ignore(CUT_SHORT, carried.line);
                self.line(text, line)
            }
        }
    }

    fn carry(&mut self, text: &[u8], line: u64, pieces: u32) -> Result<()> {
        self.carried = Carried {
            text: text.to_vec(),
            line,
            pieces,
        };
        Ok(())
    }

    fn ignore(&mut self, why: &str, line: u64) {
        let losses = match &mut self.current {
            Some(session) => {
                session.ignored = session.ignored.saturating_add(1);
                &mut session.losses
            }
            None => {
                self.ignored = self.ignored.saturating_add(1);
                &mut self.losses
            }
        };
        losses.add(|| format!("line {line}: a line of the trace is ignored: {why}"));
    }

    fn line(&mut self, text: &[u8], line: u64) -> Result<()> {
        let mut rest = text;
        while let Some(at) = find(rest, HEAD) {
            let from_head = &rest[at..];
            rest = &from_head[HEAD.len()..];
            match parse_any(rest) {
                Ok(frame) => self.frame(&frame, line)?,
                Err(CUT_SHORT) if find(rest, HEAD).is_none() => {
                    return self.carry(from_head, line, 1);
                }
                Err(why) => self.ignore(why, line),
            }
        }
        let most = rest.len().min(HEAD.len() - 1);
        let begun = (1..=most).rev().find(|n| rest.ends_with(&HEAD[..*n]));
        match begun {
            Some(n) => self.carry(&HEAD[..n], line, 1),
            None => Ok(()),
        }
    }

    fn frame(&mut self, frame: &Frame, line: u64) -> Result<()> {
        let begins = match &self.current {
            None => self.seen == 0 || frame.seq == 0,
            Some(session) => session.is_over(frame),
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
        let mut session = Session::new(self.to)?;
        session.ignored = std::mem::take(&mut self.ignored);
        self.current = Some(session);
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
        if self.carried.text.starts_with(HEAD) {
            self.ignore(CUT_SHORT, self.carried.line);
        }
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
mod tests;
