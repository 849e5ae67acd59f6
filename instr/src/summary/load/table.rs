//! For people.

use std::io::{self, Write};

use super::super::model::Summary;
use super::super::table::label;
use super::super::units::{count, counted, percent, time};
use super::model::{Efficiency, Loaded, RegionLoad, ThreadLoad};
use crate::page::Page;
use crate::sheet::Sheet;

/// Regions whose threads are shown one by one, and threads of one.
const MAX_REGIONS: usize = 3;
const MAX_THREADS: usize = 16;
/// A region is shown by thread when its imbalance, or its barriers by thread, cost this part of the program's time.
const NOTEWORTHY: f64 = 0.01;

/// POP's tree, TALP's factors, the largest loss.
///
/// # Errors
///
/// Those of the page.
pub fn efficiency(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let Some(e) = &summary.efficiency else {
        return Ok(());
    };
    let head = format!(
        "efficiency of {} (POP, additive)",
        counted(e.threads, "thread")
    );
    let mut table = Sheet::new(1, &[&head, "", "thread time lost"]);
    let tree = &e.additive;
    for (name, value) in [
        ("parallel efficiency", e.parallel_efficiency),
        ("  serial region efficiency", tree.serial_region_efficiency),
        ("  OpenMP region efficiency", tree.openmp_region_efficiency),
        ("    load balance", tree.load_balance),
        ("    scheduling", tree.scheduling),
        ("    team size", tree.team_size),
    ] {
        // A team as large as can be is the rule.
        if name == "    team size" && percent(1.0 - value) == percent(0.0) {
            continue;
        }
        table.add_row([name.to_owned(), percent(value), lost(e, value)]);
    }
    table.print_all(page)?;
    let (pop, talp) = (e.multiplicative, e.talp);
    let factors = format!(
        "load balance {} x communication efficiency {}",
        percent(pop.load_balance),
        percent(pop.communication_efficiency)
    );
    page.paragraph("multiplicative (POP): ", &factors)?;
    let factors = format!(
        "serialization {} x load balance {} x scheduling {}",
        percent(talp.serialization),
        percent(talp.load_balance),
        percent(talp.scheduling)
    );
    page.paragraph("TALP: ", &factors)
}

fn lost(e: &Efficiency, value: f64) -> String {
    time(((1.0 - value).max(0.0) * e.capacity_ns as f64).round() as u64)
}

/// Imbalance and barriers by region, and by thread where it costs most.
///
/// # Errors
///
/// Those of the page.
pub fn regions(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let loads = || {
        let loaded = summary.parallel_regions.iter();
        loaded.filter_map(|region| Some((&region.place, region.load.as_ref()?)))
    };
    let mut table = Sheet::of_places(
        1,
        &[
            "load of region",
            "team",
            "useful min",
            "mean",
            "max",
            "max/mean",
            "barriers",
            "used",
        ],
    );
    for (place, load) in loads().take(page.rows) {
        let ratio = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
        table.add_row([
            label(place),
            count(load.threads),
            time(load.useful_min_ns),
            time(load.useful_mean_ns),
            time(load.useful_max_ns),
            ratio(load.imbalance),
            time(load.barrier_ns),
            load.parallel_efficiency.map_or(String::new(), percent),
        ]);
    }
    table.print(loads().count(), page)?;
    let least = NOTEWORTHY * summary.duration_ns as f64;
    let loss = |load: &RegionLoad| {
        load.imbalance_loss_ns
            .max(load.barrier_ns / load.threads.max(1))
    };
    let mut worst: Vec<Loaded<'_>> = loads()
        .filter(|(_, load)| load.threads > 1 && loss(load) as f64 >= least)
        .collect();
    worst.sort_by_key(|(place, load)| (std::cmp::Reverse(loss(load)), place.address));
    for loaded in worst.into_iter().take(MAX_REGIONS) {
        threads(loaded, page)?;
    }
    Ok(())
}

fn threads((place, load): Loaded<'_>, page: &mut Page<'_>) -> io::Result<()> {
    writeln!(page)?;
    page.paragraph("", &format!("threads of {}:", label(place)))?;
    let mut table = Sheet::new(1, &["thread", "executions", "useful", "barriers"]);
    let (shown, rest) = match load.by_thread.len() {
        0..=MAX_THREADS => (&load.by_thread[..], &[][..]),
        _ => load.by_thread.split_at(MAX_THREADS - 1),
    };
    let mut row = |name: String, load: &ThreadLoad| {
        table.add_row([
            name,
            count(load.executions),
            time(load.useful_ns),
            time(load.barrier_ns),
        ]);
    };
    for thread in shown {
        let name = match thread.thread_num {
            Some(number) => number.to_string(),
            None => "(unknown)".to_owned(),
        };
        row(name, thread);
    }
    if !rest.is_empty() {
        let sum = rest
            .iter()
            .fold(ThreadLoad::default(), |sum, thread| ThreadLoad {
                thread_num: None,
                executions: sum.executions.saturating_add(thread.executions),
                useful_ns: sum.useful_ns.saturating_add(thread.useful_ns),
                barrier_ns: sum.barrier_ns.saturating_add(thread.barrier_ns),
                start_ns: sum.start_ns.saturating_add(thread.start_ns),
            });
        row(format!("{} more", rest.len()), &sum);
    }
    table.print_all(page)
}

/// What the task graph allows and what came of it.
///
/// # Errors
///
/// Those of the page.
pub fn graph(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let Some(graph) = &summary.graph else {
        return Ok(());
    };
    let tasks = summary.tasks.executed.max(1);
    let shape = format!(
        "task graph: work {} ({} of it in tasks), span {} ({} on a path), width {}",
        time(graph.work_ns),
        time(graph.task_work_ns),
        time(graph.span_ns),
        counted(graph.span_hops, "task"),
        count(graph.width),
    );
    page.paragraph("", &shape)?;
    let run = format!(
        "{} in {} (bounds: {} to {}); a task waited {} for others, {} when ready, on average",
        time(graph.elapsed_ns),
        counted(graph.regions, "region"),
        time(graph.lower_bound_ns),
        time(graph.upper_bound_ns),
        time(graph.dependency_wait_ns / tasks),
        time(graph.ready_wait_ns / tasks),
    );
    page.paragraph("  ", &run)?;
    if let Some(headline) = &graph.headline {
        page.paragraph("  ", headline)?;
    }
    if graph.order_violations > 0 {
        let tasks = counted(graph.order_violations, "dependence");
        writeln!(page, "  {tasks} not kept: the successor began too early")?;
    }
    if graph.exclusion_violations > 0 {
        let pairs = counted(graph.exclusion_violations, "pair");
        writeln!(
            page,
            "  {pairs} of mutexinoutset tasks ran at the same time"
        )?;
    }
    Ok(())
}
