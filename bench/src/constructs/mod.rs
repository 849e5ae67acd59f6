//! What each OpenMP construct costs: the time and the instructions that tracing adds to one, and the events it leaves.

mod callgrind;
mod cases;
mod measure;

pub(crate) use cases::{CASES, Case};
#[cfg(test)]
pub(crate) use measure::Cost;
pub(crate) use measure::{Figures, measure};
