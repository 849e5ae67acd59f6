//! The cases in which all regions are run again.

use super::Forecaster;
use super::account::Account;
use super::error::{self, drawn_costs, means};
use super::levers::{Lever, merge};
use crate::predict::costs::{Cost, Measure};
use crate::predict::model::{Spot, Spots};
use crate::predict::plan::Shape;
use crate::predict::sampling::{Moments, Sampling};
use crate::predict::simulate::Case;
use crate::predict::totals::Totals;

/// Steps of all simulations together, about: beyond, there are fewer of them.
const EFFORT: u64 = 300_000_000;
/// Work of which nobody knows whether it is divided is a source of error from this share on.
const UNDETERMINED: f64 = 0.002;

#[derive(Clone, Debug)]
pub(super) enum Role {
    Recorded,
    Alone,
    /// Of a point.
    Asked(usize),
    Unchanged(usize),
    /// What else is possible: it bounds the error.
    Bound(usize),
    Drawn(usize),
    Half(usize),
    Gone(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) role: Role,
    pub(super) shape: Shape,
    pub(super) case: Case,
    /// By what the time outside of regions is multiplied.
    pub(super) serial: f64,
    /// Threads that exist.
    pub(super) started: usize,
    /// Of the regions that are run again, by group.
    pub(super) groups: Vec<(Account, Moments)>,
    /// Of the whole run, and the variance of its time for regions that were not run again, ns².
    pub(super) account: Account,
    pub(super) variance: f64,
}

impl Run {
    /// All regions have been given.
    pub(super) fn add_up(&mut self, sampling: &Sampling) {
        for (number, (account, moments)) in std::mem::take(&mut self.groups).iter().enumerate() {
            let for_all = |ns: u64| sampling.for_all(number, ns);
            self.account.elapsed += for_all(account.elapsed);
            self.account.work += for_all(account.work);
            for (loss, ns) in &account.losses {
                self.account.lose(*loss, for_all(*ns));
            }
            self.variance += moments.variance(sampling.group(number));
        }
    }
}

impl Forecaster<'_> {
    pub(super) fn plan_runs(&mut self, spots: &Spots, totals: &Totals) {
        let question = self.question;
        let recorded = vec![1.0; spots.all().len()];
        // A prediction is for a machine with a processor for each thread.
        let waits = |spot: &Spot| if *spot == Spot::NoProcessor { 0.0 } else { 1.0 };
        let one: Vec<f64> = spots.all().iter().map(waits).collect();
        let mut asked = one.clone();
        for (spot, factor) in &question.faster {
            if let Some(at) = spots.all().iter().position(|known| known == spot) {
                asked[at] *= factor;
            }
        }
        let case = |factors: &[f64], measures: &[Measure]| Case {
            library: question.library,
            costs: means(measures),
            factors: factors.to_vec(),
            without: [None; 2],
            one_by_one: false,
            made: 0,
        };
        let with = |case: Case| Case {
            without: [question.without, None],
            ..case
        };
        let shape = |threads: usize, chunk| Shape {
            threads,
            chunk,
            ..Shape::default()
        };
        let chunk = question.chunk;
        let as_it_was = case(&recorded, &self.survey.recorded_costs);
        self.push(Role::Recorded, shape(self.survey.team, None), as_it_was);
        self.push(
            Role::Alone,
            shape(1, chunk),
            with(case(&self.inflated(&asked, 1), self.measures(1))),
        );
        let matters = |ns: u64| ns as f64 > UNDETERMINED * totals.work() as f64;
        let (undetermined, unseen) = (matters(totals.undetermined), matters(totals.unseen));
        let points = self.threads.len() as u64;
        let threads: u64 = self.threads.iter().map(|threads| *threads as u64).sum();
        let own = totals.steps + totals.tasks + 1;
        let size = own + self.survey.regions * 4 * threads / points;
        let fixed = points * 3 + 2 * self.levers.len() as u64;
        let draws = (EFFORT / size).saturating_sub(fixed) / points;
        let draws = draws.clamp(3, 12) as usize;
        if fixed * size > EFFORT {
            self.levers.truncate(4);
        }
        let mut random = fastrand::Rng::with_seed(7);
        let drawn = error::draws(spots, totals, &asked, draws, &mut random);
        for point in 0..self.threads.len() {
            let threads = self.threads[point];
            let measures = *self.measures(threads);
            let case = |factors: &[f64]| case(factors, &measures);
            let inflated = self.inflated(&asked, threads);
            let own = shape(threads, chunk);
            self.push(Role::Asked(point), own, with(case(&inflated)));
            if question.changes() {
                let factors = self.inflated(&one, threads);
                self.push(Role::Unchanged(point), shape(threads, None), case(&factors));
            }
            let slow = Case {
                one_by_one: true,
                costs: self.slow(&measures),
                ..with(case(&inflated))
            };
            self.push(Role::Bound(point), own, slow);
            if undetermined {
                let shape = Shape {
                    divided: true,
                    ..own
                };
                self.push(Role::Bound(point), shape, with(case(&inflated)));
            }
            if unseen {
                let shape = Shape { whole: true, ..own };
                self.push(Role::Bound(point), shape, with(case(&inflated)));
            }
            for draw in &drawn {
                let case = Case {
                    costs: drawn_costs(&measures, draw),
                    ..with(case(&self.inflated(&draw.factors, threads)))
                };
                self.push(Role::Drawn(point), own, case);
                if let Some(run) = self.runs.last_mut() {
                    run.serial = draw.serial;
                }
            }
        }
        let point = question.threads.len().saturating_sub(1);
        let threads = self.threads[point];
        let factors = self.inflated(&asked, threads);
        let measures = *self.measures(threads);
        for number in 0..self.levers.len() {
            let own = shape(threads, chunk);
            let pulled = |share: f64| {
                let mut case = with(case(&factors, &measures));
                match self.levers[number] {
                    Lever::Spot(spot) => {
                        for (known, factor) in spots.all().iter().zip(&mut case.factors) {
                            if merge(*known, &self.merged) == spot {
                                *factor *= share;
                            }
                        }
                    }
                    Lever::Lock(lock) => case.without[1] = Some(lock),
                    Lever::Tasks => {
                        for cost in [Cost::Create, Cost::Dispatch] {
                            case.costs.0[cost as usize] *= share;
                        }
                    }
                }
                case
            };
            let (half, gone) = (pulled(0.5), pulled(0.0));
            self.push(Role::Half(number), own, half);
            if !matches!(self.levers[number], Lever::Lock(_)) {
                self.push(Role::Gone(number), own, gone);
            }
        }
    }

    fn push(&mut self, role: Role, shape: Shape, case: Case) {
        self.runs.push(Run {
            role,
            shape,
            case,
            serial: 1.0,
            started: 1,
            groups: Vec::new(),
            account: Account::default(),
            variance: 0.0,
        });
    }
}
