//! The processes of a run: each program that another one starts leaves its trace in a folder of the launcher's, which puts them into the trace of the run
//! when that is over (docs/decisions/0031). Names and numbers of other runs are not touched, however many processes there are.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use instr_trace::Metadata;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::kernel::{Folder, abandoned};
use crate::runs;

/// Tells the runtime of the folder: `LAUNCHER:FOLDER//INSTR_TRACE` (`runtime/sinks/file_place.c`).
pub(super) const VARIABLE: &str = "INSTR_TREE";
/// Begin of the traces' names, before the number of the process.
const STARTED: &str = "exec-";
/// Begin of the names of empty folders: `untraced-PID-ERROR`, of processes that could make no trace.
const UNTRACED: &str = "untraced-";
/// Names that are tried for a number that was used again.
const MOST_NAMES: u32 = 1000;

/// A folder for the traces of started programs.
#[derive(Debug)]
pub(super) struct Tree {
    folder: Folder,
    /// Folders of launchers that were killed, in which there are traces that nobody writes any more.
    pub(super) earlier: Vec<PathBuf>,
}

/// What became of them.
#[derive(Debug, Default)]
pub(super) struct Moved {
    /// The traces, where they are now.
    pub(super) traces: Vec<PathBuf>,
    /// Traces of processes that live on, in the folder which stays for them.
    pub(super) live: usize,
    /// The folder, if something stays there.
    pub(super) left: Option<PathBuf>,
    /// Why traces stay there though their processes have ended.
    pub(super) trouble: Option<io::Error>,
}

impl Tree {
    /// A hidden folder beside where the run's trace will be, so that the traces can be renamed.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(super) fn beside(place: &Path) -> io::Result<Self> {
        let around = runs::folder_of(place).canonicalize()?;
        let mut prefix = OsString::from(".");
        prefix.push(place.file_name().unwrap_or_default());
        prefix.push(".tree-");
        let is_empty = |folder: &Path| {
            for (path, _) in untraced_in(folder) {
                let _ = std::fs::remove_dir(path);
            }
            let first = std::fs::read_dir(folder).map(|mut entries| entries.next().is_none());
            first.unwrap_or(false)
        };
        let mut earlier = abandoned(&around, &prefix, is_empty);
        earlier.retain(|folder| {
            let traces = traces_in(folder);
            !traces.is_empty() && !traces.iter().any(|trace| lives(trace))
        });
        Ok(Self {
            folder: Folder::make(&around, &prefix)?,
            earlier,
        })
    }

    /// What the program's environment says of it. `trace`: the program's `INSTR_TRACE`.
    pub(super) fn variable(&self, trace: Option<&OsStr>) -> OsString {
        let mut value = OsString::from(format!("{}:", std::process::id()));
        value.push(self.folder.path());
        value.push("//");
        value.push(trace.unwrap_or_default());
        value
    }

    /// The traces that are there.
    pub(super) fn traces(&self) -> Vec<PathBuf> {
        traces_in(self.folder.path())
    }

    /// The processes that could make no trace, and why.
    pub(super) fn untraced(&self) -> Vec<Untraced> {
        let found = untraced_in(self.folder.path());
        // It may have come to a trace later.
        let traced: Vec<u64> = self
            .traces()
            .iter()
            .filter_map(|trace| {
                let metadata = Metadata::read(&trace.join("metadata")).ok()?;
                Some(metadata.pid)
            })
            .collect();
        let all = found.into_iter().map(|(_, untraced)| untraced);
        all.filter(|untraced| !traced.contains(&untraced.pid))
            .collect()
    }

    /// Puts the traces of processes that have ended into the trace `run`. The folder goes, unless it is still used.
    pub(super) fn put(self, run: &Path) -> Moved {
        let mut moved = Moved::default();
        let readers = run
            .metadata()
            .map_or(0, |status| status.permissions().mode())
            & 0o055;
        let mut stay = 0;
        for trace in self.traces() {
            if lives(&trace) {
                moved.live += 1;
                stay += 1;
                continue;
            }
            match put_one(&trace, run, readers) {
                Ok(to) => moved.traces.push(to),
                Err(error) => {
                    moved.trouble.get_or_insert(error);
                    stay += 1;
                }
            }
        }
        if stay > 0 {
            moved.left = Some(self.folder.keep());
        }
        moved
    }
}

/// A process that could make no trace.
#[derive(Debug)]
pub(super) struct Untraced {
    pub(super) pid: u64,
    /// Why; `None`: the system did not refuse.
    pub(super) error: Option<io::Error>,
}

/// The folders of processes without a trace, and what their names say. Other names are left out.
fn untraced_in(folder: &Path) -> Vec<(PathBuf, Untraced)> {
    let read = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        let (pid, error) = name.to_str()?.strip_prefix(UNTRACED)?.split_once('-')?;
        let error = error.parse::<i32>().ok()?;
        let untraced = Untraced {
            pid: pid.parse().ok()?,
            error: (error != 0).then(|| io::Error::from_raw_os_error(error)),
        };
        Some((entry.path(), untraced))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.filter_map(read).collect();
    found.sort_by_key(|(_, untraced)| untraced.pid);
    found
}

fn traces_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_started = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.starts_with(STARTED.as_bytes()) && runs::is_trace(path)
    };
    let mut traces: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(is_started)
        .collect();
    traces.sort();
    traces
}

/// Nested folders of forked children that are looked into.
const DEEPEST: u32 = 64;

/// Whether a trace may still be written: by its process, or by one that this one forked or started, whose trace is in its folder.
fn lives(trace: &Path) -> bool {
    lives_below(trace, DEEPEST)
}

fn lives_below(trace: &Path, deep: u32) -> bool {
    let Ok(metadata) = Metadata::read(&trace.join("metadata")) else {
        return false;
    };
    let pid = i32::try_from(metadata.pid).ok().and_then(Pid::from_raw);
    // Another user's process is there, too.
    let is_there = |pid| !matches!(test_kill_process(pid), Err(Errno::SRCH));
    if !metadata.closed && pid.is_some_and(is_there) {
        return true;
    }
    let Some(deeper) = deep.checked_sub(1) else {
        return false;
    };
    let entries = std::fs::read_dir(trace).into_iter().flatten().flatten();
    let of_child = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        name.starts_with(b"fork-") || name.starts_with(STARTED.as_bytes())
    };
    entries
        .filter(of_child)
        .any(|entry| lives_below(&entry.path(), deeper))
}

fn put_one(trace: &Path, run: &Path, readers: u32) -> io::Result<PathBuf> {
    if readers != 0 {
        open_to(trace, readers)?;
    }
    let name = trace.file_name().unwrap_or_default();
    for attempt in 1..MOST_NAMES {
        let mut name = name.to_owned();
        if attempt > 1 {
            name.push(format!("-{attempt}"));
        }
        let to = run.join(name);
        // A folder never takes the place of one that holds anything.
        match std::fs::rename(trace, &to) {
            Ok(()) => return Ok(to),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("all names are taken"))
}

/// Who may read the trace of the run may read those in it.
fn open_to(folder: &Path, readers: u32) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            open_to(&entry.path(), readers)?;
        } else if kind.is_file() && entry.file_name() != ".lock" {
            let mode = 0o600 | readers & 0o044;
            std::fs::set_permissions(entry.path(), PermissionsExt::from_mode(mode))?;
        }
    }
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700 | readers))
}

#[cfg(test)]
mod tests {
    use instr_trace::synth;

    use super::*;

    /// A trace of this process, closed or not.
    fn trace(folder: &Path, closed: bool) {
        std::fs::create_dir_all(folder).unwrap();
        let text = synth::metadata(synth::layouts()[0], 1_000_000_000, closed);
        let (before, behind) = text.split_once(" pid = ").unwrap();
        let (_, behind) = behind.split_once(';').unwrap();
        let text = format!("{before} pid = {};{behind}", std::process::id());
        std::fs::write(folder.join("metadata"), text).unwrap();
    }

    /// The first process has ended; one that it forked goes on, and writes into its own folder by the name that this one has.
    #[test]
    fn who_lives_in_a_trace_keeps_it_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let first = dir.path().join("exec-1");
        trace(&first, true);
        trace(&first.join("fork-2"), true);
        assert!(!lives(&first));
        trace(&first.join("fork-2/exec-3"), false);
        assert!(lives(&first));
        trace(&first.join("fork-2/exec-3"), true);
        trace(&first.join("other"), false);
        assert!(!lives(&first), "no process of its");
    }
}
