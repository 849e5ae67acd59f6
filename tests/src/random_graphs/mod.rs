//! Random task graphs, judged by what the specification of OpenMP says, independently of the analyser under test.
//!
//! [`generate`] draws a graph from a seed, [`rules`] finds its edges by brute force. It then becomes a trace in one of two ways: the
//! driver program creates exactly these tasks at run time ([`real`]), or [`simulate`] schedules them in virtual time and writes the
//! trace. [`babel`] reads either through babeltrace2 and [`replay`] finds out what happened; [`report`] reads what `instr graph` says;
//! [`judge`] compares all of it, [`metrics`] the numbers.

pub mod babel;
pub mod clock;
pub mod closed;
pub mod generate;
pub mod judge;
pub mod metrics;
pub mod paths;
pub mod random;
pub mod real;
pub mod replay;
pub mod report;
pub mod rules;
pub mod script;
pub mod simulate;
