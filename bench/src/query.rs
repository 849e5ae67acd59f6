//! Speed and memory of `instr query`.

use anyhow::Result;

use crate::run::{Bench, cost};
use crate::synthetic::{shown, trace};
use crate::table::Row;

const MIB: f64 = 1024.0 * 1024.0;
/// What is asked: all spans by their name.
const QUESTION: &str = "SELECT name, count(*), sum(duration_ns) FROM spans GROUP BY name";

/// Asks a trace of tasks.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let events = 10 * bench.choose(1_000_000, 20_000);
    eprintln!("bench: query: {events} events");
    let trace = trace(bench, "tasks", events, 4)?;
    let run = || cost(bench.tool("instr").arg("query").arg(&trace).arg(QUESTION));
    let (first, second) = (run()?, run()?);
    std::fs::remove_dir_all(&trace)?;
    let peak = first.peak.max(second.peak) as f64 / MIB;
    let time = first.time.min(second.time).as_secs_f64();
    let name = format!("query: {} events of tasks by name", shown(bench, events));
    Ok(vec![Row::at_most(
        &name,
        5.0,
        " s",
        time,
        1,
        format!("{peak:.0} MiB"),
    )])
}
