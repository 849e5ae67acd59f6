//! How long each execution of a construct took: distributions, for comparing runs.
//!
//! Constructs are named by address, as in [`counts`](crate::counts), and have the same numbers as there: what lost its end is not counted, parallel and user regions count up to where they are
//! known to have ended.

mod collect;
mod durations;

pub use collect::{Collector, Construct};
pub use durations::Durations;
