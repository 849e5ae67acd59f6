//! Samples: functions and chains of calls by their share.

mod collect;
mod model;
#[cfg(test)]
mod tests;

pub use collect::Collector;
pub use model::{FunctionShare, Path, Samples};
