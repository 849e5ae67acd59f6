//! Small files cut off at every length and with each byte changed in turn.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::input::Input;
use crate::memory;
use crate::programs::{self, Kind};
use crate::targets;
use crate::worker::{feed, remember_panics, watch};

/// What each byte is changed by or to: single bits, all bits, zero, and the largest positive number.
const CHANGES: [fn(u8) -> u8; 6] = [
    |b| b ^ 1,
    |b| b ^ 0x10,
    |b| b ^ 0x80,
    |b| !b,
    |_| 0,
    |_| 0x7F,
];

/// No input may take longer.
const SLOWEST: Duration = Duration::from_secs(1);

/// What came of it.
#[derive(Debug, Default)]
struct Outcome {
    inputs: u64,
    accepted: u64,
    slowest: Duration,
    peak: usize,
    failures: Vec<String>,
}

/// Sweeps all small programs; true if nothing failed. The worst of each file is printed.
pub(crate) fn run(crashes: &Path) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    watch(start);
    remember_panics();
    let mut total = Outcome::default();
    for kind in [Kind::Plain, Kind::Several, Kind::Packed] {
        for input in programs::build(folder.path(), kind)? {
            for part in 0..input.0.len() {
                let outcome = sweep_part(&input, part, start, crashes)?;
                report(&input.0[part].name, input.0[part].bytes.len(), &outcome);
                total.inputs += outcome.inputs;
                total.accepted += outcome.accepted;
                total.slowest = total.slowest.max(outcome.slowest);
                total.peak = total.peak.max(outcome.peak);
                total.failures.extend(outcome.failures);
            }
        }
    }
    report("all", 0, &total);
    println!("sweep: {:.1} s", start.elapsed().as_secs_f64());
    Ok(total.failures.is_empty())
}

fn report(name: &str, len: usize, outcome: &Outcome) {
    println!(
        "sweep: {name} ({len} bytes): {} inputs, {} accepted, slowest {:.1} ms, peak {:.1} MiB, {} failures",
        outcome.inputs,
        outcome.accepted,
        outcome.slowest.as_secs_f64() * 1e3,
        outcome.peak as f64 / f64::from(1 << 20),
        outcome.failures.len()
    );
    for failure in outcome.failures.iter().take(5) {
        println!("  {failure}");
    }
}

/// One file of an input, the others as they are.
fn sweep_part(input: &Input, part: usize, start: Instant, crashes: &Path) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let original = input.0[part].bytes.clone();
    let mut changed = input.clone();
    for len in 0..original.len() {
        changed.0[part].bytes.truncate(0);
        changed.0[part].bytes.extend_from_slice(&original[..len]);
        one(
            &changed,
            &format!("cut at {len}"),
            start,
            crashes,
            &mut outcome,
        )?;
    }
    changed.0[part].bytes.clone_from(&original);
    for (at, &byte) in original.iter().enumerate() {
        for (number, change) in CHANGES.iter().enumerate() {
            if change(byte) == byte {
                continue;
            }
            changed.0[part].bytes[at] = change(byte);
            let what = format!("byte {at:#x}, change {number}");
            one(&changed, &what, start, crashes, &mut outcome)?;
        }
        changed.0[part].bytes[at] = byte;
    }
    Ok(outcome)
}

fn one(
    input: &Input,
    what: &str,
    start: Instant,
    crashes: &Path,
    outcome: &mut Outcome,
) -> Result<()> {
    let Some(mut target) = targets::by_name("symtab")? else {
        return Ok(());
    };
    let begin = Instant::now();
    let fed = feed(&mut *target, input, start);
    let took = begin.elapsed();
    outcome.inputs += 1;
    outcome.slowest = outcome.slowest.max(took);
    outcome.peak = outcome.peak.max(memory::peak());
    let why = match fed {
        Ok(accepted) => {
            outcome.accepted += u64::from(accepted);
            (took > SLOWEST).then(|| format!("took {} ms", took.as_millis()))
        }
        Err(why) => Some(why),
    };
    if let Some(why) = why {
        let path = crashes.join(format!("sweep-{:016x}", input.fingerprint()));
        input.write_folder(&path)?;
        outcome
            .failures
            .push(format!("{what}: {why}: {}", path.display()));
    }
    Ok(())
}
