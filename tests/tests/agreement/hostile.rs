//! Sequences of valid events that nobody ends: every output takes a time in proportion to their number, and all agree.

use std::io::Result;
use std::path::Path;
use std::process::Command;

use instr_tests::outcome::{Check, ensure};
use instr_tests::toolchain::tools;
use instr_trace::synth::{self, START_TICKS, StreamWriter};

use crate::compare;

/// Times each sequence is repeated: in a trace whose outputs are compared, and in one that takes four times as long.
fn times() -> (u32, u32) {
    match all() {
        true => (20_000, 80_000),
        false => (5_000, 20_000),
    }
}

/// `make test-all` tries more.
fn all() -> bool {
    std::env::var_os("INSTR_TEST_ALL").is_some()
}

/// What the commands may take for many, beside what they take for few. What is quadratic takes 16 times as long.
const GROWTH: f64 = 8.0;
/// And what does not count, s.
const NOTHING: f64 = 0.3;
/// Processor time of a command, s.
const LIMIT: u32 = 30;

/// The commands; each gets the trace, and a file to write.
const COMMANDS: [&str; 9] = [
    "summary \"$1\"",
    "summary --json \"$1\"",
    "graph --format json \"$1\"",
    "graph --format dot \"$1\"",
    "graph --format graphml \"$1\"",
    "graph --format svg \"$1\"",
    "merge \"$1\" -o \"$2\"",
    "export \"$1\" -o \"$2\"",
    "repair \"$1\" -o \"$2\"",
];
/// Of these, the ones that are always tried: the others write what these find.
const ALWAYS: [usize; 4] = [1, 2, 6, 7];

type Stream = StreamWriter<Vec<u8>>;
type Step = fn(&mut Stream, u64, u32) -> Result<()>;

/// What is repeated, by name: at a tick, with a number.
pub(crate) const CASES: [(&str, Step); 28] = [
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
    ("calls of the heap without an end", |stream, at, number| {
        stream.mem_get(at, 1u32, 16, 0x200)?;
        stream.mem_give(at + 1, 1u32, u64::from(number) * 64 + 64)?;
        stream.mem_move(at + 2, u64::from(number) * 64, 32, 0x200)
    }),
    ("sensors in regions without an end", |stream, at, number| {
        stream.region_begin(at, u64::from(number) * 8)?;
        stream.parallel_begin(at + 1, number, 0x100 + u64::from(number) * 8, 1, 0u32)?;
        stream.sensor(at + 2, 0, &[i64::from(number)])?;
        stream.thread_counters(at + 3, 0, &[i64::from(number)])
    }),
    ("taskloops without an end", |stream, at, number| {
        stream.taskloop_begin(at, 3 * number, 0x100, 0, 1, 0, 10, 1)?;
        stream.taskloop_begin(at + 1, 3 * number + 1, 0x100, 0x800, 1, 0, 10, 1)?;
        stream.taskloop_task(at + 2, (0, 3 * number), 3 * number + 2, 0, 10)
    }),
    ("taskloops that end", |stream, at, number| {
        stream.taskloop_begin(at, 2 * number, 0x100, 0x800, 1, 0, 10, 1)?;
        stream.taskloop_end(at + 1)?;
        stream.taskloop_task(at + 2, (0, 2 * number), 2 * number + 1, 0, 10)
    }),
    ("taskgroups without an end", |stream, at, number| {
        stream.taskgroup_begin(at)?;
        stream.task_create(at + 1, number, 0x100, 0, &[])?;
        stream.task_created(at + 2)
    }),
    (
        "taskwaits with dependences without an end",
        |stream, at, number| {
            let address = 0x9000 + u64::from(number % 4) * 8;
            stream.taskwait_depend(at, number, false, &[(address, 2)])?;
            stream.sync_begin(at + 1, 4u32)
        },
    ),
    (
        "tasks that all depend on one address",
        |stream, at, number| {
            stream.task_create(at, number, 0x100, 8, &[(0x9000, 2)])?;
            stream.task_created(at + 1)?;
            stream.task_begin(at + 2, (0, number))?;
            stream.task_end(at + 3)
        },
    ),
    (
        "events of tasks that nobody fulfils",
        |stream, at, number| {
            let handle = 0x5000 + u64::from(number) * 8;
            stream.task_event(at, (0, number), handle)?;
            stream.task_fulfill(at + 1, (u32::MAX, 0), handle + 4)
        },
    ),
    (
        "tasks that take along what is open in them",
        |stream, at, number| {
            if number == 0 {
                stream.task_begin(at, (0, 0))?;
                for lock in 0..200 {
                    stream.taskgroup_begin(at)?;
                    stream.mutex_acquired(at, 5u32, lock)?;
                }
            }
            stream.task_suspend(at + 1)?;
            stream.task_resume(at + 2, (0, 0))
        },
    ),
    (
        "tasks that are resumed without having left",
        |stream, at, number| {
            stream.task_begin(at, (0, 2 * number))?;
            stream.task_resume(at + 1, (0, 2 * number))?;
            stream.task_resume(at + 2, (0, 2 * number + 1))
        },
    ),
    ("constructs without an end", |stream, at, number| {
        match number % 6 {
            0 => stream.sections_begin(at, 4),
            1 => stream.scope_begin(at),
            2 => stream.single(at, true),
            3 => stream.masked_begin(at),
            4 => stream.dispatch(at),
            _ => stream.loop_begin(at, 2u32, 0, 10, 1, 1),
        }
    }),
    ("device constructs without an end", |stream, at, number| {
        stream.target_begin(at, number % 5, 0x100, 0, 0)?;
        stream.target_end(at + 1, (number + 1) % 5)
    }),
    (
        "regions of the program and calls without an end",
        |stream, at, number| {
            stream.region_begin(at, u64::from(number) * 8)?;
            stream.call_begin(at + 1, u64::from(number) * 8, &[1, 2])
        },
    ),
    ("names and types that are met once", |stream, at, number| {
        stream.string(at, &format!("name {number}"), u64::from(number) * 8)?;
        stream.counter(at + 1, u64::from(number) * 8, 1)?;
        stream.user_event(at + 2, number, 1)
    }),
    ("memory that nobody gives back", |stream, at, number| {
        let address = 0x10_0000 + u64::from(number) * 4096;
        stream.mem_map(at, address, 4096, 0x200 + u64::from(number))?;
        stream.omp_alloc(at + 1, 1u32, address, 16, 1)?;
        stream.mem_realloc(at + 2, address + 8, address, 16, 0x200)?;
        stream.mem_free(at + 3, 1u32, address + 16)
    }),
    ("processors and stacks", |stream, at, number| {
        stream.processor(at, number % 1000)?;
        stream.stack(at + 1, 1u32, 0, 0x8000, 0x4000)?;
        stream.sample_lost(at + 2, 1)
    }),
    ("flushes and breaks without an end", |stream, at, number| {
        stream.flush(at + 1, u64::from(number), 1)?;
        stream.tracing_off(at + 2)?;
        stream.cancel(at + 3, 1u32, 1)
    }),
    ("loops and samples without an end", |stream, at, number| {
        stream.loop_begin(at, 2u32, 0, 10, 1, 1)?;
        stream.chunk_begin(at + 1, i64::from(number), 10)?;
        stream.sample(at + 2, 0x100 + u64::from(number), 0x7000, 1, &[0x200])
    }),
];

const DEFINITIONS: &str = "env {\n  sensor_0 = \"rapl/package-0 J 1e-6 1 total 1000000 900 - /p\"; counter_0 = \"cycles -\";\n";

/// Writes the trace of one case.
fn write(folder: &Path, step: Step, times: u32) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let layout = synth::layouts()[0];
    let text = synth::metadata(layout, 1_000_000_000, true).replacen("env {\n", DEFINITIONS, 1);
    std::fs::write(folder.join("metadata"), text)?;
    let mut stream = StreamWriter::new(Vec::new(), layout, 0, 64 << 10);
    stream.thread_begin(START_TICKS, 4000, 1)?;
    for number in 0..times {
        let at = START_TICKS + 10 + u64::from(number) * 5;
        step(&mut stream, at, number)?;
    }
    stream.thread_end(START_TICKS + 20 + u64::from(times) * 5)?;
    std::fs::write(synth::stream_path(folder, 0), stream.finish()?)
}

/// All outputs of one case, in time.
pub(crate) fn case(step: Step) -> Check {
    let folder = tempfile::tempdir()?;
    let (few, many) = (folder.path().join("few"), folder.path().join("many"));
    let times = times();
    write(&few, step, times.0)?;
    write(&many, step, times.1)?;
    compare(&few, false)?;
    for (number, command) in COMMANDS.iter().enumerate() {
        if !all() && !ALWAYS.contains(&number) {
            continue;
        }
        let begin = processor_time(&few, command)?;
        let taken = processor_time(&many, command)?;
        let most = begin * GROWTH + NOTHING;
        ensure(taken <= most, || {
            format!(
                "{command}: {taken:.2} s of processor time, {begin:.2} s for a quarter of the events"
            )
        })?;
    }
    Ok(())
}

/// Processor time of a command, s; an error if it is more than [`LIMIT`].
fn processor_time(trace: &Path, command: &str) -> Check<f64> {
    let place = tempfile::tempdir()?;
    let script =
        format!("ulimit -t {LIMIT}; TIMEFORMAT='%U %S'; time \"$0\" {command} >/dev/null 2>&1");
    let output = Command::new("bash")
        .args(["-c", &script])
        .arg(&tools()?.instr)
        .args([trace, &place.path().join("out")])
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let times = text.lines().last().unwrap_or("").split(' ');
    let times: Vec<f64> = times.filter_map(|time| time.parse().ok()).collect();
    ensure(output.status.success() && times.len() == 2, || {
        format!("{command}: {}: {text}", output.status)
    })?;
    Ok(times.iter().sum())
}
