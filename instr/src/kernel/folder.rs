//! The hidden folders that the launcher has while a program runs. Each is locked as long as its launcher lives; what a launcher that was killed has left,
//! the next one finds unlocked and removes.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FlockOperation, flock, fstat, unlinkat};

use super::place::{clear, enter, is_own};

/// Tries to make one: another launcher may take it for one that was left, in the moment between its begin and its lock.
const MOST_TRIES: u32 = 8;

/// A hidden folder, which goes when this does.
#[derive(Debug)]
pub(crate) struct Folder {
    /// `None`: the file system has no locks. Then nobody removes what is left there. It goes first: removing a folder takes a descriptor, too.
    _lock: Option<OwnedFd>,
    dir: tempfile::TempDir,
}

impl Folder {
    /// A folder of this user's alone in `around`, whose name begins like this.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(crate) fn make(around: &Path, prefix: &OsStr) -> io::Result<Self> {
        for _ in 0..MOST_TRIES {
            let dir = tempfile::Builder::new()
                .prefix(prefix)
                .permissions(PermissionsExt::from_mode(0o700))
                .tempdir_in(around)?;
            let folder = match enter(CWD.as_fd(), dir.path()) {
                Ok((folder, _)) => folder,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    // To remove it as what may hold something takes a descriptor, which may be what is missing.
                    let _ = std::fs::remove_dir(dir.keep());
                    return Err(error);
                }
            };
            let locked = flock(&folder, FlockOperation::LockExclusive);
            // Who had it before has removed it.
            if fstat(&folder)?.st_nlink == 0 {
                continue;
            }
            return Ok(Self {
                _lock: locked.ok().map(|()| folder),
                dir,
            });
        }
        Err(io::Error::other("folders are removed as they are made"))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// It stays, unlocked: it has become part of a trace, or others write into it.
    pub(crate) fn keep(self) -> PathBuf {
        self.dir.keep()
    }
}

/// Folders of this user's in `around` whose names begin like this and whose launchers were killed: `remove` gets each, and says whether it goes with all
/// files of traces in it. Returns those that stay.
pub(crate) fn abandoned(
    around: &Path,
    prefix: &OsStr,
    mut remove: impl FnMut(&Path) -> bool,
) -> Vec<PathBuf> {
    let mut left = Vec::new();
    let Ok(around) = around.canonicalize() else {
        return left;
    };
    let Ok((parent, _)) = enter(CWD.as_fd(), &around) else {
        return left;
    };
    let entries = std::fs::read_dir(&around).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    let begins = |name: &OsString| {
        let name = name.as_encoded_bytes();
        name.starts_with(prefix.as_encoded_bytes())
    };
    for name in names.filter(begins) {
        let Ok((folder, status)) = enter(parent.as_fd(), &name) else {
            continue;
        };
        if !is_own(&status) {
            continue;
        }
        // It is used; or there are no locks here, and it may be.
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let path = around.join(&name);
        if !remove(&path) {
            left.push(path);
            continue;
        }
        clear(&folder, 0);
        // What holds anything else stays.
        if unlinkat(&parent, &name, AtFlags::REMOVEDIR).is_err() {
            left.push(path);
        }
    }
    left.sort();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = ".kind-";

    fn left(around: &Path) -> Vec<PathBuf> {
        abandoned(around, PREFIX.as_ref(), |_| true)
    }

    #[test]
    fn what_is_used_stays_and_what_was_left_goes() {
        let around = tempfile::tempdir().unwrap();
        let around = around.path();
        let used = Folder::make(around, PREFIX.as_ref()).unwrap();
        let killed = Folder::make(around, PREFIX.as_ref()).unwrap();
        std::fs::write(used.path().join("processor_0000"), "x").unwrap();
        std::fs::write(killed.path().join("processor_0000"), "x").unwrap();
        std::fs::write(killed.path().join("metadata"), "x").unwrap();
        // As a process that is killed: its locks go, its folder does not.
        let killed = killed.keep();
        let other = around.join(".other-1");
        std::fs::create_dir(&other).unwrap();
        assert!(left(around).is_empty());
        assert!(used.path().join("processor_0000").is_file());
        assert!(!killed.exists() && other.is_dir());
    }

    #[test]
    fn what_holds_something_else_stays_and_links_are_not_followed() {
        let around = tempfile::tempdir().unwrap();
        let around = &around.path().canonicalize().unwrap();
        let target = around.join("target");
        std::fs::create_dir(&target).unwrap();
        std::fs::write(target.join("processor_0000"), "x").unwrap();
        std::os::unix::fs::symlink(&target, around.join(".kind-link")).unwrap();
        let foreign = around.join(".kind-foreign");
        std::fs::create_dir(&foreign).unwrap();
        std::fs::write(foreign.join("notes.txt"), "x").unwrap();
        let open = around.join(".kind-open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
        assert_eq!(left(around), std::slice::from_ref(&foreign));
        assert!(target.join("processor_0000").is_file());
        assert!(foreign.join("notes.txt").is_file() && open.is_dir());
    }
}
