//! `malloc` and `free` of programs linked with `--instr-memory`, against the same calls past the wrappers, in turn in one process.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::report::Report;
use crate::run::{Bench, ensure_traced, output, timings};
use crate::stats::Series;
use crate::table::{Row, Side, aligned};

/// What a pair may take more, ns.
const GOAL: f64 = 60.0;

/// A way to run the program, and what a pair takes, ns.
#[derive(Debug)]
pub(crate) struct Cost {
    name: &'static str,
    plain: f64,
    traced: f64,
    added: f64,
    least: f64,
}

/// The section of the document.
pub(crate) fn section(costs: &[Cost]) -> String {
    let mut text = String::from(
        "\n## Memory\n\n\
         `malloc(64)` and `free` of a program linked with `--instr-memory`, in turn with the same calls past the wrappers, in one process; in ns a pair. Four \
         events of 72 bytes together.\n\n",
    );
    let rows = costs.iter().map(|cost| {
        [
            cost.name.to_owned(),
            format!("{:.1}", cost.plain),
            format!("{:.1}", cost.traced),
            format!("+{:.1} (least {:.1})", cost.added, cost.least),
        ]
    });
    let rows: Vec<[String; 4]> = rows.collect();
    text.push_str(&aligned(
        ["a pair of", "plain", "traced", "added"],
        [Side::Left, Side::Right, Side::Right, Side::Right],
        &rows,
    ));
    text
}

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
                    .env("INSTR_KEEP", "0")
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
        report.memory.push(Cost {
            name,
            plain: plain.median(),
            traced: traced.median(),
            added: added.median(),
            least: added.min(),
        });
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
