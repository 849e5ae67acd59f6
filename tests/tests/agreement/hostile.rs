//! Sequences of valid events that nobody ends: every output takes a time in proportion to their number, and all agree.

use std::io::Result;
use std::path::Path;

use instr_tests::outcome::{Check, ensure};
use instr_trace::synth::{self, START_TICKS, StreamWriter};

use crate::compare;

/// Times each sequence is repeated.
const TIMES: u32 = 20_000;
/// Processor time for all outputs of one trace, s. What is quadratic takes many times as long even in optimized tools.
const LIMIT: f64 = 20.0;

type Stream = StreamWriter<Vec<u8>>;
type Step = fn(&mut Stream, u64, u32) -> Result<()>;

/// What is repeated, by name: at a tick, with a number.
pub(crate) const CASES: [(&str, Step); 12] = [
    ("locks asked for and refused", |stream, at, number| {
        let object = 0x1000 + u64::from(number) * 8;
        stream.mutex_acquire(at, 5u32, object)?;
        stream.mutex_failed(at + 1, 5u32, object + 4)
    }),
    ("locks that are kept", |stream, at, number| {
        let object = 0x1000 + u64::from(number) * 8;
        stream.mutex_acquired(at, 5u32, object)?;
        stream.mutex_released(at + 1, 5u32, object + 4)
    }),
    ("creations without an end", |stream, at, number| {
        stream.task_create(at, number, 0x100, 0, &[])
    }),
    ("implicit tasks without an end", |stream, at, number| {
        stream.parallel_begin(at, number, 0x100, 1, 0u32)?;
        stream.implicit_begin(at + 1, (0, number), 0, 1)?;
        stream.parallel_end(at + 2, number)
    }),
    (
        "regions and implicit tasks without an end",
        |stream, at, number| {
            stream.parallel_begin(at, number, 0x100, 1, 0u32)?;
            stream.implicit_begin(at + 1, (0, number), 0, 1)
        },
    ),
    ("ends without a begin", |stream, at, number| {
        stream.parallel_begin(at, number, 0x100, 1, 0u32)?;
        stream.parallel_end(at + 1, number + 1_000_000)?;
        stream.implicit_end(at + 2)
    }),
    ("tasks without an end", |stream, at, number| {
        stream.task_begin(at, (0, number))
    }),
    ("tasks that are suspended", |stream, at, number| {
        stream.task_begin(at, (0, number))?;
        stream.sync_begin(at + 1, 3u32)?;
        stream.task_suspend(at + 2)
    }),
    ("waits without an end", |stream, at, number| {
        stream.sync_begin(at, 1 + number % 10)?;
        stream.sync_end(at + 1, 1 + (number + 1) % 10)
    }),
    ("memory in regions without an end", |stream, at, number| {
        stream.parallel_begin(at, number, 0x100 + u64::from(number) * 8, 1, 0u32)?;
        stream.mem_alloc(at + 1, 1u32, 0x10_0000 + u64::from(number) * 64, 16, 0x200)
    }),
    ("sensors in regions without an end", |stream, at, number| {
        stream.region_begin(at, u64::from(number) * 8)?;
        stream.parallel_begin(at + 1, number, 0x100 + u64::from(number) * 8, 1, 0u32)?;
        stream.sensor(at + 2, 0, &[i64::from(number)])?;
        stream.thread_counters(at + 3, 0, &[i64::from(number)])
    }),
    ("loops and samples without an end", |stream, at, number| {
        stream.loop_begin(at, 2u32, 0, 10, 1, 1)?;
        stream.chunk_begin(at + 1, i64::from(number), 10)?;
        stream.sample(at + 2, 0x100 + u64::from(number), 0x7000, 1, &[0x200])
    }),
];

const DEFINITIONS: &str = "env {\n  sensor_0 = \"rapl/package-0 J 1e-6 1 total 1000000 900 - /p\"; counter_0 = \"cycles -\";\n";

/// Writes the trace of one case.
fn write(folder: &Path, step: Step) -> Result<()> {
    let layout = synth::layouts()[0];
    let text = synth::metadata(layout, 1_000_000_000, true).replacen("env {\n", DEFINITIONS, 1);
    std::fs::write(folder.join("metadata"), text)?;
    let mut stream = StreamWriter::new(Vec::new(), layout, 0, 64 << 10);
    stream.thread_begin(START_TICKS, 4000, 1)?;
    for number in 0..TIMES {
        step(
            &mut stream,
            START_TICKS + 10 + u64::from(number) * 5,
            number,
        )?;
    }
    stream.thread_end(START_TICKS + 20 + u64::from(TIMES) * 5)?;
    std::fs::write(synth::stream_path(folder, 0), stream.finish()?)
}

/// All outputs of one case, in time.
pub(crate) fn case(step: Step) -> Check {
    let folder = tempfile::tempdir()?;
    write(folder.path(), step)?;
    let begin = processor_time();
    compare::compare(folder.path(), false)?;
    let taken = processor_time() - begin;
    ensure(taken < LIMIT, || format!("{taken:.1} s of processor time"))
}

/// Processor time of this process and of those that have ended in it, s; 0 where the system does not say.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may hold spaces. The four times are in hundredths of a second.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let times = fields.split_whitespace().skip(11).take(4);
    let ticks: u64 = times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}
