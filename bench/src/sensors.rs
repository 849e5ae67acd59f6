//! What a reading of a sensor or of a thread's counters takes, as a program pays for it: user regions with readings at begin and end against
//! the same regions without.

use std::process::Command;

use anyhow::{Context as _, Result};
use instr_trace::Trace;
use instr_trace::sensors::Definitions;

use crate::report::Report;
use crate::run::{Bench, ensure_traced, output, timings};
use crate::stats::Series;
use crate::table::{Side, aligned};

/// Settings whose readings are measured: variable, value, and what to call it.
const CASES: &[(&str, &str, &str)] = &[
    (
        "INSTR_SENSORS",
        "psi/cpu",
        "pressure of the processors (`psi/cpu`)",
    ),
    (
        "INSTR_SENSORS",
        "schedstat",
        "scheduling statistics (`schedstat/main`)",
    ),
    (
        "INSTR_SENSORS",
        "rapl",
        "energy of one RAPL zone (`rapl/package-0`)",
    ),
    (
        "INSTR_SENSORS",
        "hwmon/coretemp/temp1",
        "one temperature (`hwmon/coretemp/temp1`)",
    ),
    (
        "INSTR_SENSORS",
        "cpufreq/cpu0",
        "one frequency (`cpufreq/cpu0`)",
    ),
    (
        "INSTR_COUNTERS",
        "task-clock",
        "one software counter of the thread (`task-clock`)",
    ),
    (
        "INSTR_COUNTERS",
        "task-clock,page-faults,context-switches,cpu-migrations",
        "four software counters of the thread, one group",
    ),
    (
        "INSTR_COUNTERS",
        "schedstat-run",
        "the thread's `schedstat-run`",
    ),
    (
        "INSTR_COUNTERS",
        "cycles,instructions",
        "two hardware counters of the thread (`cycles`, `instructions`)",
    ),
];

/// A case, and what it takes; no time where the machine does not have it.
#[derive(Debug)]
pub(crate) struct Cost {
    name: &'static str,
    ns: Option<f64>,
    least: f64,
}

/// Measures every case.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let program = bench.path("sensors");
    output(
        bench
            .tool("instr-cc")
            .args(["gcc", "-O2"])
            .arg(bench.source("sensors.c"))
            .arg("-o")
            .arg(&program),
    )?;
    for (variable, value, name) in CASES {
        let (mut added, mut present) = (Series::default(), true);
        for _ in 0..bench.choose(9, 2) {
            let mut times = [0.0; 2];
            for (with, time) in [false, true].into_iter().zip(&mut times) {
                let trace = bench.fresh("sensors.instr")?;
                let mut command = Command::new(&program);
                command.args([bench.choose("2000", "500"), "15"]);
                command
                    .env("INSTR_TRACE", &trace)
                    .env("INSTR_KEEP", "0")
                    .env("INSTR_POLICY", "ring");
                if with {
                    command
                        .env(variable, value)
                        .env("INSTR_SENSORS_AT", "regions");
                }
                let text = output(&mut command)?.stdout;
                ensure_traced(&trace)?;
                let region = timings(&text).get("region").copied();
                *time = region.context("sensors printed no 'region'")?.0;
                if with {
                    let found = Trace::open(&trace)?;
                    let found = Definitions::of(found.metadata());
                    let wanted = value.split(',').count();
                    present &= !found.sensors.is_empty() || found.counters.len() == wanted;
                }
            }
            added.push((times[1] - times[0]) / 2.0);
        }
        report.sensors.push(Cost {
            name,
            ns: present.then(|| added.median()),
            least: added.min(),
        });
    }
    Ok(())
}

/// The section of the document.
pub(crate) fn section(costs: &[Cost]) -> String {
    let mut text = String::from(
        "\n## Sensors and counters\n\n\
         What one reading takes where it is read at regions and tasks (`INSTR_SENSORS_AT`), recording it included. On a period they are read by a thread of the \
         runtime's own: at 10 ms, 10 µs of readings are 0.1 % of one processor. Without any selected, nothing is read and nothing tested at user events, and \
         one comparison is made at regions and tasks.\n\n",
    );
    let rows = costs.iter().map(|cost| {
        let time = match cost.ns {
            Some(ns) => format!("{:.2} µs (least {:.2})", ns / 1e3, cost.least / 1e3),
            None => "not on this machine".to_owned(),
        };
        [cost.name.to_owned(), time]
    });
    let rows: Vec<[String; 2]> = rows.collect();
    text.push_str(&aligned(
        ["reading", "time"],
        [Side::Left, Side::Right],
        &rows,
    ));
    text
}
