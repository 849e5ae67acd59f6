//! What a reading of a module of `instr run --config` takes: processor time of the launcher and all that it starts, with many readings against the
//! same run with the first and the last one alone.

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::report::Report;
use crate::run::{Bench, cost, output};
use crate::stats::Series;
use crate::table::{Side, aligned};

/// Readings a second, as few as programs have: caches are not warm from the reading before.
const OFTEN: &str = "rate = 100\n";
/// The first and the last one alone.
const SELDOM: &str = "period = \"60min\"\n";
/// A module that asks nothing of the program's processes.
const OTHER: &str = "[processors]\n";
/// The trace of a run.
const TRACE: &str = "series.instr";
/// Nothing but time passes: of one process; of one with twenty more, each for itself.
const ONE: &str = "exec sleep $1";
const MANY: &str =
    "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep $1 & done; wait";
/// Processes that begin and end at once.
const FORKS: &str = "i=0; while [ $i -lt 1000 ]; do (:); i=$((i+1)); done";

/// What is measured: its name, the module's name and table, what runs, and how often what is paid for happens: nothing for a reading.
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Option<f64>,
);

const SOFTWARE: &str = "[counters]\nthreads = false\nevents = [\"task-clock\"]\n";
const FOUR: &str = "[counters]\nthreads = false\nevents = [\"task-clock\", \"page-faults\", \"context-switches\", \"cpu-migrations\"]\n";

const CASES: [Case; 12] = [
    (
        "`[counters]`, one event (`task-clock`)",
        "counters",
        SOFTWARE,
        ONE,
        None,
    ),
    ("`[counters]`, four events", "counters", FOUR, ONE, None),
    (
        "`[memory-traffic]`",
        "memory-traffic",
        "[memory-traffic]\n",
        ONE,
        None,
    ),
    ("`[numa]`, one process", "numa", "[numa]\n", ONE, None),
    ("`[numa]`, 21 processes", "numa", "[numa]\n", MANY, None),
    ("`[energy]`", "energy", "[energy]\n", ONE, None),
    ("`[frequency]`", "frequency", "[frequency]\n", ONE, None),
    ("`[pressure]`", "pressure", "[pressure]\n", ONE, None),
    (
        "`[process]`, one process",
        "process",
        "[process]\n",
        ONE,
        None,
    ),
    (
        "`[process]`, 21 processes",
        "process",
        "[process]\n",
        MANY,
        None,
    ),
    ("`[processors]`", "processors", "[processors]\n", ONE, None),
    (
        "`[counters]`, four events: a process that begins and ends",
        "counters",
        FOUR,
        FORKS,
        Some(1000.0),
    ),
];

/// A case, and what it takes; no time where the machine does not have it.
#[derive(Debug)]
pub(crate) struct Cost {
    name: &'static str,
    ns: Option<f64>,
}

/// Measures every case.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    for (name, module, table, script, times) in CASES {
        eprintln!("bench: series: {name}");
        let (mut added, mut present) = (Series::default(), true);
        for _ in 0..bench.choose(5, 2) {
            let seldom = format!("{table}{SELDOM}");
            let (few, many) = match times {
                Some(_) => (format!("{OTHER}{SELDOM}"), seldom),
                None => (seldom, format!("{table}{OFTEN}")),
            };
            let without = run(bench, &few, script)?;
            let before = readings(bench, module)?;
            let with = run(bench, &many, script)?;
            let after = readings(bench, module)?;
            present = after > 0.0;
            if !present {
                break;
            }
            let count = times.unwrap_or((after - before).max(1.0));
            added.push((with - without) / count);
        }
        report.series.push(Cost {
            name,
            ns: present.then(|| added.median()),
        });
    }
    Ok(())
}

/// Processor time of a run and all that it starts, ns.
fn run(bench: &Bench, config: &str, script: &str) -> Result<f64> {
    let (trace, file) = (bench.fresh(TRACE)?, bench.path("series.toml"));
    std::fs::write(&file, config).with_context(|| format!("cannot write {}", file.display()))?;
    let mut command = bench.tool("instr");
    command.args(["run", "-q", "--config"]).arg(file);
    // Of context switches there would be some more with each reading.
    command.env("INSTR_SWITCHES", "0").env("INSTR_KEEP", "0");
    command.arg("-o").arg(&trace);
    command.args(["--", "sh", "-c", script, "sh", bench.choose("1", "0.3")]);
    Ok(cost(&mut command)?.cpu.as_secs_f64() * 1e9)
}

/// Readings of the module in the last run; 0 where the machine does not have it.
fn readings(bench: &Bench, module: &str) -> Result<f64> {
    let mut command = bench.tool("instr");
    command.args(["summary", "--json"]).arg(bench.path(TRACE));
    let summary: Value = serde_json::from_str(&output(&mut command)?.stdout)?;
    let modules = summary["series"]["modules"].as_array();
    let found = modules
        .into_iter()
        .flatten()
        .find(|found| found["module"] == module);
    Ok(found.map_or(0.0, |found| found["readings"].as_f64().unwrap_or(0.0)))
}

/// The section of the document.
pub(crate) fn section(costs: &[Cost]) -> String {
    let mut text = String::from(
        "\n## Series\n\n\
         Processor time of the launcher for one reading of a module of `instr run --config`, writing it included, at 100 readings a second of programs that sleep. Ten readings of 100 µs \
         a second are 0.1 % of one processor; the program takes no part in them. It does where it has events of perf: the last row is what each of 1,000 processes of a shell takes more, \
         to which the kernel gives the events as they begin and of which it adds up the counts as they end.\n\n",
    );
    let rows = costs.iter().map(|cost| {
        let time = match cost.ns {
            Some(ns) => format!("{:.0} µs", ns / 1e3),
            None => "not on this machine".to_owned(),
        };
        [cost.name.to_owned(), time]
    });
    let rows: Vec<[String; 2]> = rows.collect();
    text.push_str(&aligned(
        ["reading", "processor time"],
        [Side::Left, Side::Right],
        &rows,
    ));
    text
}
