//! Folders that appear complete or not at all: filled under a temporary name beside their place, renamed when complete.
//!
//! A folder of ours has a file that lists what is in it, so that the next export may replace it. Whatever else stands in its place stays: a folder
//! without that file, and one that holds what the list does not name.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use instr_trace::new_file::{Unfinished, plain, while_kept};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use crate::error::Error;

/// The file in a folder of ours. Readers of Parquet data sets pass over names that begin with a dot.
pub const MARK: &str = ".instr-export";
/// What its first line begins with; the format's name follows.
const FIRST: &str = "instr export ";
/// The longest list that is read.
const MAX_LIST: u64 = 64 << 20;
/// The mode of an ordinary new folder; the process's umask is applied to it.
const MODE: u32 = 0o777;

/// A folder that has no name yet. Without [`NewFolder::publish`] nothing is left of it.
#[derive(Debug)]
pub struct NewFolder {
    // It goes first.
    folder: TempDir,
    _unfinished: Unfinished,
    path: PathBuf,
}

impl NewFolder {
    /// A folder that is to be at `path`.
    ///
    /// # Errors
    ///
    /// Something is there that is neither an empty folder nor an export, or the folder around it cannot be written.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let path = without_slashes(path);
        may_replace(&path)?;
        let around = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let make = || {
            tempfile::Builder::new()
                .prefix(".instr-")
                .permissions(std::fs::Permissions::from_mode(MODE))
                .tempdir_in(around.unwrap_or(Path::new(".")))
        };
        let (folder, unfinished) = Unfinished::making(make, TempDir::path)
            .map_err(|error| Error::io("create", &path)(plain(error)))?;
        Ok(Self {
            folder,
            _unfinished: unfinished,
            path,
        })
    }

    /// Where it is filled.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the list of what is in it, and gives the folder its name. An export that was there is replaced.
    ///
    /// # Errors
    ///
    /// It cannot be renamed, or what it would replace has changed meanwhile so that it must stay.
    pub fn publish(self, format: &str) -> Result<(), Error> {
        let cannot = |error: io::Error| Error::io("write", &self.path)(plain(error));
        let mut list = format!("{FIRST}{format}\n");
        for name in contents(self.path()).map_err(cannot)? {
            list.push_str(&name);
            list.push('\n');
        }
        std::fs::write(self.path().join(MARK), list).map_err(cannot)?;
        may_replace(&self.path)?;
        if self.path.symlink_metadata().is_err() {
            while_kept(|| std::fs::rename(self.path(), &self.path)).map_err(cannot)?;
            // Its temporary name is free now: nothing is to be removed.
            let _ = self.folder.keep();
            return Ok(());
        }
        // The old one gets the temporary name, and goes with it.
        while_kept(|| {
            renameat_with(CWD, self.path(), CWD, &self.path, RenameFlags::EXCHANGE)
                .map_err(io::Error::from)
                .or_else(|_| swap(self.path(), &self.path))
        })
        .map_err(cannot)
    }
}

/// Exchanges two folders where the file system cannot do it at once.
fn swap(new: &Path, place: &Path) -> io::Result<()> {
    let around = place
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let between = tempfile::Builder::new()
        .prefix(".instr-")
        .tempdir_in(around.unwrap_or(Path::new(".")))?;
    let old = between.path().join("old");
    std::fs::rename(place, &old)?;
    std::fs::rename(new, place).inspect_err(|_| _ = std::fs::rename(&old, place))?;
    std::fs::rename(&old, new)
}

/// `a/b/` as `a/b`, so that what is beside it can be named.
fn without_slashes(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Refuses what must not be replaced.
fn may_replace(path: &Path) -> Result<(), Error> {
    let taken = |why: String| {
        Err(Error::Taken {
            path: path.to_owned(),
            why,
        })
    };
    let Ok(status) = path.symlink_metadata() else {
        return Ok(());
    };
    let whole = path.canonicalize().ok();
    if whole.is_some() && whole == std::env::current_dir().ok() {
        return taken("it is the current folder, and would be replaced".into());
    }
    if status.is_symlink() {
        return taken("it is a symbolic link, and stays one".into());
    }
    if !status.is_dir() {
        return taken("it is there, and no folder".into());
    }
    let found = contents(path).map_err(Error::io("read", path))?;
    let Some(listed) = listed(path) else {
        return match found.is_empty() {
            true => Ok(()),
            false => taken("the folder holds other files than those of an export".into()),
        };
    };
    match found.difference(&listed).next() {
        Some(other) => taken(format!(
            "the export there also holds {other}, which is not of it"
        )),
        None => Ok(()),
    }
}

/// What the list of an export names.
fn listed(folder: &Path) -> Option<BTreeSet<String>> {
    let path = folder.join(MARK);
    let status = path.symlink_metadata().ok()?;
    if !status.is_file() || status.len() > MAX_LIST {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let rest = text.strip_prefix(FIRST)?;
    Some(rest.lines().skip(1).map(str::to_owned).collect())
}

/// The files below a folder but the list, as paths from it; folders only when they are empty. Names that are not UTF-8 are those of no export.
fn contents(folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(inner) = pending.pop() {
        let mut is_empty = true;
        for entry in std::fs::read_dir(&inner)? {
            let entry = entry?;
            is_empty = false;
            if entry.file_type()?.is_dir() {
                pending.push(entry.path());
            } else if entry.path() != folder.join(MARK) {
                found.insert(inside(folder, &entry.path()));
            }
        }
        if is_empty && inner != folder {
            found.insert(inside(folder, &inner));
        }
    }
    Ok(found)
}

fn inside(folder: &Path, path: &Path) -> String {
    let inner = path.strip_prefix(folder).unwrap_or(path);
    inner.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(path: &Path, file: &str) -> Result<(), Error> {
        let new = NewFolder::create(path)?;
        std::fs::create_dir_all(new.path().join(file).parent().unwrap()).unwrap();
        std::fs::write(new.path().join(file), "x").unwrap();
        new.publish("made-up")
    }

    fn names(path: &Path) -> Vec<String> {
        contents(path).unwrap().into_iter().collect()
    }

    #[test]
    fn an_export_replaces_an_export_and_an_empty_folder() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("out");
        for slash in ["", "/"] {
            let path = PathBuf::from(format!("{}{slash}", path.display()));
            for file in ["a", "b/c/d", "e"] {
                export(&path, file).unwrap();
                assert_eq!(names(&path), [file]);
                assert_eq!(std::fs::read_dir(around.path()).unwrap().count(), 1);
            }
        }
        let empty = around.path().join("empty");
        std::fs::create_dir(&empty).unwrap();
        export(&empty, "a").unwrap();
        assert_eq!(names(&empty), ["a"]);
        assert_eq!(std::fs::read_dir(around.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_is_not_ours_stays() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("home");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("thesis"), "years").unwrap();
        let refused = export(&path, "a").unwrap_err().to_string();
        assert!(refused.contains("holds other files"), "{refused}");
        assert_eq!(names(&path), ["thesis"]);
        let file = path.join("thesis");
        let refused = export(&file, "a").unwrap_err().to_string();
        assert!(refused.contains("no folder"), "{refused}");
        // An export to which someone has added.
        let ours = around.path().join("ours");
        export(&ours, "a").unwrap();
        std::fs::write(ours.join("notes"), "mine").unwrap();
        let refused = export(&ours, "b").unwrap_err().to_string();
        assert!(refused.contains("also holds notes"), "{refused}");
        assert_eq!(names(&ours), ["a", "notes"]);
        let link = around.path().join("link");
        std::os::unix::fs::symlink(&ours, &link).unwrap();
        assert!(export(&link, "a").is_err() && link.is_symlink());
        assert_eq!(std::fs::read_dir(around.path()).unwrap().count(), 3);
    }

    #[test]
    fn what_appears_meanwhile_stays() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("out");
        let new = NewFolder::create(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("thesis"), "years").unwrap();
        new.publish("made-up").unwrap_err();
        assert_eq!(names(&path), ["thesis"]);
        assert_eq!(std::fs::read_dir(around.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_left_of_what_is_not_complete() {
        let around = tempfile::tempdir().unwrap();
        let new = NewFolder::create(&around.path().join("out")).unwrap();
        std::fs::write(new.path().join("half"), "x").unwrap();
        drop(new);
        assert_eq!(std::fs::read_dir(around.path()).unwrap().count(), 0);
        let refused = NewFolder::create(Path::new("/proc/none/out")).unwrap_err();
        assert!(!refused.to_string().contains(".instr-"), "{refused}");
    }

    #[test]
    fn folders_are_exchanged_without_the_systems_help() {
        let around = tempfile::tempdir().unwrap();
        let [new, old] = ["new", "old"].map(|name| {
            let path = around.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join(name), "").unwrap();
            path
        });
        swap(&new, &old).unwrap();
        assert_eq!(
            (names(&new), names(&old)),
            (vec!["old".into()], vec!["new".into()])
        );
        assert_eq!(std::fs::read_dir(around.path()).unwrap().count(), 2);
    }
}
