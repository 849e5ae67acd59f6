//! Tasks that were created and did not run yet have to be remembered; what one of them takes is limited.

use std::io::Result;
use std::path::Path;
use std::process::Command;

use instr_tests::outcome::{Check, ensure};
use instr_tests::toolchain::tools;
use instr_trace::synth::{self, START_TICKS, StreamWriter};

/// Tasks that live at once.
const TASKS: u32 = 100_000;
/// What a command takes without a trace, KiB of address space: its own file, libraries, stacks.
const OWN: u32 = 150 * 1024;
/// The commands.
const COMMANDS: [&str; 2] = ["summary", "graph --format json"];
/// The most bytes of a live task in what is asked of the system, above [`OWN`]. It was 900 to 1,550 once.
const MOST: u32 = 480;

/// A thread creates all tasks, each dependent on the one before, then runs them.
fn write(folder: &Path) -> Result<()> {
    let layout = synth::layouts()[0];
    synth::begin(folder, layout, 1_000_000_000)?;
    let mut stream = StreamWriter::create(folder, layout, 0, 64 << 10)?;
    let mut now = START_TICKS;
    let mut at = || {
        now += 50;
        now
    };
    stream.thread_begin(at(), 4000, 1)?;
    stream.parallel_begin(at(), 0, synth::CODE_BASE, 1, 0u32)?;
    stream.implicit_begin(at(), (0, 0), 0, 1)?;
    for seq in 0..TASKS {
        stream.task_create(at(), seq, synth::CODE_BASE + 64, 0, &[(0x7000, 3)])?;
        stream.task_created(at())?;
    }
    for seq in 0..TASKS {
        stream.task_begin(at(), (0, seq))?;
        stream.task_end(at())?;
    }
    stream.implicit_end(at())?;
    stream.parallel_end(at(), 0)?;
    stream.thread_end(at())?;
    stream.finish()?;
    Ok(())
}

/// The commands have the memory that their live tasks may take, and no more.
pub(crate) fn live_tasks() -> Check {
    let folder = tempfile::tempdir()?;
    let trace = folder.path().join("trace");
    std::fs::create_dir(&trace)?;
    write(&trace)?;
    for command in COMMANDS {
        let limit = OWN + TASKS / 1024 * MOST;
        let words = format!("ulimit -v {limit}; exec \"$0\" {command} \"$1\" >/dev/null");
        let output = Command::new("sh")
            .args(["-c", &words])
            .arg(&tools()?.instr)
            .arg(&trace)
            .output()?;
        ensure(output.status.success(), || {
            let errors = String::from_utf8_lossy(&output.stderr);
            format!("{command}: {}: {errors}", output.status)
        })?;
    }
    Ok(())
}
