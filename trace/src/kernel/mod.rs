//! The kernel's part of a trace: who ran on which processor, for a whole tree of processes. A CTF trace of its own in the folder `kernel` of a
//! trace (docs/trace-format.md), whose events `schema/src/kernel.rs` lists.

mod around;
mod info;
mod read;
mod record;
pub mod series;
#[cfg(test)]
mod tests;
mod write;

pub use around::metadata as metadata_around;
pub use info::{Info, Recorded, Recorder, Usage};
pub use read::{Part, Records};
pub use record::{Context, Leave, Record, ThreadId, What};
pub use write::{Writer, write_info};

/// The folder's name in a trace.
pub const FOLDER: &str = "kernel";

/// The file of a processor's stream.
#[must_use]
pub fn file_name(processor: u32) -> String {
    format!("processor_{processor:04}")
}
