//! `instr repair`: a plain CTF trace from what a killed program left.

use anyhow::Result;

use crate::cli::RepairOptions;
use crate::console::Console;
use crate::symbols;

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, and failures to write.
pub fn run(options: &RepairOptions, console: &mut Console<'_>) -> Result<()> {
    let _trace = symbols::open_trace(&options.trace, console)?;
    todo!()
}
