//! What samples take of a program's time: the same traced program with and without, in turn.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use instr_trace::Trace;
use instr_trace::model::{At, Sample, Sink, replay};

use crate::report::Report;
use crate::run::{Bench, ensure_traced, output, timings};
use crate::stats::Series;
use crate::table::{Row, Side, aligned};

/// What 1 kHz may take of a thread's processor time, %.
const GOAL: f64 = 1.0;

/// A way to sample.
struct Case {
    name: &'static str,
    settings: &'static [(&'static str, &'static str)],
    /// The clock that the program itself asks for the same signals, with an empty handler: what the system takes alone.
    clock: Option<&'static str>,
    /// Whether the goal is for it.
    judged: bool,
}

const CASES: &[Case] = &[
    Case {
        name: "none: how far two runs are apart",
        settings: &[],
        clock: None,
        judged: false,
    },
    Case {
        name: "1 kHz, return addresses by frame pointers",
        settings: &[("INSTR_SAMPLING_PERIOD", "1ms")],
        clock: Some("task-clock"),
        judged: true,
    },
    Case {
        name: "1 kHz, 4 KiB of the stack copied",
        settings: &[
            ("INSTR_SAMPLING_PERIOD", "1ms"),
            ("INSTR_SAMPLING_STACK", "4096"),
        ],
        clock: Some("task-clock"),
        judged: false,
    },
    Case {
        name: "1 kHz asked of a timer (`INSTR_SAMPLING_CLOCK=timer`)",
        settings: &[
            ("INSTR_SAMPLING_PERIOD", "1ms"),
            ("INSTR_SAMPLING_CLOCK", "timer"),
        ],
        clock: Some("timer"),
        judged: true,
    },
];

/// A case and what it takes.
#[derive(Debug)]
pub(crate) struct Cost {
    name: &'static str,
    /// What samples take of the time without, %.
    added: f64,
    /// What the same signals take with an empty handler, %.
    system: Option<f64>,
    /// Samples in a second of the program's time.
    rate: f64,
}

/// Measures every case.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let program = bench.path("sampling");
    output(
        bench
            .tool("instr-cc")
            .args(["gcc", "-O2", "-fno-omit-frame-pointer"])
            .arg(bench.source("sampling.c"))
            .arg("-o")
            .arg(&program),
    )?;
    for case in CASES {
        let cost = cost(bench, &program, case)?;
        if case.judged {
            let system = cost.system.map_or_else(String::new, |system| {
                format!(", {system:.2} % with an empty handler")
            });
            report.rows.push(Row::at_most(
                &format!("samples, {}", case.name),
                GOAL,
                " %",
                cost.added,
                2,
                format!("{:.0} samples a second{system}", cost.rate),
            ));
        }
        report.sampling.push(cost);
    }
    Ok(())
}

/// The plain program, the one with the system's signals alone and the sampled one, in turn.
fn cost(bench: &Bench, program: &Path, case: &Case) -> Result<Cost> {
    let (mut added, mut system, mut rates) =
        (Series::default(), Series::default(), Series::default());
    for _ in 0..bench.choose(15, 2) {
        let (plain, _) = run(bench, program, &[], None)?;
        let (sampled, rate) = run(bench, program, case.settings, None)?;
        added.push((sampled / plain - 1.0) * 100.0);
        rates.push(rate);
        if case.clock.is_some() {
            let (empty, _) = run(bench, program, &[], case.clock)?;
            system.push((empty / plain - 1.0) * 100.0);
        }
    }
    Ok(Cost {
        name: case.name,
        added: added.median(),
        system: case.clock.map(|_| system.median()),
        rate: rates.median(),
    })
}

/// Median time of a block, ns, and samples in a second.
fn run(
    bench: &Bench,
    program: &Path,
    settings: &[(&str, &str)],
    clock: Option<&str>,
) -> Result<(f64, f64)> {
    let trace = bench.fresh("sampling.instr")?;
    let mut command = Command::new(program);
    command.args(["20000000", bench.choose("25", "5")]);
    command.args(clock);
    command.env("INSTR_TRACE", &trace).env("INSTR_KEEP", "0");
    command.envs(settings.iter().copied());
    let text = output(&mut command)?.stdout;
    ensure_traced(&trace)?;
    let block = timings(&text).get("work").copied();
    let block = block.context("sampling printed no 'work'")?.0;
    let trace = Trace::open(&trace)?;
    let mut taken = Taken::default();
    replay(&trace, &mut taken)?;
    Ok((
        block,
        f64::from(taken.0) * 1e9 / trace.end_time().max(1) as f64,
    ))
}

/// Counts samples.
#[derive(Default)]
struct Taken(u32);

impl Sink for Taken {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;
    const SAMPLES: bool = true;

    fn sample(&mut self, _at: At, sample: &Sample<'_>) {
        self.0 += u32::from(matches!(sample, Sample::Taken { .. }));
    }
}

/// The section of the document.
pub(crate) fn section(costs: &[Cost]) -> String {
    let mut text = String::from(
        "\n## Sampling\n\n\
         What samples (`INSTR_SAMPLING_PERIOD`) take of a thread that computes, nine calls deep: the same traced program with and without, \
         in turn, median of the ratios. *System alone* is the same program without samples that asks the kernel for the same signals and does nothing in its \
         handler: no profiler that is interrupted at this rate takes less on this machine. The rate is that of samples that came; a timer's end at the \
         kernel's ticks, and each stands for the periods that have gone.\n\n",
    );
    let rows: Vec<[String; 4]> = costs
        .iter()
        .map(|cost| {
            [
                cost.name.to_owned(),
                format!("{:+.2} %", cost.added),
                cost.system
                    .map_or_else(|| "–".to_owned(), |system| format!("{system:+.2} %")),
                format!("{:.0}/s", cost.rate),
            ]
        })
        .collect();
    text.push_str(&aligned(
        ["samples", "added", "system alone", "rate"],
        [Side::Left, Side::Right, Side::Right, Side::Right],
        &rows,
    ));
    text
}
