//! Archives: GNU, BSD and thin.

use super::{FileKind, Inputs, ScanError, ScanErrorKind, elf, read_regular, refuse};
use object::read::archive::{ArchiveFile, ArchiveMember};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(&object::archive::MAGIC) || bytes.starts_with(&object::archive::THIN_MAGIC)
}

pub(super) fn scan(path: &Path, bytes: &[u8]) -> Result<Inputs, ScanError> {
    let malformed = |error: object::read::Error| refuse(path, error.into());
    let archive = ArchiveFile::parse(bytes).map_err(malformed)?;
    let kind = FileKind::Archive {
        thin: archive.is_thin(),
    };
    let mut inputs = Inputs {
        path: path.to_owned(),
        kind,
        objects: Vec::new(),
        refused: Vec::new(),
    };
    archive.symbols().map_err(malformed)?; // the index is not read, but must be there
    for member in archive.members() {
        let member = member.map_err(malformed)?;
        if is_index(member.name()) {
            continue;
        }
        let name = String::from_utf8_lossy(member.name()).into_owned();
        match scan_member(path, bytes, &member) {
            Ok(mut object) => {
                object.member = Some(name);
                inputs.objects.push(object);
            }
            Err(kind) => inputs.refused.push(ScanError {
                file: format!("{}({name})", path.display()),
                kind,
            }),
        }
    }
    Ok(inputs)
}

/// Symbol and name tables are members too.
pub(crate) fn is_index(name: &[u8]) -> bool {
    matches!(name, b"/" | b"//" | b"/SYM64/") || name.starts_with(b"__.SYMDEF")
}

fn scan_member(
    path: &Path,
    bytes: &[u8],
    member: &ArchiveMember<'_>,
) -> Result<super::Object, ScanErrorKind> {
    let (kind, object) = elf::scan(&thin_member(path, bytes, member)?)?;
    match kind {
        FileKind::Relocatable => Ok(object),
        _ => Err(ScanErrorKind::NotElf(
            "a member of an archive must be a relocatable object",
        )),
    }
}

/// The contents of a member; those of a thin archive's are in a file named relative to the archive `path`.
pub(crate) fn thin_member<'a>(
    path: &Path,
    bytes: &'a [u8],
    member: &ArchiveMember<'a>,
) -> Result<Cow<'a, [u8]>, ScanErrorKind> {
    if !member.is_thin() {
        return Ok(Cow::Borrowed(member.data(bytes)?));
    }
    let directory = path.parent().unwrap_or(Path::new(""));
    let file = directory.join(OsStr::from_bytes(member.name()));
    Ok(Cow::Owned(read_regular(&file)?))
}
