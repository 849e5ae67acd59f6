//! Context switches: which thread ran on which processor.

pub mod table;
#[cfg(test)]
mod tests;
