//! Speed and memory of `instr export`, one format after the other, on the synthetic trace of each kind.

use anyhow::Result;

use crate::run::{Bench, Cost, cost};
use crate::synthetic::{shown, trace};
use crate::table::Row;

const MIB: f64 = 1024.0 * 1024.0;

/// Formats, and what they should do at least, million events a second; 0: no goal.
const FORMATS: [(&str, f64); 10] = [
    ("perfetto", 4.0),
    ("chrome", 0.0),
    ("otf2", 0.0),
    ("folded", 0.0),
    ("pprof", 0.0),
    ("speedscope", 0.0),
    ("parquet", 4.0),
    ("arrow", 0.0),
    ("csv", 0.0),
    ("json", 0.0),
];
/// Memory of each, MiB.
const MOST_MEMORY: f64 = 256.0;

/// Exports a trace of tasks in each format, and one of a quarter, to see whether memory grows.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let million = bench.choose(1_000_000, 20_000);
    let (many, few) = (8 * million, 2 * million);
    let mut costs = Vec::new();
    for events in [few, many] {
        eprintln!("bench: export: {events} events of tasks");
        let trace = trace(bench, "tasks", events, 4)?;
        let mut found = Vec::new();
        for (format, _) in FORMATS {
            let folder = bench.fresh("exported")?;
            std::fs::create_dir_all(&folder)?;
            let run = || {
                let mut tool = bench.tool("instr");
                let tool = tool.arg("export").arg(&trace).args(["-f", format, "-o"]);
                cost(tool.arg(folder.join(format)))
            };
            let (first, second) = (run()?, run()?);
            found.push(Cost {
                time: first.time.min(second.time),
                cpu: first.cpu.min(second.cpu),
                peak: first.peak.max(second.peak),
            });
            std::fs::remove_dir_all(&folder)?;
        }
        costs.push(found);
        std::fs::remove_dir_all(&trace)?;
    }
    let rate = |cost: &Cost, events: u64| events as f64 / cost.time.as_secs_f64() / 1e6;
    let mut rows = Vec::new();
    for (at, (format, goal)) in FORMATS.into_iter().enumerate() {
        let (small, large) = (&costs[0][at], &costs[1][at]);
        let name = format!("export to {format}, {} events of tasks", shown(bench, many));
        let rate = rate(large, many);
        let note = format!("{:.1} s of processor time", large.cpu.as_secs_f64());
        rows.push(match goal > 0.0 {
            true => Row::at_least(&name, goal, " M/s", rate, 1, note),
            false => Row::info(&name, format!("{rate:.1} M/s"), note),
        });
        rows.push(Row::at_most(
            &format!("peak memory of that export to {format}"),
            MOST_MEMORY,
            " MiB",
            large.peak as f64 / MIB,
            0,
            format!(
                "{:.0} MiB of {} events",
                small.peak as f64 / MIB,
                shown(bench, few)
            ),
        ));
    }
    Ok(rows)
}
