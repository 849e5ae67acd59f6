//! Weak scaling: larger inputs on more threads.

use instr_analysis::scaling::metrics;

use super::{Series, Weak};

/// Finds inputs whose work grows with the threads. Only where nothing else than inputs and threads varies.
pub(super) fn weak(series: &[Series]) -> Vec<Weak> {
    let mut by_work: Vec<&Series> = series
        .iter()
        .filter(|series| !series.points.is_empty())
        .collect();
    let plain = |series: &&Series| {
        let point = &series.points[0].point;
        point.environment.is_empty()
            && point.program.is_none()
            && point.placement.is_none()
            && point.frequency_khz.is_none()
            && point.smt.is_none()
    };
    if by_work.len() < 2 || !by_work.iter().all(plain) {
        return Vec::new();
    }
    by_work.sort_by(|a, b| {
        a.points[0]
            .seconds
            .value
            .total_cmp(&b.points[0].seconds.value)
    });
    let counts: Vec<f64> = by_work[0]
        .points
        .iter()
        .map(|figure| f64::from(figure.point.threads))
        .collect();
    let fewest = by_work[0].points[0].point.threads;
    if by_work
        .iter()
        .any(|series| series.points[0].point.threads != fewest)
    {
        return Vec::new();
    }
    let on_fewest: Vec<f64> = by_work
        .iter()
        .map(|series| series.points[0].seconds.value)
        .collect();
    let found = metrics::weak_inputs(&counts, &on_fewest);
    let first = on_fewest[0];
    let matched = counts.iter().zip(found).filter_map(|(count, found)| {
        let (at, work) = found?;
        let figure = by_work[at]
            .points
            .iter()
            .find(|figure| f64::from(figure.point.threads) == *count)?;
        let seconds = figure.seconds.value;
        Some(Weak {
            threads: figure.point.threads,
            series: by_work[at].name.clone(),
            work,
            seconds,
            efficiency: first / seconds,
        })
    });
    let matched: Vec<Weak> = matched.collect();
    match matched.len() {
        0 | 1 => Vec::new(),
        _ => matched,
    }
}
