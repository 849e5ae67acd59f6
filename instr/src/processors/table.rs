//! For people.

use std::cmp::Reverse;
use std::io::{self, Write as _};

use instr_analysis::processors::model::{Allocation, Process, Thread, Times, Who};

use crate::page::Page;
use crate::sheet::Sheet;
use crate::summary::units::{count, counted, elide, percent, time};

/// Characters of a program with its arguments.
const COMMAND: usize = 60;
/// Characters of a bar.
const BAR: usize = 24;
/// Characters of a time line.
const LINE: usize = 30;
/// Heights of a time line.
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// All tables.
///
/// # Errors
///
/// Those of the page.
pub(crate) fn write(found: &Allocation, page: &mut Page<'_>) -> io::Result<()> {
    if found.recorded == "sums" {
        return sums(found, page);
    }
    applications(found, page)?;
    processes(found, page)?;
    threads(found, page)?;
    processors(found, page)?;
    in_use(found, page)?;
    interference(found, page)?;
    woken(found, page)?;
    notes(found, page)
}

/// One line for the first screen.
pub(crate) fn line(found: &Allocation) -> String {
    if found.recorded == "sums" {
        return "not recorded (--processors says why)".to_owned();
    }
    let times = all(found);
    let lived = found.duration_ns.max(1);
    let mut text = format!(
        "{:.1} of {} in use on average by {}",
        times.on_processor_ns as f64 / lived as f64,
        found.processors.len(),
        processes_of(found),
    );
    text += &format!(
        "; ready without one for {}, preempted {}",
        time(times.ready_ns),
        counted(times.involuntary, "time")
    );
    text
}

/// How many processes all applications have.
fn processes_of(found: &Allocation) -> String {
    match found
        .applications
        .iter()
        .map(|one| one.processes.len() as u64)
        .sum()
    {
        1 => "1 process".to_owned(),
        several => format!("{} processes", count(several)),
    }
}

/// Threads of all applications.
pub(crate) fn thread_count(found: &Allocation) -> u64 {
    let processes = found.applications.iter().flat_map(|one| &one.processes);
    processes.map(|process| process.threads.len() as u64).sum()
}

fn all(found: &Allocation) -> Times {
    let mut sum = Times::default();
    found
        .applications
        .iter()
        .for_each(|one| sum.add(&one.times));
    sum
}

/// Where perf was refused or not asked.
fn sums(found: &Allocation, page: &mut Page<'_>) -> io::Result<()> {
    writeln!(page)?;
    let why = found
        .trouble
        .as_deref()
        .unwrap_or("INSTR_SWITCHES=0 left them out");
    page.paragraph(
        "note: ",
        &format!("context switches were not recorded: {why}; what the system counted cannot show who ran where, who waited, or for whom"),
    )?;
    let mut table = Sheet::new(
        1,
        &["program", "user code", "kernel", "waited", "preempted"],
    );
    for one in &found.applications {
        let Some(counted) = &one.counted else {
            continue;
        };
        table.add_row([
            command(&one.program, &one.arguments),
            time(counted.user_ns),
            time(counted.system_ns),
            count(counted.voluntary),
            count(counted.involuntary),
        ]);
    }
    table.print_all(page)
}

fn command(program: &str, arguments: &str) -> String {
    elide(format!("{program} {arguments}").trim_end(), COMMAND)
}

fn cells(times: &Times) -> [String; 6] {
    [
        time(times.on_processor_ns),
        time(times.ready_ns),
        time(times.blocked_ns),
        count(times.voluntary),
        count(times.involuntary),
        count(times.migrations),
    ]
}

const TIMES: [&str; 6] = [
    "on processor",
    "ready",
    "blocked",
    "waits",
    "preempted",
    "moved",
];

fn header<'a>(first: &[&'a str]) -> Vec<&'a str> {
    first.iter().copied().chain(TIMES).collect()
}

fn applications(found: &Allocation, page: &mut Page<'_>) -> io::Result<()> {
    if found.applications.len() < 2 {
        return Ok(());
    }
    let mut table = Sheet::new(1, &header(&["application", "pid"]));
    for one in found.applications.iter().take(page.rows) {
        let first = [command(&one.program, &one.arguments), one.pid.to_string()];
        table.add_row(first.into_iter().chain(cells(&one.times)));
    }
    table.print(found.applications.len(), page)
}

fn processes(found: &Allocation, page: &mut Page<'_>) -> io::Result<()> {
    let all = found.applications.iter().flat_map(|one| &one.processes);
    let mut all: Vec<&Process> = all.collect();
    all.sort_by_key(|process| Reverse(process.times.on_processor_ns));
    let mut table = Sheet::new(1, &header(&["process", "pid", "parent"]));
    for process in all.iter().take(page.rows) {
        let name = match process.arguments.is_empty() {
            true => &process.name,
            false => &process.arguments,
        };
        let parent = process
            .parent
            .map_or(String::new(), |parent| parent.to_string());
        let first = [elide(name, COMMAND), process.pid.to_string(), parent];
        table.add_row(first.into_iter().chain(cells(&process.times)));
    }
    table.print(all.len(), page)
}

fn threads(found: &Allocation, page: &mut Page<'_>) -> io::Result<()> {
    let processes = || found.applications.iter().flat_map(|one| &one.processes);
    if processes().all(|process| process.threads.len() < 2) {
        return Ok(());
    }
    let mut all: Vec<&Thread> = processes().flat_map(|process| &process.threads).collect();
    all.sort_by_key(|thread| Reverse(thread.times.on_processor_ns));
    let mut head = header(&["thread", "tid"]);
    head.push("processors");
    let mut table = Sheet::new(1, &head);
    for thread in all.iter().take(page.rows) {
        let first = [elide(&thread.name, 20), thread.tid.to_string()];
        let row = first.into_iter().chain(cells(&thread.times));
        table.add_row(row.chain([where_it_ran(thread)]));
    }
    table.print(all.len(), page)
}

/// The processors that a thread used most, with their shares.
fn where_it_ran(thread: &Thread) -> String {
    let mut used = thread.processors.clone();
    used.sort_by_key(|on| Reverse(on.ns));
    let whole = thread.times.on_processor_ns.max(1);
    let shown = used.iter().take(2).map(|on| {
        let share = on.ns as f64 * 100.0 / whole as f64;
        format!("{}:{share:.0}%", on.processor)
    });
    let shown: Vec<_> = shown.collect();
    match used.len() {
        0..=2 => shown.join(" "),
        more => format!("{} +{}", shown.join(" "), more - 2),
    }
}

fn processors(found: &Allocation, page: &mut Page<'_>) -> io::Result<()> {
    let is_system = found.processors.iter().any(|at| at.others_ns.is_some());
    let mut head = vec!["processor", "busy"];
    head.extend(is_system.then_some("others"));
    head.extend(["switches", "over time"]);
    let mut table = Sheet::new(0, &head).with_bars();
    let share = |ns: u64| percent(ns as f64 / found.duration_ns.max(1) as f64);
    for at in found.processors.iter().take(page.rows) {
        let mut row = vec![at.processor.to_string(), share(sum(&at.busy_ns))];
        row.extend(at.others_ns.map(share));
        row.extend([count(at.switches), drawn(&at.busy, 1.0)]);
        table.add_row(row);
    }
    table.print(found.processors.len(), page)
}

/// What a trace holds is not trusted to have a sum.
fn sum(values: &[u64]) -> u64 {
    values
        .iter()
        .fold(0, |sum, value| value.saturating_add(sum))
}

/// Values as heights of characters.
fn drawn(values: &[f64], most: f64) -> String {
    let each = values.len().div_ceil(LINE).max(1);
    let height = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        let height = (mean / most * 8.0).round() as usize;
        // What is there can be seen.
        let least = usize::from(mean > 0.0);
        HEIGHTS[height.clamp(least, 8)]
    };
    values.chunks(each).map(height).collect()
}

fn in_use(found: &Allocation, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::new(0, &["in use at once", "share", "time", ""]).with_bars();
    let whole = sum(&found.in_use_ns).max(1);
    for (number, ns) in found.in_use_ns.iter().enumerate().take(page.rows) {
        let share = *ns as f64 / whole as f64;
        let filled = (share * BAR as f64).round() as usize;
        table.add_row([
            number.to_string(),
            percent(share),
            time(*ns),
            "█".repeat(filled.min(BAR)),
        ]);
    }
    table.print(found.in_use_ns.len(), page)?;
    let most = found.processors.len().max(1) as f64;
    writeln!(page, "over time  {}", drawn(&found.in_use, most))
}

/// A thread by its name and number, and its application where there are several.
fn label(found: &Allocation, who: &Who) -> String {
    let name = match who.name.is_empty() {
        true => who.tid.to_string(),
        false => format!("{} {}", elide(&who.name, 20), who.tid),
    };
    match who.application.filter(|_| found.applications.len() > 1) {
        Some(at) => format!("{}: {name}", elide(&found.applications[at].program, 20)),
        None => name,
    }
}

fn interference(found: &Allocation, page: &mut Page<'_>) -> io::Result<()> {
    let label = |who: &Who| label(found, who);
    let mut table = Sheet::new(
        2,
        &["waited for a processor", "while there ran", "taken", "time"],
    );
    for pair in found.interference.iter().take(page.rows) {
        let ran = pair.ran.as_ref();
        table.add_row([
            label(&pair.waited),
            ran.map_or("others, or the kernel".to_owned(), label),
            count(pair.times),
            time(pair.ns),
        ]);
    }
    table.print(found.interference.len(), page)
}

/// Who woke whom, where that was recorded.
fn woken(found: &Allocation, page: &mut Page<'_>) -> io::Result<()> {
    if found.woken.is_empty() {
        return Ok(());
    }
    let mut table = Sheet::new(
        2,
        &[
            "thread that waited",
            "woken by",
            "times",
            "ran after",
            "at most",
        ],
    );
    for wake in found.woken.iter().take(page.rows) {
        let by = wake.by.as_ref().map(|who| label(found, who));
        let by = match (by, wake.context) {
            (Some(by), "unknown") => format!("{by}, or an interrupt"),
            (Some(by), _) => by,
            (None, _) => "an interrupt".to_owned(),
        };
        table.add_row([
            label(found, &wake.woken),
            by,
            count(wake.times),
            time(wake.delay_ns / wake.times.max(1)),
            time(wake.longest_ns),
        ]);
    }
    table.print(found.woken.len(), page)
}

fn notes(found: &Allocation, page: &mut Page<'_>) -> io::Result<()> {
    let mut notes = Vec::new();
    if found.lost > 0 {
        notes.push(format!(
            "{} events were lost: they came faster than they could be read. Times near them are unknown ({})",
            count(found.lost),
            time(all(found).unknown_ns)
        ));
    }
    if found.damaged_streams > 0 {
        notes.push(format!(
            "{} damaged: what is behind the damage is missing",
            counted(found.damaged_streams, "stream")
        ));
    }
    if found.more_wakes > 0 {
        notes.push(format!(
            "{} are not in the table: too many pairs of threads",
            counted(found.more_wakes, "wake-up")
        ));
    }
    if found.unattributed_ns > 0 {
        notes.push(format!(
            "waits of {} are not in the table: too many threads waited at once",
            time(found.unattributed_ns)
        ));
    }
    notes.extend(found.trouble.clone());
    if !notes.is_empty() {
        writeln!(page)?;
    }
    notes
        .iter()
        .try_for_each(|note| page.paragraph("note: ", note))
}
