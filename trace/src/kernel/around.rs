//! The metadata of a trace whose program recorded nothing itself, so that the kernel's part is all it has.

use std::fmt::Write as _;

use instr_schema::declarations::{FIRST, events, types};

use super::info::Info;
use crate::metadata::escaped;

/// The text: of a closed trace without streams, by the layout of the runtime, which reads it when the program runs again. `empty`: the program should have recorded
/// something, and its trace gives its name back to the run before.
#[must_use]
pub fn metadata(info: &Info, executable: &str, run: u64, empty: bool) -> String {
    let mut out = [FIRST, &types(64)].concat();
    out.push_str(
        "trace {\n    major = 1;\n    minor = 8;\n    byte_order = le;\n    packet.header := struct {\n        u32 magic;\n        u8 uuid[16];\n        u32 stream_id;\n    };\n};\n\nenv {\n",
    );
    let target = format!("{}-linux", std::env::consts::ARCH);
    let texts = [
        ("hostname", info.hostname.as_str()),
        ("tracer_name", "instr"),
        ("program", &info.program),
        ("executable", executable),
        ("target", &target),
        ("clock_source", "monotonic"),
        ("openmp", "none"),
        ("arguments", &info.arguments),
    ];
    for (key, value) in texts {
        _ = writeln!(out, "    {key} = \"{}\";", escaped(value));
    }
    let numbers = [
        ("format", 2),
        ("pid", info.pid.into()),
        ("word_bits", 64),
        ("start_ticks", info.start_monotonic_ns),
        ("start_monotonic_ns", info.start_monotonic_ns),
        ("start_realtime_ns", info.start_realtime_ns),
        ("closed", 1),
        ("run", run),
        ("empty", empty.into()),
    ];
    for (key, value) in numbers {
        _ = writeln!(out, "    {key} = {value};");
    }
    out.push_str("};\n\n");
    out.push_str(&super::info::clock("instr", info));
    out.push_str(&events());
    out
}
