//! All regions of a run, run again for all numbers of threads and all that may change.
//!
//! Each case is one run of every region: the recorded one, the one that is asked for, the same with other assumptions, from which the error
//! follows, and those in which one thing is faster.

mod account;
mod error;
mod levers;
mod runs;

use std::collections::BTreeSet;

use instr_trace::model::Code;

use super::collect::{Receiver, Survey, Why};
use super::costs::{COSTS, Cost, Measure};
use super::model::{Lock, Region, Spot, Spots};
use super::plan::{Plan, Shape};
use super::sampling::Sampling;
use super::simulate::{Library, simulate};
use super::totals::Totals;
pub use account::{Account, Loss};
pub use levers::Lever;
use runs::{Role, Run};

/// Most pieces of one loop that `chunk` may make.
pub const MAX_PIECES: u64 = 1 << 22;
/// Steps of all simulations of regions that have their like, about: beyond, some stand for others.
const EFFORT_ALIKE: u64 = 30_000_000;
/// Most threads that a run is tried with to find its limit, and most threads of all its regions together; twice the threads that were asked for in any case.
const LIMIT: u64 = 1024;
const LIMIT_EFFORT: u64 = 1_000_000;
/// Loops of a region that are told apart: of more, which are likely to be the same ones again and again, all are one.
const LOOPS: u32 = 8;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Numbers of threads, ascending.
    pub threads: Vec<usize>,
    /// By what the time of spots is multiplied: 0.5 is twice as fast.
    pub faster: Vec<(Spot, f64)>,
    /// A lock that is left out.
    pub without: Option<Lock>,
    /// Iterations of a chunk.
    pub chunk: Option<u64>,
    /// Whose rules tasks follow.
    pub library: Library,
    /// How much longer work takes with twice as many threads, from other traces: 0.1 is a tenth.
    pub inflation: f64,
    /// What the run-time library's work costs with several threads: [`super::costs::with_several`].
    pub several: [Measure; COSTS.len()],
}

impl Question {
    /// Whether something is to be otherwise than recorded, beside threads.
    #[must_use]
    pub fn changes(&self) -> bool {
        !self.faster.is_empty() || self.without.is_some() || self.chunk.is_some()
    }
}

/// A prediction for a number of threads.
#[derive(Clone, Debug)]
pub struct Point {
    /// How many.
    pub threads: usize,
    /// The run.
    pub account: Account,
    /// Bounds of its time, ns.
    pub low: u64,
    /// See `low`.
    pub high: u64,
    /// Its time without what is asked to change, ns.
    pub unchanged: u64,
}

/// What it helps.
#[derive(Clone, Copy, Debug)]
pub struct Gain {
    /// What.
    pub lever: Lever,
    /// The time of the run when it takes half as long; of a lock: when it is not there, ns.
    pub half: u64,
    /// When it takes no time, ns.
    pub gone: u64,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Threads of the recorded regions, and the recorded time, ns.
    pub team: usize,
    /// See `team`.
    pub elapsed: u64,
    /// The same run, simulated, ns.
    pub simulated: u64,
    /// With one thread, with what is asked to change, ns: what speedups are relative to.
    pub alone: u64,
    /// By number of threads.
    pub points: Vec<Point>,
    /// The fastest of the points, of one thread, and of so many that more do not help.
    pub limit: Point,
    /// The most helpful first, with the most threads that were asked for.
    pub gains: Vec<Gain>,
    /// Regions whose order of locks and waits cannot be kept, and their recorded time, ns.
    pub stuck: (u64, u64),
    /// Costs that the trace does not show.
    pub unknown_costs: Vec<Cost>,
    /// Regions, and those of them that were run again and stand for the others.
    pub sampled: (u64, u64),
}

/// Takes the regions of a run.
#[derive(Debug)]
pub struct Forecaster<'s> {
    survey: &'s Survey,
    question: &'s Question,
    runs: Vec<Run>,
    levers: Vec<Lever>,
    threads: Vec<usize>,
    /// Regions whose loops are one.
    merged: BTreeSet<Code>,
    unknown_costs: Vec<Cost>,
    stuck: (u64, u64),
    sampling: Sampling,
    /// The largest team so far; `usize::MAX`: as many as are asked for.
    widest: usize,
}

impl<'s> Forecaster<'s> {
    /// For a run of which `survey`, `spots` and `totals` are known from a first pass.
    #[must_use]
    pub fn new(survey: &'s Survey, spots: &Spots, totals: &Totals, question: &'s Question) -> Self {
        let unknown_costs = error::unknown_costs(survey, totals, question);
        let widest = question.threads.last().copied().unwrap_or(1) as u64;
        // Each thread of each region is some work, whatever it does.
        let limit = (LIMIT_EFFORT / survey.regions.max(1))
            .min(LIMIT)
            .max(2 * widest);
        let mut threads = question.threads.clone();
        threads.push(limit as usize);
        // One thread may be the fastest, whether it was asked for or not.
        threads.extend((!question.threads.contains(&1)).then_some(1));
        let merged = totals.spots.keys().filter_map(|spot| match spot {
            Spot::Loop(code, number) if *number > LOOPS => Some(*code),
            _ => None,
        });
        let merged: BTreeSet<Code> = merged.collect();
        let mut this = Self {
            survey,
            question,
            runs: Vec::new(),
            levers: levers::levers(totals, survey, question, &merged),
            threads,
            merged,
            unknown_costs,
            stuck: (0, 0),
            sampling: Sampling::new(totals, f64::INFINITY),
            widest: 0,
        };
        this.plan_runs(spots, totals);
        this.sampling = Sampling::new(totals, this.regions_to_run(totals));
        this
    }

    /// How many regions of those that there are can be run again in a short time.
    fn regions_to_run(&self, totals: &Totals) -> f64 {
        let threads: usize = self.runs.iter().map(|run| run.shape.threads).sum();
        let runs = self.runs.len() as u64;
        let regions = self.survey.regions.max(1);
        let own = (totals.steps + totals.tasks) / regions * runs;
        EFFORT_ALIKE as f64 / (own + 4 * threads as u64 + 1) as f64
    }

    /// Work takes longer with more threads than recorded, and less with fewer.
    fn inflated(&self, factors: &[f64], threads: usize) -> Vec<f64> {
        let by = self.inflation(threads);
        factors.iter().map(|factor| factor * by).collect()
    }

    fn inflation(&self, threads: usize) -> f64 {
        let doublings = (threads as f64 / self.survey.team.max(1) as f64).log2();
        (1.0 + self.question.inflation).max(0.1).powf(doublings)
    }

    /// Costs with so many threads.
    fn measures(&self, threads: usize) -> &[Measure; COSTS.len()] {
        match threads {
            1 if self.survey.team <= 1 => &self.survey.costs,
            _ => &self.question.several,
        }
    }

    /// The answer, when all regions have been given.
    #[must_use]
    pub fn finish(mut self) -> Forecast {
        let whole = self.survey.gaps.iter().filter(|(why, ..)| why.is_region());
        let whole: u64 = whole.map(|(.., ns)| ns).sum();
        let serial = self.survey.elapsed.saturating_sub(self.survey.in_regions);
        let faster = self.question.faster.iter();
        let faster = faster
            .filter(|(spot, _)| *spot == Spot::Serial)
            .map(|(_, factor)| factor);
        let factor: f64 = faster.product();
        for run in &mut self.runs {
            run.add_up(&self.sampling);
            let mut share = match run.role {
                Role::Recorded | Role::Unchanged(_) => 1.0,
                _ => factor * run.serial,
            };
            match run.role {
                Role::Half(lever) if self.levers[lever] == Lever::Spot(Spot::Serial) => {
                    share *= 0.5
                }
                Role::Gone(lever) if self.levers[lever] == Lever::Spot(Spot::Serial) => share = 0.0,
                _ => {}
            }
            let threads = run.shape.threads;
            let waited = match run.role {
                Role::Recorded => 0,
                _ => self.survey.ready_outside,
            };
            let serial = serial.saturating_sub(waited);
            let serial = (serial as f64 * share).round() as u64;
            run.account.alone(Loss::Serial, serial, threads);
            run.account.alone(Loss::Unmodelled, whole, threads);
        }
        self.answer()
    }

    fn answer(self) -> Forecast {
        let time = |wanted: &dyn Fn(&Role) -> bool| {
            let mut runs = self.runs.iter();
            runs.find(|run| wanted(&run.role))
                .map(|run| run.account.elapsed)
        };
        let simulated = time(&|role| matches!(role, Role::Recorded)).unwrap_or(0);
        let residual = simulated as f64 / self.survey.elapsed.max(1) as f64 - 1.0;
        let mut points: Vec<Point> = (0..self.threads.len())
            .map(|point| self.point(point, residual))
            .collect();
        let mut others = points.split_off(self.question.threads.len());
        let mut limit = others.remove(0);
        for point in points.iter().chain(&others) {
            if point.account.elapsed < limit.account.elapsed {
                limit = point.clone();
            }
        }
        let mut gains: Vec<Gain> = (0..self.levers.len())
            .map(|number| {
                let half = time(&|role| matches!(role, Role::Half(own) if *own == number));
                let gone = time(&|role| matches!(role, Role::Gone(own) if *own == number));
                Gain {
                    lever: self.levers[number],
                    half: half.unwrap_or(0),
                    gone: gone.or(half).unwrap_or(0),
                }
            })
            .collect();
        gains.sort_by_key(|gain| (gain.half, gain.gone, gain.lever));
        Forecast {
            team: self.survey.team,
            elapsed: self.survey.elapsed,
            simulated,
            alone: time(&|role| matches!(role, Role::Alone)).unwrap_or(0),
            points,
            limit,
            gains,
            stuck: self.stuck,
            unknown_costs: self.unknown_costs.clone(),
            sampled: self.sampling.counts(),
        }
    }
}

impl Receiver for Forecaster<'_> {
    fn region(&mut self, region: Region, spots: &Spots) {
        let wide = if region.fixed {
            region.team
        } else {
            usize::MAX
        };
        let makes_threads = wide > self.widest;
        self.widest = self.widest.max(wide);
        let Some(group) = self.sampling.choose(&region, makes_threads) else {
            return;
        };
        let mut plans: Vec<(Shape, Plan)> = Vec::new();
        let mut stuck = false;
        for run in &mut self.runs {
            if run.groups.len() <= group {
                run.groups.resize_with(group + 1, Default::default);
            }
            let (account, moments) = &mut run.groups[group];
            let mut shape = run.shape;
            if matches!(run.role, Role::Recorded) {
                shape.threads = region.team;
            }
            let known = plans.iter().position(|(known, _)| *known == shape);
            let known = known.unwrap_or_else(|| {
                // Cases of one number of threads follow each other.
                plans.clear();
                plans.push((shape, Plan::new(&region, shape)));
                0
            });
            let plan = &plans[known].1;
            run.case.made = plan.threads.saturating_sub(run.started);
            run.started += run.case.made;
            match simulate(&region, plan, &run.case) {
                Ok(outcome) => {
                    let (all, merged) = (spots.all(), &self.merged);
                    account.add(&region, all, merged, &outcome, shape.threads);
                    moments.add(region.elapsed, outcome.elapsed);
                }
                Err(_) => {
                    stuck = true;
                    account.alone(Loss::Unmodelled, region.elapsed, shape.threads);
                    moments.add(region.elapsed, region.elapsed);
                }
            }
        }
        if stuck {
            self.stuck.0 += 1;
            self.stuck.1 += region.elapsed;
        }
    }
}

/// Reasons by what they concern.
#[must_use]
pub fn unmodelled(survey: &Survey, forecast: &Forecast) -> Vec<(Why, u64, u64)> {
    let mut all = survey.gaps.clone();
    let (count, ns) = forecast.stuck;
    if count > 0 {
        all.push((Why::Stuck, count, ns));
    }
    all
}
