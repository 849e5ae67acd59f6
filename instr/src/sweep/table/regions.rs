//! Regions: where they stop scaling, and how long single executions took.

use std::io;

use super::super::figures::Subject;
use super::{joules, seconds};
use crate::page::Page;
use crate::sheet::Sheet;
use crate::summary::units::{count, percent};

/// How long single executions of regions took, at the most threads of each series.
pub(super) fn single(regions: &[Subject], page: &mut Page<'_>) -> io::Result<()> {
    let header = [
        "executions of",
        "input",
        "threads",
        "count",
        "sum",
        "min",
        "mean",
        "median",
        "95 %",
        "max",
        "deviation",
    ];
    let mut sheet = Sheet::new(2, &header);
    for region in regions {
        for series in &region.series {
            let Some((point, of)) = series.points.last().and_then(|last| {
                let executions = last.executions.as_ref()?;
                Some((&last.point, executions))
            }) else {
                continue;
            };
            let times = &of.seconds;
            let times = [
                times.sum,
                times.min,
                times.mean,
                times.median,
                times.p95,
                times.max,
                times.deviation,
            ];
            let mut row = vec![
                region.path.join(" / "),
                series.name.clone(),
                point.threads.to_string(),
                count(of.count.round() as u64),
            ];
            row.extend(times.map(seconds));
            sheet.add_row(row);
        }
    }
    sheet.print_first(page.rows, page)
}

/// Each region at the most threads of each series: where it stops, and what it costs there.
pub(super) fn of_regions(regions: &[Subject], page: &mut Page<'_>) -> io::Result<()> {
    let header = [
        "region",
        "input",
        "threads",
        "time",
        "share",
        "speedup",
        "efficiency",
        "stops at",
        "energy",
    ];
    let with_energy = regions
        .iter()
        .flat_map(|region| &region.series)
        .flat_map(|series| &series.points)
        .any(|figure| figure.energy.is_some());
    let header = &header[..header.len() - usize::from(!with_energy)];
    let named = regions
        .iter()
        .flat_map(|region| &region.series)
        .any(|series| !series.name.is_empty());
    let mut sheet = Sheet::new(
        if named { 2 } else { 1 },
        &if named {
            header.to_vec()
        } else {
            [&header[..1], &header[2..]].concat()
        },
    );
    for region in regions {
        for series in &region.series {
            let Some(last) = series.points.last() else {
                continue;
            };
            let mut row = vec![region.path.join(" / ")];
            if named {
                row.push(series.name.clone());
            }
            row.extend([
                last.point.threads.to_string(),
                seconds(last.seconds.value),
                last.share.map_or_else(String::new, percent),
                last.speedup
                    .map_or_else(String::new, |it| format!("{it:.2}")),
                last.efficiency.map_or_else(String::new, percent),
                series
                    .stops
                    .map_or_else(|| "-".to_owned(), |threads| threads.to_string()),
            ]);
            if with_energy {
                let energy = last.energy.as_ref();
                row.push(energy.map_or_else(String::new, |it| joules(it.joules.value)));
            }
            sheet.add_row(row);
        }
    }
    sheet.print_first(page.rows, page)
}
