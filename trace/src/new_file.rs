//! Files that appear complete or not at all: written under a temporary name in the folder they are for, renamed when complete.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

/// As many links in a row as Linux follows.
const MAX_LINKS: usize = 40;
/// The mode of an ordinary new file; the process's umask is applied to it.
const NEW: u32 = 0o666;
/// Mode bits that a file keeps when it is replaced. The others are for programs.
const KEPT: u32 = 0o777;
/// How often a folder that is still filled is cleared.
const REMOVALS: usize = 100;

/// Temporary files and folders that are there now.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// That a temporary file or folder is there, as long as this lives: a signal that ends the process leaves it behind, unless somebody removes it first
/// ([`remove_unfinished`]).
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Of what `make` makes, at a path that will go, or get another name, before this does. A signal that comes meanwhile finds it.
    ///
    /// # Errors
    ///
    /// Those of `make`.
    pub fn making<T, E>(
        make: impl FnOnce() -> Result<T, E>,
        path: impl FnOnce(&T) -> &Path,
    ) -> Result<(T, Self), E> {
        let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let made = make()?;
        let path = path(&made);
        // Names stay right where the process changes its folder meanwhile.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        all.push(path.clone());
        Ok((made, Self(path)))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|path| *path == self.0) {
            all.swap_remove(at);
        }
    }
}

/// Calls `rename`, which gives something unfinished its name: nobody removes it meanwhile. `rename` begins nothing unfinished itself.
pub fn while_kept<T>(rename: impl FnOnce() -> T) -> T {
    let _all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    rename()
}

/// Removes all that is unfinished. The process ends now: who writes there, or wants to begin another file, waits for ever.
pub fn remove_unfinished() {
    let all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in all.iter() {
        for _ in 0..REMOVALS {
            let gone = match path.is_dir() {
                // Others may put files into it while it is cleared.
                true => std::fs::remove_dir_all(path),
                false => std::fs::remove_file(path),
            };
            if gone.is_ok() || path.symlink_metadata().is_err() {
                break;
            }
        }
    }
    std::mem::forget(all);
}

/// A file that has no name yet. Without [`NewFile::publish`] nothing is left of it.
#[derive(Debug)]
pub struct NewFile {
    // The file goes first.
    file: NamedTempFile,
    unfinished: Unfinished,
    path: PathBuf,
    before: Option<Before>,
}

/// Of the file that is replaced.
#[derive(Debug, Clone, Copy)]
struct Before {
    mode: u32,
    user: u32,
    group: u32,
}

impl NewFile {
    /// A file that is to be at `path`, or where the symbolic links there lead to.
    ///
    /// # Errors
    ///
    /// A device or a pipe is there, or the folder cannot be written. The error does not name the temporary file, which tells the user nothing.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = behind_links(path);
        let is_special = |status: std::fs::Metadata| !status.is_file() && !status.is_dir();
        if path.metadata().is_ok_and(is_special) {
            let why = format!("{} is not a file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let before = path.metadata().ok().filter(|status| status.is_file());
        let before = before.map(|status| Before {
            mode: status.mode() & KEPT,
            user: status.uid(),
            group: status.gid(),
        });
        // Who may not read the file that is there reads nothing of the new one meanwhile.
        let mode = before.map_or(NEW, |before| before.mode & NEW);
        let make = || {
            tempfile::Builder::new()
                .prefix(".instr-")
                .permissions(Permissions::from_mode(mode))
                .tempfile_in(folder)
        };
        let (file, unfinished) = Unfinished::making(make, NamedTempFile::path).map_err(plain)?;
        Ok(Self {
            file,
            unfinished,
            path,
            before,
        })
    }

    /// Where it is written.
    #[must_use]
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives the file its name. One that was there is replaced; its mode stays, and its owner where the system allows it.
    ///
    /// # Errors
    ///
    /// It cannot be renamed.
    pub fn publish(self) -> io::Result<()> {
        if let Some(before) = self.before {
            let file = self.file.as_file();
            // Only an administrator may give files away; a new one of the user's own is right for all others.
            let _ = fchown(file, Some(before.user), Some(before.group));
            file.set_permissions(Permissions::from_mode(before.mode))?;
        }
        let renamed = self.file.persist(&self.path);
        drop(self.unfinished);
        renamed.map(|_| ()).map_err(|error| plain(error.error))
    }
}

/// Where symbolic links lead to, which need not be there.
#[must_use]
pub fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(to) = std::fs::read_link(&path) else {
            break;
        };
        // Beside the link, or from the root.
        path = path.parent().map_or(to.clone(), |folder| folder.join(&to));
    }
    path
}

/// The error without the name of a temporary file: the caller names the file that was asked for.
#[must_use]
pub fn plain(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path \"") {
        Some((why, _)) => io::Error::new(error.kind(), why),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn write(path: &Path, text: &str) {
        let new = NewFile::create(path).unwrap();
        new.file().write_all(text.as_bytes()).unwrap();
        new.publish().unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o7777
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        write(&new, "first");
        let ordinary = folder.path().join("ordinary");
        std::fs::write(&ordinary, "").unwrap();
        assert_eq!(mode(&new), mode(&ordinary), "as any program makes one");
        std::fs::write(&old, "before").unwrap();
        for bits in [0o600, 0o640, 0o664, 0o666, 0o755] {
            std::fs::set_permissions(&old, Permissions::from_mode(bits)).unwrap();
            write(&old, "again");
            assert_eq!(mode(&old), bits, "{bits:o}");
        }
        std::fs::set_permissions(&old, Permissions::from_mode(0o4755)).unwrap();
        write(&old, "no program any more");
        assert_eq!(mode(&old), 0o755);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn nobody_else_reads_what_replaces_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("private");
        std::fs::write(&path, "before").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let new = NewFile::create(&path).unwrap();
        assert_eq!(new.file().metadata().unwrap().mode() & 0o077, 0);
    }

    #[test]
    fn errors_do_not_name_the_temporary_file() {
        let error = NewFile::create(Path::new("/proc/x")).unwrap_err();
        assert!(!error.to_string().contains(".instr-"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let new = NewFile::create(&folder.path().join("a")).unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        let error = new.publish().unwrap_err();
        assert!(!error.to_string().contains(".instr-"), "{error}");
    }

    #[test]
    fn a_device_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        // Through a link, so that a fault here costs the link and no device.
        let link = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let error = NewFile::create(&link).unwrap_err();
        assert_eq!(error.to_string(), "/dev/null is not a file");
    }
}
