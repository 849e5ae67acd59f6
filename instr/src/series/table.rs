//! Series for people: what each was, what threads counted, how modules were read.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use instr_analysis::series::{Series, SeriesSection};

use crate::page::Page;
use crate::sheet::Sheet;
use crate::summary::units::{count, percent, size, time};

/// Writes the tables.
///
/// # Errors
///
/// Those of the page.
pub(crate) fn write(found: &SeriesSection, page: &mut Page<'_>) -> io::Result<()> {
    let is_thread = |series: &&Series| series.scope == "thread";
    let all: Vec<&Series> = found
        .series
        .iter()
        .filter(|series| !is_thread(series))
        .collect();
    // Where there is little room, the numbers are more than the name of what read them.
    let mut table = main_table(&all, page.rows, true);
    if !table.fits(page.width) {
        table = main_table(&all, page.rows, false);
    }
    table.print(all.len(), page)?;
    threads(found, page)?;
    let mut table = Sheet::new(
        1,
        &["module", "every", "readings", "left out", "a reading takes"],
    );
    for module in &found.modules {
        table.add_row([
            module.module.to_owned(),
            time(module.period_ns),
            count(module.readings),
            count(module.late),
            time(module.ns_per_reading),
        ]);
    }
    table.print(found.modules.len(), page)?;
    if !found.refused.is_empty() || found.damaged || has_estimates(found) {
        writeln!(page)?;
    }
    if has_estimates(found) {
        page.paragraph("note: ", "~ stands before estimates: events took turns on the processor's counters, and what was counted in a part of the time was scaled")?;
    }
    for refused in &found.refused {
        page.paragraph("note: ", &format!("[{}]: {}", refused.module, refused.why))?;
    }
    match found.damaged {
        true => page.paragraph(
            "note: ",
            "the series are damaged or cut: what is behind the damage is missing",
        ),
        false => Ok(()),
    }
}

/// A row for each series but those of threads.
fn main_table(all: &[&Series], rows: usize, modules: bool) -> Sheet {
    let mut head = vec!["series", "module", "of", "min", "mean", "max", "total"];
    if !modules {
        head.remove(1);
    }
    let mut table = Sheet::new(if modules { 3 } else { 2 }, &head);
    for series in all.iter().take(rows) {
        let a_second = series.total.is_some();
        let cell = |value: Option<f64>| {
            value.map_or("-".to_owned(), |value| shown(value, series.unit, a_second))
        };
        let total = series.total.map_or("-".to_owned(), |total| {
            shown(total as f64, series.unit, false)
        });
        let mark = if series.estimated { "~" } else { "" };
        let mut row = vec![
            series.name.clone(),
            series.module.to_owned(),
            of(series),
            cell(series.min),
            cell(series.mean),
            cell(series.max),
            format!("{mark}{total}"),
        ];
        if !modules {
            row.remove(1);
        }
        table.add_row(row);
    }
    table
}

fn has_estimates(found: &SeriesSection) -> bool {
    found.series.iter().any(|series| series.estimated)
}

/// Whose series it is.
fn of(series: &Series) -> String {
    match (series.scope, series.number, series.pid) {
        (scope @ ("node" | "processor" | "thread"), Some(number), _) => format!("{scope} {number}"),
        ("process", _, Some(pid)) => format!("process {pid}"),
        ("tree", ..) => "the program".to_owned(),
        (scope, ..) => scope.to_owned(),
    }
}

/// A value with its unit; of a total its growth in a second.
fn shown(value: f64, unit: &str, a_second: bool) -> String {
    let whole = value.round().clamp(0.0, u64::MAX as f64) as u64;
    let text = match unit {
        // Time a second is a share.
        "ns" if a_second => return percent(value / 1e9),
        "ns" => time(whole),
        "bytes" => size(whole),
        "uJ" if a_second => return format!("{:.2} W", value / 1e6),
        "uJ" => return format!("{:.2} J", value / 1e6),
        "Hz" => return format!("{:.0} MHz", value / 1e6),
        "ppm" => return percent(value / 1e6),
        _ => count(whole),
    };
    match a_second {
        true => format!("{text}/s"),
        false => text,
    }
}

/// A row for each thread, a column for each event.
fn threads(found: &SeriesSection, page: &mut Page<'_>) -> io::Result<()> {
    let all = || {
        found
            .series
            .iter()
            .filter(|series| series.scope == "thread")
    };
    let mut events: Vec<&str> = Vec::new();
    let mut rows: BTreeMap<(u32, u32), BTreeMap<&str, &Series>> = BTreeMap::new();
    for series in all() {
        if !events.contains(&series.name.as_str()) {
            events.push(&series.name);
        }
        let key = (series.pid.unwrap_or(0), series.number.unwrap_or(0));
        rows.entry(key).or_default().insert(&series.name, series);
    }
    if rows.is_empty() {
        return Ok(());
    }
    let head: Vec<&str> = ["process", "thread"]
        .into_iter()
        .chain(events.iter().copied())
        .collect();
    let mut table = Sheet::new(0, &head);
    for ((pid, tid), of) in rows.iter().take(page.rows) {
        let cells = events.iter().map(|event| {
            let found = of
                .get(event)
                .and_then(|series| Some((series, series.total?)));
            found.map_or("-".to_owned(), |(series, total)| {
                let mark = if series.estimated { "~" } else { "" };
                format!("{mark}{}", shown(total as f64, series.unit, false))
            })
        });
        let first = [pid.to_string(), tid.to_string()];
        table.add_row(first.into_iter().chain(cells));
    }
    table.print(rows.len(), page)?;
    let total = |event: &str| {
        let tree = found
            .series
            .iter()
            .find(|series| series.scope == "tree" && series.name == event)?;
        let ended: u64 = all()
            .filter(|series| series.name == event)
            .filter_map(|series| series.total)
            .fold(0, u64::saturating_add);
        let left = tree.total?.checked_sub(ended).filter(|left| *left > 0)?;
        Some(format!("{event} {}", shown(left as f64, tree.unit, false)))
    };
    let left: Vec<String> = events.iter().filter_map(|event| total(event)).collect();
    match left.is_empty() {
        true => Ok(()),
        false => page.paragraph(
            "note: ",
            &format!(
                "of no thread that has ended and was told: {}",
                left.join(", ")
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn values_have_units_that_people_use() {
        assert_eq!(shown(5e8, "ns", true), "50.0%");
        assert_eq!(shown(2_500_000.0, "uJ", true), "2.50 W");
        assert_eq!(shown(2_500_000.0, "uJ", false), "2.50 J");
        assert_eq!(shown(2.6e9, "Hz", false), "2600 MHz");
        assert_eq!(shown(123_456.0, "ppm", false), "12.3%");
        assert_eq!(shown(12_345.0, "-", false), "12 345");
    }
}
