//! Archives: every member is redirected, the result is a GNU archive with a symbol index.

use super::{RedirectError, RedirectErrorKind, Redirected, redirect_object};
use crate::api::Api;
use crate::object::{ARCHIVE_MAGIC, Archive, read_globals};
use crate::scan::member_contents;
use std::collections::BTreeSet;
use std::path::Path;

/// Longest name that fits into a member's header together with its closing slash.
const MAX_SHORT_NAME: usize = 15;
/// Size of a member's header.
const HEADER_SIZE: usize = 60;

struct Member {
    name: Vec<u8>,
    mode: u64,
    bytes: Vec<u8>,
}

pub(super) fn redirect(path: &Path, bytes: &[u8], api: &Api) -> Result<Redirected, RedirectError> {
    let whole = |kind| RedirectError {
        file: path.display().to_string(),
        kind,
    };
    let archive = Archive::parse(bytes).map_err(|error| whole(error.into()))?;
    let mut members = Vec::new();
    let mut renamed = BTreeSet::new();
    for member in archive.members() {
        let member = member.map_err(|error| whole(error.into()))?;
        let inside = |kind| {
            let name = String::from_utf8_lossy(member.name);
            RedirectError {
                file: format!("{}({name})", path.display()),
                kind,
            }
        };
        let contents = member_contents(path, &member).map_err(|kind| inside(kind.into()))?;
        let redirected = redirect_object(&contents, api).map_err(inside)?;
        renamed.extend(redirected.renamed);
        let name = member
            .name
            .rsplit(|&byte| byte == b'/')
            .next()
            .unwrap_or_default()
            .to_vec();
        members.push(Member {
            name,
            mode: member.mode.unwrap_or(0o644),
            bytes: redirected.bytes,
        });
    }
    if renamed.is_empty() && !archive.is_thin() {
        return Ok(Redirected {
            bytes: bytes.to_vec(),
            renamed: Vec::new(),
        });
    }
    let bytes = write(&members).map_err(whole)?;
    Ok(Redirected {
        bytes,
        renamed: renamed.into_iter().collect(),
    })
}

/// The GNU archive of `members`, without times and owners.
fn write(members: &[Member]) -> Result<Vec<u8>, RedirectErrorKind> {
    let (names, places) = long_names(members);
    let defined = definitions(members)?;
    let strings: usize = defined.iter().map(|(symbol, _)| symbol.len() + 1).sum();
    let index_size = even(4 + 4 * defined.len() + strings);
    let mut offset = ARCHIVE_MAGIC.len() + HEADER_SIZE + index_size;
    if !names.is_empty() {
        offset += HEADER_SIZE + even(names.len());
    }
    let mut offsets = Vec::with_capacity(members.len());
    for member in members {
        let too_large = |_| RedirectErrorKind::Unsupported("an archive above 4 GiB".to_owned());
        offsets.push(u32::try_from(offset).map_err(too_large)?);
        offset += HEADER_SIZE + even(member.bytes.len());
    }
    let mut new = Vec::with_capacity(offset);
    new.extend_from_slice(&ARCHIVE_MAGIC);
    header(&mut new, b"/", 0, index_size);
    let count = u32::try_from(defined.len())
        .map_err(|_| RedirectErrorKind::Unsupported("too many symbols".to_owned()))?;
    new.extend_from_slice(&count.to_be_bytes());
    for (_, member) in &defined {
        new.extend_from_slice(&offsets[*member].to_be_bytes());
    }
    for (symbol, _) in &defined {
        new.extend_from_slice(symbol);
        new.push(0);
    }
    // The index is padded inside its size, with NULs.
    new.resize(ARCHIVE_MAGIC.len() + HEADER_SIZE + index_size, 0);
    if !names.is_empty() {
        header(&mut new, b"//", 0, names.len());
        contents(&mut new, &names);
    }
    for (member, place) in members.iter().zip(&places) {
        header(&mut new, place, member.mode, member.bytes.len());
        contents(&mut new, &member.bytes);
    }
    Ok(new)
}

/// The table of long names, and for each member the name field of its header.
fn long_names(members: &[Member]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut names = Vec::new();
    let mut places = Vec::with_capacity(members.len());
    for member in members {
        if member.name.len() <= MAX_SHORT_NAME && !member.name.is_empty() {
            places.push([member.name.as_slice(), b"/"].concat());
        } else {
            places.push(format!("/{}", names.len()).into_bytes());
            names.extend_from_slice(&member.name);
            names.extend_from_slice(b"/\n");
        }
    }
    (names, places)
}

/// Defined symbols with the number of their member, in the order of the members.
fn definitions(members: &[Member]) -> Result<Vec<(&[u8], usize)>, RedirectErrorKind> {
    let mut all = Vec::new();
    for (number, member) in members.iter().enumerate() {
        let (_, mut object) = read_globals(&member.bytes)?;
        object.defined.sort_unstable();
        object.defined.dedup();
        all.extend(object.defined.into_iter().map(|symbol| (symbol, number)));
    }
    Ok(all)
}

fn even(size: usize) -> usize {
    size.next_multiple_of(2)
}

fn header(new: &mut Vec<u8>, name: &[u8], mode: u64, size: usize) {
    let start = new.len();
    new.extend_from_slice(name);
    new.resize(start + 16, b' ');
    // Time, owner, group; mode in octal; size in decimal; end mark.
    new.extend_from_slice(
        format!(
            "{:<12}{:<6}{:<6}{:<8o}{size:<10}`\n",
            0,
            0,
            0,
            mode & 0o7777
        )
        .as_bytes(),
    );
}

fn contents(new: &mut Vec<u8>, bytes: &[u8]) {
    new.extend_from_slice(bytes);
    if !bytes.len().is_multiple_of(2) {
        new.push(b'\n');
    }
}
