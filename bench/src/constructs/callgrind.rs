//! Instructions of one construct, counted by valgrind: the same in every run, however busy the machine is.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};

use super::CASES;
use crate::run::{Bench, output};
use crate::toolchain::Pair;

/// Operations of the block that is counted; the region around them is shared by all.
const OPERATIONS: u32 = 2000;

/// Instructions of one operation on one thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Instructions {
    /// Without tracing.
    pub(crate) plain: f64,
    /// Added by it.
    pub(crate) added: f64,
}

/// Whether valgrind is installed.
pub(crate) fn is_available() -> bool {
    output(Command::new("valgrind").arg("--version")).is_ok()
}

/// Counts for every case that `known` accepts, in the order of [`CASES`]. As many at a time as there are processors.
///
/// # Errors
/// When a program fails.
pub(crate) fn count(
    bench: &Bench,
    pair: &Pair,
    known: impl Fn(&str) -> bool + Sync,
) -> Result<Vec<Option<Instructions>>> {
    let results = Mutex::new(vec![None; CASES.len()]);
    let next = AtomicUsize::new(0);
    let work = |worker: usize| -> Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = CASES.get(index) else {
                return Ok(());
            };
            if !known(case.name) {
                continue;
            }
            let trace = bench.fresh(&format!("callgrind_{worker}.instr"))?;
            let plain = run(&pair.plain, case.name, &trace)?;
            let traced = run(&pair.traced, case.name, &trace)?;
            let _ = bench.fresh(&format!("callgrind_{worker}.instr"))?;
            let counted = Instructions {
                plain,
                added: traced - plain,
            };
            if let Ok(mut results) = results.lock() {
                results[index] = Some(counted);
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
    })?;
    Ok(results.into_inner().unwrap_or_default())
}

/// Instructions of one operation.
fn run(program: &Path, name: &str, trace: &Path) -> Result<f64> {
    let printed = output(
        Command::new("valgrind")
            .args([
                "--tool=callgrind",
                "--callgrind-out-file=/dev/null",
                "--collect-atstart=no",
                "--toggle-collect=measured_block",
            ])
            .arg(program)
            .args([name, &OPERATIONS.to_string(), "1"])
            .env("OMP_NUM_THREADS", "1")
            .env("INSTR_TRACE", trace)
            .env("INSTR_KEEP", "0"),
    )?;
    let total = collected(&printed.stderr)
        .with_context(|| format!("valgrind printed no count:\n{}", printed.stderr))?;
    Ok(total as f64 / f64::from(OPERATIONS))
}

/// The number in the line `==PID== Collected : NUMBER`.
fn collected(text: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (_, number) = line.split_once("Collected :")?;
        number.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_count_of_callgrind() {
        let text = "==7== Events    : Ir\n==7== Collected : 76556357\n==7==\n";
        assert_eq!(collected(text), Some(76_556_357));
        assert_eq!(collected("==7== Events    : Ir\n"), None);
    }
}
