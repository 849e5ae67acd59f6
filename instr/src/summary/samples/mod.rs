//! Samples: which functions the threads were in, and by which calls.

pub mod table;
