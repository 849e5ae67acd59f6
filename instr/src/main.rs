//! The `instr` command. Everything is in the library; this only connects it with the process.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(instr::run_process())
}
