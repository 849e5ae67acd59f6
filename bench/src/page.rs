//! Time, memory and size of `instr report` on synthetic traces, and whether they are linear or bounded.

use anyhow::Result;

use crate::run::{Bench, Cost, cost};
use crate::synthetic::{shown, trace};
use crate::table::Row;

const MIB: f64 = 1024.0 * 1024.0;
/// Threads of the traces.
const THREADS: u32 = 4;

/// A page.
struct Page {
    events: u64,
    cost: Cost,
    bytes: u64,
}

impl Page {
    /// Processor time for an event, ns.
    fn ns(&self) -> f64 {
        self.cost.cpu.as_nanos() as f64 / self.events as f64
    }

    fn note(&self) -> String {
        format!(
            "{:.1} s of processor time, {:.0} MiB, a page of {:.0} KiB",
            self.cost.cpu.as_secs_f64(),
            self.cost.peak as f64 / MIB,
            self.bytes as f64 / 1024.0
        )
    }
}

/// Makes pages of traces of tasks that differ in their length.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let million = bench.choose(1_000_000, 2_000);
    let counts = [10, 30, 100].map(|count| count * million);
    let [small, middle, large] = [
        make(bench, counts[0])?,
        make(bench, counts[1])?,
        make(bench, counts[2])?,
    ];
    let [few, some, many] = counts.map(|count| shown(bench, count));
    let name = |what: &str| format!("report, {many} events of tasks: {what}");
    let seconds = large.cost.time.as_secs_f64();
    let mib = |bytes: u64| bytes as f64 / MIB;
    Ok(vec![
        Row::at_most(&name("time"), 60.0, " s", seconds, 1, large.note()),
        Row::at_most(
            &name("peak memory"),
            512.0,
            " MiB",
            mib(large.cost.peak),
            0,
            format!(
                "{:.0} MiB of {few}, {:.0} MiB of {some}",
                mib(small.cost.peak),
                mib(middle.cost.peak)
            ),
        ),
        Row::at_most(
            &name("size of the page"),
            20.0,
            " MiB",
            mib(large.bytes),
            2,
            format!(
                "{:.2} MiB of {few}, {:.2} MiB of {some}",
                mib(small.bytes),
                mib(middle.bytes)
            ),
        ),
        // A trace that is ten times as long takes no more than ten times as much.
        Row::at_most(
            &format!("report, processor time per event, {many} against {few} events"),
            1.25,
            "×",
            large.ns() / small.ns(),
            2,
            format!(
                "{:.0}, {:.0} and {:.0} ns for an event of {few}, {some} and {many}",
                small.ns(),
                middle.ns(),
                large.ns()
            ),
        ),
    ])
}

fn make(bench: &Bench, events: u64) -> Result<Page> {
    eprintln!("bench: report: {events} events");
    let trace = trace(bench, "tasks", events, THREADS)?;
    let page = bench.work.join("page.html");
    let mut report = bench.tool("instr");
    let cost = cost(report.arg("report").arg(&trace).arg("-o").arg(&page))?;
    let bytes = std::fs::metadata(&page)?.len();
    std::fs::remove_dir_all(&trace)?;
    std::fs::remove_file(&page)?;
    Ok(Page {
        events,
        cost,
        bytes,
    })
}
