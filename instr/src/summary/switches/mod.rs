//! Context switches: which thread ran on which processor.

pub mod build;
pub mod model;
pub mod table;
#[cfg(test)]
mod tests;
