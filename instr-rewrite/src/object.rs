//! ELF files as a linker sees them, read with goblin: global symbols of objects and linked files, members of archives, the place of
//! everything in a relocatable object for those who change it. Nothing in it opens a file.
//!
//! `goblin::elf::Elf::parse` and `goblin::archive::Archive::parse` are not used: they read all tables of a file at once, want
//! names in UTF-8, and do not know thin archives. goblin's structures are read here one at a time from slices whose
//! bounds were checked, so a count in a file never decides how much is allocated.

mod archive;
mod dynamic;
mod elf;
mod globals;

use std::fmt;

pub use archive::{ARCHIVE_MAGIC, Archive, Contents, Member, is_archive};
pub use dynamic::{binds_itself, defines};
pub(crate) use elf::{Elf, Symbols, is_undefined};
pub use globals::{Object, STUB_PREFIX, read_globals, sections_with_prefix, source_files};

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

impl From<goblin::error::Error> for ObjectError {
    fn from(error: goblin::error::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

fn malformed(what: impl Into<String>) -> ObjectError {
    ObjectError::Malformed(what.into())
}
