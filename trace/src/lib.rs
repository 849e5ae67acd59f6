//! Reads raw traces (`docs/trace-format.md`), converts clocks, merges the streams in time order, and writes other formats.

pub mod event;
mod layout;
pub mod names;

pub use event::{Event, Payload, RegionId, TaskId};
pub use layout::{ByteOrder, Layout, WordSize};
pub use names::{CodeName, Names};
