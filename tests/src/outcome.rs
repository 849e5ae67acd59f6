//! How a test ends: passed, skipped for a stated reason, not allowed to this account, or failed.

use std::fmt;
use std::sync::Mutex;
use std::time::Instant;

use instr_test_needs::{administrator, say, strict};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// Why a test stopped early.
#[derive(Debug)]
pub enum Stop {
    /// The machine lacks something the test needs. A failure when `INSTR_TEST_STRICT=1`.
    Skip(String),
    /// The account or the kernel's settings forbid what the test does: only root can see it here. It is counted by itself, and
    /// a failure in strict mode for an administrator alone, to whom nothing is forbidden.
    NotAllowed(String),
    /// What should hold does not.
    Fail(String),
}

/// What a test body returns.
pub type Check<T = ()> = Result<T, Stop>;

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skip(reason) => write!(f, "skipped: {reason}"),
            Self::NotAllowed(reason) => write!(f, "not allowed: {reason}"),
            Self::Fail(message) => f.write_str(message),
        }
    }
}

impl From<String> for Stop {
    fn from(message: String) -> Self {
        Self::Fail(message)
    }
}

impl From<instr_trace::Error> for Stop {
    fn from(error: instr_trace::Error) -> Self {
        Self::Fail(error.to_string())
    }
}

impl From<std::num::ParseIntError> for Stop {
    fn from(error: std::num::ParseIntError) -> Self {
        Self::Fail(error.to_string())
    }
}

impl From<&str> for Stop {
    fn from(message: &str) -> Self {
        Self::Fail(message.to_owned())
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Fail(error.to_string())
    }
}

/// Fails with `message()` unless `holds`.
///
/// # Errors
///
/// When `holds` is false.
pub fn ensure(holds: bool, message: impl FnOnce() -> String) -> Check {
    if holds {
        Ok(())
    } else {
        Err(Stop::Fail(message()))
    }
}

/// Tests that were not allowed, with the reason.
static NOT_ALLOWED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A test named `name` with body `body`.
pub fn trial(name: impl Into<String>, body: impl FnOnce() -> Check + Send + 'static) -> Trial {
    let name = name.into();
    let (shown, timed_name) = (name.clone(), name.clone());
    let timed = move || {
        let begin = Instant::now();
        let verdict = body();
        crate::queue::took(&timed_name, begin.elapsed());
        verdict
    };
    Trial::ignorable_test(name, move || match timed() {
        Ok(()) => Ok(Completion::Completed),
        Err(stop) => left_out(&shown, stop, strict(), administrator()),
    })
}

/// What becomes of a test that stopped early.
fn left_out(
    name: &str,
    stop: Stop,
    strict: bool,
    administrator: bool,
) -> Result<Completion, Failed> {
    match stop {
        Stop::Fail(message) => Err(Failed::from(message)),
        Stop::Skip(reason) if strict => Err(Failed::from(format!("skip in strict mode: {reason}"))),
        Stop::Skip(reason) => {
            say(&format!("skipped: {name}: {reason}"));
            Ok(Completion::ignored_with(reason))
        }
        Stop::NotAllowed(reason) if strict && administrator => Err(Failed::from(format!(
            "not allowed to an administrator: {reason}"
        ))),
        Stop::NotAllowed(reason) => {
            let line = format!("not allowed: {name}: {reason}");
            say(&line);
            if let Ok(mut lines) = NOT_ALLOWED.lock() {
                lines.push(line);
            }
            Ok(Completion::ignored_with(format!("not allowed: {reason}")))
        }
    }
}

/// Runs the tests, says how many were not allowed and why, and ends the process.
pub fn run(arguments: &Arguments, trials: Vec<Trial>) -> ! {
    let conclusion = libtest_mimic::run(arguments, trials);
    say_not_allowed();
    conclusion.exit()
}

/// Says which tests were not allowed so far, and why.
pub fn say_not_allowed() {
    if let Ok(lines) = NOT_ALLOWED.lock()
        && !lines.is_empty()
    {
        say(&format!(
            "{} not allowed here: only root, or other settings of the kernel, can see",
            lines.len()
        ));
        for line in lines.iter() {
            say(&format!("  {line}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_mode_and_rights_decide_what_a_test_left_out_is() {
        let passes = |stop: fn(String) -> Stop, strict, administrator| {
            left_out("a test", stop("why".into()), strict, administrator).is_ok()
        };
        for (stop, strict, administrator, passed) in [
            (Stop::Skip as fn(String) -> Stop, false, true, true),
            (Stop::Skip, true, false, false),
            (Stop::Skip, true, true, false),
            (Stop::NotAllowed, false, true, true),
            (Stop::NotAllowed, true, false, true),
            (Stop::NotAllowed, true, true, false),
            (Stop::Fail, false, false, false),
        ] {
            let what = stop("why".into());
            let found = passes(stop, strict, administrator);
            assert_eq!(found, passed, "{what}, {strict}, {administrator}");
        }
    }
}
