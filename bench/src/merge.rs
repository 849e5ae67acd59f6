//! Speed and memory of `instr merge` on synthetic traces, and whether both are linear.

use std::path::PathBuf;

use anyhow::Result;

use crate::run::{Bench, Cost, cost, folder_bytes};
use crate::synthetic::{shown, trace};
use crate::table::Row;

const MIB: f64 = 1024.0 * 1024.0;

/// Merges traces that differ in one thing at a time.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let million = bench.choose(1_000_000, 20_000);
    let shown = |count: u64| shown(bench, count);

    let large = merge(bench, "user", 50 * million, 4)?;
    let small = merge(bench, "user", 10 * million, 4)?;
    let mut rows = vec![
        Row::at_least(
            &format!("merge to Paraver, {} events", shown(50 * million)),
            8.0,
            " M/s",
            large.rate(),
            1,
            large.note(),
        ),
        Row::at_most(
            "peak memory of that merge",
            256.0,
            " MiB",
            large.cost.peak as f64 / MIB,
            0,
            String::new(),
        ),
        linearity(
            "events",
            &shown(10 * million),
            &small,
            &shown(50 * million),
            &large,
        ),
    ];

    let many = merge(bench, "tasks", 10 * million, 4)?;
    let few = merge(bench, "tasks", 2 * million, 4)?;
    rows.push(Row::info(
        &format!("merge to Paraver, tasks, {} events", shown(10 * million)),
        format!("{:.1} M/s", many.rate()),
        many.note(),
    ));
    rows.push(linearity(
        "events of tasks",
        &shown(2 * million),
        &few,
        &shown(10 * million),
        &many,
    ));

    let narrow = merge(bench, "user", 10 * million, 1)?;
    let wide = merge(bench, "user", 10 * million, 256)?;
    rows.push(linearity("threads", "1", &narrow, "256", &wide));
    Ok(rows)
}

/// One merge.
struct Merge {
    events: u64,
    cost: Cost,
    read: u64,
    written: u64,
}

impl Merge {
    /// Million events a second.
    fn rate(&self) -> f64 {
        self.events as f64 / self.cost.time.as_secs_f64() / 1e6
    }

    fn note(&self) -> String {
        format!(
            "{:.1} s, {:.1} s of processor time, {:.0} MiB, {:.0} MiB read, {:.0} MiB written",
            self.cost.time.as_secs_f64(),
            self.cost.cpu.as_secs_f64(),
            self.cost.peak as f64 / MIB,
            self.read as f64 / MIB,
            self.written as f64 / MIB
        )
    }
}

/// Time per event must not grow with the trace: within a quarter.
fn linearity(of: &str, less: &str, small: &Merge, more: &str, large: &Merge) -> Row {
    let growth = small.rate() / large.rate();
    Row::at_most(
        &format!("merge, time per event, {more} against {less} {of}"),
        1.25,
        "×",
        growth,
        2,
        format!(
            "{:.1} and {:.1} M/s, {:.0} and {:.0} MiB",
            small.rate(),
            large.rate(),
            small.cost.peak as f64 / MIB,
            large.cost.peak as f64 / MIB
        ),
    )
}

/// Makes a trace, merges it (the better of two runs) and removes both.
fn merge(bench: &Bench, kind: &str, events: u64, threads: u32) -> Result<Merge> {
    eprintln!("bench: merge: {events} events, {kind}, {threads} threads");
    let trace = trace(bench, kind, events, threads)?;
    let out = bench.fresh("merged")?;
    std::fs::create_dir_all(&out)?;
    let name: PathBuf = out.join("synth");
    let run = || {
        cost(
            bench
                .tool("instr")
                .arg("merge")
                .arg(&trace)
                .arg("-o")
                .arg(&name),
        )
    };
    let (first, second) = (run()?, run()?);
    let cost = Cost {
        time: first.time.min(second.time),
        cpu: first.cpu.min(second.cpu),
        peak: first.peak.max(second.peak),
    };
    let result = Merge {
        events,
        cost,
        read: folder_bytes(&trace)?,
        written: folder_bytes(&out)?,
    };
    std::fs::remove_dir_all(&trace)?;
    std::fs::remove_dir_all(&out)?;
    Ok(result)
}
