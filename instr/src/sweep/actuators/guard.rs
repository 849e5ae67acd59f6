//! The guard: a second process that has what stood in the files of the machine, and writes it back when this one ends without a last word, however it ends.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ChildStdin;

use anyhow::{Context as _, Result, bail};
use instr_cc::exec::Call;

use crate::quote::shown;

/// What the guard is asked with when there is nothing left to do.
const DONE: &str = "done";
/// Argument of this program that makes it the guard.
pub(crate) const GUARD: &str = "sweep-guard";

/// Files with what stood in them, in the order in which they are written back.
pub(super) struct Guard {
    before: Vec<(PathBuf, String)>,
    /// Its other end puts everything back when this one is closed without the last word.
    pipe: ChildStdin,
}

impl Guard {
    /// Starts the guard with what it may have to put back.
    pub(super) fn new(before: Vec<(PathBuf, String)>) -> Result<Self> {
        let own = std::env::current_exe().context("cannot find the file of this program")?;
        let call = Call::new(own).args([OsString::from(GUARD)]);
        let mut pipe = call
            .start_beside()
            .context("cannot start the guard that puts the machine back as it was")?;
        for (path, text) in &before {
            writeln!(pipe, "{}\t{text}", path.display()).context("the guard does not listen")?;
        }
        Ok(Self { before, pipe })
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

/// Reads files and values, and writes these back when its input ends without the last word.
pub(crate) fn stand_guard() -> Result<()> {
    let text = std::io::read_to_string(std::io::stdin()).context("cannot read what to put back")?;
    if text.lines().next_back() == Some(DONE) {
        return Ok(());
    }
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    let before: Vec<(PathBuf, String)> = lines
        .map(|(path, value)| (path.into(), value.to_owned()))
        .collect();
    put_back(&before);
    Ok(())
}
