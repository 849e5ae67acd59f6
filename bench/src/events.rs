//! User events against a loop that reads the time stamp counter and stores 16 bytes.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::report::{EventCost, Report};
use crate::run::{Bench, ensure_traced, folder_bytes, output, timings};
use crate::stats::Series;
use crate::table::Row;

/// Blocks that one process times; one more warms up (`events.c`).
const BLOCKS: u64 = 41;

/// Ratios to the floor for the policies `ring` and `stream`, and bytes per event of the latter.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let program = bench.path("events");
    output(
        bench
            .tool("instr-cc")
            .args(["gcc", "-O2", "-falign-loops=64", "-fopenmp"])
            .arg(bench.source("events.c"))
            .arg("-o")
            .arg(&program),
    )?;
    let count: u64 = bench.choose(250_000, 100_000);

    for (policy, goal) in [("ring", 1.3), ("stream", 2.2)] {
        let (mut floor, mut event, mut ratio, mut best) = (
            Series::default(),
            Series::default(),
            Series::default(),
            Series::default(),
        );
        let mut bytes = 0;
        for _ in 0..bench.choose(7, 2) {
            let trace = bench.fresh("events.instr")?;
            let text = output(
                Command::new(&program)
                    .arg(count.to_string())
                    .arg(BLOCKS.to_string())
                    .env("INSTR_TRACE", &trace)
                    .env("INSTR_KEEP", "0")
                    .env("INSTR_POLICY", policy),
            )?
            .stdout;
            ensure_traced(&trace)?;
            let times = timings(&text);
            let of = |name: &str| {
                times
                    .get(name)
                    .copied()
                    .with_context(|| format!("events printed no '{name}'"))
            };
            let (floor_time, event_time) = (of("floor")?, of("event")?);
            floor.push(floor_time.0);
            event.push(event_time.0);
            ratio.push(event_time.0 / floor_time.0);
            best.push(event_time.1 / floor_time.1);
            bytes = folder_bytes(&trace)?;
            std::fs::remove_dir_all(&trace)?;
        }
        report.rows.push(Row::at_most(
            &format!("one user event, policy {policy}, against rdtsc + 16-byte store"),
            goal,
            "×",
            ratio.median(),
            2,
            format!(
                "{:.1} ns, floor {:.1} ns; of the least times {:.2}×",
                event.median(),
                floor.median(),
                best.min()
            ),
        ));
        if policy == "stream" {
            report.event = Some(EventCost {
                floor: floor.median(),
                event: event.median(),
            });
            let each = bytes as f64 / ((BLOCKS + 1) * count) as f64;
            report.rows.push(Row::at_most(
                "bytes per user event",
                20.0,
                " B",
                each,
                1,
                format!("{each:.3} B; packet headers and metadata included"),
            ));
        }
    }
    Ok(())
}
