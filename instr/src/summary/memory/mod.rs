//! Memory: blocks of the heap, pages of the system, stacks of threads.

pub mod build;
pub mod model;
pub mod table;
