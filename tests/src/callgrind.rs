//! Instructions of a program, which do not depend on how busy the machine is.

use std::path::Path;

use crate::outcome::{Check, ensure};
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

/// Holds what recording adds to each construct against the most that it may be. `executed` says how many instructions a program, of `programs`, which
/// are the plain and the traced one, takes for so many executions of a construct.
///
/// # Errors
///
/// What takes more than it may, or nothing; and what `executed` says.
pub fn gate<P>(
    limits: &[(&str, f64)],
    counts: [u64; 2],
    programs: [P; 2],
    executed: impl Fn(&P, &str, u64) -> Check<u64>,
) -> Check {
    let mut found = Vec::new();
    for (construct, limit) in limits {
        let mut each = [0.0; 2];
        for (each, program) in each.iter_mut().zip(&programs) {
            let mut values = [0; 2];
            for (value, count) in values.iter_mut().zip(counts) {
                *value = executed(program, construct, count)?;
            }
            *each = growth(values, counts);
        }
        let added = each[1] - each[0];
        println!("{construct}: +{added:.0} instructions, at most {limit}");
        if !(1.0..=*limit).contains(&added) {
            found.push(format!("{construct}: +{added:.0}, not up to {limit}"));
        }
    }
    ensure(found.is_empty(), || found.join("\n"))
}
