//! The folder of things built once: `$INSTR_CACHE`, else `$XDG_CACHE_HOME/instr`, else `~/.cache/instr`, else a private
//! temporary folder that lives as long as one command.
//!
//! Every entry is a folder that is built under a temporary name and then renamed, so that an entry is complete if it is
//! there. Builders of the same entry wait for each other; where a file system cannot lock, the first rename wins.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Changes when entries of the same name would have another content.
const LAYOUT: &str = "v1";

/// The folder, and whether it goes away with this value.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    private: Option<tempfile::TempDir>,
}

impl Cache {
    /// Opens the first folder that can be written, else a private one.
    ///
    /// # Errors
    /// When not even a temporary folder can be made.
    pub fn open(variable: impl Fn(&str) -> Option<OsString>) -> io::Result<Self> {
        let set = |name| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let absolute = |p: PathBuf| p.is_absolute().then_some(p);
        let places = [
            set("INSTR_CACHE").and_then(|p| std::path::absolute(p).ok()),
            set("XDG_CACHE_HOME")
                .and_then(absolute)
                .map(|p| p.join("instr")),
            set("HOME")
                .and_then(absolute)
                .map(|p| p.join(".cache/instr")),
        ];
        // The first that is set counts; a later one is no stand-in for a folder that the user chose.
        if let Some(place) = places.into_iter().flatten().next() {
            let root = place.join(LAYOUT);
            if is_usable(&root) {
                return Ok(Self {
                    root,
                    private: None,
                });
            }
        }
        let private = tempfile::Builder::new().prefix("instr-cc-").tempdir()?;
        Ok(Self {
            root: private.path().to_owned(),
            private: Some(private),
        })
    }

    /// The same folder, seen from a process that does not own it.
    #[must_use]
    pub fn at(root: PathBuf) -> Self {
        Self {
            root,
            private: None,
        }
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the folder is removed when this value is dropped.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// The entry `name`, made by `build` in an empty folder if it is not there.
    ///
    /// # Errors
    /// What `build` returns, or trouble with the folder.
    pub fn entry<E: From<io::Error>>(
        &self,
        name: &str,
        build: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let path = self.root.join(name);
        if path.is_dir() {
            return Ok(path);
        }
        let _lock = self.lock(name);
        if path.is_dir() {
            return Ok(path);
        }
        let work = tempfile::Builder::new()
            .prefix(".new-")
            .tempdir_in(&self.root)?;
        build(work.path())?;
        match fs::rename(work.path(), &path) {
            Ok(()) => _ = work.keep(),
            Err(_) if path.is_dir() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(path)
    }

    /// Waits for other builders of an entry. Without locks the entry is built twice, which does no harm.
    fn lock(&self, name: &str) -> Option<File> {
        let file = File::create(self.root.join(format!(".{name}.lock"))).ok()?;
        // SAFETY: `file` owns a valid descriptor for the duration of the call.
        let locked = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } == 0;
        locked.then_some(file)
    }
}

/// Makes the folder and tries to write in it. `:` would end the path in the search lists of compilers.
fn is_usable(root: &Path) -> bool {
    !root.as_os_str().as_bytes().contains(&b':')
        && fs::create_dir_all(root).is_ok()
        && tempfile::Builder::new()
            .prefix(".probe-")
            .tempfile_in(root)
            .is_ok()
}

/// A key from parts; parts cannot run into each other.
#[must_use]
pub fn key<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize()[..12]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn open(vars: &[(&str, &Path)]) -> Cache {
        Cache::open(|name| {
            vars.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| v.as_os_str().to_owned())
        })
        .unwrap()
    }

    #[test]
    fn places_are_tried_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let d = dir.path();
        assert_eq!(
            open(&[("INSTR_CACHE", &d.join("a")), ("HOME", d)]).root(),
            d.join("a/v1")
        );
        assert_eq!(
            open(&[("XDG_CACHE_HOME", &d.join("b")), ("HOME", d)]).root(),
            d.join("b/instr/v1")
        );
        assert_eq!(open(&[("HOME", d)]).root(), d.join(".cache/instr/v1"));
        assert!(open(&[]).is_private());
        assert!(open(&[("INSTR_CACHE", Path::new("/dev/null/x")), ("HOME", d)]).is_private());
    }

    #[test]
    fn an_entry_is_built_once_by_many() {
        let dir = tempfile::tempdir().unwrap();
        let built = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let cache = open(&[("INSTR_CACHE", dir.path())]);
                    let path = cache.entry("thing", |work| {
                        built.fetch_add(1, Ordering::Relaxed);
                        fs::write(work.join("x"), "whole")
                    });
                    assert_eq!(
                        fs::read_to_string(path.unwrap().join("x")).unwrap(),
                        "whole"
                    );
                });
            }
        });
        assert_eq!(built.into_inner(), 1);
    }

    #[test]
    fn a_failed_build_leaves_no_entry() {
        let dir = tempfile::tempdir().unwrap();
        let cache = open(&[("INSTR_CACHE", dir.path())]);
        let result = cache.entry("thing", |work| {
            fs::write(work.join("half"), "")?;
            Err(io::Error::other("no"))
        });
        assert_eq!(result.unwrap_err().to_string(), "no");
        assert!(
            cache
                .entry("thing", |_| io::Result::Ok(()))
                .unwrap()
                .read_dir()
                .unwrap()
                .next()
                .is_none()
        );
    }

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        assert_ne!(key([b"ab".as_slice(), b"c"]), key([b"a".as_slice(), b"bc"]));
    }
}
