//! Traces as tables: what a table and its columns are is defined once ([`TABLES`]); schemas, headers, files and the document come from that.
//!
//! | module | job |
//! |---|---|
//! | `tables` | the definitions |
//! | `define` | what a definition is, and what is made of it |
//! | `batch`, `texts` | rows on their way: columns of bounded size, texts by number |
//! | `fill` | from a session to rows |
//! | `places` | names of code |
//! | [`files`] | Parquet, Arrow, CSV and JSON |
//! | [`frame`] | tables that are not of a trace, as Parquet |
//! | [`document`] | `docs/tables.md` |
//!
//! An [`Output`] says which columns it wants. What it does not want costs nothing.

mod batch;
mod column;
mod define;
pub mod document;
pub mod files;
mod fill;
pub mod frame;
mod places;
mod tables;
mod texts;

pub use batch::{Batch, Data, Output, ROWS};
pub use define::{Column, Kind, Table};
pub use fill::read;
pub use tables::TABLES;
pub use texts::{Text, Texts};

/// The table of this name.
#[must_use]
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().copied().find(|table| table.name == name)
}
