//! One trace of a console: its lines in their order, what is missing between them, and what is made of both.

use std::collections::VecDeque;
use std::path::Path;

use anyhow::{Context, Result};
use instr_trace::Trace;

use super::LINE;
use super::copies::Copies;
use super::frame::Frame;
use crate::extract::text::{self, Missing};
use crate::extract::writer::{Packet, Writer};
use crate::extract::{Losses, file_name};
use crate::summary::units::counted;

/// Lines of the trace that are known again when they come twice.
const MEMORY: usize = 4096;
/// Lines of the trace by which one may be late, and not the next trace's.
const LATE: u32 = 64;

/// A record that is not complete yet.
enum Open {
    Nothing,
    Packet { packet: Packet, id: u32, next: u32 },
}

/// One trace of the console.
pub(super) struct Session {
    writer: Writer,
    open: Open,
    next: u32,
    /// Damaged lines since the last good one: of those that are missing before the next.
    pub(super) ignored: u32,
    /// Numbers and checksums of the last good lines.
    recent: VecDeque<(u32, u32)>,
    program: String,
    metadata: Copies,
    /// Lines that did not come through.
    lost_lines: u64,
    /// Events of all packets that were printed, and lines that are missing behind that.
    end: Option<(u64, u32)>,
    /// Thread of a packet that was cut: what follows of it is known to be lost.
    cut: Option<u32>,
    pub(super) losses: Losses,
}

impl Session {
    pub(super) fn new(dir: &Path) -> Result<Self> {
        Ok(Self {
            writer: Writer::new(dir)?,
            open: Open::Nothing,
            next: 0,
            ignored: 0,
            recent: VecDeque::new(),
            program: "program".to_owned(),
            metadata: Copies::default(),
            lost_lines: 0,
            end: None,
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
            Open::Nothing => Ok(()),
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
    pub(super) fn is_over(&self, frame: &Frame) -> bool {
        let earlier = self.next.saturating_sub(frame.seq);
        earlier > 0 && !self.knows(frame) && (frame.kind == b'O' || earlier > LATE)
    }

    pub(super) fn take(&mut self, frame: &Frame, line: u64) -> Result<()> {
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
            self.lost_lines += u64::from(missing);
            self.abandon()?;
        }
        self.ignored = 0;
        self.next = frame.seq.saturating_add(1);
        if self.recent.len() == MEMORY {
            self.recent.pop_front();
        }
        self.recent.push_back((frame.seq, frame.sum));
        if frame.kind == b'P' {
            return self.packet(frame);
        }
        self.abandon()?;
        match frame.kind {
            b'O' => self.program = file_name(&frame.payload),
            b'M' => self.metadata.take(frame),
            b'E' => {
                let events = std::str::from_utf8(&frame.payload).ok();
                let events = events.and_then(|digits| u64::from_str_radix(digits, 16).ok());
                let behind = frame.total.saturating_sub(frame.offset).saturating_sub(1);
                self.end = events.map(|events| (events, behind));
            }
            _ => {} // of a later version
        }
        Ok(())
    }

    /// Everything was read: writes the trace, and into it what is missing.
    pub(super) fn finish(mut self) -> Result<(String, Losses)> {
        self.abandon()?;
        let copies = self.metadata.count() as u64;
        let text = self.metadata.text().with_context(|| {
            format!(
                "no complete metadata came through ({} of it); without it nothing can be read",
                counted(copies, "incomplete copy")
            )
        })?;
        // Damaged lines at the end, where no later one shows that they are missing, and lines that are not even damaged.
        let behind = self
            .end
            .map_or(self.ignored, |(_, behind)| behind.max(self.ignored));
        if behind > self.ignored {
            let lines = counted(u64::from(behind - self.ignored), "line");
            self.losses
                .add(|| format!("{lines} of the trace missing at its end"));
        }
        if self.end.is_none() {
            self.losses.add(|| {
                "the end of the trace is missing: the program was stopped, or the log is".to_owned()
            });
        }
        let mut missing = Missing {
            lines: self.lost_lines + u64::from(behind),
            events: None,
            end: self.end.is_none(),
        };
        let text = text::complete(&text, &mut self.losses);
        self.writer.metadata(&text)?;
        let dir = self.writer.dir().to_owned();
        self.writer.finish()?;
        if let Some((printed, _)) = self.end
            && missing.lines > 0
        {
            // Of a directory that nobody can read, nobody asks for more.
            missing.events = events(&dir).ok().map(|left| printed.saturating_sub(left));
        }
        if missing != Missing::default() {
            let path = dir.join("metadata");
            std::fs::write(&path, text::mark(&text, missing))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok((self.program, self.losses))
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

/// The events that can be read of a trace.
fn events(dir: &Path) -> Result<u64> {
    let trace = Trace::open(dir)?;
    let (mut merge, mut count) = (trace.merge(), 0);
    while let Some(event) = merge.next()? {
        count += u64::from(event.payload.id() != 0);
    }
    for number in 0..trace.processors() {
        let mut stream = trace
            .processor(number)
            .context("a processor has no stream")?;
        while stream.next()?.is_some() {}
        count += stream.events();
    }
    Ok(count)
}
