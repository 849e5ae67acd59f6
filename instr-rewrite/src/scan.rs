//! What ELF files define and leave undefined: relocatable objects, archives (GNU, BSD, thin), shared objects,
//! executables, for x86-64 and the three SPARC machines.

mod archive;

pub(crate) use archive::member_contents;
pub use instr_symtab::objects::{Machine, Object, ObjectError};
use instr_symtab::objects::{ObjectKind, is_archive, read_globals};
use std::collections::BTreeSet;
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
    /// It is none of the known kinds, or malformed.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

impl From<ObjectKind> for FileKind {
    fn from(kind: ObjectKind) -> Self {
        match kind {
            ObjectKind::Relocatable => Self::Relocatable,
            ObjectKind::Shared => Self::Shared,
            ObjectKind::Executable => Self::Executable,
        }
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
    if is_archive(bytes) {
        return archive::scan(path, bytes);
    }
    let (kind, object) = read_globals(bytes).map_err(|error| refuse(path, error.into()))?;
    Ok(Inputs {
        path: path.to_owned(),
        kind: kind.into(),
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
