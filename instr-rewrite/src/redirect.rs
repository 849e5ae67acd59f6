//! Undefined references renamed inside a relocatable object, for linkers without `--wrap`.
//!
//! The patch only appends: new copies of the symbol and string tables go to the end of the file, with one undefined symbol
//! `instr_wrap_F` after the old ones for every function `F`; relocations against `F` then name the new symbol. All existing
//! symbols keep their index, so section groups, address-significance tables and `sh_info` stay valid as they are, and every
//! section but the symbol tables and the relocations stays as it was, byte for byte. The result is read again and checked.

mod archive;
mod elf;
mod verify;

use crate::api::Api;
use crate::object::{ObjectError, ObjectKind, is_archive, read_globals};
use crate::scan::ScanErrorKind;
use std::path::Path;

/// An object or archive after [`redirect`].
#[derive(Debug)]
pub struct Redirected {
    /// The new contents; those of the input if nothing was renamed.
    pub bytes: Vec<u8>,
    /// Functions whose references were renamed, sorted.
    pub renamed: Vec<String>,
}

/// A file, or member of an archive, that could not be redirected.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {kind}")]
pub struct RedirectError {
    /// The file; for a member `archive(member)`.
    pub file: String,
    /// Why.
    pub kind: RedirectErrorKind,
}

/// Why a file could not be redirected.
#[derive(Debug, thiserror::Error)]
pub enum RedirectErrorKind {
    /// The file cannot be read or is malformed.
    #[error(transparent)]
    Scan(#[from] ScanErrorKind),
    /// The file is no relocatable object or archive.
    #[error("only relocatable objects and archives of them can be redirected, this is {0}")]
    Kind(&'static str),
    /// The object holds something that the patch does not know how to keep right.
    #[error("cannot be patched: {0}")]
    Unsupported(String),
    /// The result did not pass its check: a bug here, or an input made to provoke one.
    #[error("the patched object failed its check ({0}); nothing was written")]
    Check(String),
}

impl From<ObjectError> for RedirectErrorKind {
    fn from(error: ObjectError) -> Self {
        Self::Scan(error.into())
    }
}

/// Renames the undefined references of the object or archive `bytes` to described functions, `F` to `instr_wrap_F`.
///
/// `path` is where the file came from: members of a thin archive are opened relative to it, and become members of an
/// ordinary archive. Weak references and functions that are described as not to be wrapped stay, and so do references of
/// an object that defines the stub itself. Doing it twice is doing it once.
///
/// # Errors
///
/// The file is no relocatable object or archive of such, is malformed, or cannot be patched.
pub fn redirect(path: &Path, bytes: &[u8], api: &Api) -> Result<Redirected, RedirectError> {
    if is_archive(bytes) {
        archive::redirect(path, bytes, api)
    } else {
        redirect_object(bytes, api).map_err(|kind| RedirectError {
            file: path.display().to_string(),
            kind,
        })
    }
}

fn redirect_object(bytes: &[u8], api: &Api) -> Result<Redirected, RedirectErrorKind> {
    let (kind, object) = read_globals(bytes)?;
    match kind {
        ObjectKind::Relocatable => elf::redirect(bytes, &object, api),
        ObjectKind::Executable => Err(RedirectErrorKind::Kind("an executable")),
        ObjectKind::Shared => Err(RedirectErrorKind::Kind("a shared object")),
    }
}
