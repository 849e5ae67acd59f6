//! The guard: a second process that has what stood in the files of the machine and the number of the run that goes on. When this one ends without a
//! last word, however it ends, the guard writes the former back and ends the latter.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ChildStdin;

use anyhow::{Context as _, Result, bail};
use instr_cc::exec::{self, Call};

use crate::quote::shown;

/// What the guard is asked with when there is nothing left to do.
const DONE: &str = "done";
/// Before the number of the process group that is running now; 0: none is.
const RUNNING: &str = "running ";
/// Argument of this program that makes it the guard.
pub(crate) const GUARD: &str = "sweep-guard";

/// Files with what stood in them, in the order in which they are written back.
pub(in crate::sweep) struct Guard {
    before: Vec<(PathBuf, String)>,
    /// Its process.
    id: u32,
    /// Its other end puts everything back when this one is closed without the last word.
    pipe: ChildStdin,
}

impl Guard {
    /// Starts the guard with what it may have to put back.
    pub(super) fn new(before: Vec<(PathBuf, String)>) -> Result<Self> {
        let own = std::env::current_exe().context("cannot find the file of this program")?;
        let call = Call::new(own).args([OsString::from(GUARD)]);
        let (id, mut pipe) = call
            .start_beside()
            .context("cannot start the guard that puts the machine back as it was")?;
        for (path, text) in &before {
            writeln!(pipe, "{}\t{text}", path.display()).context("the guard does not listen")?;
        }
        Ok(Self { before, id, pipe })
    }

    /// For tests of what does not need one.
    #[cfg(test)]
    pub(in crate::sweep) fn stand_in() -> Self {
        let (id, pipe) = Call::new("cat").start_beside().unwrap();
        let before = Vec::new();
        Self { before, id, pipe }
    }

    /// Its process.
    pub(in crate::sweep) fn id(&self) -> u32 {
        self.id
    }

    /// A process group has begun; 0: it has ended.
    pub(in crate::sweep) fn running(&mut self, group: i32) {
        // Without a guard the run goes on all the same.
        let _ = writeln!(self.pipe, "{RUNNING}{group}");
    }

    /// Writes everything back, and looks whether it is there.
    pub(super) fn restore(&mut self) -> Result<()> {
        put_back(&self.before);
        // A guard that has gone has nothing to do either.
        let _ = writeln!(self.pipe, "{DONE}");
        for (path, text) in &self.before {
            let now = std::fs::read_to_string(path).unwrap_or_default();
            if now.trim() != text {
                bail!(
                    "cannot put {} back to {text}: it is `{}`",
                    shown(path),
                    now.trim()
                );
            }
        }
        Ok(())
    }
}

/// Writes values into their files, as far as that works.
fn put_back(before: &[(PathBuf, String)]) {
    for (path, text) in before {
        let _ = std::fs::write(path, text);
    }
}

/// Reads files and values, and the numbers of process groups, up to the end of its input. Without the last word there, the values are written back, and the last group is killed.
pub(crate) fn stand_guard() -> Result<()> {
    let (mut before, mut group) = (Vec::new(), 0);
    for line in std::io::stdin().lines() {
        let line = line.context("cannot read what to put back")?;
        if line == DONE {
            return Ok(());
        } else if let Some(number) = line.strip_prefix(RUNNING) {
            group = number.parse().unwrap_or(0);
        } else if let Some((path, value)) = line.split_once('\t') {
            before.push((PathBuf::from(path), value.to_owned()));
        }
    }
    put_back(&before);
    if group > 1 {
        exec::kill_group(group);
    }
    Ok(())
}
