//! ELF files as a linker sees them: global symbols of objects, archives and linked files; places of everything in a
//! relocatable object, for those who change it.
//!
//! This is not about addresses and names in programs (see [`Image`](crate::Image)); it is here so that one crate reads
//! ELF. Nothing in it opens a file.

mod archive;
mod globals;
mod layout;
mod relocatable;

use std::collections::BTreeSet;
use std::fmt;

pub use archive::{ARCHIVE_MAGIC, Archive, Contents, Member, is_archive};
pub use globals::{read_globals, sections_with_prefix};
pub use layout::{Layout, RelocationFormat};
pub use relocatable::{RawRelocation, RawSection, RawSymbol, Relocatable, SectionType};

/// What kind of ELF file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A relocatable object (`ET_REL`).
    Relocatable,
    /// A shared object, or a position-independent executable without interpreter.
    Shared,
    /// An executable.
    Executable,
}

/// Processor of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Machine {
    /// `EM_X86_64`, 64 bits.
    X86_64,
    /// `EM_SPARC`: SPARC V8, 32 bits.
    Sparc,
    /// `EM_SPARC32PLUS`: V9 instructions in a 32-bit program.
    Sparc32Plus,
    /// `EM_SPARCV9`, 64 bits.
    SparcV9,
    /// `EM_AARCH64`, 64 bits, little-endian.
    Aarch64,
    /// `EM_RISCV`, 64 bits, little-endian.
    RiscV64,
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64 => "x86-64",
            Self::Sparc => "SPARC",
            Self::Sparc32Plus => "SPARC32PLUS",
            Self::SparcV9 => "SPARCV9",
            Self::Aarch64 => "AArch64",
            Self::RiscV64 => "RISC-V",
        })
    }
}

impl Machine {
    /// ELFCLASS64.
    #[must_use]
    pub fn is_64_bit(self) -> bool {
        !matches!(self, Self::Sparc | Self::Sparc32Plus)
    }

    /// ELFDATA2MSB.
    #[must_use]
    pub fn is_big_endian(self) -> bool {
        matches!(self, Self::Sparc | Self::Sparc32Plus | Self::SparcV9)
    }
}

/// The global symbols of one ELF file. Names are as in the symbol table, without version suffix for linked files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Name inside the archive, if it came from one.
    pub member: Option<String>,
    /// Processor; it implies word size and byte order.
    pub machine: Machine,
    /// Symbols referred to but not defined, at least one reference being strong.
    pub undefined: BTreeSet<Vec<u8>>,
    /// Symbols with weak references only.
    pub weak: BTreeSet<Vec<u8>>,
    /// Global and weak definitions, common symbols included.
    pub defined: BTreeSet<Vec<u8>>,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// It is something else.
    #[error("not an ELF object, archive, shared object or executable ({0})")]
    NotElf(&'static str),
    /// It is for a processor that is not supported.
    #[error(
        "objects for {0} are not supported, only x86-64, SPARC (V8, 32PLUS, V9), AArch64 and 64-bit RISC-V"
    )]
    Machine(String),
    /// Word size or byte order do not belong to the machine.
    #[error("{machine} with {bits}-bit {order}-endian data is not supported")]
    Flavor {
        /// Machine in the header.
        machine: Machine,
        /// Word size in the header.
        bits: u8,
        /// `little` or `big`.
        order: &'static str,
    },
    /// It holds intermediate code of GCC's link-time optimizer only.
    #[error(
        "holds only intermediate code of GCC's link-time optimizer (compile with -fno-lto or -ffat-lto-objects)"
    )]
    LtoOnly,
    /// It holds LLVM bitcode.
    #[error("holds only LLVM bitcode (compile without -flto)")]
    Bitcode,
    /// It is cut short or contradicts itself.
    #[error("truncated or malformed: {0}")]
    Malformed(String),
}

impl From<object::read::Error> for ObjectError {
    fn from(error: object::read::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}
