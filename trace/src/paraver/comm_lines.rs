//! The lines of communications, made on a thread of their own: it reads and merges the sorted runs while others write events.

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, Scope};

use crate::error::Error;

use super::line::Line;
use super::rows::{Prefix, Row};
use super::sorter::{Communication, Sorted};
use super::types::{TAG_CREATE, TAG_DEPEND};

/// Bytes of text handed over at a time.
const BLOCK: usize = 1 << 17;
/// Blocks made ahead at most.
const AHEAD: usize = 4;

/// Lines in order of the times they were sent at.
#[derive(Default)]
struct Block {
    text: Vec<u8>,
    /// Time of each line, and where it ends.
    lines: Vec<(u64, usize)>,
}

/// Gives the lines of all communications in order.
pub(super) struct CommLines {
    blocks: Receiver<Result<Block, Error>>,
    block: Block,
    /// The next line of the block.
    at: usize,
    /// When the next one was sent; at the end, never.
    pub(super) next: u64,
}

impl CommLines {
    /// Begins to make them.
    ///
    /// # Errors
    ///
    /// No thread to be had, and temporary files that cannot be read.
    pub(super) fn new<'s>(
        scope: &'s Scope<'s, '_>,
        sorted: Sorted,
        rows: &'s [Row],
        path: &Path,
    ) -> Result<Self, Error> {
        let (full, blocks) = sync_channel(AHEAD);
        let make = move || {
            let mut writer = Writer::new(sorted, rows);
            loop {
                let block = writer.block();
                let is_last = block.as_ref().is_ok_and(|block| block.lines.is_empty());
                // Who failed does not take any more.
                if is_last || full.send(block).is_err() {
                    return;
                }
            }
        };
        let begun = Builder::new().spawn_scoped(scope, make);
        begun.map_err(Error::io("write", path))?;
        let mut lines = Self {
            blocks,
            block: Block::default(),
            at: 0,
            next: u64::MAX,
        };
        lines.receive()?;
        Ok(lines)
    }

    /// Appends the lines of what was sent at `time` or before to `text`.
    pub(super) fn take_until(&mut self, time: u64, text: &mut Vec<u8>) -> Result<(), Error> {
        while self.next <= time && self.at < self.block.lines.len() {
            let begin = self.begin();
            let lines = &self.block.lines[self.at..];
            self.at += lines.iter().take_while(|(sent, _)| *sent <= time).count();
            text.extend_from_slice(&self.block.text[begin..self.begin()]);
            match self.block.lines.get(self.at) {
                Some((sent, _)) => self.next = *sent,
                None => self.receive()?,
            }
        }
        Ok(())
    }

    /// Where the next line begins.
    fn begin(&self) -> usize {
        let before = self
            .at
            .checked_sub(1)
            .and_then(|at| self.block.lines.get(at));
        before.map_or(0, |(_, end)| *end)
    }

    fn receive(&mut self) -> Result<(), Error> {
        self.at = 0;
        // A thread that is at its end is gone.
        self.block = self
            .blocks
            .recv()
            .unwrap_or_else(|_| Ok(Block::default()))?;
        self.next = self.block.lines.first().map_or(u64::MAX, |(sent, _)| *sent);
        Ok(())
    }
}

/// What the thread works with.
struct Writer<'r> {
    sorted: Sorted,
    rows: &'r [Row],
    /// The processor that each row was on last, and how its records begin there.
    on: Vec<(u32, Prefix)>,
    line: Line,
}

impl<'r> Writer<'r> {
    fn new(sorted: Sorted, rows: &'r [Row]) -> Self {
        let on = rows.iter().map(|row| (row.cpu, row.prefix(row.cpu)));
        Self {
            sorted,
            rows,
            on: on.collect(),
            line: Line::new(),
        }
    }

    /// The next lines; none at the end.
    fn block(&mut self) -> Result<Block, Error> {
        let mut block = Block {
            text: Vec::with_capacity(BLOCK + (1 << 8)),
            ..Block::default()
        };
        while block.text.len() < BLOCK
            && let Some(next) = self.sorted.next()?
        {
            self.line(&next).append_to(&mut block.text);
            block.lines.push((next.send, block.text.len()));
        }
        Ok(block)
    }

    /// From (row, processor, time) to (row, processor, time); the size is the number of the task.
    fn line(&mut self, next: &Communication) -> &mut Line {
        let line = self.line.clear();
        line.byte(b'3').byte(b':');
        for (row, cpu, time) in [
            (next.from as usize, next.on[0], next.send),
            (next.to as usize, next.on[1], next.receive),
        ] {
            let (last, prefix) = &mut self.on[row];
            if *last != cpu {
                (*last, *prefix) = (cpu, self.rows[row].prefix(cpu));
            }
            line.prefix(prefix);
            line.time(time).byte(b':').time(time).byte(b':');
        }
        let tag = if next.depend { TAG_DEPEND } else { TAG_CREATE };
        line.number(next.task).byte(b':').number(u64::from(tag));
        line.byte(b'\n')
    }
}
