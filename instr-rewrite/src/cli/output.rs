//! Output files: complete under their name, or not there at all.

use anyhow::{Context, Result};
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Permissions of an output file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mode {
    /// These, less what the process masks.
    Masked(u32),
    /// These.
    Exactly(u32),
}

/// Permissions of ordinary output.
pub(crate) const DEFAULT_MODE: Mode = Mode::Masked(0o666);

/// Writes `bytes` to the standard output (no path, or `-`), or to a file by way of a temporary one beside it.
pub(crate) fn write(output: Option<&Path>, bytes: &[u8], mode: Mode) -> Result<()> {
    match output {
        Some(path) if path != Path::new("-") => write_file(path, bytes, mode)
            .with_context(|| format!("cannot write {}", path.display())),
        _ => {
            let mut stdout = std::io::stdout().lock();
            let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
            written.context("cannot write to the standard output")
        }
    }
}

fn write_file(path: &Path, bytes: &[u8], mode: Mode) -> Result<()> {
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        // A device or pipe is written to; renaming would put a file in its place.
        return Ok(std::fs::write(path, bytes)?);
    }
    // What a link leads to is replaced, not the link.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let (Mode::Masked(initial) | Mode::Exactly(initial)) = mode;
    let mut file = tempfile::Builder::new()
        .prefix(".instr-rewrite")
        .permissions(Permissions::from_mode(initial))
        .tempfile_in(directory)
        .map_err(without_path)?;
    file.write_all(bytes)?;
    if let Mode::Exactly(mode) = mode {
        file.as_file()
            .set_permissions(Permissions::from_mode(mode))?;
    }
    file.persist(path)?;
    Ok(())
}

/// The error of the system alone: that of a temporary file names a path which nobody has asked for.
fn without_path(error: std::io::Error) -> anyhow::Error {
    let text = error.to_string();
    anyhow::anyhow!("{}", text.split(" at path \"").next().unwrap_or_default())
}
