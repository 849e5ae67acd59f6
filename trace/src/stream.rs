//! One stream, event by event, through a small buffer.

use crate::clock::Clock;
use crate::decode::{self, Header, MAX_EVENT, Size};
use crate::error::Error;
use crate::event::{Event, Payload};
use crate::input;
use crate::layout::Layout;
use crate::packet::{HEADER_BYTES, PacketInfo, Stream, read_at};

/// Events at a packet's begin that are searched for the flush of the packet before.
const FLUSH_SEARCH: usize = 8;

/// What [`StreamReader::advance`] stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Current {
    Nothing,
    /// An event in the buffer.
    Event {
        at: usize,
        bytes: usize,
    },
    /// The begin of a packet behind lost events.
    Lost,
    /// The begin of a flush whose end follows.
    FlushBegin,
}

/// Reads the events of one thread in time order. Damage ends the packet it is in, and is counted.
#[derive(Debug)]
pub struct StreamReader<'t> {
    stream: &'t Stream,
    clock: &'t Clock,
    layout: Layout,
    buffer_bytes: usize,
    /// Index of the next packet to open.
    next_packet: usize,
    end_packet: usize,
    packet: Option<PacketInfo>,
    /// No event of the open packet is later than this many ticks.
    limit: u64,
    /// File offset behind the buffered bytes, and of the packet's end.
    file_at: u64,
    file_end: u64,
    buffer: Vec<u8>,
    /// The events of the only packet, where they are not to be read from a file.
    bytes: Option<Vec<u8>>,
    at: usize,
    ticks: u64,
    time: u64,
    hint: usize,
    current: Current,
    lost_events: u64,
    discarded: u64,
    /// Whether the begin of the next `flush` event was given out already.
    flush_told: bool,
    read_bytes: u64,
    after_damage: bool,
    damaged: u64,
    events: u64,
}

impl<'t> StreamReader<'t> {
    pub(crate) fn new(
        stream: &'t Stream,
        clock: &'t Clock,
        layout: Layout,
        buffer_bytes: usize,
    ) -> Self {
        Self {
            stream,
            clock,
            layout,
            buffer_bytes: buffer_bytes.max(4096),
            next_packet: 0,
            end_packet: if stream.empty {
                0
            } else {
                stream.packets.len()
            },
            packet: None,
            limit: 0,
            file_at: 0,
            file_end: 0,
            buffer: Vec::new(),
            bytes: None,
            at: 0,
            ticks: 0,
            time: 0,
            hint: 0,
            current: Current::Nothing,
            lost_events: 0,
            discarded: 0,
            flush_told: false,
            read_bytes: 0,
            after_damage: false,
            damaged: 0,
            events: 0,
        }
    }

    /// Limits the reader to some packets of the stream.
    pub(crate) fn packets(mut self, range: std::ops::Range<usize>) -> Self {
        self.next_packet = range.start.min(self.stream.packets.len());
        self.end_packet = range.end.min(self.stream.packets.len());
        self
    }

    /// The events of the only packet are these: its file changes.
    pub(crate) fn with_bytes(mut self, bytes: Vec<u8>) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Index of the thread.
    pub fn thread(&self) -> u32 {
        self.stream.thread
    }

    /// Packets so far that ended in damage.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Events given out so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Bytes of the packets opened so far.
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// A time not later than the first event, known without opening the stream's files.
    pub(crate) fn earliest(&self) -> Option<u64> {
        let packet = self
            .stream
            .packets
            .get(self.next_packet..self.end_packet)?
            .first()?;
        Some(self.clock.to_ns(packet.begin))
    }

    /// The next event; `None` at the stream's end.
    #[allow(
        clippy::should_implement_trait,
        reason = "the event borrows the reader's buffer"
    )]
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        Ok(if self.advance()? {
            self.current()
        } else {
            None
        })
    }

    /// Moves to the next event; `false` at the end. Its time is then [`StreamReader::time`].
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<bool, Error> {
        match self.in_buffer() {
            true => Ok(true),
            false => self.advance_further(),
        }
    }

    /// Moves to the next event, if that is all in the buffer and nothing special.
    #[inline]
    fn in_buffer(&mut self) -> bool {
        let Some(bytes) = self.buffer.get(self.at..) else {
            return false;
        };
        if self.packet.is_none() {
            return false;
        }
        let Ok(header) = decode::header(bytes, self.layout) else {
            return false;
        };
        let Size::Known(size) = decode::size(header, bytes, self.layout) else {
            return false;
        };
        let ticks = header
            .ticks(self.ticks)
            .filter(|ticks| *ticks <= self.limit);
        match ticks {
            Some(ticks) if size <= bytes.len() && header.id != decode::FLUSH => {
                self.take_event(ticks, size);
                true
            }
            _ => false,
        }
    }

    fn advance_further(&mut self) -> Result<bool, Error> {
        loop {
            if self.packet.is_none() {
                if !self.open_packet()? {
                    self.current = Current::Nothing;
                    self.buffer = Vec::new();
                    return Ok(false);
                }
                if self.current == Current::Lost {
                    return Ok(true);
                }
                if self.find_flush()? {
                    return Ok(true);
                }
                if self.packet.is_none() {
                    continue;
                }
            }
            let bytes = &self.buffer[self.at..];
            let header = match decode::header(bytes, self.layout) {
                Ok(header) => header,
                Err(needed) => {
                    self.fill(needed)?;
                    continue;
                }
            };
            match decode::size(header, bytes, self.layout) {
                Size::Known(size) if size <= bytes.len() => {
                    if self.take(header, size) {
                        return Ok(true);
                    }
                }
                Size::Known(needed) | Size::AtLeast(needed) => self.fill(needed)?,
                Size::Bad => self.close_packet(true),
            }
        }
    }

    /// The event that [`StreamReader::advance`] found.
    pub(crate) fn current(&self) -> Option<Event<'_>> {
        let (time, ticks, thread) = (self.time, self.ticks, self.stream.thread);
        let event = |payload| Event {
            time,
            ticks,
            thread,
            payload,
        };
        match self.current {
            Current::Nothing => None,
            Current::Event { at, bytes } => {
                let bytes = &self.buffer[at..at + bytes];
                decode::payload(bytes, self.layout, self.clock, event)
            }
            Current::FlushBegin => Some(event(Payload::FlushBegin)),
            Current::Lost => {
                let packet = self.packet?;
                Some(event(Payload::Lost {
                    events: self.lost_events,
                    task: packet.task,
                    region: packet.region,
                }))
            }
        }
    }

    /// Time of the current event, ns.
    #[inline]
    pub(crate) fn time(&self) -> u64 {
        self.time
    }

    fn take(&mut self, header: Header, size: usize) -> bool {
        let ticks = header
            .ticks(self.ticks)
            .filter(|ticks| *ticks <= self.limit);
        let Some(ticks) = ticks else {
            self.close_packet(true);
            return false;
        };
        if header.id == decode::FLUSH {
            if !self.flush_told {
                self.tell_flush(self.at + header.bytes, ticks);
                return true;
            }
            self.flush_told = false;
        }
        self.take_event(ticks, size);
        true
    }

    #[inline]
    fn take_event(&mut self, ticks: u64, size: usize) {
        self.set_time(ticks);
        self.current = Current::Event {
            at: self.at,
            bytes: size,
        };
        self.at += size;
        self.events += 1;
    }

    #[inline]
    fn set_time(&mut self, ticks: u64) {
        self.ticks = ticks;
        self.time = self.clock.to_ns_near(ticks, &mut self.hint).max(self.time);
    }

    fn open_packet(&mut self) -> Result<bool, Error> {
        if self.next_packet >= self.end_packet {
            return Ok(false);
        }
        let packet = self.stream.packets[self.next_packet];
        let first = self.next_packet == 0;
        self.next_packet += 1;
        self.packet = Some(packet);
        self.limit = match packet.end {
            0 => u64::MAX,
            end => end,
        };
        self.file_at = packet.offset + HEADER_BYTES;
        self.file_end = packet.offset + packet.bytes;
        self.buffer.clear();
        self.at = 0;
        self.lost_events = packet.discarded.saturating_sub(self.discarded);
        self.discarded = self.discarded.max(packet.discarded);
        let lost = packet.after_loss
            || self.after_damage
            || (first && (packet.task.is_some() || packet.region.is_some()));
        self.after_damage = false;
        self.flush_told = false;
        self.ticks = packet.begin;
        if first {
            // Nothing that the stream tells of is earlier, whatever a `flush` says.
            self.time = self.clock.to_ns(packet.begin);
        }
        if lost {
            self.set_time(packet.begin);
            self.current = Current::Lost;
        } else {
            self.current = Current::Nothing;
        }
        self.read_bytes += packet.bytes;
        Ok(true)
    }

    /// Looks for a `flush` among the first events of a packet: it began before they happened.
    fn find_flush(&mut self) -> Result<bool, Error> {
        self.fill(1)?;
        let (mut at, mut ticks) = (self.at, self.ticks);
        for _ in 0..FLUSH_SEARCH {
            let bytes = &self.buffer[at.min(self.buffer.len())..];
            let Ok(header) = decode::header(bytes, self.layout) else {
                break;
            };
            ticks = header.ticks(ticks).unwrap_or(ticks);
            match decode::size(header, bytes, self.layout) {
                Size::Known(size) if size <= bytes.len() => {
                    if header.id == decode::FLUSH {
                        // Unless it began among the events before it: then those come first.
                        let early = self.layout.u64(bytes, header.bytes) <= self.ticks;
                        if early {
                            self.tell_flush(at + header.bytes, ticks);
                        }
                        return Ok(early);
                    }
                    at += size;
                }
                _ => break,
            }
        }
        Ok(false)
    }

    /// Makes the begin of a flush the current event: its fields are at `at`, and it ended at tick `end`.
    fn tell_flush(&mut self, at: usize, end: u64) {
        let limit = self
            .packet
            .map_or(end, |packet| if packet.end == 0 { end } else { packet.end });
        let begin = self.layout.u64(&self.buffer[at..], 0);
        let begin = begin.min(end).min(limit);
        self.time = self.time.max(self.clock.to_ns(begin));
        self.flush_told = true;
        self.current = Current::FlushBegin;
    }

    /// Makes at least `needed` bytes available, or closes the packet when it has no more.
    #[cold]
    fn fill(&mut self, needed: usize) -> Result<(), Error> {
        let kept = self.buffer.len() - self.at;
        let left = self.file_end.saturating_sub(self.file_at);
        if needed > MAX_EVENT || (needed - kept) as u64 > left {
            // An event that ends behind its packet; at the very end there is simply nothing more.
            self.close_packet(kept != 0 || left != 0);
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let want = self.buffer_bytes.max(needed.next_power_of_two());
        let more = (want - kept).min(usize::try_from(left).unwrap_or(usize::MAX));
        self.buffer.resize(kept + more, 0);
        let got = self.read(kept)?;
        self.buffer.truncate(kept + got);
        self.file_at += got as u64;
        if got < more {
            // The file is shorter than it was when it was indexed.
            self.file_end = self.file_at;
        }
        Ok(())
    }

    fn read(&mut self, from: usize) -> Result<usize, Error> {
        if let (Some(bytes), Some(packet)) = (&self.bytes, &self.packet) {
            let at = self.file_at.saturating_sub(packet.offset + HEADER_BYTES);
            let rest = bytes
                .get(usize::try_from(at).unwrap_or(usize::MAX)..)
                .unwrap_or(&[]);
            let into = &mut self.buffer[from..];
            let got = rest.len().min(into.len());
            into[..got].copy_from_slice(&rest[..got]);
            return Ok(got);
        }
        let Some(path) = self
            .packet
            .as_ref()
            .and_then(|packet| self.stream.path(packet))
        else {
            return Ok(0);
        };
        match input::open(path) {
            Ok(file) => read_at(&file, &mut self.buffer[from..], self.file_at)
                .map_err(Error::io("read", path)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(Error::io("read", path)(error)),
        }
    }

    #[cold]
    fn close_packet(&mut self, damaged: bool) {
        if damaged {
            self.damaged += 1;
            self.after_damage = true;
            if let Some(packet) = self.packet.filter(|packet| !packet.torn) {
                let at = self.position();
                let end = packet.offset + packet.bytes;
                self.stream.cannot_read(&packet, at, end.saturating_sub(at));
            }
        }
        if let Some(packet) = self.packet.take()
            && !packet.torn
            && !damaged
        {
            self.ticks = self.ticks.max(packet.end);
        }
        self.current = Current::Nothing;
    }

    /// Where the open packet's events end: file offset behind the last event given out.
    pub(crate) fn position(&self) -> u64 {
        self.file_at - (self.buffer.len() - self.at) as u64
    }

    /// Raw clock of the last event.
    pub(crate) fn ticks(&self) -> u64 {
        self.ticks
    }
}
