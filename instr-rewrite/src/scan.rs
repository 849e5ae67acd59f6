//! What ELF files define and leave undefined: relocatable objects, archives (GNU, BSD, thin), shared objects,
//! executables. Files are mapped; names are borrowed from them.

use crate::object::{Archive, Contents, Member, binds_itself, is_archive, read_globals};
pub use crate::object::{Machine, Object, ObjectError, ObjectKind};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
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
pub struct Inputs<'s> {
    /// The file.
    pub path: &'s Path,
    /// What it is.
    pub kind: FileKind,
    /// Its objects: one, or the members of an archive in order.
    pub objects: Vec<Object<'s>>,
    /// Members of an archive that cannot be used, and why; whoever needs all of them must look here.
    pub refused: Vec<ScanError>,
}

impl<'s> Inputs<'s> {
    /// Undefined symbols of all objects (of linked files: imported symbols): strong ones, and those with weak references only.
    #[must_use]
    pub fn undefined(&self) -> (BTreeSet<&'s [u8]>, BTreeSet<&'s [u8]>) {
        let strong = self.objects.iter().flat_map(|object| &object.undefined);
        let strong: BTreeSet<&[u8]> = strong.copied().collect();
        let weak = self.objects.iter().flat_map(|object| &object.weak);
        let weak = weak.copied().filter(|name| !strong.contains(name));
        let weak = weak.collect();
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
    Read(#[from] io::Error),
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

/// The contents of a file.
#[derive(Debug)]
enum Bytes<'b> {
    Mapped(memmap2::Mmap),
    /// The file could not be mapped, or somebody else read it.
    Held(Cow<'b, [u8]>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(mapping) => mapping,
            Self::Held(bytes) => bytes,
        }
    }
}

/// A file in memory, and the files of its members if it is a thin archive.
#[derive(Debug)]
pub struct Source<'b> {
    path: PathBuf,
    bytes: Bytes<'b>,
    /// The members' files of a thin archive, in order.
    members: Vec<io::Result<Bytes<'static>>>,
}

impl Source<'static> {
    /// Maps a file.
    ///
    /// # Errors
    ///
    /// It cannot be opened, or is no regular file.
    pub fn open(path: &Path) -> Result<Self, ScanError> {
        let bytes = map(path).map_err(|error| refuse(path, error.into()))?;
        Ok(Self::new(path, bytes))
    }
}

impl<'b> Source<'b> {
    /// The contents `bytes` of the file `path`. Members of a thin archive are opened relative to `path`.
    #[must_use]
    pub fn of(path: &Path, bytes: &'b [u8]) -> Self {
        Self::new(path, Bytes::Held(bytes.into()))
    }

    /// Whether it is a linked file that calls its own `name` whatever others define ([`binds_itself`]). A damaged file does not.
    #[must_use]
    pub fn binds_itself(&self, name: &[u8]) -> bool {
        binds_itself(&self.bytes, name).unwrap_or(false)
    }

    fn new(path: &Path, bytes: Bytes<'b>) -> Self {
        let archive = Archive::parse(&bytes).ok();
        let thin = archive.filter(Archive::is_thin).into_iter();
        let names = thin.flat_map(|archive| archive.members().map_while(Result::ok));
        let files = names.filter_map(|member| match member.contents {
            Contents::File(name) => Some(map(&member_path(path, name))),
            Contents::Inside(_) => None,
        });
        let members = files.collect();
        Self {
            path: path.to_owned(),
            bytes,
            members,
        }
    }

    /// What the file holds: what is inside an archive, not the files of a thin one's members.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads the symbols of the file's objects.
    ///
    /// Unusable members of an archive do not make the archive unusable: they are in [`Inputs::refused`].
    ///
    /// # Errors
    ///
    /// The file is none of the known kinds, or is malformed.
    pub fn scan(&self) -> Result<Inputs<'_>, ScanError> {
        if is_archive(&self.bytes) {
            return self.scan_archive();
        }
        let read = read_globals(&self.bytes);
        let (kind, object) = read.map_err(|error| refuse(&self.path, error.into()))?;
        Ok(Inputs {
            path: &self.path,
            kind: kind.into(),
            objects: vec![object],
            refused: Vec::new(),
        })
    }

    fn scan_archive(&self) -> Result<Inputs<'_>, ScanError> {
        let malformed = |error: ObjectError| refuse(&self.path, error.into());
        let archive = Archive::parse(&self.bytes).map_err(malformed)?;
        let mut inputs = Inputs {
            path: &self.path,
            kind: FileKind::Archive {
                thin: archive.is_thin(),
            },
            objects: Vec::new(),
            refused: Vec::new(),
        };
        let mut files = self.members.iter();
        for member in archive.members() {
            let member = member.map_err(malformed)?;
            let contents = match member.contents {
                Contents::Inside(bytes) => Ok(bytes),
                Contents::File(_) => match files.next() {
                    Some(Ok(bytes)) => Ok(&**bytes),
                    Some(Err(error)) => Err(copy(error)),
                    None => Err(io::ErrorKind::NotFound.into()),
                },
            };
            let scanned = contents.map_err(ScanErrorKind::Read).and_then(scan_member);
            let name = String::from_utf8_lossy(member.name).into_owned();
            match scanned {
                Ok(mut object) => {
                    object.member = Some(name);
                    inputs.objects.push(object);
                }
                Err(kind) => inputs.refused.push(ScanError {
                    file: format!("{}({name})", self.path.display()),
                    kind,
                }),
            }
        }
        Ok(inputs)
    }
}

fn scan_member(bytes: &[u8]) -> Result<Object<'_>, ScanErrorKind> {
    let (kind, object) = read_globals(bytes)?;
    match kind {
        ObjectKind::Relocatable => Ok(object),
        _ => Err(ObjectError::NotElf("a member of an archive must be a relocatable object").into()),
    }
}

fn refuse(path: &Path, kind: ScanErrorKind) -> ScanError {
    ScanError {
        file: path.display().to_string(),
        kind,
    }
}

/// An error cannot be cloned.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// The file of a thin archive's member.
fn member_path(archive: &Path, name: &[u8]) -> PathBuf {
    let folder = archive.parent().unwrap_or(Path::new(""));
    folder.join(OsStr::from_bytes(name))
}

/// The contents of a member; those of a thin archive's are in a file named relative to the archive `path`.
pub(crate) fn member_contents<'a>(
    path: &Path,
    member: &Member<'a>,
) -> Result<Cow<'a, [u8]>, ScanErrorKind> {
    match member.contents {
        Contents::Inside(bytes) => Ok(Cow::Borrowed(bytes)),
        Contents::File(name) => {
            let file = member_path(path, name);
            is_regular(&file)?;
            Ok(Cow::Owned(std::fs::read(file)?))
        }
    }
}

/// Refuses devices and pipes: they could be endless, or wait for somebody.
fn is_regular(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.is_file() {
        Ok(())
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

fn map(path: &Path) -> io::Result<Bytes<'static>> {
    is_regular(path)?;
    let file = File::open(path)?;
    // SAFETY: the mapping is private and read-only, and what it holds is never trusted. Should somebody truncate the file
    // meanwhile, the process ends with SIGBUS, as linkers do, which map their inputs too.
    let mapping = unsafe { memmap2::Mmap::map(&file) };
    // Some file systems cannot map, and the number of mappings is limited.
    mapping
        .map(Bytes::Mapped)
        .or_else(|_| Ok(Bytes::Held(std::fs::read(path)?.into())))
}
