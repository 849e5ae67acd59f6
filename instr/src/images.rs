//! Programs and libraries as symbol tables: mapped into memory, with the debug files they ask for.

use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use instr_symtab::{Bytes, Image};

/// Rounds of asking for further files: a debug file may name a supplementary one, and nothing goes deeper.
const MAX_ROUNDS: usize = 4;

/// Opens the program or library at `path` with the debug files that lie where they should.
///
/// # Errors
///
/// Files that cannot be read or are no ELF files. Debug files that are missing or do not fit are none.
pub fn open(path: &Path) -> Result<Image> {
    let cannot = || format!("cannot read {}", path.display());
    let bytes = map(path).with_context(cannot)?;
    let mut image = Image::from_bytes(bytes).with_context(cannot)?;
    for _ in 0..MAX_ROUNDS {
        let wanted = image.wants();
        let found: Vec<Bytes> = wanted
            .iter()
            .filter_map(|want| {
                want.candidates(path)
                    .iter()
                    .find_map(|candidate| map(candidate).ok())
            })
            .collect();
        if found.is_empty() || !image.add_debug(found).iter().any(|taken| taken.is_ok()) {
            break;
        }
    }
    Ok(image)
}

/// Maps a file for reading.
///
/// # Errors
///
/// Those of opening and mapping; directories and the like are refused.
fn map(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let kind = file.metadata()?;
    if !kind.is_file() {
        let why = "not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    if kind.len() == 0 {
        return Ok(Bytes::from(Vec::new()));
    }
    // SAFETY: the mapping is private and read-only. Should somebody truncate the file meanwhile, the process ends with
    // SIGBUS, as with every program that maps its input; the contents themselves are never trusted.
    let mapping = unsafe { memmap2::Mmap::map(&file) }?;
    Ok(Bytes::from_owner(mapping))
}
