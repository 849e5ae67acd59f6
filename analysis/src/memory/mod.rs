//! The heap, mapped pages and stacks: what was got and given back, by call, by body, by region and over time.

mod collect;
mod model;
mod places;
#[cfg(test)]
mod tests;

pub use collect::{Collector, Counted};
pub use model::{Heap, LivePoint, Mapped, Stack};
pub use places::{Count, Live};
