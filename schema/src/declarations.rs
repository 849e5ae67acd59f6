//! What the metadata of every trace declares to readers of CTF: its types, its stream and its events. It depends on the size of an address
//! alone, so that boards that give their trace away byte by byte leave it out, and `instr extract` puts it in (docs/trace-format.md).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::events::EVENTS;
use crate::generate::wire_2;
use crate::{Event, Part};

/// Bits of an event's id in its header, and of the clock beside it.
const ID_BITS: u32 = 7;
const TIME_BITS: u32 = 32 - ID_BITS;

/// First line of the metadata, and the empty line behind it.
pub const FIRST: &str = "/* CTF 1.8 */\n\n";

/// Types of all targets. A size that is no multiple of 8 stands at any bit (CTF 1.8, 4.1.5).
pub(crate) const TYPES: &str = "\
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 32; } := u32;
typealias integer { size = 64; align = 32; } := u64;
typealias integer { size = 64; align = 32; signed = true; } := i64;
typealias integer { size = 64; align = 32; map = clock.instr.value; } := ticks_t;
typealias integer { size = 32; align = 32; base = 16; } := code_t;
";

/// An entry of a `depend` clause, by the bits of an address.
const fn depend(word_bits: u32) -> &'static str {
    match word_bits {
        32 => "struct depend { addr_t address; u32 kind; };\n",
        _ => {
            "struct depend { integer { size = 56; align = 8; base = 16; } address; u8 kind; } align(32);\n"
        }
    }
}

/// What packets begin with.
const CONTEXT: &str = "\
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

";

/// What events begin with.
const HEADER: &str = "\
struct event_header {
  enum : u7 { compact = 0 ... 126, extended = 127 } id;
  variant <id> {
    struct { integer { size = 25; map = clock.instr.value; } timestamp; } compact;
    struct { u25 id; integer { size = 64; align = 1; map = clock.instr.value; } timestamp; } extended;
  } v;
} align(32);

";

const STREAM: &str = "\
stream {
  id = 0;
  event.header := struct event_header;
  packet.context := struct packet_context;
};

";

/// Sizes of the numbers that share a word with others, in bits.
fn sizes() -> BTreeSet<u32> {
    let mut sizes = BTreeSet::from([ID_BITS, TIME_BITS]);
    for part in EVENTS.iter().flat_map(|event| event.packed) {
        if let Part::Bits(numbers) = part {
            sizes.extend(
                numbers
                    .iter()
                    .map(|(_, size)| *size)
                    .filter(|size| *size != 8),
            );
        }
    }
    sizes
}

/// The types, which stand behind [`FIRST`], for addresses of so many bits.
#[must_use]
pub fn types(word_bits: u32) -> String {
    let mut out = TYPES.to_owned();
    for size in sizes() {
        _ = writeln!(out, "typealias integer {{ size = {size}; }} := u{size};");
    }
    _ = writeln!(
        out,
        "typealias integer {{ size = {word_bits}; align = 32; base = 16; }} := addr_t;"
    );
    out.push_str(depend(word_bits));
    out.push('\n');
    out
}

/// The stream and its events, which are the end of the text.
#[must_use]
pub fn events() -> String {
    let mut out = [CONTEXT, HEADER, STREAM].concat();
    for event in EVENTS {
        declare(&mut out, event, &wire_2(event));
    }
    out
}

/// The declaration of an event with these fields.
pub(crate) fn declare(out: &mut String, event: &Event, fields: &[(String, String)]) {
    declare_in(0, out, event, fields);
}

/// The same of an event in streams of this id.
pub(crate) fn declare_in(
    stream: u32,
    out: &mut String,
    event: &Event,
    fields: &[(String, String)],
) {
    _ = write!(
        out,
        "event {{ id = {}; name = \"{}\"; stream_id = {stream}; fields := struct {{ ",
        event.id, event.name
    );
    for (ty, name) in fields {
        let ty = match ty.as_str() {
            "addr" => "addr_t",
            "code" => "code_t",
            "depend" => "struct depend",
            other => other,
        };
        _ = write!(out, "{ty} {name}; ");
    }
    out.push_str("}; };\n");
}

/// The same texts in version 1 of the format, for boards whose programs were built with that.
pub mod version_1 {
    use std::fmt::Write as _;

    use super::{CONTEXT, STREAM, declare};
    use crate::events::EVENTS;
    use crate::generate::wire_1;

    const TYPES: &str = "\
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 32; } := u32;
typealias integer { size = 64; align = 32; } := u64;
typealias integer { size = 64; align = 32; signed = true; } := i64;
typealias integer { size = 64; align = 32; map = clock.instr.value; } := ticks_t;
typealias integer { size = 56; align = 8; map = clock.instr.value; } := ticks56_t;
";

    const HEADER: &str = "\
struct event_header {
  u8 id;
  ticks56_t timestamp;
} align(32);

struct depend {
  addr_t address;
  u32 kind;
};

";

    /// As [`super::types`].
    #[must_use]
    pub fn types(word_bits: u32) -> String {
        let mut out = TYPES.to_owned();
        _ = write!(
            out,
            "typealias integer {{ size = {word_bits}; align = 32; signed = false; base = 16; }} := addr_t;\n\n"
        );
        out
    }

    /// As [`super::events`].
    #[must_use]
    pub fn events() -> String {
        let mut out = [CONTEXT, HEADER, STREAM].concat();
        for event in EVENTS.iter().filter(|event| event.id <= LAST) {
            declare(&mut out, event, &wire_1(event));
        }
        out
    }

    /// The last event that there was.
    const LAST: u8 = 91;

    /// As [`super::number`].
    #[must_use]
    pub fn number() -> u32 {
        crc32fast::hash((types(32) + &types(64) + &events()).as_bytes())
    }

    #[cfg(test)]
    mod tests {
        /// What the last programs of version 1 have.
        #[test]
        fn the_declarations_of_version_1_are_those_of_its_programs() {
            assert_eq!(super::number(), 0xfe67_55fd);
        }
    }
}

/// A number that is another one when anything of this is.
#[must_use]
pub fn number() -> u32 {
    crc32fast::hash((types(32) + &types(64) + &events()).as_bytes())
}
