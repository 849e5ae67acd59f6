//! Which points of the program are worth their energy.

use std::collections::{BTreeMap, BTreeSet};

use instr_analysis::scaling::metrics;

use super::model::{Pareto, Subject};

/// The points of the program that no other one beats.
pub(super) fn pareto(program: &Subject) -> Vec<Pareto> {
    let all = program.series.iter();
    let all = all.flat_map(|series| series.points.iter().map(move |it| (series, it)));
    let with_energy = all.filter_map(|(series, figure)| {
        Some(Pareto {
            series: series.name.clone(),
            threads: figure.point.threads,
            seconds: figure.seconds.value,
            joules: figure.energy.as_ref()?.joules.value,
        })
    });
    // Inputs are not a choice: each has a front of its own.
    let mut by_input: BTreeMap<Option<&str>, Vec<Pareto>> = BTreeMap::new();
    for (point, input) in with_energy.zip(inputs(program)) {
        by_input.entry(input).or_default().push(point);
    }
    let front = |points: Vec<Pareto>| {
        let both: Vec<(f64, f64)> = points.iter().map(|it| (it.seconds, it.joules)).collect();
        let best: BTreeSet<usize> = metrics::pareto(&both).into_iter().collect();
        let points = points.into_iter().enumerate();
        points.filter_map(move |(at, it)| best.contains(&at).then_some(it))
    };
    by_input.into_values().flat_map(front).collect()
}

/// The inputs of the points that have energy, in order.
fn inputs(program: &Subject) -> impl Iterator<Item = Option<&str>> {
    let points = program.series.iter().flat_map(|series| &series.points);
    points
        .filter(|figure| figure.energy.is_some())
        .map(|figure| figure.point.input.as_deref())
}
