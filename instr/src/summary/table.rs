//! The summary for people: tables of plain characters, notes below.

use std::io::{self, Write};

use comfy_table::{
    Cell, CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle,
};

use super::constructs;
use super::model::{Place, Summary, Thread, Times};
use super::notes::Told;
use super::units::{count, counted, elide, share, size, time};

const LABEL_WIDTH: usize = 64;
/// Rows of a table; more threads share the last one, more of anything else is only counted.
pub(super) const MAX_ROWS: usize = 40;
/// A line below the header and nothing else.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction(' '))
    .header_separator(LineStyle::none().fill('-').junction(' '))
    .content_lines(ContentLineStyle::none().junction(' '));

/// Writes the tables of one process and of its forked children. `told` keeps notes from being repeated.
///
/// # Errors
///
/// Those of `out`.
pub fn write(
    summary: &Summary,
    colour: bool,
    told: &mut Told,
    out: &mut dyn Write,
) -> io::Result<()> {
    title(summary, colour, out)?;
    threads(summary, out)?;
    parallel_regions(summary, out)?;
    tasks(summary, out)?;
    work_sharing(summary, out)?;
    waiting(summary, out)?;
    user(summary, out)?;
    notes(summary, told, out)?;
    for child in &summary.children {
        writeln!(out)?;
        write(child, colour, told, out)?;
    }
    Ok(())
}

fn title(summary: &Summary, colour: bool, out: &mut dyn Write) -> io::Result<()> {
    let (bold, plain) = if colour {
        ("\x1b[1m", "\x1b[0m")
    } else {
        ("", "")
    };
    let threads = counted(summary.threads.len() as u64, "thread");
    let duration = time(summary.duration_ns);
    write!(
        out,
        "{bold}{}{plain} · {} · {threads} · {duration}",
        elide(&summary.program, LABEL_WIDTH),
        elide(&summary.target, LABEL_WIDTH)
    )?;
    match (summary.forked, summary.pid) {
        (true, Some(pid)) => writeln!(out, " · forked process {pid}"),
        _ => writeln!(out),
    }
}

fn threads(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let lost = summary.discarded > 0;
    let mut header = vec![
        "thread",
        "useful",
        "synchronization",
        "scheduling",
        "idle",
        "flush",
        "events",
    ];
    if lost {
        header.push("discarded");
    }
    let mut table = new_table(1, &header);
    let (shown, rest) = match summary.threads.len() {
        0..=MAX_ROWS => (&summary.threads[..], &[][..]),
        _ => summary.threads.split_at(MAX_ROWS - 1),
    };
    for thread in shown {
        table.add_row(thread_row(thread_label(thread), thread, lost));
    }
    if !rest.is_empty() {
        table.add_row(thread_row(
            format!("{} more", count(rest.len() as u64)),
            &sum(rest),
            lost,
        ));
    }
    print(&table, table.row_count(), out)
}

fn thread_label(thread: &Thread) -> String {
    match thread.name == format!("thread {}", thread.index) {
        true => thread.index.to_string(),
        false => format!("{} {}", thread.index, elide(&thread.name, LABEL_WIDTH)),
    }
}

fn thread_row(label: String, thread: &Thread, lost: bool) -> Vec<String> {
    let life = thread.life_ns();
    let mut row = vec![label];
    row.extend(thread.states().map(|ns| share(ns, life)));
    row.push(count(thread.events));
    if lost {
        row.push(count(thread.discarded));
    }
    row
}

/// Many threads as one.
fn sum(threads: &[Thread]) -> Thread {
    threads
        .iter()
        .fold(Thread::default(), |sum, thread| Thread {
            useful_ns: sum.useful_ns.saturating_add(thread.useful_ns),
            sync_ns: sum.sync_ns.saturating_add(thread.sync_ns),
            sched_ns: sum.sched_ns.saturating_add(thread.sched_ns),
            idle_ns: sum.idle_ns.saturating_add(thread.idle_ns),
            flush_ns: sum.flush_ns.saturating_add(thread.flush_ns),
            events: sum.events.saturating_add(thread.events),
            discarded: sum.discarded.saturating_add(thread.discarded),
            ..sum
        })
}

fn parallel_regions(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut table = new_table(
        1,
        &["parallel region", "count", "total", "min", "mean", "max"],
    );
    for region in summary.parallel_regions.iter().take(MAX_ROWS) {
        table.add_row(row(
            [label(&region.place), count(region.times.count)],
            region.times,
        ));
    }
    print(&table, summary.parallel_regions.len(), out)
}

fn tasks(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut table = new_table(
        1,
        &["task", "created", "executed", "total", "min", "mean", "max"],
    );
    for task in summary.task_functions.iter().take(MAX_ROWS) {
        let times = Times {
            count: task.executed,
            total_ns: task.total_ns,
            min_ns: task.min_ns,
            mean_ns: task.mean_ns,
            max_ns: task.max_ns,
        };
        table.add_row(row(
            [
                label(&task.place),
                count(task.created),
                count(task.executed),
            ],
            times,
        ));
    }
    print(&table, summary.task_functions.len(), out)?;
    if let Some(line) = constructs::table::special_tasks(summary) {
        writeln!(out, "{line}")?;
    }
    let all = &summary.tasks;
    if all.created > 0 || all.executed > 0 {
        writeln!(
            out,
            "{} created, {} executed ({} undeferred), {}",
            counted(all.created, "task"),
            count(all.executed),
            count(all.undeferred),
            counted(all.edges, "dependence"),
        )?;
    }
    Ok(())
}

fn work_sharing(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut table = new_table(
        2,
        &[
            "loop in",
            "schedule",
            "loops",
            "chunks",
            "thread total",
            "min",
            "mean",
            "max",
        ],
    );
    for item in summary.loops.iter().take(MAX_ROWS) {
        let head = [
            label(&item.place),
            item.schedule.to_owned(),
            count(item.instances),
            count(item.chunks),
        ];
        table.add_row(row(head, item.times));
    }
    print(&table, summary.loops.len(), out)?;
    let mut table = new_table(
        1,
        &[
            "sections in",
            "constructs",
            "sections",
            "thread total",
            "min",
            "mean",
            "max",
        ],
    );
    for item in summary.sections.iter().take(MAX_ROWS) {
        table.add_row(row(
            [
                label(&item.place),
                count(item.instances),
                count(item.executed),
            ],
            item.times,
        ));
    }
    print(&table, summary.sections.len(), out)?;
    if summary.singles > 0 {
        writeln!(out, "\n{}", constructs::table::singles(summary))?;
    }
    constructs::table::work_sharing(summary, out)
}

fn waiting(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut table = new_table(1, &["waiting", "count", "total", "min", "mean", "max"]);
    for sync in summary.syncs.iter().take(MAX_ROWS) {
        table.add_row(row(
            [sync.kind.to_owned(), count(sync.times.count)],
            sync.times,
        ));
    }
    print(&table, summary.syncs.len(), out)?;
    let mut table = new_table(2, &["mutual exclusion", "kind", "count", "waited", "held"]);
    for item in summary.criticals.iter().take(MAX_ROWS) {
        let name = elide(&item.name, LABEL_WIDTH);
        table.add_row([
            name,
            item.kind.to_owned(),
            count(item.count),
            time(item.wait_ns),
            time(item.held_ns),
        ]);
    }
    print(&table, summary.criticals.len(), out)?;
    constructs::table::rest(summary, out)
}

fn user(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    for (head, regions) in [("user region", &summary.regions), ("call", &summary.calls)] {
        let mut table = new_table(1, &[head, "count", "total", "min", "mean", "max"]);
        for region in regions.iter().take(MAX_ROWS) {
            table.add_row(row(
                [elide(&region.name, LABEL_WIDTH), count(region.times.count)],
                region.times,
            ));
        }
        print(&table, regions.len(), out)?;
    }
    let mut table = new_table(1, &["counter", "samples", "min", "max", "last"]);
    for counter in summary.counters.iter().take(MAX_ROWS) {
        let numbers = [counter.min, counter.max, counter.last].map(|value| value.to_string());
        table.add_row(
            [elide(&counter.name, LABEL_WIDTH), count(counter.count)]
                .into_iter()
                .chain(numbers),
        );
    }
    print(&table, summary.counters.len(), out)?;
    let mut table = new_table(1, &["user event type", "count"]);
    for event in summary.user_events.iter().take(MAX_ROWS) {
        table.add_row([event.kind.to_string(), count(event.count)]);
    }
    print(&table, summary.user_events.len(), out)
}

fn notes(summary: &Summary, told: &mut Told, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\n{}, {} ({:.1} bytes an event)",
        counted(summary.events, "event"),
        size(summary.bytes),
        summary.bytes_per_event
    )?;
    for note in super::notes::of(summary, told) {
        writeln!(out, "note: {note}")?;
    }
    Ok(())
}

pub(super) fn label(place: &Place) -> String {
    elide(&place.label, LABEL_WIDTH)
}

pub(super) fn row<const N: usize>(head: [String; N], times: Times) -> Vec<Cell> {
    let tail = [times.total_ns, times.min_ns, times.mean_ns, times.max_ns].map(time);
    head.into_iter().chain(tail).map(Cell::new).collect()
}

/// A table whose first `left` columns hold text and whose other columns hold numbers.
pub(crate) fn new_table(left: usize, header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .set_content_arrangement(ContentArrangement::Disabled)
        .load_style(STYLE)
        .set_header(header);
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        column.set_cell_alignment(if at < left {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table
}

/// Prints a table with a blank line before it; one without rows is left out. `rows` is how many there would be.
pub(super) fn print(table: &Table, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    if table.row_count() == 0 {
        return Ok(());
    }
    for line in std::iter::once(String::new()).chain(table.lines()) {
        writeln!(out, "{}", line.trim_end())?;
    }
    match rows.saturating_sub(table.row_count()) {
        0 => Ok(()),
        more => writeln!(
            out,
            "... and {} more (--json shows all)",
            count(more as u64)
        ),
    }
}
