//! The processes of a run where there are many: a line each, in place of a screen each.

use std::io;
use std::io::Write as _;

use super::model::{Summary, Thread};
use super::units::{count, elide, percent, time};
use crate::page::Page;
use crate::quote::typed;
use crate::sheet::Sheet;

/// Characters of a program's name.
const NAME: usize = 24;
/// So many get a screen each.
pub(super) const MOST_SCREENS: usize = 3;

/// Whether a run has so many processes that they are listed.
pub(super) fn are_many(summary: &Summary) -> bool {
    below(summary).len() > MOST_SCREENS
}

/// All processes below this one.
fn below(summary: &Summary) -> Vec<&Summary> {
    let mut all = Vec::new();
    let mut pending: Vec<&Summary> = summary.children.iter().rev().collect();
    while let Some(child) = pending.pop() {
        all.push(child);
        pending.extend(child.children.iter().rev());
    }
    all
}

fn sum(summary: &Summary, of: impl Fn(&Thread) -> u64) -> u64 {
    let threads = summary.threads.iter().map(of);
    threads.fold(0, u64::saturating_add)
}

/// Writes the table, those whose threads took most time first, and how to see one.
pub(super) fn list(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut all = below(summary);
    all.sort_by_key(|process| std::cmp::Reverse(sum(process, Thread::life_ns)));
    let mut table = Sheet::new(
        1,
        &[
            "process",
            "pid",
            "threads",
            "took",
            "user code",
            "waiting",
            "trace",
        ],
    );
    for process in all.iter().take(page.rows) {
        let life = sum(process, Thread::life_ns);
        let share = |ns: u64| match life {
            0 => String::new(),
            _ => percent(ns as f64 / life as f64),
        };
        let trace = process.path.strip_prefix(&summary.path);
        let trace = trace.unwrap_or(&process.path);
        table.add_row([
            elide(&process.program, NAME),
            process.pid.map_or(String::new(), |pid| pid.to_string()),
            count(process.threads.len() as u64),
            time(process.duration_ns),
            share(sum(process, |thread| thread.useful_ns)),
            share(sum(process, |thread| thread.sync_ns)),
            trace.display().to_string(),
        ]);
    }
    table.print(all.len(), page)?;
    match all.first() {
        Some(first) => {
            let command = format!("\nnext  instr summary {}", typed(&first.path));
            writeln!(page, "{command}")
        }
        None => Ok(()),
    }
}
