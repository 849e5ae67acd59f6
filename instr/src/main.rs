//! The `instr` command. Everything is in the library; this only connects it with the process.

use std::process::ExitCode;

use rustix::process::{Resource, getrlimit};

/// So much the commands may need of a stack, with reserves.
const STACK: usize = 8 << 20;
/// A shell's `ulimit -s` is for the program that runs under it: below this a thread with a stack of its own does the work.
const LEAST: u64 = 2 << 20;

fn main() -> ExitCode {
    let is_small = getrlimit(Resource::Stack)
        .current
        .is_some_and(|limit| limit < LEAST);
    let roomy = || {
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(instr::run_process)
    };
    let status = match is_small.then(roomy) {
        Some(Ok(thread)) => thread.join().unwrap_or(PANICKED),
        // Without another thread it may go well nevertheless.
        _ => instr::run_process(),
    };
    ExitCode::from(status)
}

/// What the process ends with when its first thread panics.
const PANICKED: u8 = 101;
