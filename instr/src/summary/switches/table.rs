//! For people.

use std::io;

use instr_analysis::switches::{ContextSwitches, ScheduledThread};

use super::super::model::Summary;
use super::super::units::{count, elide, share, time};
use crate::page::Page;
use crate::sheet::Sheet;

/// Processors that get a column each.
const COLUMNS: usize = 4;

/// Processors and where threads ran; nothing without any.
///
/// # Errors
///
/// Those of the page.
pub fn write(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let switches = summary.context_switches.as_ref();
    // Where threads tell their own, nearly every trace has some: what matters of them is in the table of threads.
    let Some(switches) = switches.filter(|switches| switches.source != "threads") else {
        return Ok(());
    };
    let mut table = Sheet::new(
        1,
        &["processor", "switches", "threads ran", "idle", "unknown"],
    );
    for at in switches.processors.iter().take(page.rows) {
        let mut row = vec![at.processor.to_string(), count(at.switches)];
        row.extend([at.busy_ns, at.idle_ns, at.unknown_ns].map(|ns| share(ns, at.recorded_ns)));
        table.add_row(row);
    }
    table.print(switches.processors.len(), page)?;
    threads(switches, page)
}

fn threads(switches: &ContextSwitches, page: &mut Page<'_>) -> io::Result<()> {
    let columns: Vec<u32> = match switches.processors.len() {
        1..=COLUMNS => switches.processors.iter().map(|at| at.processor).collect(),
        _ => Vec::new(),
    };
    let names: Vec<String> = columns.iter().map(|at| format!("CPU {at}")).collect();
    let timed = switches.source == "switches";
    let mut header = vec!["scheduled thread"];
    if timed {
        header.extend(["ran", "runs"]);
    }
    header.push("migrations");
    header.extend(names.iter().map(String::as_str));
    let mut table = Sheet::new(1, &header);
    for thread in switches.threads.iter().take(page.rows) {
        let mut row = vec![label(thread)];
        if let (Some(ran), Some(runs)) = (thread.running_ns, thread.runs) {
            row.extend([time(ran), count(runs)]);
        }
        row.push(count(thread.migrations));
        row.extend(columns.iter().map(|column| {
            let there = thread
                .by_processor
                .iter()
                .find(|at| at.processor == *column);
            time(there.and_then(|at| at.running_ns).unwrap_or(0))
        }));
        table.add_row(row);
    }
    table.print(switches.threads.len(), page)
}

fn label(thread: &ScheduledThread) -> String {
    match thread.index {
        Some(index) if thread.name != format!("thread {index}") => {
            format!("{index} {}", elide(&thread.name, 64))
        }
        Some(index) => index.to_string(),
        None => elide(&thread.name, 64),
    }
}
