//! The first screen: the program, what cost most and what helps, where the threads' time went, what takes most, what to ask next.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::model::{Critical, Place, Summary};
use super::table::Section;
use super::units::{brief, count, counted, elide, percent, size, time};
use crate::page::Page;
use crate::processors::table::{line, thread_count as threads_seen};
use crate::sheet::{Sheet, parts};

const LABEL_WIDTH: usize = 48;
/// Names of functions in sentences.
const MAX_NAME: usize = 60;
/// Rows of the table of what takes most.
pub(super) const MOST: usize = 5;
/// It is never longer: the sections have all.
const MAX_TAKERS: usize = 100;
/// A bar that stands for all of the time, where the page has room for it.
const BAR: usize = 24;
/// Shorter ones show nothing.
const LEAST_BAR: usize = 8;
/// Clocks of boards may begin anywhere: before this, 2000-01-01, a date is none.
const FIRST_DATE_NS: u64 = 946_684_800_000_000_000;

/// The threads of a process, or all that the kernel saw where it recorded nothing itself.
pub(crate) fn thread_count(summary: &Summary) -> u64 {
    match &summary.core_allocation {
        Some(found) if summary.is_only_processors() => threads_seen(found),
        _ => summary.threads.len() as u64,
    }
}

/// The line that says which run this is.
///
/// # Errors
///
/// Those of the page.
pub(super) fn title(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let all = summary.threads.len() as u64;
    let allocated = summary.core_allocation.as_ref();
    let mut threads = match (&summary.efficiency, allocated) {
        (_, Some(found)) if summary.is_only_processors() => counted(threads_seen(found), "thread"),
        // Teams of nested regions come and go.
        (Some(efficiency), _) if efficiency.threads < all => format!(
            "{} of {} at a time",
            count(efficiency.threads),
            counted(all, "thread")
        ),
        _ => counted(all, "thread"),
    };
    if let Some(processors) = summary.processors {
        threads = format!("{threads} on {}", counted(processors, "processor"));
    }
    let mut parts = vec![
        elide(&summary.program, LABEL_WIDTH),
        threads,
        time(summary.duration_ns),
        elide(&summary.target, LABEL_WIDTH),
    ];
    parts.extend(summary.started_realtime_ns.and_then(date));
    if summary.forked {
        parts.extend(summary.pid.map(|pid| format!("forked process {pid}")));
    } else if summary.started {
        parts.extend(summary.pid.map(|pid| format!("process {pid}")));
    }
    // Parts stay whole: a line ends between two of them.
    let mut line = String::new();
    for part in parts {
        if !line.is_empty() && line.chars().count() + 3 + part.chars().count() > page.width {
            writeln!(page, "{line}")?;
            line = "  ".to_owned();
        } else if !line.is_empty() {
            line.push_str(" · ");
        }
        line.push_str(&part);
    }
    writeln!(page, "{line}")
}

/// A time of day, where the reader is.
pub(crate) fn date(realtime_ns: u64) -> Option<String> {
    if realtime_ns < FIRST_DATE_NS {
        return None;
    }
    let stamp = jiff::Timestamp::from_nanosecond(i128::from(realtime_ns)).ok()?;
    let there = stamp.to_zoned(jiff::tz::TimeZone::system());
    Some(there.strftime("%Y-%m-%d %H:%M").to_string())
}

/// The same without what cost most.
///
/// # Errors
///
/// Those of the page.
pub(crate) fn overview(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    times(summary, page)?;
    most(summary, page)?;
    functions(summary, page)?;
    lines(summary, page)
}

/// What cost most, where the time went, what takes most, and one line for each other part of the trace.
///
/// # Errors
///
/// Those of the page.
pub(super) fn screen(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    verdict(summary, page)?;
    overview(summary, page)
}

fn verdict(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let Some(verdict) = &summary.verdict else {
        return Ok(());
    };
    let (bold, plain) = if page.colour {
        ("\x1b[1m", "\x1b[0m")
    } else {
        ("", "")
    };
    let mut letters = verdict.text.chars();
    let text: String = letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default();
    writeln!(page)?;
    for line in crate::page::lines(&format!("{text}."), page.width) {
        writeln!(page, "{bold}{line}{plain}")?;
    }
    if let Some(region) = &verdict.region {
        page.paragraph("  where  ", &place(region))?;
    }
    if !verdict.advice.is_empty() {
        let more = format!("{} (docs/reading.md: {})", verdict.advice, verdict.reading);
        page.paragraph("  help   ", &more)?;
    }
    Ok(())
}

/// `main, a.c:12 (parallel)` of `main [omp parallel a.c:12]`.
pub(crate) fn place(label: &str) -> String {
    let (name, construct, place) = parts(&brief(label, MAX_NAME));
    let mut text = name;
    if !place.is_empty() {
        text = format!("{text}, {}", elide(&place, 200));
    }
    if !construct.is_empty() {
        text = format!("{text} ({construct})");
    }
    text
}

/// Where the threads' time went: names and shares that add up to all of it, with a title. Nothing where there is no time.
pub(crate) fn shares(summary: &Summary) -> Option<(String, Vec<(&'static str, f64)>)> {
    let whole = summary.capacity_ns();
    if whole == 0 {
        return None;
    }
    let Some(e) = &summary.efficiency else {
        let rows = super::threads::verdict::times(summary).into_iter();
        let rows = rows.map(|(name, ns)| (name, ns as f64 / whole as f64));
        let rows = rows.collect();
        let threads = counted(summary.threads.len() as u64, "thread");
        return Some((format!("the time of {threads}"), rows));
    };
    let lost = |efficiency: f64| (1.0 - efficiency).max(0.0);
    let capacity = e.capacity_ns.max(1) as f64;
    let rows = vec![
        ("user code in regions", e.region_useful_ns as f64 / capacity),
        ("user code outside", e.serial_useful_ns as f64 / capacity),
        (
            match e.threads {
                1 => "not in user code",
                _ => "waiting for serial code",
            },
            lost(e.additive.serial_region_efficiency),
        ),
        ("imbalance", lost(e.additive.load_balance)),
        ("scheduling", lost(e.additive.scheduling)),
        ("small teams", lost(e.additive.team_size)),
    ];
    let title = format!(
        "the time of {}, {} each",
        counted(e.threads, "thread"),
        time(e.elapsed_ns)
    );
    Some((title, rows))
}

fn times(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let whole = summary.capacity_ns();
    let Some((title, rows)) = shares(summary) else {
        return Ok(());
    };
    // What would be shown as nothing is not.
    let is_shown = |(name, share): &(&str, f64)| *share >= 0.0005 || *name == "user code";
    let rows: Vec<_> = rows.into_iter().filter(is_shown).collect();
    bars(&title, &rows, whole, page)?;
    waited(summary, whole, page)
}

/// A table of shares with bars, as long as the page has room for them. Where that is too little the title gets a line of its own, and what then is
/// still too narrow has no bars.
fn bars(title: &str, rows: &[(&str, f64)], whole: u64, page: &mut Page<'_>) -> io::Result<()> {
    let cells = |&(name, share): &(&str, f64)| {
        let ns = (share * whole as f64).round() as u64;
        [name.to_owned(), percent(share), time(ns)]
    };
    let cells: Vec<_> = rows.iter().map(cells).collect();
    let used = |title: &str| {
        let widest = |(at, head): (usize, &str)| {
            let cells = cells.iter().map(|row| row[at].chars().count());
            cells.chain([head.chars().count()]).max().unwrap_or(0)
        };
        let heads = [title, "share", "total"].into_iter().enumerate();
        heads.map(widest).sum::<usize>() + 7 // two blanks between columns, and one behind the last
    };
    let most = rows.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let width = page.width;
    // Of a bar that stands for all of the time.
    let length = |title: &str| {
        let room = width.saturating_sub(used(title));
        BAR.min((room as f64 / most.max(f64::EPSILON)) as usize)
    };
    let (title, length) = match length(title) {
        long if long >= LEAST_BAR => (title, long),
        _ => {
            writeln!(page)?;
            page.paragraph("", &format!("{title}:"))?;
            ("", length(""))
        }
    };
    if length < LEAST_BAR {
        let mut table = Sheet::new(1, &[title, "share", "total"]);
        cells.into_iter().for_each(|row| table.add_row(row));
        return table.print_all(page);
    }
    let mut table = Sheet::new(1, &[title, "share", "total", ""]).with_bars();
    for (row, (_, share)) in cells.into_iter().zip(rows) {
        let filled = (share * length as f64).round() as usize;
        table.add_row(row.into_iter().chain(["█".repeat(filled.min(length))]));
    }
    table.print_all(page)
}

/// Part of the rows above, whichever: ready to run, but without a processor.
fn waited(summary: &Summary, whole: u64, page: &mut Page<'_>) -> io::Result<()> {
    let waited = super::verdict::waited_ns(summary).unwrap_or(0);
    if (waited as f64) < whole as f64 / 100.0 {
        return Ok(());
    }
    let share = percent(waited as f64 / whole as f64);
    let text = format!(
        "in them, waiting for a processor: {share}, {}",
        time(waited)
    );
    page.paragraph("  ", &text)
}

/// Something that takes time, in thread time.
struct Taker<'s> {
    place: &'s Place,
    count: u64,
    total_ns: u64,
}

/// Regions and tasks by the threads' time in them.
fn most(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let regions = summary.parallel_regions.iter().map(|region| {
        let threads = region.load.iter().flat_map(|load| &load.by_thread);
        Taker {
            place: &region.place,
            count: region.times.count,
            total_ns: threads.fold(0, |sum, thread| thread.useful_ns.saturating_add(sum)),
        }
    });
    let tasks = summary.task_functions.iter().map(|task| Taker {
        place: &task.place,
        count: task.executed,
        total_ns: task.work_ns,
    });
    let mut takers: Vec<_> = regions.chain(tasks).collect();
    takers.sort_by_key(|taker| (Reverse(taker.total_ns), taker.place.address));
    let whole = summary.capacity_ns();
    let mut table = Sheet::of_places(1, &["most user code", "count", "share", "total", "mean"]);
    let rows = page.rows.min(MAX_TAKERS);
    for taker in takers.iter().take(rows) {
        table.add_row([
            super::table::label(taker.place),
            count(taker.count),
            percent(taker.total_ns as f64 / whole.max(1) as f64),
            time(taker.total_ns),
            time(taker.total_ns / taker.count.max(1)),
        ]);
    }
    table.print_all(page)?;
    match takers.len().saturating_sub(rows) {
        0 => Ok(()),
        more => writeln!(
            page,
            "... and {} more (--regions, --tasks)",
            count(more as u64)
        ),
    }
}

/// Functions of languages by their own time.
fn functions(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let heads = ["most time in functions", "calls", "share", "own", "total"];
    let mut table = Sheet::of_places(1, &heads);
    let whole = summary.capacity_ns();
    let rows = page.rows.min(MAX_TAKERS);
    let all = summary.functions.iter();
    let functions: Vec<_> = all.filter(|one| one.suspended_ns.is_none()).collect();
    for function in functions.iter().take(rows) {
        table.add_row([
            super::table::function_label(function),
            count(function.calls),
            percent(function.own_ns as f64 / whole.max(1) as f64),
            time(function.own_ns),
            time(function.total_ns),
        ]);
    }
    table.print_all(page)?;
    more_functions(functions.len().saturating_sub(rows), page)?;
    let (table, total) = super::table::asynchronous(summary, rows, "longest suspended");
    table.print_all(page)?;
    more_functions(total.saturating_sub(rows), page)
}

fn more_functions(more: usize, page: &mut Page<'_>) -> io::Result<()> {
    match more {
        0 => Ok(()),
        more => writeln!(page, "... and {} more (--functions)", count(more as u64)),
    }
}

/// One line for each other part that the trace has.
fn lines(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut lines: Vec<(&str, String)> = Vec::new();
    lines.extend(tasks(summary).map(|text| ("tasks    ", text)));
    lines.extend(waits(summary).map(|text| ("waiting  ", text)));
    lines.extend(memory(summary).map(|text| ("memory   ", text)));
    if let Some(samples) = &summary.samples
        && let Some(function) = samples.functions.first()
    {
        let text = format!(
            "{} of {} in {}",
            percent(function.share),
            counted(samples.taken, "sample"),
            elide(&function.function, 64)
        );
        lines.push(("samples  ", text));
    }
    if let Some(power) = &summary.power {
        let text = format!(
            "{:.3} J, {:.3} W on average",
            power.joules,
            power.average_mw / 1e3
        );
        lines.push(("energy   ", text));
    }
    if let Some(found) = &summary.core_allocation {
        lines.push(("processors ", line(found)));
    }
    let is_all = summary.is_only_processors();
    let events = format!(
        "{}, {} ({:.1} bytes an event)",
        counted(summary.events, "event"),
        size(summary.bytes),
        summary.bytes_per_event
    );
    if !is_all {
        lines.push(("trace    ", events));
    }
    writeln!(page)?;
    lines
        .iter()
        .try_for_each(|(name, text)| page.paragraph(name, text))
}

fn tasks(summary: &Summary) -> Option<String> {
    let all = &summary.tasks;
    if all.executed == 0 {
        return None;
    }
    let mut text = format!(
        "{} executed, {}",
        count(all.executed),
        counted(all.edges, "dependence")
    );
    if let Some(graph) = &summary.graph
        && let Some(average) = graph.average_parallelism
    {
        text += &format!(
            "; enough for {average:.1} threads at once, {:.1} of {} were busy",
            graph.work_ns as f64 / graph.elapsed_ns.max(1) as f64,
            graph.threads
        );
    }
    Some(text)
}

fn waits(summary: &Summary) -> Option<String> {
    let longest = summary.syncs.iter().max_by_key(|sync| sync.times.total_ns);
    let mut parts = Vec::new();
    if let Some(sync) = longest.filter(|sync| sync.times.total_ns > 0) {
        let with = match summary.tasks.executed {
            0 => "",
            _ => ", with the tasks that ran meanwhile",
        };
        parts.push(format!(
            "{} in {}{with} ({}, {} at most)",
            time(sync.times.total_ns),
            sync.kind,
            counted(sync.times.count, "time"),
            time(sync.times.max_ns)
        ));
    }
    let locks = summary.criticals.iter();
    let waited = locks
        .clone()
        .map(|lock| lock.wait_ns)
        .fold(0, u64::saturating_add);
    let taken = locks.map(|lock| lock.count).fold(0, u64::saturating_add);
    if taken > 0 {
        // How often locks are free is not always recorded.
        let taken = match summary.criticals.iter().any(Critical::has_waits_only) {
            true => String::new(),
            false => format!(", taken {}", counted(taken, "time")),
        };
        parts.push(format!(
            "{} for critical sections and locks{taken}",
            time(waited),
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn memory(summary: &Summary) -> Option<String> {
    let memory = summary.memory.as_ref()?;
    (memory.allocations > 0).then(|| {
        format!(
            "{} got, at most {} in use; {} left at the end ({})",
            counted(memory.allocations, "block"),
            size(memory.live_high_water_bytes),
            counted(memory.live_blocks, "block"),
            size(memory.live_bytes)
        )
    })
}

/// Why a section that was asked for has nothing to show.
pub(super) fn nothing(section: Section, summary: &Summary) -> &'static str {
    match section {
        Section::Threads => "the trace has no thread",
        Section::Processors => "not recorded; start the program by instr run",
        Section::Efficiency | Section::Regions => "no parallel region was seen",
        Section::Tasks => "no explicit task was created",
        Section::Loops if summary.parallel_regions.is_empty() => {
            "no work-sharing construct was seen"
        }
        Section::Loops => {
            "no work-sharing construct called the run-time library (GCC's static loops call nothing)"
        }
        Section::Waiting => "no barrier, taskwait, lock or critical section was seen",
        Section::Memory => "not recorded; link the program with instr-cc --instr-memory",
        Section::Functions => "none of a language was recorded (docs/python.md)",
        Section::Samples => "not recorded; run the program with INSTR_SAMPLING_PERIOD=1ms",
        Section::Sensors => {
            "not recorded; run the program with INSTR_SENSORS=auto or INSTR_COUNTERS=..."
        }
        Section::Series => {
            "not recorded; instr run --config FILE reads them (instr config --example)"
        }
        Section::User => {
            "the program marks nothing itself (<instr/instr.h>), and no library is described (--instr-api)"
        }
    }
}

/// Commands that show more of this trace.
///
/// # Errors
///
/// Those of the page.
pub(super) fn next(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let there = |section: &Section| {
        let mut written = Vec::new();
        let mut probe = Page::new(&mut written, 80, 1, false);
        // A vector takes everything.
        let _ = section.write(summary, &mut probe);
        !written.is_empty()
    };
    let sections: Vec<_> = Section::ALL
        .iter()
        .filter(|section| there(section))
        .map(|section| section.option())
        .collect();
    let name = crate::quote::typed(&summary.path);
    writeln!(page)?;
    writeln!(page, "next  instr summary {name} --all")?;
    page.paragraph("        or ", &sections.join(" "))?;
    if summary.is_only_processors() {
        let command = format!("instr processors {name} --svg FILE   a picture");
        return page.paragraph("      ", &command);
    }
    let graph = ("instr graph", "the tasks, and what they wait for");
    let more = [
        Some(("instr report", "a page for the browser")),
        summary.graph.is_some().then_some(graph),
        Some(("instr merge", "for Paraver")),
        Some(("instr export", "for Perfetto")),
    ];
    let lines: Vec<_> = more
        .iter()
        .flatten()
        .map(|(words, what)| (format!("{words} {name}"), what))
        .collect();
    let widest = lines.iter().map(|(words, _)| words.chars().count()).max();
    // A command is on a line of its own, however long it is: what is cut or parted cannot be typed. What it is for is added where there is room.
    lines.iter().try_for_each(|(words, what)| {
        let line = format!("      {words:<0$}   {what}", widest.unwrap_or(0));
        match line.chars().count() <= page.width {
            true => writeln!(page, "{line}"),
            false => writeln!(page, "      {words}"),
        }
    })
}
