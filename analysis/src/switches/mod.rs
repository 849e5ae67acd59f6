//! Context switches: which thread ran on which processor.

mod collect;
mod model;

pub use collect::Collector;
pub use model::{ContextSwitches, OnProcessor, Processor, ScheduledThread};
