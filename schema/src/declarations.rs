//! What the metadata of every trace declares to readers of CTF: its types, its stream and its events. It depends on the size of an address
//! alone, so that boards that give their trace away byte by byte leave it out, and `instr extract` puts it in (docs/trace-format.md).

use std::fmt::Write as _;

use crate::events::EVENTS;
use crate::generate::wire;

/// First line of the metadata, and the empty line behind it.
pub const FIRST: &str = "/* CTF 1.8 */\n\n";

/// Types of all targets.
pub(crate) const TYPES: &str = "\
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 32; } := u32;
typealias integer { size = 64; align = 32; } := u64;
typealias integer { size = 64; align = 32; signed = true; } := i64;
typealias integer { size = 64; align = 32; map = clock.instr.value; } := ticks_t;
typealias integer { size = 56; align = 8; map = clock.instr.value; } := ticks56_t;
";

/// The stream, and what its packets and events begin with.
pub(crate) const STREAM: &str = "\
struct packet_context {
  ticks_t timestamp_begin;
  ticks_t timestamp_end;
  u64 content_size;
  u64 packet_size;
  u64 packet_seq_num;
  u64 events_discarded;
  u32 thread;
  u32 os_tid;
  u32 task_thread;
  u32 task_seq;
  u32 region_thread;
  u32 region_seq;
  u32 flags;
  u32 tasks_created;
};

struct event_header {
  u8 id;
  ticks56_t timestamp;
} align(32);

struct depend {
  addr_t address;
  u32 kind;
};

stream {
  id = 0;
  event.header := struct event_header;
  packet.context := struct packet_context;
};

";

/// The types, which stand behind [`FIRST`], for addresses of so many bits.
#[must_use]
pub fn types(word_bits: u32) -> String {
    format!(
        "{TYPES}typealias integer {{ size = {word_bits}; align = 32; signed = false; base = 16; }} := addr_t;\n\n"
    )
}

/// The stream and its events, which are the end of the text.
#[must_use]
pub fn events() -> String {
    let mut out = STREAM.to_owned();
    for event in EVENTS {
        _ = write!(
            out,
            "event {{ id = {}; name = \"{}\"; stream_id = 0; fields := struct {{ ",
            event.id, event.name
        );
        for (ty, name) in event.fields.iter().flat_map(wire) {
            let ty = match ty {
                "addr" => "addr_t",
                "depend" => "struct depend",
                other => other,
            };
            _ = write!(out, "{ty} {name}; ");
        }
        out.push_str("}; };\n");
    }
    out
}

/// A number that is another one when anything of this is.
#[must_use]
pub fn number() -> u32 {
    crc32fast::hash((types(32) + &types(64) + &events()).as_bytes())
}
