//! Random task graphs: edges, order, work, span and width equal a brute-force reading of the specification.
//!
//! Each seed is simulated, which allows everything the format knows; those for the libgomp here also run for real. `INSTR_TEST_SEED`
//! moves all seeds, `INSTR_TEST_GRAPHS` changes how many are simulated.

use instr_tests::cases;
use instr_tests::outcome::{Check, Stop, trial};
use instr_tests::random_graphs::generate::{self, Profile};
use instr_tests::random_graphs::judge::{self, Setting};
use instr_tests::random_graphs::metrics;
use instr_tests::random_graphs::real::Driver;
use instr_tests::random_graphs::script::Graph;
use instr_tests::random_graphs::simulate;
use instr_tests::toolchain::Target;
use instr_tests::workspace;
use instr_trace::synth;
use libtest_mimic::Arguments;

/// Graphs in one process.
const BATCH: u32 = 50;
/// Simulated graphs, and of `make test-all`; unless `INSTR_TEST_GRAPHS` says otherwise.
const GRAPHS: [u32; 2] = [400, 1000];
/// Batches that run for real on this machine, and of `make test-all`.
const BATCHES: [u32; 2] = [8, 20];
/// Tests that share them.
const PARTS: u32 = 4;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let mut trials = Vec::new();
    for part in 0..PARTS {
        trials.push(trial(format!("random::simulated::{part}"), move || {
            simulated(part)
        }));
    }
    for (target, batches) in [
        (Target::X86_64, BATCHES[usize::from(cases::all())]),
        (Target::X86_64Static, 2),
        (Target::Sparc32, 2),
        (Target::Sparc64, 2),
    ] {
        if cases::wanted(target) {
            trials.push(trial(
                format!("random::real::{}", target.name()),
                move || real(target, batches),
            ));
        }
    }
    instr_tests::outcome::run(&arguments, trials);
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn seed(number: u32) -> u64 {
    let first = self::number("INSTR_TEST_SEED").unwrap_or(20_261_121);
    first.wrapping_add(u64::from(number))
}

/// `count` graphs for one process; their numbers are their places in the sequence of seeds.
fn batch(first: u32, count: u32, profile: &Profile) -> Vec<Graph> {
    let mut next_id = 0;
    (first..first + count)
        .map(|number| generate::numbered(seed(number), profile, number, &mut next_id))
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
        let mut case = judge::judge(&trace, &graphs, setting)?;
        metrics::judge(&mut case, &format!("{} numbers", trace.display()))?;
    }
    Ok(())
}

/// Every `PARTS`-th graph in virtual time; all mistakes are told together.
fn simulated(part: u32) -> Check {
    let dir = workspace::work_dir("simulated-graphs")?;
    let count =
        number("INSTR_TEST_GRAPHS").map_or(GRAPHS[usize::from(cases::all())], |count| count as u32);
    let mut wrong = Vec::new();
    for number in (part..count).step_by(PARTS as usize) {
        let dir = dir.path().join(number.to_string());
        match one_simulated(number, &dir) {
            Err(Stop::Fail(why)) => wrong.push(format!("graph {number}: {why}")),
            other => other?,
        }
        // A kept folder shows what went wrong only.
        if !wrong
            .last()
            .is_some_and(|last| last.starts_with(&format!("graph {number}:")))
        {
            std::fs::remove_dir_all(&dir)?;
        }
    }
    let shown = wrong.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    instr_tests::outcome::ensure(wrong.is_empty(), || {
        format!(
            "{} of {count} graphs (every {PARTS}th) disagree\n{shown}",
            wrong.len()
        )
    })
}

fn one_simulated(number: u32, dir: &std::path::Path) -> Check {
    let threads = 1 + number % 5;
    let layout = synth::layouts()[number as usize / 5 % 4];
    let graph = generate::numbered(seed(number), &Profile::synthetic(threads), number, &mut 0);
    let full_queue = number % 2 == 1;
    simulate::run(&graph, threads, layout, full_queue, seed(number), dir)?;
    let setting = Setting {
        tolerance: 0,
        ordered: true,
        undeferred: !full_queue,
    };
    let mut case = judge::judge(dir, &[graph], setting)?;
    metrics::judge(&mut case, "numbers")
}
