//! What a test does when the machine lacks something it needs: it prints the reason and is skipped, and it fails when
//! `INSTR_TEST_STRICT=1`. All tests of the workspace ask here, so that no skip is silent and none escapes strict mode.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// Whether a skipped test is a failure: `INSTR_TEST_STRICT=1`.
#[must_use]
pub fn strict() -> bool {
    std::env::var_os("INSTR_TEST_STRICT").is_some_and(|value| value == "1")
}

/// Whether `program` is in `PATH`.
#[must_use]
pub fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    in_path(program.as_ref(), &path).is_some()
}

/// The file that the system starts for a bare name: the first one in the folders of `path` that may be executed.
#[must_use]
pub fn in_path(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let is_program = |file: &PathBuf| {
        let found = file.metadata();
        found.is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
    };
    let mut files = std::env::split_paths(path).map(|folder| folder.join(program));
    files.find(is_program)
}

/// Whether `program` is in `PATH`; [`skipped`] when it is not.
///
/// # Panics
///
/// When it is not and skips are failures.
#[must_use]
pub fn has(program: &str) -> bool {
    let found = installed(program);
    if !found {
        skipped(&format!("{program} is not installed"));
    }
    found
}

/// Says why a test, or a part of it, is left out.
///
/// # Panics
///
/// When skips are failures.
pub fn skipped(reason: &str) {
    assert!(!strict(), "skip in strict mode: {reason}");
    say(&format!("skipped: {reason}"));
}

/// Prints a line also when the test harness captures what a test prints: it hides what passed tests said.
pub fn say(line: &str) {
    // Nobody reads a closed stream; the test's outcome does not depend on it.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Whether this process has the rights of the system's administrator: user 0 with `CAP_SYS_ADMIN`, which a container may
/// take away. `false` where the system does not say.
#[must_use]
pub fn administrator() -> bool {
    const CAP_SYS_ADMIN: u32 = 21;
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        return false;
    };
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(usize::from(name == "Uid:"))
    };
    let capable = field("CapEff:")
        .and_then(|mask| u64::from_str_radix(mask, 16).ok())
        .is_some_and(|mask| mask >> CAP_SYS_ADMIN & 1 == 1);
    field("Uid:") == Some("0") && capable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_path_is_installed() {
        assert!(installed("sh"));
        assert!(!installed("no-such-program-anywhere"));
        assert!(!installed(""));
    }

    #[test]
    fn a_skip_fails_in_strict_mode_only() {
        let left_out = std::panic::catch_unwind(|| skipped("for the test of skips"));
        assert_eq!(left_out.is_err(), strict());
    }
}
