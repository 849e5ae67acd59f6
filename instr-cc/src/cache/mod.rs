//! The folder of things built once, in one of the places that `place` lists, else a private temporary folder that lives as long as
//! one command.
//!
//! Every entry is a folder that is built under a temporary name and then renamed, so that an entry is complete if it is
//! there; one that is damaged is built anew (`seal`). Builders of the same entry wait for each other; where a file system
//! cannot lock, the first rename wins.

mod place;
mod seal;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Changes when entries of the same name would have another content.
const LAYOUT: &str = "v1";

/// The folder, and whether it goes away with this value.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    private: Option<tempfile::TempDir>,
    notes: Vec<String>,
}

impl Cache {
    /// Opens the first place that can be used, else a private folder.
    ///
    /// # Errors
    /// When not even a temporary folder can be made.
    pub fn open(variable: impl Fn(&str) -> Option<OsString>) -> io::Result<Self> {
        let found = place::find(&variable, LAYOUT);
        let mut notes = found.refused;
        if let Some(root) = found.folder {
            return Ok(Self {
                root,
                private: None,
                notes,
            });
        }
        let private = tempfile::Builder::new()
            .prefix("instr-cc-")
            .tempdir_in(place::temporary(&variable))?;
        notes.push(
            "there is no folder to keep the runtime in: each link builds it again; set INSTR_CACHE to a folder that can be written"
                .into(),
        );
        Ok(Self {
            root: private.path().to_owned(),
            private: Some(private),
            notes,
        })
    }

    /// Why places before the one that is used are not, for people who ask.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The same folder, seen from a process that does not own it.
    #[must_use]
    pub fn at(root: PathBuf) -> Self {
        Self {
            root,
            private: None,
            notes: Vec::new(),
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

    /// The entry `name`, made by `build` in an empty folder if it is not there or damaged.
    ///
    /// # Errors
    /// What `build` returns, or trouble with the folder.
    pub fn entry<E: From<io::Error>>(
        &self,
        name: &str,
        build: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let path = self.root.join(name);
        if seal::holds(&path) {
            return Ok(path);
        }
        let _lock = self.lock(name);
        if seal::holds(&path) {
            return Ok(path);
        }
        let work = self.temporary()?;
        build(work.path())?;
        seal::close(work.path())?;
        self.put_aside(&path)?;
        match fs::rename(work.path(), &path) {
            Ok(()) => _ = work.keep(),
            Err(_) if seal::holds(&path) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(path)
    }

    fn temporary(&self) -> io::Result<tempfile::TempDir> {
        tempfile::Builder::new()
            .prefix(".new-")
            .tempdir_in(&self.root)
    }

    /// Takes a damaged entry out of the way: renamed first, so that others find it whole or not at all.
    fn put_aside(&self, path: &Path) -> io::Result<()> {
        if path.symlink_metadata().is_err() || seal::holds(path) {
            return Ok(());
        }
        let aside = self.temporary()?;
        fs::rename(path, aside.path().join("damaged"))
    }

    /// Waits for other builders of an entry. Without locks the entry is built twice, which does no harm.
    fn lock(&self, name: &str) -> Option<File> {
        let file = File::create(self.root.join(format!(".{name}.lock"))).ok()?;
        // SAFETY: `file` owns a valid descriptor for the duration of the call.
        let locked = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } == 0;
        locked.then_some(file)
    }
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

    /// A folder of this user alone, whatever the umask is: with that of Debian 13 a group may write into what a user makes.
    pub(in crate::cache) fn own_folder() -> tempfile::TempDir {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        let mut folder = tempfile::Builder::new();
        folder.permissions(mode).tempdir().unwrap()
    }

    fn open(vars: &[(&str, &Path)]) -> Cache {
        Cache::open(|name| {
            vars.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| v.as_os_str().to_owned())
        })
        .unwrap()
    }

    #[test]
    fn without_a_place_the_folder_is_private_and_a_note_says_so() {
        let dir = own_folder();
        // SAFETY: the call has no arguments and always succeeds.
        let user = unsafe { libc::geteuid() };
        fs::write(dir.path().join(format!("instr-cache-{user}")), "").unwrap();
        let cache = open(&[("TMPDIR", dir.path())]);
        assert!(cache.is_private() && cache.root().starts_with(dir.path()));
        let [why, consequence] = cache.notes() else {
            panic!("{:?}", cache.notes())
        };
        assert!(why.contains("not a folder of this user alone"), "{why}");
        assert!(consequence.contains("set INSTR_CACHE"), "{consequence}");
        let root = cache.root().to_owned();
        drop(cache);
        assert!(!root.exists());
    }

    #[test]
    fn a_damaged_entry_is_built_again() {
        let dir = own_folder();
        let cache = open(&[("INSTR_CACHE", dir.path())]);
        let build = || cache.entry("thing", |work| fs::write(work.join("x"), "whole"));
        let path = build().unwrap();
        type Damage = fn(&Path);
        let damages: [Damage; 4] = [
            |path| fs::write(path.join("x"), "").unwrap(),
            |path| fs::remove_dir_all(path).unwrap(),
            |path| {
                // As versions that wrote no list left them.
                fs::remove_file(path.join(".seal")).unwrap();
            },
            |path| {
                fs::remove_dir_all(path).unwrap();
                fs::write(path, "a file").unwrap();
            },
        ];
        for damage in damages {
            damage(&path);
            assert_eq!(build().unwrap(), path);
            assert_eq!(fs::read_to_string(path.join("x")).unwrap(), "whole");
        }
        let left = cache.root().read_dir().unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert_eq!(left.len(), 2, "the entry and its lock: {left:?}");
    }

    #[test]
    fn an_entry_is_built_once_by_many() {
        let dir = own_folder();
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
        let dir = own_folder();
        let cache = open(&[("INSTR_CACHE", dir.path())]);
        let result = cache.entry("thing", |work| {
            fs::write(work.join("half"), "")?;
            Err(io::Error::other("no"))
        });
        assert_eq!(result.unwrap_err().to_string(), "no");
        let empty = cache.entry("thing", |_| io::Result::Ok(())).unwrap();
        assert!(!empty.join("half").exists());
    }

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        assert_ne!(key([b"ab".as_slice(), b"c"]), key([b"a".as_slice(), b"bc"]));
    }
}
