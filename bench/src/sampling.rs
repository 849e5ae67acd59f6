//! What samples take of a program's time: the same traced program with and without, in turn.

use std::process::Command;

use anyhow::{Context as _, Result};
use instr_trace::{Payload, Trace};

use crate::report::Report;
use crate::run::{Bench, ensure_traced, output, timings};
use crate::stats::Series;
use crate::table::{Side, aligned};

/// What a case is called, and its settings.
type Case = (&'static str, &'static [(&'static str, &'static str)]);

const CASES: &[Case] = &[
    ("none: how far two runs are apart", &[]),
    (
        "1 kHz, return addresses by frame pointers",
        &[("INSTR_SAMPLING_PERIOD", "1ms")],
    ),
    (
        "1 kHz, 4 KiB of the stack copied",
        &[
            ("INSTR_SAMPLING_PERIOD", "1ms"),
            ("INSTR_SAMPLING_STACK", "4096"),
        ],
    ),
    (
        "1 kHz asked of a timer (`INSTR_SAMPLING_CLOCK=timer`)",
        &[
            ("INSTR_SAMPLING_PERIOD", "1ms"),
            ("INSTR_SAMPLING_CLOCK", "timer"),
        ],
    ),
];

/// A case and what it takes.
#[derive(Debug)]
pub(crate) struct Cost {
    name: &'static str,
    /// Time with samples, divided by that of the run before without.
    ratio: f64,
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
    for (name, settings) in CASES {
        let (mut ratios, mut rates) = (Series::default(), Series::default());
        for _ in 0..bench.choose(15, 2) {
            let (plain, _) = run(bench, &program, &[])?;
            let (sampled, rate) = run(bench, &program, settings)?;
            ratios.push(sampled / plain);
            rates.push(rate);
        }
        report.sampling.push(Cost {
            name,
            ratio: ratios.median(),
            rate: rates.median(),
        });
    }
    Ok(())
}

/// Median time of a block, ns, and samples in a second.
fn run(bench: &Bench, program: &std::path::Path, settings: &[(&str, &str)]) -> Result<(f64, f64)> {
    let trace = bench.fresh("sampling.instr")?;
    let mut command = Command::new(program);
    command.args(["20000000", bench.choose("25", "5")]);
    command.env("INSTR_TRACE", &trace);
    command.envs(settings.iter().copied());
    let text = output(&mut command)?.stdout;
    ensure_traced(&trace)?;
    let block = timings(&text).get("work").copied();
    let block = block.context("sampling printed no 'work'")?.0;
    let trace = Trace::open(&trace)?;
    let (mut samples, mut merge) = (0_u32, trace.merge());
    while let Some(event) = merge.next()? {
        let sample = matches!(
            event.payload,
            Payload::Sample { .. } | Payload::SampleStack { .. }
        );
        samples += u32::from(sample);
    }
    Ok((
        block,
        f64::from(samples) * 1e9 / trace.end_time().max(1) as f64,
    ))
}

/// The section of the document.
pub(crate) fn section(costs: &[Cost]) -> String {
    let mut text = String::from(
        "\n## Sampling\n\n\
         What samples (`INSTR_SAMPLING_PERIOD`) take of a thread that computes, nine calls deep: the same traced program with and without, \
         in turn, median of the ratios. The rate is that of samples that came; a timer's end at the kernel's ticks.\n\n",
    );
    let rows: Vec<[String; 3]> = costs
        .iter()
        .map(|cost| {
            [
                cost.name.to_owned(),
                format!("{:+.2} %", (cost.ratio - 1.0) * 100.0),
                format!("{:.0}/s", cost.rate),
            ]
        })
        .collect();
    text.push_str(&aligned(
        ["samples", "added", "rate"],
        [Side::Left, Side::Right, Side::Right],
        &rows,
    ));
    text
}
