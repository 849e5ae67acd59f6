//! Memory: blocks of the heap, pages of the system, stacks of threads.

pub mod build;
pub mod collect;
pub mod model;
pub mod places;
pub mod table;
#[cfg(test)]
mod tests;
