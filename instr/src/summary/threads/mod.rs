//! Threads of POSIX, C11 and C++: who made them, and at which calls they wait.

pub mod build;
pub mod model;
pub mod table;
pub mod verdict;
