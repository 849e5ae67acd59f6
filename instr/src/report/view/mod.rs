//! A summary as what the template shows: findings, tables, trees and bars. All text is escaped by the template.

mod bars;
mod durations;
mod prediction;
mod tasks;

use super::findings::{self, Finding};
use super::flame::{self, Flame};
use super::kernel_findings;
use super::timeline::Collected;
use super::timeline::longest::{Longest, Where};
use crate::page::{Page, Part};
use crate::summary::load::model::Efficiency;
use crate::summary::model::{ParallelRegion, Summary};
use crate::summary::table::Section;
use crate::summary::units::{count, counted, percent, time};
use crate::summary::{first, notes};
use bars::Bars;
pub(super) use durations::{Durations, durations};
pub(super) use prediction::{PredictionView, predictions};
pub(super) use tasks::{GraphRow, graphs, graphs_left_out};
use tasks::{TaskView, tasks};

/// Rows of a table.
const ROWS: usize = 200;
/// Regions whose threads are drawn, and threads of one.
const REGIONS: usize = 12;
const THREADS: usize = 64;

/// One process.
pub(super) struct Process<'s> {
    pub(super) program: &'s str,
    pub(super) forked: bool,
    /// Facts in one line: threads, time, machine.
    pub(super) facts: Vec<String>,
    pub(super) losses: Vec<String>,
    pub(super) findings: Vec<Finding>,
    pub(super) shares: Option<Shares>,
    pub(super) overview: Vec<Part>,
    pub(super) tree: Vec<Node>,
    pub(super) regions: Vec<Region>,
    pub(super) tasks: Option<TaskView>,
    pub(super) flame: Option<Flame>,
    /// Heap by function, energy by region.
    pub(super) bars: Vec<Bars>,
    pub(super) sections: Vec<(&'static str, &'static str, Vec<Part>)>,
    pub(super) source: Vec<(&'static str, String)>,
    pub(super) notes: Vec<String>,
}

/// A bar of shares that add up to all of the threads' time.
pub(super) struct Shares {
    pub(super) title: String,
    pub(super) parts: Vec<Share>,
}

/// A part of a bar, in percent of it.
pub(super) struct Share {
    pub(super) name: &'static str,
    pub(super) shown: String,
    pub(super) from: f64,
    pub(super) width: f64,
    /// Class of its colour.
    pub(super) class: &'static str,
}

/// An efficiency.
pub(super) struct Node {
    pub(super) depth: usize,
    pub(super) name: &'static str,
    pub(super) shown: String,
    /// In percent, 0 to 100.
    pub(super) width: f64,
    /// Below what POP considers acceptable.
    pub(super) low: bool,
    pub(super) lost: String,
    /// What it means.
    pub(super) why: &'static str,
}

/// A parallel region and its threads.
pub(super) struct Region {
    pub(super) name: String,
    pub(super) at: Option<Where>,
    pub(super) facts: String,
    pub(super) threads: Vec<Load>,
    pub(super) more: usize,
}

/// Bars of one thread, in percent of the longest of the region.
pub(super) struct Load {
    pub(super) name: String,
    pub(super) useful: f64,
    pub(super) barrier: f64,
    pub(super) shown: String,
}

/// A class of durations that came on a thread.
pub(super) struct Cell {
    pub(super) x: usize,
    pub(super) y: usize,
    /// 0 to 1, by the logarithm of the number.
    pub(super) weight: f64,
    pub(super) title: String,
}

/// The processes, parents before the children they forked: in the order of the session.
pub(super) fn processes<'s>(summaries: &'s [Summary], collected: &Collected) -> Vec<Process<'s>> {
    fn add<'s>(summary: &'s Summary, collected: &Collected, all: &mut Vec<Process<'s>>) {
        let number = all.len();
        all.push(process(summary, number, collected));
        for child in &summary.children {
            add(child, collected, all);
        }
    }
    let mut all = Vec::new();
    for summary in summaries {
        add(summary, collected, &mut all);
    }
    all
}

fn process<'s>(summary: &'s Summary, number: usize, collected: &Collected) -> Process<'s> {
    let longest = &collected.longest;
    let levels = collected.task_levels.get(number);
    Process {
        program: &summary.program,
        forked: summary.forked,
        facts: facts(summary),
        losses: findings::losses(summary),
        findings: findings::of(summary, number, collected),
        shares: shares(summary),
        overview: parts(|page| first::overview(summary, page)),
        tree: summary.efficiency.as_ref().map(tree).unwrap_or_default(),
        regions: regions(summary, number, longest),
        tasks: levels.and_then(|levels| tasks(summary, levels, number, longest)),
        flame: summary
            .samples
            .as_ref()
            .map(|samples| flame::of(&samples.paths))
            .filter(|flame| flame.rows > 0),
        bars: bars::bars(summary),
        sections: sections(summary),
        source: source(summary),
        notes: notes::of(summary, &mut notes::Told::default(), true),
    }
}

fn parts(write: impl FnOnce(&mut Page<'_>) -> std::io::Result<()>) -> Vec<Part> {
    let mut parts = Vec::new();
    // Lists take everything.
    let _ = write(&mut Page::in_parts(&mut parts, ROWS));
    parts
}

fn facts(summary: &Summary) -> Vec<String> {
    let mut threads = counted(first::thread_count(summary), "thread");
    if let Some(processors) = summary.processors {
        threads = format!("{threads} on {}", counted(processors, "processor"));
    }
    let mut facts = vec![threads, time(summary.duration_ns), summary.target.clone()];
    facts.extend(summary.started_realtime_ns.and_then(first::date));
    if summary.forked {
        facts.extend(summary.pid.map(|pid| format!("forked process {pid}")));
    } else if summary.started {
        facts.extend(summary.pid.map(|pid| format!("process {pid}")));
    }
    facts
}

fn shares(summary: &Summary) -> Option<Shares> {
    let (title, rows) = match kernel_findings::shares(summary) {
        Some(shares) => shares,
        None => first::shares(summary)?,
    };
    let mut from = 0.0;
    let mut part = |(name, share): (&'static str, f64)| {
        let class = match name {
            "user code in regions" | "user code" => "useful",
            "user code outside" => "outside",
            "waiting for serial code" | "not in user code" | "idle" => "idle",
            "imbalance" | "synchronization" => "sync",
            "flush" => "flush",
            "small teams" => "small",
            "running" => "running",
            "ready" => "ready",
            "blocked" => "blocked",
            "unknown" => "unknown",
            _ => "sched",
        };
        let (begin, width) = (from, share * 100.0);
        from += width;
        Share {
            name,
            shown: percent(share),
            from: begin,
            width,
            class,
        }
    };
    let parts = rows.into_iter().filter(|row| row.1 >= 0.0005);
    let parts = parts.map(&mut part).collect();
    Some(Shares { title, parts })
}

fn tree(efficiency: &Efficiency) -> Vec<Node> {
    let additive = &efficiency.additive;
    let nodes = [
        (
            0,
            "parallel efficiency",
            efficiency.parallel_efficiency,
            "The part of all threads' time in which they were in user code. Each number below is 1 minus a loss; the losses add up to this one's.",
        ),
        (
            1,
            "serial region efficiency",
            additive.serial_region_efficiency,
            "Outside of parallel regions one thread works and the others wait (Amdahl).",
        ),
        (
            1,
            "OpenMP region efficiency",
            additive.openmp_region_efficiency,
            "What is lost inside of parallel regions: the sum of the next ones.",
        ),
        (
            2,
            "load balance",
            additive.load_balance,
            "Threads wait for the thread of their region with the most work.",
        ),
        (
            2,
            "scheduling",
            additive.scheduling,
            "Regions take longer than any of their threads works: late begins, barriers inside, creation of tasks, locks.",
        ),
        (
            2,
            "team size",
            additive.team_size,
            "Regions with fewer threads than there are.",
        ),
    ];
    let node = |(depth, name, value, why): (usize, &'static str, f64, &'static str)| Node {
        depth,
        name,
        shown: percent(value),
        width: (value * 100.0).clamp(0.0, 100.0),
        low: value < 0.8,
        lost: time(((1.0 - value).max(0.0) * efficiency.capacity_ns as f64).round() as u64),
        why,
    };
    nodes.into_iter().map(node).collect()
}

fn regions(summary: &Summary, process: usize, longest: &Longest) -> Vec<Region> {
    let region = |region: &ParallelRegion| {
        let load = region.load.as_ref()?;
        let most = load.by_thread.iter().map(|thread| {
            let both = thread.useful_ns.saturating_add(thread.barrier_ns);
            both.max(1)
        });
        let most = most.max()? as f64;
        let threads = load.by_thread.iter().take(THREADS).map(|thread| Load {
            name: match thread.thread_num {
                Some(number) => format!("thread {number}"),
                None => "unknown".to_owned(),
            },
            useful: thread.useful_ns as f64 * 100.0 / most,
            barrier: thread.barrier_ns as f64 * 100.0 / most,
            shown: format!(
                "user code {}, barriers {}, {}",
                time(thread.useful_ns),
                time(thread.barrier_ns),
                counted(thread.executions, "execution")
            ),
        });
        let mut facts = format!(
            "{} in {}",
            time(region.times.total_ns),
            counted(region.times.count, "execution")
        );
        if let Some(imbalance) = load.imbalance {
            facts += &format!("; longest / mean useful time {imbalance:.2}");
        }
        Some(Region {
            name: first::place(&region.place.label),
            at: findings::at_region(&region.place, process, longest),
            facts,
            threads: threads.collect(),
            more: load.by_thread.len().saturating_sub(THREADS),
        })
    };
    let regions = summary.parallel_regions.iter().filter_map(region);
    regions.take(REGIONS).collect()
}

/// The summary's sections with something in them: name, title, tables and lines.
fn sections(summary: &Summary) -> Vec<(&'static str, &'static str, Vec<Part>)> {
    let section = |section: &Section| {
        let title = match section {
            Section::Threads => "Threads",
            Section::Processors => "Processors",
            Section::Efficiency => "Efficiency",
            Section::Regions => "Parallel regions",
            Section::Tasks => "Tasks",
            Section::Loops => "Loops and work sharing",
            Section::Waiting => "Waiting and locks",
            Section::Memory => "Memory",
            Section::Functions => "Functions of Python",
            Section::Samples => "Functions by samples",
            Section::Sensors => "Sensors, energy, counters",
            Section::Series => "Series of the machine and of processes",
            Section::User => "The program's own regions, counters, calls",
        };
        let name = section.option().trim_start_matches('-');
        let parts = parts(|page| section.write(summary, page));
        (!parts.is_empty()).then_some((name, title, parts))
    };
    Section::ALL.iter().filter_map(section).collect()
}

fn source(summary: &Summary) -> Vec<(&'static str, String)> {
    let known = |text: &str| match text {
        "" => "unknown".to_owned(),
        text => text.to_owned(),
    };
    let number =
        |number: Option<u64>| number.map_or("unknown".to_owned(), |number| number.to_string());
    let clock = format!(
        "{}, {} ticks a second",
        known(&summary.clock.source),
        count(summary.clock.frequency_hz)
    );
    let quota = match summary.processor_quota {
        Some(quota) => format!(
            "{}, of which the time of {quota} (cgroup)",
            number(summary.processors)
        ),
        None => number(summary.processors),
    };
    let closed = match summary.closed {
        true => "yes",
        false => "no: the program was killed, crashed, became another one by exec, or still runs",
    };
    let whole = summary.events.saturating_add(summary.discarded);
    let lost = match summary.discarded {
        0 => "none".to_owned(),
        lost => format!("{} of {}", count(lost), counted(whole, "event")),
    };
    vec![
        ("program", known(&summary.executable)),
        ("trace", summary.directory.clone()),
        ("process", number(summary.pid)),
        ("machine", known(&summary.target)),
        ("processors", quota),
        ("OpenMP library", known(&summary.openmp)),
        ("clock", clock),
        (
            "context switches",
            summary
                .switches
                .clone()
                .unwrap_or_else(|| "unknown".to_owned()),
        ),
        ("trace closed in order", closed.to_owned()),
        ("events", counted(summary.events, "event")),
        ("events lost", lost),
        ("streams cut", count(summary.truncated_streams)),
        ("bytes an event", format!("{}", summary.bytes_per_event)),
    ]
}
