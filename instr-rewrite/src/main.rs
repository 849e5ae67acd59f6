//! The command `instr-rewrite`: see `--help`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
