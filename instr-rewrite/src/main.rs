//! The command `instr-rewrite`: see `--help`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A panic is a bug here, which has an exit status of its own.
    std::panic::catch_unwind(cli::main).unwrap_or_else(|_| cli::report_bug())
}
