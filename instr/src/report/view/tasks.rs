//! Tasks by function and level, and the regions whose task graphs are in the page.

use super::super::findings;
use super::super::timeline::Collected;
use super::super::timeline::longest::{Longest, What, Where};
use super::super::timeline::model::TaskGraph;
use super::super::timeline::task_levels::TaskLevels;
use super::Cell;
use crate::summary::first;
use crate::summary::model::Summary;
use crate::summary::units::{count, counted, time};

/// Functions of tasks that are shown.
const FUNCTIONS: usize = 40;

/// Tasks by function and level.
pub(in super::super) struct TaskView {
    /// The answer of the task graph: is the parallelism exploited?
    pub(in super::super) headline: String,
    /// Bands of levels that are drawn, and the last level.
    pub(in super::super) bands: usize,
    pub(in super::super) last: String,
    pub(in super::super) note: String,
    pub(in super::super) rows: Vec<TaskRow>,
    pub(in super::super) cells: Vec<Cell>,
}

/// Tasks of a function.
pub(in super::super) struct TaskRow {
    pub(in super::super) name: String,
    pub(in super::super) at: Option<Where>,
    pub(in super::super) cells: [String; 6],
}

/// Tasks by function and level, and what they waited for.
pub(super) fn tasks(
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

/// An execution of a region with tasks.
pub(in super::super) struct GraphRow {
    /// Its process, and the name of that.
    pub(in super::super) process: usize,
    pub(in super::super) program: String,
    pub(in super::super) name: String,
    pub(in super::super) cells: [String; 10],
    /// Single tasks and the critical path are in the page.
    pub(in super::super) has_path: bool,
}

/// The regions whose task graphs are in the page.
pub(in super::super) fn graphs(collected: &Collected) -> Vec<GraphRow> {
    let row = |graph: &TaskGraph| {
        let region = &graph.region;
        let ratio = region.average_parallelism;
        let process = collected.timeline.processes.get(graph.process);
        GraphRow {
            process: graph.process,
            program: process.map_or(String::new(), |process| process.program.clone()),
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
pub(in super::super) fn graphs_left_out(collected: &Collected) -> String {
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
