//! How far a prediction may be off.

use std::f64::consts::SQRT_2;

use super::runs::Role;
use super::{Account, Forecaster, Point, Question};
use crate::predict::collect::Survey;
use crate::predict::costs::{COSTS, Cost, Costs, Measure, UNKNOWN_NS, UNKNOWN_START_NS};
use crate::predict::model::Spots;
use crate::predict::totals::{Total, Totals};

/// Standard deviations within which 95 % lie, where the deviation comes from eight batches: the quantile of Student's distribution with 7 degrees of freedom.
const WITHIN: f64 = 2.36;
/// The largest share of waiting for processors that is counted.
const MOST_WAITED: f64 = 0.9;

impl Forecaster<'_> {
    /// The share of the threads' time in which others had their processors in the recorded run. A prediction has none of it; its upper bound has as much.
    fn waited(&self) -> f64 {
        let survey = self.survey;
        let all = survey.elapsed as f64 * survey.team.max(1) as f64;
        let waited = (survey.ready_inside + survey.ready_outside) as f64;
        (waited / all.max(1.0)).min(MOST_WAITED)
    }

    /// What is not known costs as much as the dearest that is, beside starting threads, and no less than it does elsewhere.
    pub(super) fn slow(&self, measures: &[Measure]) -> Costs {
        let known = COSTS.iter().zip(measures);
        let known = known.filter(|(cost, _)| **cost != Cost::Start);
        let dearest = known
            .map(|(_, measure)| measure.p95_ns)
            .fold(UNKNOWN_NS, f64::max);
        let mut costs = means(measures);
        for cost in &self.unknown_costs {
            costs.0[*cost as usize] = match cost {
                Cost::Start => dearest.max(UNKNOWN_START_NS),
                _ => dearest,
            };
        }
        costs
    }

    pub(super) fn point(&self, point: usize, residual: f64) -> Point {
        let mut account = Account::default();
        let mut unchanged = None;
        let (mut low, mut high) = (u64::MAX, 0);
        let mut drawn: Vec<f64> = Vec::new();
        let mut variance = 0.0;
        for run in &self.runs {
            let elapsed = run.account.elapsed;
            match run.role {
                Role::Asked(own) if own == point => {
                    account = run.account.clone();
                    variance = run.variance;
                }
                Role::Unchanged(own) if own == point => unchanged = Some(elapsed),
                Role::Bound(own) if own == point => {}
                Role::Drawn(own) if own == point => {
                    drawn.push(elapsed as f64);
                    continue;
                }
                _ => continue,
            }
            if !matches!(run.role, Role::Unchanged(_)) {
                (low, high) = (low.min(elapsed), high.max(elapsed));
            }
        }
        let threads = self.threads[point];
        let time = account.elapsed as f64;
        let count = drawn.len().max(1) as f64;
        let mean = drawn.iter().sum::<f64>() / count;
        let spread = drawn
            .iter()
            .map(|drawn| (drawn - mean).powi(2))
            .sum::<f64>();
        let spread = (spread / (count - 1.0).max(1.0)).sqrt();
        let inflation = (self.inflation(threads) - 1.0) / 2.0 * time;
        let missed = residual * time;
        let spread = WITHIN * spread;
        let squares = spread * spread + 4.0 * variance + missed * missed + inflation * inflation;
        let error = squares.sqrt();
        let high = (high as f64 + error) / (1.0 - self.waited());
        Point {
            threads,
            low: lowered(low as f64, error).round() as u64,
            high: high.round() as u64,
            unchanged: unchanged.unwrap_or(account.elapsed),
            account,
        }
    }
}

/// The lower bound of a time with an error. An error of more than half of it is taken as a factor: no run takes no time.
fn lowered(time: f64, error: f64) -> f64 {
    let half = time / 2.0;
    match error <= half {
        true => time - error,
        false => half * ((half - error) / half.max(1.0)).exp(),
    }
}

/// Costs that a run with more threads has and no trace shows.
pub(super) fn unknown_costs(survey: &Survey, totals: &Totals, question: &Question) -> Vec<Cost> {
    let measured = |cost: &Cost| question.several[*cost as usize].count > 0;
    let mut all = vec![Cost::Start];
    if question.threads.last() > Some(&2) {
        all.push(Cost::Make);
    }
    if survey.regions > 1 {
        all.push(Cost::Fork);
    }
    if totals.tasks > 0 {
        all.push(Cost::Wake);
    }
    if !totals.locks.is_empty() {
        all.push(Cost::HandOver);
    }
    all.retain(|cost| !measured(cost));
    all
}

pub(super) fn means(measures: &[Measure]) -> Costs {
    let mut costs = Costs::default();
    for (cost, measure) in costs.0.iter_mut().zip(measures) {
        *cost = measure.mean_ns;
    }
    costs
}

/// What another run may have otherwise.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    /// By what the time of spots is multiplied.
    pub(super) factors: Vec<f64>,
    /// The same for what is outside of regions.
    pub(super) serial: f64,
    /// By how many standard deviations each cost is off.
    costs: [f64; COSTS.len()],
}

/// So many means of work and costs as other runs might have them. Both runs have an error, so that their difference has the variance of two. What makes whole
/// stretches slow concerns all spots alike; the rest is each one's own.
pub(super) fn draws(
    spots: &Spots,
    totals: &Totals,
    asked: &[f64],
    count: usize,
    random: &mut fastrand::Rng,
) -> Vec<Draw> {
    let slowness = totals.slowness();
    let common = standard(count, random);
    let costs = COSTS.map(|_| standard(count, random));
    let draw = |at: usize| Draw {
        factors: asked.to_vec(),
        serial: (1.0 + slowness * SQRT_2 * common[at]).max(0.0),
        costs: std::array::from_fn(|cost| costs[cost][at]),
    };
    let mut all: Vec<Draw> = (0..count).map(draw).collect();
    for (number, spot) in spots.all().iter().enumerate() {
        let total = totals.spots.get(spot);
        let own_error = total.and_then(Total::error).unwrap_or(0.0);
        let excess = total.and_then(Total::excess);
        let slow = excess.map_or(slowness, f64::sqrt);
        let own = standard(count, random);
        for (at, draw) in all.iter_mut().enumerate() {
            let off = SQRT_2 * (slow * common[at] + own_error * own[at]);
            draw.factors[number] *= (1.0 + off).max(0.0);
        }
    }
    all
}

/// Numbers of the standard normal distribution, put right so that their mean is 0 and their variance 1: there are only a few.
fn standard(count: usize, random: &mut fastrand::Rng) -> Vec<f64> {
    let mut all: Vec<f64> = (0..count).map(|_| normal(random)).collect();
    let number = count.max(1) as f64;
    let mean = all.iter().sum::<f64>() / number;
    let squares = all.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let deviation = (squares / (number - 1.0).max(1.0)).sqrt();
    if deviation > 0.0 {
        all.iter_mut()
            .for_each(|value| *value = (*value - mean) / deviation);
    }
    all
}

pub(super) fn drawn_costs(measures: &[Measure], draw: &Draw) -> Costs {
    let mut costs = means(measures);
    let all = costs.0.iter_mut().zip(COSTS).zip(measures);
    for (((cost, kind), measure), off) in all.zip(&draw.costs) {
        // A run starts its threads once; of other costs it has a mean.
        let spread = match kind {
            Cost::Start | Cost::Make => measure.spread_ns().hypot(measure.foreign_ns),
            _ => measure.between_runs_ns(),
        };
        *cost = (*cost + spread * off).max(0.0);
    }
    costs
}

/// A number of the standard normal distribution, nearly: the sum of twelve uniform ones.
fn normal(random: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}
