//! What sensors and counters of threads read: values, energy, power.

pub mod build;
pub mod convert;
pub mod model;
pub mod table;
#[cfg(test)]
mod tests;
