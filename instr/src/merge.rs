//! `instr merge`: a trace as Paraver files.

use anyhow::Result;

use crate::cli::MergeOptions;
use crate::console::Console;
use crate::symbols;

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, and failures to write.
pub fn run(options: &MergeOptions, console: &mut Console<'_>) -> Result<()> {
    for dir in &options.traces {
        symbols::open_trace(dir, console)?;
    }
    todo!()
}
