//! Feeds random and broken inputs to every parser of the tools, on a stable toolchain.
//!
//! `instr-fuzz all --seconds 60 --seed 1` runs each target for a minute and exits with 1 if any input made it panic,
//! abort, hang for five seconds or ask for more than 512 MiB. Such inputs are saved, one folder each; `instr-fuzz
//! TARGET --replay FOLDER` feeds one again, with the panic's message and backtrace.
//!
//! `instr-fuzz sweep` feeds the symbolizer with very small programs of every kind, cut off at every length and with each byte
//! changed in turn; no input may take more than a second.
//!
//! `instr-fuzz outputs` feeds random traces of all kinds of events, in order and damaged, and mutations of them, to every command that
//! reads a trace. What two outputs say differently is a failure, and so is time or memory beyond what the events are worth.
//!
//! `instr-fuzz exports` does the same with every format of `instr export`, with `instr query`, `predict` and `diff`.
//!
//! Each target runs in a process of its own. Inputs start from files compiled on the spot and synthetic traces; what
//! a parser accepts is mutated further.

mod input;
mod memory;
mod mutate;
mod processor;
mod programs;
mod random;
mod seeds;
mod sweep;
mod targets;
mod worker;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;

use input::Input;
use worker::{CURRENT, Orders, TIMED_OUT};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// How often a worker that died is replaced before the target is given up.
const MAX_DEATHS: u64 = 20;

/// Feeds random and broken inputs to every parser.
#[derive(Debug, Parser)]
#[command(name = "instr-fuzz", version)]
struct Arguments {
    /// object, argv, trace, outputs, exports, symtab, symtab-further, symtab-packed, demangle, all (of these), or sweep
    target: String,
    /// How long each target runs
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Inputs are the same for the same number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where inputs that crash are saved
    #[arg(long, value_name = "FOLDER", default_value = "target/fuzz-crashes")]
    crashes: PathBuf,
    /// Feed a saved input once more
    #[arg(long, value_name = "PATH")]
    replay: Option<PathBuf>,
    /// This process feeds the inputs
    #[arg(long, hide = true)]
    worker: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if !["all", "sweep"].contains(&&*arguments.target)
        && !targets::NAMES.contains(&&*arguments.target)
    {
        eprintln!(
            "instr-fuzz: error: there is no target {}: known are {}, all and sweep",
            arguments.target,
            targets::NAMES.join(", ")
        );
        return ExitCode::from(2);
    }
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("instr-fuzz: error: {error:#}");
            ExitCode::from(3)
        }
    }
}

/// True if nothing crashed.
fn run(arguments: &Arguments) -> Result<bool> {
    if let Some(path) = &arguments.replay {
        return worker::replay(&arguments.target, path);
    }
    std::fs::create_dir_all(&arguments.crashes)
        .with_context(|| format!("cannot create {}", arguments.crashes.display()))?;
    if arguments.target == "sweep" {
        return sweep::run(&arguments.crashes);
    }
    if arguments.worker {
        return work(arguments);
    }
    let chosen = targets::NAMES
        .iter()
        .filter(|name| arguments.target == "all" || arguments.target == **name);
    let mut clean = true;
    for name in chosen {
        clean &= supervise(name, arguments)?;
    }
    Ok(clean)
}

/// What a worker process does.
fn work(arguments: &Arguments) -> Result<bool> {
    let start = Instant::now();
    let orders = Orders {
        target: arguments.target.clone(),
        time: Duration::from_secs(arguments.seconds),
        seed: arguments.seed,
        crashes: arguments.crashes.clone(),
    };
    let report = worker::work(&orders)?;
    println!(
        "{}: {} executions, {} accepted, slowest {:.0} ms, peak {:.1} MiB, in {:.1} s, seed {}, {} kinds of failure",
        orders.target,
        report.executions,
        report.accepted,
        report.slowest.as_secs_f64() * 1e3,
        report.peak as f64 / f64::from(1 << 20),
        start.elapsed().as_secs_f64(),
        orders.seed,
        report.failures.len()
    );
    for (why, count) in &report.failures {
        println!("  {count} × {why}");
    }
    Ok(report.failures.is_empty())
}

/// Runs a target's workers until its time is over, saving the input at which one died.
fn supervise(target: &str, arguments: &Arguments) -> Result<bool> {
    let own = std::env::current_exe().context("cannot find this program")?;
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    let scratch = scratch_folder()?;
    let (mut clean, mut deaths) = (true, 0);
    loop {
        let left = end
            .saturating_duration_since(Instant::now())
            .as_secs()
            .max(1);
        let status = Command::new(&own)
            .arg(target)
            .args([
                "--worker",
                "--seconds",
                &left.to_string(),
                "--seed",
                &(arguments.seed + deaths).to_string(),
                "--crashes",
            ])
            .arg(&arguments.crashes)
            // All temporary files of the worker, which may die without removing them.
            .env("TMPDIR", scratch.path())
            .status()
            .context("cannot start a worker")?;
        match status.code() {
            Some(0) => return Ok(clean),
            Some(1) => return Ok(false),
            Some(3) => anyhow::bail!("the worker of target {target} failed"),
            code => {
                clean = false;
                deaths += 1;
                let why = if code == Some(TIMED_OUT) {
                    "hung".to_owned()
                } else {
                    format!("died: {status}")
                };
                let kept = format!("{target}-dead-{}-{deaths}", std::process::id());
                let kept = arguments.crashes.join(kept);
                keep(&scratch.path().join(CURRENT), &kept)?;
                println!("{target}: {why}\n  input: {}", kept.display());
            }
        }
        if deaths >= MAX_DEATHS || Instant::now() >= end {
            return Ok(clean);
        }
    }
}

/// A folder in memory where there is one: every input is written there before it is fed.
fn scratch_folder() -> Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    folder.context("cannot create a folder for inputs")
}

/// Keeps the input a dead worker was at.
fn keep(current: &Path, kept: &Path) -> Result<()> {
    let copy = Input::read(current).and_then(|input| input.write_folder(kept));
    copy.with_context(|| format!("cannot keep {}", current.display()))
}
