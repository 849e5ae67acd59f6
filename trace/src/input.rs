//! Opens files of a trace, which anybody may have put there.

use std::fs::{File, OpenOptions};
use std::io::{Error, Result};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens a regular file to be read. Opening anything else might wait for ever, as for the other end of a pipe.
///
/// # Errors
///
/// Those of the system, and one for what is no regular file.
pub(crate) fn open(path: &Path) -> Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(Error::other("it is no regular file")),
    }
}
