//! The sections of the summary on constructs that programs use now and then.

pub mod build;
pub mod model;
pub mod table;
