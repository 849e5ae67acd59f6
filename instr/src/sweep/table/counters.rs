//! What was counted in the program and in its regions.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::super::figures::Figures;
use super::seconds;
use crate::page::Page;
use crate::sheet::Sheet;
use crate::summary::units::count;

/// Events of a table of counts.
const EVENTS: usize = 5;

/// What was counted: of the program at all points, of regions at the most threads of each series.
pub(super) fn counters(figures: &Figures, page: &mut Page<'_>) -> io::Result<()> {
    let all = figures.subjects.iter().flat_map(|it| &it.series);
    let all = all.flat_map(|series| &series.points);
    let names: BTreeSet<&String> = all.flat_map(|point| point.counters.keys()).collect();
    let names: Vec<&String> = names.into_iter().collect();
    for names in names.chunks(EVENTS) {
        let mut header = vec!["counted in", "input", "threads"];
        header.extend(names.iter().map(|name| name.as_str()));
        let mut sheet = Sheet::new(2, &header);
        for (at, subject) in figures.subjects.iter().enumerate() {
            for series in &subject.series {
                let skipped = if at == 0 {
                    0
                } else {
                    series.points.len().saturating_sub(1)
                };
                for figure in series.points.iter().skip(skipped) {
                    let count = |name: &&String| {
                        let value = figure.counters.get(*name);
                        value.map_or_else(String::new, |value| event(name, value.value))
                    };
                    let mut row = vec![
                        if at == 0 {
                            "(program)".to_owned()
                        } else {
                            subject.path.join(" / ")
                        },
                        series.name.clone(),
                        figure.point.threads.to_string(),
                    ];
                    row.extend(names.iter().map(count));
                    sheet.add_row(row);
                }
            }
        }
        sheet.print_first(page.rows.max(60), page)?;
    }
    if figures.counters_are_estimates {
        page.paragraph(
            "",
            "The processor has fewer counters than were asked for: some counts are estimates, from a part of the time.",
        )?;
    }
    // One line for all events of one reason.
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, why) in &figures.not_counted {
        by_reason.entry(why).or_default().push(name);
    }
    for (why, names) in by_reason {
        page.paragraph("", &format!("not counted: {}: {why}", names.join(", ")))?;
    }
    Ok(())
}

fn event(name: &str, value: f64) -> String {
    match is_time(name) {
        true => seconds(value * 1e-9),
        false => count(value.round() as u64),
    }
}

/// Whether an event is counted in nanoseconds.
fn is_time(name: &str) -> bool {
    let event = name.split(':').next().unwrap_or(name);
    event.ends_with("-clock") || matches!(event, "schedstat-run" | "schedstat-wait")
}
