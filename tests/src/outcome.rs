//! How a test ends: passed, skipped for a stated reason, not allowed to this account, or failed.

use std::fmt;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Instant;

use instr_test_needs::{administrator, say, strict};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// Why a test stopped early.
#[derive(Clone, Debug)]
pub enum Stop {
    /// The machine lacks something the test needs. A failure when `INSTR_TEST_STRICT=1`.
    Skip(String),
    /// The account or the kernel's settings forbid what the test does: only root can see it here. It is counted by itself, and
    /// a failure in strict mode for an administrator alone, to whom nothing is forbidden.
    NotAllowed(String),
    /// What runs the test is wrong about the plain program, which was shown; or a program with which ours is compared, and which the set-up does
    /// not install, is missing or may not do its work. It is counted by itself and never a failure.
    Unfit(String),
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
            Self::Unfit(reason) => write!(f, "not tested: {reason}"),
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

/// What the last lines of a run name: what a test's end was, its name, and why.
static NAMED: Mutex<Vec<(&str, String)>> = Mutex::new(Vec::new());

/// How tests are named that failed, that failed among others and passed alone, and that were left out.
const FAILED: &str = "failed";
const UNSTEADY: &str = "passed at the second try, alone";
const NOT_ALLOWED: &str = "not allowed";
const UNFIT: &str = "not tested";

/// Lines of a reason that the last lines of a run repeat.
const REASON_LINES: usize = 4;

/// Every test has it for reading while it runs; one that measures, and a second try, have it for writing, and the machine to themselves.
static MACHINE: RwLock<()> = RwLock::new(());

fn note(what: &'static str, name: &str, reason: &str) {
    let line = format!("{name}: {}", reason.trim_start());
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    named.push((what, line));
}

/// Whether a test that failed is tried again, alone: what depends on the load of the machine is told from what is wrong.
/// `make test-all` and the planted faults try once, and so does `INSTR_TEST_ONCE=1`.
fn tries_again() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| value == "1");
    !set("INSTR_TEST_ALL") && !set("INSTR_TEST_ONCE")
}

/// What runs beside a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// Other tests; at a second try none.
    Others,
    /// Nothing: it begins when all tests that run have ended, and none begins meanwhile.
    Nothing,
}

impl Beside {
    fn run(self, body: impl Fn() -> Check) -> Check {
        match self {
            Self::Others => {
                let _others = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
                body()
            }
            Self::Nothing => {
                let _alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
                body()
            }
        }
    }
}

/// The verdict of `body`, at the second try, alone, when it failed at the first one and `again` holds.
fn judged(name: &str, body: impl Fn() -> Check, beside: Beside, again: bool) -> Check {
    let first = beside.run(&body);
    let Err(Stop::Fail(message)) = first else {
        return first;
    };
    if !again {
        return Err(Stop::Fail(message));
    }
    let second = Beside::Nothing.run(&body);
    if second.is_ok() {
        note(UNSTEADY, name, &message);
    }
    second
}

/// A test named `name` with body `body`.
pub fn trial(name: impl Into<String>, body: impl Fn() -> Check + Send + 'static) -> Trial {
    beside(Beside::Others, name.into(), body)
}

/// The same for a test that measures times, which runs alone.
pub fn measuring(name: impl Into<String>, body: impl Fn() -> Check + Send + 'static) -> Trial {
    beside(Beside::Nothing, name.into(), body)
}

fn beside(beside: Beside, name: String, body: impl Fn() -> Check + Send + 'static) -> Trial {
    let shown = name.clone();
    let timed = move || {
        let begin = Instant::now();
        let verdict = judged(&shown, &body, beside, tries_again());
        crate::queue::took(&shown, begin.elapsed());
        match verdict {
            Ok(()) => Ok(Completion::Completed),
            Err(stop) => left_out(&shown, stop, strict(), administrator()),
        }
    };
    Trial::ignorable_test(name, timed)
}

/// A test named `name` that stops with `stop`: what was to be tested was not found.
#[must_use]
pub fn stopped(name: &str, stop: Stop) -> Trial {
    trial(name, move || Err(stop.clone()))
}

/// What becomes of a test that stopped early.
fn left_out(
    name: &str,
    stop: Stop,
    strict: bool,
    administrator: bool,
) -> Result<Completion, Failed> {
    let message = match stop {
        Stop::Fail(message) => message,
        Stop::Skip(reason) if strict => format!("skip in strict mode: {reason}"),
        Stop::Skip(reason) => {
            say(&format!("skipped: {name}: {reason}"));
            return Ok(Completion::ignored_with(reason));
        }
        Stop::NotAllowed(reason) if strict && administrator => {
            format!("not allowed to an administrator: {reason}")
        }
        Stop::NotAllowed(reason) => {
            say(&format!("not allowed: {name}: {reason}"));
            note(NOT_ALLOWED, name, &reason);
            return Ok(Completion::ignored_with(format!("not allowed: {reason}")));
        }
        Stop::Unfit(reason) => {
            say(&format!("not tested: {name}: {reason}"));
            note(UNFIT, name, &reason);
            return Ok(Completion::ignored_with(format!("not tested: {reason}")));
        }
    };
    note(FAILED, name, &message);
    Err(Failed::from(message))
}

/// Runs the tests, names those that did not just pass, and ends the process.
pub fn run(arguments: &Arguments, trials: Vec<Trial>) -> ! {
    let conclusion = libtest_mimic::run(arguments, trials);
    say_named();
    conclusion.exit()
}

/// Names the tests that were not allowed, were tried twice, or failed, and why: the last lines of a run.
pub fn say_named() {
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    for (what, remark) in [
        (
            NOT_ALLOWED,
            " here: only root, or other settings of the kernel, can see",
        ),
        (
            UNFIT,
            " here: an emulator runs the plain program wrongly, or there is nothing to compare with",
        ),
        (UNSTEADY, ""),
        (FAILED, ""),
    ] {
        let lines: Vec<_> = named.iter().filter(|(of, _)| *of == what).collect();
        if !lines.is_empty() {
            say(&format!("{} {what}{remark}", lines.len()));
        }
        for (_, line) in lines {
            let mut shown = line.lines().filter(|line| !line.trim().is_empty());
            say(&format!("  {}", shown.next().unwrap_or_default()));
            for more in shown.take(REASON_LINES - 1) {
                say(&format!("    {more}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
            (Stop::Unfit, true, true, true),
            (Stop::Fail, false, false, false),
        ] {
            let what = stop("why".into());
            let found = passes(stop, strict, administrator);
            assert_eq!(found, passed, "{what}, {strict}, {administrator}");
        }
    }

    #[test]
    fn a_test_that_fails_has_a_second_try_alone() {
        let tried = AtomicUsize::new(0);
        let passes_at = |number, again| {
            tried.store(0, Relaxed);
            let body = || ensure(tried.fetch_add(1, Relaxed) + 1 >= number, || "why".into());
            let verdict = judged("a test", body, Beside::Others, again);
            (verdict.is_ok(), tried.load(Relaxed))
        };
        assert_eq!(passes_at(1, true), (true, 1));
        assert_eq!(passes_at(2, true), (true, 2));
        assert_eq!(passes_at(3, true), (false, 2));
        assert_eq!(passes_at(2, false), (false, 1));
    }
}
