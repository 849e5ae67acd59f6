//! The summary for people: tables of plain characters, notes below.

use std::io::{self, Write};

use super::constructs;
use super::load;
use super::memory;
use super::model::{Place, Summary, Thread, Times};
use super::notes::Told;
use super::samples;
pub(crate) use super::sheet::new_table;
use super::sheet::wrap;
pub(super) use super::sheet::{MAX_ROWS, Sheet};
use super::units::{count, counted, elide, percent, share, size, time};

const LABEL_WIDTH: usize = 64;
const MAX_LABEL: usize = 200;

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
    verdict(summary, out)?;
    threads(summary, out)?;
    load::table::efficiency(summary, out)?;
    parallel_regions(summary, out)?;
    load::table::regions(summary, out)?;
    tasks(summary, out)?;
    work_sharing(summary, out)?;
    waiting(summary, out)?;
    memory::table::write(summary, out)?;
    samples::table::write(summary, out)?;
    user(summary, out)?;
    super::sensors::table::write(summary, out)?;
    super::switches::table::write(summary, out)?;
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
    let mut threads = counted(summary.threads.len() as u64, "thread");
    if let Some(processors) = summary.processors {
        threads = format!("{threads} on {}", counted(processors, "processor"));
    }
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

/// The first thing to read.
fn verdict(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(verdict) = &summary.verdict else {
        return Ok(());
    };
    wrap("", &verdict.text, out)?;
    match &verdict.region {
        Some(region) if summary.parallel_regions.len() > 1 => {
            wrap("", &format!("most of it in {region}"), out)
        }
        _ => Ok(()),
    }
}

fn threads(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let columns = Columns::of(summary);
    let mut header = vec!["thread", "useful", "synchronization", "scheduling", "idle"];
    header.extend(columns.flush.then_some("flush"));
    header.extend(columns.ready.then_some("ready"));
    header.push("events");
    header.extend(columns.lost.then_some("discarded"));
    let mut table = Sheet::new(1, &header);
    let (shown, rest) = match summary.threads.len() {
        0..=MAX_ROWS => (&summary.threads[..], &[][..]),
        _ => summary.threads.split_at(MAX_ROWS - 1),
    };
    for thread in shown {
        table.add_row(thread_row(thread_label(thread), thread, columns));
    }
    if !rest.is_empty() {
        table.add_row(thread_row(
            format!("{} more", count(rest.len() as u64)),
            &sum(rest),
            columns,
        ));
    }
    table.print_all(out)
}

fn thread_label(thread: &Thread) -> String {
    match thread.name == format!("thread {}", thread.index) {
        true => thread.index.to_string(),
        false => format!("{} {}", thread.index, elide(&thread.name, LABEL_WIDTH)),
    }
}

/// Columns of the table of threads that not every trace needs.
#[derive(Debug, Clone, Copy)]
struct Columns {
    flush: bool,
    ready: bool,
    lost: bool,
}

impl Columns {
    fn of(summary: &Summary) -> Self {
        let any = |of: fn(&Thread) -> bool| summary.threads.iter().any(of);
        Self {
            flush: any(|thread| thread.flush_ns > 0),
            // One part in a hundred of a thread's time.
            ready: any(|thread| {
                let wait = thread.processor_wait_ns.unwrap_or(0);
                wait > 0 && wait >= thread.life_ns() / 100
            }),
            lost: summary.discarded > 0,
        }
    }
}

fn thread_row(label: String, thread: &Thread, columns: Columns) -> Vec<String> {
    let life = thread.life_ns();
    let mut row = vec![label];
    let [states @ .., flush] = thread.states();
    row.extend(states.map(|ns| share(ns, life)));
    row.extend(columns.flush.then(|| share(flush, life)));
    row.extend(columns.ready.then(|| match thread.processor_wait_ns {
        Some(ns) if life > 0 => percent(ns as f64 / life as f64),
        _ => String::new(),
    }));
    row.push(count(thread.events));
    row.extend(columns.lost.then(|| count(thread.discarded)));
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
            processor_wait_ns: match (sum.processor_wait_ns, thread.processor_wait_ns) {
                (Some(sum), Some(wait)) => Some(sum.saturating_add(wait)),
                (sum, wait) => sum.or(wait),
            },
            events: sum.events.saturating_add(thread.events),
            discarded: sum.discarded.saturating_add(thread.discarded),
            ..sum
        })
}

fn parallel_regions(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Sheet::new(
        1,
        &["parallel region", "count", "total", "min", "mean", "max"],
    );
    for region in summary.parallel_regions.iter().take(MAX_ROWS) {
        table.add_row(row(
            [label(&region.place), count(region.times.count)],
            region.times,
        ));
    }
    table.print(summary.parallel_regions.len(), out)
}

fn tasks(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Sheet::new(
        1,
        &["task", "created", "executed", "total", "min", "mean", "max"],
    );
    for task in summary.task_functions.iter().take(MAX_ROWS) {
        let times = [task.total_ns, task.min_ns, task.mean_ns, task.max_ns];
        let head = [
            label(&task.place),
            count(task.created),
            count(task.executed),
        ];
        table.add_row(head.into_iter().chain(times.map(time)));
    }
    table.print(summary.task_functions.len(), out)?;
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
    load::table::graph(summary, out)
}

fn work_sharing(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    loops(summary, out)?;
    let mut table = Sheet::new(
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
    table.print(summary.sections.len(), out)?;
    if summary.singles > 0 {
        writeln!(out, "\n{}", constructs::table::singles(summary))?;
    }
    constructs::table::work_sharing(summary, out)
}

fn loops(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Sheet::new(
        2,
        &[
            "loop in",
            "schedule",
            "loops",
            "chunks",
            "thread total",
            "fetching",
            "mean",
            "max",
        ],
    );
    for item in summary.loops.iter().take(MAX_ROWS) {
        let times = item.times;
        table.add_row([
            label(&item.place),
            item.schedule.to_owned(),
            count(item.instances),
            count(item.chunks),
            time(times.total_ns),
            item.fetch_ns.map_or(String::new(), time),
            time(times.mean_ns()),
            time(times.max_ns),
        ]);
    }
    table.print(summary.loops.len(), out)?;
    let mut table = Sheet::new(
        2,
        &[
            "chunk of loop in",
            "schedule",
            "iterations",
            "mean",
            "time min",
            "mean",
            "max",
        ],
    );
    let chunked = || summary.loops.iter().filter(|item| item.chunks > 0);
    for item in chunked().take(MAX_ROWS) {
        let (sizes, times) = (item.chunk_iterations, item.chunk_times);
        table.add_row([
            label(&item.place),
            item.schedule.to_owned(),
            match sizes.min == sizes.max {
                true => count(sizes.min),
                false => format!("{} - {}", count(sizes.min), count(sizes.max)),
            },
            count(sizes.mean()),
            time(times.min_ns),
            time(times.mean_ns()),
            time(times.max_ns),
        ]);
    }
    table.print(chunked().count(), out)
}

fn waiting(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Sheet::new(1, &["waiting", "count", "total", "min", "mean", "max"]);
    for sync in summary.syncs.iter().take(MAX_ROWS) {
        table.add_row(row(
            [sync.kind.to_owned(), count(sync.times.count)],
            sync.times,
        ));
    }
    table.print(summary.syncs.len(), out)?;
    let mut table = Sheet::new(
        2,
        &[
            "mutual exclusion",
            "kind",
            "count",
            "contended",
            "waited",
            "longest",
            "held",
            "longest",
        ],
    );
    for item in summary.criticals.iter().take(MAX_ROWS) {
        table.add_row([
            elide(&item.name, LABEL_WIDTH),
            item.kind.to_owned(),
            count(item.count),
            share_of_count(item.contended, item.count),
            time(item.wait_ns),
            time(item.wait_max_ns),
            time(item.held_ns),
            time(item.held_max_ns),
        ]);
    }
    table.print(summary.criticals.len(), out)?;
    constructs::table::rest(summary, out)
}

fn user(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    for (head, regions) in [("user region", &summary.regions), ("call", &summary.calls)] {
        let mut table = Sheet::new(1, &[head, "count", "total", "min", "mean", "max"]);
        for region in regions.iter().take(MAX_ROWS) {
            table.add_row(row(
                [elide(&region.name, LABEL_WIDTH), count(region.times.count)],
                region.times,
            ));
        }
        table.print(regions.len(), out)?;
    }
    let mut table = Sheet::new(1, &["counter", "samples", "min", "max", "last"]);
    let of_program = || summary.counters.iter().filter(|c| c.source == "program");
    for counter in of_program().take(MAX_ROWS) {
        let numbers = [counter.min, counter.max, counter.last].map(|value| value.to_string());
        table.add_row(
            [elide(&counter.name, LABEL_WIDTH), count(counter.count)]
                .into_iter()
                .chain(numbers),
        );
    }
    table.print(of_program().count(), out)?;
    thread_counters(summary, out)?;
    let mut table = Sheet::new(1, &["user event type", "count"]);
    for event in summary.user_events.iter().take(MAX_ROWS) {
        table.add_row([event.kind.to_string(), count(event.count)]);
    }
    table.print(summary.user_events.len(), out)
}

fn thread_counters(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Sheet::new(
        1,
        &[
            "counter of threads",
            "unit",
            "total",
            "least of a thread",
            "most of a thread",
        ],
    );
    for counter in summary.counters.iter().filter(|c| c.source == "thread") {
        let unit = counter.unit.clone().unwrap_or_default();
        let numbers = match counter.total {
            Some(total) => [total, counter.min, counter.max].map(|value| value.to_string()),
            None => [(); 3].map(|()| "-".to_owned()),
        };
        table.add_row(
            [elide(&counter.name, LABEL_WIDTH), unit]
                .into_iter()
                .chain(numbers),
        );
    }
    table.print_all(out)
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

/// Whole but for a limit; a [`Sheet`] shortens what does not fit.
pub(super) fn label(place: &Place) -> String {
    elide(&place.label, MAX_LABEL)
}

/// A number and its share of another.
fn share_of_count(part: u64, whole: u64) -> String {
    match part {
        0 => "0".to_owned(),
        _ => format!(
            "{} {:>6}",
            count(part),
            percent(part as f64 / whole.max(1) as f64)
        ),
    }
}

pub(super) fn row<const N: usize>(head: [String; N], times: Times) -> Vec<String> {
    let tail = [times.total_ns, times.min_ns, times.mean_ns(), times.max_ns].map(time);
    head.into_iter().chain(tail).collect()
}
