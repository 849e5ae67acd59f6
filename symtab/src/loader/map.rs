//! Files as bytes.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::bytes::Bytes;

/// Maps a file for reading.
///
/// # Errors
///
/// Those of opening and mapping; folders, pipes and the like are refused.
pub fn map_file(path: &Path) -> io::Result<Bytes> {
    // Opening a named pipe would wait for somebody to write into it.
    let kind = std::fs::metadata(path)?;
    if kind.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "is a directory",
        ));
    }
    if !kind.is_file() {
        let why = "not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    if kind.len() == 0 {
        return Ok(Bytes::from(Vec::new()));
    }
    let file = File::open(path)?;
    // SAFETY: the mapping is private and read-only. Should somebody truncate the file meanwhile, the process ends with
    // SIGBUS, as with every program that maps its input; the contents themselves are never trusted.
    let mapping = unsafe { memmap2::Mmap::map(&file) }?;
    Ok(Bytes::from_mapping(mapping, release))
}

/// Gives the pages of a mapping back to the kernel.
#[cfg(target_os = "linux")]
fn release(mapping: &memmap2::Mmap) {
    // SAFETY: the mapping is one of a file and was never written to, so its pages are read from the file again.
    // Failing leaves everything as it is.
    let _ = unsafe { mapping.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
}

/// Elsewhere, such an advice may mean something else.
#[cfg(not(target_os = "linux"))]
fn release(_: &memmap2::Mmap) {}
