//! Instructions of a program, which do not depend on how busy the machine is.

use std::path::Path;

use crate::outcome::Check;
use crate::process::Run;

/// Wraps a program's call: `run` gets its words behind valgrind's.
#[must_use]
pub fn valgrind(scratch: &Path) -> Run {
    Run::words(["valgrind", "--tool=callgrind"]).arg(format!(
        "--callgrind-out-file={}",
        scratch.join("callgrind.out").display()
    ))
}

/// Executes what [`valgrind`] began, and returns how many instructions there were.
///
/// # Errors
///
/// When the program fails, or valgrind gives no number.
pub fn instructions(run: Run) -> Check<u64> {
    let outcome = run.succeed()?;
    let text = outcome.errors();
    let collected = text
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    let number = collected.and_then(|(_, number)| number.trim().parse().ok());
    number.ok_or_else(|| format!("no count of instructions: {text}").into())
}

/// The growth between two runs for one execution of a construct, which the runs execute `counts` times.
#[must_use]
pub fn growth(values: [u64; 2], counts: [u64; 2]) -> f64 {
    let [less, more] = values.map(|value| value as f64);
    (more - less) / (counts[1] - counts[0]) as f64
}
