//! Runs tests of the copy with cargo.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::fault::Selection;

/// Longest run of the tests that a fault names. A test that does not end has noticed it.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// What the tests of a selection said.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// All passed; how many there were.
    Green(usize),
    /// These failed.
    Red(Vec<String>),
    /// The tree does not compile: that proves nothing.
    Broken(String),
}

/// Runs cargo in the copy, with a target folder of its own.
#[derive(Debug)]
pub(crate) struct Cargo {
    /// The copy of the tree.
    pub(crate) tree: PathBuf,
    /// Where cargo builds it.
    pub(crate) target: PathBuf,
    /// Where the last output goes.
    pub(crate) log: PathBuf,
}

impl Cargo {
    /// Builds and runs the tests.
    ///
    /// # Errors
    ///
    /// When cargo cannot be started.
    pub(crate) fn test(&self, selection: &Selection) -> Result<Verdict> {
        let (status, text) = self.run(&["test", "--no-run"], selection, &[])?;
        if !status.is_some_and(|status| status.success()) {
            return Ok(Verdict::Broken(text));
        }
        let arguments = match selection.filter.strip_prefix('=') {
            Some(name) => vec!["--", "--exact", name],
            None => vec!["--", selection.filter.as_str()],
        };
        let (status, text) = self.run(&["test"], selection, &arguments)?;
        let Some(status) = status else {
            return Ok(Verdict::Red(vec![format!(
                "{} (did not end within {} s)",
                selection.filter,
                TIME_LIMIT.as_secs()
            )]));
        };
        // The end-to-end tests build the tools themselves.
        if text.contains("error: could not compile") {
            return Ok(Verdict::Broken(text));
        }
        let failed = failures(&text);
        match (status.success(), failed.is_empty()) {
            (true, true) => Ok(Verdict::Green(passed(&text))),
            (false, false) => Ok(Verdict::Red(failed)),
            (false, true) => Ok(Verdict::Red(vec![format!(
                "{} (the test program failed as a whole)",
                selection.filter
            )])),
            (true, false) => bail!("cargo test succeeded with failures: {failed:?}"),
        }
    }

    /// Runs cargo; no status when it had to be killed.
    fn run(
        &self,
        command: &[&str],
        selection: &Selection,
        arguments: &[&str],
    ) -> Result<(Option<ExitStatus>, String)> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let log = File::create(&self.log)
            .with_context(|| format!("cannot write {}", self.log.display()))?;
        let target: &[&str] = match selection.target.as_str() {
            "lib" => &["--lib"],
            name => &["--test", name],
        };
        let mut child = Command::new(cargo)
            .args(command)
            .args(["--quiet", "--package", &selection.package])
            .args(target)
            .args(arguments)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_TERM_COLOR", "never")
            .env("INSTR_TEST_ONCE", "1")
            .env_remove("INSTR_TEST_BIN") // the tools with the fault are meant
            .env_remove("INSTR_TEST_STRICT")
            .env_remove("CARGO_MANIFEST_DIR")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()
            .context("cargo does not start")?;
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            // Compiling may take its time; a program under test may not.
            if begin.elapsed() > TIME_LIMIT && command.len() == 1 {
                let group = -i32::try_from(child.id())?;
                // SAFETY: a plain system call; the group is that of the child, which has not been waited for.
                unsafe { libc::kill(group, libc::SIGKILL) };
                child.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        Ok((status, read(&self.log)?))
    }
}

/// The text of a file, whatever its bytes are.
fn read(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Names of failed tests in what the test harness prints: under `failures:`, one a line.
fn failures(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    // The list comes last, behind what the tests said.
    for part in text.split("\nfailures:\n").skip(1) {
        let lines = part.lines().skip_while(|line| line.is_empty());
        names = lines
            .take_while(|line| line.starts_with("    ") && !line.trim().contains(' '))
            .map(|line| line.trim().to_owned())
            .collect();
    }
    names
}

/// How many tests passed: `test result: ok. 3 passed; …`.
fn passed(text: &str) -> usize {
    text.lines()
        .filter_map(|line| line.strip_prefix("test result: ok. "))
        .filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\nrunning 2 tests\n.F\nfailures:\n\n---- a::b ----\nexpected 1, got 2\n\n\nfailures:\n    a::b\n    c\n\n\
                        test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";

    #[test]
    fn failed_tests_are_read_from_the_list_at_the_end() {
        assert_eq!(failures(TEXT), ["a::b", "c"]);
        assert_eq!(failures("test result: ok. 3 passed; 0 failed"), [""; 0]);
    }

    #[test]
    fn passed_tests_are_counted() {
        let text =
            "test result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: ok. 1 passed; 0 failed";
        assert_eq!(passed(text), 4);
        assert_eq!(passed(TEXT), 0);
    }
}
