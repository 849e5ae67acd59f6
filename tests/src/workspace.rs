//! Folders: the project, the test binary's target folder, working folders.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::outcome::{Check, Stop};

/// The root of the project: the folder whose `Cargo.toml` holds `[workspace]`, looked for from this crate's folder (`cargo test`
/// runs tests there) or the current folder upwards.
///
/// # Errors
///
/// When there is none.
pub fn root() -> Check<&'static Path> {
    static ROOT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = ROOT.get_or_init(|| {
        let start = std::env::var_os("CARGO_MANIFEST_DIR")
            .map(PathBuf::from)
            .or_else(|| std::env::current_dir().ok())?;
        let is_root =
            |dir: &&Path| dir.join("tests/sources").is_dir() && dir.join("Cargo.toml").is_file();
        start.ancestors().find(is_root).map(Path::to_owned)
    });
    found.as_deref().ok_or_else(|| {
        Stop::Fail("the project's root folder was not found from the current folder".into())
    })
}

/// The folder cargo built this binary's profile into (`target/debug`, `target/release`).
///
/// # Errors
///
/// When the binary's own path is unknown.
pub fn profile_dir() -> Check<PathBuf> {
    let exe = std::env::current_exe()?;
    let deps = exe.parent().ok_or("the test binary has no folder")?;
    let dir = if deps.ends_with("deps") {
        deps.parent().unwrap_or(deps)
    } else {
        deps
    };
    Ok(dir.to_owned())
}

/// Where working folders and the tests' own HOME live: `tmp/instr-tests` beside the profile's folder.
///
/// # Errors
///
/// When it cannot be made.
pub fn scratch() -> Check<PathBuf> {
    let profile = profile_dir()?;
    let dir = profile.parent().unwrap_or(&profile).join("tmp/instr-tests");
    std::fs::create_dir_all(&dir)?;
    Ok(dir)
}

/// A HOME shared by all tests, so that the runtime is built once for each target; empty on a clean clone.
///
/// # Errors
///
/// When it cannot be made.
pub fn home() -> Check<PathBuf> {
    let dir = scratch()?.join("home");
    std::fs::create_dir_all(&dir)?;
    Ok(dir)
}

/// A working folder of one test, removed at its end unless `INSTR_TEST_KEEP=1`.
///
/// # Errors
///
/// When it cannot be made.
pub fn work_dir(name: &str) -> Check<TempDir> {
    let prefix: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    let mut dir = tempfile::Builder::new()
        .prefix(&format!("{prefix}-"))
        .tempdir_in(scratch()?)?;
    if std::env::var_os("INSTR_TEST_KEEP").is_some_and(|value| value == "1") {
        dir.disable_cleanup(true);
        eprintln!("{name}: kept {}", dir.path().display());
    }
    Ok(dir)
}

/// Lets other users come to a folder of a test and read there, as far as that is ours to say.
///
/// # Errors
///
/// When a folder on the way refuses.
pub fn open_to_others(dir: &Path) -> Check {
    for folder in dir.ancestors().filter(|folder| folder.parent().is_some()) {
        let mode = std::fs::metadata(folder)?.permissions().mode();
        if mode & 0o001 == 0 {
            std::fs::set_permissions(folder, PermissionsExt::from_mode(mode | 0o055))?;
        }
    }
    Ok(())
}
