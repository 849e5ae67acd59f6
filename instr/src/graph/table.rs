//! The analysis for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::model::{Analysis, Distribution, LevelCount, Region};
use crate::page::Page;
use crate::sheet::Sheet;
use crate::summary::units::{count, counted, elide, share, shorten, time};

const LABEL_WIDTH: usize = 56;
/// Rows of a table; the rest is counted.
pub(super) const MAX_ROWS: usize = 30;
/// Rows of the table of levels; more levels share rows.
const LEVEL_ROWS: usize = 16;
/// The longest bar.
const BAR: u64 = 32;

/// Writes the headline and the tables.
///
/// # Errors
///
/// Those of the page.
pub fn write(program: &str, analysis: &Analysis, page: &mut Page<'_>) -> io::Result<()> {
    writeln!(
        page,
        "{} · {}",
        elide(program, LABEL_WIDTH),
        analysis.headline
    )?;
    let sums = Sums::new(analysis);
    regions(&sums, page)?;
    account(&sums, page)?;
    levels(analysis, page)?;
    functions(analysis, page)?;
    times(analysis, page)?;
    for (number, what) in [
        (
            analysis.order_violations,
            "dependences that the run did not respect",
        ),
        (
            analysis.exclusion_violations,
            "mutexinoutset tasks that ran at the same time",
        ),
    ] {
        if number > 0 {
            writeln!(page, "\n{what}: {}", count(number))?;
        }
    }
    Ok(())
}

/// Regions of one body.
#[derive(Default)]
struct Sum<'r> {
    label: &'r str,
    regions: u64,
    threads: u64,
    tasks: u64,
    edges: u64,
    elapsed: u64,
    capacity: u64,
    work: u64,
    span: u64,
    lower: u64,
    upper: u64,
    delay: u64,
    no_work: u64,
    width: u64,
    hops: u64,
}

impl<'r> Sum<'r> {
    fn add(&mut self, region: &'r Region) {
        let more = |value: &mut u64, other: u64| *value = value.saturating_add(other);
        self.label = &region.label;
        self.threads = self.threads.max(region.threads);
        self.width = self.width.max(region.width);
        self.hops = self.hops.max(region.span_hops);
        more(&mut self.regions, 1);
        more(&mut self.tasks, region.tasks);
        more(&mut self.edges, region.edges);
        more(&mut self.elapsed, region.elapsed_ns);
        more(
            &mut self.capacity,
            region.threads.saturating_mul(region.elapsed_ns),
        );
        more(&mut self.work, region.work_ns);
        more(&mut self.span, region.span_ns);
        more(&mut self.lower, region.lower_bound_ns);
        more(&mut self.upper, region.upper_bound_ns);
        more(&mut self.delay, region.delay_ns);
        more(&mut self.no_work, region.no_work_ns);
    }
}

/// The rows for regions: by body, the longest first; then all together, if there are several.
struct Sums<'r> {
    rows: Vec<Sum<'r>>,
    left_out: usize,
}

impl<'r> Sums<'r> {
    fn new(analysis: &'r Analysis) -> Self {
        let mut by_label: BTreeMap<&str, Sum<'_>> = BTreeMap::new();
        let mut total = Sum::default();
        for region in &analysis.regions {
            by_label.entry(&region.label).or_default().add(region);
            total.add(region);
        }
        let mut rows: Vec<Sum<'_>> = by_label.into_values().collect();
        rows.sort_by(|a, b| b.elapsed.cmp(&a.elapsed).then_with(|| a.label.cmp(b.label)));
        let left_out = rows.len().saturating_sub(MAX_ROWS);
        rows.truncate(MAX_ROWS);
        if rows.len() > 1 {
            total.label = "total";
            rows.push(total);
        }
        Self { rows, left_out }
    }
}

fn regions(sums: &Sums<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let header = [
        "parallel region",
        "count",
        "tasks",
        "edges",
        "work T1",
        "span T∞",
        "T1/T∞",
        "span in tasks",
        "width",
    ];
    let mut table = Sheet::of_places(1, &header);
    for sum in &sums.rows {
        let average = match sum.span {
            0 => "-".to_owned(),
            span => format!("{:.2}", sum.work as f64 / span as f64),
        };
        table.add_row([
            sum.label.to_owned(),
            count(sum.regions),
            count(sum.tasks),
            count(sum.edges),
            time(sum.work),
            time(sum.span),
            average,
            count(sum.hops),
            count(sum.width),
        ]);
    }
    table.print_all(page)?;
    more(sums.left_out, page)
}

fn account(sums: &Sums<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let header = [
        "parallel region",
        "P",
        "max(T1/P, T∞)",
        "time T_P",
        "T1/P + T∞",
        "exploited",
        "work",
        "delay",
        "no work",
    ];
    let mut table = Sheet::of_places(1, &header);
    for sum in &sums.rows {
        table.add_row([
            sum.label.to_owned(),
            count(sum.threads),
            time(sum.lower),
            time(sum.elapsed),
            time(sum.upper),
            percent(sum.lower, sum.elapsed),
            percent(sum.work, sum.capacity),
            share(sum.delay, sum.capacity),
            share(sum.no_work, sum.capacity),
        ]);
    }
    table.print_all(page)
}

fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1}%", 100.0 * part as f64 / whole as f64),
    }
}

/// Levels that share a row.
struct Band {
    first: usize,
    last: usize,
    tasks: u64,
    widest: u64,
    work: u64,
}

/// At most [`LEVEL_ROWS`] bands of equally many levels.
fn bands(levels: &[LevelCount]) -> Vec<Band> {
    let size = levels.len().div_ceil(LEVEL_ROWS).max(1);
    let band = |(number, levels): (usize, &[LevelCount])| Band {
        first: number * size,
        last: number * size + levels.len() - 1,
        tasks: levels.iter().map(|level| level.tasks).sum(),
        widest: levels.iter().map(|level| level.tasks).max().unwrap_or(0),
        work: levels
            .iter()
            .fold(0, |sum, level| level.work_ns.saturating_add(sum)),
    };
    levels.chunks(size).enumerate().map(band).collect()
}

/// How wide the graph of the longest region is.
fn levels(analysis: &Analysis, page: &mut Page<'_>) -> io::Result<()> {
    let Some(region) = analysis.regions.iter().reduce(longer) else {
        return Ok(());
    };
    let bands = bands(&region.levels);
    if bands.is_empty() {
        return Ok(());
    }
    let one = bands.iter().all(|band| band.first == band.last);
    let header: &[&str] = match one {
        true => &["level", "tasks", "work", "width"],
        false => &["levels", "tasks", "widest", "work", "mean width"],
    };
    let mut table = Sheet::new(1, header).with_bars();
    for band in &bands {
        let mean = band.tasks as f64 / (band.last - band.first + 1) as f64;
        let length = (mean / region.width.max(1) as f64 * BAR as f64).ceil() as usize;
        let bar = "▇".repeat(length);
        match one {
            true => table.add_row([
                band.first.to_string(),
                count(band.tasks),
                time(band.work),
                bar,
            ]),
            false => table.add_row([
                match band.first == band.last {
                    true => band.first.to_string(),
                    false => format!("{}–{}", band.first, band.last),
                },
                count(band.tasks),
                count(band.widest),
                time(band.work),
                format!("{bar} {mean:.1}"),
            ]),
        };
    }
    if analysis.regions.len() > 1 {
        let label = shorten(&region.label, LABEL_WIDTH);
        let id = region.id.as_deref().unwrap_or("-");
        writeln!(page, "\nlevels of the longest region, {id} {label}:")?;
    }
    table.print_all(page)
}

/// The one that took longer, the first of two that took as long.
fn longer<'r>(a: &'r Region, b: &'r Region) -> &'r Region {
    if a.elapsed_ns >= b.elapsed_ns { a } else { b }
}

fn functions(analysis: &Analysis, page: &mut Page<'_>) -> io::Result<()> {
    let header = ["task", "tasks", "work", "critical tasks", "of the span"];
    let mut table = Sheet::of_places(1, &header);
    for function in analysis.functions.iter().take(page.rows) {
        table.add_row([
            function.label.clone(),
            count(function.tasks),
            time(function.work_ns),
            count(function.critical_tasks),
            format!(
                "{}  {:>5.1}%",
                time(function.span_ns),
                100.0 * function.span_share
            ),
        ]);
    }
    table.print_all(page)?;
    more(analysis.functions.len().saturating_sub(MAX_ROWS), page)
}

fn times(analysis: &Analysis, page: &mut Page<'_>) -> io::Result<()> {
    let header = [
        "of a task",
        "tasks",
        "min",
        "25 %",
        "median",
        "75 %",
        "95 %",
        "max",
    ];
    let mut table = Sheet::of_places(1, &header);
    let mut row = |name: &str, times: &Distribution| {
        if times.count > 0 {
            let quantiles = [
                times.min_ns,
                times.q1_ns,
                times.median_ns,
                times.q3_ns,
                times.p95_ns,
                times.max_ns,
            ];
            let quantiles = quantiles.map(|ns| time(ns.unwrap_or(0)));
            let head = [name.to_owned(), count(times.count)];
            table.add_row(head.into_iter().chain(quantiles));
        }
    };
    row("work", &analysis.work);
    row("dependency wait", &analysis.dependency_wait);
    row("ready wait", &analysis.ready_wait);
    row("slack", &analysis.slack);
    table.print_all(page)
}

fn more(left_out: usize, page: &mut Page<'_>) -> io::Result<()> {
    match left_out {
        0 => Ok(()),
        rows => writeln!(page, "... and {}", counted(rows as u64, "more row")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_hold_every_level_once() {
        for depth in 1..200 {
            let level = |tasks| LevelCount { tasks, work_ns: 1 };
            let levels: Vec<_> = (1..=depth).map(level).collect();
            let bands = bands(&levels);
            assert!(bands.len() <= LEVEL_ROWS, "{depth}");
            let tasks: u64 = bands.iter().map(|band| band.tasks).sum();
            assert_eq!(tasks, depth * (depth + 1) / 2);
            let next = |pair: &[Band]| pair[0].last + 1 == pair[1].first;
            assert!(bands.windows(2).all(next), "{depth}");
            assert_eq!(bands.last().map(|band| band.widest), Some(depth));
        }
    }
}
