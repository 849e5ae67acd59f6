//! What a program did, in numbers. Each part is a [`Sink`](instr_trace::model::Sink) of the event model: it counts spans and marks, and
//! reads no events. Addresses stay addresses; who shows the numbers names them.
//!
//! | module | numbers |
//! |---|---|
//! | [`counts`] | constructs, tasks, waits, locks, user events and regions |
//! | [`executions`] | how long each execution of a construct took, as distributions |
//! | [`efficiency`] | useful time and waiting by region and thread, efficiencies |
//! | [`predict`] | what a run would take with other threads, faster functions, other chunks |
//! | [`processor_time`] | how long each thread ran, and waited for a processor |
//! | [`processors`] | who ran on which processor, and who took it from whom, for whole trees of processes |
//! | [`memory`] | the heap, mapped pages, stacks |
//! | [`region_times`] | regions as a tree, the union of their intervals over threads |
//! | [`samples`] | functions and chains of calls by their share |
//! | [`scaling`] | how times change with threads and sizes: laws, terms, predictions |
//! | [`scheduling`] | useful time by what the system did with the thread: running, ready, blocked |
//! | [`sections`] | in which parallel region each thread was when |
//! | [`sensors`] | readings, energy, power |
//! | [`statistics`] | whether, and by how much, groups of runs differ |
//! | [`states`] | time of each thread in each state |
//! | [`threads`] | who made which thread, waits and locks of threads by call |
//! | [`switches`] | which thread ran on which processor |

pub mod counts;
pub mod efficiency;
pub mod executions;
pub mod memory;
pub mod predict;
pub mod processor_time;
pub mod processors;
pub mod region_times;
pub mod samples;
pub mod scaling;
pub mod scheduling;
pub mod sections;
pub mod sensors;
pub mod series;
pub mod states;
pub mod statistics;
pub mod switches;
pub mod threads;
mod times;

pub use times::{Spread, Times};
