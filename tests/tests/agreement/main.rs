//! All outputs agree: `instr summary`, `instr merge` and `instr graph` say of a trace what the event model says of it.
//!
//! Traces are random, in order and damaged in every way (`instr_trace::synth::random`). The Paraver files are read by the reader of
//! these tests. What is compared, and the rules by which numbers may differ, stand in `tests/src/agreement`.
//!
//! `INSTR_TEST_SEED` moves all seeds, `INSTR_TEST_TRACES` sets how many traces there are of each kind of damage; `INSTR_TEST_TRACE`
//! names folders, separated by colons, whose traces (`*.instr` and whatever else has a `metadata`) are compared as well.

mod hostile;
mod memory;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use instr_tests::agreement;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::toolchain::tools;
use instr_trace::synth;
use instr_trace::synth::random::{self, Damage, Recipe};
use libtest_mimic::Arguments;

/// Traces of each kind of damage.
const TRACES: u64 = 4;
/// Further ones, of which outputs disagreed.
const FOUND: [(Damage, &[u64]); 7] = [
    (Damage::None, &[6]),
    (Damage::Counted, &[6, 12]),
    (Damage::Doubled, &[5, 11, 14]),
    (Damage::Swapped, &[5, 7, 10, 12, 17, 32, 52, 7008]),
    (Damage::Invented, &[6, 16, 23, 66, 146]),
    (Damage::Truncated, &[6, 8, 20, 99]),
    (Damage::All, &[10, 11, 12, 56, 71, 108, 132, 2057]),
];

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let mut trials = Vec::new();
    for damage in Damage::EACH {
        trials.push(trial(format!("agreement::random::{damage:?}"), move || {
            all_random(damage)
        }));
    }
    for (name, step) in hostile::CASES {
        let name = format!("agreement::hostile::{}", name.replace(' ', "_"));
        trials.push(trial(name, move || hostile::case(step)));
    }
    trials.push(trial("agreement::memory_of_live_tasks", memory::live_tasks));
    let folders = std::env::var("INSTR_TEST_TRACE").unwrap_or_default();
    for folder in folders.split(':').filter(|folder| !folder.is_empty()) {
        for trace in traces_below(Path::new(folder)) {
            let name = format!("agreement::kept::{}", trace.display());
            trials.push(trial(name, move || {
                compare(&trace, false).map_err(Into::into)
            }));
        }
    }
    instr_tests::outcome::run(&arguments, trials);
}

/// Compares the outputs of the built command.
fn compare(trace: &Path, sound: bool) -> Result<(), String> {
    let tools = tools().map_err(|stop| stop.to_string())?;
    let run = |words: &[&OsStr]| {
        let output = Command::new(&tools.instr).args(words).output();
        let output = output.map_err(|error| error.to_string())?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let ended = |status: i32| u8::try_from(status).ok().filter(|status| *status < 2);
        let status = output.status.code().and_then(ended);
        let status = status.ok_or_else(|| format!("{words:?}: {}: {errors}", output.status))?;
        let text = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
        Ok((status, text))
    };
    agreement::compare(trace, sound, &run)
}

/// Traces in `folder`, or that one itself.
fn traces_below(folder: &Path) -> Vec<PathBuf> {
    if folder.join("metadata").is_file() {
        return vec![folder.to_owned()];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.map(|entry| entry.path()).collect();
    found.retain(|path| path.join("metadata").is_file());
    found.sort();
    found
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// All traces of one kind; each disagreement comes with its seed.
fn all_random(damage: Damage) -> Check {
    let first = number("INSTR_TEST_SEED").unwrap_or(1);
    let count = number("INSTR_TEST_TRACES").unwrap_or(TRACES);
    let found = FOUND.iter().filter(|(of, _)| *of == damage);
    let found = found.flat_map(|(_, seeds)| seeds.iter().copied());
    let mut wrong = Vec::new();
    for seed in (first..first + count).chain(found) {
        let recipe = Recipe {
            seed,
            threads: 1 + (seed % 5) as u32,
            constructs: 2 + (seed % 9) as u32,
            damage,
            layout: synth::all_layouts()[seed as usize % 8],
        };
        let folder = tempfile::tempdir()?;
        random::write(folder.path(), &recipe)?;
        if let Err(why) = compare(folder.path(), damage == Damage::None) {
            wrong.push(format!("seed {seed}, {damage:?}: {why}"));
        }
    }
    ensure(wrong.is_empty(), || wrong.join("\n"))
}
