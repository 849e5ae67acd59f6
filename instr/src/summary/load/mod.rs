//! Load and synchronization: where the threads' time goes, by POP's and TALP's formulas, by region, and what the task graph would allow.

pub mod build;
pub mod model;
pub mod table;
#[cfg(test)]
pub(super) mod tests;
