//! For people.

use std::io;

use super::super::model::{Summary, Thread};
use super::super::table::{label, row, share_of_count};
use super::super::units::{count, counted, elide, time};
use crate::page::Page;
use crate::sheet::Sheet;

const NAME_WIDTH: usize = 40;

/// Who made which thread.
///
/// # Errors
///
/// Those of the page.
pub fn births(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let born = || {
        let all = summary.threads.iter();
        all.filter_map(|thread: &Thread| Some((thread, thread.birth.as_ref()?)))
    };
    let mut table = Sheet::of_places(1, &["thread", "made by", "lived"]);
    for (thread, birth) in born().take(page.rows) {
        let function = format!("{} {}", thread.index, label(&birth.function));
        let creator = birth.creator.to_string();
        table.add_row([function, creator, time(thread.life_ns())]);
    }
    table.print(born().count(), page)?;
    match summary.threads_not_made {
        0 => Ok(()),
        number => {
            let text = format!("{} could not be made", counted(number, "thread"));
            page.paragraph("", &text)
        }
    }
}

/// Locks and waits by call.
///
/// # Errors
///
/// Those of the page.
pub fn calls(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let calls = || {
        let locks = summary.criticals.iter();
        locks.flat_map(|lock| lock.calls.iter().map(move |call| (lock, call)))
    };
    let mut table = Sheet::of_places(1, &["call", "of", "count", "contended", "waited", "held"]);
    for (lock, call) in calls().take(page.rows) {
        table.add_row([
            label(&call.place),
            format!("{} {}", lock.kind, elide(&lock.name, NAME_WIDTH)),
            count(call.count),
            share_of_count(call.contended, call.count),
            time(call.wait_ns),
            match lock.has_waits_only() {
                true => "-".to_owned(),
                false => time(call.held_ns),
            },
        ]);
    }
    table.print(calls().count(), page)?;
    let mut table = Sheet::of_places(1, &["call", "for", "count", "total", "min", "mean", "max"]);
    for wait in summary.waits.iter().take(page.rows) {
        let of = match wait.kind {
            "join" => wait.object.clone(),
            kind => format!("{kind} {}", elide(&wait.object, NAME_WIDTH)),
        };
        table.add_row(row(
            [label(&wait.place), of, count(wait.times.count)],
            wait.times,
        ));
    }
    table.print(summary.waits.len(), page)
}
