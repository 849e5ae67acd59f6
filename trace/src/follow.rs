//! The trace of a program that still runs: each look gives the events that came since the last one, each once.
//!
//! The program is not asked and nothing is written: its window files and streams are read as they are. A window changes while it is read, so each packet of it
//! is copied first, and believed only if its header is still the same afterwards: events behind a header are written over after the header itself.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::event::Event;
use crate::packet::{PacketInfo, Stream};
use crate::stream::StreamReader;
use crate::trace::Trace;

/// Bytes of windows that are copied before anything is read.
const MOST_COPIED: u64 = 256 << 20;
/// Looks for which packets that are missing are waited for: they may be on their way from a window to their stream.
const PATIENCE: u32 = 5;
/// Bytes that are read of a stream file at a time.
const BUFFER: usize = 1 << 16;

/// How far the events of a thread were given.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Number of the packet, and how many of its events were given.
    seq: u64,
    events: u64,
    /// Looks since packets behind it were found to be missing.
    waited: u32,
    /// Time of the last event that was given, ns.
    time: u64,
}

/// Who gets the events.
pub trait Follower {
    /// The trace as it is now; its events follow.
    fn opened(&mut self, trace: &Trace);
    /// The next event.
    fn event(&mut self, event: &Event<'_>);
}

/// Follows one trace.
#[derive(Debug)]
pub struct Follow {
    dir: PathBuf,
    uuid: Option<[u8; 16]>,
    places: HashMap<u32, Place>,
    /// Time of the last event that was given.
    last: u64,
}

/// What a look found.
#[derive(Debug)]
pub struct Look {
    /// The trace as it is now.
    pub trace: Trace,
    /// Whether another run has taken the name of the trace.
    pub is_another: bool,
}

impl Follow {
    /// Of the trace in `dir`, from its begin.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            uuid: None,
            places: HashMap::new(),
            last: 0,
        }
    }

    /// Gives the events since the last look in order of time. Of events that are later than `until(trace)`, ns since the trace's start, none is given:
    /// others that are earlier may still be on their way. `None`: the program has ended, and all are given.
    ///
    /// # Errors
    ///
    /// A directory that holds no readable trace, or no longer does.
    pub fn look(
        &mut self,
        until: impl FnOnce(&Trace) -> Option<u64>,
        follower: &mut dyn Follower,
    ) -> Result<Look, Error> {
        let trace = Trace::open(&self.dir)?;
        let uuid = trace.metadata().uuid;
        if self.uuid.is_some() && uuid != self.uuid {
            return Ok(Look {
                trace,
                is_another: true,
            });
        }
        self.uuid = uuid;
        let until = until(&trace);
        follower.opened(&trace);
        let mut room = MOST_COPIED;
        let mut heads: Vec<Head<'_>> = Vec::new();
        for stream in trace.streams() {
            let place = self.places.get(&stream.thread).copied();
            let mut head = Head::new(&trace, stream, place.unwrap_or_default(), until.is_none());
            head.copy_window(&mut room)?;
            heads.push(head);
        }
        // Where a stream cannot go on, events of others that are later must wait for it.
        let mut limit = until.unwrap_or(u64::MAX);
        let mut order = BinaryHeap::new();
        for (at, head) in heads.iter_mut().enumerate() {
            head.step()?;
            limit = limit.min(head.blocked.unwrap_or(u64::MAX));
            order.extend(head.time().map(|time| Reverse((time, at))));
        }
        while let Some(Reverse((time, at))) = order.pop() {
            if time > limit {
                break;
            }
            let head = &mut heads[at];
            if let Some(mut event) = head.reader.as_ref().and_then(StreamReader::current) {
                // A better clock may place what comes now before what was given.
                event.time = event.time.max(self.last);
                self.last = event.time;
                follower.event(&event);
            }
            head.given();
            head.step()?;
            limit = limit.min(head.blocked.unwrap_or(u64::MAX));
            order.extend(head.time().map(|time| Reverse((time, at))));
        }
        for head in &heads {
            self.places.insert(head.stream.thread, head.place());
        }
        drop(heads);
        Ok(Look {
            trace,
            is_another: false,
        })
    }
}

/// A stream and its next event.
struct Head<'t> {
    trace: &'t Trace,
    stream: &'t Stream,
    /// Where it began, and how far it is.
    begun: Place,
    now: Place,
    /// The next packet.
    next: usize,
    /// Nothing comes any more: what is missing stays so.
    ended: bool,
    /// Packets behind are missing.
    waits: bool,
    /// The stream cannot go on in this look; all events up to this time, ns, were given.
    blocked: Option<u64>,
    /// What was copied of packets in the window, by their numbers.
    copies: Vec<(u64, Vec<u8>)>,
    reader: Option<StreamReader<'t>>,
    packet: Option<PacketInfo>,
}

impl<'t> Head<'t> {
    fn new(trace: &'t Trace, stream: &'t Stream, begun: Place, ended: bool) -> Self {
        let next = stream
            .packets
            .iter()
            .position(|packet| packet.seq >= begun.seq);
        Self {
            trace,
            stream,
            begun,
            now: begun,
            next: if stream.empty {
                stream.packets.len()
            } else {
                next.unwrap_or(stream.packets.len())
            },
            ended,
            waits: false,
            blocked: None,
            copies: Vec::new(),
            reader: None,
            packet: None,
        }
    }

    /// Copies what is in the window before the program writes over it; at most so many bytes.
    fn copy_window(&mut self, room: &mut u64) -> Result<(), Error> {
        for packet in self.stream.packets.iter().skip(self.next) {
            if self.ended || !packet.in_window || packet.bytes > *room {
                continue;
            }
            if let Some(bytes) = self.stream.copy_of(packet, self.trace.metadata())? {
                *room -= packet.bytes.min(*room);
                self.copies.push((packet.seq, bytes));
            }
        }
        Ok(())
    }

    /// Time of the event that it stands on.
    fn time(&self) -> Option<u64> {
        self.reader.as_ref().map(StreamReader::time)
    }

    /// The event that it stands on was given.
    fn given(&mut self) {
        if let (Some(reader), Some(packet)) = (&self.reader, &self.packet) {
            self.now.seq = packet.seq;
            self.now.events = reader.events();
            self.now.time = self.now.time.max(reader.time());
        }
    }

    /// Where the next look goes on.
    fn place(&self) -> Place {
        let moved = (self.now.seq, self.now.events) != (self.begun.seq, self.begun.events);
        let waited = match self.waits {
            true if moved => 1,
            true => self.begun.waited + 1,
            false => 0,
        };
        Place { waited, ..self.now }
    }

    /// Moves to the next event that was not given; at the end it has no reader.
    fn step(&mut self) -> Result<(), Error> {
        loop {
            if let Some(reader) = &mut self.reader {
                if reader.advance()? {
                    return Ok(());
                }
                self.reader = None;
            }
            let Some(packet) = self.stream.packets.get(self.next).copied() else {
                return Ok(());
            };
            if self.is_missing(&packet) {
                self.waits = true;
                self.blocked = Some(self.now.time);
                return Ok(());
            }
            let Some(mut reader) = self.open(&packet)? else {
                self.blocked = Some(self.now.time);
                return Ok(());
            };
            self.next += 1;
            self.packet = Some(packet);
            let given = if packet.seq == self.begun.seq {
                self.begun.events
            } else {
                0
            };
            while reader.events() < given && reader.advance()? {}
            self.reader = Some(reader);
        }
    }

    /// Whether packets before this one are missing that may still appear.
    fn is_missing(&self, packet: &PacketInfo) -> bool {
        let before = self.packet.map(|packet| packet.seq);
        let before = before.or_else(|| (self.begun.events > 0).then_some(self.begun.seq));
        let follows = before.is_none_or(|before| packet.seq <= before.saturating_add(1));
        // A ring writes over what nobody has read.
        let is_ring = self.trace.metadata().policy == "ring";
        !follows && !self.ended && !is_ring && self.begun.waited < PATIENCE
    }

    /// A reader of one packet; `None`: it is no longer where it was.
    fn open(&mut self, packet: &PacketInfo) -> Result<Option<StreamReader<'t>>, Error> {
        let layout = self.trace.metadata().layout;
        let reader = StreamReader::new(self.stream, self.trace.clock(), layout, BUFFER);
        let reader = reader.packets(self.next..self.next + 1);
        if !packet.in_window || self.ended {
            return Ok(Some(reader));
        }
        let copied = self.copies.iter().position(|(seq, _)| *seq == packet.seq);
        let bytes = match copied {
            Some(at) => Some(self.copies.swap_remove(at).1),
            None => self.stream.copy_of(packet, self.trace.metadata())?,
        };
        Ok(bytes.map(|bytes| reader.with_bytes(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::synth;

    /// Kind and thread of every event, by thread in recorded order.
    #[derive(Default)]
    struct Seen(HashMap<u32, Vec<u32>>, u64);

    impl Follower for Seen {
        fn opened(&mut self, _: &Trace) {}

        fn event(&mut self, event: &Event<'_>) {
            assert!(event.time >= self.1, "events come in order of time");
            self.1 = event.time;
            let id = u32::from(event.payload.id());
            if id != 0 {
                self.0.entry(event.thread).or_default().push(id);
            }
        }
    }

    /// Streams that grow by packets, by bytes in the middle of packets, one after the other: every event comes once.
    #[test]
    fn what_grows_is_given_once_and_in_order() {
        for (seed, layout) in (1..).zip(synth::all_layouts()) {
            let (whole, part) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            synth::tasks(whole.path(), layout, 3, 4_000).unwrap();
            let mut random = fastrand::Rng::with_seed(seed);
            let mut streams = Vec::new();
            for entry in fs::read_dir(whole.path()).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_owned();
                let bytes = fs::read(&path).unwrap();
                match name.to_string_lossy().starts_with("thread_") {
                    true => streams.push((part.path().join(name), bytes, 0)),
                    false => fs::write(part.path().join(name), bytes).unwrap(),
                }
            }
            let mut seen = Seen::default();
            let mut follow = Follow::new(part.path());
            let most = streams
                .iter()
                .map(|(_, bytes, _)| bytes.len())
                .max()
                .unwrap();
            while streams.iter().any(|(_, bytes, at)| *at < bytes.len()) {
                for (path, bytes, at) in &mut streams {
                    *at = (*at + random.usize(0..most / 4)).min(bytes.len());
                    fs::write(path, &bytes[..*at]).unwrap();
                }
                let until = random.bool().then_some(u64::MAX);
                let until = until.or(Some(random.u64(0..1_000_000)));
                follow.look(|_| until, &mut seen).unwrap();
            }
            follow.look(|_| None, &mut seen).unwrap();
            let mut wanted = Seen::default();
            Follow::new(whole.path())
                .look(|_| None, &mut wanted)
                .unwrap();
            let trace = Trace::open(whole.path()).unwrap();
            let mut merge = trace.merge();
            let mut merged: HashMap<u32, Vec<u32>> = HashMap::new();
            while let Some(event) = merge.next().unwrap() {
                if event.payload.id() != 0 {
                    merged
                        .entry(event.thread)
                        .or_default()
                        .push(u32::from(event.payload.id()));
                }
            }
            assert!(merged.values().map(Vec::len).sum::<usize>() > 4_000);
            assert_eq!(wanted.0, merged, "{layout:?}");
            assert_eq!(seen.0, merged, "{layout:?}");
        }
    }

    #[test]
    fn another_run_and_a_removed_trace_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("app.instr");
        fs::create_dir(&at).unwrap();
        synth::tasks(&at, synth::layouts()[0], 1, 10).unwrap();
        let mut follow = Follow::new(&at);
        assert!(
            !follow
                .look(|_| None, &mut Seen::default())
                .unwrap()
                .is_another
        );
        let metadata = fs::read_to_string(at.join("metadata")).unwrap();
        let other = metadata.replacen("uuid = \"2a", "uuid = \"3b", 1);
        assert_ne!(other, metadata);
        fs::write(at.join("metadata"), other).unwrap();
        assert!(
            follow
                .look(|_| None, &mut Seen::default())
                .unwrap()
                .is_another
        );
        fs::remove_dir_all(&at).unwrap();
        assert!(follow.look(|_| None, &mut Seen::default()).is_err());
    }
}
