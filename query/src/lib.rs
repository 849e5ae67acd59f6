//! SQL over traces. SQLite parses, plans and calculates; the tables are those of `instr-tables`, which it sees as virtual tables.
//!
//! | module | job |
//! |---|---|
//! | `engine` | one statement after another: which columns it uses, one replay for those, its rows |
//! | `store` | columns in memory, and how much of it they take |
//! | `index` | orders of rows by columns, made when first asked for |
//! | `plan` | which of them serves a scan |
//! | `virtual_table` | what SQLite calls |
//! | `guard` | what a statement may not do |
//! | `error` | what is wrong, where, and what was meant |
//! | [`questions`] | questions with names |

mod engine;
mod error;
mod guard;
mod index;
mod patterns;
mod plan;
pub mod questions;
mod store;
mod virtual_table;

pub use engine::{Engine, Limits, Receive, Value};
pub use error::QueryError;
