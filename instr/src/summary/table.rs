//! The summary for people: what comes first, then the sections that were asked for, then notes.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::constructs;
use super::first;
use super::load;
use super::memory;
use super::model::{Critical, Function, Place, Summary, Thread, Times};
use super::notes::Told;
use super::processes;
use super::samples;
use super::units::{brief, count, counted, elide, percent, share, time};
use crate::page::Page;
use crate::sheet::Sheet;

const LABEL_WIDTH: usize = 64;
/// Names of C++ functions may be longer than a screen.
const MAX_NAME: usize = 120;

/// A part of the summary that can be asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// States of threads, processors.
    Threads,
    /// Who ran on which processor, of the whole tree of processes.
    Processors,
    /// The efficiency tree.
    Efficiency,
    /// Parallel regions and their load.
    Regions,
    /// Explicit tasks and their graph.
    Tasks,
    /// Loops, sections, single …
    Loops,
    /// Barriers, locks …
    Waiting,
    /// Heap, mappings, stacks.
    Memory,
    /// Functions of languages.
    Functions,
    /// Functions by samples.
    Samples,
    /// Sensors, energy, power, counters of threads.
    Sensors,
    /// What the launcher read of the machine and of processes.
    Series,
    /// What the program itself marks: regions, counters, events; described calls.
    User,
}

impl Section {
    /// All, in the order of the page.
    pub const ALL: [Self; 13] = [
        Self::Threads,
        Self::Processors,
        Self::Efficiency,
        Self::Regions,
        Self::Tasks,
        Self::Loops,
        Self::Waiting,
        Self::Memory,
        Self::Functions,
        Self::Samples,
        Self::Sensors,
        Self::Series,
        Self::User,
    ];

    /// The option that shows it.
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Self::Threads => "--threads",
            Self::Processors => "--processors",
            Self::Efficiency => "--efficiency",
            Self::Regions => "--regions",
            Self::Tasks => "--tasks",
            Self::Loops => "--loops",
            Self::Waiting => "--waiting",
            Self::Memory => "--memory",
            Self::Functions => "--functions",
            Self::Samples => "--samples",
            Self::Sensors => "--sensors",
            Self::Series => "--series",
            Self::User => "--user",
        }
    }

    /// Writes its tables; nothing where the trace has nothing for it.
    ///
    /// # Errors
    ///
    /// Those of the page.
    pub fn write(self, summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
        match self {
            Self::Threads => {
                threads(summary, page)?;
                super::threads::table::births(summary, page)?;
                super::switches::table::write(summary, page)
            }
            Self::Processors => match &summary.core_allocation {
                Some(found) => crate::processors::table::write(found, page),
                None => Ok(()),
            },
            Self::Efficiency => load::table::efficiency(summary, page),
            Self::Regions => {
                parallel_regions(summary, page)?;
                load::table::regions(summary, page)
            }
            Self::Tasks => tasks(summary, page),
            Self::Loops => work_sharing(summary, page),
            Self::Waiting => waiting(summary, page),
            Self::Memory => {
                memory::table::write(summary, page)?;
                constructs::table::allocations(summary, page)
            }
            Self::Functions => functions(summary, page),
            Self::Samples => samples::table::write(summary, page),
            Self::Sensors => {
                super::sensors::table::write(summary, page)?;
                thread_counters(summary, page)
            }
            Self::Series => match &summary.series {
                Some(found) => crate::series::table::write(found, page),
                None => Ok(()),
            },
            Self::User => user(summary, page),
        }
    }
}

/// Writes what is to be seen of one process and of its forked children. `told` keeps notes from being repeated.
///
/// # Errors
///
/// Those of the page.
pub fn write(
    summary: &Summary,
    sections: &[Section],
    told: &mut Told,
    page: &mut Page<'_>,
) -> io::Result<()> {
    first::title(summary, page)?;
    for loss in super::notes::losses(summary) {
        page.paragraph("warning: ", &loss)?;
    }
    if sections.is_empty() || sections.len() == Section::ALL.len() {
        first::screen(summary, page)?;
    }
    if sections.is_empty() && summary.is_only_processors() {
        Section::Processors.write(summary, page)?;
    }
    for section in sections {
        let mut written = Vec::new();
        let mut part = Page::new(&mut written, page.width, page.rows, page.colour);
        section.write(summary, &mut part)?;
        if written.is_empty() && sections.len() < Section::ALL.len() {
            let what = section.option().trim_start_matches('-');
            writeln!(page, "\n{what}: {}", first::nothing(*section, summary))?;
        }
        page.write_all(&written)?;
    }
    let detailed = [Section::Regions, Section::Loops];
    let notes = super::notes::of(
        summary,
        told,
        detailed.iter().any(|section| sections.contains(section)),
    );
    if !notes.is_empty() {
        writeln!(page)?;
    }
    for note in notes {
        page.paragraph("note: ", &note)?;
    }
    if sections.is_empty() && summary.children.is_empty() && !summary.forked && !summary.started {
        first::next(summary, page)?;
    }
    if sections.is_empty() && processes::are_many(summary) {
        return processes::list(summary, page);
    }
    let shown = page.rows.max(processes::MOST_SCREENS);
    for child in summary.children.iter().take(shown) {
        writeln!(page)?;
        write(child, sections, told, page)?;
    }
    match summary.children.len().saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(page, "... and {}", counted(more as u64, "more process")),
    }
}

fn threads(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let timed = threads_as(summary, page.rows, true, false);
    if timed.fits(page.width) {
        return timed.print_all(page);
    }
    let shares = threads_as(summary, page.rows, false, false);
    match shares.fits(page.width) {
        true => shares.print_all(page),
        false => threads_as(summary, page.rows, false, true).print_all(page),
    }
}

/// The table of threads, `timed` with times beside the percentages, `short` with short names of states.
fn threads_as(summary: &Summary, rows: usize, timed: bool, short: bool) -> Sheet {
    let columns = Columns {
        timed,
        ..Columns::of(summary)
    };
    let mut header = vec!["thread"];
    header.extend((!timed).then_some("lived"));
    header.push("useful");
    header.extend(match short {
        false => ["synchronization", "scheduling"],
        true => ["sync", "sched"],
    });
    header.push("idle");
    header.extend(columns.flush.then_some("flush"));
    header.extend(columns.ready.then_some("ready"));
    header.push("events");
    header.extend(columns.lost.then_some("discarded"));
    let mut table = Sheet::new(1, &header);
    let rows = rows.max(2);
    let (shown, rest) = match summary.threads.len() > rows {
        false => (&summary.threads[..], &[][..]),
        true => summary.threads.split_at(rows - 1),
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
    table
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
    /// Times beside percentages.
    timed: bool,
    flush: bool,
    ready: bool,
    lost: bool,
}

impl Columns {
    fn of(summary: &Summary) -> Self {
        let any = |of: fn(&Thread) -> bool| summary.threads.iter().any(of);
        Self {
            timed: true,
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
    let part = |ns: u64| match columns.timed {
        true => share(ns, life),
        false if life == 0 => String::new(),
        false => percent(ns as f64 / life as f64),
    };
    let mut row = vec![label];
    row.extend((!columns.timed).then(|| time(life)));
    let [states @ .., flush] = thread.states();
    row.extend(states.map(part));
    row.extend(columns.flush.then(|| part(flush)));
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

fn parallel_regions(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::of_places(
        1,
        &["parallel region", "count", "total", "min", "mean", "max"],
    );
    for region in summary.parallel_regions.iter().take(page.rows) {
        table.add_row(row(
            [label(&region.place), count(region.times.count)],
            region.times,
        ));
    }
    table.print(summary.parallel_regions.len(), page)
}

fn tasks(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::of_places(
        1,
        &[
            "task",
            "created",
            "executed",
            "user code",
            "total",
            "min",
            "mean",
            "max",
        ],
    );
    for task in summary.task_functions.iter().take(page.rows) {
        let times = [task.total_ns, task.min_ns, task.mean_ns, task.max_ns];
        let head = [
            label(&task.place),
            count(task.created),
            count(task.executed),
            time(task.work_ns),
        ];
        table.add_row(head.into_iter().chain(times.map(time)));
    }
    table.print(summary.task_functions.len(), page)?;
    if let Some(line) = constructs::table::special_tasks(summary) {
        page.paragraph("", &line)?;
    }
    let all = &summary.tasks;
    if all.created > 0 || all.executed > 0 {
        let numbers = format!(
            "{} created, {} executed ({} undeferred), {}",
            counted(all.created, "task"),
            count(all.executed),
            count(all.undeferred),
            counted(all.edges, "dependence"),
        );
        page.paragraph("", &numbers)?;
    }
    load::table::graph(summary, page)
}

fn work_sharing(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    loops(summary, page)?;
    let mut table = Sheet::of_places(
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
    for item in summary.sections.iter().take(page.rows) {
        table.add_row(row(
            [
                label(&item.place),
                count(item.instances),
                count(item.executed),
            ],
            item.times,
        ));
    }
    table.print(summary.sections.len(), page)?;
    if summary.singles > 0 {
        writeln!(page, "\n{}", constructs::table::singles(summary))?;
    }
    constructs::table::work_sharing(summary, page)
}

fn loops(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::of_places(
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
    for item in summary.loops.iter().take(page.rows) {
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
    table.print(summary.loops.len(), page)?;
    let mut table = Sheet::of_places(
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
    for item in chunked().take(page.rows) {
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
    table.print(chunked().count(), page)
}

fn waiting(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::new(1, &["waiting", "count", "total", "min", "mean", "max"]);
    for sync in summary.syncs.iter().take(page.rows) {
        table.add_row(row(
            [sync.kind.to_owned(), count(sync.times.count)],
            sync.times,
        ));
    }
    table.print(summary.syncs.len(), page)?;
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
    for item in summary.criticals.iter().take(page.rows) {
        table.add_row([
            elide(&item.name, LABEL_WIDTH),
            item.kind.to_owned(),
            count(item.count),
            share_of_count(item.contended, item.count),
            time(item.wait_ns),
            time(item.wait_max_ns),
            held(item, item.held_ns),
            held(item, item.held_max_ns),
        ]);
    }
    table.print(summary.criticals.len(), page)?;
    super::threads::table::calls(summary, page)?;
    constructs::table::rest(summary, page)
}

fn functions(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let heads = ["function", "calls", "own", "total", "longest"];
    let mut table = Sheet::of_places(1, &heads);
    let all = summary.functions.iter();
    let functions: Vec<_> = all.filter(|one| one.suspended_ns.is_none()).collect();
    for function in functions.iter().take(page.rows) {
        let times = [function.own_ns, function.total_ns, function.max_ns].map(time);
        table.add_row(
            [function_label(function), count(function.calls)]
                .into_iter()
                .chain(times),
        );
    }
    table.print(functions.len(), page)?;
    counters_of_functions(summary, page)?;
    let (table, total) = asynchronous(summary, page.rows, "tasks of event loops");
    table.print(total, page)
}

/// A table for each counter that was read at functions, that with the most of it first.
fn counters_of_functions(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let counters = summary.functions.first().map(|one| one.counters.as_slice());
    for (at, counter) in counters.unwrap_or_default().iter().enumerate() {
        let all = summary.functions.iter();
        let mut all: Vec<_> = all
            .filter_map(|one| Some((one, one.counters.get(at)?)))
            .filter(|(_, counted)| counted.total > 0)
            .collect();
        all.sort_by_key(|(_, counted)| Reverse((counted.own, counted.total)));
        let number = |value: u64| match counter.unit.as_str() {
            "ns" => time(value),
            _ => count(value),
        };
        let title = format!("{} in", counter.name);
        let mut table = Sheet::of_places(1, &[&title, "calls", "own", "total", "total a call"]);
        for (function, counted) in all.iter().take(page.rows) {
            let calls = function.calls.max(1);
            let a_call = match counter.unit.as_str() {
                "ns" => time(counted.total / calls),
                _ => format!("{:.1}", counted.total as f64 / calls as f64),
            };
            table.add_row([
                function_label(function),
                count(function.calls),
                number(counted.own),
                number(counted.total),
                a_call,
            ]);
        }
        table.print(all.len(), page)?;
    }
    Ok(())
}

/// The first `rows` of tasks of event loops and what they await, that with the longest suspension first; and how many there are.
pub(super) fn asynchronous(summary: &Summary, rows: usize, title: &str) -> (Sheet, usize) {
    let all = summary.functions.iter();
    let mut all: Vec<_> = all
        .filter_map(|one| Some((one.suspended_ns?, one)))
        .collect();
    all.sort_by_key(|(ns, _)| Reverse(*ns));
    let heads = [title, "count", "resumed", "running", "suspended"];
    let mut table = Sheet::of_places(1, &heads);
    for (suspended, function) in all.iter().take(rows) {
        table.add_row([
            function_label(function),
            count(function.calls),
            count(function.resumptions),
            time(function.total_ns),
            time(*suspended),
        ]);
    }
    (table, all.len())
}

/// `work [app.py:12]`.
pub(super) fn function_label(function: &Function) -> String {
    let name = brief(&function.name, MAX_NAME);
    match (&function.file, function.line) {
        (Some(file), Some(line)) => {
            let short = file.rsplit('/').next().unwrap_or(file);
            format!("{name} [{}:{line}]", elide(short, LABEL_WIDTH))
        }
        _ => name,
    }
}

fn user(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    for (head, regions) in [("user region", &summary.regions), ("call", &summary.calls)] {
        let mut table = Sheet::new(1, &[head, "count", "total", "min", "mean", "max"]);
        for region in regions.iter().take(page.rows) {
            table.add_row(row(
                [elide(&region.name, LABEL_WIDTH), count(region.times.count)],
                region.times,
            ));
        }
        table.print(regions.len(), page)?;
    }
    let mut table = Sheet::new(1, &["counter", "samples", "min", "max", "last"]);
    let of_program = || summary.counters.iter().filter(|c| c.source == "program");
    for counter in of_program().take(page.rows) {
        let numbers = [counter.min, counter.max, counter.last].map(|value| value.to_string());
        table.add_row(
            [elide(&counter.name, LABEL_WIDTH), count(counter.count)]
                .into_iter()
                .chain(numbers),
        );
    }
    table.print(of_program().count(), page)?;
    let mut table = Sheet::new(1, &["user event type", "count"]);
    for event in summary.user_events.iter().take(page.rows) {
        table.add_row([event.kind.to_string(), count(event.count)]);
    }
    table.print(summary.user_events.len(), page)
}

fn thread_counters(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
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
    table.print_all(page)
}

/// Whole but for a limit; a [`Sheet`] shortens what does not fit.
pub(super) fn label(place: &Place) -> String {
    brief(&place.label, MAX_NAME)
}

/// A time for which a lock was held, if that is recorded.
fn held(lock: &Critical, ns: u64) -> String {
    match lock.has_waits_only() {
        true => "-".to_owned(),
        false => time(ns),
    }
}

/// A number and its share of another.
pub(super) fn share_of_count(part: u64, whole: u64) -> String {
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
