//! Archives: GNU, BSD and thin.

use super::{FileKind, Inputs, ScanError, ScanErrorKind, read_regular, refuse};
use instr_symtab::objects::{
    Archive, Contents, Member, Object, ObjectError, ObjectKind, read_globals,
};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(super) fn scan(path: &Path, bytes: &[u8]) -> Result<Inputs, ScanError> {
    let malformed = |error: ObjectError| refuse(path, error.into());
    let archive = Archive::parse(bytes).map_err(malformed)?;
    let kind = FileKind::Archive {
        thin: archive.is_thin(),
    };
    let mut inputs = Inputs {
        path: path.to_owned(),
        kind,
        objects: Vec::new(),
        refused: Vec::new(),
    };
    archive.check_index().map_err(malformed)?; // it is not read, but must be there
    for member in archive.members() {
        let member = member.map_err(malformed)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        match scan_member(path, &member) {
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

fn scan_member(path: &Path, member: &Member<'_>) -> Result<Object, ScanErrorKind> {
    let (kind, object) = read_globals(&member_contents(path, member)?)?;
    match kind {
        ObjectKind::Relocatable => Ok(object),
        _ => Err(ObjectError::NotElf("a member of an archive must be a relocatable object").into()),
    }
}

/// The contents of a member; those of a thin archive's are in a file named relative to the archive `path`.
pub(crate) fn member_contents<'a>(
    path: &Path,
    member: &Member<'a>,
) -> Result<Cow<'a, [u8]>, ScanErrorKind> {
    match member.contents()? {
        Contents::Inside(bytes) => Ok(Cow::Borrowed(bytes)),
        Contents::File(name) => {
            let directory = path.parent().unwrap_or(Path::new(""));
            let file = directory.join(OsStr::from_bytes(name));
            Ok(Cow::Owned(read_regular(&file)?))
        }
    }
}
