//! Reads ELF symbol tables, decides what to wrap, emits flags, stubs and rewritten objects.
//!
//! * [`api`]: descriptions of interceptable libraries (`api/*.rs`, ordinary `extern "C"` blocks with attributes);
//! * [`object`]: ELF files and archives, read with goblin;
//! * [`program`]: what an executable says to the dynamic linker;
//! * [`scan`]: what objects, archives, shared objects and executables define and leave undefined;
//! * [`resolve`]: which of those objects a linker would really take, and what they refer to;
//! * [`select`]: undefined symbols ∩ descriptions, with a reason for everything left out;
//! * [`stubs`]: the C source of the stubs that call the runtime's probes;
//! * [`redirect`]: undefined references renamed inside an object, for linkers without `--wrap`;
//! * [`arguments`]: the command line.

pub mod api;
pub mod arguments;
mod ctype;
pub mod object;
pub mod program;
pub mod redirect;
pub mod resolve;
pub mod scan;
pub mod select;
pub mod stubs;

pub use api::{Api, ApiError, Function, Probe};
pub use ctype::CType;
