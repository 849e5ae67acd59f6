//! A summary as what the template shows: findings, tables, trees and bars. All text is escaped by the template.

use super::findings::{self, Finding};
use super::flame::{self, Flame};
use super::timeline::Collected;
use super::timeline::longest::{Longest, What, Where};
use super::timeline::model::{Histogram, TaskGraph, Timeline};
use super::timeline::task_levels::TaskLevels;
use crate::page::{Page, Part};
use crate::summary::load::model::Efficiency;
use crate::summary::model::{ParallelRegion, Summary};
use crate::summary::table::Section;
use crate::summary::units::{count, counted, percent, time};
use crate::summary::{first, notes};

/// Rows of a table.
const ROWS: usize = 200;
/// Regions whose threads are drawn, and threads of one.
const REGIONS: usize = 12;
const THREADS: usize = 64;
/// Functions of tasks that are shown.
const FUNCTIONS: usize = 40;
/// Bodies whose durations are shown.
const HISTOGRAMS: usize = 20;

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

/// Tasks by function and level.
pub(super) struct TaskView {
    /// The answer of the task graph: is the parallelism exploited?
    pub(super) headline: String,
    /// Bands of levels that are drawn, and the last level.
    pub(super) bands: usize,
    pub(super) last: String,
    pub(super) note: String,
    pub(super) rows: Vec<TaskRow>,
    pub(super) cells: Vec<Cell>,
}

/// Tasks of a function.
pub(super) struct TaskRow {
    pub(super) name: String,
    pub(super) at: Option<Where>,
    pub(super) cells: [String; 6],
}

/// Durations of a body.
pub(super) struct Durations<'t> {
    pub(super) label: &'t str,
    pub(super) task: bool,
    /// Shortest and longest duration.
    pub(super) from: String,
    pub(super) to: String,
    pub(super) classes: usize,
    pub(super) rows: Vec<DurationRow<'t>>,
    pub(super) cells: Vec<Cell>,
}

/// Paraver's rows of one thread.
pub(super) struct DurationRow<'t> {
    pub(super) thread: &'t str,
    pub(super) cells: [String; 7],
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
    let mut threads = counted(summary.threads.len() as u64, "thread");
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
    let (title, rows) = first::shares(summary)?;
    let mut from = 0.0;
    let mut part = |(name, share): (&'static str, f64)| {
        let class = match name {
            "user code in regions" | "user code" => "useful",
            "user code outside" => "outside",
            "waiting for serial code" | "not in user code" | "idle" => "idle",
            "imbalance" | "synchronization" => "sync",
            "flush" => "flush",
            "small teams" => "small",
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

/// Tasks by function and level, and what they waited for.
fn tasks(
    summary: &Summary,
    levels: &TaskLevels,
    process: usize,
    longest: &Longest,
) -> Option<TaskView> {
    let functions = levels.functions();
    let functions = &functions[..functions.len().min(FUNCTIONS)];
    let last = functions.iter().map(|(_, of)| of.last).max()?;
    let bands = (last / levels.width()) as usize + 1;
    let most = functions.iter().flat_map(|(_, of)| of.bands).max()?;
    let most = (most as f64).ln_1p();
    let (mut rows, mut cells) = (Vec::new(), Vec::new());
    for (y, (code, of)) in functions.iter().enumerate() {
        let mut known = summary.task_functions.iter().map(|task| &task.place);
        let place = known.find(|place| findings::code(place) == Some(*code));
        let name = place.map_or("(unknown)", |place| place.label.as_str());
        let mean = |ns: u64| time(ns / of.tasks.max(1));
        rows.push(TaskRow {
            name: first::place(name),
            at: longest.of(process, What::Task(*code)),
            cells: [
                count(of.tasks),
                time(of.work_ns),
                mean(of.work_ns),
                mean(of.dependency_wait_ns),
                mean(of.ready_wait_ns),
                format!("{} to {}", count(of.first.into()), count(of.last.into())),
            ],
        });
        let used = of.bands.iter().enumerate().filter(|(_, tasks)| **tasks > 0);
        cells.extend(used.map(|(x, tasks)| Cell {
            x,
            y,
            weight: 0.15 + 0.85 * (*tasks as f64).ln_1p() / most,
            title: format!(
                "{name}: {} from level {} on",
                counted(*tasks, "task"),
                count(x as u64 * u64::from(levels.width()))
            ),
        }));
    }
    let mut note = match levels.width() {
        1 => String::new(),
        width => format!("A cell has {width} levels."),
    };
    if levels.left_out() > 0 {
        note += &format!(
            " {} of further functions are not shown.",
            counted(levels.left_out(), "task")
        );
    }
    let headline = summary
        .graph
        .as_ref()
        .and_then(|graph| graph.headline.clone());
    Some(TaskView {
        headline: headline.unwrap_or_default(),
        bands,
        last: count(last.into()),
        note,
        rows,
        cells,
    })
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
        false => "no: the program was killed, crashed, or still runs",
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

/// An execution of a region with tasks.
pub(super) struct GraphRow {
    pub(super) name: String,
    pub(super) cells: [String; 10],
    /// Single tasks and the critical path are in the page.
    pub(super) has_path: bool,
}

/// The regions whose task graphs are in the page.
pub(super) fn graphs(collected: &Collected) -> Vec<GraphRow> {
    let row = |graph: &TaskGraph| {
        let region = &graph.region;
        let ratio = region.average_parallelism;
        GraphRow {
            name: first::place(&region.label),
            cells: [
                count(region.tasks),
                count(region.edges),
                count(region.span_hops),
                count(region.width),
                time(region.elapsed_ns),
                time(region.work_ns),
                time(region.span_ns),
                ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")),
                time(region.delay_ns),
                time(region.no_work_ns),
            ],
            has_path: graph.path.is_some() && graph.tasks.is_some(),
        }
    };
    collected.timeline.graphs.iter().map(row).collect()
}

/// What the page has no room for, in one sentence.
pub(super) fn graphs_left_out(collected: &Collected) -> String {
    let left_out = collected.timeline.graphs_left_out;
    match left_out.regions {
        0 => String::new(),
        regions => format!(
            "{} more, of {} together, are not shown.",
            count(regions),
            time(left_out.elapsed_ns)
        ),
    }
}

/// Durations of the bodies with most time.
pub(super) fn durations(collected: &Collected) -> Vec<Durations<'_>> {
    let histograms = collected.histograms.iter().take(HISTOGRAMS);
    histograms
        .filter_map(|of| duration(of, &collected.timeline))
        .collect()
}

fn duration<'t>(histogram: &Histogram, timeline: &'t Timeline) -> Option<Durations<'t>> {
    let code = timeline.codes.get(usize::from(histogram.code))?;
    let most = histogram.rows.iter().flat_map(|row| &row.classes).max()?;
    let most = f64::from(*most).ln_1p().max(1e-9);
    let mut cells = Vec::new();
    let rows = histogram
        .rows
        .iter()
        .take(THREADS)
        .enumerate()
        .map(|(y, row)| {
            let thread = &timeline.tracks[row.track].name;
            for (x, number) in row
                .classes
                .iter()
                .enumerate()
                .filter(|(_, number)| **number > 0)
            {
                let begin = histogram.begins_ns[x];
                cells.push(Cell {
                    x,
                    y,
                    weight: 0.15 + 0.85 * f64::from(*number).ln_1p() / most,
                    title: format!(
                        "{thread}: {} of {} or more",
                        counted(u64::from(*number), "execution"),
                        time(begin)
                    ),
                });
            }
            DurationRow {
                thread,
                cells: [
                    count(row.count),
                    time(row.total_ns),
                    time(row.mean_ns.round() as u64),
                    time(row.max_ns),
                    time(row.min_ns),
                    time(row.stdev_ns.round() as u64),
                    format!("{:.2}", row.mean_of_max),
                ],
            }
        });
    let rows = rows.collect();
    let longest = histogram.rows.iter().map(|row| row.max_ns).max()?;
    Some(Durations {
        label: &code.label,
        task: code.task,
        from: time(*histogram.begins_ns.first()?),
        to: time(longest),
        classes: histogram.begins_ns.len(),
        rows,
        cells,
    })
}
