//! The events of a trace's kernel part: who ran on which processor, as `instr run` records it. The part is a CTF trace of its own, in the folder
//! `kernel` of a trace, with a stream for each processor. The clock is `CLOCK_MONOTONIC` in nanoseconds.

use crate::declarations::declare;
use crate::events::{event, kind, text, u32, u64};
use crate::generate::wire_1;
use crate::{Event, Kind, Value};

/// Version of this part of the format (`kernel_format` in its metadata).
pub const FORMAT: u64 = 1;

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
            doc: "It could go on: another thread took the processor, or it gave it away (`sched_yield`).",
        },
    ],
};

/// All of them, by id.
#[rustfmt::skip]
pub const EVENTS: &[Event] = &[
    event(1, "switch_in", &[u32("tid"), u32("pid")], "the processor begins to run this thread"),
    event(2, "switch_out", &[u32("tid"), u32("pid"), kind("leave", &LEAVE)], "it ends to run this thread; leave 0: the thread waits, 1: it could go on"),
    event(3, "fork", &[u32("tid"), u32("pid"), u32("parent_tid"), u32("parent_pid")], "the parent makes this thread; where pid is not parent_pid, also a process"),
    event(4, "exit", &[u32("tid"), u32("pid")], "the thread ends"),
    event(5, "exec", &[u32("tid"), u32("pid"), text("name")], "the process becomes another program; its name, at most 15 bytes"),
    event(6, "name", &[u32("tid"), u32("pid"), text("name")], "the thread gives itself a name, or had it when the recording of the whole system began"),
    event(7, "arguments", &[u32("tid"), u32("pid"), text("text")], "the program of the process with its arguments, a blank between them, where the process lived long enough to be asked"),
    event(8, "lost", &[u64("count")], "so many events of the processor were lost before this one, because nobody had read the earlier ones"),
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
