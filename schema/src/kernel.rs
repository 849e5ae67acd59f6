//! The events of a trace's kernel part: who ran on which processor, as `instr run` records it. The part is a CTF trace of its own, in the folder
//! `kernel` of a trace, with a stream for each processor. The clock is `CLOCK_MONOTONIC` in nanoseconds.

use crate::declarations::declare;
use crate::events::{event, kind, text, u32, u64};
use crate::generate::wire_1;
use crate::{Event, Kind, Value};

/// Version of this part of the format (`kernel_format` in its metadata). Version 1 has no wake-ups, no priorities and nothing of `sched_yield`.
pub const FORMAT: u64 = 2;

/// The oldest version that is read.
pub const OLDEST: u64 = 1;

/// Bytes of a packet's header and context.
pub const HEADER_BYTES: usize = 76;

/// Why a thread left its processor.
pub const LEAVE: Kind = Kind {
    rust: "Leave",
    c: "LEAVE_",
    bits: false,
    doc: "Why a thread left its processor.",
    values: &[
        Value {
            number: 0,
            c: "BLOCKED",
            rust: "Blocked",
            doc: "It waits: for a time, a lock, another process, input or output.",
        },
        Value {
            number: 1,
            c: "READY",
            rust: "Ready",
            doc: "It could go on: another thread took the processor, or it gave it away (`sched_yield`) and the recorder cannot tell that apart.",
        },
        Value {
            number: 2,
            c: "YIELDED",
            rust: "Yielded",
            doc: "It could go on, and gave the processor away (`sched_yield`).",
        },
    ],
};

/// Where a thread was woken.
pub const WAKER: Kind = Kind {
    rust: "Waker",
    c: "WAKER_",
    bits: false,
    doc: "Where a thread was woken.",
    values: &[
        Value {
            number: 0,
            c: "THREAD",
            rust: "Thread",
            doc: "By the thread that is named.",
        },
        Value {
            number: 1,
            c: "INTERRUPT",
            rust: "Interrupt",
            doc: "In an interrupt, a soft one (packets of the network, timers) included: the thread below has nothing to do with it.",
        },
        Value {
            number: 2,
            c: "UNKNOWN",
            rust: "Unknown",
            doc: "By the thread that is named, or in an interrupt above it: the kernel does not say.",
        },
    ],
};

/// All of them, by id.
#[rustfmt::skip]
pub const EVENTS: &[Event] = &[
    event(1, "switch_in", &[u32("tid"), u32("pid")], "the processor begins to run this thread"),
    event(2, "switch_out", &[u32("tid"), u32("pid"), kind("leave", &LEAVE)], "it ends to run this thread; leave 0: the thread waits, 1: it could go on, 2: it could, and gave the processor away (`sched_yield`; 1 where the recorder cannot tell)"),
    event(3, "fork", &[u32("tid"), u32("pid"), u32("parent_tid"), u32("parent_pid")], "the parent makes this thread; where pid is not parent_pid, also a process"),
    event(4, "exit", &[u32("tid"), u32("pid")], "the thread ends"),
    event(5, "exec", &[u32("tid"), u32("pid"), text("name")], "the process becomes another program; its name, at most 15 bytes"),
    event(6, "name", &[u32("tid"), u32("pid"), text("name")], "the thread gives itself a name, or had it when the recording of the whole system began"),
    event(7, "arguments", &[u32("tid"), u32("pid"), text("text")], "the program of the process with its arguments, a blank between them, where the process lived long enough to be asked"),
    event(8, "lost", &[u64("count")], "so many events of the processor were lost before this one, because nobody had read the earlier ones"),
    event(9, "wake", &[u32("tid"), u32("pid"), u32("by_tid"), u32("by_pid"), u32("by_processor"), kind("context", &WAKER)], "the thread that waits can go on; who ran on the processor that woke it, which may not be the stream's. context 0: that thread woke it, 1: an interrupt above it, 2: not known which"),
    event(10, "priority", &[u32("tid"), u32("pid"), u32("priority")], "the thread begins to run with this priority of the kernel's: 120 is nice 0, 100 to 139 are nice -20 to 19, less is real time"),
];

const TYPES: &str = "\
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 32; } := u32;
typealias integer { size = 64; align = 32; } := u64;
typealias integer { size = 64; align = 32; map = clock.monotonic.value; } := time_t;
typealias integer { size = 56; align = 8; map = clock.monotonic.value; } := time56_t;

";

const STREAM: &str = "\
struct packet_context {
  time_t timestamp_begin;
  time_t timestamp_end;
  u64 content_size;
  u64 packet_size;
  u64 packet_seq_num;
  u64 events_discarded;
  u32 cpu_id;
};

struct event_header {
  u8 id;
  time56_t timestamp;
} align(32);

stream {
  id = 0;
  event.header := struct event_header;
  packet.context := struct packet_context;
};

";

/// First line of the metadata, and the types.
#[must_use]
pub fn types() -> String {
    [crate::declarations::FIRST, TYPES].concat()
}

/// The stream and its events, which are the end of the text.
#[must_use]
pub fn events() -> String {
    let mut out = STREAM.to_owned();
    for event in EVENTS {
        declare(&mut out, event, &wire_1(event));
    }
    out
}
