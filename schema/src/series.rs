//! The events of series: what a thread of `instr run` reads of the machine and of processes while the program runs. They are a stream class of their own
//! (id 1, file `series_0000`) in the trace's kernel part, and have its clock.

use crate::declarations::declare_in;
use crate::events::{event, kind, text, u32, u64};
use crate::generate::wire_1;
use crate::{Event, Kind, Value};

/// Id of the stream.
pub const STREAM: u32 = 1;

const fn value(number: u32, c: &'static str, rust: &'static str, doc: &'static str) -> Value {
    Value {
        number,
        c,
        rust,
        doc,
    }
}

/// What reads a series: the tables of a configuration.
pub const MODULE: Kind = Kind {
    rust: "Module",
    c: "MODULE_",
    bits: false,
    doc: "What reads a series.",
    values: &[
        value(0, "counters", "Counters", "Events of perf, of threads."),
        value(1, "memory-traffic", "MemoryTraffic", "Memory controllers."),
        value(2, "numa", "Numa", "Where the memory of processes is."),
        value(3, "energy", "Energy", "Energy by RAPL."),
        value(4, "frequency", "Frequency", "Clocks of processors."),
        value(5, "pressure", "Pressure", "Pressure stall information."),
        value(
            6,
            "process",
            "Process",
            "Memory, faults, input and output of processes.",
        ),
        value(7, "processors", "Processors", "How busy processors are."),
    ],
};

/// What a series is of.
pub const SCOPE: Kind = Kind {
    rust: "Scope",
    c: "SCOPE_",
    bits: false,
    doc: "What a series is of.",
    values: &[
        value(0, "machine", "Machine", "The machine."),
        value(1, "node", "Node", "A node of memory, by its number."),
        value(2, "processor", "Processor", "A processor, by its number."),
        value(3, "tree", "Tree", "The program and all that it started."),
        value(4, "process", "Process", "A process."),
        value(5, "thread", "Thread", "A thread."),
    ],
};

/// What its values mean.
pub const NATURE: Kind = Kind {
    rust: "Nature",
    c: "NATURE_",
    bits: false,
    doc: "What the values of a series mean.",
    values: &[
        value(0, "level", "Level", "How much there is at this time."),
        value(
            1,
            "total",
            "Total",
            "How much there was since the begin of the series.",
        ),
    ],
};

/// Their unit.
pub const UNIT: Kind = Kind {
    rust: "Unit",
    c: "UNIT_",
    bits: false,
    doc: "The unit of a series.",
    values: &[
        value(0, "count", "Count", "A number of things."),
        value(1, "ns", "Ns", "Nanoseconds."),
        value(2, "bytes", "Bytes", "Bytes."),
        value(3, "uJ", "Microjoules", "Microjoules."),
        value(4, "Hz", "Hertz", "Hertz."),
        value(5, "ppm", "Ppm", "Parts of a million."),
    ],
};

/// All of them, by id. None ends with a text: what fills it up at the end of a packet would look like an event.
#[rustfmt::skip]
pub const EVENTS: &[Event] = &[
    event(1, "series", &[u32("series"), kind("module", &MODULE), kind("scope", &SCOPE), u32("pid"), u32("number"), kind("nature", &NATURE), text("name"), kind("unit", &UNIT)], "the series of this number, which are given from 0 on. module 0: counters, 1: memory-traffic, 2: numa, 3: energy, 4: frequency, 5: pressure, 6: process, 7: processors. scope 0: machine, 1: node, 2: processor, 3: the program and all that it started, 4: process, 5: thread; `number` is that of the node, processor or thread. nature 0: level, 1: total since the begin of the series. unit 0: a number, 1: ns, 2: bytes, 3: microjoules, 4: Hz, 5: parts of a million"),
    event(2, "value", &[u32("series"), u64("value")], "a value of the series"),
    event(3, "estimate", &[u32("series"), u64("value"), u64("counted"), u64("enabled_ns"), u64("running_ns")], "a value that was not counted all the time: `counted` in `running_ns` of `enabled_ns`, from which `value` follows"),
    event(4, "refused", &[text("why"), kind("module", &MODULE)], "what the module does not have here, and why"),
    event(5, "readings", &[kind("module", &MODULE), u32("late"), u64("period_ns"), u64("readings"), u64("ns")], "at the end: how often the module was read, how long that took together, and how many readings were left out because those before took too long"),
];

const DECLARATION: &str = "\
struct series_context {
  time_t timestamp_begin;
  time_t timestamp_end;
  u64 content_size;
  u64 packet_size;
  u64 packet_seq_num;
  u64 events_discarded;
};

stream {
  id = 1;
  event.header := struct event_header;
  packet.context := struct series_context;
};

";

/// Bytes of a packet's header and context.
pub const HEADER_BYTES: usize = 72;

/// The stream and its events, behind those of the kernel's part.
#[must_use]
pub fn declarations() -> String {
    let mut out = DECLARATION.to_owned();
    for event in EVENTS {
        declare_in(STREAM, &mut out, event, &wire_1(event));
    }
    out
}

/// Name of a module in a configuration and in texts, by its number.
pub fn modules() -> impl Iterator<Item = &'static str> {
    MODULE.values.iter().map(|value| value.c)
}
