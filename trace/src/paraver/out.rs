//! Records in order of their begin: event lines as they come, state lines at the place where the state began.

use std::collections::VecDeque;
use std::io::{Result, Write};

use super::line::Line;
use super::rows::{Prefix, Row};
use super::types::NOT_CREATED;

/// Bytes held back at most before open states are split.
const LIMIT: usize = 4 << 20;
/// State records held back at most.
const MAX_PIECES: usize = 1 << 19;
/// Bytes and pieces between two looks at what can be written.
const STEP: usize = 1 << 18;
const STEP_PIECES: usize = 1 << 13;
/// No piece is open.
const NONE: u64 = u64::MAX;

/// A state record whose end may not be known yet. Its line belongs before byte `at` of the held text.
#[derive(Clone, Copy, Debug)]
struct Piece {
    at: u64,
    row: u32,
    cpu: u32,
    state: u8,
    closed: bool,
    begin: u64,
    end: u64,
}

/// The last state record of a row.
#[derive(Clone, Copy, Debug)]
struct OpenState {
    piece: u64,
}

/// Types in one record at most; more begin another one.
const MAX_TYPES: usize = 256;

/// The types in the record that is not finished yet.
#[derive(Debug, Default)]
struct Types {
    list: Vec<u32>,
    /// A bit for each of them, by its last digits: most often it says that a type is new.
    bits: u64,
}

impl Types {
    fn clear(&mut self) {
        self.list.clear();
        self.bits = 0;
    }

    /// Adds a type; false when it is there already, or when there is no room.
    #[inline]
    fn add(&mut self, kind: u32) -> bool {
        let bit = 1 << (kind % 64);
        let known = self.bits & bit != 0 && self.list.contains(&kind);
        if known || self.list.len() >= MAX_TYPES {
            return false;
        }
        self.bits |= bit;
        self.list.push(kind);
        true
    }
}

/// Writes the body of a `.prv` file.
pub(super) struct Records<'r, W: Write> {
    out: W,
    rows: &'r [Row],
    /// The processor of each row now, and how its records begin there.
    on: Vec<(u32, Prefix)>,
    pieces: VecDeque<Piece>,
    /// Number of the first of `pieces`.
    first_piece: u64,
    open: Vec<OpenState>,
    /// Event and communication lines from byte `text_at` on.
    text: Vec<u8>,
    text_at: u64,
    /// Row and time of the line that is not finished yet.
    line: Option<(u32, u64)>,
    types: Types,
    pub(super) states: u64,
    pub(super) events: u64,
    /// What is written next.
    next: Line,
    /// Held bytes and pieces at which the next look at what can be written is worth while.
    next_look: (usize, usize),
}

impl<'r, W: Write> Records<'r, W> {
    /// All rows begin at 0 as threads that do not exist yet.
    pub(super) fn new(out: W, rows: &'r [Row]) -> Self {
        let mut records = Self {
            out,
            rows,
            on: rows
                .iter()
                .map(|row| (row.cpu, row.prefix(row.cpu)))
                .collect(),
            pieces: VecDeque::new(),
            first_piece: 0,
            open: vec![OpenState { piece: NONE }; rows.len()],
            text: Vec::with_capacity(1 << 20),
            text_at: 0,
            line: None,
            types: Types::default(),
            states: 0,
            events: 0,
            next: Line::new(),
            next_look: (STEP, STEP_PIECES),
        };
        for row in 0..rows.len() {
            records.state(row, 0, NOT_CREATED);
        }
        records
    }

    /// The row is in another state from `time` on. `time` is that of the record written last, or later.
    pub(super) fn state(&mut self, row: usize, time: u64, state: u8) {
        if let Some(piece) = self.piece(row) {
            if piece.begin == time {
                piece.state = state;
                return;
            }
            if piece.state == state {
                return;
            }
        }
        self.close(row, time);
        self.open_piece(row, time, state);
    }

    /// The row is on another processor from `time` on, or on none (0).
    pub(super) fn processor(&mut self, row: usize, time: u64, cpu: u32) {
        if self.on[row].0 == cpu {
            return;
        }
        self.end_line();
        self.on[row] = (cpu, self.rows[row].prefix(cpu));
        let Some(piece) = self.piece(row) else {
            return;
        };
        if piece.begin == time {
            piece.cpu = cpu;
            return;
        }
        let state = piece.state;
        self.close(row, time);
        self.open_piece(row, time, state);
    }

    fn open_piece(&mut self, row: usize, time: u64, state: u8) {
        self.end_line();
        let piece = Piece {
            at: self.text_at + self.text.len() as u64,
            row: row as u32,
            cpu: self.on[row].0,
            state,
            closed: false,
            begin: time,
            end: 0,
        };
        self.open[row].piece = self.first_piece + self.pieces.len() as u64;
        self.pieces.push_back(piece);
    }

    fn piece(&mut self, row: usize) -> Option<&mut Piece> {
        let at = self.open[row].piece.checked_sub(self.first_piece)?;
        self.pieces.get_mut(usize::try_from(at).ok()?)
    }

    fn close(&mut self, row: usize, time: u64) {
        if let Some(piece) = self.piece(row) {
            piece.end = time;
            piece.closed = true;
        }
        self.open[row].piece = NONE;
    }

    /// One event; those of one row at one time share a line, in which each type has one value.
    #[inline]
    pub(super) fn event(&mut self, row: usize, time: u64, kind: u32, value: u64) {
        self.begin_event(row, time, kind);
        self.next.number(value).append_to(&mut self.text);
    }

    /// One event with a value that may be negative.
    pub(super) fn signed_event(&mut self, row: usize, time: u64, kind: u32, value: i64) {
        self.begin_event(row, time, kind);
        if value < 0 {
            self.next.byte(b'-');
        }
        let value = value.unsigned_abs();
        self.next.number(value).append_to(&mut self.text);
    }

    /// All but the value.
    #[inline]
    fn begin_event(&mut self, row: usize, time: u64, kind: u32) {
        let line = self.next.clear();
        if self.line != Some((row as u32, time)) || !self.types.add(kind) {
            self.types.clear();
            self.types.add(kind);
            if self.line.is_some() {
                line.byte(b'\n');
            }
            self.line = Some((row as u32, time));
            line.byte(b'2').byte(b':');
            line.prefix(&self.on[row].1).time(time);
        }
        line.byte(b':').kind(kind).byte(b':');
        self.events += 1;
    }

    #[inline]
    fn end_line(&mut self) {
        if self.line.take().is_some() {
            self.text.push(b'\n');
        }
    }

    /// Where whole lines may be appended.
    pub(super) fn lines(&mut self) -> &mut Vec<u8> {
        self.end_line();
        &mut self.text
    }

    /// Writes what can be written. To be called now and then, with the time reached.
    #[inline]
    pub(super) fn drain(&mut self, now: u64) -> Result<()> {
        if self.text.len() < self.next_look.0 && self.pieces.len() < self.next_look.1 {
            return Ok(());
        }
        self.drain_more(now)
    }

    #[cold]
    fn drain_more(&mut self, now: u64) -> Result<()> {
        self.write_closed()?;
        if self.text.len() > LIMIT || self.pieces.len() > MAX_PIECES {
            self.split(now);
            self.write_closed()?;
        }
        self.next_look = (self.text.len() + STEP, self.pieces.len() + STEP_PIECES);
        Ok(())
    }

    /// Ends all open states at `now` and begins them again.
    fn split(&mut self, now: u64) {
        for row in 0..self.open.len() {
            let Some(piece) = self.piece(row) else {
                continue;
            };
            let state = piece.state;
            if piece.begin < now {
                self.close(row, now);
                self.state(row, now, state);
            }
        }
    }

    fn write_closed(&mut self) -> Result<()> {
        self.end_line();
        let mut written = 0;
        while let Some(piece) = self.pieces.front() {
            let to = usize::try_from(piece.at - self.text_at)
                .unwrap_or(usize::MAX)
                .min(self.text.len());
            self.out.write_all(&self.text[written..to])?;
            written = to;
            if !piece.closed {
                break;
            }
            let piece = *piece;
            self.pieces.pop_front();
            self.first_piece += 1;
            self.write_state(&piece)?;
        }
        if self.pieces.is_empty() {
            self.out.write_all(&self.text[written..])?;
            written = self.text.len();
        }
        self.text.drain(..written);
        self.text_at += written as u64;
        Ok(())
    }

    fn write_state(&mut self, piece: &Piece) -> Result<()> {
        if piece.begin >= piece.end {
            return Ok(());
        }
        let row = piece.row as usize;
        let line = self.next.clear();
        line.byte(b'1').byte(b':');
        let (now, prefix) = &self.on[row];
        match *now == piece.cpu {
            true => line.prefix(prefix),
            false => line.prefix(&self.rows[row].prefix(piece.cpu)),
        };
        line.time(piece.begin).byte(b':').time(piece.end).byte(b':');
        line.number(u64::from(piece.state)).byte(b'\n');
        self.states += 1;
        self.out.write_all(self.next.text())
    }

    /// Ends all rows at `end` and writes the rest.
    pub(super) fn finish(mut self, end: u64) -> Result<(W, u64, u64)> {
        for row in 0..self.open.len() {
            self.close(row, end);
        }
        self.write_closed()?;
        self.out.flush()?;
        Ok((self.out, self.states, self.events))
    }
}
