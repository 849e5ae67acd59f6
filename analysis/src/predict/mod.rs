//! What a program would take with other numbers of threads, faster functions, without a lock, or with other chunks: a recorded run, run again in
//! simulated time. `docs/predict.md` has the definitions.

pub mod collect;
pub mod costs;
mod divide;
pub mod forecast;
pub mod model;
pub mod plan;
mod sampling;
pub mod simulate;
mod spread;
pub mod totals;
