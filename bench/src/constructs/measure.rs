//! Running the constructs: time in turn, events and bytes from the trace.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::callgrind::{self, Instructions};
use super::{CASES, Case};
use crate::recorded;
use crate::report::Report;
use crate::run::{Bench, output, timings};
use crate::stats::Compared;
use crate::toolchain::{self, Pair, Toolchain};

/// Sources of the C program.
const SOURCES: [&str; 4] = ["main", "work", "mutex", "tasks"];

/// Blocks that one process times; one more warms up (`constructs/main.c`).
const BLOCKS: u32 = 11;

/// Length of a block, ns: long enough to hold packets that are written, short enough that some are not disturbed.
const BLOCK_TIME: f64 = 3e6;

/// What is compared: the default, and nothing but storing events.
const POLICIES: [&str; 2] = ["stream", "ring"];

/// Fewer events per operation than this are those of the region around all of them, and the tracer's own.
const NO_EVENTS: f64 = 0.1;

/// One construct, one size of the team, one compiler.
#[derive(Debug)]
pub(crate) struct Figures {
    /// The construct.
    pub(crate) case: &'static Case,
    /// Threads of the team.
    pub(crate) threads: u32,
    /// What it was built with.
    pub(crate) toolchain: Toolchain,
    /// What it costs.
    pub(crate) cost: Cost,
    /// Instructions on one thread; `None` on more threads or without valgrind.
    pub(crate) instructions: Option<Instructions>,
}

/// What one operation costs and leaves.
#[derive(Debug)]
pub(crate) struct Cost {
    /// Time of one operation, ns, with the default policy: events are written to a file.
    pub(crate) times: Compared,
    /// The same when events only stay in memory (`INSTR_POLICY=ring`).
    pub(crate) in_memory: Compared,
    /// Events of one operation, of all threads; `None` when the program left no trace.
    pub(crate) events: Option<f64>,
    /// Size of an event.
    pub(crate) bytes_per_event: f64,
}

impl Cost {
    /// Whether the construct left events.
    pub(crate) fn is_recorded(&self) -> bool {
        self.events.is_some_and(|events| events >= NO_EVENTS)
    }
}

/// All constructs with all compilers that are installed.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    for toolchain in toolchain::ALL {
        if toolchain.version().is_none() {
            eprintln!("bench: {}: not installed", toolchain.compiler);
            continue;
        }
        let sources = SOURCES.map(|name| bench.source(&format!("constructs/{name}.c")));
        let pair = toolchain.build(bench, "constructs", &sources)?;
        let known = names(&pair.plain)?;
        let instructions = if callgrind::is_available() {
            eprintln!("bench: constructs: instructions, {}", toolchain.compiler);
            callgrind::count(bench, &pair, |name| known.contains(name))?
        } else {
            eprintln!("bench: valgrind is not installed: instructions are not counted");
            vec![None; CASES.len()]
        };
        eprintln!("bench: constructs: time, {}", toolchain.compiler);
        for (case, instructions) in CASES.iter().zip(instructions) {
            for &threads in case.threads.iter().filter(|_| known.contains(case.name)) {
                let cost = cost(bench, &pair, case.name, threads).with_context(|| {
                    format!("{}, {threads} threads, {}", case.name, toolchain.compiler)
                })?;
                report.constructs.push(Figures {
                    case,
                    threads,
                    toolchain,
                    cost,
                    instructions: instructions.filter(|_| threads == 1),
                });
            }
        }
        ensure!(
            toolchain != toolchain::GCC
                || report.constructs.iter().any(|all| all.cost.is_recorded()),
            "the program left no trace: it was linked without the runtime"
        );
    }
    Ok(())
}

/// The constructs that the program has: not every compiler leaves all of them to the OpenMP runtime.
fn names(program: &Path) -> Result<BTreeSet<String>> {
    let text = output(Command::new(program).arg("--list"))?.stdout;
    Ok(text.lines().map(str::to_owned).collect())
}

fn cost(bench: &Bench, pair: &Pair, name: &str, threads: u32) -> Result<Cost> {
    let traces = [
        bench.fresh("constructs.instr")?,
        bench.fresh("constructs_ring.instr")?,
    ];
    let run = |program: &Path, change: usize, operations: u32, blocks: u32| {
        let recording = (traces[change].as_path(), POLICIES[change]);
        time(program, name, threads, operations, blocks, recording)
    };
    let longest = run(&pair.plain, 0, 500, 5)?.max(run(&pair.traced, 0, 500, 5)?);
    let operations = operations(bench.choose(BLOCK_TIME, BLOCK_TIME / 10.0), longest);
    let blocks = bench.choose(BLOCKS, 3);
    let [times, in_memory] = Compared::measure_many(
        bench.choose(7, 1),
        || run(&pair.plain, 0, operations, blocks),
        |change| run(&pair.traced, change, operations, blocks),
    )?;
    let recorded = recorded::count(&traces[0])?;
    for trace in &traces {
        if trace.exists() {
            std::fs::remove_dir_all(trace)?;
        }
    }
    let all_operations = f64::from(operations) * f64::from(blocks + 1);
    Ok(Cost {
        times,
        in_memory,
        events: recorded.map(|recorded| recorded.events as f64 / all_operations),
        bytes_per_event: recorded.map_or(f64::NAN, |recorded| {
            recorded.bytes as f64 / recorded.events as f64
        }),
    })
}

/// How many operations of `each` ns make a block of `block` ns, in hundreds.
fn operations(block: f64, each: f64) -> u32 {
    let hundreds = (block / each / 100.0).clamp(5.0, 1000.0);
    hundreds as u32 * 100
}

/// Time of one operation, ns: the median over the blocks of one process. Threads stay on their processors and spin: waking one up
/// takes a hundred times as long as what is measured.
fn time(
    program: &Path,
    name: &str,
    threads: u32,
    operations: u32,
    blocks: u32,
    (trace, policy): (&Path, &str),
) -> Result<f64> {
    let text = output(
        Command::new(program)
            .arg(name)
            .args([operations.to_string(), blocks.to_string()])
            .env("OMP_NUM_THREADS", threads.to_string())
            .env("OMP_WAIT_POLICY", "active")
            .env("OMP_PROC_BIND", "true")
            .env("INSTR_TRACE", trace)
            .env("INSTR_KEEP", "0")
            .env("INSTR_POLICY", policy),
    )?
    .stdout;
    let (median, _) = timings(&text)
        .get(name)
        .copied()
        .with_context(|| format!("{} printed no '{name}'", program.display()))?;
    Ok(median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_wanted_length_within_limits() {
        assert_eq!(operations(3e6, 100.0), 30_000);
        assert_eq!(operations(3e6, 1.0), 100_000);
        assert_eq!(operations(3e6, 0.0), 100_000);
        assert_eq!(operations(3e6, 1e6), 500);
    }

    #[test]
    fn names_of_cases_are_those_of_the_c_program() {
        let mut unique: BTreeSet<&str> = BTreeSet::new();
        for case in &CASES {
            assert!(unique.insert(case.name), "{} is there twice", case.name);
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("constructs");
        let mut sources = String::new();
        for name in SOURCES {
            sources += &std::fs::read_to_string(folder.join(format!("{name}.c"))).unwrap();
        }
        for case in &CASES {
            assert!(
                sources.contains(&format!("{{\"{}\", {}_block}}", case.name, function(case))),
                "{}",
                case.name
            );
        }
        let entries = sources.matches("_block},").count();
        assert_eq!(entries, CASES.len(), "constructs that no case names");
    }

    /// The C functions of the loops leave out `for_`.
    fn function(case: &Case) -> &str {
        case.name.strip_prefix("for_").unwrap_or(case.name)
    }

    #[test]
    fn own_events_of_the_tracer_are_no_record_of_a_construct() {
        let cost = |events| Cost {
            times: Compared::default(),
            in_memory: Compared::default(),
            events,
            bytes_per_event: 20.0,
        };
        assert!(cost(Some(1.0)).is_recorded());
        assert!(!cost(Some(0.001)).is_recorded());
        assert!(!cost(None).is_recorded());
    }
}
