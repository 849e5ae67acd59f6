//! The analysis for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use comfy_table::Table;

use super::model::{Analysis, Distribution, Region};
use crate::summary::table::new_table;
use crate::summary::units::{count, elide, share, time};

const LABEL_WIDTH: usize = 56;
/// Rows of a table; the rest is counted.
const MAX_ROWS: usize = 30;

/// Writes the headline and the tables.
///
/// # Errors
///
/// Those of `out`.
pub fn write(program: &str, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{} · {}",
        elide(program, LABEL_WIDTH),
        analysis.headline
    )?;
    regions(analysis, out)?;
    account(analysis, out)?;
    functions(analysis, out)?;
    waits(analysis, out)?;
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
            writeln!(out, "\n{what}: {}", count(number))?;
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

/// By body, the longest first; then all together, if there are several.
fn sums(analysis: &Analysis) -> Vec<Sum<'_>> {
    let mut by_label: BTreeMap<&str, Sum<'_>> = BTreeMap::new();
    let mut total = Sum::default();
    for region in &analysis.regions {
        by_label.entry(&region.label).or_default().add(region);
        total.add(region);
    }
    let mut sums: Vec<Sum<'_>> = by_label.into_values().collect();
    sums.sort_by(|a, b| b.elapsed.cmp(&a.elapsed).then_with(|| a.label.cmp(b.label)));
    sums.truncate(MAX_ROWS);
    if analysis.regions.len() > 1 && sums.len() > 1 {
        total.label = "total";
        sums.push(total);
    }
    sums
}

fn regions(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut table = new_table(
        1,
        &[
            "parallel region",
            "count",
            "tasks",
            "work T1",
            "span T∞",
            "T1/T∞",
            "longest path",
            "width",
        ],
    );
    for sum in sums(analysis) {
        let average = match sum.span {
            0 => "-".to_owned(),
            span => format!("{:.2}", sum.work as f64 / span as f64),
        };
        table.add_row([
            elide(sum.label, LABEL_WIDTH),
            count(sum.regions),
            count(sum.tasks),
            time(sum.work),
            time(sum.span),
            average,
            count(sum.hops),
            count(sum.width),
        ]);
    }
    print(&table, out)
}

fn account(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut table = new_table(
        1,
        &[
            "parallel region",
            "P",
            "max(T1/P, T∞)",
            "time T_P",
            "T1/P + T∞",
            "work",
            "delay",
            "no work",
        ],
    );
    for sum in sums(analysis) {
        table.add_row([
            elide(sum.label, LABEL_WIDTH),
            count(sum.threads),
            time(sum.lower),
            time(sum.elapsed),
            time(sum.upper),
            share(sum.work, sum.capacity),
            share(sum.delay, sum.capacity),
            share(sum.no_work, sum.capacity),
        ]);
    }
    print(&table, out)
}

fn functions(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut table = new_table(1, &["task", "tasks", "work", "critical", "of the span"]);
    for function in analysis.functions.iter().take(MAX_ROWS) {
        table.add_row([
            elide(&function.label, LABEL_WIDTH),
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
    print(&table, out)?;
    match analysis.functions.len().saturating_sub(MAX_ROWS) {
        0 => Ok(()),
        more => writeln!(out, "... and {} more", count(more as u64)),
    }
}

fn waits(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut table = new_table(
        1,
        &[
            "task waits",
            "tasks",
            "min",
            "25 %",
            "median",
            "75 %",
            "95 %",
            "max",
        ],
    );
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
    row("for predecessors", &analysis.dependency_wait);
    row("when ready", &analysis.ready_wait);
    print(&table, out)
}

fn print(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    if table.row_count() == 0 {
        return Ok(());
    }
    writeln!(out)?;
    table
        .lines()
        .try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}
