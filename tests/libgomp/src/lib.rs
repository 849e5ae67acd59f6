//! The test programs of libgomp, as Debian's package `gcc-12-source` ships them, run plainly and instrumented.
//!
//! [`unpack`] takes the programs out of the package, [`catalog`] lists them, [`directives`] reads what each asks for in its
//! DejaGnu comments ([`tcl`] words, [`selector`] expressions, [`facts`] about this machine), [`trial`] builds and runs one program
//! in every [`compile::Linkage`], [`judge`] looks at its trace, [`campaign`] does many of them at once and [`report`] tells what came out.

pub mod campaign;
pub mod catalog;
pub mod compile;
pub mod directives;
pub mod exceptions;
pub mod facts;
pub mod judge;
pub mod process;
pub mod report;
pub mod sample;
pub mod selector;
pub mod tcl;
pub mod trial;
pub mod unpack;
