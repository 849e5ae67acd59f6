//! The files that a trace keeps of its program: `.binary_0` is the program, `.binary_1` … are libraries of it (docs/decisions/0021).
//!
//! The runtime makes a hard link of the program when the run begins. Whoever reads the trace first puts copies in its place, and adds libraries that
//! had names to give. A file is taken for what its build id says, whatever its number is.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What the names of these files begin with.
const PREFIX: &str = ".binary_";
/// Files that are looked at, and kept.
const MOST_FILES: u32 = 16;
/// Larger files are linked where that is possible, and never copied.
const MOST_COPIED: u64 = 64 << 20;
/// Files that are being copied have numbers from here on. The runtime removes them with the trace.
const UNFINISHED: u32 = 1_000_000;
/// Folders of libraries that are not built again with the program.
const OF_SYSTEM: &[&str] = &["/lib", "/usr/lib"];
/// Rights of others.
const WRITE_BY_OTHERS: u32 = 0o022;

/// The files kept in a trace.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    folder: PathBuf,
}

impl Kept {
    /// Those of the trace in `dir`; a forked child's are its parent's.
    pub(crate) fn of(dir: &Path) -> Self {
        let is_child = |dir: &Path| {
            let name = dir.file_name().map(|name| name.to_string_lossy());
            name.is_some_and(|name| name.starts_with("fork-"))
        };
        let mut folder = dir;
        while is_child(folder)
            && let Some(parent) = folder
                .parent()
                .filter(|parent| parent.join("metadata").is_file())
        {
            folder = parent;
        }
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The program's file, if it is there.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        self.file(0)
    }

    /// All files, the program's first.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        (0..MOST_FILES).filter_map(|number| self.file(number))
    }

    fn name(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{PREFIX}{number}"))
    }

    /// A regular file: nothing else is opened, since a pipe would be waited for, and a link leads elsewhere.
    fn file(&self, number: u32) -> Option<PathBuf> {
        let path = self.name(number);
        let status = path.symlink_metadata().ok()?;
        status.is_file().then_some(path)
    }

    /// Whether the folder is the user's own, so that what is put there stays as it is.
    fn is_own(&self) -> bool {
        let own = fs::metadata("/proc/self").map(|status| status.uid());
        let folder = self.folder.symlink_metadata();
        match (own, folder) {
            (Ok(own), Ok(folder)) => {
                folder.is_dir() && folder.uid() == own && folder.mode() & WRITE_BY_OTHERS == 0
            }
            _ => false,
        }
    }

    /// Puts a copy in the place of a link, so that who changes the program's file in place (`strip`, `cp`) does not change this one.
    /// Where that fails, the link stays.
    pub(crate) fn own(&self, path: &Path) {
        let shared = path
            .symlink_metadata()
            .is_ok_and(|status| status.nlink() > 1 && status.len() <= MOST_COPIED);
        if shared && self.is_own() {
            let copied = self.copy(path);
            // A trace that cannot be written stays as it is.
            let _ = copied.and_then(|copy| fs::rename(&copy, path).inspect_err(|_| remove(&copy)));
        }
    }

    /// Keeps a file from which names were taken.
    pub(crate) fn add(&self, path: &Path, is_program: bool) {
        let of_system = OF_SYSTEM.iter().any(|folder| path.starts_with(folder));
        if !self.is_own() || (of_system && !is_program) {
            return;
        }
        let numbers = if is_program { 0..1 } else { 1..MOST_FILES };
        let free = |number: &u32| self.name(*number).symlink_metadata().is_err();
        if let Some(number) = numbers.clone().find(free) {
            // A trace that cannot be written stays as it is.
            let _ = self.put(path, &self.name(number));
        }
    }

    fn put(&self, path: &Path, to: &Path) -> io::Result<()> {
        let status = fs::metadata(path)?;
        if !status.is_file() {
            return Ok(());
        }
        if status.len() > MOST_COPIED {
            return fs::hard_link(fs::canonicalize(path)?, to);
        }
        let copy = self.copy(path)?;
        // Unlike a rename, this never takes the place of another file.
        let put = fs::hard_link(&copy, to);
        remove(&copy);
        put
    }

    /// A copy under a name that nobody takes for a finished file.
    fn copy(&self, path: &Path) -> io::Result<PathBuf> {
        let copy = self.name(UNFINISHED.saturating_add(std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut to = options.open(&copy)?;
        let filled = File::open(path).and_then(|mut from| {
            io::copy(&mut from, &mut to)?;
            let readers = self.folder.metadata()?.mode() & 0o044;
            to.set_permissions(fs::Permissions::from_mode(0o600 | readers))
        });
        if filled.is_err() {
            remove(&copy);
        }
        filled.map(|()| copy)
    }
}

fn remove(unfinished: &Path) {
    // Nobody reads it, and the next run removes it.
    let _ = fs::remove_file(unfinished);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn trace() -> (tempfile::TempDir, Kept) {
        let dir = tempfile::tempdir().unwrap();
        let trace = dir.path().join("a.instr");
        fs::create_dir_all(trace.join("fork-1/fork-2-3")).unwrap();
        fs::set_permissions(&trace, fs::Permissions::from_mode(0o700)).unwrap();
        for folder in ["", "fork-1"] {
            fs::write(trace.join(folder).join("metadata"), "").unwrap();
        }
        let kept = Kept::of(&trace.join("fork-1/fork-2-3"));
        assert_eq!(kept.folder, trace, "children have their parents' files");
        fs::write(dir.path().join("app"), "program").unwrap();
        (dir, kept)
    }

    fn names(kept: &Kept) -> Vec<String> {
        let files = kept.files();
        files
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_link_becomes_a_copy_that_later_changes_do_not_reach() {
        let (dir, kept) = trace();
        let (app, own) = (dir.path().join("app"), kept.name(0));
        fs::hard_link(&app, &own).unwrap();
        kept.own(&own);
        fs::write(&app, "stripped").unwrap();
        assert_eq!(fs::read(kept.program().unwrap()).unwrap(), b"program");
        assert_eq!(
            fs::read_dir(&kept.folder).unwrap().count(),
            3,
            "nothing else is left"
        );
    }

    #[test]
    fn libraries_are_kept_beside_the_program_and_none_takes_the_place_of_another() {
        let (dir, kept) = trace();
        let app = dir.path().join("app");
        kept.add(&app, true);
        kept.add(&app, true);
        kept.add(&app, false);
        kept.add(Path::new("/usr/lib/os-release"), false);
        assert_eq!(names(&kept), [".binary_0", ".binary_1"]);
    }

    #[test]
    fn what_is_no_file_is_not_opened_and_folders_of_others_are_left_alone() {
        let (dir, kept) = trace();
        symlink("/dev/zero", kept.name(0)).unwrap();
        fs::create_dir(kept.name(1)).unwrap();
        assert!(names(&kept).is_empty());
        kept.add(&dir.path().join("app"), true);
        assert!(names(&kept).is_empty(), "the link stays");
        fs::remove_file(kept.name(0)).unwrap();
        fs::set_permissions(&kept.folder, fs::Permissions::from_mode(0o770)).unwrap();
        kept.add(&dir.path().join("app"), true);
        assert!(names(&kept).is_empty(), "others may write there");
    }
}
