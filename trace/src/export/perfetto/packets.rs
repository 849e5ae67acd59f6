//! Packets, the names and the tracks that they speak of.

use std::io::{Error, Write};

use hashbrown::{HashMap, HashSet};

use super::proto::*;

/// Bytes that are written at a time.
const CHUNK: usize = 1 << 16;
/// Process and thread numbers that the system did not give begin here: unknown ones, and those that occur twice.
const MADE_UP: i32 = 1_000_000_000;

/// What each slice and instant is: the categories of the output, in order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    State,
    Parallel,
    Implicit,
    Task,
    Create,
    Taskloop,
    Work,
    Wait,
    LockWait,
    LockHeld,
    Taskgroup,
    Block,
    Schedule,
    Target,
    Flush,
    Region,
    Call,
    UserEvent,
    Cancel,
    Dependence,
}

/// Their names.
const CATEGORIES: [&str; 20] = [
    "state",
    "parallel",
    "implicit task",
    "task",
    "task creation",
    "taskloop",
    "work-sharing",
    "wait",
    "lock wait",
    "lock held",
    "taskgroup",
    "block",
    "schedule",
    "target",
    "flush",
    "region",
    "call",
    "user event",
    "cancellation",
    "dependence",
];

/// A number with a slice or an instant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Note {
    /// Number of a task in order of creation.
    Task(u64),
    /// Address of a lock.
    Object(u64),
    /// Value of a user event.
    Value(u64),
}

const NOTES: [&str; 3] = ["task", "object", "value"];

impl From<Note> for DebugAnnotation {
    fn from(note: Note) -> Self {
        let (iid, number, address) = match note {
            Note::Task(number) => (1, Some(number), None),
            Note::Object(address) => (2, None, Some(address)),
            Note::Value(number) => (3, Some(number), None),
        };
        Self {
            name_iid: Some(iid),
            uint_value: number,
            pointer_value: address,
        }
    }
}

/// Writes the packets of all processes.
pub(super) struct Packets<'w> {
    out: &'w mut dyn Write,
    buffer: Vec<u8>,
    pub(super) failed: Option<Error>,
    /// Number of the running process's sequence, from 1.
    sequence: u32,
    tracks: u64,
    /// The track of each process.
    pub(super) processes: Vec<u64>,
    pids: HashSet<i32>,
    pid: i32,
    tids: HashSet<i32>,
    names: HashMap<String, u64>,
    /// Names that the next packet brings.
    fresh: Vec<Interned>,
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
            failed: None,
            sequence: 1,
            tracks: 0,
            processes: Vec::new(),
            pids: HashSet::new(),
            pid: 0,
            tids: HashSet::new(),
            names: HashMap::new(),
            fresh: Vec::new(),
            events: 0,
            flows: 0,
        };
        let clock = |clock, time| Clock {
            clock_id: Some(clock),
            timestamp: Some(time),
        };
        packets.send(TracePacket {
            clock_snapshot: Some(ClockSnapshot {
                clocks: vec![clock(MONOTONIC, begin), clock(REALTIME, realtime)],
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

    /// Begins a process, whose packets are a sequence of their own: the number of its track.
    pub(super) fn process(&mut self, pid: u64, name: &str) -> u64 {
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
        self.processes.push(self.tracks);
        self.tracks
    }

    /// The track of a thread of the process.
    pub(super) fn thread(&mut self, tid: u32, name: &str) -> u64 {
        let thread = ThreadDescriptor {
            pid: Some(self.pid),
            tid: Some(unused(&mut self.tids, tid.into())),
            thread_name: Some(name.to_owned()),
        };
        self.describe(TrackDescriptor {
            thread: Some(thread),
            ..TrackDescriptor::default()
        })
    }

    /// A further track of a thread or process.
    pub(super) fn track(&mut self, parent: u64, name: &str) -> u64 {
        self.describe(TrackDescriptor {
            name: Some(name.to_owned()),
            parent_uuid: Some(parent),
            ..TrackDescriptor::default()
        })
    }

    /// The track of a counter of a thread or process. `unit`: `bytes`, another one, or empty.
    pub(super) fn counter(&mut self, parent: u64, name: &str, unit: &str) -> u64 {
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

    fn describe(&mut self, mut descriptor: TrackDescriptor) -> u64 {
        self.tracks += 1;
        descriptor.uuid = Some(self.tracks);
        self.send(TracePacket {
            track_descriptor: Some(descriptor),
            ..TracePacket::default()
        });
        self.tracks
    }

    /// The number of a name, which the next packet brings when it is new.
    pub(super) fn name(&mut self, text: &str) -> u64 {
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

    /// Something on a track at a time.
    pub(super) fn event(&mut self, time: u64, event: TrackEvent) {
        let fresh = std::mem::take(&mut self.fresh);
        self.events += u64::from(event.r#type != Some(SLICE_END));
        self.flows += event.flow_ids.len() as u64;
        self.send(TracePacket {
            timestamp: Some(time),
            sequence_flags: Some(NEEDS_STATE),
            interned_data: (!fresh.is_empty()).then(|| InternedData {
                event_names: fresh,
                ..InternedData::default()
            }),
            track_event: Some(event),
            ..TracePacket::default()
        });
    }
}

impl Category {
    pub(super) fn iid(self) -> Option<u64> {
        Some(self as u64 + 1)
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
