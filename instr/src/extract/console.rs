//! The lines of the console sink (`runtime/sinks/console.c`) among whatever else a console printed.

mod copies;
mod disturbed;
pub mod frame;
mod session;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};

use frame::{CUT_SHORT, Frame, parse_any, without_controls};
use session::Session;

use super::{Extracted, Losses, nothing};

const HEAD: &[u8] = b"~instr1:";
/// Payload bytes of every line of a record but its last.
const LINE: u32 = 120;
/// Longest line of other text that is looked at in one piece.
const MAX_LINE: u64 = 1 << 16;
/// Lines of a console that a line of the trace may be spread over, by a terminal that wraps.
const MAX_PIECES: u32 = 16;
/// Lines of other output that a line of the trace may be interrupted by.
const MAX_DISTURBING: u32 = 4;
/// Disturbed lines that are looked at in all their parts; it takes some ten thousand times as long as reading them.
const MAX_DISTURBED: u32 = 5_000;

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
        disturbed: 0,
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
        // Idle lines and flow control; they may stand in a head too.
        text.retain(|b| !matches!(b, 0 | 0x11 | 0x13));
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
    /// What is wrong with it when nothing is added.
    why: Option<&'static str>,
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
    /// Lines in which a piece of other output was looked for.
    disturbed: u32,
    /// Of the trace that was taken.
    program: Option<String>,
    carried: Carried,
}

impl Found<'_> {
    /// Takes a line of the console. What is cut short at its end may go on with the next one: terminals wrap, and other output comes
    /// between.
    fn text(&mut self, text: &[u8], line: u64) -> Result<()> {
        let carried = std::mem::take(&mut self.carried);
        if carried.text.is_empty() {
            return self.line(text, line);
        }
        let joined = [&carried.text, text].concat();
        let Some(behind) = joined.strip_prefix(HEAD) else {
            // A head without the next character may still be one.
            return match HEAD.starts_with(&joined) {
                true => self.carry(&joined, carried.line, carried.pieces, None),
                false => self.line(text, line),
            };
        };
        let has_head = find(text, HEAD).is_some() || begun_head(text).is_some();
        match parse_any(behind) {
            Ok(frame) => {
                self.frame(&frame, carried.line)?;
                self.line(text, line)
            }
            Err(CUT_SHORT) if carried.pieces < MAX_PIECES && carried.why.is_none() && !has_head => {
                self.carry(&joined, carried.line, carried.pieces + 1, None)
            }
            Err(why) => {
                let why = carried.why.unwrap_or(why);
                if let Some(used) = self.disturbed(behind, carried.line)? {
                    let before = behind.len() - text.len();
                    return self.line(&text[used.saturating_sub(before)..], line);
                }
                if !has_head
                    && carried.pieces < MAX_DISTURBING
                    && behind.len() < disturbed::MOST_CHARS
                {
                    return self.carry(&joined, carried.line, carried.pieces + 1, Some(why));
                }
                self.ignore(carried.why.unwrap_or(CUT_SHORT), carried.line);
                self.line(text, line)
            }
        }
    }

    fn carry(
        &mut self,
        text: &[u8],
        line: u64,
        pieces: u32,
        why: Option<&'static str>,
    ) -> Result<()> {
        self.carried = Carried {
            text: text.to_vec(),
            line,
            pieces,
            why,
        };
        Ok(())
    }

    /// Takes the line that `text`, which follows a head, begins with, without a piece of other output in it. How much of `text` can be
    /// passed over then; nothing if there is no such line.
    fn disturbed(&mut self, text: &[u8], line: u64) -> Result<Option<usize>> {
        let text = &text[..find(text, HEAD).unwrap_or(text.len())];
        if self.disturbed >= MAX_DISTURBED {
            return Ok(None);
        }
        self.disturbed += 1;
        let plain = without_controls(&text[..text.len().min(disturbed::MOST_CHARS)]);
        let Some((frame, used)) = disturbed::without_a_piece(plain.as_deref().unwrap_or(text))
        else {
            return Ok(None);
        };
        self.frame(&frame, line)?;
        // With control characters it is not known where the line ends: what follows is other output, up to the next head.
        Ok(Some(if plain.is_some() { text.len() } else { used }))
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
            let is_last = find(rest, HEAD).is_none();
            match parse_any(rest) {
                Ok(frame) => self.frame(&frame, line)?,
                Err(CUT_SHORT) if is_last => return self.carry(from_head, line, 1, None),
                Err(why) => {
                    if self.disturbed(rest, line)?.is_some() {
                        continue;
                    }
                    // The rest of it may stand in the next line, behind other output.
                    if is_last && rest.len() < disturbed::MOST_CHARS && begun_head(rest).is_none() {
                        return self.carry(from_head, line, 1, Some(why));
                    }
                    self.ignore(why, line);
                }
            }
        }
        match begun_head(rest) {
            Some(n) => self.carry(&HEAD[..n], line, 1, None),
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

    fn keep(&mut self, session: Session) -> Result<()> {
        let (program, mut losses) = session.finish()?;
        self.losses.places.append(&mut losses.places);
        self.losses.count += losses.count;
        self.losses.packets += losses.packets;
        self.program = Some(program);
        Ok(())
    }

    fn finish(mut self) -> Result<Extracted> {
        if self.carried.text.starts_with(HEAD) {
            self.ignore(self.carried.why.unwrap_or(CUT_SHORT), self.carried.line);
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

/// Characters at the end of `text` that may be the beginning of a head.
fn begun_head(text: &[u8]) -> Option<usize> {
    let most = text.len().min(HEAD.len() - 1);
    (1..=most).rev().find(|n| text.ends_with(&HEAD[..*n]))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests;
