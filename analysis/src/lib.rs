//! What a program did, in numbers. Each part is a [`Sink`](instr_trace::model::Sink) of the event model: it counts spans and marks, and
//! reads no events. Addresses stay addresses; who shows the numbers names them.
//!
//! | module | numbers |
//! |---|---|
//! | [`counts`] | constructs, tasks, waits, locks, user events and regions |
//! | [`efficiency`] | useful time and waiting by region and thread, efficiencies |
//! | [`states`] | time of each thread in each state |

pub mod counts;
pub mod efficiency;
pub mod states;
mod times;

pub use times::{Spread, Times};
