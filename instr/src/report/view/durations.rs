//! How long executions of bodies took, by thread.

use super::super::timeline::Collected;
use super::super::timeline::model::{Histogram, Timeline};
use super::{Cell, THREADS};
use crate::summary::units::{count, counted, time};

/// Bodies whose durations are shown.
const HISTOGRAMS: usize = 20;

/// Durations of a body.
pub(in super::super) struct Durations<'t> {
    /// Its process, and the name of that.
    pub(in super::super) process: usize,
    pub(in super::super) program: &'t str,
    pub(in super::super) label: &'t str,
    pub(in super::super) task: bool,
    /// Shortest and longest duration.
    pub(in super::super) from: String,
    pub(in super::super) to: String,
    pub(in super::super) classes: usize,
    pub(in super::super) rows: Vec<DurationRow<'t>>,
    pub(in super::super) cells: Vec<Cell>,
}

/// Paraver's rows of one thread.
pub(in super::super) struct DurationRow<'t> {
    pub(in super::super) thread: &'t str,
    pub(in super::super) cells: [String; 7],
}

/// Durations of the bodies with most time.
pub(in super::super) fn durations(collected: &Collected) -> Vec<Durations<'_>> {
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
        process: code.process,
        program: timeline
            .processes
            .get(code.process)
            .map_or("", |process| process.program.as_str()),
        label: &code.label,
        task: code.task,
        from: time(*histogram.begins_ns.first()?),
        to: time(longest),
        classes: histogram.begins_ns.len(),
        rows,
        cells,
    })
}
