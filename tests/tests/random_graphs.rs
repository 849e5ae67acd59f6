//! 1,000 random task graphs: edges, order, work, span and width equal a brute-force reading of the specification.
//!
//! `INSTR_TEST_SEED` moves all seeds, `INSTR_TEST_GRAPHS` changes how many graphs there are.

use instr_tests::cases;
use instr_tests::outcome::{Check, trial};
use instr_tests::random_graphs::generate::{self, Profile};
use instr_tests::random_graphs::judge::{self, Setting};
use instr_tests::random_graphs::real::Driver;
use instr_tests::random_graphs::script::Graph;
use instr_tests::toolchain::Target;
use instr_tests::workspace;
use libtest_mimic::Arguments;

/// Graphs in one process.
const BATCH: u32 = 50;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let mut trials = Vec::new();
    for (target, batches) in [
        (Target::X86_64, 10),
        (Target::X86_64Static, 2),
        (Target::Sparc32, 1),
        (Target::Sparc64, 1),
    ] {
        if cases::wanted(target) {
            trials.push(trial(
                format!("random::real::{}", target.name()),
                move || real(target, batches),
            ));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn seed() -> u64 {
    number("INSTR_TEST_SEED").unwrap_or(20_261_121)
}

/// `count` graphs for one process; their numbers are their places in the sequence of seeds.
fn batch(first: u32, count: u32, profile: &Profile) -> Vec<Graph> {
    let mut next_id = 0;
    (first..first + count)
        .map(|number| {
            let seed = seed().wrapping_add(u64::from(number));
            generate::numbered(seed, profile, number, &mut next_id)
        })
        .collect()
}

fn real(target: Target, batches: u32) -> Check {
    let dir = workspace::work_dir("random-graphs")?;
    let driver = Driver::build(target, dir.path())?;
    for number in 0..batches {
        let threads = 2 + number % 3;
        let graphs = batch(number * BATCH, BATCH, &Profile::libgomp12(threads));
        let dir = dir.path().join(number.to_string());
        std::fs::create_dir(&dir)?;
        let trace = driver.run(&graphs, threads, &dir)?;
        let setting = Setting {
            tolerance: 2_000,
            ordered: true,
            undeferred: true,
        };
        judge::judge(&trace, &graphs, setting)?;
    }
    Ok(())
}
