//! Samples: which functions the threads were in, and by which calls.

pub mod collect;
pub mod model;
pub mod table;
#[cfg(test)]
mod tests;
