//! `malloc` and `free` of programs linked with `--instr-memory`, against the same calls past the wrappers, in turn in one process.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::report::Report;
use crate::run::{Bench, ensure_traced, output, timings};
use crate::stats::Series;
use crate::table::Row;

/// What a pair may take more, ns.
const GOAL: f64 = 60.0;

/// A pair with all events written to a file, with those in memory only, and with the heap left alone.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let program = bench.path("memory");
    output(
        bench
            .tool("instr-cc")
            .args(["gcc", "-O2", "-fno-builtin", "--instr-memory"])
            .arg(bench.source("memory.c"))
            .args(["-ldl", "-o"])
            .arg(&program),
    )?;
    let cases = [
        ("malloc and free, traced", "INSTR_POLICY", "stream"),
        (
            "malloc and free, traced, policy ring",
            "INSTR_POLICY",
            "ring",
        ),
        (
            "malloc and free, wrapped, `INSTR_MEMORY=0`",
            "INSTR_MEMORY",
            "0",
        ),
    ];
    for (name, variable, value) in cases {
        let (mut plain, mut traced, mut added) =
            (Series::default(), Series::default(), Series::default());
        for _ in 0..bench.choose(7, 2) {
            let trace = bench.fresh("memory.instr")?;
            let text = output(
                Command::new(&program)
                    .args([bench.choose("20000", "5000"), "31"])
                    .env("INSTR_TRACE", &trace)
                    .env(variable, value),
            )?
            .stdout;
            ensure_traced(&trace)?;
            let times = timings(&text);
            let of = |name: &str| {
                let time = times.get(name).map(|time| time.0);
                time.with_context(|| format!("memory printed no '{name}'"))
            };
            plain.push(of("plain")?);
            traced.push(of("traced")?);
            added.push(of("traced")? - of("plain")?);
            std::fs::remove_dir_all(&trace)?;
        }
        report.rows.push(Row::at_most(
            &format!("a pair of {name}, more than a plain pair"),
            GOAL,
            " ns",
            added.median(),
            1,
            format!(
                "{:.1} ns, plain {:.1} ns; least difference {:.1} ns",
                traced.median(),
                plain.median(),
                added.min()
            ),
        ));
    }
    Ok(())
}
