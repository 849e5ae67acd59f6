//! Addresses to functions, files, lines and inlined calls: for executables, position independent or not, shared
//! objects and relocatable files, x86-64 and SPARC (V8, V8+, V9), with DWARF 2 to 5, split and compressed too.
//!
//! The core opens no file and starts no process: the caller hands in bytes, [`Image::wants`] tells which further
//! files would help, and [`Image::with_debug`] takes them. With the cargo feature `loader` there is also a `Loader` that
//! opens programs and finds what belongs to them.
//!
//! ```
//! # fn name_of(bytes: &[u8]) -> Result<(), instr_symtab::Error> {
//! // `bytes`: the program, read by the caller
//! let image = instr_symtab::Image::parse(bytes)?;
//! let answer = image.lookup(0x401136);
//! if let (Some(function), Some(file), Some(line)) = (&answer.function, &answer.file, answer.line) {
//!     println!("{} at {file}:{line}", function.demangled);
//! }
//! # Ok(())
//! # }
//! ```

mod answers;
mod batch;
mod binutils_words;
mod budget;
mod bytes;
mod construct;
mod constructors;
mod critical;
mod demangle;
mod directive;
mod dwarf;
mod elf;
mod entries;
mod entry_line;
mod error;
mod frames;
mod functions;
mod gnu;
mod image;
mod lines;
#[cfg(feature = "loader")]
mod loader;
mod lookup;
mod mini;
mod modules;
mod names;
mod origin;
mod outlined;
mod packs;
mod plan;
mod plt;
mod ranges;
mod references;
mod relocate;
mod sections;
mod symbols;
mod units;
mod unwind;
mod wants;

pub use bytes::Bytes;
pub use construct::Construct;
pub use critical::critical_name;
pub use demangle::demangle;
pub use directive::Directive;
pub use error::{Error, Result};
pub use gnu::{GnuView, Nearest, Section};
pub use image::Image;
#[cfg(feature = "loader")]
pub use loader::{
    DEFAULT_DEBUG_DIR, Found, LoadError, Loader, Module, is_vdso, map_file, own_vdso,
};
pub use lookup::{Demangled, Frame, FunctionName, Lookup};
pub use modules::ModuleMap;
pub use outlined::{Outlined, OutlinedKind, parse_outlined};
pub use symbols::{Symbol, SymbolKind};
pub use unwind::{CallFrames, Registers, return_addresses, return_addresses_with_frames};
pub use wants::Want;
