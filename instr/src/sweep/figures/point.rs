//! Figures of one point: times of its runs, energy, executions; and against the point with the fewest threads.

use std::collections::BTreeMap;

use instr_analysis::scaling::{Estimate, LEVEL, metrics};
use instr_analysis::statistics::{limits, location};

use super::super::run::Executions;
use super::{EnergyFigure, ExecutionFigure, Figure, Sample};

/// Distance from the median, in deviations, from which on a run is named as an outlier (Iglewicz & Hoaglin 1993).
const OUTLIER: f64 = 3.5;
/// Fewer runs than this have no outliers.
const LEAST_FOR_OUTLIERS: usize = 5;

/// The median with its interval; without one where there is one value. [`None`] of no values.
fn estimate(values: &[f64]) -> Option<Estimate> {
    let value = location::median(values)?;
    let (low, high) = limits::of_median(values, LEVEL).unwrap_or((value, value));
    let low = low.max(0.0); // none of these numbers is below
    Some(Estimate { value, low, high })
}

/// Of the runs that have energy, if all do.
fn energy(samples: &[Sample<'_>]) -> Option<EnergyFigure> {
    let joules: Option<Vec<f64>> = samples.iter().map(Sample::joules).collect();
    let joules = joules?;
    let median = |of: &dyn Fn(f64, f64) -> f64| {
        let all = joules.iter().zip(samples);
        let values: Vec<f64> = all
            .map(|(joules, sample)| of(*joules, sample.seconds))
            .collect();
        location::median(&values)
    };
    Some(EnergyFigure {
        joules: estimate(&joules)?,
        watts: median(&|joules, seconds| joules / seconds)?,
        energy_delay: median(&|joules, seconds| metrics::energy_delay(joules, seconds, 1))?,
    })
}

/// Counts of the events that all of the runs have.
fn counters(samples: &[Sample<'_>]) -> BTreeMap<String, Estimate> {
    let of = |sample: &Sample<'_>, name: &String| sample.counters().get(name).copied();
    let names = samples.first().map(|first| first.counters().keys());
    let one = |name: &String| {
        let counts = samples.iter().map(|sample| Some(of(sample, name)? as f64));
        Some((
            name.clone(),
            estimate(&counts.collect::<Option<Vec<_>>>()?)?,
        ))
    };
    names.into_iter().flatten().filter_map(one).collect()
}

/// The median run's: of each number the median over runs.
fn executions(samples: &[Sample<'_>]) -> Option<ExecutionFigure> {
    let regions: Option<Vec<_>> = samples.iter().map(|sample| sample.region).collect();
    let regions = regions?;
    let all: Option<Vec<_>> = regions
        .iter()
        .map(|region| region.executions.as_deref())
        .collect();
    let all = all?;
    let median = |of: &dyn Fn(&Executions) -> f64| {
        let values: Vec<f64> = all.iter().map(|it| of(it)).collect();
        location::median(&values)
    };
    let counts: Vec<f64> = regions.iter().map(|region| region.count as f64).collect();
    Some(ExecutionFigure {
        count: location::median(&counts)?,
        seconds: Executions {
            sum: median(&|it| it.sum)?,
            min: median(&|it| it.min)?,
            mean: median(&|it| it.mean)?,
            median: median(&|it| it.median)?,
            p95: median(&|it| it.p95)?,
            max: median(&|it| it.max)?,
            deviation: median(&|it| it.deviation)?,
        },
    })
}

/// `has_process`: memory and processor time of the process are those of what the samples measure.
pub(super) fn figure(samples: &[Sample<'_>], has_process: bool) -> Option<Figure> {
    let seconds: Vec<f64> = samples.iter().map(|sample| sample.seconds).collect();
    let estimate = estimate(&seconds)?;
    let median = estimate.value;
    let spread = location::spread(&seconds).unwrap_or(0.0);
    let is_far = |sample: &&Sample<'_>| {
        seconds.len() >= LEAST_FOR_OUTLIERS
            && (sample.seconds - median).abs() > OUTLIER * spread
            && spread > 0.0
    };
    let outliers = samples
        .iter()
        .filter(is_far)
        .map(|sample| (sample.run.repeat, sample.seconds))
        .collect();
    let times: Vec<f64> = samples
        .iter()
        .map(|sample| sample.run.user_seconds + sample.run.system_seconds)
        .collect();
    Some(Figure {
        point: samples[0].run.point.clone(),
        runs: seconds.len(),
        seconds: estimate,
        outliers,
        processor_seconds: location::median(&times).filter(|it| has_process && *it > 0.0),
        resident_bytes: samples
            .iter()
            .filter_map(|sample| sample.run.resident_bytes)
            .max()
            .filter(|_| has_process),
        energy: energy(samples),
        counters: counters(samples),
        executions: executions(samples),
        speedup: None,
        efficiency: None,
        speedup_loss: None,
        serial_fraction: None,
        share: None,
    })
}

/// Relates a point to that with the fewest threads.
pub(super) fn relate(figure: &mut Figure, (threads, seconds): (f64, f64)) {
    let own = f64::from(figure.point.threads);
    let efficiency = metrics::efficiency((threads, seconds), own, figure.seconds.value);
    let speedup = efficiency * own;
    figure.efficiency = Some(efficiency);
    figure.speedup = Some(speedup);
    figure.speedup_loss = Some(metrics::speedup_loss(own, speedup));
    // It is defined against one thread.
    figure.serial_fraction = metrics::karp_flatt(own, speedup).filter(|_| threads == 1.0);
}
