//! `kill -9` at a random moment: every trace opens, and each thread has lost at most the event it was writing.

use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::prv;
use instr_tests::toolchain::Target;
use libtest_mimic::Trial;

use super::{Guest, repair, values};

/// Runs on x86-64, split over a few tests so that they run side by side.
const RUNS: [(&str, u64, u64); 5] = [
    ("default-buffer", 10, 0),
    ("buffer-4096", 10, 4096),
    ("buffer-5000", 10, 5000),
    ("buffer-16384", 10, 16384),
    ("buffer-262144", 10, 262_144),
];
/// The same with threads that come and go.
const RUNS_SHORT: [(&str, u64, u64); 3] = [
    ("short-threads", 10, 0),
    ("short-threads-buffer-4096", 10, 4096),
    ("short-threads-buffer-65536", 10, 65536),
];
const RUNS_SPARC: u64 = 4;
/// Runs of each buffer that may be killed before they have begun; in the others every thread must have recorded.
const ANY_TIME: u64 = 2;
const THREADS: u32 = 3;
/// As in killed.c: 4-byte numbers, 16 to a thread.
const STRIDE: u64 = 16 * 4;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, count, buffer) in RUNS {
        trials.push(trial(format!("robust::killed::{name}"), move || {
            runs(Target::X86_64, count, buffer, &[])
        }));
    }
    for (name, count, buffer) in RUNS_SHORT {
        trials.push(trial(format!("robust::killed::{name}"), move || {
            runs(Target::X86_64, count, buffer, &["short"])
        }));
    }
    for target in [Target::Sparc32, Target::Sparc64]
        .into_iter()
        .filter(|target| cases::wanted(*target))
    {
        trials.push(trial(
            format!("robust::killed::{}", target.name()),
            move || runs(target, RUNS_SPARC, 8192, &[]),
        ));
    }
    trials
}

fn runs(target: Target, count: u64, buffer: u64, how: &[&str]) -> Check {
    let guest = Guest::build_for("killed", target)?;
    let mut random = Random(buffer + 1);
    // From the program's first instruction to many buffers later (a thread fills the largest in some 2 ms): the first two runs are killed
    // at any time, at which they may not have begun, the others after every thread has recorded.
    let spread = if target == Target::X86_64 {
        12_000
    } else {
        250_000
    };
    for run in 0..count {
        let delay = Duration::from_micros(random.below(spread));
        let begun = run >= ANY_TIME;
        let trace = guest.path(&format!("trace{run}"));
        let stored = kill_after(&guest, how, (delay, begun), buffer, &trace)?;
        let judged = judge(&trace, &stored);
        judged.map_err(|stop| format!("killed after {delay:?}, stored {stored:?}: {stop}"))?;
    }
    Ok(())
}

/// Waits until every thread has stored a number.
fn wait_for_all(file: &std::fs::File, target: Target) -> Check {
    const LIMIT: Duration = Duration::from_secs(60);
    let begin = Instant::now();
    while stored(file, target)?.contains(&0) {
        ensure(begin.elapsed() < LIMIT, || {
            format!("a thread stored nothing within {LIMIT:?}")
        })?;
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}

/// What each thread has stored.
fn stored(file: &std::fs::File, target: Target) -> Check<Vec<u32>> {
    let mut stored = Vec::new();
    for thread in 0..u64::from(THREADS) {
        let mut bytes = [0; 4];
        file.read_exact_at(&mut bytes, thread * STRIDE)?;
        stored.push(if target.emulator().is_some() {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        });
    }
    Ok(stored)
}

/// Starts the program, kills it `delay` later (after every thread has `begun` to record), and returns what each had stored.
fn kill_after(
    guest: &Guest,
    how: &[&str],
    (delay, begun): (Duration, bool),
    buffer: u64,
    trace: &Path,
) -> Check<Vec<u32>> {
    let shared = guest.path("shared");
    let mut file = std::fs::File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&shared)?;
    file.write_all(&[0; 4096])?;
    let mut run = guest
        .traced()
        .arg(&shared)
        .arg(THREADS.to_string())
        .args(how)
        .env("INSTR_TRACE", trace);
    if buffer > 0 {
        run = run.env("INSTR_BUFFER", buffer.to_string());
    }
    let mut child = run.spawn()?;
    let ready = if begun {
        wait_for_all(&file, guest.target)
    } else {
        Ok(())
    };
    std::thread::sleep(delay);
    child.kill()?;
    child.wait()?;
    ready?;
    stored(&file, guest.target)
}

fn judge(trace: &Path, stored: &[u32]) -> Check {
    if stored.iter().all(|&number| number == 0) && !trace.join("metadata").exists() {
        return Ok(()); // killed before it had begun
    }
    let summary = cases::summary(trace)?;
    ensure(summary["discarded"] == 0, || {
        format!("discarded: {}", summary["discarded"])
    })?;
    let repaired = repair(trace)?;
    let events = ctf::read(&repaired)?;
    for (thread, &stored) in (0..).zip(stored) {
        let recovered = values(&events, 1000 + thread);
        let complete = recovered.iter().copied().eq(1..=recovered.len() as i128);
        ensure(complete, || {
            format!("thread {thread}: what was recovered is not 1, 2, 3 …")
        })?;
        let (recovered, stored) = (recovered.len() as u64, u64::from(stored));
        // The number is stored after the event: one event more than stored may be there, none may be missing.
        ensure(recovered == stored || recovered == stored + 1, || {
            format!("thread {thread}: stored {stored}, recovered {recovered}")
        })?;
    }
    if events.is_empty() && stored.iter().all(|&number| number == 0) {
        return Ok(()); // killed before the first thread's first event: there is nothing to draw
    }
    let merged = cases::paraver(trace, prv::check::Options { open: true })?;
    let in_paraver = merged
        .events
        .iter()
        .filter(|event| (1000..1000 + u64::from(THREADS)).contains(&event.kind))
        .count();
    let in_trace: usize = (0..THREADS)
        .map(|thread| values(&events, i128::from(1000 + thread)).len())
        .sum();
    ensure(in_paraver == in_trace, || {
        format!("{in_trace} events were recovered, {in_paraver} of them are in the .prv")
    })
}

/// A linear congruential generator: the delays need no better, and a seed makes them repeatable.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
