//! What one construct costs: instructions, which do not depend on how busy the machine is, and bytes.

use std::path::Path;

use instr_tests::callgrind::{self, valgrind};
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need};
use instr_tests::workspace;
use libtest_mimic::Trial;

/// Executions of the construct in the shorter and in the longer run.
const COUNTS: [u64; 2] = [1000, 3000];

/// Construct of `tests/costs/costs.c`, the most instructions that tracing adds to one on a team of one thread, and its bytes in a stream.
///
/// The instructions are those of GCC 12 and an eighth more, for other releases: with Ubuntu's GCC 13 a region takes 140, a counter 54 to 61, a loop 344, a task 356, one with
/// dependences 402. The bytes are exact: each event's header of 4 and its fields (docs/trace-format.md). A loop has loop_begin, chunk_begin, dispatch, work_end, sync_begin and sync_end;
/// a combined construct asks for its first chunk too.
const COSTS: [(&str, f64, u64); 10] = [
    ("event", 51.0, 16),
    ("region", 150.0, 12 + 4),
    ("counter", 64.0, 20),
    ("parallel", 367.0, 16 + 16 + 4 + 8),
    ("loop", 360.0, 40 + 20 + 4 + 8 + 8 + 8),
    ("combined", 712.0, 16 + 16 + 40 + 4 + 20 + 4 + 8 + 4 + 8),
    ("critical", 232.0, 3 * 16),
    ("task", 375.0, 16 + 4 + 12 + 4),
    ("undeferred", 340.0, 16 + 12 + 4 + 4),
    ("depend", 425.0, 24 + 4 + 12 + 4),
];

/// Construct, and the most bytes of stack that tracing adds below the construct's caller: the first event of a thread and full buffers are
/// part of it. What GCC 12 makes takes 720 to 1,072 bytes, and 1,344 where a task that libgomp runs at once fills the buffer; the limits have room
/// for other releases.
const STACK: [(&str, i64); 8] = [
    ("event", 900),
    ("region", 960),
    ("counter", 960),
    ("parallel", 900),
    ("loop", 1152),
    ("critical", 960),
    ("task", 1408),
    ("depend", 1408),
];

/// What the documentation promises of the slow path: the packets of who ran where are written below those of the thread.
const SLOW_PATH: i64 = 2560;

/// Most times that one of the programs may lose its processor.
const WAITS: u64 = 100;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("costs::instructions", instructions),
        trial("costs::bytes", bytes),
        trial("costs::stack", stack),
    ]
}

/// The program, plain and traced.
fn programs(dir: &Path) -> Check<[std::path::PathBuf; 2]> {
    let source = workspace::root()?.join("tests/costs/costs.c");
    let build = Build::openmp(Target::X86_64).flag("-O2");
    let [plain, traced] = ["plain", "traced"].map(|name| dir.join(name));
    build.plain(&[&source], &plain)?;
    build.traced(&[&source], &traced)?;
    Ok([plain, traced])
}

/// The growth between two runs for one execution of the construct.
fn growth(values: [u64; 2]) -> f64 {
    callgrind::growth(values, COUNTS)
}

fn instructions() -> Check {
    need("valgrind")?;
    let dir = workspace::work_dir("costs-instructions")?;
    let programs = programs(dir.path())?;
    let executed = |program: &Path, construct: &str, count: u64| -> Check<u64> {
        let run = valgrind(dir.path()).arg(program);
        let run = run.arg(construct).arg(count.to_string());
        // All fits into one buffer: handing one over is not part of a construct's cost.
        let run = run.env("INSTR_TRACE", dir.path().join("trace"));
        // How often the processor is taken away is the machine's.
        let run = run.env("INSTR_SWITCHES", "0");
        callgrind::instructions(run.env("INSTR_BUFFER", "4M"))
    };
    executed(&programs[1], "event", 1)?;
    let metadata = std::fs::read(dir.path().join("trace/metadata"))?;
    let is_fast = String::from_utf8_lossy(&metadata).contains("clock_source = \"tsc\"");
    // Where the processor's counter is no clock, each look at the system's takes more.
    let slack = if is_fast { 1.0 } else { 6.0 };
    let limits = COSTS.map(|(construct, limit, _)| (construct, limit * slack));
    callgrind::gate(&limits, COUNTS, programs, |program, construct, count| {
        executed(program, construct, count)
    })
}

fn bytes() -> Check {
    let dir = workspace::work_dir("costs-bytes")?;
    let [_, program] = programs(dir.path())?;
    let trace = dir.path().join("trace");
    for (construct, _, expected) in COSTS {
        let mut sizes = [0; 2];
        for (size, count) in sizes.iter_mut().zip(COUNTS) {
            let run = Run::new(&program).arg(construct).arg(count.to_string());
            let run = run.env("INSTR_TRACE", &trace).env("INSTR_BUFFER", "4M");
            run.succeed()?;
            *size = std::fs::metadata(trace.join("thread_0000"))?.len();
        }
        // Where the program had to wait for a processor, the event behind that takes 8 bytes more; a run that lasts has an event of its own.
        let more = sizes[1].abs_diff(sizes[0] + expected * (COUNTS[1] - COUNTS[0]));
        ensure(more <= 8 * WAITS, || {
            format!("{construct}: {} bytes, not {expected}", growth(sizes))
        })?;
    }
    Ok(())
}

fn stack() -> Check {
    let dir = workspace::work_dir("costs-stack")?;
    let programs = programs(dir.path())?;
    let deepest =
        |program: &Path, construct: &str, (switches, buffer): (&str, &str)| -> Check<i64> {
            let run = Run::new(program).arg(construct).arg(COUNTS[1].to_string());
            // The dynamic linker is not to look for functions meanwhile.
            let run = run.arg("stack").env("LD_BIND_NOW", "1");
            let run = run.env("INSTR_TRACE", dir.path().join("trace"));
            let run = run.env("INSTR_SWITCHES", switches);
            let outcome = run.env("INSTR_BUFFER", buffer).succeed()?;
            let text = outcome.text();
            let bytes = text.strip_suffix(" bytes of stack\n");
            let bytes = bytes.and_then(|number| number.parse().ok());
            bytes.ok_or_else(|| format!("no bytes: {text}").into())
        };
    let mut found = Vec::new();
    for (construct, limit) in STACK {
        let plain = deepest(&programs[0], construct, ("0", "4K"))?;
        // Whether the processor is taken away just where a buffer is full is the machine's.
        for (switches, limit) in [("0", limit), ("1", SLOW_PATH)] {
            // Each size is full at another event.
            let mut added = 0;
            for buffer in ["4K", "8K", "12K"] {
                let traced = deepest(&programs[1], construct, (switches, buffer))?;
                added = added.max(traced - plain);
            }
            println!("{construct}: +{added} bytes of stack, at most {limit}");
            if !(1..=limit).contains(&added) {
                found.push(format!("{construct}: +{added}, not up to {limit}"));
            }
        }
    }
    ensure(found.is_empty(), || found.join("\n"))
}
