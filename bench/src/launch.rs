//! What `instr run` takes of a program that does nothing, by what it records with.

use anyhow::{Context as _, Result};

use crate::report::Report;
use crate::run::{Bench, cost};
use crate::stats::{Compared, Series};
use crate::table::Row;

/// What is recorded with, and its value of the setting.
const RECORDERS: [(&str, &str); 3] = [
    ("by perf", "perf"),
    ("by eBPF", "ebpf"),
    ("without switches", "0"),
];
/// The goal, ms.
const GOAL: f64 = 20.0;

/// Measures the launch with each recorder that is permitted: how much later the command is over than the program alone.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let trace = bench.path("launch.instr");
    let plain = || cost(&mut std::process::Command::new("true"));
    let run = |switches: &str| {
        bench.fresh("launch.instr")?;
        let mut command = bench.tool("instr");
        command.args(["run", "-q", "-o"]).arg(&trace);
        command.args(["--", "true"]).env("INSTR_SWITCHES", switches);
        cost(&mut command)
    };
    for (name, switches) in RECORDERS {
        eprintln!("bench: launch of instr run: {name}");
        // The first one builds the library to preload, if it is not there.
        run(switches)?;
        let metadata = std::fs::read_to_string(trace.join("kernel/metadata")).unwrap_or_default();
        if switches != "0" && !metadata.contains(&format!("recorder = \"{switches}\"")) {
            eprintln!("bench: launch of instr run: {switches} is not permitted here");
            continue;
        }
        let (mut processor, mut alone) = (Series::default(), Series::default());
        let times = Compared::measure(
            bench.choose(25, 3),
            || {
                let cost = plain()?;
                alone.push(cost.cpu.as_secs_f64() * 1e3);
                Ok::<_, anyhow::Error>(cost.time.as_secs_f64() * 1e3)
            },
            || {
                let cost = run(switches).with_context(|| format!("instr run, {name}"))?;
                processor.push(cost.cpu.as_secs_f64() * 1e3);
                Ok(cost.time.as_secs_f64() * 1e3)
            },
        )?;
        report.rows.push(Row::at_most(
            &format!("launch of `instr run true`, {name}"),
            GOAL,
            " ms",
            times.difference(),
            1,
            format!(
                "longer than `true` alone ({:.1} ms); {:.1} ms of processor time, alone {:.1} ms",
                times.plain(),
                processor.median(),
                alone.median()
            ),
        ));
    }
    Ok(())
}
