//! Which trace a user means: a directory, a program, or a process.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::console::Refusal;
use crate::find;

/// The trace directory.
///
/// # Errors
///
/// Nothing there has such a name, or the process writes no trace.
pub(super) fn find(given: &Path) -> Result<PathBuf> {
    let pid = given.to_str().filter(|_| !given.exists());
    match pid.and_then(|pid| pid.parse::<u64>().ok()) {
        Some(pid) => of_process(pid),
        None => find::trace(given),
    }
}

fn of_process(pid: u64) -> Result<PathBuf> {
    let refusal = |message: String, help: &str| {
        Refusal {
            message,
            notes: Vec::new(),
            help: Some(help.to_owned()),
        }
        .into()
    };
    match windows(pid) {
        // Threads of a process write into one folder; the shortest path is that of its own trace, not of a child's.
        Ok(folders) if !folders.is_empty() => {
            let shortest = folders
                .into_iter()
                .min_by_key(|folder| folder.as_os_str().len());
            Ok(shortest.unwrap_or_default())
        }
        Ok(_) => Err(refusal(
            format!("process {pid} writes no trace"),
            "programs that instr-cc built, or that instr run started, write one; a process that has recorded nothing yet has none",
        )),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(refusal(
            format!("the files of process {pid} cannot be seen: {error}"),
            "name its trace: the folder NAME.instr where it runs",
        )),
        Err(_) => Err(refusal(
            format!("there is no process {pid}, and nothing else of that name"),
            "name the trace: the folder NAME.instr where the program ran",
        )),
    }
}

/// Folders of the windows that a process has in its memory.
pub(super) fn windows(pid: u64) -> io::Result<BTreeSet<PathBuf>> {
    let maps = std::fs::read(format!("/proc/{pid}/maps"))?;
    let lines = String::from_utf8_lossy(&maps).into_owned();
    let folder = |line: &str| {
        let path = line.get(line.find('/')?..)?;
        let path = Path::new(path.strip_suffix(" (deleted)").unwrap_or(path));
        let name = path.file_name()?.to_str()?;
        name.starts_with(".window_")
            .then(|| path.parent().unwrap_or(path).to_owned())
    };
    Ok(lines.lines().filter_map(folder).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_processes_unless_something_has_that_name() {
        let told = |given: &str| find(Path::new(given)).expect_err(given).to_string();
        assert_eq!(
            told(&std::process::id().to_string()),
            format!("process {} writes no trace", std::process::id())
        );
        assert!(told("4294967295").starts_with("there is no process 4294967295"));
        assert!(told("/nonexistent/12").contains("no such trace or program"));
        assert!(windows(u64::MAX).is_err());
    }
}
