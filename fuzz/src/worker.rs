//! Feeds one target, in a process of its own so that aborts, stack overflows and hangs end only this one.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::input::Input;
use crate::memory;
use crate::mutate::mutate;
use crate::processor::processor_ms;
use crate::random::Random;
use crate::seeds::Seeds;
use crate::targets::{self, Target};

/// Longest time one input may take on a processor.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(5);

/// How many times as long one may take where the machine is busy.
const PATIENCE: u64 = 12;

/// Exit status of a worker whose input took too long.
pub(crate) const TIMED_OUT: i32 = 124;

/// Folder among the temporary files that holds the input being fed.
pub(crate) const CURRENT: &str = "current";

/// How many mutated inputs that were accepted are kept to be mutated further.
const MAX_POOL: usize = 256;

/// Milliseconds since the start at which the running input began; 0 between inputs.
static BEGAN: AtomicU64 = AtomicU64::new(0);

/// Where and why the last panic happened.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// What a worker is told.
#[derive(Debug, Clone)]
pub(crate) struct Orders {
    pub(crate) target: String,
    pub(crate) time: Duration,
    pub(crate) seed: u64,
    /// Folder for inputs that crash.
    pub(crate) crashes: PathBuf,
}

/// One kind of failure of this worker, by its place.
type Failures = BTreeMap<String, u64>;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) executions: u64,
    /// Inputs that the parser took, at least in part.
    pub(crate) accepted: u64,
    /// Longest time an input took.
    pub(crate) slowest: Duration,
    /// Most memory an input had allocated at a time, in bytes.
    pub(crate) peak: usize,
    pub(crate) failures: Failures,
}

/// Feeds mutated inputs until the time is over.
pub(crate) fn work(orders: &Orders) -> Result<Report> {
    let mut target = targets::by_name(&orders.target)?.context("no such target")?;
    let folder = tempfile::tempdir()?;
    let seeds = target.seeds(&Seeds::compile(folder.path())?)?;
    let start = Instant::now();
    watch(start);
    remember_panics();
    let mut random = Random::new(orders.seed);
    let (mut pool, mut report) = (seeds.clone(), Report::default());
    let largest = 2 * seeds.iter().map(Input::len).max().unwrap_or(0);
    let current = std::env::temp_dir().join(CURRENT);
    while start.elapsed() < orders.time {
        let mut input = match seeds.get(report.executions as usize) {
            Some(seed) => seed.clone(),
            None => {
                let fresh = report.executions.is_multiple_of(2);
                let fresh = fresh.then(|| target.fresh(&mut random)).flatten();
                fresh.unwrap_or_else(|| mutated(&pool, &mut random))
            }
        };
        input.write_folder(&current)?;
        report.executions += 1;
        let begin = Instant::now();
        let fed = feed(&mut *target, &input, start);
        report.slowest = report.slowest.max(begin.elapsed());
        report.peak = report.peak.max(memory::peak());
        match fed {
            Ok(true) => {
                report.accepted += 1;
                if random.one_in(8) && input.len() <= largest {
                    keep(
                        &mut pool,
                        seeds.len(),
                        std::mem::take(&mut input),
                        &mut random,
                    );
                }
            }
            Ok(false) => {}
            Err(why) => {
                let count = report.failures.entry(why.clone()).or_default();
                *count += 1;
                if *count <= 3 {
                    save(orders, &input, &why)?;
                }
            }
        }
    }
    fs::remove_dir_all(&current)?;
    Ok(report)
}

/// Puts an accepted input into the pool, whose first `seeds` inputs stay.
fn keep(pool: &mut Vec<Input>, seeds: usize, input: Input, random: &mut Random) {
    if pool.len() >= seeds + MAX_POOL {
        pool.swap_remove(seeds + random.below(MAX_POOL));
    }
    pool.push(input);
}

/// An input of the pool, changed.
fn mutated(pool: &[Input], random: &mut Random) -> Input {
    let mut input = random.pick(pool).clone();
    let other = random.pick(pool);
    mutate(&mut input, other, random);
    input
}

/// Feeds one input; the error tells what went wrong and where.
pub(crate) fn feed(target: &mut dyn Target, input: &Input, start: Instant) -> Result<bool, String> {
    BEGAN.store(start.elapsed().as_millis() as u64 + 1, Relaxed);
    memory::begin();
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| target.run(input)));
    let exceeded = memory::end();
    BEGAN.store(0, Relaxed);
    match outcome {
        Err(_) => Err(PANIC
            .lock()
            .map_or_else(|_| String::new(), |place| place.clone())),
        Ok(_) if exceeded => Err(format!("asked for more than {} MiB", memory::LIMIT >> 20)),
        Ok(accepted) => Ok(accepted),
    }
}

/// Writes an input that failed to the crash folder.
fn save(orders: &Orders, input: &Input, why: &str) -> Result<()> {
    let name = format!("{}-{:016x}", orders.target, input.fingerprint());
    let path = orders.crashes.join(name);
    input.write_folder(&path)?;
    println!("{}: {why}\n  input: {}", orders.target, path.display());
    Ok(())
}

/// Keeps the place of a panic instead of printing it.
pub(crate) fn remember_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map_or_else(String::new, ToString::to_string);
        let payload = info.payload();
        let literal = payload.downcast_ref::<&str>().copied();
        let text = literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = text.unwrap_or("panic").lines().next().unwrap_or_default();
        if let Ok(mut last) = PANIC.lock() {
            *last = format!(
                "panic at {place}: {}",
                message.chars().take(200).collect::<String>()
            );
        }
    }));
}

/// Ends the process when an input takes too long: on a processor, or at all, which may be long where others run too.
pub(crate) fn watch(start: Instant) {
    std::thread::spawn(move || {
        let mut seen = (0, 0);
        let limit = TIME_LIMIT.as_millis() as u64;
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let began = BEGAN.load(Relaxed);
            let (now, ran) = (start.elapsed().as_millis() as u64, processor_ms());
            if seen.0 != began {
                seen = (began, ran);
            }
            let (waited, worked) = (now.saturating_sub(began), ran.saturating_sub(seen.1));
            if began > 0 && (worked > limit || waited > PATIENCE * limit) {
                std::process::exit(TIMED_OUT);
            }
        }
    });
}

/// Feeds one saved input again and prints what becomes of it.
pub(crate) fn replay(name: &str, path: &Path) -> Result<bool> {
    let mut target = targets::by_name(name)?.context("no such target")?;
    let input = Input::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let start = Instant::now();
    watch(start);
    let accepted = {
        memory::begin();
        let accepted = target.run(&input);
        (accepted, memory::end())
    };
    println!(
        "{name}: accepted {}, memory limit hit {}, {} ms",
        accepted.0,
        accepted.1,
        start.elapsed().as_millis()
    );
    Ok(!accepted.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails in the way its input names.
    struct Failing;

    impl Target for Failing {
        fn seeds(&self, _: &Seeds) -> Result<Vec<Input>> {
            Ok(Vec::new())
        }

        fn run(&mut self, input: &Input) -> bool {
            match input.first() {
                b"panic" => panic!("as told"),
                b"memory" => Vec::<u8>::new()
                    .try_reserve_exact(2 * memory::LIMIT) // also where other tests give back what they had before
                    .is_ok(),
                bytes => !bytes.is_empty(),
            }
        }
    }

    #[test]
    fn panics_and_excessive_memory_are_noticed() {
        let _one = memory::COUNTS.lock().unwrap();
        remember_panics();
        let run = |bytes: &[u8]| {
            feed(
                &mut Failing,
                &Input::single("a", bytes.to_vec()),
                Instant::now(),
            )
        };
        let told = run(b"panic").expect_err("it panics");
        assert!(
            told.starts_with("panic at fuzz/src/worker.rs:") && told.ends_with("as told"),
            "{told}"
        );
        assert_eq!(
            run(b"memory"),
            Err(String::from("asked for more than 512 MiB"))
        );
        assert_eq!(run(b"fine"), Ok(true));
        assert_eq!(run(b""), Ok(false));
    }
}
