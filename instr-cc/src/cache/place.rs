//! Where built things are kept: the first folder of a fixed list that is there for us and can be written.
//!
//! 1. `$INSTR_CACHE`, made if it is not there;
//! 2. `$XDG_CACHE_HOME/instr`;
//! 3. `$HOME/.cache/instr`, if the home folder exists: one is never made;
//! 4. `instr-cache-UID` in `$TMPDIR` or `/tmp`, where others may write too: only if it belongs to us alone.
//!
//! As root, 2 and 3 must belong to root: what `sudo` left there could not be written by its owner later.

use std::ffi::{CString, OsString};
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A folder for the cache, if there is one, and why those before it in the list are not used.
#[derive(Debug)]
pub(super) struct Found {
    pub folder: Option<PathBuf>,
    pub refused: Vec<String>,
}

/// Looks for the folder. `layout` is the name of the folder in it that is written.
pub(super) fn find(variable: impl Fn(&str) -> Option<OsString>, layout: &str) -> Found {
    let set = |name| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let absolute = |name| set(name).filter(|path| path.is_absolute());
    let named = set("INSTR_CACHE").and_then(|path| std::path::absolute(path).ok());
    let home = absolute("HOME");
    let user = user();
    let mut refused = Vec::new();
    let mut usable = |name: &str, folder: PathBuf, tried: Result<(), String>| match tried {
        Ok(()) => Some(folder),
        Err(why) => {
            let shown = folder.display();
            refused.push(format!(
                "cannot keep things in {shown} (from {name}): {why}"
            ));
            None
        }
    };
    let folder = named
        .and_then(|place| {
            let folder = place.join(layout);
            usable("INSTR_CACHE", folder.clone(), open(&folder, 0o777))
        })
        .or_else(|| {
            let folder = absolute("XDG_CACHE_HOME")?.join("instr").join(layout);
            let tried = ours(&folder, user).and_then(|()| open(&folder, 0o700));
            usable("XDG_CACHE_HOME", folder, tried)
        })
        .or_else(|| {
            let home = home?;
            let folder = home.join(".cache/instr").join(layout);
            let tried = if home.is_dir() {
                ours(&folder, user).and_then(|()| open(&folder, 0o700))
            } else {
                Err(format!("{} is no folder", home.display()))
            };
            usable("HOME", folder, tried)
        })
        .or_else(|| {
            let place = temporary(&variable).join(format!("instr-cache-{user}"));
            let folder = place.join(layout);
            let tried = open_private(&place, user).and_then(|()| open(&folder, 0o700));
            usable("TMPDIR", folder, tried)
        });
    Found { folder, refused }
}

/// The folder for temporary files.
pub(super) fn temporary(variable: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let set = variable("TMPDIR").map(PathBuf::from);
    set.filter(|path| path.is_absolute())
        .unwrap_or_else(|| "/tmp".into())
}

fn user() -> u32 {
    // SAFETY: the call has no arguments and always succeeds.
    unsafe { libc::geteuid() }
}

/// Makes the folder, if it is not there, and asks whether files can be made in it. Nothing is written: this is asked with every
/// compilation.
fn open(folder: &Path, mode: u32) -> Result<(), String> {
    if folder.as_os_str().as_bytes().contains(&b':') {
        return Err("a colon would end the path in the search lists of compilers".into());
    }
    if !folder.is_dir() {
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(mode).create(folder);
        made.map_err(|error| error.to_string())?;
    }
    writable(folder).map_err(|error| error.to_string())
}

fn writable(folder: &Path) -> io::Result<()> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: `path` is a string with its end, alive during the call.
    let result = unsafe {
        libc::faccessat(
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::W_OK | libc::X_OK,
            libc::AT_EACCESS,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Whether a folder, or the first above it that is there, is no other user's. Others than root are refused by the system itself.
fn ours(folder: &Path, user: u32) -> Result<(), String> {
    let there = folder.ancestors().find_map(|path| path.metadata().ok());
    match there {
        Some(meta) if user == 0 && meta.uid() != 0 => Err("it belongs to another user".into()),
        _ => Ok(()),
    }
}

/// Makes a folder for us alone where others may write, or accepts the one that is there if nobody else can have made or changed it.
fn open_private(place: &Path, user: u32) -> Result<(), String> {
    let parent = place.parent().unwrap_or(Path::new("/"));
    let above = parent.metadata().map_err(|error| error.to_string())?;
    let sticky = above.mode() & 0o1000 != 0;
    if (above.mode() & 0o022 != 0 && !sticky) || ![0, user].contains(&above.uid()) {
        return Err(format!("others may rename what is in {}", parent.display()));
    }
    match DirBuilder::new().mode(0o700).create(place) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(error.to_string());
        }
        _ => {}
    }
    // Not what a link leads to.
    let meta = fs::symlink_metadata(place).map_err(|error| error.to_string())?;
    let own = |meta: &Metadata| meta.is_dir() && meta.uid() == user && meta.mode() & 0o077 == 0;
    if own(&meta) {
        Ok(())
    } else {
        Err("it is not a folder of this user alone".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use crate::cache::tests::own_folder;

    fn found(vars: &[(&str, &Path)]) -> Found {
        let value = |name: &str| {
            let pair = vars.iter().find(|(n, _)| *n == name);
            pair.map(|(_, v)| v.as_os_str().to_owned())
        };
        find(value, "v")
    }

    fn folder(vars: &[(&str, &Path)]) -> Option<PathBuf> {
        found(vars).folder
    }

    fn private_name(dir: &Path) -> PathBuf {
        dir.join(format!("instr-cache-{}", user()))
    }

    #[test]
    fn places_are_tried_in_order() {
        let dir = own_folder();
        let d = dir.path();
        let all = [
            ("INSTR_CACHE", &*d.join("a")),
            ("XDG_CACHE_HOME", &d.join("b")),
            ("HOME", d),
            ("TMPDIR", d),
        ];
        assert_eq!(folder(&all), Some(d.join("a/v")));
        assert_eq!(folder(&all[1..]), Some(d.join("b/instr/v")));
        assert_eq!(folder(&all[2..]), Some(d.join(".cache/instr/v")));
        assert_eq!(folder(&all[3..]), Some(private_name(d).join("v")));
        assert!(found(&all).refused.is_empty());
    }

    #[test]
    fn a_place_that_cannot_be_used_gives_way_to_the_next_and_says_why() {
        let dir = own_folder();
        let d = dir.path();
        let vars = [
            ("INSTR_CACHE", Path::new("/dev/null/x")),
            ("XDG_CACHE_HOME", &d.join("a:b")),
            ("HOME", &d.join("nobody")),
            ("TMPDIR", d),
        ];
        let found = found(&vars);
        assert_eq!(found.folder, Some(private_name(d).join("v")));
        let [first, second, third] = found.refused.as_slice() else {
            panic!("{:?}", found.refused)
        };
        assert!(
            first.contains("/dev/null/x/v (from INSTR_CACHE): Not a directory"),
            "{first}"
        );
        assert!(second.contains("a colon"), "{second}");
        assert!(third.contains("nobody is no folder"), "{third}");
        assert!(!d.join("nobody").exists() && !d.join("a:b").exists());
    }

    #[test]
    fn relative_folders_of_the_user_do_not_count() {
        let dir = own_folder();
        let vars = [
            ("XDG_CACHE_HOME", Path::new("x")),
            ("HOME", Path::new("y")),
            ("TMPDIR", dir.path()),
        ];
        let found = found(&vars);
        assert_eq!(found.folder, Some(private_name(dir.path()).join("v")));
        assert!(found.refused.is_empty());
    }

    #[test]
    fn asking_writes_nothing() {
        let dir = own_folder();
        let place = [("INSTR_CACHE", dir.path())];
        let root = folder(&place).unwrap();
        let before = root.metadata().unwrap().modified().unwrap();
        assert_eq!(folder(&place).as_ref(), Some(&root));
        assert_eq!(root.metadata().unwrap().modified().unwrap(), before);
        assert_eq!(root.read_dir().unwrap().count(), 0);
    }

    #[test]
    fn what_others_could_have_put_among_temporary_files_is_not_used() {
        let dir = own_folder();
        let (d, place) = (dir.path(), private_name(dir.path()));
        let refused = || folder(&[("TMPDIR", d)]).is_none();
        symlink(d, &place).unwrap();
        assert!(refused(), "a link");
        fs::remove_file(&place).unwrap();
        fs::write(&place, "").unwrap();
        assert!(refused(), "a file");
        fs::remove_file(&place).unwrap();
        fs::create_dir(&place).unwrap();
        for mode in [0o770, 0o707, 0o755] {
            fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
            assert!(refused(), "{mode:o}");
        }
        fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(!refused(), "our own");
        fs::set_permissions(d, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(refused(), "a place where others may rename it");
        fs::set_permissions(d, fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(!refused(), "as /tmp is");
        if user() == 0 {
            std::os::unix::fs::chown(&place, Some(12345), None).unwrap();
            assert!(refused(), "another user's");
        }
    }

    #[test]
    fn root_leaves_the_home_of_others_alone() {
        if user() != 0 {
            return; // the system refuses others
        }
        let dir = own_folder();
        let home = dir.path().join("home");
        fs::create_dir(&home).unwrap();
        std::os::unix::fs::chown(&home, Some(12345), None).unwrap();
        for name in ["HOME", "XDG_CACHE_HOME"] {
            let found = found(&[(name, &home), ("TMPDIR", dir.path())]);
            assert_eq!(found.folder, Some(private_name(dir.path()).join("v")));
            assert!(found.refused[0].contains("belongs to another user"));
        }
        assert_eq!(home.read_dir().unwrap().count(), 0);
    }
}
