//! Finding the compiler, and what it is.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::cache::{Cache, key};
use crate::cli::Files;
use crate::exec::{Call, same_file};

/// The machine the wrapper runs on.
#[derive(Debug)]
pub struct Machine {
    /// The wrapper's own file, which is never taken for a compiler or linker.
    own: PathBuf,
    /// `PATH`.
    path: OsString,
}

impl Machine {
    /// The machine as this process sees it.
    #[must_use]
    pub fn new() -> Self {
        let own = std::env::current_exe().unwrap_or_default();
        Self {
            own,
            path: std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()),
        }
    }

    /// The wrapper's own file.
    #[must_use]
    pub fn own(&self) -> &Path {
        &self.own
    }

    /// Whether a path leads to the wrapper, or to another copy of it under the same name.
    #[must_use]
    pub fn is_own(&self, path: &Path) -> bool {
        let leads_to_name =
            || fs::canonicalize(path).is_ok_and(|real| real.file_name() == self.own.file_name());
        same_file(path, &self.own) || leads_to_name()
    }

    /// Finds `name` in folders; the wrapper itself does not count. Also says whether a copy of the wrapper came first.
    pub fn search<'a>(
        &self,
        name: &OsStr,
        folders: impl Iterator<Item = &'a Path>,
    ) -> Option<(PathBuf, bool)> {
        let mut skipped = false;
        for folder in folders {
            let candidate = folder.join(name);
            if !is_executable_file(&candidate) {
                continue;
            }
            if self.is_own(&candidate) {
                skipped = true;
                continue;
            }
            return Some((candidate, skipped));
        }
        None
    }

    /// This machine's C compiler, for what is built without the user naming one: `cc`, else gcc, else clang.
    #[must_use]
    pub fn compiler(&self) -> Option<PathBuf> {
        let mut found = ["cc", "gcc", "clang"]
            .iter()
            .filter_map(|name| self.find(name.as_ref()));
        found.next().map(|(path, _)| path)
    }

    /// Finds `name` in `PATH`; the wrapper itself does not count. Also says whether a copy of the wrapper came first.
    #[must_use]
    pub fn find(&self, name: &OsStr) -> Option<(PathBuf, bool)> {
        let folders = self.folders();
        self.search(name, folders.iter().map(PathBuf::as_path))
    }

    /// Finds `name` in `PATH` as a shell does.
    #[must_use]
    pub fn find_any(&self, name: &OsStr) -> Option<PathBuf> {
        let mut candidates = self.folders().into_iter().map(|folder| folder.join(name));
        candidates.find(|path| is_executable_file(path))
    }

    fn folders(&self) -> Vec<PathBuf> {
        let folders = std::env::split_paths(&self.path);
        let named = folders.map(|folder| match folder.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => folder,
        });
        named.collect()
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

impl Files for Machine {
    fn in_path(&self, name: &OsStr) -> Option<PathBuf> {
        self.find(name).map(|(path, _)| path)
    }

    fn is_executable(&self, path: &Path) -> bool {
        is_executable_file(path)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn real(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    }
}

fn is_executable_file(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// What kind of compiler driver it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// GNU.
    Gcc,
    /// LLVM.
    Clang,
}

/// What a compiler told about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Nothing if it is neither GCC nor Clang.
    pub family: Option<Family>,
    /// The system it compiles for: `linux`, `rtems`, or empty.
    pub os: String,
    /// `-dumpmachine`.
    pub machine: String,
    /// `__VERSION__`.
    pub version: String,
}

/// A program for the preprocessor. The words after `instr_facts` are family and system.
const QUESTION: &str = "\
#if defined __INTEL_COMPILER || defined __NVCOMPILER || defined __PGI || defined __SUNPRO_C
instr_facts other
#elif defined __clang__
instr_facts clang
#elif defined __GNUC__
instr_facts gcc
#else
instr_facts other
#endif
#if defined __linux__
instr_linux
#elif defined __rtems__
instr_rtems
#else
instr_none
#endif
instr_version __VERSION__
";

/// Identifies a compiler without running it: its path, where that leads to, its size and time of change.
///
/// # Errors
/// When the file is gone.
pub fn identity(path: &Path) -> io::Result<String> {
    let real = fs::canonicalize(path)?;
    let meta = real.metadata()?;
    let time = format!("{} {} {}", meta.len(), meta.mtime(), meta.mtime_nsec());
    Ok(key([
        path.as_os_str().as_bytes(),
        real.as_os_str().as_bytes(),
        time.as_bytes(),
    ]))
}

/// Asks the compiler what it is, once.
///
/// # Errors
/// When it cannot be run, or there is no place to remember the answer.
pub fn facts(compiler: &Path, identity: &str, cache: &Cache) -> io::Result<Facts> {
    let entry = cache.entry(
        &format!("facts-{}", key([identity.as_bytes(), QUESTION.as_bytes()])),
        |dir| ask(compiler, dir),
    )?;
    let text = fs::read_to_string(entry.join("facts"))?;
    let mut lines = text.lines().map(str::to_owned);
    let mut next = || lines.next().unwrap_or_default();
    let family = match next().as_str() {
        "gcc" => Some(Family::Gcc),
        "clang" => Some(Family::Clang),
        _ => None,
    };
    Ok(Facts {
        family,
        os: next(),
        machine: next(),
        version: next(),
    })
}

fn ask(compiler: &Path, dir: &Path) -> io::Result<()> {
    let question = dir.join("question.c");
    fs::write(&question, QUESTION)?;
    let output = Call::new(compiler)
        .args(["-E", "-P", "-x", "c"])
        .args([&question])
        .run_privately()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text
        .split_whitespace()
        .skip_while(|w| *w != "instr_facts")
        .skip(1);
    let (family, os) = (
        words.next().unwrap_or("other"),
        words.next().unwrap_or_default(),
    );
    // `linux` alone is a macro of GCC's.
    let os = os.strip_prefix("instr_").unwrap_or_default();
    let version = text
        .split_once("instr_version")
        .map_or("", |(_, v)| v.trim());
    let machine = Call::new(compiler)
        .args(["-dumpmachine"])
        .run_privately()?
        .stdout;
    let machine = String::from_utf8_lossy(&machine);
    fs::write(
        dir.join("facts"),
        format!("{family}\n{os}\n{}\n{version}\n", machine.trim()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_executable_of_a_name_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let folders = ["a", "b", "c"].map(|n| dir.path().join(n));
        for folder in &folders {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("tool"), "").unwrap();
        }
        for folder in &folders[1..] {
            fs::set_permissions(folder.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut machine = Machine {
            own: PathBuf::new(),
            path: OsString::new(),
        };
        let found = |m: &Machine| m.search("tool".as_ref(), folders.iter().map(PathBuf::as_path));
        assert_eq!(found(&machine), Some((folders[1].join("tool"), false)));
        machine.own = folders[1].join("tool");
        fs::rename(folders[2].join("tool"), folders[2].join("real")).unwrap();
        std::os::unix::fs::symlink("real", folders[2].join("tool")).unwrap();
        assert_eq!(found(&machine), Some((folders[2].join("tool"), true)));
    }

    #[test]
    fn compilers_tell_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path().to_owned());
        let gcc = Machine::new()
            .find("gcc".as_ref())
            .expect("these tests need gcc")
            .0;
        let facts = facts(&gcc, &identity(&gcc).unwrap(), &cache).unwrap();
        assert_eq!(
            (facts.family, facts.os.as_str()),
            (Some(Family::Gcc), "linux")
        );
        assert!(
            facts.version.starts_with('"') && facts.machine.contains('-'),
            "{facts:?}"
        );
    }
}
