//! How a test ends: passed, skipped for a stated reason, or failed.

use std::fmt;
use std::time::Instant;

use libtest_mimic::{Completion, Failed, Trial};

/// Why a test stopped early.
#[derive(Debug)]
pub enum Stop {
    /// The machine lacks something the test needs. A failure when `INSTR_TEST_STRICT=1`.
    Skip(String),
    /// What should hold does not.
    Fail(String),
}

/// What a test body returns.
pub type Check<T = ()> = Result<T, Stop>;

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skip(reason) => write!(f, "skipped: {reason}"),
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

/// Whether a missing tool is a failure.
#[must_use]
pub fn strict() -> bool {
    std::env::var_os("INSTR_TEST_STRICT").is_some_and(|value| value == "1")
}

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
        Err(Stop::Skip(reason)) if strict() => {
            Err(Failed::from(format!("skip in strict mode: {reason}")))
        }
        Err(Stop::Skip(reason)) => {
            eprintln!("skip {shown}: {reason}");
            Ok(Completion::ignored_with(reason))
        }
        Err(Stop::Fail(message)) => Err(Failed::from(message)),
    })
}
