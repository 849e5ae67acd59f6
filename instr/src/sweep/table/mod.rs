//! The figures of a sweep as text for people.

mod counters;
mod program;
mod regions;

use std::collections::BTreeSet;
use std::io::{self, Write as _};

use super::figures::Figures;
use crate::page::Page;
use crate::quote::shown;
use crate::summary::units::{counted, percent, time};

use self::counters::counters;
use self::program::{energy, heat_map, laws, times, weak};
use self::regions::{of_regions, single};

/// Points whose runs failed that are named.
const MOST_POINTS: usize = 3;

/// Writes all of it; regions beyond the page's rows are counted.
pub(super) fn write(figures: &Figures, executions: bool, page: &mut Page<'_>) -> io::Result<()> {
    head(figures, page)?;
    let Some((program, regions)) = figures.subjects.split_first() else {
        return Ok(());
    };
    times(program, figures.fewest, page)?;
    heat_map(program, page)?;
    laws(program, page)?;
    weak(program, page)?;
    energy(figures, page)?;
    counters(figures, page)?;
    if !regions.is_empty() {
        of_regions(regions, page)?;
    }
    match executions {
        true => single(regions, page),
        false => Ok(()),
    }
}

fn head(figures: &Figures, page: &mut Page<'_>) -> io::Result<()> {
    writeln!(
        page,
        "{} · {}",
        shown(figures.command.join(" ")),
        counted(figures.runs as u64, "run")
    )?;
    let mut text = String::new();
    if let Some(deviation) = figures.deviation {
        text += &format!("Repeats of a point vary by {}.", percent(deviation));
    }
    if let Some(noise) = figures.noise {
        text += &format!(
            " Two halves of the same runs differ by {} (A/A): smaller differences mean nothing.",
            percent(noise)
        );
    }
    if figures.deviation.is_none() && figures.noise.is_none() && figures.runs > 0 {
        text +=
            "Each point was run once: nothing can be said about noise. --repeat 5 changes that.";
    }
    page.paragraph("", text.trim())?;
    for (reason, number) in &figures.failures {
        page.paragraph(
            "",
            &format!(
                "{} did not count: {reason} ({})",
                counted(*number as u64, "run"),
                first_of(figures.failed.get(reason))
            ),
        )?;
    }
    if figures.damaged > 0 {
        page.paragraph(
            "",
            &format!(
                "{} of the record cannot be read",
                counted(figures.damaged as u64, "line")
            ),
        )?;
    }
    Ok(())
}

/// The first points that failed so, and how many there are.
fn first_of(points: Option<&BTreeSet<String>>) -> String {
    let points = points.into_iter().flatten();
    let all: Vec<&str> = points.map(String::as_str).collect();
    let mut text = all[..all.len().min(MOST_POINTS)].join("; ");
    if all.len() > MOST_POINTS {
        text += &format!("; and {} more", all.len() - MOST_POINTS);
    }
    text
}

fn seconds(value: f64) -> String {
    time((value * 1e9).round().clamp(0.0, 9e18) as u64)
}

fn joules(value: f64) -> String {
    match value {
        kilo if kilo >= 10_000.0 => format!("{:.2} kJ", value / 1000.0),
        one if one >= 1.0 => format!("{value:.2} J"),
        _ => format!("{:.3} mJ", value * 1000.0),
    }
}
