//! For people.

use std::io;

use super::super::model::Summary;
use super::super::table::{label, row};
use super::super::units::{count, counted, elide, size};
use crate::page::Page;
use crate::sheet::Sheet;

/// Loops, blocks and device constructs.
///
/// # Errors
///
/// Those of the page.
pub fn work_sharing(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::of_places(
        3,
        &[
            "static loop (inferred)",
            "in",
            "debug info",
            "loops",
            "threads",
        ],
    );
    let loops = || {
        summary
            .static_loops
            .iter()
            .filter(|item| item.evidence != "different places")
    };
    for item in loops().take(page.rows) {
        table.add_row([
            label(&item.place),
            elide(&item.inside, 40),
            match item.evidence {
                "same place" => "agrees".to_owned(),
                _ => "none".to_owned(),
            },
            count(item.instances),
            count(item.count),
        ]);
    }
    table.print(loops().count(), page)?;
    let head = ["count", "thread total", "min", "mean", "max"];
    let titled = |title| {
        let header: Vec<&str> = [title].into_iter().chain(head).collect();
        Sheet::of_places(1, &header)
    };
    let mut table = titled("scope in");
    for item in summary.scopes.iter().take(page.rows) {
        table.add_row(row([label(&item.place), count(item.instances)], item.times));
    }
    table.print(summary.scopes.len(), page)?;
    let mut table = titled("masked in");
    for item in summary.masked.iter().take(page.rows) {
        table.add_row(row(
            [label(&item.place), count(item.times.count)],
            item.times,
        ));
    }
    table.print(summary.masked.len(), page)?;
    let mut table = Sheet::of_places(
        2,
        &[
            "device construct",
            "kind",
            "count",
            "total",
            "min",
            "mean",
            "max",
        ],
    );
    for item in summary.targets.iter().take(page.rows) {
        let head = [
            label(&item.place),
            item.kind.to_owned(),
            count(item.times.count),
        ];
        table.add_row(row(head, item.times));
    }
    table.print(summary.targets.len(), page)
}

/// Doacross loops, cancellation.
///
/// # Errors
///
/// Those of the page.
pub fn rest(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::of_places(
        1,
        &[
            "doacross in",
            "posts",
            "waits",
            "waited",
            "min",
            "mean",
            "max",
        ],
    );
    for item in summary.doacross.iter().take(page.rows) {
        let head = [label(&item.place), count(item.posts), count(item.waits)];
        // LLVM's library reports that an iteration is waited for, and not for how long.
        let is_timed = item.times.count > 0 || item.waits == 0;
        table.add_row(match is_timed {
            true => row(head, item.times),
            false => head
                .into_iter()
                .chain([(); 4].map(|()| "-".to_owned()))
                .collect(),
        });
    }
    table.print(summary.doacross.len(), page)?;
    let mut table = Sheet::new(
        1,
        &[
            "cancellation of",
            "cancel",
            "points",
            "left",
            "tasks discarded",
        ],
    );
    for item in &summary.cancellations {
        let numbers = [item.cancels, item.points, item.left, item.discarded_tasks].map(count);
        table.add_row([item.construct.to_owned()].into_iter().chain(numbers));
    }
    table.print(summary.cancellations.len(), page)
}

/// Memory of OpenMP's allocators.
///
/// # Errors
///
/// Those of the page.
pub fn allocations(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::new(
        1,
        &[
            "memory by",
            "count",
            "bytes",
            "peak",
            "given back",
            "refused",
        ],
    );
    for item in &summary.allocations {
        table.add_row([
            item.kind.to_owned(),
            count(item.count),
            size(item.bytes),
            size(item.peak_bytes),
            count(item.freed),
            count(item.refused),
        ]);
    }
    table.print(summary.allocations.len(), page)
}

/// One line on tasks of special kinds, if there were any.
pub fn special_tasks(summary: &Summary) -> Option<String> {
    let tasks = &summary.tasks;
    let parts = [
        (
            tasks.taskwaits_depend,
            "taskwait with depend",
            "taskwaits with depend",
        ),
        (tasks.detached, "detachable task", "detachable tasks"),
        (tasks.fulfilled, "event fulfilled", "events fulfilled"),
        (tasks.suspended, "suspension", "suspensions"),
        (tasks.discarded, "task discarded", "tasks discarded"),
    ];
    let shown: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many)| {
            format!("{} {}", count(number), if number == 1 { one } else { many })
        })
        .collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// The number of single blocks, with their time where it is known.
pub fn singles(summary: &Summary) -> String {
    let blocks = counted(summary.singles, "single block");
    match summary.single_times.count {
        0 => format!("{blocks} executed"),
        _ => format!(
            "{blocks} executed, {} in them",
            super::super::units::time(summary.single_times.total_ns)
        ),
    }
}
