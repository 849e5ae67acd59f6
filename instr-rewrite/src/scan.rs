//! What ELF files define and leave undefined: relocatable objects, archives (GNU, BSD, thin), shared objects,
//! executables, for x86-64 and the three SPARC machines.

mod archive;
mod elf;

pub(crate) use archive::{is_archive, is_index, thin_member};
pub(crate) use elf::scan as scan_elf;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// What kind of file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A relocatable object (`ET_REL`).
    Relocatable,
    /// An archive of objects.
    Archive {
        /// The members are files of their own, named by the archive.
        thin: bool,
    },
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
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64 => "x86-64",
            Self::Sparc => "SPARC",
            Self::Sparc32Plus => "SPARC32PLUS",
            Self::SparcV9 => "SPARCV9",
        })
    }
}

impl Machine {
    /// ELFCLASS64.
    pub fn is_64_bit(self) -> bool {
        matches!(self, Self::X86_64 | Self::SparcV9)
    }

    /// ELFDATA2MSB.
    pub fn is_big_endian(self) -> bool {
        !matches!(self, Self::X86_64)
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

/// One input file and the objects in it.
#[derive(Debug)]
pub struct Inputs {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// Its objects: one, or the members of an archive in order.
    pub objects: Vec<Object>,
    /// Members of an archive that cannot be used, and why; whoever needs all of them must look here.
    pub refused: Vec<ScanError>,
}

impl Inputs {
    /// Undefined symbols of all objects (of linked files: imported symbols): strong ones, and those with weak references only.
    pub fn undefined(&self) -> (BTreeSet<Vec<u8>>, BTreeSet<Vec<u8>>) {
        let strong: BTreeSet<Vec<u8>> = self
            .objects
            .iter()
            .flat_map(|object| object.undefined.iter().cloned())
            .collect();
        let weak = self
            .objects
            .iter()
            .flat_map(|object| object.weak.difference(&strong).cloned())
            .collect();
        (strong, weak)
    }
}

/// A file, or member of an archive, that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {kind}")]
pub struct ScanError {
    /// The file; for a member `archive(member)`.
    pub file: String,
    /// What is wrong with it.
    pub kind: ScanErrorKind,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum ScanErrorKind {
    /// It could not be read.
    #[error("cannot read: {0}")]
    Read(#[from] std::io::Error),
    /// It is something else.
    #[error("not an ELF object, archive, shared object or executable ({0})")]
    NotElf(&'static str),
    /// It is for a processor that is not supported.
    #[error("objects for {0} are not supported, only x86-64 and SPARC (V8, 32PLUS, V9)")]
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

impl From<object::read::Error> for ScanErrorKind {
    fn from(error: object::read::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// Reads a file; see [`scan_bytes`].
///
/// # Errors
///
/// The file cannot be read, is none of the known kinds, or is malformed.
pub fn scan_file(path: &Path) -> Result<Inputs, ScanError> {
    let bytes = read_regular(path).map_err(|error| refuse(path, ScanErrorKind::Read(error)))?;
    scan_bytes(path, &bytes)
}

/// Reads the contents `bytes` of the file `path`. Members of a thin archive are opened relative to `path`.
///
/// Unusable members of an archive do not make the archive unusable: they are in [`Inputs::refused`].
///
/// # Errors
///
/// The file is none of the known kinds, or is malformed.
pub fn scan_bytes(path: &Path, bytes: &[u8]) -> Result<Inputs, ScanError> {
    if archive::is_archive(bytes) {
        return archive::scan(path, bytes);
    }
    let (kind, object) = elf::scan(bytes).map_err(|kind| refuse(path, kind))?;
    Ok(Inputs {
        path: path.to_owned(),
        kind,
        objects: vec![object],
        refused: Vec::new(),
    })
}

fn refuse(path: &Path, kind: ScanErrorKind) -> ScanError {
    ScanError {
        file: path.display().to_string(),
        kind,
    }
}

/// The contents of a regular file: devices and pipes could be endless.
pub(crate) fn read_regular(path: &Path) -> std::io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    std::fs::read(path)
}
