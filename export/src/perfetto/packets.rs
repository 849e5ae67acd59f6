//! Packets, the names and the tracks that they speak of.

use std::io::{Error, Write};

use hashbrown::{HashMap, HashSet};
use instr_trace::model::Scheduled;
use prost::Message as _;

use super::ftrace::{FtraceEventBundle, Process, ProcessTree, Thread};
use super::processors::Processors;
use super::proto::*;
use super::track_event::{self, Event, Header, Kind, Short};
use crate::describe::CATEGORIES;
use crate::slices::{FlowsHere, Label, Number, SliceWriter};

/// Bytes that are written at a time.
const CHUNK: usize = 1 << 16;
/// Process and thread numbers that the system did not give begin here: unknown ones, and those that occur twice.
const MADE_UP: i32 = 1_000_000_000;

/// The names of [`Note`](crate::slices::Note)s, in order of their numbers.
pub(super) const NOTES: [&str; 3] = ["task", "object", "value"];

/// Writes the packets of all processes.
pub(super) struct Packets<'w> {
    out: &'w mut dyn Write,
    buffer: Vec<u8>,
    short: Short,
    /// The names that the packet brings which is written.
    interned: Vec<u8>,
    failed: Option<Error>,
    /// Number of the running process's sequence, from 1.
    sequence: u32,
    tracks: u64,
    pids: HashSet<i32>,
    pid: i32,
    tids: HashSet<i32>,
    names: HashMap<String, u64>,
    /// Names that the next packet brings.
    fresh: Vec<Interned>,
    processors: Processors,
    /// Whether processors are written as the process gives them.
    pub(super) own_processors: bool,
    /// Numbers of threads by their tracks.
    threads: HashMap<u64, i32>,
    /// Slices, instants and values of counters so far.
    pub(super) events: u64,
    /// Flows that begin.
    pub(super) flows: u64,
}

impl<'w> Packets<'w> {
    /// `begin` and `realtime`: the first event by the monotonic clock and by the time of day, ns.
    pub(super) fn new(out: &'w mut dyn Write, begin: u64, realtime: u64) -> Self {
        let mut packets = Self {
            out,
            buffer: Vec::with_capacity(CHUNK * 2),
            short: Short::new(),
            interned: Vec::new(),
            failed: None,
            sequence: 1,
            tracks: 0,
            pids: HashSet::new(),
            pid: 0,
            tids: HashSet::new(),
            names: HashMap::new(),
            fresh: Vec::new(),
            processors: Processors::default(),
            own_processors: false,
            threads: HashMap::new(),
            events: 0,
            flows: 0,
        };
        let clock = |clock, time| Clock {
            clock_id: Some(clock),
            timestamp: Some(time),
        };
        packets.send(TracePacket {
            clock_snapshot: Some(ClockSnapshot {
                // Readers take the times of a kernel's scheduler for those of the clock that goes on in sleep. Here they are those of the
                // other one, which is the same as long as the machine does not sleep.
                clocks: vec![
                    clock(MONOTONIC, begin),
                    clock(BOOTTIME, begin),
                    clock(REALTIME, realtime),
                ],
                primary_trace_clock: Some(MONOTONIC),
            }),
            ..TracePacket::default()
        });
        packets.sequence = 0;
        packets
    }

    fn send(&mut self, mut packet: TracePacket) {
        packet.trusted_packet_sequence_id = Some(self.sequence);
        prost::encoding::message::encode(PACKET, &packet, &mut self.buffer);
        self.flush_if_full();
    }

    #[inline]
    fn flush_if_full(&mut self) {
        if self.buffer.len() >= CHUNK {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(&self.buffer).err();
        }
        self.buffer.clear();
    }

    /// Begins a sequence of packets that speak of no process.
    pub(super) fn of_no_process(&mut self) {
        self.sequence += 1;
    }

    /// Events of a processor.
    pub(super) fn bundle(&mut self, bundle: FtraceEventBundle) {
        self.events += bundle.event.len() as u64;
        self.send(TracePacket {
            ftrace_events: Some(bundle),
            ..TracePacket::default()
        });
    }

    /// Processes and threads that are known from now on.
    pub(super) fn processes(&mut self, time: u64, processes: Vec<Process>, threads: Vec<Thread>) {
        self.send(TracePacket {
            timestamp: Some(time),
            process_tree: Some(ProcessTree { processes, threads }),
            ..TracePacket::default()
        });
    }

    /// Writes what is left of processors.
    pub(super) fn end_processors(&mut self) {
        let mut processors = std::mem::take(&mut self.processors);
        processors.flush(self);
    }

    fn describe(&mut self, mut descriptor: TrackDescriptor) -> u64 {
        self.tracks += 1;
        descriptor.uuid = Some(self.tracks);
        self.send(TracePacket {
            track_descriptor: Some(descriptor),
            ..TracePacket::default()
        });
        self.tracks
    }

    /// Something on a track at a time.
    #[inline]
    fn event(&mut self, time: u64, event: Event<'_>) {
        self.events += u64::from(event.kind != Kind::End);
        self.flows += event.flows.begin.len() as u64;
        self.interned.clear();
        if !self.fresh.is_empty() {
            let names = InternedData {
                event_names: std::mem::take(&mut self.fresh),
                ..InternedData::default()
            };
            self.interned = names.encode_to_vec();
        }
        let header = Header {
            time,
            sequence: self.sequence,
            flags: NEEDS_STATE,
            names: &self.interned,
        };
        track_event::packet(&mut self.buffer, &mut self.short, header, &event);
        self.flush_if_full();
    }
}

/// A slice or instant.
fn labelled(kind: Kind, track: u64, label: Label, flows: FlowsHere<'_>) -> Event<'_> {
    Event {
        kind,
        track,
        label: Some(label),
        value: None,
        flows,
    }
}

impl SliceWriter for Packets<'_> {
    /// Its packets are a sequence of their own.
    fn process(&mut self, pid: u64, name: &str) -> u64 {
        self.sequence += 1;
        self.names.clear();
        self.tids.clear();
        self.fresh.clear();
        let interned = |names: &[&str]| {
            let named = |(iid, name): (u64, &&str)| Interned {
                iid: Some(iid),
                name: Some((*name).to_owned()),
            };
            (1..).zip(names).map(named).collect()
        };
        self.pid = unused(&mut self.pids, pid);
        let process = ProcessDescriptor {
            pid: Some(self.pid),
            process_name: Some(name.to_owned()),
        };
        self.tracks += 1;
        self.send(TracePacket {
            sequence_flags: Some(STATE_CLEARED),
            interned_data: Some(InternedData {
                event_categories: interned(&CATEGORIES),
                event_names: Vec::new(),
                debug_annotation_names: interned(&NOTES),
            }),
            trace_packet_defaults: Some(TracePacketDefaults {
                timestamp_clock_id: Some(MONOTONIC),
            }),
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(self.tracks),
                process: Some(process),
                ..TrackDescriptor::default()
            }),
            ..TracePacket::default()
        });
        self.tracks
    }

    fn thread(&mut self, tid: u32, name: &str) -> u64 {
        let (pid, tid) = (self.pid, unused(&mut self.tids, tid.into()));
        let thread = ThreadDescriptor {
            pid: Some(pid),
            tid: Some(tid),
            thread_name: Some(name.to_owned()),
        };
        let track = self.describe(TrackDescriptor {
            thread: Some(thread),
            ..TrackDescriptor::default()
        });
        self.processors.named((pid, tid), name);
        self.threads.insert(track, tid);
        track
    }

    fn track(&mut self, parent: u64, name: &str) -> u64 {
        self.describe(TrackDescriptor {
            name: Some(name.to_owned()),
            parent_uuid: Some(parent),
            ..TrackDescriptor::default()
        })
    }

    fn counter(&mut self, parent: u64, name: &str, unit: &str) -> u64 {
        let bytes = unit == "bytes";
        self.describe(TrackDescriptor {
            name: Some(name.to_owned()),
            parent_uuid: Some(parent),
            counter: Some(CounterDescriptor {
                unit: bytes.then_some(BYTES),
                unit_name: (!bytes && !unit.is_empty()).then(|| unit.to_owned()),
            }),
            ..TrackDescriptor::default()
        })
    }

    /// The next packet brings it when it is new.
    fn name(&mut self, text: &str) -> u64 {
        if let Some(iid) = self.names.get(text) {
            return *iid;
        }
        let iid = self.names.len() as u64 + 1;
        self.names.insert(text.to_owned(), iid);
        self.fresh.push(Interned {
            iid: Some(iid),
            name: Some(text.to_owned()),
        });
        iid
    }

    fn begin(&mut self, time: u64, track: u64, label: Label, flows: FlowsHere<'_>) {
        self.event(time, labelled(Kind::Begin, track, label, flows));
    }

    fn end(&mut self, time: u64, track: u64, flows: FlowsHere<'_>) {
        let event = Event {
            kind: Kind::End,
            track,
            label: None,
            value: None,
            flows,
        };
        self.event(time, event);
    }

    fn whole(&mut self, begin: u64, end: u64, track: u64, label: Label) {
        self.begin(begin, track, label, FlowsHere::default());
        self.end(end, track, FlowsHere::default());
    }

    fn instant(&mut self, time: u64, track: u64, label: Label, flows: FlowsHere<'_>) {
        self.event(time, labelled(Kind::Instant, track, label, flows));
    }

    fn value(&mut self, time: u64, counter: u64, value: Number) {
        let event = Event {
            kind: Kind::Counter,
            track: counter,
            label: None,
            value: Some(value),
            flows: FlowsHere::default(),
        };
        self.event(time, event);
    }

    fn switch(&mut self, time: u64, cpu: u32, from: Option<u32>, to: u32) {
        if self.own_processors {
            let number = |tid: u32| i32::try_from(tid).unwrap_or(i32::MAX);
            let mut processors = std::mem::take(&mut self.processors);
            processors.turn((time, cpu), from.map(number), number(to), self);
            self.processors = processors;
        }
    }

    fn scheduled(&mut self, time: u64, track: u64, cpu: u32, state: Scheduled) {
        let Some(tid) = self.threads.get(&track).copied() else {
            return;
        };
        if self.own_processors {
            let mut processors = std::mem::take(&mut self.processors);
            processors.scheduled((time, cpu), tid, state, self);
            self.processors = processors;
        }
    }

    fn failure(&mut self) -> Option<Error> {
        self.failed.take()
    }
}

/// The number itself, or one that is not in use.
fn unused(used: &mut HashSet<i32>, number: u64) -> i32 {
    let given = i32::try_from(number).ok().filter(|number| *number > 0);
    if let Some(number) = given
        && used.insert(number)
    {
        return number;
    }
    let mut made_up = MADE_UP.saturating_add(i32::try_from(used.len()).unwrap_or(0));
    while !used.insert(made_up) {
        made_up = made_up.wrapping_add(1);
    }
    made_up
}
