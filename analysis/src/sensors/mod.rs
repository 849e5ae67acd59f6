//! What sensors and counters of threads read: values, energy of the run and of regions, power.

mod collect;
mod cores;

pub use collect::*;
